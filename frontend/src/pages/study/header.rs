//! The header of the Study page: title, counts, provenance and exports.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use shared::compare::RankerRef;
use shared::report::format;
use shared::score::RankerKind;
use shared::study::overview::{RankerOverviewRow, StudyOverview};

use super::cite::CiteDialog;
use super::export::ExportDialog;
use super::manage::{ManageStudyButton, StudyManagement};
use super::tabs::StudyTab;
use crate::first_paint::InOwnTask;
use crate::number_format::format_count_with_noun;
use crate::pages::compare_address::CompareView;
use crate::routes::PageRoute;
use crate::tour::tour_href;
use crate::widgets::term::{GlossaryTerm, Term};

/// Renders the header of the page.
#[component]
pub(super) fn StudyHeader(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The tab that is shown. On a small screen the first has the facts and the buttons.
    shown: Memo<StudyTab>,
    /// What operators change about the study.
    management: StudyManagement,
) -> impl IntoView {
    let withdrawn = move || {
        let is_withdrawn = management.visibility() == Some(false);
        is_withdrawn.then(|| view! { <span class="verdict out">"not published"</span> })
    };
    let cite = NodeRef::<html::Dialog>::new();
    let export = NodeRef::<html::Dialog>::new();
    let show = |dialog: NodeRef<html::Dialog>| {
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    let it = overview.get_untracked();
    // Lexical rankers cannot be analyzed by late interaction.
    let has_model = it
        .rows
        .iter()
        .any(|it| it.ranker.kind == RankerKind::Neural);
    let inside = has_model.then(|| {
        let page = PageRoute::LateInteraction {
            study: it.name.clone(),
            ranker: None,
        };
        view! { <a class="btn" href=page.href()>"Late interaction"</a> }
    });
    let tour = (!it.rows.is_empty() && !it.columns.is_empty()).then(|| {
        view! { <a class="btn" href=tour_href(&it.name)>"Tour"</a> }
    });
    let differ = (it.rows.len() > 1).then(|| {
        view! { <a class="btn" href=comparison_href(&it)>"Compare rankers"</a> }
    });
    let n_instances = move || {
        let n: u64 = overview
            .read()
            .columns
            .iter()
            .map(|it| it.n_instances)
            .sum();
        (n > 0).then(|| view! { <span>{format_count_with_noun(n, "instance", "instances")}</span> })
    };
    let n_queries = move || format_count_with_noun(overview.read().n_queries, "query", "queries");
    let some = |n: u64, one, many| {
        (n > 0).then(|| view! { <span>{format_count_with_noun(n, one, many)}</span> })
    };
    let n_axioms = some(it.columns.len() as u64, "axiom", "axioms");
    let n_behaviours = some(it.n_behavioral_tests, "behavioral test", "behavioral tests");
    let unscored = (it.n_unscored_rankers > 0).then(|| {
        let n = it.n_unscored_rankers;
        view! {
            <span title="Reload the page later to see these scores">
                {format!("{n} not scored yet")}
            </span>
        }
    });
    view! {
        <div class="head" class:brief=move || shown.get() != StudyTab::Axioms>
            <div>
                <h1>{it.title.clone()}</h1>
                <p class="facts">
                    {n_axioms}
                    {n_behaviours}
                    <span>{format_count_with_noun(it.rows.len() as u64, "ranker", "rankers")}</span>
                    {unscored}
                    <span>{n_queries}</span>
                    <span>{format_count_with_noun(it.totals.n_docs, "document", "documents")}</span>
                    {n_instances}
                    {withdrawn}
                </p>
            </div>
            <div class="btns">
                {tour}
                {inside}
                {differ}
                <button class="btn" type="button" on:click=move |_| show(cite)>"Cite"</button>
                <button
                    class="btn"
                    type="button"
                    aria-haspopup="dialog"
                    on:click=move |_| show(export)
                >
                    "Export"
                </button>
                <ManageStudyButton state=management/>
            </div>
        </div>
        <InOwnTask><CiteDialog overview dialog=cite/></InOwnTask>
        <InOwnTask><ExportDialog overview dialog=export/></InOwnTask>
    }
}

/// Returns the address of the comparison of the first lexical ranker with the most effective neural
/// one, or of the first two rankers.
fn comparison_href(overview: &StudyOverview) -> String {
    let of_kind = |kind| {
        overview
            .rows
            .iter()
            .filter(move |it| it.ranker.kind == kind)
    };
    let lexical = of_kind(RankerKind::Lexical).next();
    let effectiveness = |it: &&RankerOverviewRow| it.effectiveness.first().copied().flatten();
    let neural = of_kind(RankerKind::Neural).max_by(|a, b| {
        f64::total_cmp(
            &effectiveness(a).unwrap_or_default(),
            &effectiveness(b).unwrap_or_default(),
        )
    });
    let mut view = CompareView::default();
    if let Some(pair) = lexical.zip(neural) {
        view.comparison.rankers = <[_; 2]>::from(pair).map(|it| RankerRef::Ranker(it.slug.clone()));
    }
    view.href(&overview.name)
}

/// Renders the description of the study.
#[component]
pub(super) fn StudyDescription(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
) -> impl IntoView {
    let it = overview.get_untracked();
    let made = PageRoute::Reproducibility {
        study: it.name.clone(),
    };
    let gap = it.limits.length_tolerance_terms;
    let gap = gap.map_or("any length difference".to_owned(), |it| {
        format!("δ {it} terms")
    });
    let created = format::spell_out_iso_date(&it.created);
    let description = (!it.description.is_empty()).then(|| {
        view! { <p class="note tells">{it.description.clone()}</p> }
    });
    view! {
        <section class="section about-study" aria-labelledby="about-study">
            <h2 class="label" id="about-study">"About this study"</h2>
            {description}
            <p class="note">
                <Term of=GlossaryTerm::CandidatePool>"Candidate pool"</Term> ": "
                <span title=it.pool.to_string()>{it.pool.describe()}</span>
                {format!("; {gap}; {}. Created {}, ", it.analyzer, created)}
                <Term of=GlossaryTerm::InstanceHash>"instance hash"</Term> " "
                <span class="hash">{format::shorten_hash(&it.instances_hash)}</span> ". "
                <a href=made.href()>"How it was made"</a>
            </p>
        </section>
    }
}
