// Fails when a normal dependency of a published crate asks for a newer Rust than `rust-version` in
// Cargo.toml. That release itself does not run here: it would have to be downloaded. For our own code,
// clippy's `incompatible_msrv` looks for what it does not have yet.
import { execFileSync } from "node:child_process";

const run = (command, ...args) => execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
// This host's platform only: the packages of others may never have been downloaded.
const host = /^host: (.*)$/m.exec(run("rustc", "-vV"))[1];
const { packages, resolve, workspace_members } = JSON.parse(
    run("cargo", "metadata", "--format-version=1", "--locked", "--all-features", `--filter-platform=${host}`),
);
const byId = new Map(packages.map((package_) => [package_.id, package_]));
const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
const parts = (version) => version.split(".").map(Number);
const isNewer = (a, b) => {
    const [left, right] = [parts(a), parts(b)];
    const at = [0, 1, 2].find((i) => (left[i] ?? 0) !== (right[i] ?? 0));
    return at !== undefined && (left[at] ?? 0) > (right[at] ?? 0);
};

// `publish` is an empty list for what is not published.
const members = workspace_members.map((id) => byId.get(id)).filter(({ publish }) => publish?.length !== 0);
const newer = new Set();
let checked = 0;
for (const member of members) {
    const seen = new Set([member.id]);
    for (const id of seen) {
        const { name, version, rust_version } = byId.get(id);
        checked += 1;
        if (rust_version && isNewer(rust_version, member.rust_version)) {
            newer.add(`${name} ${version} needs Rust ${rust_version}; ${member.name} says ${member.rust_version}`);
        }
        for (const { pkg, dep_kinds } of nodes.get(id).deps) {
            if (dep_kinds.some(({ kind }) => kind === null)) seen.add(pkg);
        }
    }
}
if (members.length < 7 || checked < 50) throw new Error(`only ${checked} packages of ${members.length} crates`);
if (newer.size > 0) throw new Error([...newer].join("\n"));
console.log(`${checked} dependencies of ${members.length} crates`);
