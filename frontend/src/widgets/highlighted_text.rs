//! Text with highlighted query terms. Content of a collection is treated as text, never as HTML.

use leptos::prelude::*;
use shared::study::instance_details::{HighlightedText, QueryTermInfo, TermHighlight};

/// A segment of a text, highlighted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HighlightSegment {
    /// The text of the segment.
    pub(crate) text: String,
    /// The query term in the segment, if any.
    pub(crate) mark: Option<TermHighlight>,
}

/// The place in a text up to which a ranker read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadingEnd {
    /// The number of bytes of the text that were read, from its beginning.
    pub(crate) n_bytes: u32,
    /// The label of the ranker.
    pub(crate) ranker: String,
}

/// Renders a text with its highlights; `lit` is the query term that is hovered elsewhere.
#[component]
pub(crate) fn HighlightedTextView(
    /// The text and the occurrences of query terms in it.
    marked: HighlightedText,
    /// The distinct query terms; their rarity determines the line style.
    terms: Vec<QueryTermInfo>,
    /// The index of the hovered term.
    #[prop(optional, into)]
    lit: Option<RwSignal<Option<u32>>>,
    /// Where rankers stopped reading, in ascending order.
    #[prop(optional, into)]
    ends: Signal<Vec<ReadingEnd>>,
) -> impl IntoView {
    move || {
        let show = |part: &HighlightedText| {
            let segments = split_at_highlights(part).into_iter();
            segments
                .map(|it| render_segment(it, &terms, lit))
                .collect_view()
        };
        let (title, mut rest) = match split_text_at(&marked, marked.title_length) {
            Some([title, body]) => (Some(title), body),
            None => (None, marked.clone()),
        };
        let title = title.map(|it| view! { <b class="doc-title">{show(&it)}</b> });
        let mut from = marked.title_length;
        let mut read = Vec::new();
        for ReadingEnd { n_bytes, ranker } in ends.get() {
            let parts = split_text_at(&rest, n_bytes.saturating_sub(from));
            if let Some([before, after]) = parts {
                read.push(show(&before));
                (rest, from) = (after, n_bytes);
            }
            let mark = format!("{ranker} stops reading here");
            read.push(vec![
                view! { <small class="reading-end">{mark}</small> }.into_any(),
            ]);
        }
        view! { {title} {read} {show(&rest)} }
    }
}

fn render_segment(
    segment: HighlightSegment,
    terms: &[QueryTermInfo],
    lit: Option<RwSignal<Option<u32>>>,
) -> AnyView {
    let Some(mark) = segment.mark else {
        return segment.text.into_any();
    };
    let class = underline_class_by_rarity(terms, mark.term_index);
    let is_lit = move || lit.is_some_and(|it| it.get() == Some(mark.term_index));
    view! {
        <mark class=class class:nearest=mark.is_nearest class:lit=is_lit>{segment.text}</mark>
    }
    .into_any()
}

/// Splits a text after a number of bytes, each part with its highlights; none if the first part
/// would be empty or the text does not have this boundary.
fn split_text_at(marked: &HighlightedText, at: u32) -> Option<[HighlightedText; 2]> {
    let parts = marked.text.split_at_checked(at as usize);
    let (first, rest) = parts.filter(|_| at > 0)?;
    let (of_first, of_rest) = marked.marks.iter().partition(|it| it.span.start < at);
    let mut of_rest: Vec<TermHighlight> = of_rest;
    for mark in &mut of_rest {
        mark.span.start -= at;
        mark.span.end -= at;
    }
    let part = |text: &str, marks| HighlightedText {
        text: text.to_owned(),
        marks,
        title_length: 0,
    };
    Some([part(first, of_first), part(rest, of_rest)])
}

/// Renders a query term as it is highlighted in documents.
#[component]
pub(crate) fn HighlightedQueryTerm(
    /// The distinct terms of the query, one for each color.
    terms: Vec<QueryTermInfo>,
    /// The index of the term.
    place: usize,
) -> impl IntoView {
    let written = terms
        .get(place)
        .map(|it| it.surface_form.clone())
        .unwrap_or_default();
    view! { <mark class=underline_class_by_rarity(&terms, place as u32)>{written}</mark> }
}

/// Returns the class of a term's underline: `t1` for the rarest to `t5`, then `rest`.
pub(crate) fn underline_class_by_rarity(terms: &[QueryTermInfo], place: u32) -> &'static str {
    const LINES: [&str; 5] = ["t1", "t2", "t3", "t4", "t5"];
    let rarity = terms.get(place as usize).map(|it| it.rarity_rank as usize);
    rarity
        .and_then(|it| LINES.get(it).copied())
        .unwrap_or("rest")
}

/// Splits a text at its highlights. A highlight that does not fit the text is skipped.
pub(crate) fn split_at_highlights(marked: &HighlightedText) -> Vec<HighlightSegment> {
    let mut segments = Vec::new();
    let mut from = 0;
    for mark in &marked.marks {
        let (start, end) = (mark.span.start as usize, mark.span.end as usize);
        let (Some(before), Some(term)) =
            (marked.text.get(from..start), marked.text.get(start..end))
        else {
            continue;
        };
        if !before.is_empty() {
            segments.push(HighlightSegment {
                text: before.to_owned(),
                mark: None,
            });
        }
        segments.push(HighlightSegment {
            text: term.to_owned(),
            mark: Some(*mark),
        });
        from = end;
    }
    let rest = marked.text.get(from..).unwrap_or_default();
    if !rest.is_empty() {
        segments.push(HighlightSegment {
            text: rest.to_owned(),
            mark: None,
        });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::text::ByteSpan;

    fn mark(start: u32, end: u32) -> TermHighlight {
        TermHighlight {
            span: ByteSpan { start, end },
            term_index: 0,
            is_nearest: false,
        }
    }

    #[test]
    fn a_text_is_cut_at_its_marks_and_nothing_is_lost() {
        let text = "Über Täler, <b>Täler</b>".to_owned();
        let marks = vec![mark(6, 12), mark(17, 23)];
        let pieces: Vec<String> = split_at_highlights(&HighlightedText {
            text: text.clone(),
            marks,
            title_length: 0,
        })
        .into_iter()
        .map(|it| it.text)
        .collect();
        assert_eq!(pieces, ["Über ", "Täler", ", <b>", "Täler", "</b>"]);
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn both_parts_of_a_text_keep_their_marks() {
        let marked = HighlightedText {
            text: "Über Eis Eis schmilzt".to_owned(),
            marks: vec![mark(6, 9), mark(10, 13)],
            title_length: 9,
        };
        let [title, rest] = split_text_at(&marked, marked.title_length).unwrap();
        let words = |it: &HighlightedText| {
            let spans = it.marks.iter().map(|it| it.span);
            let words = spans.map(|it| it.start as usize..it.end as usize);
            words
                .map(|span| it.text[span].to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (title.text.as_str(), words(&title)),
            ("Über Eis", vec!["Eis".to_owned()])
        );
        assert_eq!(
            (rest.text.as_str(), words(&rest)),
            (" Eis schmilzt", vec!["Eis".to_owned()])
        );
        for no_boundary in [0, 1, 900] {
            assert_eq!(split_text_at(&marked, no_boundary), None);
        }
    }

    #[test]
    fn a_mark_that_does_not_fit_is_left_out() {
        let marks = vec![mark(1, 3), mark(4, 90)];
        let found = split_at_highlights(&HighlightedText {
            text: "Übel".to_owned(),
            marks,
            title_length: 0,
        });
        assert_eq!(
            found,
            [HighlightSegment {
                text: "Übel".to_owned(),
                mark: None
            }]
        );
    }
}
