//! The details of one cell: counts, differences, significance tests, and links to the samples.

use leptos::prelude::*;
use shared::api::ListInstancesRequest;
use shared::plot;
use shared::report::format;
use shared::study::behavioral_tests::{
    BehavioralEffect, BehavioralTestResults, RelevanceSlice, TieThreshold,
};
use shared::study::controls::StudyPageControls;
use shared::study::instance_list::{InstanceSort, MarginHistogram};

use super::super::address::InstanceListView;
use super::super::panel::approximate_interval_note;
use super::layout::{interval, score};
use super::state::{BehavioralTestsState, EffectCell};
use crate::api;
use crate::number_format::format_count_with_noun;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::figure::FigureView;

type HistogramResource = LocalResource<Result<MarginHistogram, api::RequestError>>;

/// Renders the panel beside the table.
#[component]
pub(super) fn EffectDetails(spot: EffectCell, scene: BehavioralTestsState) -> impl IntoView {
    // The split does not depend on the tie threshold.
    let split = Memo::new(move |_| scene.results.read().options.split.clone());
    let histogram = LocalResource::new(move || {
        let list = InstanceListView {
            dials: StudyPageControls {
                split: split.get(),
                tie_threshold: Some(0.0),
                ..StudyPageControls::default()
            },
            ..InstanceListView::default()
        };
        let ranker = scene.slug(spot.ranker);
        let request = ListInstancesRequest {
            study: scene.page.study.get_value(),
            filter: list.list_request(spot.probe, &ranker, 0..1),
        };
        async move { api::send_and_parse(&request).await.map(|it| it.histogram) }
    });
    let shown = move || {
        let found = scene.results.get();
        let row = found
            .rows
            .iter()
            .find(|it| (it.probe, it.slice) == (spot.probe, spot.slice));
        let effect = row.and_then(|it| it.effects.get(spot.ranker)?.clone());
        effect.map(|effect| view! { <MeasuredEffect spot effect histogram scene/> })
    };
    let title = scene.results.with_untracked(|it| {
        let ranker = it.rankers.get(spot.ranker);
        let ranker = ranker.map_or(String::new(), |it| it.ranker.label.clone());
        format!("{ranker} on {}", spot.probe.name())
    });
    let from = scene.results.with_untracked(|it| it.min_relevant_grade);
    let of = match spot.slice {
        RelevanceSlice::All => None,
        RelevanceSlice::Relevant => Some(format!(" Relevant documents: grade {from} or higher.")),
        RelevanceSlice::NotRelevant => Some(format!(
            " Non-relevant documents: judged, grade \
             below {from}."
        )),
    };
    view! {
        <aside class="panel" aria-label="Selected behavioral test">
            <div>
                <h3>{title}</h3>
                <p class="note">{spot.probe.probe_description().statement} {of}</p>
            </div>
            {shown}
        </aside>
    }
}

#[component]
fn MeasuredEffect(
    spot: EffectCell,
    effect: BehavioralEffect,
    histogram: HistogramResource,
    scene: BehavioralTestsState,
) -> impl IntoView {
    let found = scene.results.get_untracked();
    let asked = found.rankers.get(spot.ranker);
    let delta = asked.and_then(|it| it.tie_threshold);
    let queries = format!(
        "over {}",
        format_count_with_noun(effect.n_queries, "query", "queries")
    );
    let few = approximate_interval_note(effect.n_queries);
    let counts = [
        ("yes", effect.n_positive, "positive"),
        ("even", effect.n_tied, "neutral"),
        ("no", effect.n_negative, "negative"),
    ];
    let shares = counts.iter().filter(|it| it.1 > 0);
    let shares = shares.map(|it| view! { <i class=it.0 style=("--n", it.1.to_string())></i> });
    let shares = shares.collect_view();
    let words = counts.map(|it| {
        let said = format!("{} {}", format::format_count(it.1), it.2);
        view! { <span>{said}</span> }
    });
    let list = InstanceListView {
        dials: StudyPageControls {
            split: found.options.split.clone(),
            tie_threshold: delta,
            ..StudyPageControls::default()
        },
        sort: InstanceSort::MarginAscending,
        ..InstanceListView::default()
    };
    let href = scene
        .page
        .study
        .with_value(|it| list.href(it, spot.probe, &scene.slug(spot.ranker)));
    let n = found
        .rows
        .iter()
        .find(|it| (it.probe, it.slice) == (spot.probe, RelevanceSlice::All));
    let way = n.map_or(String::new(), |it| {
        format!(
            "Show {}",
            format_count_with_noun(it.n_samples, "sample", "samples")
        )
    });
    view! {
        <div class="sum">
            <span class="big">{score(&effect)}</span>
            <p class="note">
                {interval(&effect)} ", " {queries} <br/>
                {format::keep_on_one_line(&format::format_named_p_value(effect.p_queries))} {few}
            </p>
        </div>
        <div>
            <div class="split" aria-hidden="true">
                {shares}
            </div>
            <p class="keys">{words}</p>
        </div>
        <DifferenceHistogram slice=spot.slice delta=delta.unwrap_or(0.0) histogram/>
        {significance_note(&effect)}
        <a class="btn main" href=href>{way}</a>
        <EffectFacts effect found=(*found).clone() delta/>
    }
}

/// Explains the significance marks of the cell.
fn significance_note(effect: &BehavioralEffect) -> Option<AnyView> {
    let said = match (effect.is_significant(), effect.has_conflicting_tests()) {
        (true, false) => "* Significant over samples and over queries.",
        (true, true) => "*† Significant over samples, not over queries.",
        (false, true) => "† Significant over queries, not over samples.",
        (false, false) => return None,
    };
    Some(view! { <p class="note">{said}</p> }.into_any())
}

/// Renders the distribution of the differences, with the tie threshold.
#[component]
fn DifferenceHistogram(
    slice: RelevanceSlice,
    delta: f64,
    histogram: HistogramResource,
) -> impl IntoView {
    let label = match slice {
        RelevanceSlice::All => "Score differences; neutral within ε",
        // The list of samples cannot be filtered by slice.
        RelevanceSlice::Relevant | RelevanceSlice::NotRelevant => {
            "Score differences, over all documents"
        }
    };
    move || match histogram.get() {
        None => view! { <div class="below waiting" aria-hidden="true"></div> }.into_any(),
        Some(Err(error)) => {
            let retry = Callback::new(move |()| histogram.refetch());
            view! { <div class="below"><LoadErrorMessage error retry/></div> }.into_any()
        }
        Some(Ok(histogram)) if histogram.counts.is_empty() => ().into_any(),
        Some(Ok(histogram)) => view! {
            <figure class="below">
                <figcaption>
                    <p class="label">{label}</p>
                </figcaption>
                <FigureView figure=plot::draw_score_difference_histogram(&histogram, delta)/>
            </figure>
        }
        .into_any(),
    }
}

/// Renders further figures of the cell.
#[component]
fn EffectFacts(
    effect: BehavioralEffect,
    found: BehavioralTestResults,
    delta: Option<f64>,
) -> impl IntoView {
    let digits = format::score_decimals_for_spread(effect.mean.abs().max(effect.median.abs()));
    let signed = |value: f64| match value > 0.0 {
        true => format!("+{}", format::format_score(value, digits)),
        false => format::format_score(value, digits),
    };
    let p = |it: Option<f64>| it.map_or(format::MISSING.to_owned(), format::format_p_value);
    let tuned = match found.options.tie_threshold {
        TieThreshold::TunedPerRanker => ", tuned",
        TieThreshold::Fixed { .. } => "",
    };
    let width = delta.map_or(format::MISSING.to_owned(), |it| {
        format!(
            "{}{tuned}",
            format::format_score(it, format::score_decimals_for_spread(it))
        )
    });
    let unscored = (effect.n_unscored > 0).then(|| {
        view! { <dt>"Unscored"</dt> <dd>{format::format_count(effect.n_unscored)}</dd> }
    });
    let tests = format!(
        "p (Bonferroni, {} tests)",
        format::format_count(found.n_tests)
    );
    view! {
        <dl>
            <dt>"Mean difference"</dt>
            <dd>{signed(effect.mean)}</dd>
            <dt>"Median difference"</dt>
            <dd>{signed(effect.median)}</dd>
            <dt>"p (paired t test)"</dt>
            <dd>{p(effect.p_samples)}</dd>
            <dt>{tests}</dt>
            <dd>{p(effect.p_bonferroni)}</dd>
            <dt>"p (over queries)"</dt>
            <dd>{format::format_p_value(effect.p_queries)}</dd>
            <dt>"Queries"</dt>
            <dd>{format::format_count(effect.n_queries)}</dd>
            <dt>"ε"</dt>
            <dd>{width}</dd>
            {unscored}
        </dl>
    }
}
