//! The Compare studies page: which fractions of two studies differ, and whether by more than
//! chance. The statistics are computed here, so that a study of the Workbench can be compared with
//! one of a server.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use shared::api::worker::LOCAL_STUDY;
use shared::api::{ErrorResponse, GetStudyRequest, GetVerdictCountsRequest, ListStudiesRequest};
use shared::probe::AxiomVariant;
use shared::report::{self, ReportTable};
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;
use shared::study::study_comparison::{
    StudyComparison, StudyToCompare, StudyVerdictCounts, shared_results,
};

use crate::api::{self, RequestError};
use crate::location::{self, PageLocation};
use crate::pages::study::address::variant_from_address;
use crate::routes::PageRoute;
use crate::stored_summary;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::form::SelectField;
use crate::widgets::report_table_section::ReportTableSection;
use crate::widgets::section::Section;
use crate::widgets::variant::axiom_variant_label;

/// The studies in the address, by name; an empty name is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StudyPairChoice {
    studies: [String; 2],
    /// The variant of the axioms; none takes the first that both studies have.
    variant: Option<AxiomVariant>,
}

impl StudyPairChoice {
    fn from_address(address: &PageLocation) -> StudyPairChoice {
        let name = |parameter| address.query_parameter(parameter).unwrap_or_default();
        StudyPairChoice {
            studies: ["first", "second"].map(name),
            variant: variant_from_address(&|name| address.query_parameter(name)),
        }
    }

    fn href(&self) -> String {
        let [first, second] = self.studies.clone();
        let variant = self.variant.map(|it| it.slug().to_owned());
        let parameters = [
            ("first", Some(first)),
            ("second", Some(second)),
            ("variant", variant),
        ];
        let given = parameters
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.filter(|it| !it.is_empty())?)));
        PageRoute::CompareStudies.href_with(given)
    }
}

/// Two studies with everything that the page shows of them.
#[derive(Debug, Clone)]
struct ComparedStudies {
    finding: String,
    tables: Vec<ReportTable>,
    /// What a reader needs to reproduce one study and the other does not share.
    provenance: [Vec<String>; 2],
    titles: [String; 2],
    /// The variants that both studies have.
    variants: Vec<AxiomVariant>,
}

/// What the page shows below the choice.
#[derive(Debug, Clone)]
enum ComparisonState {
    /// Fewer than two studies are chosen.
    Unchosen,
    Loading,
    Computing {
        n_done: usize,
        n_results: usize,
    },
    Failed(RequestError),
    Compared(Box<ComparedStudies>),
}

/// Renders the comparison of two studies.
#[component]
pub(crate) fn CompareStudiesPage() -> impl IntoView {
    let choice = PageLocation::signal_following_query_string(StudyPairChoice::from_address);
    let state = RwSignal::new(ComparisonState::Unchosen);
    let variants = RwSignal::new(Vec::new());
    // A reply to an earlier choice is ignored.
    let round = StoredValue::new(0_u32);
    let compare = move |chosen: StudyPairChoice| {
        round.update_value(|it| *it += 1);
        let own = round.get_value();
        let is_current = move || round.try_get_value() == Some(own);
        if chosen.studies.iter().any(String::is_empty) {
            variants.set(Vec::new());
            state.set(ComparisonState::Unchosen);
            return;
        }
        state.set(ComparisonState::Loading);
        leptos::task::spawn_local(async move {
            let report = move |next| {
                if is_current() {
                    state.set(next);
                }
                is_current()
            };
            match compare_studies(&chosen, report).await {
                Ok(Some(found)) => {
                    if is_current() {
                        variants.set(found.variants.clone());
                    }
                    report(ComparisonState::Compared(Box::new(found)))
                }
                Ok(None) => false,
                Err(error) => report(ComparisonState::Failed(error)),
            };
        });
    };
    Effect::new(move |_| compare(choice.get()));
    let retry = Callback::new(move |()| compare(choice.get_untracked()));
    let body = move || match state.get() {
        ComparisonState::Unchosen => view! {
            <p class="note">"Choose two studies, for example two versions of one, or the same \
                             rankers on two collections."</p>
        }
        .into_any(),
        ComparisonState::Loading => {
            view! { <p class="note until" role="status">"Loading both studies"</p> }.into_any()
        }
        ComparisonState::Computing { n_done, n_results } => view! {
            <p class="note until" role="status">
                {format!("Comparing result {} of {n_results}", n_done + 1)}
            </p>
        }
        .into_any(),
        ComparisonState::Failed(error) => view! { <LoadErrorMessage error retry/> }.into_any(),
        ComparisonState::Compared(found) => view! { <StudyDifferences found=*found/> }.into_any(),
    };
    view! {
        <h1>"Compare studies"</h1>
        <p class="lead">
            "What changed between two studies, and whether it is more than chance: the fraction of \
             instances that agree with an axiom, for every ranker and axiom that both studies have."
        </p>
        <StudyPairForm choice variants/>
        {body}
    }
}

/// Loads both studies and compares them result by result, so that the page stays responsive.
/// `report` tells the progress and returns whether to go on; without that the result is none.
async fn compare_studies(
    chosen: &StudyPairChoice,
    report: impl Fn(ComparisonState) -> bool,
) -> Result<Option<ComparedStudies>, RequestError> {
    let [first, second] = &chosen.studies;
    let [first, second] = [overview(first, None).await?, overview(second, None).await?];
    let variants: Vec<AxiomVariant> = first
        .variants
        .iter()
        .copied()
        .filter(|it| second.variants.contains(it))
        .collect();
    let wanted = chosen.variant.or(variants.first().copied());
    let mut loaded = Vec::new();
    for shown in [first, second] {
        let variant = wanted.unwrap_or(shown.variant);
        let name = &shown.name;
        let counts = api::send_and_parse(&GetVerdictCountsRequest {
            study: name.clone(),
            variant: Some(variant),
        })
        .await?;
        loaded.push(match shown.variant == variant {
            true => (shown, counts),
            false => (overview(name, Some(variant)).await?, counts),
        });
    }
    let input = |at: usize| {
        let (overview, counts): &(StudyOverview, StudyVerdictCounts) = &loaded[at];
        StudyToCompare { overview, counts }
    };
    let studies = [input(0), input(1)];
    let shared = shared_results(studies).map_err(|it| {
        let error = ErrorResponse::with_message_and_type(it.to_string(), "setting");
        RequestError::Server(error)
    })?;
    let n_results = shared.len();
    let mut changes = Vec::with_capacity(n_results);
    for (n_done, result) in shared.iter().enumerate() {
        if !report(ComparisonState::Computing { n_done, n_results }) {
            return Ok(None);
        }
        TimeoutFuture::new(0).await;
        changes.push(result.compare());
    }
    let found = StudyComparison::from_changes(studies, shared, changes);
    Ok(Some(ComparedStudies {
        finding: report::study_comparison_finding(&found),
        tables: report::study_comparison_tables(&found),
        provenance: report::differing_provenance(studies.map(|it| it.overview)),
        titles: found.titles,
        variants,
    }))
}

async fn overview(
    study: &str,
    variant: Option<AxiomVariant>,
) -> Result<StudyOverview, RequestError> {
    api::send_and_parse(&GetStudyRequest {
        study: study.to_owned(),
        controls: StudyPageControls {
            variant,
            ..StudyPageControls::default()
        },
    })
    .await
}

/// Renders the choice of both studies and, once they are compared, of a variant that both have.
#[component]
fn StudyPairForm(
    choice: RwSignal<StudyPairChoice>,
    variants: RwSignal<Vec<AxiomVariant>>,
) -> impl IntoView {
    let listed = api::fetch_on_signal_change(|| ListStudiesRequest {});
    let options = move |which: usize| {
        let hosted = listed.get().and_then(Result::ok).unwrap_or_default();
        let hosted = hosted.into_iter().map(|it| (it.name, it.title));
        let own = stored_summary::load().map(|_| {
            (
                LOCAL_STUDY.to_owned(),
                "Your study in this browser".to_owned(),
            )
        });
        let none = (String::new(), "Choose a study".to_owned());
        let option = |(name, title): (String, String)| {
            let own = name.clone();
            let selected = move || choice.with(|it| it.studies[which] == own);
            view! { <option value=name selected=selected>{title}</option> }
        };
        let options = std::iter::once(none).chain(own).chain(hosted).map(option);
        options.collect_view()
    };
    let choose = move |which: usize, name: String| {
        let mut next = choice.get_untracked();
        next.studies[which] = name;
        next.variant = None;
        set_choice(choice, next);
    };
    let swap = move |_| {
        let mut next = choice.get_untracked();
        next.studies.reverse();
        set_choice(choice, next);
    };
    // The field stays while another variant is compared, and with it the focus.
    let variants = Memo::new(move |_| variants.get());
    let retry = Callback::new(move |()| listed.refetch());
    let failure = move || {
        let error = listed.get().and_then(Result::err);
        error.map(|error| view! { <LoadErrorMessage error retry/> })
    };
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="First study" choose=move |name| choose(0, name)>
                {move || options(0)}
            </SelectField>
            <SelectField label="Second study" choose=move |name| choose(1, name)>
                {move || options(1)}
            </SelectField>
            {move || variant_select(variants.get(), choice)}
            <button class="btn" type="button" on:click=swap>"Swap"</button>
        </form>
        {failure}
    }
}

/// Renders the choice of the variant; none unless both studies have several.
fn variant_select(
    variants: Vec<AxiomVariant>,
    choice: RwSignal<StudyPairChoice>,
) -> Option<AnyView> {
    let first = *variants.first()?;
    let options = variants.iter().map(|&it| {
        let selected = move || choice.with(|chosen| chosen.variant.unwrap_or(first) == it);
        view! { <option value=it.slug() selected=selected>{axiom_variant_label(it)}</option> }
    });
    let options = options.collect_view();
    let choose = move |slug: String| {
        let mut next = choice.get_untracked();
        next.variant = variant_from_address(&|_| Some(slug.clone()));
        set_choice(choice, next);
    };
    (variants.len() > 1).then(|| {
        view! {
            <SelectField label="Variant of the axioms" choose>{options}</SelectField>
        }
        .into_any()
    })
}

fn set_choice(choice: RwSignal<StudyPairChoice>, next: StudyPairChoice) {
    location::replace_browser_address(&next.href());
    choice.set(next);
}

/// Renders what differs.
#[component]
fn StudyDifferences(found: ComparedStudies) -> impl IntoView {
    let ComparedStudies {
        finding,
        tables,
        provenance,
        titles,
        ..
    } = found;
    let sections = tables
        .into_iter()
        .map(|table| view! { <ReportTableSection table file_prefix="compared-studies-"/> });
    let is_same = provenance.iter().all(Vec::is_empty);
    let same = is_same.then(|| view! { <p>"No differences."</p> });
    let lists = titles.into_iter().zip(provenance);
    let lists = lists.filter(|(_, lines)| !lines.is_empty());
    let lists = lists.map(|(title, lines)| {
        let lines = lines.into_iter().map(|it| view! { <li>{it}</li> });
        view! {
            <h3>{title}</h3>
            <ul class="provenance">{lines.collect_view()}</ul>
        }
    });
    view! {
        <p class="ahead">{finding}</p>
        {sections.collect_view()}
        <Section
            id="made-differently"
            name="Differences in how the studies were made"
            note="Settings and versions of each study that the other one does not have."
        >
            {same}
            {lists.collect_view()}
        </Section>
    }
}
