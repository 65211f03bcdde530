//! The side panel of the heat map: one ranker on one axiom, from the fraction to its clearest
//! violations.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use shared::api::prepared_requests::N_EXAMPLES_OF_CELL;
use shared::api::{GetStudyRequest, ListInstancesRequest};
use shared::plot;
use shared::probe::{Axiom, AxiomVariant, Probe};
use shared::report::format;
use shared::stats::MIN_BOOTSTRAP_UNITS;
use shared::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::instance_list::{ListedInstance, MarginHistogram};
use shared::study::overview::{RankerAxiomResult, StudyOverview};
use shared::verdict::VerdictOutcome;

use super::address::{CellAddress, InstanceListView, InstanceView};
use crate::api;
use crate::number_format::format_count_with_noun;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::figure::FigureView;
use crate::widgets::heatmap::{HeatMapPosition, RankerOrRelevanceRow};
use crate::widgets::term::{GlossaryTerm, Term};
use crate::widgets::verdict;

/// Renders the panel. It keeps its previous content, faded, while new numbers are loading.
#[component]
pub(crate) fn CellPanel(
    /// The name of the study.
    #[prop(into)]
    study: String,
    /// The overview for the current controls.
    #[prop(into)]
    overview: Signal<Arc<StudyOverview>>,
    /// The position of the cell.
    #[prop(into)]
    spot: Signal<HeatMapPosition>,
    /// The current controls.
    #[prop(into)]
    dials: Signal<StudyPageControls>,
) -> impl IntoView {
    let name = study.clone();
    let cases = LocalResource::new(move || {
        let (study, spot, dials) = (name.clone(), spot.get(), dials.get());
        let cell = CellAddress::new(spot, &overview.read_untracked());
        let cell = cell.filter(|_| spot.row != RankerOrRelevanceRow::Relevance);
        async move {
            (
                spot,
                dials.clone(),
                fetch_violation_examples(&study, cell, &dials).await,
            )
        }
    });
    let name = study.clone();
    let besides = LocalResource::new(move || {
        let (study, dials) = (name.clone(), dials.get());
        let truncated = overview
            .read_untracked()
            .rows
            .iter()
            .any(|it| it.n_truncated > 0);
        async move { fetch_filtered_overviews(study, dials, truncated).await }
    });
    let stale = move || {
        let now = (spot.get(), dials.get());
        cases
            .get()
            .is_none_or(|(spot, dials, _)| (spot, dials) != now)
    };
    let shown = move || {
        let (overview, spot) = (overview.get(), spot.get());
        let statement = spot.probe.probe_description().statement;
        let title = format!("{} on {}", spot.row_name(&overview), spot.probe.name());
        let body = match spot.cell_in_overview(&overview) {
            Some(cell) => {
                let (cell, study) = (cell.clone(), study.clone());
                view! { <CellDetails study overview cell spot cases besides/> }.into_any()
            }
            None => view! {
                <p class="note">
                    "No instance has a verdict here. Increase δ, or include all instances."
                </p>
            }
            .into_any(),
        };
        view! {
            <div>
                <h2>{title}</h2>
                <p class="note">{statement}</p>
            </div>
            {body}
        }
    };
    view! {
        <aside
            class="panel"
            class:stale=stale
            aria-label="Selected cell"
            aria-busy=move || stale().to_string()
        >
            {shown}
        </aside>
    }
}

type ApiResult<T> = Result<T, api::RequestError>;
type ViolationExamplesResource = LocalResource<(
    HeatMapPosition,
    StudyPageControls,
    ApiResult<Option<ViolationExamples>>,
)>;

/// Three violations, and the distribution of all margins.
#[derive(Debug, Clone, PartialEq)]
struct ViolationExamples {
    ranker: String,
    histogram: MarginHistogram,
    /// The most instructive violations.
    lines: Vec<ListedInstance>,
}

/// Fetches the most instructive violations. None for the row of relevance.
async fn fetch_violation_examples(
    study: &str,
    cell: Option<CellAddress>,
    dials: &StudyPageControls,
) -> ApiResult<Option<ViolationExamples>> {
    let Some(CellAddress { ranker, probe }) = cell else {
        return Ok(None);
    };
    let view = violations_view(dials);
    let request = ListInstancesRequest {
        study: study.to_owned(),
        filter: view.list_request(probe, &ranker, 0..N_EXAMPLES_OF_CELL),
    };
    let page = api::send_and_parse(&request).await?;
    Ok(Some(ViolationExamples {
        ranker,
        histogram: page.histogram,
        lines: page.rows,
    }))
}

fn violations_view(dials: &StudyPageControls) -> InstanceListView {
    InstanceListView {
        dials: dials.clone(),
        outcome: Some(VerdictOutcome::Violated),
        ..InstanceListView::default()
    }
}

/// The overview of the study for subsets of its instances.
#[derive(Debug, Clone, PartialEq)]
struct FilteredOverviews {
    whole: Option<Arc<StudyOverview>>,
    relevant: Arc<StudyOverview>,
}

/// Waits until the controls are unchanged for a moment, then fetches the overviews. None if the
/// controls already select a subset.
async fn fetch_filtered_overviews(
    study: String,
    dials: StudyPageControls,
    truncated: bool,
) -> ApiResult<Option<FilteredOverviews>> {
    const PAUSE_MS: u32 = 500;
    if dials.subset != InstanceSubset::All {
        return Ok(None);
    }
    TimeoutFuture::new(PAUSE_MS).await;
    let ask = |only| GetStudyRequest {
        study: study.clone(),
        controls: StudyPageControls {
            subset: only,
            ..dials.clone()
        },
    };
    let relevant = Arc::new(api::send_and_parse(&ask(InstanceSubset::WithRelevant)).await?);
    let whole = match truncated {
        true => Some(Arc::new(
            api::send_and_parse(&ask(InstanceSubset::Untruncated)).await?,
        )),
        false => None,
    };
    Ok(Some(FilteredOverviews { whole, relevant }))
}

#[component]
fn CellDetails(
    study: String,
    overview: Arc<StudyOverview>,
    cell: RankerAxiomResult,
    spot: HeatMapPosition,
    cases: ViolationExamplesResource,
    besides: LocalResource<ApiResult<Option<FilteredOverviews>>>,
) -> impl IntoView {
    let value = format::format_two_digit_fraction(cell.micro_average.value);
    let interval = format::keep_on_one_line(&format::format_interval(cell.micro_average.interval));
    let queries = format!(
        "over {}",
        format_count_with_noun(cell.n_queries, "query", "queries")
    );
    let few = approximate_interval_note(cell.n_queries);
    let address = CellAddress::new(spot, &overview);
    let address = address.filter(|_| spot.row != RankerOrRelevanceRow::Relevance);
    let ways = instance_links(&study, &cell, address, &overview.controls);
    let below = match spot.row {
        RankerOrRelevanceRow::Ranker(_) => {
            view! { <ViolationSection study cases mode=overview.variant/> }.into_any()
        }
        RankerOrRelevanceRow::Relevance => view! {
            <p class="note">
                "How often the grades agree with the axiom, over instances whose grades differ; \
                 an unjudged document counts as grade 0."
            </p>
        }
        .into_any(),
    };
    let tally = cell.tally;
    let shares = [
        ("yes", tally.satisfied),
        ("even", tally.tied),
        ("no", tally.violated),
    ];
    let shares = shares.into_iter().filter(|it| it.1 > 0);
    let shares =
        shares.map(|(class, n)| view! { <i class=class style=("--n", n.to_string())></i> });
    let shares = shares.collect_view();
    let TallyText {
        satisfied,
        tied,
        violated,
    } = TallyText::of(&cell);
    view! {
        <div class="sum">
            <span class="big">{value}</span>
            <p class="note">{interval} ", " {queries} <br/> {significance_text(&cell)} {few}</p>
        </div>
        <div>
            <div class="split" aria-hidden="true">
                {shares}
            </div>
            <p class="keys">
                <span class="verdict ok">{satisfied}</span>
                <span class="verdict tie">{tied}</span>
                <span class="verdict bad">{violated}</span>
            </p>
        </div>
        {below}
        {ways}
        <CellFacts overview cell spot besides/>
    }
}

/// The three counts of a cell, in words.
struct TallyText {
    satisfied: String,
    tied: String,
    violated: String,
}

impl TallyText {
    fn of(cell: &RankerAxiomResult) -> TallyText {
        let said = |n: u64, outcome| {
            format!(
                "{} {}",
                format::format_count(n),
                verdict::axiom_outcome_label(Some(outcome))
            )
        };
        TallyText {
            satisfied: said(cell.tally.satisfied, VerdictOutcome::Satisfied),
            tied: said(cell.tally.tied, VerdictOutcome::Tied),
            violated: said(cell.tally.violated, VerdictOutcome::Violated),
        }
    }
}

/// Renders a line break and the warning that an interval is approximate, if queries are few.
pub(super) fn approximate_interval_note(n_queries: u64) -> Option<impl IntoView> {
    (n_queries < MIN_BOOTSTRAP_UNITS).then(|| {
        let said = format!(
            "approximate interval, because there are fewer than {MIN_BOOTSTRAP_UNITS} queries"
        );
        view! { <br/> {said} }
    })
}

fn significance_text(cell: &RankerAxiomResult) -> String {
    let p = format::keep_on_one_line(&format::format_named_p_value(cell.p_holm));
    match cell.p_holm < FAMILY_WISE_ERROR_RATE {
        true => format!("differs from chance, {p}"),
        false => format!("not distinguishable from chance, {p}"),
    }
}

/// Returns links to the violations, or to the satisfied instances if there are none.
fn instance_links(
    study: &str,
    cell: &RankerAxiomResult,
    address: Option<CellAddress>,
    controls: &StudyPageControls,
) -> Option<AnyView> {
    let CellAddress { ranker, probe } = address?;
    let view = violations_view(controls);
    let href = |outcome| {
        InstanceListView {
            outcome,
            ..view.clone()
        }
        .href(study, probe, &ranker)
    };
    let n = cell.tally.violated;
    if n > 0 {
        let words = format!(
            "Show {}",
            format_count_with_noun(n, "violation", "violations")
        );
        let href = href(Some(VerdictOutcome::Violated));
        return Some(view! { <a class="btn main" href=href>{words} <kbd>"V"</kbd></a> }.into_any());
    }
    let n = format_count_with_noun(
        cell.tally.satisfied,
        "satisfied instance",
        "satisfied instances",
    );
    let words = format!("Show {n}");
    let way = href(Some(VerdictOutcome::Satisfied));
    Some(
        view! {
            <div>
                <p>"No violations."</p>
                <p><a href=way>{words}</a></p>
            </div>
        }
        .into_any(),
    )
}

/// Renders the margins and three violations of the cell that they were requested for.
#[component]
fn ViolationSection(
    study: String,
    cases: ViolationExamplesResource,
    mode: AxiomVariant,
) -> impl IntoView {
    move || match cases.get() {
        None | Some((_, _, Ok(None))) => {
            view! { <div class="below waiting" aria-hidden="true"></div> }.into_any()
        }
        Some((_, _, Err(error))) => {
            let retry = Callback::new(move |()| cases.refetch());
            view! { <div class="below"><LoadErrorMessage error retry/></div> }.into_any()
        }
        Some((spot, dials, Ok(Some(found)))) => {
            let list = violations_view(&dials);
            view! { <ViolationList study=study.clone() found list spot mode/> }.into_any()
        }
    }
}

#[component]
fn ViolationList(
    study: String,
    found: ViolationExamples,
    list: InstanceListView,
    spot: HeatMapPosition,
    mode: AxiomVariant,
) -> impl IntoView {
    let ViolationExamples {
        ranker,
        histogram,
        lines,
    } = found;
    let digits = margin_digits(&histogram);
    let picture = (!histogram.counts.is_empty()).then(|| {
        view! {
            <figure>
                <figcaption>
                    <p class="label">{margin_definition(spot.probe)}</p>
                </figcaption>
                <FigureView figure=plot::draw_margin_histogram(&histogram)/>
            </figure>
        }
    });
    let label = (!lines.is_empty()).then(|| {
        let violations = if lines.len() == 1 {
            "violation"
        } else {
            "violations"
        };
        view! {
            <Term of=GlossaryTerm::MostInstructive>"Most instructive"</Term>
            " "
            {violations}
        }
    });
    let items = (0..).zip(lines).map(|(at, line)| {
        let view = InstanceView {
            ranker: Some(ranker.clone()),
            position: Some(at),
            list: list.clone(),
        };
        let href = view.href(&study, spot.probe, mode, line.number);
        let margin = format_margin(line.margin, digits);
        view! {
            <li>
                <a href=href>
                    {line.query.clone()} <b>{margin}</b> <ListedDocuments line/>
                </a>
            </li>
        }
    });
    let items = items.collect_view();
    view! {
        <div class="below">
            {picture}
            <div>
                <p class="label">{label}</p>
                <ul class="cases">{items}</ul>
            </div>
        </div>
    }
}

/// Formats a margin; a dash stands for an unknown one.
pub(crate) fn format_margin(margin: Option<f64>, digits: u8) -> String {
    // A margin that is not 0 has enough digits not to look like 0.
    let enough = |it: f64| {
        let told = |digits: &u8| it.abs() * 10_f64.powi((*digits).into()) >= 0.5;
        (digits..9).find(told).unwrap_or(digits)
    };
    margin.map_or(format::MISSING.to_owned(), |it| {
        format::format_score(it, enough(it))
    })
}

/// Renders the documents of an instance in the order that the probe expects: the beginning of each,
/// or its id if the texts are withheld, and its grade.
#[component]
pub(crate) fn ListedDocuments(line: ListedInstance) -> impl IntoView {
    let docs = line.docs.into_iter().enumerate().map(|(at, id)| {
        let grade = line.grades.get(at).copied().flatten();
        let grade = grade.map(|it| format!("grade {it}: "));
        let text = line.excerpts.get(at).unwrap_or(&id).clone();
        view! { <span title=id>{grade} <bdi>{text}</bdi></span> }
    });
    let docs = docs.collect_view();
    view! { <span class="listed-docs label">{docs}</span> }
}

/// Returns the number of digits that distinguishes the margins.
pub(crate) fn margin_digits(histogram: &MarginHistogram) -> u8 {
    format::score_decimals_for_spread(histogram.bin_width * histogram.counts.len() as f64)
}

/// Returns the definition of the margin of a probe.
pub(crate) fn margin_definition(probe: Probe) -> &'static str {
    match probe {
        Probe::Axiom(Axiom::Tfc2) => "Margin: gain of the first step minus gain of the second",
        Probe::Transfer(it) if it.is_symmetric => "Margin: absolute difference of the scores",
        Probe::Axiom(_)
        | Probe::MeasureAndMatch(_)
        | Probe::Manipulation(_)
        | Probe::Transfer(_) => "Margin: score of document 1 minus score of document 2",
    }
}

/// Renders further figures of the cell.
#[component]
fn CellFacts(
    overview: Arc<StudyOverview>,
    cell: RankerAxiomResult,
    spot: HeatMapPosition,
    besides: LocalResource<ApiResult<Option<FilteredOverviews>>>,
) -> impl IntoView {
    let column = spot
        .column_in_overview(&overview)
        .and_then(|it| overview.columns.get(it))
        .cloned();
    let row = match spot.row {
        RankerOrRelevanceRow::Ranker(row) => overview.rows.get(row).cloned(),
        RankerOrRelevanceRow::Relevance => None,
    };
    let over_queries = format::keep_on_one_line(&format::format_estimate(&cell.macro_average));
    let both = column.filter(|it| it.n_both_orders > 0).map(|it| {
        view! {
            <dt>"Instances in both orders"</dt> <dd>{format::format_count(it.n_both_orders)}</dd>
        }
    });
    let unscored = (cell.tally.unscored > 0).then(|| {
        let asked = format::format_two_digit_fraction(cell.scored_fraction());
        let unscored = format::format_count(cell.tally.unscored);
        view! {
            <dt>"Scored"</dt>
            <dd>{asked} " of instances, " {unscored} " unscored"</dd>
        }
    });
    let detectable = cell.detectable_difference.map(|it| {
        view! {
            <dt title="Smallest difference that a study of this size detects with 80 % power">
                "Smallest detectable difference from .5"
            </dt>
            <dd>"± " {format::format_two_digit_fraction(it)}</dd>
        }
    });
    let note = row.as_ref().and_then(|it| it.ranker.note.clone());
    let note = note.map(|it| view! { <dt>"Note"</dt> <dd>{it}</dd> });
    let in_part = row.as_ref().and_then(|it| it.n_truncated_pairs_if_known());
    let of = move |other: Option<&Arc<StudyOverview>>| {
        let cell = other.and_then(|it| spot.cell_in_overview(it));
        cell.map_or(format::MISSING.to_owned(), |cell| {
            format!(
                "{} of {}",
                format::format_two_digit_fraction(cell.micro_average.value),
                format::format_count(cell.tally.n_with_verdict())
            )
        })
    };
    let is_ranker = row.is_some();
    let not_truncated =
        move |said| is_ranker.then(|| view! { <dt>"Not truncated"</dt> <dd>{said}</dd> });
    let parts = move || match besides.get() {
        Some(Ok(Some(found))) => {
            let whole = match in_part {
                Some(0) => "no document was truncated".to_owned(),
                Some(_) => of(found.whole.as_ref()),
                None => "truncation is unknown".to_owned(),
            };
            Some(
                view! {
                    {not_truncated(whole)}
                    <dt>"With a relevant document"</dt>
                    <dd>{of(Some(&found.relevant))}</dd>
                }
                .into_any(),
            )
        }
        Some(Ok(None)) => None,
        // The panel is complete without these figures.
        Some(Err(error)) => {
            Some(view! { <dt>"Subsets"</dt> <dd>{error.to_string()}</dd> }.into_any())
        }
        None => Some(
            view! {
                {not_truncated("…".to_owned())}
                <dt>"With a relevant document"</dt>
                <dd>"…"</dd>
            }
            .into_any(),
        ),
    };
    view! {
        <dl>
            <dt>"Mean over queries"</dt>
            <dd>{over_queries}</dd>
            {parts}
            {both}
            {unscored}
            {detectable}
            <dt>"Candidate pool"</dt>
            <dd title=overview.pool.to_string()>{overview.pool.describe()}</dd>
            <dt>"Analyzer"</dt>
            <dd>{overview.analyzer.clone()}</dd>
            {note}
        </dl>
    }
}
