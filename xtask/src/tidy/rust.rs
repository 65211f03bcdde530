//! Rules about one Rust file: what it must begin with and what must not stand in it.

use super::{File, Finding, code};

const MAX_COLUMNS: usize = 100;
const MANY_LINES: usize = 500;

/// Something that must not stand in code.
struct Ban {
    what: &'static str,
    /// The path prefix below which the ban holds; empty for everywhere.
    below: &'static str,
    /// The one file that may.
    except: &'static str,
    scope: Scope,
    instead: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Everywhere,
    OutsideTests,
}

const BANS: [Ban; 14] = [
    ban("#[ignore", "a test runs, or is not there"),
    ban("todo!(", "finish it or leave it out"),
    ban("unimplemented!(", "finish it or leave it out"),
    ban("dbg!(", "remove it"),
    ban(".unwrap()", "`?`, or `expect(\"why it cannot fail\")`").outside_tests(),
    ban("HashMap", "BTreeMap, or a Vec by id").below("shared/src/"),
    ban("HashSet", "BTreeSet, or a sorted Vec").below("shared/src/"),
    ban("std::fs", "take bytes from the caller")
        .below("shared/src/")
        .outside_tests(),
    ban("std::env", "take a parameter")
        .below("shared/src/")
        .outside_tests(),
    ban("Instant", "let the caller time it").below("shared/src/"),
    ban("SystemTime", "take a parameter").below("shared/src/"),
    ban(
        "Instant::now",
        "`Performance`: this one panics in the browser",
    )
    .below("frontend/"),
    ban("gloo_net", FETCHES)
        .below("frontend/")
        .except("frontend/src/api/host.rs"),
    ban("fetch_with", FETCHES)
        .below("frontend/")
        .except("frontend/src/api/host.rs"),
];
const FETCHES: &str = "ask through api.rs; only api/host.rs fetches";

const fn ban(what: &'static str, instead: &'static str) -> Ban {
    Ban {
        what,
        instead,
        below: "",
        except: "",
        scope: Scope::Everywhere,
    }
}

impl Ban {
    const fn below(self, below: &'static str) -> Ban {
        Ban { below, ..self }
    }

    const fn except(self, except: &'static str) -> Ban {
        Ban { except, ..self }
    }

    const fn outside_tests(self) -> Ban {
        Ban {
            scope: Scope::OutsideTests,
            ..self
        }
    }
}

pub(super) fn check(file: &File) -> Vec<Finding> {
    let File { path, text, .. } = file;
    let mut findings = Vec::new();
    // A file of tests says what it is for by its name.
    if !text.starts_with("//!") && !path.ends_with("/tests.rs") {
        let what = "begins without a `//!` line that says what the file is for";
        findings.push(Finding::at_line(path, 1, what));
    }
    let n_lines = text.lines().count();
    if n_lines > MANY_LINES {
        let what = format!("{n_lines} lines: one thing, or two?");
        findings.push(Finding::at(path, what).warning());
    }
    let code = code::read(text);
    for (index, line) in text.lines().enumerate() {
        let n_columns = line.chars().count();
        // rustfmt cannot break a string either, and a test reads best with its whole.
        let only_string = index >= file.first_test_line && line.matches('"').count() >= 2;
        if n_columns > MAX_COLUMNS && !code.continues_string[index] && !only_string {
            let what = format!("{n_columns} columns, above {MAX_COLUMNS}");
            findings.push(Finding::at_line(path, index + 1, what));
        }
        for ban in BANS
            .iter()
            .filter(|it| path.starts_with(it.below) && path != it.except)
        {
            let in_scope = ban.scope == Scope::Everywhere || index < file.first_test_line;
            if in_scope && has_word(&code.lines[index], ban.what) {
                let what = format!("`{}`: {}", ban.what, ban.instead);
                findings.push(Finding::at_line(path, index + 1, what));
            }
        }
    }
    findings
}

/// Finds out in each file where its tests begin: the whole file, when the file of a module
/// above declares it for tests only.
pub(super) fn find_tests(files: &mut [File]) {
    let declared: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in files {
        let whole = file.path.starts_with("tests/")
            || file.path.contains("/tests/")
            || file.path.ends_with("/tests.rs")
            || declared.contains(&file.path);
        file.first_test_line = if whole { 0 } else { block_of_tests(&file.text) };
    }
}

/// The paths of the modules that a file declares for tests only.
fn test_modules(file: &File) -> Vec<String> {
    let folder = match file.path.strip_suffix(".rs") {
        Some(path) if path.ends_with("/lib") || path.ends_with("/main") => {
            path.rsplit_once('/').map_or("", |(folder, _)| folder)
        }
        Some(path) => path,
        None => return Vec::new(),
    };
    let modules = after_test_mark(&file.text).filter_map(|(_, line)| {
        let name = line.split("mod ").nth(1)?.strip_suffix(';')?;
        Some(format!("{folder}/{name}.rs"))
    });
    modules.collect()
}

/// The index of the line from which on everything is tests: they close the file.
fn block_of_tests(text: &str) -> usize {
    let block = after_test_mark(text).find(|(_, line)| line.contains('{'));
    block.map_or(usize::MAX, |(index, _)| index)
}

/// The lines that stand below a `#[cfg(test)]`, with their indices.
fn after_test_mark(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let pairs = text.lines().zip(text.lines().skip(1)).enumerate();
    let marked = pairs.filter(|(_, (mark, _))| *mark == "#[cfg(test)]");
    marked.map(|(index, (_, line))| (index + 1, line))
}

/// Whether the code has the text as a word of its own: `Instant` is not in `Instance`.
fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(is_part);
        let after = code[at + word.len()..].chars().next().is_some_and(is_part);
        let begins = word.starts_with(is_part);
        let ends = word.ends_with(is_part);
        !(before && begins || after && ends)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    fn check_text(path: &str, text: &str) -> Vec<Finding> {
        let mut files = [file(path, text)];
        find_tests(&mut files);
        check(&files[0])
    }

    #[track_caller]
    fn check_one(path: &str, code: &str, expected: &str) {
        let found = shown(&check_text(path, &format!("//! What it is for.\n{code}\n")));
        assert_eq!(found.trim_end(), expected);
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        let found = shown(&check_text("shared/src/rank.rs", "use x;\n"));
        assert!(
            found.starts_with("shared/src/rank.rs:1: begins without"),
            "{found}"
        );
    }

    #[test]
    fn long_lines_are_found() {
        let line = format!("// {}", "é".repeat(98));
        check_one(
            "backend/src/a.rs",
            &line,
            "backend/src/a.rs:2: 101 columns, above 100",
        );
        check_one("backend/src/a.rs", &line[..line.len() - 2], "");
        check_one(
            "backend/src/a.rs",
            &format!("let snapshot = r#\"\n{line}\"#;"),
            "",
        );
    }

    #[test]
    fn long_files_are_looked_at_twice() {
        let findings = check_text("backend/src/a.rs", &"//! Long.\n".repeat(501));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].weight, super::super::Weight::Warning);
    }

    #[test]
    fn unfinished_and_switched_off_code_is_found() {
        let place = "backend/src/a.rs:2:";
        let ban = |code: &str, what: &str, instead: &str| {
            check_one(
                "backend/src/a.rs",
                code,
                &format!("{place} `{what}`: {instead}"),
            );
        };
        ban(
            "#[ignore = \"slow\"]",
            "#[ignore",
            "a test runs, or is not there",
        );
        ban(
            "    todo!(\"later\")",
            "todo!(",
            "finish it or leave it out",
        );
        ban(
            "    unimplemented!()",
            "unimplemented!(",
            "finish it or leave it out",
        );
        ban("let a = dbg!(b);", "dbg!(", "remove it");
    }

    #[test]
    fn unwrap_is_for_tests() {
        let found = "backend/src/a.rs:2: `.unwrap()`: `?`, or `expect(\"why it cannot fail\")`";
        check_one(
            "backend/src/a.rs",
            "a.unwrap();\n#[cfg(test)]\nmod tests { b.unwrap(); }",
            found,
        );
        let declared = "#[cfg(test)]\nmod tests;\nfn f() { a.unwrap(); }";
        check_one("backend/src/a.rs", declared, &found.replace(":2:", ":4:"));
        check_one("tests/src/http.rs", "a.unwrap();", "");
        check_one("shared/src/probe/axiom/tfc1/tests.rs", "a.unwrap();", "");
    }

    #[test]
    fn a_module_for_tests_is_tests() {
        let mut files = [
            file(
                "shared/src/report.rs",
                "//! A.\n#[cfg(test)]\nmod fixture;\n",
            ),
            file(
                "shared/src/lib.rs",
                "//! A.\n#[cfg(test)]\npub(crate) mod golden;\n",
            ),
            file("shared/src/report/fixture.rs", "//! A.\n"),
            file("shared/src/golden.rs", "//! A.\n"),
        ];
        find_tests(&mut files);
        let first = files.map(|it| it.first_test_line);
        assert_eq!(first, [usize::MAX, usize::MAX, 0, 0]);
    }

    #[test]
    fn shared_is_pure() {
        for (code, what) in [
            ("use std::collections::HashMap;", "HashMap"),
            ("let seen = HashSet::new();", "HashSet"),
            ("let text = std::fs::read(p)?;", "std::fs"),
            ("let home = std::env::var(n)?;", "std::env"),
            ("let start = Instant::now();", "Instant"),
            ("let now = SystemTime::now();", "SystemTime"),
        ] {
            let found = shown(&check_text("shared/src/a.rs", &format!("//! A.\n{code}\n")));
            assert!(
                found.starts_with(&format!("shared/src/a.rs:2: `{what}`: ")),
                "{found}"
            );
            assert_eq!(
                check_text("backend/src/a.rs", &format!("//! A.\n{code}\n")),
                []
            );
        }
        check_one(
            "shared/src/a.rs",
            "pub struct Instance; // no HashMap here",
            "",
        );
    }

    #[test]
    fn only_one_file_fetches() {
        let found = "frontend/src/pages/study.rs:2: `gloo_net`: \
                     ask through api.rs; only api/host.rs fetches";
        check_one(
            "frontend/src/pages/study.rs",
            "use gloo_net::http::Request;",
            found,
        );
        check_one(
            "frontend/src/api/host.rs",
            "use gloo_net::http::Request;",
            "",
        );
    }

    #[test]
    fn words_in_quotes_and_comments_are_no_code() {
        check_one(
            "backend/src/a.rs",
            "say(\"todo!( \\\" dbg!(\"); // dbg!(x)",
            "",
        );
        check_one("backend/src/a.rs", "let c = \"\n    dbg!(\n\";", "");
    }
}
