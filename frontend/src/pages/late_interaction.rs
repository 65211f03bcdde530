//! The Late interaction page: term importance, exact and soft matches, spectra of the token
//! vectors, and the token matches of a query in a document.

pub(crate) mod address;
mod instance_links;
mod plots;
mod term_table;
mod documents;
mod term_details;

use leptos::prelude::*;
use shared::api::{GetStudyRequest, ListLateInteractionAnalysesRequest};
use shared::late_interaction::LateInteractionAnalysis;
use shared::probe::CandidatePoolSpec;
use shared::report::{self, format};
use shared::score::RankerInfo;
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;

use crate::api;
use crate::number_format::format_count_with_noun;
use crate::widgets::figure_section::FigureSection;
use crate::widgets::form::SelectField;
use crate::widgets::resource_view::{RequestReplyView, StudyBreadcrumb};
use address::{LateInteractionPageState, LateInteractionView};
use documents::QueryDocuments;
use instance_links::InstanceListLinks;
use plots::Plots;
use term_details::TermDetails;
use term_table::TermImportanceTable;

/// The overview of the study, once it is loaded.
type OverviewResource = LocalResource<Result<StudyOverview, api::RequestError>>;

/// Renders the Late interaction page of a study.
#[component]
pub(crate) fn LateInteraction(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let scene = LateInteractionPageState::from_address(
        study.clone(),
        LateInteractionView::from_address,
        LateInteractionView::href,
    );
    let name = scene.study;
    let overview = api::fetch_on_signal_change(move || GetStudyRequest {
        study: name.get_value(),
        controls: StudyPageControls::default(),
    });
    let found = api::fetch_on_signal_change(move || ListLateInteractionAnalysesRequest {
        study: name.get_value(),
    });
    let shown = move |found: Vec<LateInteractionAnalysis>| match found.is_empty() {
        true => view! { <NoAnalysis study=name.get_value()/> }.into_any(),
        false => view! { <AnalysisView found overview scene/> }.into_any(),
    };
    view! {
        <StudyBreadcrumb study here="Late interaction"/>
        <RequestReplyView
            answer=found
            until="Loading the analysis"
            without="The analysis cannot be shown" shown
        />
    }
}

#[component]
fn NoAnalysis(study: String) -> impl IntoView {
    let command = format!("axioscope late-interaction --study {study} --ranker MODEL:late");
    view! {
        <h1>"No late-interaction ranker of this study has been analyzed"</h1>
        <p>"Analyze a late-interaction ranker on the command line:"</p>
        <pre tabindex="0"><code>{command}</code></pre>
    }
}

#[component]
fn AnalysisView(
    found: Vec<LateInteractionAnalysis>,
    /// Used for links to instances; the page works without it.
    overview: OverviewResource,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let last = found.len() - 1;
    let at = Memo::new(move |_| scene.view.get().ranker.min(last));
    let rankers = (last > 0).then(|| {
        let rankers = found.iter().map(|it| it.header.ranker.clone()).collect();
        view! { <RankerSelect rankers at scene/> }
    });
    let found = StoredValue::new(found);
    view! {
        {rankers}
        {move || {
            let found = found.with_value(|it| it[at.get()].clone());
            view! { <RankerAnalysis found overview scene/> }
        }}
    }
}

/// Renders the drop-down list of analyzed rankers.
#[component]
fn RankerSelect(
    rankers: Vec<RankerInfo>,
    at: Memo<usize>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let options = rankers.into_iter().enumerate().map(|(number, it)| {
        let note = it.note.map(|it| format!(", {it}")).unwrap_or_default();
        let selected = move || at.get() == number;
        view! { <option value=number.to_string() selected=selected>{it.label} {note}</option> }
    });
    let options = options.collect_view();
    let choose = move |at: String| {
        let ranker = at.parse().unwrap_or_default();
        scene.update(|it| {
            *it = LateInteractionView {
                ranker,
                ..LateInteractionView::default()
            };
        });
    };
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="Ranker" choose>{options}</SelectField>
        </form>
    }
}

/// Renders the analysis of one ranker.
#[component]
fn RankerAnalysis(
    found: LateInteractionAnalysis,
    overview: OverviewResource,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let head = found.header.clone();
    let note = head
        .ranker
        .note
        .clone()
        .map(|it| view! { <span>{it}</span> });
    let [correlations, words, pieces] = report::late_interaction_tables(&found);
    let found = StoredValue::new(found);
    let chosen = Memo::new(move |_| {
        let word = scene.view.get().term?;
        found.with_value(|it| it.words.iter().find(|it| it.word == word).cloned())
    });
    let lists = Memo::new(move |_| {
        let overview = overview.get().and_then(Result::ok);
        let of = |it: StudyOverview| {
            found.with_value(|found| InstanceListLinks::for_ranker(&it, &found.header.ranker))
        };
        overview.map(of).unwrap_or_default()
    });
    let of_word = move || {
        chosen
            .get()
            .map(|word| view! { <TermDetails word found lists scene/> })
    };
    let pool = head.pool.parse::<CandidatePoolSpec>();
    let pool = pool.map_or_else(|_| head.pool.clone(), |it| it.describe());
    view! {
        <div class="head">
            <div>
                <h1>{head.title}</h1>
                <p class="facts">
                    <span>{head.ranker.label}</span>
                    {note}
                    <span>
                        {format_count_with_noun(head.queries.len() as u64, "query", "queries")}
                    </span>
                    <span>{format_count_with_noun(head.n_docs, "document", "documents")}</span>
                    <span title=head.pool>"candidate pool: " {pool}</span>
                    <span>{format::format_date(&head.created)}</span>
                </p>
            </div>
        </div>
        <FigureSection
            of="late-interaction-"
            id="correlations"
            name="Correlation with idf"
            said="Shown next to the correlations that Formal et al. (2021) report for ColBERT."
            drawing=None
            table=Some(correlations)
        />
        <Plots found pieces chosen scene/>
        {of_word}
        <QueryDocuments found lists scene/>
        <TermImportanceTable found table=words chosen scene/>
    }
}
