//! The Compare rankers page: the top documents of two rankers, the queries on which each is better,
//! and four hypotheses. Every bar links to its queries.

mod choices;
mod figures;
mod hypotheses;
mod queries;
mod side_by_side;

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::CompareRankersRequest;
use shared::compare::RankerComparison;
use shared::report::{self, format};

use crate::api;
use crate::api::latest_reply::ReactiveRequest;
use crate::number_format::format_count_with_noun;
use crate::pages::compare_address::{ComparePageState, CompareView};
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::resource_view::StudyBreadcrumb;
use choices::ComparisonOptionsForm;
use figures::ComparisonFigures;
use hypotheses::HypothesisResultsSection;
use queries::ComparedQueriesSection;
use side_by_side::QueryRankingsSideBySide;

/// Renders the comparison of two rankers of a study, or of two runs on the Workbench.
#[component]
pub(crate) fn CompareRankers(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let scene =
        ComparePageState::following_address(study, CompareView::from_address, CompareView::href);
    let latest = ReactiveRequest::send_on_change(move || CompareRankersRequest {
        study: scene.study.get_value(),
        options: scene.view.get().comparison,
    });
    let failure = move || {
        latest.error.get().map(|error| {
            let retry = Callback::new(move |()| latest.refetch());
            view! { <CompareError error retry scene/> }
        })
    };
    let body = move || match (latest.reply.get(), latest.error.get()) {
        (Some(found), None) => view! {
            <div
                class:stale=latest.is_pending aria-busy=move || latest.is_pending.get().to_string()
            >
                <Comparison found scene/>
            </div>
        }
        .into_any(),
        (_, Some(_)) => ().into_any(),
        (None, None) => {
            view! { <p class="note" role="status">"Comparing both rankings of every query"</p> }
                .into_any()
        }
    };
    let title = Signal::derive(move || Some(latest.reply.get()?.title.clone()));
    view! {
        <StudyBreadcrumb study=scene.study.get_value() title here="Compare rankers"/>
        {failure}
        {body}
    }
}

/// Renders an error, with a link back to the default comparison.
#[component]
fn CompareError(
    error: api::RequestError,
    retry: Callback<()>,
    scene: ComparePageState,
) -> impl IntoView {
    let usual = move || scene.study.with_value(|it| CompareView::default().href(it));
    let changed = move || scene.view.get() != CompareView::default();
    let runs = move || {
        let asking = scene.view.get().comparison;
        let of_runs = asking
            .rankers
            .iter()
            .any(|it| matches!(it, shared::compare::RankerRef::Run(_)));
        of_runs.then(|| {
            view! {
                <p class="note"><a href=PageRoute::Workbench.href()>"Go to the Workbench"</a></p>
            }
        })
    };
    view! {
        <h1>"These rankers cannot be compared"</h1>
        <LoadErrorMessage error retry/>
        {move || {
            changed()
                .then(|| {
                    view! {
                        <p class="note">
                            <a href=usual() data-noscroll="">"Compare the first two rankers"</a>
                        </p>
                    }
                })
        }}
        {runs}
    }
}

#[component]
fn Comparison(found: Arc<RankerComparison>, scene: ComparePageState) -> impl IntoView {
    let names = found.rankers.clone().map(|it| it.label);
    let n = found.query_counts.n_included;
    let notes = found.rankers.iter().filter_map(|it| {
        let note = it.note.clone()?;
        Some(view! { <li>{it.label.clone()} ": " {note}</li> })
    });
    let notes = notes.collect_view();
    let withheld = found.has_withheld_texts.then(|| {
        let study = scene.study.get_value();
        view! {
            <p class="ahead">
                "This study has no document texts, so document contents are not compared. "
                <a href=PageRoute::Study { study }.href()>"Add your copy of the collection"</a> "."
            </p>
        }
    });
    let unscored = report::comparison::incomplete_ranking_notes(&found);
    let unscored = unscored.into_iter();
    let unscored = unscored
        .map(|it| view! { <p class="ahead">{it}</p> })
        .collect_view();
    let finding = report::comparison::rr_difference_sentence(&found);
    let finding = finding.map(|it| view! { <p class="finding">{it}</p> });
    let body = match n {
        0 => view! { <NoQueries found=found.clone()/> }.into_any(),
        _ => view! {
            <HypothesisResultsSection found=found.clone() scene/>
            <ComparisonFigures found=found.clone() scene/>
            <ComparedQueriesSection found=found.clone() scene/>
            <QueryRankingsSideBySide found=found.clone() scene/>
        }
        .into_any(),
    };
    view! {
        <div class="head">
            <div>
                <h1>{names[0].clone()} " and " {names[1].clone()}</h1>
                <p class="facts">
                    <span>{found.title.clone()}</span>
                    <span>
                        {format!(
                            "{} of {}",
                            format::format_count(n),
                            format_count_with_noun(
                                found.query_counts.n_queries,
                                "query",
                                "queries",
                            ),
                        )}
                    </span>
                    <span>{found.analyzer.clone()}</span>
                    <span title="Hash of the compared data">
                        "data hash "
                        <span class="hash">{format::shorten_hash(&found.content_hash)}</span>
                    </span>
                </p>
                <ul class="note">{notes}</ul>
            </div>
        </div>
        {finding}
        <ComparisonOptionsForm found scene/>
        {withheld}
        {unscored}
        {body}
    }
}

/// Renders why no query can be compared, and what to do.
#[component]
fn NoQueries(found: Arc<RankerComparison>) -> impl IntoView {
    let queries = found.query_counts;
    let unranked = format_count_with_noun(queries.n_unranked, "query is", "queries are");
    let without = format_count_with_noun(queries.n_without_relevant, "query has", "queries have");
    view! {
        <p class="ahead">
            {format!(
                "No query can be compared: {unranked} not ranked by both rankers, and {without} \
                 no document of grade {} or higher. Use all queries, or lower the minimum \
                 relevant grade.",
                found.min_relevant_grade,
            )}
        </p>
    }
}
