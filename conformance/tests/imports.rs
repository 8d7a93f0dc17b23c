//! The imports of the suite's modules have no circle, so that each can be read without the ones that
//! use it.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(clippy::arithmetic_side_effects, clippy::unwrap_used)] // Helpers may panic, as tests do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The path of a module, from the root of the crate.
type Module = Vec<String>;

/// Every module below `directory`, with its code.
fn modules(directory: &Path, path: &[String], all: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let child = [path, std::slice::from_ref(&name)].concat();
        if file.is_dir() {
            modules(&file, &child, all);
        } else {
            let module = if name == "mod" { path.to_vec() } else { child };
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

/// The modules that `module` uses.
fn imports(module: &Module, code: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    // Where a path starts from: the root, the parent, or the module itself, whose children it declares.
    let parent = module.split_last().map_or(&[][..], |(_, parent)| parent);
    let children = all.keys().filter(|other| {
        other
            .split_last()
            .is_some_and(|(_, parent)| parent == module)
    });
    let children = children.map(|child| (format!("{}::", child.last().unwrap()), child.clone()));
    let starts = [
        ("crate::".to_owned(), Module::new()),
        ("super::".to_owned(), parent.to_vec()),
    ];
    let starts = starts.into_iter().chain(children);
    let mut found = BTreeSet::new();
    for (text, from) in starts {
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
                let path = [&from[..], &path].concat();
                // The longest part of it that is a module; the rest are names in there.
                let used = (0..=path.len()).rev().find_map(|end| {
                    all.get_key_value(path.get(..end).unwrap())
                        .map(|(used, _)| used)
                });
                found.extend(used.filter(|used| *used != module).cloned());
            }
        }
    }
    found
}

#[test]
fn no_module_uses_one_that_uses_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = BTreeMap::new();
    modules(&source, &[], &mut all);
    // What the crate shows to its users is for them.
    let root = all.remove(&vec!["lib".to_owned()]).unwrap();
    assert!(root.contains("mod kit;"));
    let mut graph: BTreeMap<_, _> = all
        .iter()
        .map(|(module, code)| (module.clone(), imports(module, code, &all)))
        .collect();
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(edges > 100, "{graph:#?}");
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
            break;
        }
    }
    assert!(graph.is_empty(), "these use one another: {graph:#?}");
}
