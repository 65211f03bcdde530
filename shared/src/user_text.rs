//! Checks of text that people write for others: names, titles, tags, descriptions, notes.
//!
//! Every text of this kind passes one of these functions before it is stored: names of people and
//! notes of invitations where they are stored, titles, tags, notes and guidelines of annotation
//! tasks in `AnnotationTaskDefinition::normalize_and_validate`, those of annotations in
//! `ClientAnnotationEvent::normalize_and_validate`, title and description of a study in
//! [`StudyDefinition::validate`], and those that are changed on a server also in
//! [`normalize_study_title`] and [`normalize_study_description`]. Names of studies and collections
//! are letters, digits and hyphens, see [`validate_study_name`]; ids and texts of documents have
//! their own rules in their readers.
//!
//! Names, titles and tags appear in lists, tables and files among others, so they must not contain
//! invisible characters or characters that change the direction of writing, and must show
//! something. In notes and reasons, which stand alone, such characters are removed.
//!
//! [`StudyDefinition::validate`]: crate::study::StudyDefinition::validate
//! [`validate_study_name`]: crate::study::validate_study_name

use unicode::{has_category_other, is_letter_number_punctuation_or_symbol, normalization_form_c};

use crate::error::{Error, ErrorFieldName, InvalidFieldReason};

/// The maximum number of characters in the name of a person; fits a table column.
pub const MAX_NAME_CHARS: usize = 60;

/// The maximum number of characters in the title of a task; fits a heading.
pub const MAX_TITLE_CHARS: usize = 2 * MAX_NAME_CHARS;

/// The maximum number of characters in a title of a study that is set on a server; two lines of a
/// heading.
pub const MAX_STUDY_TITLE_CHARS: usize = 200;

/// The maximum number of characters in a tag; fits a button.
pub const MAX_TAG_CHARS: usize = 40;

/// The maximum number of tags on an annotation.
pub const MAX_TAGS: usize = 8;

/// The maximum number of characters in a note, a reason or a description that is set on a server,
/// about a page.
pub const MAX_NOTE_CHARS: usize = 2_000;

/// The maximum number of characters in guidelines, about twenty pages.
pub const MAX_GUIDELINES_CHARS: usize = 50_000;

/// Returns the name of a person as it is stored: without surrounding white space, with single
/// spaces inside, in Unicode normalization form C. It has 1 to [`MAX_NAME_CHARS`] characters.
pub fn normalize_person_name(name: &str) -> Result<String, Error> {
    check_word(
        ErrorFieldName::with_display_name("name", "name of a person"),
        name,
        MAX_NAME_CHARS,
    )
}

/// Returns the title of a task as it is stored, by the same rules: 1 to [`MAX_TITLE_CHARS`]
/// characters.
pub fn validate_and_normalize_task_title(title: &str) -> Result<String, Error> {
    check_word("title".into(), title, MAX_TITLE_CHARS)
}

/// Returns the title of a study as it is stored, by the same rules: 1 to
/// [`MAX_STUDY_TITLE_CHARS`] characters.
pub fn normalize_study_title(title: &str) -> Result<String, Error> {
    check_word("title".into(), title, MAX_STUDY_TITLE_CHARS)
}

/// Returns the description of a study as it is stored: without surrounding white space, at most
/// [`MAX_NOTE_CHARS`] characters, none of them invisible except line breaks and tabs.
pub fn normalize_study_description(description: &str) -> Result<String, Error> {
    reject_invisible_characters("description", description)?;
    check_text("description", description, MAX_NOTE_CHARS)
}

/// Returns a tag as it is stored, by the same rules: 1 to [`MAX_TAG_CHARS`] characters.
pub fn normalize_annotation_tag(tag: &str) -> Result<String, Error> {
    check_word("tag".into(), tag, MAX_TAG_CHARS)
}

/// Returns tags as they are stored: each once, in the given order, at most [`MAX_TAGS`].
pub fn normalize_and_deduplicate_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags {
        let tag = normalize_annotation_tag(tag)?;
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    if kept.len() > MAX_TAGS {
        let (found, most) = (format!("{} are given", kept.len()), MAX_TAGS);
        return Err(InvalidFieldReason::TooMany { found, max: most }.into_error_for_field("tags"));
    }
    Ok(kept)
}

/// Returns an error if a text contains an invisible character other than a line break or a tab.
pub fn reject_invisible_characters(field: &str, text: &str) -> Result<(), Error> {
    check_characters(&field.into(), text)
}

/// Whether nothing in a text is visible: it is empty, or contains only white space and characters
/// that are not drawn or that combine with another one.
pub fn has_no_visible_character(text: &str) -> bool {
    !text.chars().any(is_drawn)
}

/// Cleans a note or a reason for storage: removes control characters other than line breaks and
/// tabs, characters that change the direction of writing, and surrounding white space.
pub fn normalize_note(note: &str) -> Result<String, Error> {
    check_text("note", note, MAX_NOTE_CHARS)
}

/// Cleans guidelines for storage: removes control characters other than line breaks and tabs, and
/// surrounding white space. Returns an error above `MAX_GUIDELINES_CHARS` characters.
pub fn normalize_guidelines(text: &str) -> Result<String, Error> {
    check_text("guidelines", text, MAX_GUIDELINES_CHARS)
}

fn check_text(field: &str, text: &str, most: usize) -> Result<String, Error> {
    let unseen = |it: char| is_unseen(it) && !matches!(it, '\n' | '\t');
    let text = text.replace("\r\n", "\n");
    let kept: String = text.trim().chars().filter(|&it| !unseen(it)).collect();
    if has_no_visible_character(&kept) {
        return Ok(String::new());
    }
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_characters(field: &ErrorFieldName, text: &str) -> Result<(), Error> {
    let unseen = |it: &char| is_unseen(*it) && !it.is_whitespace();
    match text.chars().find(unseen) {
        None => Ok(()),
        Some(it) => {
            let reason = format!("contains an invisible character (U+{:04X})", it as u32);
            let field = field.clone();
            Err(Error::malformed_value(
                field,
                format!("{reason}; remove it"),
            ))
        }
    }
}

fn check_word(field: ErrorFieldName, word: &str, most: usize) -> Result<String, Error> {
    check_characters(&field, word)?;
    let words: Vec<String> = word.split_whitespace().map(normalization_form_c).collect();
    let kept = words.join(" ");
    if kept.is_empty() {
        return Err(Error::missing_field(field, "is empty"));
    }
    if has_no_visible_character(&kept) {
        let reason = "contains only invisible characters; enter at least one visible character";
        return Err(Error::missing_field(field, reason));
    }
    check_length(field, &kept, most)?;
    Ok(kept)
}

fn check_length(field: impl Into<ErrorFieldName>, text: &str, most: usize) -> Result<(), Error> {
    match text.chars().count() {
        n if n > most => {
            let found = format!("has {n} characters");
            Err(InvalidFieldReason::TooMany { found, max: most }.into_error_for_field(field))
        }
        _ => Ok(()),
    }
}

/// Whether a character is a control or format character (including bidirectional ones), a line or
/// paragraph separator, or a private or unassigned one. The joiners U+200C and U+200D are allowed
/// because Persian and the scripts of India need them.
fn is_unseen(it: char) -> bool {
    let separates = matches!(it, '\u{2028}' | '\u{2029}');
    separates || has_category_other(it) && !matches!(it, '\u{200C}' | '\u{200D}')
}

/// Whether a character is a letter, digit, punctuation mark or symbol, except for the Hangul
/// fillers and the empty Braille cell, which are drawn as blanks.
fn is_drawn(it: char) -> bool {
    let is_blank = matches!(
        it,
        '\u{115F}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}'
    );
    !is_blank && is_letter_number_punctuation_or_symbol(it)
}

/// The properties of characters, from tables.
#[cfg(not(target_family = "wasm"))]
mod unicode {
    use unicode_normalization::UnicodeNormalization;
    use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

    pub(super) fn normalization_form_c(word: &str) -> String {
        word.nfc().collect()
    }

    pub(super) fn has_category_other(it: char) -> bool {
        it.general_category_group() == GeneralCategoryGroup::Other
    }

    pub(super) fn is_letter_number_punctuation_or_symbol(it: char) -> bool {
        matches!(
            it.general_category_group(),
            GeneralCategoryGroup::Letter
                | GeneralCategoryGroup::Number
                | GeneralCategoryGroup::Punctuation
                | GeneralCategoryGroup::Symbol
        )
    }
}

/// The same from the browser, since the tables would enlarge an annotator's program.
#[cfg(target_family = "wasm")]
mod unicode {
    use js_sys::{JsString, RegExp};

    thread_local! {
        static OTHER: RegExp = RegExp::new(r"\p{C}", "u");
        static DRAWN: RegExp = RegExp::new(r"[\p{L}\p{N}\p{P}\p{S}]", "u");
    }

    pub(super) fn normalization_form_c(word: &str) -> String {
        JsString::from(word).normalize("NFC").into()
    }

    pub(super) fn has_category_other(it: char) -> bool {
        OTHER.with(|category| category.test(it.encode_utf8(&mut [0; 4])))
    }

    pub(super) fn is_letter_number_punctuation_or_symbol(it: char) -> bool {
        DRAWN.with(|categories| categories.test(it.encode_utf8(&mut [0; 4])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_in_one_form() {
        assert_eq!(
            normalize_person_name("  Ada\t Lovelace ").unwrap(),
            "Ada Lovelace"
        );
        assert_eq!(normalize_person_name("Zoe\u{308}").unwrap(), "Zo\u{EB}");
        assert_eq!(normalize_person_name("علی‌رضا").unwrap(), "علی‌رضا");
        assert!(normalize_person_name(" \n").is_err());
        assert!(normalize_person_name(&"a".repeat(60)).is_ok());
        assert!(normalize_person_name(&"a".repeat(61)).is_err());
    }

    #[test]
    fn a_name_holds_nothing_that_is_not_seen() {
        for it in [
            '\0', '\u{7F}', '\u{202E}', '\u{2066}', '\u{200F}', '\u{61C}', '\u{200B}', '\u{FEFF}',
            '\u{E000}', '\u{AD}',
        ] {
            let error = normalize_person_name(&format!("A{it}da"))
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
            for checked in [
                normalize_person_name(it),
                validate_and_normalize_task_title(it),
                normalize_annotation_tag(it),
            ] {
                let error = checked.unwrap_err().to_string();
                assert!(
                    error.contains("only invisible characters"),
                    "{it:?}: {error}"
                );
            }
            assert!(has_no_visible_character(it), "{it:?}");
            assert_eq!(normalize_note(it).unwrap(), "");
        }
        for it in ["Ada", "愛", "7", "☺", "-", "\u{627}\u{64E}"] {
            assert_eq!(normalize_person_name(it).unwrap(), it);
        }
        assert!(has_no_visible_character(" \n"));
    }

    #[test]
    fn a_text_with_characters_that_are_not_seen_is_refused() {
        reject_invisible_characters("description", "Two lines\r\n\tof text, علی‌رضا").unwrap();
        for it in ['\0', '\u{202E}', '\u{2066}', '\u{200B}'] {
            let error = reject_invisible_characters("description", &format!("a{it}b")).unwrap_err();
            let code = format!("(U+{:04X})", it as u32);
            assert_eq!(error.field_name(), Some("description"));
            assert!(error.to_string().contains(&code), "{error}");
        }
    }

    #[test]
    fn the_texts_of_a_study_are_bounded_and_visible() {
        assert_eq!(
            normalize_study_title(" Rivers \n II ").unwrap(),
            "Rivers II"
        );
        let title = "a".repeat(MAX_STUDY_TITLE_CHARS + 1);
        for bad in ["", " \u{200D}", "a\u{202E}b", &title] {
            let error = normalize_study_title(bad).unwrap_err();
            assert_eq!(error.field_name(), Some("title"), "{error}");
        }
        let lines = normalize_study_description(" One.\r\nTwo. ").unwrap();
        assert_eq!(lines, "One.\nTwo.");
        assert_eq!(normalize_study_description("").unwrap(), "");
        let text = "a".repeat(MAX_NOTE_CHARS + 1);
        for bad in ["a\u{202E}b", "\0", &text] {
            let error = normalize_study_description(bad).unwrap_err();
            assert_eq!(error.field_name(), Some("description"), "{error}");
        }
    }

    #[test]
    fn a_note_keeps_its_lines_and_loses_what_is_not_seen() {
        let note = normalize_note(" one\r\n\ttwo\u{202E}\0 three ").unwrap();
        assert_eq!(note, "one\n\ttwo three");
        assert!(normalize_note(&"a".repeat(2_001)).is_err());
        assert_eq!(normalize_note("").unwrap(), "");
    }

    #[test]
    fn a_tag_counts_once() {
        let tags = |it: &[&str]| {
            normalize_and_deduplicate_tags(
                &it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            tags(&["too short", "too  short", "odd"]).unwrap(),
            ["too short", "odd"]
        );
        assert!(tags(&["1", "2", "3", "4", "5", "6", "7", "8", "9"]).is_err());
        assert!(tags(&[""]).is_err());
    }
}
