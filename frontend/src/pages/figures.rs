//! The figures that the papers show in addition to the table of fractions: funnel, audit,
//! comparisons, thirds and scatter plots. Each comes with its table and files.

use leptos::prelude::*;
use shared::api::GetFiguresRequest;
use shared::plot::{self, FIGURE_MARGIN, PlotFigure};
use shared::probe::AxiomVariant;
use shared::report::{self, FigureFindings};
use shared::score::disambiguate_labels;
use shared::score::slug::ranker_slugs;
use shared::study::controls::StudyPageControls;
use shared::study::figures::query_overlap::EffectivenessPerOverlapThird;
use shared::study::figures::{StudyFigureOptions, StudyFigures};

use crate::api;
use crate::location::{self, PageLocation};
use crate::pages::study::address;
use crate::routes::PageRoute;
use crate::widgets::controls::QuerySplitSelect;
use crate::widgets::figure::content_width;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::form::SelectField;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::variant::axiom_variant_label;

/// Renders the tab of a study's figures.
#[component]
pub(crate) fn FiguresPage(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let choice = PageLocation::signal_following_query_string(choice_from_address);
    let name = study.clone();
    let drawn = api::fetch_on_signal_change(move || GetFiguresRequest {
        study: name.clone(),
        options: choice.get(),
    });
    let name = study.clone();
    let shown =
        move |figures| view! { <FiguresView figures choice study=name.clone()/> }.into_any();
    let waiting = || view! { <p class="note waits" role="status">"Counting pairs"</p> };
    view! { <RequestReplyView answer=drawn waiting shown/> }
}

fn choice_from_address(address: &PageLocation) -> StudyFigureOptions {
    let get = |key: &str| address.query_parameter(key);
    let usual = StudyFigureOptions::default();
    let reference = get("reference").filter(|it| !it.is_empty());
    let measure = get("measure").and_then(|it| it.parse().ok());
    StudyFigureOptions {
        controls: address::controls_from_address(&get),
        reference: reference.unwrap_or(usual.reference),
        measure: measure.unwrap_or(usual.measure),
    }
}

/// Writes the options to the address, which the figures follow.
fn set_choice(study: &str, next: &StudyFigureOptions) {
    let usual = StudyFigureOptions::default();
    let mut pairs = address::controls_parameters(&next.controls);
    if next.reference != usual.reference {
        pairs.push(("reference", next.reference.clone()));
    }
    if next.measure != usual.measure {
        pairs.push(("measure", next.measure.to_string()));
    }
    let page = PageRoute::Figures {
        study: study.to_owned(),
    };
    location::replace_browser_address(&page.href_with(pairs));
}

/// Returns the label of each ranker, with its parameters where labels coincide.
fn distinct_labels(figures: &StudyFigures) -> Vec<String> {
    let mut rankers = figures.rankers.clone();
    disambiguate_labels(&mut rankers);
    rankers.into_iter().map(|it| it.label).collect()
}

#[component]
fn FiguresView(
    figures: StudyFigures,
    choice: RwSignal<StudyFigureOptions>,
    study: String,
) -> impl IntoView {
    let tables = report::figure_data_tables(&figures);
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let names = distinct_labels(&figures);
    let findings = FigureFindings::from_figures(&figures);
    let width = content_width();
    let drawn = move |draw: Box<dyn Fn(f64) -> PlotFigure + Send + Sync>| {
        let figure = Signal::derive(move || draw(width.get() - 2.0 * FIGURE_MARGIN));
        FigureWithSelection::changing_without_selection(figure)
    };
    let overlap = figures.query_overlap.as_ref().map(|it| {
        let draw = |thirds: &EffectivenessPerOverlapThird| {
            let (names, measure, thirds) = (names.clone(), it.measure.clone(), thirds.clone());
            drawn(Box::new(move |width| {
                plot::draw_effectiveness_by_overlap_third(&names, &measure, &thirds, width)
            }))
        };
        (draw(&it.all_queries), draw(&it.relevant_in_pool))
    });
    let (all, in_pool) = overlap.unzip();
    let by_overlap = "Queries in thirds by the share of query terms that their relevant documents \
        contain.";
    let swapped = figures.query_overlap.iter();
    let mut swapped = swapped.flat_map(|it| it.all_queries.swapped_rows.iter().flatten());
    let by_overlap = match swapped.any(Option::is_some) {
        true => format!(
            "{by_overlap} A line across a bar: the value of a trained ranker with the text of \
             another query."
        ),
        false => by_overlap.to_owned(),
    };
    let scatter = figures.effectiveness_scatter.clone();
    let scatter = scatter.map(|it| {
        drawn(Box::new(move |width| {
            plot::draw_effectiveness_axiom_scatter(&names, &it, width)
        }))
    });
    let funnels = figures.funnels.clone();
    let funnel = drawn(Box::new(move |width| {
        plot::draw_mining_funnel(&funnels, width)
    }));
    let modes = figures.variants.clone();
    view! {
        <p class="note">
            "How candidate pairs become instances, and how the rankers compare on them."
        </p>
        <Choices figures=figures.clone() modes choice study/>
        <ExportableFigureSection
            id="funnel"
            name="From candidates to instances"
            said="Pairs that remain with the axiom as originally stated, with relaxed \
                 preconditions, and extended to queries of any length. Logarithmic scale."
            finding=findings.funnel
            drawing=Some(funnel)
            table=table("funnel")
        />
        <ExportableFigureSection
            id="preconditions"
            name="Why pairs are rejected"
            said="For each precondition: the share of candidate pairs that fail it, the share \
                 that fail only this one, and the median shortfall."
            finding=findings.preconditions
            drawing=None
            table=table("preconditions")
        />
        <ExportableFigureSection
            id="tokenization"
            name="Instances with another analyzer"
            said="Share of instances that still meet all preconditions with another analyzer."
            finding=findings.analyzers
            drawing=None
            table=table("tokenization")
        />
        <ExportableFigureSection
            id="compared"
            name="Ranker comparison"
            said="Difference between two fractions over the same instances, and whether it is \
                 distinguishable from chance."
            finding=findings.comparison
            drawing=None
            table=table("compared")
        />
        <ExportableFigureSection
            id="effectiveness"
            name="Effectiveness"
            said="Computed from the relevance judgments over the candidate pools, with \
                 significant wins marked (signed-rank test). For RR, AP and P a document of grade \
                 1 or higher is relevant."
            finding=findings.effectiveness
            drawing=None
            table=table("effectiveness")
        />
        <ExportableFigureSection
            id="overlap"
            name="Effectiveness by overlap, all queries"
            said=by_overlap
            finding=findings.overlap
            drawing=all
            table=table("overlap")
        />
        <ExportableFigureSection
            id="overlap-pool"
            name="Effectiveness by overlap, queries with a relevant candidate"
            said="The same, restricted to queries with a relevant document in the candidate pool."
            finding=findings.overlap_in_pool
            drawing=in_pool
            table=table("overlap")
        />
        <ExportableFigureSection
            id="scatter"
            name="Effectiveness and axiom agreement"
            said="Whether rankers that agree with the axioms are also more effective."
            finding=findings.scatter
            drawing=scatter
            table=table("scatter")
        />
    }
}

/// Renders the form for the options of the figures.
#[component]
fn Choices(
    figures: StudyFigures,
    modes: Vec<AxiomVariant>,
    choice: RwSignal<StudyFigureOptions>,
    study: String,
) -> impl IntoView {
    let now = figures.options.clone();
    let change = move |turn: &dyn Fn(&mut StudyFigureOptions)| {
        let mut next = choice.get_untracked();
        turn(&mut next);
        set_choice(&study, &next);
    };
    let shown = figures.variant;
    let modes_options = modes.iter().map(|&it| {
        let label = axiom_variant_label(it);
        view! { <option value=it.slug() selected=it == shown>{label}</option> }
    });
    let modes_options = modes_options.collect_view();
    let reference = figures.reference_comparison.reference as usize;
    let slugs = ranker_slugs(&figures.rankers);
    let rankers = distinct_labels(&figures).into_iter().zip(slugs).enumerate();
    let rankers = rankers.map(|(row, (label, slug))| {
        let selected = row == reference;
        view! { <option value=slug selected=selected>{label}</option> }
    });
    let rankers = rankers.collect_view();
    let measures = figures.effectiveness.iter().flat_map(|it| &it.measures);
    let measures = measures.enumerate().map(|(at, it)| {
        let selected = at == now.measure as usize;
        view! { <option value=at.to_string() selected=selected>{it.clone()}</option> }
    });
    let measures = measures.collect_view();
    let by_measure = change.clone();
    let measure = figures.effectiveness.is_some().then(|| {
        view! {
            <SelectField label="Measure" choose=move |at: String| {
                let at = at.parse().unwrap_or_default();
                by_measure(&|it| it.measure = at);
            }>{measures}</SelectField>
        }
    });
    let first = modes.first().copied();
    let by_split = change.clone();
    let splits = (!figures.splits.is_empty()).then(|| {
        let turn = move |split: Option<String>| {
            by_split(&|it| it.controls.split.clone_from(&split));
        };
        let chosen = Signal::derive(move || choice.get().controls.split);
        let splits = figures.splits.clone();
        view! { <QuerySplitSelect splits chosen turn=Callback::new(turn)/> }
    });
    let by_mode = change.clone();
    let by_ranker = change;
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="Variant" choose=move |word: String| {
                let mode = AxiomVariant::ALL.iter().copied().find(|it| it.slug() == word);
                let mode = mode.filter(|it| Some(*it) != first);
                by_mode(&|it| {
                    it.controls = StudyPageControls {
                        variant: mode,
                        ..it.controls.clone()
                    };
                });
            }>{modes_options}</SelectField>
            <SelectField label="Compare with" choose=move |slug: String| {
                by_ranker(&|it| it.reference.clone_from(&slug));
            }>{rankers}</SelectField>
            {measure}
            {splits}
        </form>
    }
}
