# What scripts/check, scripts/test and scripts/proof share. Sourced by each, from the root of the workspace.
export RUSTDOCFLAGS="-D warnings"
target=${CARGO_TARGET_DIR:-target}
timings=()

# Runs a command, and ends the script if it fails: step "what it is for" COMMAND ARGUMENT...
step() {
    local name=$1 started=$SECONDS
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@"
    timings+=("$((SECONDS - started)) s  $name")
}

# Prints how long each step took, and the sum.
finish() {
    printf '\n'
    printf '%s\n' "${timings[@]}"
    printf '%s s  in all. Everything holds.\n' "$SECONDS"
}

# What another crate may switch on in serde_json.
unified=serde_json/arbitrary_precision,serde_json/preserve_order,serde_json/raw_value,serde_json/unbounded_depth

# Each feature of request-state alone, and none. (wasm_js is for a target that no test runs on.)
each_alone=("")
while read -r feature; do
    each_alone+=("$feature")
done < <(awk '/^\[/ { here = $0 == "[features]" } here && /^[a-z]/ && $1 !~ /^(default|wasm_js)$/ { print $1 }' Cargo.toml)
if [ "${#each_alone[@]}" -lt 5 ]; then
    echo "scripts/lib.sh finds only these features in Cargo.toml:${each_alone[*]}" >&2
    exit 1
fi

# Sets $alone to the selection for one of them: alone FEATURE. Core is in each, so that nothing is built anew
# for another one; without features it has no log.
alone() {
    alone=(-p request-state -p request-state-core --no-default-features --locked)
    alone+=(--features "${1:+request-state/$1}")
}

# One selection of packages and features for all that is built with every feature: each other one would
# build rmcp again. Without the benchmarks, which no test needs, and the example for Postgres, which needs one.
everything=(--workspace --exclude request-state-bench --exclude request-state-example-postgres --all-features --locked)

# Builds the docs of all crates: of core first, alone. rustdoc links to a crate whose folder it finds, the others link
# to core, and without dependencies cargo builds in any order and removes a crate's folder before it builds it.
docs() {
    cargo doc -p request-state-core --all-features --locked --no-deps
    cargo doc "${everything[@]}" --exclude request-state-core --exclude request-state-mcp-conformance --no-deps
}
