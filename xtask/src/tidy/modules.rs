//! In `shared`, modules are in the order of the pipeline and import only from above.
//!
//! `lib.rs` lists the modules. A module may name, with `crate::`, itself and the modules listed
//! before it; so the list can be read from top to bottom. Documentation and tests are exempt.

use super::{File, Finding, code};

const LIB: &str = "shared/src/lib.rs";

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let Some(lib) = files.iter().find(|it| it.path == LIB) else {
        return Vec::new();
    };
    let order: Vec<&str> = lib.text.lines().filter_map(declared).collect();
    let position = |module: &str| order.iter().position(|it| *it == module);
    let mut findings = Vec::new();
    for file in files {
        let Some(module) = module_of(&file.path) else {
            continue;
        };
        let Some(own) = position(module) else {
            findings.push(Finding::at(
                &file.path,
                format!("lib.rs does not list `{module}`"),
            ));
            continue;
        };
        let mut lines = code::mask_source(&file.text).lines;
        lines.truncate(file.first_test_line);
        for (line, named) in named(&lines.join("\n")) {
            if position(named).is_some_and(|it| it > own) {
                let what = format!("`{module}` names `{named}`, which lib.rs lists after it");
                findings.push(Finding::at_line(&file.path, line, what));
            }
        }
    }
    findings
}

/// The module that a line of `lib.rs` declares.
fn declared(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("pub ")
        .or_else(|| line.strip_prefix("pub(crate) "));
    rest.unwrap_or(line).strip_prefix("mod ")?.strip_suffix(';')
}

/// The top module that a file of `shared` belongs to.
fn module_of(path: &str) -> Option<&str> {
    let path = path.strip_prefix("shared/src/")?;
    let module = path.split('/').next()?;
    let module = module.strip_suffix(".rs").unwrap_or(module);
    (path.ends_with(".rs") && module != "lib").then_some(module)
}

/// The top modules that the code names behind `crate::`, also in braces, with their lines.
fn named(code: &str) -> Vec<(usize, &str)> {
    let mut starts = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let at = at + prefix.len();
        match code[at..].starts_with('{') {
            true => starts.extend(elements(code, at + 1)),
            false => starts.push(at),
        }
    }
    let line = |at: usize| code[..at].matches('\n').count() + 1;
    starts
        .into_iter()
        .filter_map(|at| Some((line(at), word(&code[at..])?)))
        .collect()
}

/// Where the elements of the `{…}` group begin that opens just before `at`, at its outermost
/// level.
fn elements(code: &str, at: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut depth = 0;
    let mut fresh = true;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            _ if fresh && !c.is_whitespace() => {
                starts.push(at + offset);
                fresh = false;
            }
            _ => {}
        }
    }
    starts
}

fn word(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::super::rust;
    use super::super::tests::{file, shown};
    use super::*;

    const ORDER: &str = "//! Core.\npub mod text;\npub mod index;\nmod rank;\n";

    #[track_caller]
    fn check_one(path: &str, line: &str, expected: &str) {
        let mut files = [file(LIB, ORDER), file(path, line)];
        rust::find_tests(&mut files);
        assert_eq!(shown(&check(&files)).trim_end(), expected);
    }

    #[test]
    fn imports_point_up() {
        check_one(
            "shared/src/rank/bm25.rs",
            "use crate::{index::Index, text};",
            "",
        );
        check_one("shared/src/index.rs", "use crate::index::stats;", "");
        check_one(
            "shared/src/text.rs",
            "use crate::index::Index;",
            "shared/src/text.rs:1: `text` names `index`, which lib.rs lists after it",
        );
    }

    #[test]
    fn a_path_inside_an_expression_is_an_import_too() {
        check_one(
            "shared/src/index/term_statistics.rs",
            "    crate::rank::top(k)",
            "shared/src/index/term_statistics.rs:1: `index` names `rank`, which lib.rs lists after it",
        );
    }

    #[test]
    fn groups_are_read_at_their_outermost_level() {
        check_one(
            "shared/src/text.rs",
            "use crate::{text::{rank, index}, rank::{Ranker, text}};",
            "shared/src/text.rs:1: `text` names `rank`, which lib.rs lists after it",
        );
    }

    #[test]
    fn groups_may_take_several_lines() {
        check_one(
            "shared/src/index.rs",
            "use crate::{\n    text,\n    rank,\n};",
            "shared/src/index.rs:3: `index` names `rank`, which lib.rs lists after it",
        );
    }

    #[test]
    fn docs_and_tests_may_look_ahead() {
        check_one("shared/src/text.rs", "/// See [`crate::rank`].", "");
        check_one(
            "shared/src/text.rs",
            "#[cfg(test)]\nmod tests { use crate::rank; }",
            "",
        );
    }

    #[test]
    fn a_module_is_listed() {
        check_one(
            "shared/src/extra.rs",
            "",
            "shared/src/extra.rs: lib.rs does not list `extra`",
        );
    }
}
