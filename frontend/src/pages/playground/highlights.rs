//! Highlights of query terms in a field while the user types.

use leptos::prelude::*;
use shared::study::instance_details::{HighlightedText, QueryTermInfo, TermHighlight};

use crate::widgets::highlighted_text::HighlightedTextView;

/// Renders the highlights of a text behind a field, in the same layout; the field itself shows the
/// letters.
#[component]
pub(super) fn HighlightLayer(
    /// The text with its highlights.
    #[prop(into)]
    marked: Signal<HighlightedText>,
    /// Distinct query terms.
    #[prop(into)]
    terms: Signal<Vec<QueryTermInfo>>,
) -> impl IntoView {
    let text = move || view! { <HighlightedTextView marked=marked.get() terms=terms.get()/> };
    // An empty last line only has a height if it contains a character.
    view! { <div class="underlay" aria-hidden="true">{text} "\u{200b}"</div> }
}

/// Moves the highlights of an earlier text onto the current one: those before and after the changed
/// part are kept.
pub(super) fn carry_highlights_to_edited_text(
    before: &HighlightedText,
    now: &str,
) -> HighlightedText {
    if before.text == now {
        return before.clone();
    }
    let (old, new) = (before.text.as_bytes(), now.as_bytes());
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room);
    let tail = tail.take_while(|(a, b)| a == b).count();
    let moved = |mark: &TermHighlight| {
        let mut mark = *mark;
        if mark.span.end as usize <= head {
            return Some(mark);
        }
        if (mark.span.start as usize) < old.len() - tail {
            return None;
        }
        let shift = |at: u32| (new.len() - (old.len() - at as usize)) as u32;
        (mark.span.start, mark.span.end) = (shift(mark.span.start), shift(mark.span.end));
        Some(mark)
    };
    HighlightedText {
        text: now.to_owned(),
        marks: before.marks.iter().filter_map(moved).collect(),
        title_length: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widgets::highlighted_text::split_at_highlights;
    use shared::text::ByteSpan;

    fn marked(text: &str, words: &[&str]) -> HighlightedText {
        let mark = |word: &&str| {
            let start = text.find(word).unwrap() as u32;
            let span = ByteSpan {
                start,
                end: start + word.len() as u32,
            };
            TermHighlight {
                span,
                term_index: 0,
                is_nearest: false,
            }
        };
        HighlightedText {
            text: text.to_owned(),
            marks: words.iter().map(mark).collect(),
            title_length: 0,
        }
    }

    fn check(marked: &HighlightedText, expected: &str) {
        let shown = split_at_highlights(marked)
            .into_iter()
            .map(|it| match it.mark {
                Some(_) => format!("[{}]", it.text),
                None => it.text,
            });
        assert_eq!(shown.collect::<String>(), expected);
    }

    #[test]
    fn marks_move_with_the_words_they_stand_on() {
        let before = marked("the river, a bank", &["river", "bank"]);
        check(
            &carry_highlights_to_edited_text(&before, "the river, å steep bank"),
            "the [river], å steep [bank]",
        );
        check(
            &carry_highlights_to_edited_text(&before, "the rivers, a bank"),
            "the [river]s, a [bank]",
        );
        check(
            &carry_highlights_to_edited_text(&before, "the riser, a bank"),
            "the riser, a [bank]",
        );
        check(&carry_highlights_to_edited_text(&before, ""), "");
        check(
            &carry_highlights_to_edited_text(&before, "the river, a bank bank"),
            "the [river], a [bank] bank",
        );
    }
}
