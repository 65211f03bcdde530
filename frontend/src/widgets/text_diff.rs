//! A word-by-word diff of two texts.

use std::collections::BTreeMap;

use leptos::prelude::*;
use shared::report::format;

use crate::number_format::format_count_with_noun;

/// Consecutive words and punctuation marks with the same change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextDiffSegment {
    /// How the words have changed.
    pub(crate) change: WordChange,
    /// The words as written, with single spaces.
    pub(crate) text: String,
    /// Whether there is whitespace before the segment.
    has_space_before: bool,
    n_words: u64,
    n_punctuation: u64,
}

/// How a word has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordChange {
    Unchanged,
    Added,
    Removed,
    /// The word is also in the other text, at another place.
    Moved,
}

/// Which labels name the changes: those of an edited text, or those of two separate texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLabelWording {
    /// The labels for a text that was edited.
    Edited,
    /// The labels for two separate texts.
    SideBySide,
}

impl DiffLabelWording {
    fn label(self, fate: WordChange) -> &'static str {
        match (self, fate) {
            (DiffLabelWording::Edited, WordChange::Unchanged) => "unchanged",
            (DiffLabelWording::Edited, WordChange::Added) => "added",
            (DiffLabelWording::Edited, WordChange::Removed) => "removed",
            (DiffLabelWording::Edited, WordChange::Moved) => "moved",
            (DiffLabelWording::SideBySide, WordChange::Unchanged) => "in both",
            (DiffLabelWording::SideBySide, WordChange::Added) => "only in document 1",
            (DiffLabelWording::SideBySide, WordChange::Removed) => "only in document 2",
            (DiffLabelWording::SideBySide, WordChange::Moved) => "elsewhere in document 2",
        }
    }
}

/// The kinds of change, in the order in which they are listed.
const CHANGES: [WordChange; 3] = [WordChange::Added, WordChange::Removed, WordChange::Moved];

/// Renders the changed text, with removed words in place.
#[component]
pub(crate) fn TextDiffView(
    /// The segments of the diff.
    pieces: Vec<TextDiffSegment>,
) -> impl IntoView {
    let pieces = pieces.into_iter().map(|it| {
        let space = it.has_space_before.then_some(" ");
        view! { {space} {marked(it.change, it.text)} }
    });
    view! { <p class="text" dir="auto">{pieces.collect_view()}</p> }
}

/// Renders the legend of the changes.
#[component]
pub(crate) fn TextDiffLegend(
    /// The segments of the diff.
    pieces: Vec<TextDiffSegment>,
    /// The labels of the changes.
    wording: DiffLabelWording,
) -> impl IntoView {
    let there = CHANGES
        .into_iter()
        .filter(|fate| pieces.iter().any(|it| it.change == *fate));
    let keys = there.map(|it| view! { <li>{marked(it, wording.label(it).to_owned())}</li> });
    view! { <ul class="note keys-to">{keys.collect_view()}</ul> }
}

fn marked(fate: WordChange, text: String) -> AnyView {
    match fate {
        WordChange::Unchanged => text.into_any(),
        WordChange::Added => view! { <ins>{text}</ins> }.into_any(),
        WordChange::Removed => view! { <del>{text}</del> }.into_any(),
        WordChange::Moved => view! { <span class="moved">{text}</span> }.into_any(),
    }
}

/// Summarizes the changes, as in `4 words added, 1 removed`. Punctuation is only counted if no word
/// has changed.
pub(crate) fn summarize_text_changes(
    pieces: &[TextDiffSegment],
    wording: DiffLabelWording,
) -> String {
    let counts = |number: fn(&TextDiffSegment) -> u64| {
        let of = move |fate: WordChange| -> u64 {
            let pieces = pieces.iter().filter(|it| it.change == fate);
            pieces.map(number).sum()
        };
        let counts = CHANGES.map(|fate| (fate, of(fate))).into_iter();
        counts.filter(|it| it.1 > 0).collect::<Vec<_>>()
    };
    let (words, marks) = (counts(|it| it.n_words), counts(|it| it.n_punctuation));
    let (counts, one, many) = match words.is_empty() {
        false => (words, "word", "words"),
        true => (marks, "punctuation mark", "punctuation marks"),
    };
    let said = counts.iter().enumerate().map(|(at, &(fate, n))| {
        let n = match at {
            0 => format_count_with_noun(n, one, many),
            _ => format::format_count(n),
        };
        format!("{n} {}", wording.label(fate))
    });
    let said: Vec<String> = said.collect();
    match said.is_empty() {
        true => "only whitespace differs".to_owned(),
        false => said.join(", "),
    }
}

/// The maximum number of cells in the alignment table: 4 MB, a few milliseconds.
const MAX_TABLE_CELLS: usize = 1 << 20;

/// Returns the smallest set of removed and added words that turns `before` into `after` (longest
/// common subsequence). A word that is removed in one place and added in another counts as moved.
/// None if the changed part is too long to be aligned.
pub(crate) fn diff_words(before: &str, after: &str) -> Option<Vec<TextDiffSegment>> {
    let (old, new) = (tokens(before), tokens(after));
    let is_same = |(a, b): &(&DiffToken<'_>, &DiffToken<'_>)| a.text == b.text;
    let same = old.iter().zip(&new).take_while(is_same).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = ends.take_while(is_same).count();
    // A punctuation mark stays with the word before it.
    let marks = new_rest[new_rest.len() - tail..].iter();
    let tail = tail - marks.take_while(|it| !it.is_word()).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    if (old_middle.len() + 1).checked_mul(new_middle.len() + 1)? > MAX_TABLE_CELLS {
        return None;
    }
    let mut changed = align(old_middle, new_middle);
    merge_moves(&mut changed);
    let head = new[..same].iter().map(|&it| (WordChange::Unchanged, it));
    let tail = new_rest[new_middle.len()..].iter();
    let tail = tail.map(|&it| (WordChange::Unchanged, it));
    let mut pieces = Vec::new();
    for (fate, token) in head.chain(changed).chain(tail) {
        push_token(&mut pieces, fate, token);
    }
    Some(pieces)
}

/// A word or a punctuation mark of a text.
#[derive(Debug, Clone, Copy)]
struct DiffToken<'a> {
    text: &'a str,
    /// Whether there is whitespace before it.
    spaced: bool,
}

impl DiffToken<'_> {
    fn is_word(self) -> bool {
        self.text.contains(char::is_alphanumeric)
    }
}

/// Splits a text into tokens. Words keep inner hyphens, apostrophes, periods and commas; every
/// other character except whitespace is a token of its own.
fn tokens(text: &str) -> Vec<DiffToken<'_>> {
    let mut tokens: Vec<DiffToken<'_>> = Vec::new();
    // This separates the first word of one text from a word of the other.
    let mut spaced = true;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            spaced = true;
            continue;
        }
        let length = match word_length(rest) {
            0 => first.len_utf8(),
            length => length,
        };
        let (text, behind) = rest.split_at(length);
        tokens.push(DiffToken { text, spaced });
        (rest, spaced) = (behind, false);
    }
    tokens
}

/// Returns the length in bytes of the word at the beginning of a text; 0 if there is none.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    for (at, letter) in text.char_indices() {
        let goes_on = || text[at + letter.len_utf8()..].starts_with(char::is_alphanumeric);
        let is_inner = length > 0 && matches!(letter, '-' | '\'' | '’' | '.' | ',') && goes_on();
        if !letter.is_alphanumeric() && !is_inner {
            break;
        }
        length = at + letter.len_utf8();
    }
    length
}

fn align<'a>(old: &[DiffToken<'a>], new: &[DiffToken<'a>]) -> Vec<(WordChange, DiffToken<'a>)> {
    let width = new.len() + 1;
    // `longest[i][j]` is the length of the longest common subsequence of `old[i..]` and `new[j..]`.
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i].text == new[j].text {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut taken = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i].text == new[j].text {
            taken.push((WordChange::Unchanged, new[j]));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            taken.push((WordChange::Removed, old[i]));
            i += 1;
        } else {
            taken.push((WordChange::Added, new[j]));
            j += 1;
        }
    }
    taken.extend(old[i..].iter().map(|&it| (WordChange::Removed, it)));
    taken.extend(new[j..].iter().map(|&it| (WordChange::Added, it)));
    taken
}

/// Replaces a removed word and the same word added elsewhere by a moved one.
fn merge_moves(taken: &mut Vec<(WordChange, DiffToken<'_>)>) {
    let mut dropped: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, token) in taken.iter().filter(|it| it.0 == WordChange::Removed) {
        *dropped.entry(token.text).or_default() += 1;
    }
    let mut moved: BTreeMap<&str, u32> = BTreeMap::new();
    for (fate, token) in taken.iter_mut().filter(|it| it.0 == WordChange::Added) {
        if let Some(left) = dropped.get_mut(token.text).filter(|it| **it > 0) {
            *left -= 1;
            *moved.entry(token.text).or_default() += 1;
            *fate = WordChange::Moved;
        }
    }
    taken.retain(|(fate, token)| {
        let of = moved.get_mut(token.text).filter(|it| **it > 0);
        let (WordChange::Removed, Some(left)) = (fate, of) else {
            return true;
        };
        *left -= 1;
        false
    });
}

fn push_token(pieces: &mut Vec<TextDiffSegment>, fate: WordChange, token: DiffToken<'_>) {
    if pieces.last().is_none_or(|it| it.change != fate) {
        pieces.push(TextDiffSegment {
            change: fate,
            text: String::new(),
            has_space_before: token.spaced && !pieces.is_empty(),
            n_words: 0,
            n_punctuation: 0,
        });
    }
    let Some(last) = pieces.last_mut() else {
        return;
    };
    if token.spaced && !last.text.is_empty() {
        last.text.push(' ');
    }
    last.text.push_str(token.text);
    match token.is_word() {
        true => last.n_words += 1,
        false => last.n_punctuation += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        let pieces = diff_words(before, after).unwrap();
        let shown = pieces.iter().map(|it| {
            let space = if it.has_space_before { " " } else { "" };
            match it.change {
                WordChange::Unchanged => format!("{space}{}", it.text),
                WordChange::Added => format!("{space}+[{}]", it.text),
                WordChange::Removed => format!("{space}-[{}]", it.text),
                WordChange::Moved => format!("{space}~[{}]", it.text),
            }
        });
        assert_eq!(shown.collect::<String>(), expected);
    }

    #[test]
    fn words_are_lined_up() {
        check("a b c", "a b c", "a b c");
        check("a b c", "a x c", "a -[b] +[x] c");
        check(
            "the river bank",
            "the steep river bank river",
            "the +[steep] river bank +[river]",
        );
        check("", "a b", "+[a b]");
        check("a", "b c", "-[a] +[b c]");
        check("a b", "", "-[a b]");
        check("a b a b c", "b a c", "-[a] b a -[b] c");
    }

    #[test]
    fn a_word_that_stands_elsewhere_was_moved() {
        check("a b c d", "b c d a", "b c d ~[a]");
        check("a x b c", "b c a y", "-[x] b c ~[a] +[y]");
        check("One. Two three.", "Two three. One.", "Two three. ~[One.]");
    }

    #[test]
    fn punctuation_is_parted_from_words_and_numbers_keep_theirs() {
        check("the ice, 2,400 m", "the ice 2,400 m", "the ice-[,] 2,400 m");
        check("it's (cold).", "it's cold", "it's -[(] cold-[).]");
    }

    #[test]
    fn a_change_is_counted_in_words() {
        let said = |before: &str, after: &str, wording: DiffLabelWording| {
            summarize_text_changes(&diff_words(before, after).unwrap(), wording)
        };
        let changed = |before: &str, after: &str| said(before, after, DiffLabelWording::Edited);
        assert_eq!(changed("a b", "a b c d"), "2 words added");
        assert_eq!(changed("a b", "b"), "1 word removed");
        assert_eq!(changed("a b", "b c"), "1 word added, 1 removed");
        assert_eq!(changed("a b c", "c b a"), "2 words moved");
        assert_eq!(changed("a, b.", "a b"), "2 punctuation marks removed");
        assert_eq!(changed("a b", "a  b"), "only whitespace differs");
        assert_eq!(
            said("a b c", "c a x", DiffLabelWording::SideBySide),
            "1 word only in document 1, 1 only in document 2, 1 elsewhere in document 2"
        );
    }

    #[test]
    fn two_long_texts_with_nothing_in_common_are_not_lined_up() {
        let (a, b) = ("a ".repeat(2000), "b ".repeat(2000));
        assert_eq!(diff_words(&a, &b), None);
        assert!(diff_words(&a, &format!("{a} b")).is_some());
    }
}
