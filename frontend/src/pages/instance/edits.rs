//! The edits of a manipulation and the units that it is based on, or the differences between the
//! two documents of a pair.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::study::instance_details::{InstanceDetails, InstanceDocument, LinguisticSpans};
use shared::text::linguistics::LinguisticUnit;

use crate::number_format::format_count_with_noun;
use crate::widgets::section::Section;
use crate::widgets::text_diff::{
    DiffLabelWording, TextDiffLegend, TextDiffView, diff_words, summarize_text_changes,
};

/// Renders the sections about the edits, for documents that are nearly the same.
#[component]
pub(super) fn DocumentDifferencesSection(
    /// The instance.
    shown: InstanceDetails,
) -> impl IntoView {
    let (title, wording) = match shown.probe {
        Probe::Manipulation(_) => ("What was edited", DiffLabelWording::Edited),
        Probe::Transfer(_) => ("How the documents differ", DiffLabelWording::SideBySide),
        _ => return ().into_any(),
    };
    let [after, before] = shown.docs.as_slice() else {
        return ().into_any();
    };
    let (said, body) = match diff_words(&before.text.text, &after.text.text) {
        None => (
            String::new(),
            view! {
                <p class="note">"The documents are too long and too different to be compared \
                     word by word."</p>
            }
            .into_any(),
        ),
        Some(pieces) => (
            summarize_text_changes(&pieces, wording),
            view! {
                <TextDiffLegend pieces=pieces.clone() wording/>
                <TextDiffView pieces/>
            }
            .into_any(),
        ),
    };
    let tagged =
        (!before.linguistic_spans.is_empty()).then(|| view! { <TaggedUnits text=before.clone()/> });
    let header = move || view! { <p class="note">{said.clone()}</p> };
    view! {
        <Section id="changes" name=title class="section lined-up" header>{body}</Section>
        {tagged}
    }
    .into_any()
}

/// Renders the document with the units that a manipulation is based on.
#[component]
fn TaggedUnits(text: InstanceDocument) -> impl IntoView {
    let counts: Vec<String> = text.linguistic_spans.iter().map(describe_count).collect();
    let segments = tagged_segments(&text.text.text, &text.linguistic_spans);
    let segments = segments.into_iter().map(|it| match it {
        TaggedSegment::Sentence(number) => view! { <sup>{number}</sup> }.into_any(),
        TaggedSegment::Unit(text) => view! { <span class="unit">{text}</span> }.into_any(),
        TaggedSegment::Rest(text) => text.into_any(),
    });
    let segments = segments.collect_view();
    let header = move || view! { <p class="note">{counts.join(", ")} " in document 2"</p> };
    view! {
        <Section id="tagged" name="Tagged text" class="section lined-up" header>
            <p class="text" dir="auto">{segments}</p>
        </Section>
    }
}

/// Returns the number of units and how they are marked, as in `3 sentences, numbered`.
fn describe_count(tagged: &LinguisticSpans) -> String {
    let n = tagged.spans.len() as u64;
    match tagged.unit {
        LinguisticUnit::Sentence => format!(
            "{}, numbered",
            format_count_with_noun(n, "sentence", "sentences")
        ),
        LinguisticUnit::NounPhrase => {
            format!(
                "{} in brackets",
                format_count_with_noun(n, "noun phrase", "noun phrases")
            )
        }
        LinguisticUnit::Preposition => {
            let said =
                format_count_with_noun(n, "preposition or particle", "prepositions and particles");
            format!("{said} in brackets")
        }
        LinguisticUnit::Auxiliary => {
            let said = format_count_with_noun(n, "auxiliary verb", "auxiliary verbs");
            format!("{said} in brackets")
        }
    }
}

/// A segment of a tagged text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TaggedSegment<'a> {
    /// The beginning of the sentence with this number.
    Sentence(usize),
    /// A tagged unit other than a sentence.
    Unit(&'a str),
    /// Text that is not tagged.
    Rest(&'a str),
}

/// Splits a text at its tagged units. Spans that do not fit the text are skipped.
fn tagged_segments<'a>(text: &'a str, tagged: &[LinguisticSpans]) -> Vec<TaggedSegment<'a>> {
    let mut places: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for LinguisticSpans { unit, spans } in tagged {
        for (number, span) in (1..).zip(spans) {
            let (start, end) = (span.start as usize, span.end as usize);
            places.push(match unit {
                LinguisticUnit::Sentence => (start, start, Some(number)),
                LinguisticUnit::NounPhrase
                | LinguisticUnit::Preposition
                | LinguisticUnit::Auxiliary => (start, end, None),
            });
        }
    }
    places.sort_unstable();
    let mut segments = Vec::new();
    let mut from = 0;
    for (start, end, sentence) in places {
        let (Some(before), Some(unit)) = (text.get(from..start), text.get(start..end)) else {
            continue;
        };
        if !before.is_empty() {
            segments.push(TaggedSegment::Rest(before));
        }
        segments.push(sentence.map_or(TaggedSegment::Unit(unit), TaggedSegment::Sentence));
        from = end;
    }
    match text.get(from..) {
        Some("") | None => {}
        Some(rest) => segments.push(TaggedSegment::Rest(rest)),
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::text::ByteSpan;

    #[test]
    fn a_text_is_cut_at_its_sentences_and_phrases() {
        let text = "The tide turns. It <b>rises</b>.";
        let tagged = |unit: LinguisticUnit, spans: &[(u32, u32)]| {
            let spans = spans.iter().map(|&(start, end)| ByteSpan { start, end });
            let spans = spans.collect();
            LinguisticSpans { unit, spans }
        };
        let found = tagged_segments(
            text,
            &[
                tagged(LinguisticUnit::Sentence, &[(0, 15), (16, 32)]),
                tagged(LinguisticUnit::NounPhrase, &[(0, 8), (16, 18), (90, 99)]),
            ],
        );
        assert_eq!(
            found,
            [
                TaggedSegment::Sentence(1),
                TaggedSegment::Unit("The tide"),
                TaggedSegment::Rest(" turns. "),
                TaggedSegment::Sentence(2),
                TaggedSegment::Unit("It"),
                TaggedSegment::Rest(" <b>rises</b>."),
            ]
        );
    }
}
