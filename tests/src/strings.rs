//! Collects every string that a user sees in one file for proofreading: the strings of the pages,
//! sorted by page, and the texts of reports, figures and errors that pages also show.
//!
//! The strings come from the source code, so that they include empty states and errors that are
//! hard to reach in a browser. Any change of wording appears as a change of `expected/strings.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The folders with strings, in the order of the file.
const FOLDERS: [&str; 2] = ["frontend/src", "shared/src"];

/// Attributes of elements whose values are not read by users.
const UNSEEN_ATTRIBUTES: [&str; 14] = [
    "class", "id", "type", "role", "href", "for", "rel", "style", "cfg", "feature", "viewBox",
    "path", "derive", "serde",
];

#[test]
fn every_string_of_the_pages_can_be_proofread() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut pages = BTreeMap::new();
    for (at, folder) in FOLDERS.iter().enumerate() {
        for path in rust_files(&root.join(folder)) {
            let source = fs::read_to_string(&path).unwrap();
            let tokens: TokenStream = source.parse().unwrap();
            let mut strings = Vec::new();
            collect(tokens, false, &mut strings);
            if !strings.is_empty() {
                let name = path.strip_prefix(root).unwrap().with_extension("");
                pages.insert((at, name), strings);
            }
        }
    }
    let mut all = String::new();
    for ((_, page), strings) in pages {
        writeln!(all, "## {}", page.display()).unwrap();
        for string in strings {
            writeln!(
                all,
                "{}",
                string.split_whitespace().collect::<Vec<_>>().join(" ")
            )
            .unwrap();
        }
        all.push('\n');
    }
    expect_file!["../expected/strings.txt"].assert_eq(&all);
}

/// Returns the files of a folder that are not tests, sorted by name.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let is_test = ["tests", "fixture"]
            .iter()
            .any(|it| path.with_extension("").ends_with(it));
        if is_test {
            continue;
        }
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|it| it == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

/// Adds the strings among some tokens that are prose; attributes and tests are left out. Any text
/// between the tags of `view!` counts as prose.
fn collect(tokens: TokenStream, is_markup: bool, strings: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_attribute(&tokens, at) => {
                let end = attribute_end(&tokens, at);
                let is_test = tokens[end - 1].to_string().replace(' ', "") == "[cfg(test)]";
                at = if is_test { item_end(&tokens, end) } else { end };
                continue;
            }
            TokenTree::Group(group) => {
                collect(group.stream(), is_view(&tokens[..at]), strings);
            }
            TokenTree::Literal(literal) => {
                let text = string_value(&literal.to_string());
                let is_child = is_markup && !ends_with(&tokens[..at], "=");
                let is_seen = |it: &String| match is_child {
                    true => it.contains(char::is_alphabetic),
                    false => is_prose(it) && !is_unseen(&tokens[..at]),
                };
                strings.extend(text.filter(is_seen));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
        at += 1;
    }
}

/// Returns whether `view!` precedes a group.
fn is_view(before: &[TokenTree]) -> bool {
    let [.., name, _] = before else {
        return false;
    };
    ends_with(before, "!") && name.to_string() == "view"
}

fn ends_with(tokens: &[TokenTree], mark: &str) -> bool {
    tokens.last().is_some_and(|it| it.to_string() == mark)
}

fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    attribute_end(tokens, at) > at
}

/// Returns the index after `#[…]` or `#![…]`; `at` if there is no attribute.
fn attribute_end(tokens: &[TokenTree], at: usize) -> usize {
    let is_brackets = |it: usize| match tokens.get(it) {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Bracket,
        _ => false,
    };
    [at + 1, at + 2]
        .into_iter()
        .find(|it| is_brackets(*it))
        .map_or(at, |it| it + 1)
}

/// Returns the index after the item that begins here: after its braces or its semicolon.
fn item_end(tokens: &[TokenTree], from: usize) -> usize {
    let is_end = |it: &TokenTree| match it {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    let length = tokens[from..].iter().position(is_end);
    length.map_or(tokens.len(), |it| from + it + 1)
}

/// Returns whether the next string is the value of an attribute that users do not read.
fn is_unseen(before: &[TokenTree]) -> bool {
    let [.., name, _] = before else {
        return false;
    };
    ends_with(before, "=") && UNSEEN_ATTRIBUTES.contains(&name.to_string().as_str())
}

/// Returns the value of a literal if it is a string; continued lines are joined.
fn string_value(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::new();
    let mut rest = inner.chars().peekable();
    while let Some(it) = rest.next() {
        match it == '\\' {
            false => value.push(it),
            true => match rest.next()? {
                'n' | 't' => value.push(' '),
                '\n' => while rest.next_if(|it| it.is_whitespace()).is_some() {},
                other => value.push(other),
            },
        }
    }
    Some(value)
}

/// Returns whether a string is meant to be read: it is a word with a capital letter, or several
/// words.
fn is_prose(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |it: &&str| it.chars().filter(|it| it.is_alphabetic()).count() >= 2;
    let n_words = words.iter().filter(|it| is_word(it)).count();
    let is_code =
        text.contains("://") || text.contains("::") || text.starts_with(['/', '#', '.', '<']);
    let is_title = text.starts_with(char::is_uppercase) && n_words == 1 && words.len() == 1;
    !is_code && (n_words >= 2 || is_title)
}
