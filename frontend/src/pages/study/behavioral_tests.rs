//! The behavioral tests of a study: which of two documents each ranker prefers, where neither is
//! the right answer. The kinds are measure and match, manipulations and dataset transfer.

mod grid;
mod layout;
mod panel;
mod state;
mod tie_threshold;

use leptos::prelude::*;
use shared::api::GetBehavioralTestsRequest;
use shared::probe::Probe;
use shared::report::{self, format};
use shared::study::behavioral_tests::{
    BehavioralTestOptions, BehavioralTestResults, RelevanceSlice,
};

use super::address::BehavioralTestsView;
use crate::api::latest_reply::ReactiveRequest;
use crate::widgets::controls::QuerySplitSelect;
use crate::widgets::download;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::form::RadioButton;
use crate::widgets::section::Section;
use grid::EffectGrid;
use layout::BehavioralTestKind;
use panel::EffectDetails;
use state::{BehavioralTestsState, EffectCell};
use tie_threshold::ThresholdControl;

/// Renders the section on behavioral tests.
#[component]
pub(crate) fn BehavioralTests(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let page = crate::pages::page_state::AddressEncodedPageState::following_address(
        study,
        BehavioralTestsView::from_address,
        BehavioralTestsView::href,
    );
    let view = page.view;
    let latest = ReactiveRequest::send_on_change(move || {
        let view = view.get();
        GetBehavioralTestsRequest {
            study: page.study.get_value(),
            options: BehavioralTestOptions {
                split: view.controls.split,
                tie_threshold: view.tie_threshold,
                min_relevant_grade: None,
            },
        }
    });
    let retry = Callback::new(move |()| latest.refetch());
    let (latest, failed, busy) = (latest.reply, latest.error, latest.is_pending);
    // The section is built once; after that, every number updates by itself.
    let is_here = Memo::new(move |_| latest.get().is_some());
    let body = move || match is_here.get().then(|| latest.get_untracked()).flatten() {
        None => failed.get().is_none().then(|| {
            view! { <p class="note waits" role="status">"Counting samples"</p> }.into_any()
        }),
        Some(first) => {
            let found = Memo::new(move |_| latest.get().unwrap_or_else(|| first.clone()));
            let selected = Memo::new(move |_| selected_cell(&found.read(), &view.read()));
            let scene = BehavioralTestsState {
                page,
                results: found,
                selected,
            };
            Some(view! { <BehavioralTestSections scene busy/> }.into_any())
        }
    };
    let csv = Callback::new(move |()| {
        let Some(found) = latest.get_untracked() else {
            return;
        };
        let tables = report::behavioral_test_tables(&found);
        if let Some(effects) = tables.iter().find(|it| it.name == "effects") {
            let name = format!("{}-effects.csv", found.name);
            download::offer_text_download(&name, "text/csv", &report::table_to_csv(effects));
        }
    });
    view! {
        <Section
            id="behaviours"
            name="Behavioral tests"
            class="section behaviours"
            note="Which of two documents each ranker prefers. There is no right answer. The \
                 effect is the share of samples with a positive difference minus the share with \
                 a negative one."
            header=move || view! { <FigureExportButtons of="behavioral tests" csv/> }
        >
            <OptionalErrorMessage error=failed retry/>
            {body}
        </Section>
    }
}

/// Returns the cell of the address if there is one, or else the first.
fn selected_cell(
    found: &BehavioralTestResults,
    wanted: &BehavioralTestsView,
) -> Option<EffectCell> {
    let spots = || {
        BehavioralTestKind::ALL.iter().flat_map(|part| {
            let grid = part.layout(found, wanted);
            grid.effect_cells().collect::<Vec<EffectCell>>()
        })
    };
    let cell = wanted.cell.as_ref();
    let cell = cell.and_then(|it| Some((it.probe, layout::ranker_row(found, &it.ranker)?)));
    let is_wanted = |it: &EffectCell| Some((it.probe, it.ranker)) == cell;
    spots().find(is_wanted).or_else(|| spots().next())
}

/// Renders the sections, once there are numbers.
#[component]
fn BehavioralTestSections(
    scene: BehavioralTestsState,
    #[prop(into)] busy: Signal<bool>,
) -> impl IntoView {
    if scene.results.with_untracked(|it| it.rankers.is_empty()) {
        let said = "No ranker has scored these samples yet.";
        return view! { <p class="ahead">{said}</p> }.into_any();
    }
    let settled = Signal::derive(move || scene.page.view.get().tie_threshold);
    let settle = Callback::new(move |delta| scene.page.update(|it| it.tie_threshold = delta));
    let splits = scene.results.with_untracked(|it| it.splits.clone());
    let splits = (!splits.is_empty()).then(|| {
        let chosen = Signal::derive(move || scene.page.view.get().controls.split);
        let turn = Callback::new(move |split| scene.page.update(|it| it.controls.split = split));
        view! { <QuerySplitSelect splits chosen turn/> }
    });
    let parts = BehavioralTestKind::ALL.iter().filter(|part| {
        let found = scene.results.read_untracked();
        found.rows.iter().any(|row| part.includes(row.probe))
    });
    let parts = parts.map(|&part| view! { <TestKindSection part scene/> });
    let parts = parts.collect_view();
    view! {
        <div class="bar" role="group" aria-label="Controls">
            <ThresholdControl settled settle/>
            {splits}
        </div>
        <div class:stale=busy aria-busy=move || busy.get().to_string()>
            <Legend scene/>
            {parts}
        </div>
    }
    .into_any()
}

/// Renders how to read a cell.
#[component]
fn Legend(scene: BehavioralTestsState) -> impl IntoView {
    let steps = (-5..=5).map(|it: i8| view! { <i data-step=it.to_string()></i> });
    let steps = steps.collect_view();
    let n_tests = move || format::format_count(scene.results.read().n_tests);
    view! {
        <div class="scale" id="effects-key">
            <div class="steps" aria-hidden="true">
                {steps} <span>"−1 negative"</span> <span>"0"</span> <span>"positive 1"</span>
            </div>
            <details class="effects-key">
                <summary>"Marks: * significant, † disputed; ε tie threshold"</summary>
                <ul>
                <li>
                    <b>"*"</b>
                    " significant: the mean difference is not 0 by a paired t test over \
                     samples, p < .001 with Bonferroni correction over "
                    {n_tests}
                    " tests"
                </li>
                <li>
                    <b>"†"</b>
                    " disputed: this test (over samples) and the 95 % interval (over queries) \
                     disagree on whether there is an effect"
                </li>
                <li>
                    <b>"ε"</b>
                    " scores that differ by at most ε are neutral; tuned: the median difference \
                     of adjacent scores in a ranker's top 10"
                </li>
                </ul>
            </details>
        </div>
    }
}

/// Renders one kind of behavioral test: its table, and beside it the details of the selected cell.
#[component]
fn TestKindSection(part: BehavioralTestKind, scene: BehavioralTestsState) -> impl IntoView {
    let layout = Memo::new(move |_| part.layout(&scene.results.read(), &scene.page.view.read()));
    let dial = match part {
        BehavioralTestKind::MeasureAndMatch => view! { <RankerSwitch scene/> }.into_any(),
        BehavioralTestKind::Manipulation => view! { <DocumentSlice scene/> }.into_any(),
        BehavioralTestKind::DatasetTransfer => ().into_any(),
    };
    let own = Memo::new(move |_| scene.selected.get().filter(|it| part.includes(it.probe)));
    let finding = move || {
        let found = scene.results.read();
        let finding = report::behavioral_test_finding(&found, |it| part.includes(it));
        finding.map(|it| view! { <p class="finding">{it}</p> })
    };
    let details = move || own.get().map(|spot| view! { <EffectDetails spot scene/> });
    view! {
        <div class="study">
            <div>
                <figure>
                    <figcaption>
                        <p>
                            <strong>{part.name()} "."</strong>
                            " "
                            {part.description()}
                        </p>
                        {dial}
                    </figcaption>
                    {finding}
                    <EffectGrid name=part.name() layout scene/>
                </figure>
            </div>
            {details}
        </div>
    }
}

/// Renders the choice of the ranker in the matrix.
#[component]
fn RankerSwitch(scene: BehavioralTestsState) -> impl IntoView {
    let found = scene.results.get_untracked();
    let options = found.rankers.iter().enumerate().map(|(row, asked)| {
        let selected = move || {
            let wanted = scene.page.view.read().ranker.clone();
            let wanted = wanted.and_then(|it| layout::ranker_row(&scene.results.read(), &it));
            wanted.unwrap_or(0) == row
        };
        let name = [asked.ranker.label.clone(), asked.ranker.detail.clone()];
        let name = name.join(" ").trim_end().to_owned();
        view! { <option selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let turn = move |event: leptos::ev::Targeted<leptos::ev::Event, web_sys::HtmlSelectElement>| {
        let Ok(row) = usize::try_from(event.target().selected_index()) else {
            return;
        };
        let slug = scene.slug(row);
        scene.page.update(|it| {
            // The selected cell stays in place, but now belongs to the other ranker.
            if let Some(cell) = &mut it.cell
                && matches!(cell.probe, Probe::MeasureAndMatch(_))
            {
                cell.ranker = slug.clone();
            }
            // The first is the default.
            it.ranker = (row > 0).then_some(slug);
        });
    };
    view! {
        <label class="dial">
            <span class="label">"Ranker"</span>
            <select on:change:target=turn>{options}</select>
        </label>
    }
}

/// Renders the choice of the documents whose manipulations are shown.
#[component]
fn DocumentSlice(scene: BehavioralTestsState) -> impl IntoView {
    let all = [
        RelevanceSlice::All,
        RelevanceSlice::Relevant,
        RelevanceSlice::NotRelevant,
    ];
    let slices = all.map(|slice| {
        let checked = move || scene.page.view.read().slice == slice;
        view! {
            <RadioButton
                group="slice"
                chosen=checked
                choose=move || scene.page.update(|it| it.slice = slice)
            >
                {slice.name()}
            </RadioButton>
        }
    });
    let from = move || {
        let from = scene.results.read().min_relevant_grade;
        format!("A document of grade {from} or higher is relevant.")
    };
    view! {
        <span class="choice" role="radiogroup" aria-label="Documents" title=from>{slices}</span>
    }
}
