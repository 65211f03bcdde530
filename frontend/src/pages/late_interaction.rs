//! The Late interaction page: term importance, exact and soft matches, spectra of the token
//! vectors, and the token matches of a query in a document.

pub(crate) mod address;
mod instance_links;
mod plots;
mod term_table;
mod documents;
mod term_details;

use leptos::prelude::*;
use shared::api::{ErrorResponse, GetStudyRequest, ListLateInteractionAnalysesRequest};
use shared::late_interaction::{
    LateInteractionAnalysisWithRankerSlug, LateInteractionRankerAnalysis,
};
use shared::probe::CandidatePoolSpec;
use shared::report::{self, ReportTable, TableValue, format};
use shared::score::RankerInfo;
use shared::score::slug::parse_ranker_slug_or_position;
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;

use crate::api;
use crate::location::PageLocation;
use crate::number_format::format_count_with_noun;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::figure_section::ExportableFigureSection;
use crate::widgets::form::SelectField;
use crate::widgets::resource_view::{RequestReplyView, StudyBreadcrumb};
use address::{LateInteractionPageState, LateInteractionView};
use documents::QueryDocuments;
use instance_links::LinksToInstanceLists;
use plots::LateInteractionPlots;
use term_details::SelectedQueryTermDetails;
use term_table::TermImportanceTable;

/// The overview of the study, once it is loaded.
type OverviewResource = LocalResource<Result<StudyOverview, api::RequestError>>;

/// The position of the analysis in the list of all, or why the ranker in the address has none.
type AnalysisPosition = Result<usize, String>;

/// Renders the Late interaction page of a study.
#[component]
pub(crate) fn LateInteractionPage(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let PageLocation { path, search, .. } = PageLocation::from_context_or_browser();
    // An address of another page is ignored, since this page is about to be removed.
    let ranker = Memo::new(move |before: Option<&Option<String>>| {
        let page = PageRoute::parse(&path.read(), &search.read());
        match page {
            Some(PageRoute::LateInteraction { ranker, .. }) => ranker,
            _ => before.cloned().flatten(),
        }
    });
    let scene = LateInteractionPageState::following_address(
        study.clone(),
        move |get| LateInteractionView::from_address(ranker.get(), get),
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
    let shown = move |found: Vec<LateInteractionAnalysisWithRankerSlug>| match found.is_empty() {
        true => view! { <NoAnalysis study=name.get_value()/> }.into_any(),
        false => view! { <AnalysisView found overview scene/> }.into_any(),
    };
    let title = Signal::derive(move || Some(overview.get()?.ok()?.title));
    view! {
        <StudyBreadcrumb study title here="Late interaction"/>
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
        <p class="lead">"Analyze a late-interaction ranker on the command line:"</p>
        <pre tabindex="0"><code>{command}</code></pre>
    }
}

#[component]
fn AnalysisView(
    found: Vec<LateInteractionAnalysisWithRankerSlug>,
    /// Used for links to instances; the page works without it.
    overview: OverviewResource,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let slugs: Vec<String> = found.iter().map(|it| it.slug.clone()).collect();
    let at: Memo<AnalysisPosition> = Memo::new(move |_| match scene.view.get().ranker {
        None => Ok(0),
        Some(it) => parse_ranker_slug_or_position(slugs.iter().map(String::as_str), &it)
            .map_err(|it| it.to_string()),
    });
    let ranker = |it: &LateInteractionAnalysisWithRankerSlug| {
        (it.slug.clone(), it.analysis.header.ranker.clone())
    };
    let rankers: Vec<(String, RankerInfo)> = found.iter().map(ranker).collect();
    // The address names the ranker, so that it still shows the same one after another analysis.
    let first = found.first().map(|it| it.slug.clone());
    Effect::new(move |_| {
        if scene.view.with(|it| it.ranker.is_none()) {
            scene.update(|it| it.ranker = first.clone());
        }
    });
    // A single ranker can be chosen in place of an unknown one.
    let n_rankers = rankers.len();
    let has_choice = Memo::new(move |_| n_rankers > 1 || at.with(Result::is_err));
    let select = move || {
        let rankers = rankers.clone();
        let select = || view! { <RankerSelect rankers at scene/> };
        has_choice.get().then(select)
    };
    let unknown = move || {
        let message = at.get().err()?;
        let error = ErrorResponse::with_message_and_type(message, "unknown");
        Some(view! {
            <h1>"The analysis cannot be shown"</h1>
            <LoadErrorMessage error=api::RequestError::Server(error)/>
        })
    };
    let found = StoredValue::new(found);
    let analysis = move || {
        let at = at.get().ok()?;
        let listed = found.with_value(|it| it[at].clone());
        Some(view! { <RankerAnalysis listed overview scene/> })
    };
    view! {
        {unknown}
        {select}
        {analysis}
    }
}

/// Renders the drop-down list of analyzed rankers.
#[component]
fn RankerSelect(
    /// The rankers with their slugs.
    rankers: Vec<(String, RankerInfo)>,
    /// The position of the ranker that is shown.
    at: Memo<AnalysisPosition>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let options = rankers.into_iter().enumerate().map(|(number, (slug, it))| {
        let selected = move || at.with(|it| *it == Ok(number));
        view! { <option value=slug prop:selected=selected>{it.label}</option> }
    });
    let options = options.collect_view();
    let placeholder = move || {
        let is_unknown = at.with(Result::is_err);
        is_unknown.then(|| {
            view! { <option value="" disabled hidden selected>"Choose a ranker"</option> }
        })
    };
    let choose = move |slug: String| {
        scene.update(|it| {
            *it = LateInteractionView {
                ranker: Some(slug),
                ..LateInteractionView::default()
            };
        });
    };
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="Ranker" choose>{placeholder} {options}</SelectField>
        </form>
    }
}

/// Renders the analysis of one ranker.
#[component]
fn RankerAnalysis(
    listed: LateInteractionAnalysisWithRankerSlug,
    overview: OverviewResource,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let LateInteractionAnalysisWithRankerSlug {
        slug,
        analysis: found,
    } = listed;
    let head = found.header.clone();
    let note = head
        .ranker
        .note
        .clone()
        .map(|it| view! { <span>{it}</span> });
    let [correlations, words, pieces] = report::late_interaction_tables(&found);
    let agreement = describe_agreement_with_paper(&correlations);
    let fine_tuning = report::fine_tuning_table(&found).map(|table| {
        view! {
            <ExportableFigureSection
                of="late-interaction-"
                id="fine-tuning"
                name="Before and after fine-tuning"
                said=describe_fine_tuning(&found)
                drawing=None
                table=Some(table)
            />
        }
    });
    let found = StoredValue::new(found);
    let chosen = Memo::new(move |_| {
        let word = scene.view.get().term?;
        found.with_value(|it| it.words.iter().find(|it| it.word == word).cloned())
    });
    let lists = Memo::new(move |_| {
        let overview = overview.get().and_then(Result::ok);
        let of = |it: StudyOverview| {
            found.with_value(|found| LinksToInstanceLists::for_ranker(&it, &found.header.ranker))
        };
        overview.map(of).unwrap_or_default()
    });
    let of_word = move || {
        chosen
            .get()
            .map(|word| view! { <SelectedQueryTermDetails word found lists scene/> })
    };
    let pool = head.pool.parse::<CandidatePoolSpec>();
    let pool = pool.map_or_else(|_| head.pool.clone(), |it| it.describe());
    view! {
        <div class="head">
            <div>
                <h1>{head.title}</h1>
                <p class="lead">
                    "Which query terms decide the ranking of " {head.ranker.label.clone()}
                    ", and do its tokens match themselves or other tokens?"
                </p>
                <p class="facts">
                    <span>{head.ranker.label}</span>
                    {note}
                    <span>
                        {format_count_with_noun(head.queries.len() as u64, "query", "queries")}
                    </span>
                    <span>{format_count_with_noun(head.n_docs, "document", "documents")}</span>
                    <span title=head.pool>"candidate pool: " {pool}</span>
                    <span>{format::spell_out_iso_date(&head.created)}</span>
                </p>
            </div>
        </div>
        <ExportableFigureSection
            of="late-interaction-"
            id="correlations"
            name="Correlation with idf"
            said=agreement
            drawing=None
            table=Some(correlations)
        />
        {fine_tuning}
        <LateInteractionPlots found pieces chosen scene/>
        {of_word}
        <QueryDocuments slug found lists scene/>
        <TermImportanceTable found table=words chosen scene/>
    }
}

/// Says how much more often terms match themselves after fine-tuning; empty if it is not known.
fn describe_fine_tuning(found: &LateInteractionRankerAnalysis) -> String {
    let before = found.before_fine_tuning.as_ref();
    let before = before.and_then(|it| it.mean_exact_share);
    let Some((before, after)) = before.zip(found.summary().mean_exact_share) else {
        return String::new();
    };
    let [before, after] = [before, after].map(format::format_percent);
    format!(
        "On average, the best match of a term is the term itself in {after} of the documents; \
         before fine-tuning it was in {before}."
    )
}

/// Says how many correlations have the sign that the paper reports.
fn describe_agreement_with_paper(correlations: &ReportTable) -> String {
    let signs = correlations
        .rows
        .iter()
        .filter_map(|row| match (row.get(1), row.last()) {
            (Some(TableValue::Difference(ours)), Some(TableValue::Difference(theirs))) => {
                Some(ours * theirs > 0.0)
            }
            _ => None,
        });
    let signs: Vec<bool> = signs.collect();
    let same = signs.iter().filter(|it| **it).count() as u64;
    format!(
        "{} of {} have the sign that Formal et al. (2021) report for ColBERT.",
        format::format_count(same),
        format_count_with_noun(signs.len() as u64, "correlation", "correlations"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agreement_counts_equal_signs() {
        let difference = TableValue::Difference;
        let rows = [(-0.2, -0.4), (0.3, -0.1), (0.5, 0.77)];
        let rows = rows.map(|(ours, theirs)| {
            let name = TableValue::Text("importance".to_owned());
            vec![name, difference(ours), difference(theirs)]
        });
        let mut table = ReportTable::new("correlations", "Correlations");
        table.rows = rows.to_vec();
        table.rows.push(vec![TableValue::Missing; 3]);
        assert_eq!(
            describe_agreement_with_paper(&table),
            "2 of 3 correlations have the sign that Formal et al. (2021) report for ColBERT."
        );
    }
}
