//! What people write beside their answers: names, tags, notes.
//!
//! Names and tags stand in lists, tables and files among others, so a character that cannot be
//! seen or that turns the direction of what follows is refused there. In a note and in a reason,
//! which stand alone, such characters are left out.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::error::{Error, Field, FieldError};

/// A name of a person has at most so many characters: what a column has room for.
pub const LONGEST_NAME: usize = 60;

/// A tag has at most so many characters: what a button has room for.
pub const LONGEST_TAG: usize = 40;

/// A decision has at most so many tags.
pub const MOST_TAGS: usize = 8;

/// A note or a reason has at most so many characters, about a page.
pub const LONGEST_NOTE: usize = 2_000;

/// Guidelines have at most so many characters, about twenty pages.
pub const LONGEST_GUIDELINES: usize = 50_000;

/// The name of a person as it is kept: without white space around it, single spaces inside, in
/// normal form C. It has 1 to [`LONGEST_NAME`] characters.
pub fn check_person_name(name: &str) -> Result<String, Error> {
    check_word(Field::shown("name", "name of a person"), name, LONGEST_NAME)
}

/// A tag as it is kept, by the same rules: 1 to [`LONGEST_TAG`] characters.
pub fn check_tag(tag: &str) -> Result<String, Error> {
    check_word("tag".into(), tag, LONGEST_TAG)
}

/// Tags as they are kept: each once, in the order given, at most [`MOST_TAGS`].
pub fn check_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags {
        let tag = check_tag(tag)?;
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    if kept.len() > MOST_TAGS {
        let (found, most) = (format!("{} are given", kept.len()), MOST_TAGS);
        return Err(FieldError::TooMany { found, most }.of("tags"));
    }
    Ok(kept)
}

/// A note or a reason as it is kept: control characters but line breaks and tabs, and what turns
/// the direction of writing, are left out, white space around it too.
pub fn check_note(note: &str) -> Result<String, Error> {
    check_text("note", note, LONGEST_NOTE)
}

/// The same of guidelines.
pub fn check_guidelines(text: &str) -> Result<String, Error> {
    check_text("guidelines", text, LONGEST_GUIDELINES)
}

fn check_text(field: &str, text: &str, most: usize) -> Result<String, Error> {
    let unseen = |it: char| is_unseen(it) && !matches!(it, '\n' | '\t');
    let text = text.replace("\r\n", "\n");
    let kept: String = text.trim().chars().filter(|&it| !unseen(it)).collect();
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_word(field: Field, word: &str, most: usize) -> Result<String, Error> {
    let unseen = |it: &char| is_unseen(*it) && !it.is_whitespace();
    if let Some(it) = word.chars().find(unseen) {
        let reason = format!("holds a character that is not seen (U+{:04X})", it as u32);
        return Err(Error::malformed(field, format!("{reason}: leave it out")));
    }
    let words: Vec<String> = word
        .split_whitespace()
        .map(|it| it.nfc().collect())
        .collect();
    let kept = words.join(" ");
    if kept.is_empty() {
        return Err(Error::missing(field, "is empty"));
    }
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_length(field: impl Into<Field>, text: &str, most: usize) -> Result<(), Error> {
    match text.chars().count() {
        n if n > most => {
            let found = format!("has {n} characters");
            Err(FieldError::TooMany { found, most }.of(field))
        }
        _ => Ok(()),
    }
}

/// Control and format characters (bidirectional ones among them), line and paragraph separators,
/// private and unassigned ones. The joiners U+200C and U+200D stay: Persian and the scripts of
/// India are written with them.
fn is_unseen(it: char) -> bool {
    let separates = matches!(it, '\u{2028}' | '\u{2029}');
    let is_other = it.general_category_group() == GeneralCategoryGroup::Other;
    separates || is_other && !matches!(it, '\u{200C}' | '\u{200D}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_in_one_form() {
        assert_eq!(
            check_person_name("  Ada\t Lovelace ").unwrap(),
            "Ada Lovelace"
        );
        assert_eq!(check_person_name("Zoe\u{308}").unwrap(), "Zo\u{EB}");
        assert_eq!(check_person_name("علی‌رضا").unwrap(), "علی‌رضا");
        assert!(check_person_name(" \n").is_err());
        assert!(check_person_name(&"a".repeat(60)).is_ok());
        assert!(check_person_name(&"a".repeat(61)).is_err());
    }

    #[test]
    fn a_name_holds_nothing_that_is_not_seen() {
        for it in [
            '\0', '\u{7F}', '\u{202E}', '\u{2066}', '\u{200F}', '\u{61C}', '\u{200B}', '\u{FEFF}',
            '\u{E000}', '\u{AD}',
        ] {
            let error = check_person_name(&format!("A{it}da"))
                .unwrap_err()
                .to_string();
            assert!(error.contains("is not seen"), "{error}");
        }
    }

    #[test]
    fn a_note_keeps_its_lines_and_loses_what_is_not_seen() {
        let note = check_note(" one\r\n\ttwo\u{202E}\0 three ").unwrap();
        assert_eq!(note, "one\n\ttwo three");
        assert!(check_note(&"a".repeat(2_001)).is_err());
        assert_eq!(check_note("").unwrap(), "");
    }

    #[test]
    fn a_tag_counts_once() {
        let tags =
            |it: &[&str]| check_tags(&it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            tags(&["too short", "too  short", "odd"]).unwrap(),
            ["too short", "odd"]
        );
        assert!(tags(&["1", "2", "3", "4", "5", "6", "7", "8", "9"]).is_err());
        assert!(tags(&[""]).is_err());
    }
}
