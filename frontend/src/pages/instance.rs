//! The page of one instance: its preconditions, the score of each ranker, and the term that
//! decided.

mod annotations;
mod neighbors;
mod edits;
mod word_similarity;
mod preconditions;
mod explanation;
mod scores;
mod term_contributions;
mod documents;

use leptos::html;
use leptos::prelude::*;
use shared::api::GetInstanceRequest;
use shared::probe::{AxiomVariant, Probe};
use shared::report::format;
use shared::score::RankerKind;
use shared::score::slug::{parse_ranker_slug_or_position, ranker_slugs};
use shared::study::instance_details::{InstanceDetails, RankerInstanceVerdict};

use super::study::address::{InstanceView, StudyView, cell_href, variant_from_address};
use crate::api;
use crate::first_paint::InOwnTask;
use crate::keyboard::{self, KeyPressOutcome};
use crate::location::{self, PageLocation};
use crate::routes::PageRoute;
use crate::widgets::attention::{AttentionMaps, CROSS_ENCODER_SUFFIX};
use crate::widgets::error_message::{LoadErrorMessage, OptionalErrorMessage};
use crate::widgets::highlighted_text::HighlightedTextView;
use crate::widgets::section::Section;
use crate::widgets::term::{GlossaryTerm, Term};
use crate::widgets::token_matches::{TokenMatchesSection, document_title};
use crate::widgets::variant::axiom_variant_label;
use annotations::InstanceAnnotationsSection;
use documents::InstanceDocuments;
use edits::DocumentDifferencesSection;
use neighbors::InstanceNeighbors;
use preconditions::PreconditionTable;
use scores::InstanceScoresByRanker;
use term_contributions::TermContributionsSection;
use word_similarity::QuerySimilarWordsSection;

/// The study, probe, variant and number in an instance's address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InstancePath {
    study: String,
    probe: Probe,
    /// The variant of the axiom; `None` is the first variant of the study.
    mode: Option<AxiomVariant>,
    number: u64,
}

impl InstancePath {
    /// Parses an address; `None` if it is not that of an instance.
    fn parse(path: &str, search: &str) -> Option<InstancePath> {
        let PageRoute::Instance {
            study,
            probe,
            number,
        } = PageRoute::parse(path, search)?
        else {
            return None;
        };
        let mode = variant_from_address(&|key| location::query_string_parameter(search, key));
        Some(InstancePath {
            study,
            probe,
            mode,
            number,
        })
    }

    fn href(&self, number: u64, view: &InstanceView) -> String {
        view.href(&self.study, self.probe, self.mode, number)
    }
}

/// Renders the page of one instance: its preconditions, scores and verdicts, and the terms that
/// decide them.
#[component]
pub(crate) fn InstanceDetailsPage() -> impl IntoView {
    let PageLocation { path, search, .. } = PageLocation::from_context_or_browser();
    let variants = search.clone();
    // An address of another page is ignored, since this page is about to be removed.
    let place = Memo::new(move |before: Option<&Option<InstancePath>>| {
        InstancePath::parse(&path.read(), &variants.read()).or_else(|| before.cloned().flatten())
    });
    let view = Memo::new(move |_| {
        let search = search.get();
        InstanceView::from_address(&|key| location::query_string_parameter(&search, key))
    });
    let tie = Memo::new(move |_| view.get().list.dials.tie_threshold);
    let show = LocalResource::new(move || {
        let (place, delta_score) = (place.get(), tie.get());
        async move {
            let place = place?;
            let InstancePath {
                study,
                probe,
                mode,
                number,
            } = place.clone();
            let request = GetInstanceRequest {
                study,
                probe,
                variant: mode,
                number,
                tie_threshold: delta_score,
            };
            Some((place, api::send_and_parse(&request).await))
        }
    });
    let around = LocalResource::new(move || {
        let (place, view) = (place.get(), view.get());
        async move { Some(InstanceNeighbors::fetch(&place?, &view).await) }
    });
    let ways = Memo::new(move |_| around.get().flatten()?.ok());
    let lost = Signal::derive(move || around.get().flatten()?.err());
    let ranker = Memo::new(move |_| {
        let (_, answer) = show.get().flatten()?;
        let verdicts = answer.ok()?.verdicts;
        let row = ranker_row(&verdicts, view.get().ranker.as_deref()?)?;
        Some(verdicts.into_iter().nth(row)?.ranker.label)
    });
    let title = Memo::new(move |_| Some(show.get().flatten()?.1.ok()?.study_title));
    let wanted = RwSignal::new(None::<ListDirection>);
    let body = move || match (place.get(), show.get().flatten()) {
        (None, _) | (_, None) => InstancePlaceholder().into_any(),
        (Some(now), Some((_, Err(error)))) => {
            let retry = Callback::new(move |()| show.refetch());
            let href = PageRoute::Study {
                study: now.study.clone(),
            }
            .href();
            view! {
                <h1>"The instance cannot be shown"</h1>
                <LoadErrorMessage error retry/>
                <p class="note"><a href=href>"Back to the study"</a></p>
            }
            .into_any()
        }
        (Some(_), Some((here, Ok(shown)))) => {
            view! { <InOwnTask><InstanceContent here place shown view ways wanted/></InOwnTask> }
                .into_any()
        }
    };
    let stale = move || {
        let answered = show.get().flatten().map(|it| it.0);
        answered.is_some() && answered != place.get()
    };
    view! {
        <InOwnTask><Crumbs place title view ranker ways/></InOwnTask>
        <OptionalErrorMessage error=lost retry=Callback::new(move |()| around.refetch())/>
        <div class:stale=stale aria-busy=move || stale().to_string()>{body}</div>
    }
}

/// Returns the row of a ranker that an address names.
fn ranker_row(verdicts: &[RankerInstanceVerdict], name: &str) -> Option<usize> {
    let slugs = ranker_slugs(verdicts.iter().map(|it| &it.ranker));
    parse_ranker_slug_or_position(slugs.iter().map(String::as_str), name).ok()
}

/// Renders the breadcrumb of the page.
#[component]
fn Crumbs(
    place: Memo<Option<InstancePath>>,
    /// The title of the study, once an instance is loaded.
    title: Memo<Option<String>>,
    view: Memo<InstanceView>,
    ranker: Memo<Option<String>>,
    ways: Memo<Option<InstanceNeighbors>>,
) -> impl IntoView {
    let parts = move || {
        let place = place.get()?;
        let (view, ways) = (view.get(), ways.get());
        let dials = view.list.dials.clone();
        let study = match view.ranker.clone() {
            Some(ranker) => cell_href(&place.study, dials, place.probe, ranker),
            None => StudyView {
                controls: dials,
                ..StudyView::default()
            }
            .href(&place.study),
        };
        let probe = place.probe;
        let called = probe.name();
        let list = match (&view.ranker, ranker.get()) {
            (Some(slug), name) => {
                let href = view.list.href(&place.study, probe, slug);
                let name = name.map_or(called.to_string(), |it| format!("{it} on {called}"));
                view! { <a href=href>{name}</a> }.into_any()
            }
            (None, _) => view! { <span>{called}</span> }.into_any(),
        };
        let here = ways.map_or(
            format!(
                "{} {}",
                neighbors::instance_or_sample_noun(probe),
                format::format_count(place.number + 1)
            ),
            |it| it.position_text(probe),
        );
        Some(view! {
            <a href=study>{title.get().unwrap_or_else(|| place.study.clone())}</a>
            {list}
            <span>{here}</span>
        })
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::Studies.href()>"Studies"</a>
            {parts}
        </nav>
    }
}

#[component]
fn InstanceContent(
    /// The instance that is shown.
    here: InstancePath,
    /// The instance in the current address.
    place: Memo<Option<InstancePath>>,
    shown: InstanceDetails,
    view: Memo<InstanceView>,
    ways: Memo<Option<InstanceNeighbors>>,
    wanted: RwSignal<Option<ListDirection>>,
) -> impl IntoView {
    // The query term that is hovered, in a table or a document.
    let lit = RwSignal::new(None::<u32>);
    let ranker = view.get_untracked().ranker;
    let ranker = ranker.and_then(|it| ranker_row(&shown.verdicts, &it));
    let why = match shown.has_withheld_texts {
        true => format!("{}.", explanation::expectation_clause(&shown)),
        false => explanation::difference_and_expectation_sentence(&shown),
    };
    let said = shown
        .verdicts
        .get(ranker.unwrap_or(0))
        .map(|it| explanation::ranker_verdict_sentence(&shown, it))
        .unwrap_or_default();
    let caption = format!(
        "Preconditions of {} with measured value and bound",
        shown.probe.name()
    );
    let study = here.study.clone();
    document().set_title(&format!("{} · Axioscope", shown.query.text));
    let measured = !shown.has_withheld_texts && !shown.preconditions.is_empty();
    let premises = measured.then(|| {
        let name = format!(
            "Why this is {}",
            neighbors::instance_or_sample_with_article(shown.probe)
        );
        let (probe, variant) = (shown.probe, shown.variant);
        let header = move || {
            view! {
                <span class="note">
                    <Term of=GlossaryTerm::of_probe(probe)>{probe.name()}</Term> ", "
                    <Term of=GlossaryTerm::Variant(variant)>{axiom_variant_label(variant)}</Term>
                </span>
            }
        };
        let (premises, terms) = (shown.preconditions.clone(), shown.terms.clone());
        view! {
            <InOwnTask>
                <Section id="why" name header>
                    <PreconditionTable premises terms caption/>
                </Section>
            </InOwnTask>
        }
    });
    let neural = shown.verdicts.iter().map(|it| &it.ranker);
    let neural = neural.filter(|it| it.kind == RankerKind::Neural);
    let cross = neural
        .clone()
        .find(|it| it.spec.ends_with(CROSS_ENCODER_SUFFIX));
    let cross = cross.cloned();
    let specs: Vec<String> = neural.map(|it| it.spec.clone()).collect();
    let query = shown.query.text.clone();
    let texts: Vec<String> = shown.docs.iter().map(|it| it.text.text.clone()).collect();
    let is_behavior = !shown.probe.is_axiom();
    let withheld = shown.has_withheld_texts;
    let name = format!("{study}-{}-{}-tokens", shown.probe.slug(), shown.number);
    let (marked_query, terms) = (shown.query.clone(), shown.terms.clone());
    // The parts may be created later, each in a task of its own, and each takes a copy.
    let shown = StoredValue::new(shown);
    let study = StoredValue::new(study);
    let details = move || shown.get_value();
    let study = move || study.get_value();
    let changes = (!withheld).then(|| {
        view! { <InOwnTask><DocumentDifferencesSection shown=details()/></InOwnTask> }
    });
    let of_texts = (!withheld).then(move || {
        let attention = cross.map(|ranker| {
            let (query, texts) = (query.clone(), texts.clone());
            view! {
                <InOwnTask>
                    <AttentionMaps ranker query texts title=document_title/>
                </InOwnTask>
            }
        });
        view! {
            <InOwnTask><QuerySimilarWordsSection shown=details()/></InOwnTask>
            <InOwnTask>
                <TermContributionsSection study=study() shown=details() lit/>
            </InOwnTask>
            <InOwnTask><TokenMatchesSection name specs query texts/></InOwnTask>
            {attention}
        }
    });
    view! {
        <div class="claim">
            <div>
                <h1 class="query" dir="auto">
                    <HighlightedTextView marked=marked_query terms lit/>
                </h1>
                <p class="lead">{why} " " {said}</p>
            </div>
            <InstanceButtons here place view ways wanted withheld/>
        </div>
        <InOwnTask><InstanceDocuments study=study() shown=details() lit/></InOwnTask>
        {changes}
        <div class:behaviour=is_behavior>
            <div class="why" class:alone=!measured>
                {premises}
                <InOwnTask><InstanceScoresByRanker study=study() shown=details()/></InOwnTask>
            </div>
            {of_texts}
            <InOwnTask><InstanceAnnotationsSection study=study() shown=details()/></InOwnTask>
        </div>
    }
}

/// Renders the buttons for the previous and next instance and the Playground.
#[component]
fn InstanceButtons(
    here: InstancePath,
    place: Memo<Option<InstancePath>>,
    view: Memo<InstanceView>,
    ways: Memo<Option<InstanceNeighbors>>,
    /// A step that was requested by key before the neighbors were known.
    wanted: RwSignal<Option<ListDirection>>,
    /// Whether the texts are withheld, so that there is nothing to open in the Playground.
    withheld: bool,
) -> impl IntoView {
    let mut parameters = vec![
        ("study", here.study.clone()),
        ("probe", here.probe.slug().into_owned()),
        ("number", here.number.to_string()),
    ];
    parameters.extend(here.mode.map(|it| ("variant", it.slug().to_owned())));
    let playground = PageRoute::Playground.href_with(parameters);
    let here = StoredValue::new(here);
    // None while another instance is loading.
    let known = move || {
        let now = place.get()?;
        let current = here.with_value(|it| *it == now);
        ways.get().filter(|it| current && it.number == now.number)
    };
    let href = move |step: ListDirection| {
        let around = known()?;
        let (at, number) = match step {
            ListDirection::Previous => around.previous?,
            ListDirection::Next => around.next?,
        };
        let view = view.get();
        // Outside the list there is no position to keep.
        let at = around.is_in_list.then_some(at);
        Some(here.with_value(|it| {
            it.href(
                number,
                &InstanceView {
                    position: at,
                    ..view
                },
            )
        }))
    };
    let [previous, next, play] = std::array::from_fn(|_| NodeRef::<html::A>::new());
    // The router belongs to the main page and only reacts to clicks on links.
    let follow = |button: NodeRef<html::A>| {
        if let Some(button) = button.get_untracked().filter(|it| it.has_attribute("href")) {
            button.click();
        }
    };
    keyboard::listen_for_key_presses(move |key| {
        let (button, step) = match key {
            "k" => (previous, Some(ListDirection::Previous)),
            "j" => (next, Some(ListDirection::Next)),
            "p" => (play, None),
            _ => return KeyPressOutcome::Ignored,
        };
        match (untrack(known), step) {
            (None, Some(step)) => wanted.set(Some(step)),
            _ => follow(button),
        }
        KeyPressOutcome::Handled
    });
    Effect::new(move |_| {
        if known().is_none() {
            return;
        }
        if let Some(step) = wanted.try_update(Option::take).flatten() {
            let button = match step {
                ListDirection::Previous => previous,
                ListDirection::Next => next,
            };
            // The click has to wait until the links are rendered.
            request_animation_frame(move || follow(button));
        }
    });
    let play_button = (!withheld).then(|| {
        view! {
            <a node_ref=play class="btn" href=playground>
                "Playground"
                <kbd>"P"</kbd>
            </a>
        }
    });
    let disabled = move |step: ListDirection| href(step).is_none().then_some("true");
    // Without an address it is a link by its role alone.
    let role = move |step: ListDirection| href(step).is_none().then_some("link");
    view! {
        <div class="btns">
            <a
                node_ref=previous
                class="btn"
                rel="prev"
                href=move || href(ListDirection::Previous)
                role=move || role(ListDirection::Previous)
                aria-disabled=move || disabled(ListDirection::Previous)
            >
                <kbd>"K"</kbd>
                "Previous"
            </a>
            <a
                node_ref=next
                class="btn"
                rel="next"
                href=move || href(ListDirection::Next)
                role=move || role(ListDirection::Next)
                aria-disabled=move || disabled(ListDirection::Next)
            >
                "Next"
                <kbd>"J"</kbd>
            </a>
            {play_button}
        </div>
    }
}

/// A step in the list of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListDirection {
    Previous,
    Next,
}

/// Renders a placeholder that reserves the space of the content.
#[component]
fn InstancePlaceholder() -> impl IntoView {
    view! {
        <div class="claim waiting">
            <div>
                <h1 class="query">"…"</h1>
                <p class="lead" role="status">"Loading the instance"</p>
            </div>
        </div>
        <div class="docs waiting" aria-hidden="true">
            <div class="doc"></div>
            <div class="doc"></div>
        </div>
    }
}
