//! Rules about names that more than one file uses, and about their documentation.

use super::{File, Finding, code};
use std::collections::BTreeMap;

/// Types that each package has its own of.
const OWN_IN_EACH_PACKAGE: [&str; 2] = ["Error", "Config"];

/// A docstring of so many words says no more than the name.
const TOO_FEW_WORDS: usize = 4;

/// What stands before the name of an item.
const KEYWORDS: [&str; 10] = [
    "struct", "enum", "union", "trait", "type", "fn", "const", "static", "mod", "macro",
];

/// An item that other files see.
struct PublicItem<'a> {
    name: &'a str,
    is_type: bool,
    /// The index of its line.
    line: usize,
}

/// Returns a finding for each name that two public types have, at the second of them.
pub(super) fn check_types(files: &[File]) -> Vec<Finding> {
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|it| it.path.ends_with(".rs")) {
        let code = code::mask_source(&file.text);
        for item in public_items(&code.lines) {
            let is_allowed = OWN_IN_EACH_PACKAGE.contains(&item.name);
            if !item.is_type || is_allowed || item.line >= file.first_test_line {
                continue;
            }
            let place = format!("{}:{}", file.path, item.line + 1);
            if let Some(other) = places.get(item.name) {
                let what = format!("`{}` is also the name of the type at {other}", item.name);
                findings.push(Finding::at(&place, what));
            } else {
                places.insert(item.name.to_owned(), place);
            }
        }
    }
    findings
}

/// Returns a finding for each docstring of a public item that has too few words.
pub(super) fn check_docstrings(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let code = code::mask_source(&file.text);
    let items = public_items(&code.lines).filter(|it| it.line < file.first_test_line);
    let too_short = items.filter_map(|item| {
        let docstring = docstring(&lines[..item.line]);
        let n_words = docstring.split_whitespace().count();
        (1..=TOO_FEW_WORDS).contains(&n_words).then(|| {
            let what = format!("`{}` is documented by {docstring:?}: a sentence", item.name);
            Finding::at_line(&file.path, item.line + 1, what)
        })
    });
    too_short.collect()
}

fn public_items<'a>(lines: &'a [String]) -> impl Iterator<Item = PublicItem<'a>> {
    lines.iter().enumerate().filter_map(|(line, text)| {
        let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        if !text.trim_start().starts_with("pub") {
            return None;
        }
        let keyword = words.find(|it| KEYWORDS.contains(it))?;
        // `const fn`, and what is bracketed after a field: `pub which: fn(u32)`.
        let before = text.split(keyword).next().unwrap_or_default();
        let name = words.find(|it| !it.is_empty() && !KEYWORDS.contains(it))?;
        let is_type = KEYWORDS[..5].contains(&keyword);
        (!before.contains(':') || before.contains("pub(in ")).then_some(PublicItem {
            name,
            is_type,
            line,
        })
    })
}

/// The text of the `///` lines that end above an item, in one line; attributes may follow them.
fn docstring(above: &[&str]) -> String {
    let above = above.iter().rev().map(|it| it.trim());
    let lines = above.skip_while(|it| it.starts_with("#[") || it.ends_with(")]"));
    let mut lines: Vec<&str> = lines.map_while(|it| it.strip_prefix("///")).collect();
    lines.reverse();
    lines
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::rust::find_tests;
    use super::super::tests::{file, shown};
    use super::*;

    #[test]
    fn two_public_types_of_one_name_are_found() {
        let mut files = [
            file(
                "shared/src/rank.rs",
                "//! A.\npub struct Hit;\nstruct Row;\npub struct Error;\n",
            ),
            file(
                "shared/src/index.rs",
                "//! B.\npub(crate) enum Hit {}\npub struct Row;\n",
            ),
            file(
                "backend/src/error.rs",
                "//! C.\npub enum Error {}\n#[cfg(test)]\nmod tests {\n    pub struct Row;\n}\n",
            ),
            file(
                "backend/src/say.rs",
                "//! D.\n// pub struct Hit;\npub fn hit() {}\npub const A: &str = \"\npub struct Row;\n\";\n",
            ),
        ];
        find_tests(&mut files);
        let found = shown(&check_types(&files));
        let expected =
            "shared/src/index.rs:2: `Hit` is also the name of the type at shared/src/rank.rs:2\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn docstrings_that_say_nothing_are_found() {
        let text = "//! A.\n\
            /// Which one.\n#[derive(Debug)]\npub struct Hit {\n    /// The score.\n    pub score: f64,\n\
            \x20   /// What to call.\n    pub call: fn(u32) -> u32,\n}\n\
            /// Returns the hits.\n///\n/// In their order.\npub const fn hits() {}\n\
            /// Of it.\n    pub(crate) async fn of() {}\n\
            /// Whose.\nfn whose() {}\n";
        let found = shown(&check_docstrings(&file("shared/src/rank.rs", text)));
        assert_eq!(
            found,
            "shared/src/rank.rs:4: `Hit` is documented by \"Which one.\": a sentence\n\
             shared/src/rank.rs:15: `of` is documented by \"Of it.\": a sentence\n"
        );
    }
}
