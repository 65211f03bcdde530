//! Rules about one Rust file: what it must begin with and what must not stand in it.

use super::Finding;

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

const EVERYWHERE: Ban = Ban {
    what: "",
    below: "",
    except: "",
    scope: Scope::Everywhere,
    instead: "",
};

const BANS: [Ban; 14] = [
    Ban {
        what: "#[ignore",
        instead: "a test runs, or is not there",
        ..EVERYWHERE
    },
    Ban {
        what: "todo!(",
        instead: "finish it or leave it out",
        ..EVERYWHERE
    },
    Ban {
        what: "unimplemented!(",
        instead: "finish it or leave it out",
        ..EVERYWHERE
    },
    Ban {
        what: "dbg!(",
        instead: "remove it",
        ..EVERYWHERE
    },
    Ban {
        what: ".unwrap()",
        scope: Scope::OutsideTests,
        instead: "`?`, or `expect(\"why it cannot fail\")`",
        ..EVERYWHERE
    },
    Ban {
        what: "HashMap",
        below: "shared/",
        instead: "BTreeMap, or a Vec by id",
        ..EVERYWHERE
    },
    Ban {
        what: "HashSet",
        below: "shared/",
        instead: "BTreeSet, or a sorted Vec",
        ..EVERYWHERE
    },
    Ban {
        what: "std::fs",
        below: "shared/",
        instead: "take bytes from the caller",
        ..EVERYWHERE
    },
    Ban {
        what: "std::env",
        below: "shared/",
        instead: "take a parameter",
        ..EVERYWHERE
    },
    Ban {
        what: "Instant",
        below: "shared/",
        instead: "let the caller time it",
        ..EVERYWHERE
    },
    Ban {
        what: "SystemTime",
        below: "shared/",
        instead: "take a parameter",
        ..EVERYWHERE
    },
    Ban {
        what: "Instant::now",
        below: "frontend/",
        instead: "`Performance`: this one panics in the browser",
        ..EVERYWHERE
    },
    Ban {
        what: "gloo_net",
        below: "frontend/",
        except: "frontend/src/api.rs",
        instead: "ask through api.rs, the only file that fetches",
        ..EVERYWHERE
    },
    Ban {
        what: "fetch_with",
        below: "frontend/",
        except: "frontend/src/api.rs",
        instead: "ask through api.rs, the only file that fetches",
        ..EVERYWHERE
    },
];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        let what = "begins without a `//!` line that says what the file is for";
        findings.push(Finding::at_line(path, 1, what));
    }
    let n_lines = text.lines().count();
    if n_lines > MANY_LINES {
        let what = format!("{n_lines} lines: one thing, or two?");
        findings.push(Finding::at(path, what).warning());
    }
    let first_test = first_test_line(path, text);
    for (index, line) in text.lines().enumerate() {
        let n_columns = line.chars().count();
        if n_columns > MAX_COLUMNS {
            let what = format!("{n_columns} columns, above {MAX_COLUMNS}");
            findings.push(Finding::at_line(path, index + 1, what));
        }
        let code = code_of(line);
        for ban in BANS
            .iter()
            .filter(|it| path.starts_with(it.below) && path != it.except)
        {
            let in_scope = ban.scope == Scope::Everywhere || index < first_test;
            if in_scope && has_word(&code, ban.what) {
                let what = format!("`{}`: {}", ban.what, ban.instead);
                findings.push(Finding::at_line(path, index + 1, what));
            }
        }
    }
    findings
}

/// The index of the line from which on everything is tests: they close the file.
pub(super) fn first_test_line(path: &str, text: &str) -> usize {
    let whole =
        path.starts_with("tests/") || path.ends_with("/tests.rs") || path.contains("/tests/");
    let marked = || text.lines().position(|line| line.trim() == "#[cfg(test)]");
    if whole {
        0
    } else {
        marked().unwrap_or(usize::MAX)
    }
}

/// The line without its comment and without what stands in quotes.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => {
                chars.next();
            }
            // A quote as a character: '"'.
            '\'' if !quoted && chars.peek() == Some(&'"') => {
                chars.next();
                chars.next();
            }
            '"' => {
                quoted = !quoted;
                code.push(c);
            }
            '/' if !quoted && chars.peek() == Some(&'/') => break,
            _ if !quoted => code.push(c),
            _ => {}
        }
    }
    code
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
    use super::super::tests::shown;
    use super::*;

    #[track_caller]
    fn check_one(path: &str, code: &str, expected: &str) {
        let found = shown(&check(path, &format!("//! What it is for.\n{code}\n")));
        assert_eq!(found.trim_end(), expected);
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        let found = shown(&check("shared/src/rank.rs", "use x;\n"));
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
    }

    #[test]
    fn long_files_are_looked_at_twice() {
        let findings = check("backend/src/a.rs", &"//! Long.\n".repeat(501));
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
        check_one("tests/src/http.rs", "a.unwrap();", "");
        check_one("shared/src/probe/axiom/tfc1/tests.rs", "a.unwrap();", "");
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
            let found = shown(&check("shared/src/a.rs", &format!("//! A.\n{code}\n")));
            assert!(
                found.starts_with(&format!("shared/src/a.rs:2: `{what}`: ")),
                "{found}"
            );
            assert_eq!(check("backend/src/a.rs", &format!("//! A.\n{code}\n")), []);
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
                     ask through api.rs, the only file that fetches";
        check_one(
            "frontend/src/pages/study.rs",
            "use gloo_net::http::Request;",
            found,
        );
        check_one("frontend/src/api.rs", "use gloo_net::http::Request;", "");
    }

    #[test]
    fn words_in_quotes_and_comments_are_no_code() {
        check_one(
            "backend/src/a.rs",
            "say(\"todo!( \\\" dbg!(\"); // dbg!(x)",
            "",
        );
        check_one("backend/src/a.rs", "let c = '\"'; // then \"dbg!(\"", "");
    }
}
