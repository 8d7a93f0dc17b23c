//! The imports of each crate's modules have no circle, so that every module can be read without the ones
//! that use it.
//!
//! What counts is `use`, and a path that starts with `crate`, `super`, `self` or a child. A name that a
//! module only passes on belongs to the module that it comes from.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(clippy::arithmetic_side_effects, clippy::unwrap_used)] // Helpers may panic, as tests do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The path of a module, from the root of the crate.
type Module = Vec<String>;

/// What a module is made of.
struct Source {
    /// Without comments, unit tests and re-exports, in one line.
    code: String,
    /// Each name that the module re-exports, and its path from the root of the crate.
    passed_on: BTreeMap<String, Module>,
}

/// Every module below `directory`.
fn modules(directory: &Path, path: &[String], all: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let child = [path, std::slice::from_ref(&name)].concat();
        if file.is_dir() {
            modules(&file, &child, all);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
            let module = match name.as_str() {
                "mod" | "lib" => path.to_vec(),
                _ => child,
            };
            all.insert(module, code(&fs::read_to_string(&file).unwrap()));
        }
    }
}

/// A file without its comments and its unit tests, in one line.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join(" ")
}

/// Tells re-exports from the rest of a module's code.
fn source(module: &Module, code: &str, all: &BTreeMap<Module, String>) -> Source {
    let mut source = Source {
        code: String::new(),
        passed_on: BTreeMap::new(),
    };
    for statement in code.split_inclusive(';') {
        let (before, path) = statement.rsplit_once("use ").unwrap_or((statement, ""));
        let visibility = before.split_whitespace().next_back().unwrap_or_default();
        if path.is_empty() || !visibility.starts_with("pub") {
            source.code.push_str(statement);
            continue;
        }
        source
            .code
            .push_str(before.strip_suffix(' ').unwrap_or(before));
        for path in paths(path) {
            let name = path.last().unwrap().clone();
            if let Some(path) = from_root(module, path, all) {
                source.passed_on.insert(name, path);
            }
        }
    }
    source
}

/// The modules below `module`, by name.
fn children<'a>(
    module: &'a Module,
    all: &'a BTreeMap<Module, String>,
) -> impl Iterator<Item = &'a String> {
    all.keys()
        .filter_map(move |other| match other.split_last() {
            Some((name, parent)) if parent == module => Some(name),
            _ => None,
        })
}

/// The parent of `module`; of the root, itself.
fn parent(module: &Module) -> Module {
    module
        .split_last()
        .map_or_else(Module::new, |(_, parent)| parent.to_vec())
}

/// A path in `module` as one from the root, or `None` for one into another crate.
fn from_root(module: &Module, path: Module, all: &BTreeMap<Module, String>) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => Some([&parent(module), rest].concat()),
        name => children(module, all)
            .any(|child| child == name)
            .then(|| [module, &path[..]].concat()),
    }
}

/// The paths that start at `text`: one, or those of a list in braces.
fn paths(text: &str) -> Vec<Module> {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut start, mut all) = (0, 0, Vec::new());
        for (at, byte) in list.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b',' | b'}' if depth == 0 => {
                    all.extend(paths(list.get(start..at).unwrap()));
                    start = at + 1;
                    if byte == b'}' {
                        break;
                    }
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
        return all;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = text.chars().take_while(|c| is_name(*c)).collect();
    match text
        .get(name.len()..)
        .and_then(|rest| rest.strip_prefix("::"))
    {
        _ if name.is_empty() => Vec::new(),
        Some(rest) if !rest.starts_with(['<', '*']) => {
            let rest = paths(rest).into_iter();
            rest.map(|rest| [vec![name.clone()], rest].concat())
                .collect()
        }
        _ => vec![vec![name]],
    }
}

/// Where what `path` names is written: a name that is only passed on, where it comes from. Whoever takes a
/// module itself may use all that it passes on.
fn origins(path: &[String], all: &BTreeMap<Module, Source>) -> BTreeSet<Module> {
    let known = (0..=path.len()).rev().find_map(|end| {
        let (module, rest) = path.split_at(end);
        Some((module, all.get(module)?, rest))
    });
    let (module, source, rest) = known.unwrap();
    match rest.split_first() {
        None => {
            let passed_on = source.passed_on.values();
            let passed_on = passed_on.flat_map(|path| origins(path, all));
            passed_on.chain([module.to_vec()]).collect()
        }
        Some((name, rest)) => match source.passed_on.get(name) {
            Some(path) => origins(&[&path[..], rest].concat(), all),
            None => [module.to_vec()].into(),
        },
    }
}

/// The modules that `module` uses.
fn imports(module: &Module, all: &BTreeMap<Module, Source>) -> BTreeSet<Module> {
    let Source { code, passed_on } = &all[module];
    let below = all
        .keys()
        .filter(|other| parent(other) == *module && *other != module);
    let below = below.map(|child| (format!("{}::", child.last().unwrap()), child.clone()));
    let starts = [
        ("crate::".to_owned(), Module::new()),
        ("self::".to_owned(), module.clone()),
        ("super::".to_owned(), parent(module)),
    ];
    let mut used = BTreeSet::new();
    for (text, from) in starts.into_iter().chain(below) {
        for (at, _) in code.match_indices(&text) {
            // A part of another path or name; `$crate` is where a macro is used.
            let before = code.get(..at).unwrap().chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || "_$:".contains(c)) {
                continue;
            }
            for path in paths(code.get(at + text.len()..).unwrap()) {
                // In a macro: what is around the place where it is used.
                if path.first().is_some_and(|name| name == "super") {
                    continue;
                }
                used.extend(origins(&[&from[..], &path].concat(), all));
            }
        }
    }
    // What has code of its own may use what it passes on.
    let items = [
        "const ",
        "enum ",
        "fn ",
        "impl",
        "macro_rules!",
        "static ",
        "struct ",
        "trait ",
        "type ",
    ];
    if items.iter().any(|item| code.contains(item)) {
        used.extend(passed_on.values().flat_map(|path| origins(path, all)));
    }
    used.remove(module);
    used
}

/// The modules of a crate that use one another, and what each uses.
fn circles(source_directory: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut texts = BTreeMap::new();
    modules(source_directory, &[], &mut texts);
    let all: BTreeMap<Module, Source> = texts
        .iter()
        .map(|(module, code)| (module.clone(), source(module, code, &texts)))
        .collect();
    let mut graph: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for module in all.keys() {
        let uses = graph.entry(module.clone()).or_default();
        uses.extend(imports(module, &all));
        uses.remove(module);
    }
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(edges >= graph.len(), "{source_directory:?}: {graph:#?}");
    // Takes away what uses nothing that is left, or is used by nothing that is left: circles remain.
    loop {
        let used: BTreeSet<Module> = graph.values().flatten().cloned().collect();
        let before = graph.len();
        let left: BTreeSet<Module> = graph.keys().cloned().collect();
        graph.retain(|module, uses| {
            uses.retain(|used| left.contains(used));
            used.contains(module) && !uses.is_empty()
        });
        if graph.len() == before {
            return graph;
        }
    }
}

#[test]
fn no_module_uses_one_that_uses_it() {
    for krate in [
        "conformance",
        "request-state-core",
        "request-state-redis",
        "request-state-rmcp",
    ] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(krate)
            .join("src");
        let circles = circles(&source);
        assert!(
            circles.is_empty(),
            "in {krate}, these use one another: {circles:#?}"
        );
    }
}
