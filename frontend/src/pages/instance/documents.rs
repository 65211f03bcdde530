//! The documents of an instance side by side, with highlighted query terms.

use leptos::prelude::*;
use shared::api::GetReadingEndsRequest;
use shared::probe::{Probe, ScoreClaimKind};
use shared::report::format;
use shared::score::slug::ranker_slugs;
use shared::study::instance_details::{InstanceDetails, InstanceDocument, QueryTermInfo};

use crate::api;
use crate::number_format::format_count_with_noun;
use crate::routes::PageRoute;
use crate::widgets::highlighted_text::{HighlightedTextView, ReadingEnd};

/// Renders the two or three documents, in the order of the claim.
#[component]
pub(super) fn InstanceDocuments(
    /// The name of the study.
    study: String,
    /// The instance.
    shown: InstanceDetails,
    /// The query term that is hovered elsewhere on the page.
    lit: RwSignal<Option<u32>>,
) -> impl IntoView {
    let kind = shown.claim.kind();
    let ends = fetch_reading_ends(&study, &shown);
    let all = shown.docs.iter().enumerate().map(|(at, text)| {
        let ends = Signal::derive(move || {
            let ends = ends.get().unwrap_or_default();
            ends.get(at).cloned().unwrap_or_default()
        });
        let seen_in_part = truncation_note(&shown, at);
        let (text, terms) = (text.clone(), shown.terms.clone());
        let withheld = shown.has_withheld_texts;
        let made = is_derived(shown.probe, at);
        let grade = match text.grade {
            Some(grade) => Some(format!("grade {grade}")),
            None => (!made).then(|| "not judged".to_owned()),
        };
        let role = (document_role(&shown, at), grade);
        view! { <InstanceDocumentView at text terms role seen_in_part withheld lit ends/> }
    });
    let all = all.collect_view();
    let framed = shown.docs.iter().any(|it| it.term_distance.is_some());
    let note = match framed {
        _ if shown.has_withheld_texts => {
            let href = PageRoute::Study { study }.href();
            return view! {
                <div class="docs" class:three=kind.arity() == 3>{all}</div>
                <p class="note">
                    "This study was published without document texts. "
                    <a href=href>"Add your copy of the collection"</a>
                    " to show them in this browser."
                </p>
            }
            .into_any();
        }
        true => {
            "The rarest query terms have an underline and tint of their own, violet the rarest. \
             The two closest terms are framed."
        }
        false => {
            "The rarest query terms have an underline and tint of their own, violet the rarest."
        }
    };
    view! {
        <div class="docs" class:three=kind.arity() == 3>{all}</div>
        <p class="note">{note}</p>
    }
    .into_any()
}

/// Fetches for each document where the rankers that truncated it stopped reading, in ascending
/// order. A ranker whose model the server does not have is left out.
fn fetch_reading_ends(study: &str, shown: &InstanceDetails) -> LocalResource<Vec<Vec<ReadingEnd>>> {
    let slugs = ranker_slugs(shown.verdicts.iter().map(|it| &it.ranker));
    let rankers = shown.verdicts.iter().zip(slugs);
    let rankers = rankers.filter(|(it, _)| it.truncated.contains(&true));
    let rankers = rankers.filter(|_| !shown.has_withheld_texts);
    let requests: Vec<(String, GetReadingEndsRequest)> = rankers
        .map(|(verdict, slug)| {
            let request = GetReadingEndsRequest {
                study: study.to_owned(),
                probe: shown.probe,
                variant: Some(shown.variant),
                number: shown.number,
                ranker: slug,
            };
            (verdict.ranker.label.clone(), request)
        })
        .collect();
    let n_documents = shown.docs.len();
    LocalResource::new(move || {
        let requests = requests.clone();
        async move {
            let mut ends = vec![Vec::new(); n_documents];
            for (ranker, request) in requests {
                let Ok(reply) = api::send_and_parse(&request).await else {
                    continue;
                };
                for (of_document, n_bytes) in ends.iter_mut().zip(reply.n_bytes_read) {
                    let ranker = ranker.clone();
                    of_document.extend(n_bytes.map(|n_bytes| ReadingEnd { n_bytes, ranker }));
                }
            }
            for of_document in &mut ends {
                of_document.sort_by_key(|it| it.n_bytes);
            }
            ends
        }
    })
}

#[component]
fn InstanceDocumentView(
    at: usize,
    text: InstanceDocument,
    terms: Vec<QueryTermInfo>,
    /// The role of the document in the probe, and its grade.
    role: (&'static str, Option<String>),
    seen_in_part: Option<String>,
    withheld: bool,
    lit: RwSignal<Option<u32>>,
    ends: Signal<Vec<ReadingEnd>>,
) -> impl IntoView {
    let (role, grade) = role;
    let counts = text.term_distance.map(|it| {
        let distance = format_count_with_noun(u64::from(it), "term", "terms");
        view! { <span>"closest query terms " {distance} " apart"</span> }
    });
    let body = match text.text.text.trim().is_empty() {
        true if withheld => view! { <p class="note">"The text is not published."</p> }.into_any(),
        true => view! { <p class="note">"This document is empty."</p> }.into_any(),
        false => view! {
            <p class="text" dir="auto"><HighlightedTextView marked=text.text terms lit ends/></p>
        }
        .into_any(),
    };
    view! {
        <article class="doc">
            <header>
                <b>{format!("Document {}", at + 1)}</b>
                <span>{role}</span>
                <span>{format_count_with_noun(u64::from(text.n_terms), "term", "terms")}</span>
                {counts}
                <span class="hash">{text.id}</span>
                {seen_in_part.map(|it| view! { <span>{it}</span> })}
                {grade.map(|it| view! { <span>{it}</span> })}
            </header>
            {body}
        </article>
    }
}

/// Returns the role of a document in the probe.
fn document_role(shown: &InstanceDetails, at: usize) -> &'static str {
    match (shown.probe, at) {
        (Probe::Manipulation(_), 0) => return "edited copy",
        (Probe::Manipulation(_), _) => return "original document",
        (Probe::Transfer(_), 0) => return "first of the pair",
        (Probe::Transfer(_), _) => return "second of the pair",
        (Probe::MeasureAndMatch(_), 0) => return "larger value of the measurement",
        (Probe::MeasureAndMatch(_), _) => return "",
        _ => {}
    }
    match (shown.claim.kind(), at) {
        (ScoreClaimKind::Higher, 0) => "preferred by the axiom",
        (ScoreClaimKind::NotLower, 0) => "should not score lower",
        (ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different, _) => "",
        (ScoreClaimKind::DiminishingGain, 0) => "fewest query-term occurrences",
        (ScoreClaimKind::DiminishingGain, 1) => "more query-term occurrences",
        (ScoreClaimKind::DiminishingGain, _) => "most query-term occurrences",
    }
}

/// Returns whether a document cannot have a relevance judgment, because it is derived or comes from
/// a transfer set.
fn is_derived(probe: Probe, at: usize) -> bool {
    match probe {
        Probe::Manipulation(_) => at == 0,
        Probe::Transfer(_) => true,
        _ => false,
    }
}

/// Returns which rankers truncated a document, as in `truncated by MiniLM`.
fn truncation_note(shown: &InstanceDetails, at: usize) -> Option<String> {
    let names = shown
        .verdicts
        .iter()
        .filter(|it| it.truncated.get(at) == Some(&true));
    let names: Vec<&str> = names.map(|it| it.ranker.label.as_str()).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("truncated by {one}")),
        all => {
            let n = format::format_count(all.len() as u64);
            Some(format!("truncated by {n} rankers"))
        }
    }
}
