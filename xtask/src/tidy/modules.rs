//! No cycle among the modules of a crate: for each module, its children must not import each other in a circle.
//! Imports are read from paths that begin with `crate::`, `self::` or `super::`, in `use` and elsewhere; a name
//! that a module only re-exports counts for the module it comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;
use super::lexer::{Token, tokens_outside_tests};

type ModulePath = Vec<String>;

struct Module {
    path: ModulePath,
    file: String,
    tokens: Vec<Token>,
}

/// Breaches, one line each.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<Module>> = BTreeMap::new();
    for file in files {
        let Some((folder, inside)) = file.path.split_once("/src/") else {
            continue;
        };
        if !inside.ends_with(".rs") || inside.starts_with("bin/") || file.is_test {
            continue;
        }
        crates.entry(folder).or_default().push(Module {
            path: module_path(inside),
            file: file.path.clone(),
            tokens: tokens_outside_tests(&file.text),
        });
    }
    crates
        .into_iter()
        .flat_map(|(folder, modules)| cycles(folder, &modules))
        .collect()
}

fn module_path(inside: &str) -> ModulePath {
    let stem = inside.trim_end_matches(".rs");
    let mut path: ModulePath = stem.split('/').map(str::to_owned).collect();
    if path
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
    {
        path.pop();
    }
    path
}

fn cycles(folder: &str, modules: &[Module]) -> Vec<String> {
    let known: BTreeSet<&[String]> = modules
        .iter()
        .flat_map(|m| (0..=m.path.len()).map(|depth| &m.path[..depth]))
        .collect();
    let exports = re_exports(modules, &known);
    // parent -> (child -> (child it imports -> file that does))
    let mut graphs: BTreeMap<ModulePath, BTreeMap<String, BTreeMap<String, String>>> =
        BTreeMap::new();
    for module in modules {
        for path in imports(module) {
            let target = resolve(path, &known, &exports);
            let shared = module
                .path
                .iter()
                .zip(&target)
                .take_while(|(a, b)| a == b)
                .count();
            // An import of a parent or of a child is no edge between siblings.
            if let (Some(from), Some(to)) = (module.path.get(shared), target.get(shared)) {
                let graph = graphs.entry(module.path[..shared].to_vec()).or_default();
                graph
                    .entry(from.clone())
                    .or_default()
                    .entry(to.clone())
                    .or_insert_with(|| module.file.clone());
            }
        }
    }
    graphs
        .iter()
        .filter_map(|(parent, graph)| describe(folder, parent, graph))
        .collect()
}

fn describe(
    folder: &str,
    parent: &[String],
    graph: &BTreeMap<String, BTreeMap<String, String>>,
) -> Option<String> {
    let circle = circle(graph)?;
    let steps: Vec<String> = circle
        .iter()
        .zip(circle.iter().cycle().skip(1))
        .map(|(from, to)| format!("{from} -> {to} ({})", graph[from][to]))
        .collect();
    let place = std::iter::once("crate")
        .chain(parent.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("::");
    Some(format!(
        "{folder}: the modules of {place} import each other: {}",
        steps.join(", ")
    ))
}

/// One circle of the graph, if there is any.
fn circle(graph: &BTreeMap<String, BTreeMap<String, String>>) -> Option<Vec<String>> {
    fn walk(
        at: &str,
        graph: &BTreeMap<String, BTreeMap<String, String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|w| w == at) {
            return Some(way[start..].to_vec());
        }
        if done.contains(at) {
            return None;
        }
        way.push(at.to_owned());
        for next in graph.get(at).into_iter().flat_map(BTreeMap::keys) {
            if let Some(found) = walk(next, graph, way, done) {
                return Some(found);
            }
        }
        way.pop();
        done.insert(at.to_owned());
        None
    }
    let mut done = BTreeSet::new();
    graph
        .keys()
        .find_map(|start| walk(start, graph, &mut Vec::new(), &mut done))
}

/// Names that a module makes visible as its own: (module, name) -> the path it comes from.
fn re_exports(
    modules: &[Module],
    known: &BTreeSet<&[String]>,
) -> BTreeMap<(ModulePath, String), ModulePath> {
    let mut out = BTreeMap::new();
    for module in modules {
        for (n, token) in module.tokens.iter().enumerate() {
            if token.text != "use"
                || n == 0
                || !matches!(module.tokens[n - 1].text.as_str(), "pub" | ")")
            {
                continue;
            }
            for mut path in use_tree(&module.tokens, n + 1) {
                let Some(name) = path.last().cloned() else {
                    continue;
                };
                absolute(&mut path, module, known);
                out.insert((module.path.clone(), name), path);
            }
        }
    }
    out
}

/// Every path of the module's file that names something of its own crate, as an absolute path.
fn imports(module: &Module) -> Vec<ModulePath> {
    let mut out = Vec::new();
    for (n, token) in module.tokens.iter().enumerate() {
        let begins = matches!(token.text.as_str(), "crate" | "self" | "super");
        if !begins || module.tokens.get(n + 1).is_none_or(|t| t.text != "::") {
            continue;
        }
        if n > 0 && module.tokens[n - 1].text == "::" {
            continue;
        }
        for mut path in use_tree(&module.tokens, n) {
            absolute(&mut path, module, &BTreeSet::new());
            out.push(path);
        }
    }
    out
}

/// Turn `crate::`, `self::`, `super::` and names of children into a path from the root of the crate.
fn absolute(path: &mut ModulePath, module: &Module, known: &BTreeSet<&[String]>) {
    let mut base = module.path.clone();
    let mut skip = 0;
    match path.first().map(String::as_str) {
        Some("crate") => (base, skip) = (Vec::new(), 1),
        Some("self") => skip = 1,
        Some("super") => {
            while path.get(skip).is_some_and(|p| p == "super") {
                base.pop();
                skip += 1;
            }
        }
        _ => {
            let child: ModulePath = base.iter().chain(path.first()).cloned().collect();
            if !known.contains(child.as_slice()) {
                return;
            }
        }
    }
    *path = base.into_iter().chain(path.drain(skip..)).collect();
}

/// The module that a path leads to, through re-exports.
fn resolve(
    mut path: ModulePath,
    known: &BTreeSet<&[String]>,
    exports: &BTreeMap<(ModulePath, String), ModulePath>,
) -> ModulePath {
    // A chain of re-exports is short; the bound only stops one that leads in a circle.
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|d| known.contains(&path[..*d]))
            .unwrap_or(0);
        let Some(name) = path.get(depth) else {
            return path;
        };
        let key = (path[..depth].to_vec(), name.clone());
        let Some(origin) = exports.get(&key) else {
            return path[..depth].to_vec();
        };
        path = origin.iter().chain(&path[depth + 1..]).cloned().collect();
    }
    path
}

/// All paths of a use tree (`a::{b, c::d}`) or of a plain path that begins at `at`.
fn use_tree(tokens: &[Token], at: usize) -> Vec<ModulePath> {
    let mut out = Vec::new();
    tree(tokens, at, &[], &mut out);
    out
}

fn tree(tokens: &[Token], mut at: usize, prefix: &[String], out: &mut Vec<ModulePath>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|t| t.text != "}") {
                    let next = tree(tokens, at, &path, out);
                    at = if tokens.get(next).is_some_and(|t| t.text == ",") {
                        next + 1
                    } else {
                        next.max(at + 1)
                    };
                }
                return at + 1;
            }
            "*" => at += 1,
            word if word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_some_and(|t| t.text == "::") {
            at += 1;
        } else {
            break;
        }
    }
    if tokens.get(at).is_some_and(|t| t.text == "as") {
        at += 2;
    }
    if path.last().is_some_and(|p| p == "self") && path.len() > 1 {
        path.pop();
    }
    out.push(path);
    at
}

#[cfg(test)]
mod tests {
    use super::super::SourceFile;
    use super::check;

    fn breaches(files: &[(&str, &str)]) -> usize {
        let make = |(path, text): &(&str, &str)| SourceFile {
            path: format!("c/src/{path}"),
            text: (*text).into(),
            is_test: super::super::is_test_name(path),
        };
        check(&files.iter().map(make).collect::<Vec<_>>()).len()
    }

    #[test]
    fn two_modules_that_import_each_other_are_a_cycle() {
        assert_eq!(
            breaches(&[
                ("a.rs", "use crate::b::X;"),
                ("b.rs", "fn f() { crate::a::g() }")
            ]),
            1
        );
        assert_eq!(
            breaches(&[
                ("a.rs", "use crate::b::X;"),
                ("b.rs", "use crate::c::Y;"),
                ("c.rs", "")
            ]),
            0
        );
    }

    #[test]
    fn a_cycle_through_a_group_a_child_or_a_re_export_is_found() {
        assert_eq!(
            breaches(&[
                ("a/x.rs", "use crate::{c::Z, b::{self, Y}};"),
                ("b.rs", "use super::a::X;")
            ]),
            1
        );
        let root = ("lib.rs", "mod a; mod b; pub use a::X; pub use self::b::Y;");
        assert_eq!(
            breaches(&[root, ("a.rs", "use crate::Y;"), ("b.rs", "use crate::X;")]),
            1
        );
    }

    #[test]
    fn tests_parents_and_children_are_no_cycle() {
        assert_eq!(
            breaches(&[
                ("a.rs", "use crate::b::X; mod tests;"),
                ("a/tests.rs", ""),
                ("b/tests.rs", "use crate::a::X;"),
                ("b.rs", "")
            ]),
            0
        );
        assert_eq!(
            breaches(&[
                ("a.rs", "mod x; use self::x::X;"),
                ("a/x.rs", "use super::Y;")
            ]),
            0
        );
    }
}
