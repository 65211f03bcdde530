//! The human judgments of a study: agreement of axiom, rankers and relevance judgments with the
//! annotators.

use leptos::prelude::*;
use shared::annotation::estimate::AgreementEstimates;
use shared::annotation::{AnnotatorKind, tables};
use shared::api::GetStudyRequest;
use shared::api::annotation::{AnnotationTaskResults, ListStudyHumanJudgmentsRequest, TaskId};
use shared::api::people::{AccessRole, GetSessionRequest};
use shared::api::worker::LOCAL_STUDY;
use shared::plot::{self, FigureTheme};
use shared::report::{self, format};
use shared::study::controls::StudyPageControls;

use crate::api::{self, RequestError};
use crate::pages::study::address::trial_href;
use crate::routes::PageRoute;
use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::figure::FigureView;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;
use crate::widgets::simulated_annotators::{SimulatedAnnotatorsNote, annotator_count};
use crate::widgets::table::ReportTableView;
use crate::widgets::task_status::task_status_label;

/// The data of the section.
#[derive(Debug, Clone, PartialEq)]
struct HumanJudgmentsData {
    tasks: Vec<AnnotationTaskResults>,
    /// The names of the study's rankers, by row.
    rankers: Vec<String>,
    /// Whether the user may create a task.
    curates: bool,
    /// Whether there is a server, which has the items of tasks.
    has_server: bool,
}

/// Loads the data. Returns `None` for the local study, which cannot have annotations, and for a
/// study without annotations on a static host.
async fn load(study: String) -> Result<Option<HumanJudgmentsData>, RequestError> {
    if study == LOCAL_STUDY {
        return Ok(None);
    }
    let has_server = api::fetch_server_info().await?.is_some();
    let curates = match has_server {
        true => api::send_and_parse(&GetSessionRequest {}).await?.role >= AccessRole::Curator,
        false => false,
    };
    let tasks = api::send_and_parse(&ListStudyHumanJudgmentsRequest {
        study: study.clone(),
    })
    .await?;
    if tasks.is_empty() && !has_server {
        return Ok(None);
    }
    let mut rankers = Vec::new();
    if !tasks.is_empty() {
        let dials = StudyPageControls::default();
        let overview = api::send_and_parse(&GetStudyRequest {
            study,
            controls: dials,
        })
        .await?;
        let names = overview.rows.into_iter().map(|it| it.ranker.label);
        rankers.extend(names);
    }
    Ok(Some(HumanJudgmentsData {
        tasks,
        rankers,
        curates,
        has_server,
    }))
}

/// Renders the tab of the human judgments of a study.
#[component]
pub(crate) fn HumanJudgmentsSection(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let name = study.clone();
    let answer = LocalResource::new(move || load(name.clone()));
    let shown = move |found: Option<HumanJudgmentsData>| match found {
        None => view! {
            <p class="ahead">"This site has no server, so it has no annotation tasks."</p>
        }
        .into_any(),
        Some(found) => {
            let study = study.clone();
            view! { <HumanJudgmentsView study found/> }.into_any()
        }
    };
    view! { <RequestReplyView answer until="Loading the human judgments" shown/> }
}

/// Renders the tasks of the study with their results, and a link to create another task.
#[component]
fn HumanJudgmentsView(study: String, found: HumanJudgmentsData) -> impl IntoView {
    let curates = found.curates;
    let trial = PageRoute::Trial {
        study: study.clone(),
    };
    let is_of_nobody = found.tasks.iter().all(|it| it.simulated.is_some());
    let simulated = (!found.tasks.is_empty()).then_some("The annotators below are simulated. ");
    let none = is_of_nobody.then(|| {
        view! {
            <p class="ahead">
                "Nobody has annotated instances of this study yet. " {simulated}
                "An annotation task samples some of them and asks annotators which document \
                 is better. "
                <a href=trial.href()>"Try annotating a few"</a>
            </p>
        }
    });
    let href = format!(
        "{}?study={}",
        PageRoute::NewTask.href(),
        crate::routes::escape(&study)
    );
    let about = format!("{}#reviewing", PageRoute::About.href());
    let header = move || {
        let href = href.clone();
        let make = curates.then(|| view! { <a class="btn" href=href>"Create annotation task"</a> });
        view! {
            <p class="note">
                "How often the axiom, the rankers and the relevance judgments agree with \
                 annotators, estimated over all instances of a task. " <a href=about.clone()>"How this is computed"</a>
            </p>
            {make}
        }
    };
    let tasks = found.tasks.into_iter().map(|task| {
        let (rankers, study) = (found.rankers.clone(), study.clone());
        let trial = (found.has_server && task.simulated.is_some())
            .then(|| trial_href(&study, Some(task.task), 0));
        view! { <TaskResult task rankers curates trial/> }
    });
    let tasks = tasks.collect_view();
    view! {
        <Section id="human-judgments" name="Human judgments" header>
            {none}
            {tasks}
        </Section>
    }
}

/// Renders the result of one task.
#[component]
fn TaskResult(
    task: AnnotationTaskResults,
    rankers: Vec<String>,
    curates: bool,
    /// The address at which visitors try its items, if they can.
    trial: Option<String>,
) -> impl IntoView {
    let AnnotationTaskResults {
        task: no,
        title,
        status,
        is_public: public,
        is_outdated: outdated,
        n_people,
        agreement,
        estimates,
        simulated,
    } = task;
    let (kind, n_simulated) = match &simulated {
        Some(it) => (AnnotatorKind::Simulated, it.simulation.error_rates.len()),
        None => (AnnotatorKind::People, 0),
    };
    let (agreement, estimates, simulation) = match simulated {
        Some(it) => (it.agreement, it.estimates, Some(it.simulation)),
        None => (agreement, estimates, None),
    };
    let note = simulation.map(|it| view! { <SimulatedAnnotatorsNote simulation=Some(it)/> });
    let trial = trial.map(|href| view! { <a href=href>"Try it"</a> });
    let alpha = agreement.krippendorff_alpha.map(|it| it.estimate);
    let alpha = alpha.map(|it| format!("α {}", format::format_estimate(&it)));
    let page = PageRoute::CurateTask { task: no }.href();
    let page = curates.then(|| view! { <a href=page>"The task"</a> });
    let hidden = (!public).then(|| view! { <span>"visible to curators only"</span> });
    let body = match estimates {
        Some(found) if !outdated => view! { <EstimateFigure no found rankers kind/> }.into_any(),
        _ if outdated => view! {
            <p class="ahead">
                "The study changed after this task was created. Its results refer to other \
                 instances and are not shown."
            </p>
        }
        .into_any(),
        _ => view! { <p class="ahead">"No decisions yet."</p> }.into_any(),
    };
    view! {
        <article class="of-task">
            <h3><bdi>{title}</bdi></h3>
            <p class="facts">
                <span>{task_status_label(status)}</span>
                <span>{annotator_count(n_people, n_simulated as u32)}</span>
                {alpha.map(|it| view! { <span>{it}</span> })}
                {hidden}
                {page}
                {trial}
            </p>
            {note}
            {body}
        </article>
    }
}

/// Renders the estimates as a figure, or as a table in its place.
#[component]
fn EstimateFigure(
    no: TaskId,
    found: AgreementEstimates,
    rankers: Vec<String>,
    kind: AnnotatorKind,
) -> impl IntoView {
    let mut all = tables::axiom_and_ranker_agreement_tables(&found, &rankers, kind);
    let Some(details) = all.pop() else {
        return ().into_any();
    };
    let table = all.swap_remove(0);
    let figure = plot::annotation::draw_agreement_with_annotators(&found, &rankers, kind);
    let width = format!("{}px", figure.width + 2.0 * figure.margin);
    let as_table = RwSignal::new(true);
    let file = match kind {
        AnnotatorKind::People => format!("human-judgments-{}", no.0),
        AnnotatorKind::Simulated => format!("simulated-annotators-{}", no.0),
    };
    let figure_file = file.clone();
    let turn = Callback::new(move |()| as_table.update(|it| *it = !*it));
    let drawn = figure.clone();
    let svg = Callback::new(move |()| {
        let text = plot::figure_to_svg(&drawn, FigureTheme::Light);
        download::offer_text_download(&format!("{figure_file}.svg"), "image/svg+xml", &text);
    });
    let csv = Callback::new(move |()| {
        let text = report::table_to_csv(&details);
        download::offer_text_download(&format!("{file}.csv"), "text/csv", &text);
    });
    let body = move || match as_table.get() {
        true => view! { <ReportTableView table=table.clone()/> }.into_any(),
        false => view! {
            <div
                class="drawn"
                role="group"
                tabindex="0"
                aria-label=format!("Agreement with {}", kind.noun())
                style=("--width", width.clone())
            >
                <FigureView figure=figure.clone()/>
            </div>
        }
        .into_any(),
    };
    view! {
        <FigureExportButtons of="human judgments" table=as_table turn svg csv/>
        {body}
    }
    .into_any()
}
