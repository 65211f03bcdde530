//! What people write for others to read: names, titles, tags, descriptions, notes.
//!
//! Every text of this kind passes one of these functions before it is kept: names of people and
//! notes of invitations where they are stored, titles, tags, notes and guidelines of review tasks
//! in [`AnnotationTask::validated`] and [`AnnotationEvent::validated`], title and description of a
//! study in [`StudyDefinition::check`]. Names of studies and collections are letters, digits and
//! hyphens, see [`validate_study_name`]; ids and texts of documents have their own rules where they
//! are read.
//!
//! Names, titles and tags stand in lists, tables and files among others, so a character that cannot
//! be seen or that turns the direction of what follows is refused there, and so is a text of which
//! nothing can be seen. In a note and in a reason, which stand alone, such characters are left out.
//!
//! [`AnnotationTask::validated`]: crate::annotation::task::AnnotationTask::validated
//! [`AnnotationEvent::validated`]: crate::annotation::event::AnnotationEvent::validated
//! [`StudyDefinition::check`]: crate::study::StudyDefinition::check
//! [`validate_study_name`]: crate::study::validate_study_name

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::error::{Error, FieldError, InvalidField};

/// A name of a person has at most so many characters: what a column has room for.
pub const MAX_NAME_CHARS: usize = 60;

/// A title of a task has at most so many characters: what a heading has room for.
pub const MAX_TITLE_CHARS: usize = 2 * MAX_NAME_CHARS;

/// A tag has at most so many characters: what a button has room for.
pub const MAX_TAG_CHARS: usize = 40;

/// A decision has at most so many tags.
pub const MAX_TAGS: usize = 8;

/// A note or a reason has at most so many characters, about a page.
pub const MAX_NOTE_CHARS: usize = 2_000;

/// Guidelines have at most so many characters, about twenty pages.
pub const MAX_GUIDELINES_CHARS: usize = 50_000;

/// The name of a person as it is kept: without white space around it, single spaces inside, in
/// normal form C. It has 1 to [`MAX_NAME_CHARS`] characters.
pub fn check_person_name(name: &str) -> Result<String, Error> {
    check_word(
        InvalidField::with_display("name", "name of a person"),
        name,
        MAX_NAME_CHARS,
    )
}

/// The title of a task as it is kept, by the same rules: 1 to [`MAX_TITLE_CHARS`] characters.
pub fn check_title(title: &str) -> Result<String, Error> {
    check_word("title".into(), title, MAX_TITLE_CHARS)
}

/// A tag as it is kept, by the same rules: 1 to [`MAX_TAG_CHARS`] characters.
pub fn check_tag(tag: &str) -> Result<String, Error> {
    check_word("tag".into(), tag, MAX_TAG_CHARS)
}

/// Tags as they are kept: each once, in the order given, at most [`MAX_TAGS`].
pub fn check_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags {
        let tag = check_tag(tag)?;
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    if kept.len() > MAX_TAGS {
        let (found, most) = (format!("{} are given", kept.len()), MAX_TAGS);
        return Err(FieldError::TooMany { found, max: most }.for_field("tags"));
    }
    Ok(kept)
}

/// Refuses a text that holds a character that is not seen, except for line breaks and tabs.
pub fn check_visible(field: &str, text: &str) -> Result<(), Error> {
    check_characters(&field.into(), text)
}

/// Whether nothing of a text can be seen: it is empty, or holds only white space and characters
/// that are not drawn or that need another one to be drawn on.
pub fn is_invisible(text: &str) -> bool {
    !text.chars().any(is_drawn)
}

/// A note or a reason as it is kept: control characters but line breaks and tabs, and what turns
/// the direction of writing, are left out, white space around it too.
pub fn check_note(note: &str) -> Result<String, Error> {
    check_text("note", note, MAX_NOTE_CHARS)
}

/// Cleans guidelines for storage: removes control characters other than line breaks and tabs, and
/// surrounding white space. Returns an error above `MAX_GUIDELINES_CHARS` characters.
pub fn check_guidelines(text: &str) -> Result<String, Error> {
    check_text("guidelines", text, MAX_GUIDELINES_CHARS)
}

fn check_text(field: &str, text: &str, most: usize) -> Result<String, Error> {
    let unseen = |it: char| is_unseen(it) && !matches!(it, '\n' | '\t');
    let text = text.replace("\r\n", "\n");
    let kept: String = text.trim().chars().filter(|&it| !unseen(it)).collect();
    if is_invisible(&kept) {
        return Ok(String::new());
    }
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_characters(field: &InvalidField, text: &str) -> Result<(), Error> {
    let unseen = |it: &char| is_unseen(*it) && !it.is_whitespace();
    match text.chars().find(unseen) {
        None => Ok(()),
        Some(it) => {
            let reason = format!("contains an invisible character (U+{:04X})", it as u32);
            let field = field.clone();
            Err(Error::malformed(field, format!("{reason}; remove it")))
        }
    }
}

fn check_word(field: InvalidField, word: &str, most: usize) -> Result<String, Error> {
    check_characters(&field, word)?;
    let words: Vec<String> = word
        .split_whitespace()
        .map(|it| it.nfc().collect())
        .collect();
    let kept = words.join(" ");
    if kept.is_empty() {
        return Err(Error::missing(field, "is empty"));
    }
    if is_invisible(&kept) {
        let reason = "contains only invisible characters; enter at least one visible character";
        return Err(Error::missing(field, reason));
    }
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_length(field: impl Into<InvalidField>, text: &str, most: usize) -> Result<(), Error> {
    match text.chars().count() {
        n if n > most => {
            let found = format!("has {n} characters");
            Err(FieldError::TooMany { found, max: most }.for_field(field))
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

/// Letters, digits, punctuation and symbols, but for the fillers of Hangul and the empty cell of
/// Braille, which are drawn as nothing.
fn is_drawn(it: char) -> bool {
    let is_blank = matches!(
        it,
        '\u{115F}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}'
    );
    !is_blank
        && matches!(
            it.general_category_group(),
            GeneralCategoryGroup::Letter
                | GeneralCategoryGroup::Number
                | GeneralCategoryGroup::Punctuation
                | GeneralCategoryGroup::Symbol
        )
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
            assert!(error.contains("an invisible character"), "{error}");
        }
    }

    #[test]
    fn what_shows_nothing_is_no_name() {
        for it in [
            "\u{200C}",
            "\u{200D}\u{200C}",
            "\u{3164}",
            "\u{115F}\u{1160}",
            "\u{2800} \u{2800}",
            "\u{34F}",
            "\u{FE0F}",
            "\u{A0}\u{200D}",
        ] {
            for checked in [check_person_name(it), check_title(it), check_tag(it)] {
                let error = checked.unwrap_err().to_string();
                assert!(
                    error.contains("only invisible characters"),
                    "{it:?}: {error}"
                );
            }
            assert!(is_invisible(it), "{it:?}");
            assert_eq!(check_note(it).unwrap(), "");
        }
        for it in ["Ada", "愛", "7", "☺", "-", "\u{627}\u{64E}"] {
            assert_eq!(check_person_name(it).unwrap(), it);
        }
        assert!(is_invisible(" \n"));
    }

    #[test]
    fn a_text_with_characters_that_are_not_seen_is_refused() {
        check_visible("description", "Two lines\r\n\tof text, علی‌رضا").unwrap();
        for it in ['\0', '\u{202E}', '\u{2066}', '\u{200B}'] {
            let error = check_visible("description", &format!("a{it}b")).unwrap_err();
            let code = format!("(U+{:04X})", it as u32);
            assert_eq!(error.field(), Some("description"));
            assert!(error.to_string().contains(&code), "{error}");
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
