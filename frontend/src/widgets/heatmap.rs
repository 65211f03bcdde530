//! The heat map of a study: rankers × axioms, with effectiveness beside it, and agreement with
//! relevance and counts below. On a phone the style sheet swaps rows and columns; the reading order
//! stays the same.

mod layout;
mod legend;

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use shared::plot::diverging_color_step_of_fraction;
use shared::plot::heatmap_rows::{HeatmapCountQuantity, HeatmapRow};
use shared::probe::Probe;
use shared::report::format;
use shared::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;
use shared::study::overview::{RankerAxiomResult, RankerOverviewRow, StudyOverview};

use crate::first_paint::InOwnTask;
use crate::keyboard;
use crate::location::show_element_below_the_fold;
use crate::number_format::format_count_with_noun;
use crate::widgets::term::{GlossaryTerm, explains};
use layout::{
    HeatMapGridTrack, HeatMapGridTrackContent, MAX_PHONE_RANKERS, grid_column_of_measure,
    grid_column_of_probe, probe_family_column_spans,
};
use legend::HeatMapLegend;

pub(crate) use layout::{grid_place_for_key, probe_family_name};
pub(crate) use legend::HeatMapPlaceholder;

/// A position on the heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeatMapPosition {
    /// The row of the cell.
    pub(crate) row: RankerOrRelevanceRow,
    /// The column of the cell.
    pub(crate) probe: Probe,
}

/// The row of a heat-map cell: a ranker, or relevance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankerOrRelevanceRow {
    /// A ranker, by its row counted from 0.
    Ranker(usize),
    /// The agreement of the axiom with the relevance judgments.
    Relevance,
}

impl HeatMapPosition {
    /// Returns the column of this position in an overview.
    pub(crate) fn column_in_overview(self, overview: &StudyOverview) -> Option<usize> {
        overview
            .columns
            .iter()
            .position(|it| it.probe == self.probe)
    }

    /// Returns the cell of an overview at this position.
    pub(crate) fn cell_in_overview(self, overview: &StudyOverview) -> Option<&RankerAxiomResult> {
        let column = self.column_in_overview(overview)?;
        match self.row {
            RankerOrRelevanceRow::Ranker(row) => {
                overview.rows.get(row)?.cells.get(column)?.as_ref()
            }
            RankerOrRelevanceRow::Relevance => overview.columns[column].qrels_cell.as_ref(),
        }
    }

    /// Returns the name of the row.
    pub(crate) fn row_name(self, overview: &StudyOverview) -> String {
        match self.row {
            RankerOrRelevanceRow::Ranker(row) => {
                let row = overview.rows.get(row);
                row.map_or(String::new(), |it| it.ranker.label.clone())
            }
            RankerOrRelevanceRow::Relevance => "Relevance".to_owned(),
        }
    }
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq)]
enum CellState {
    /// The cell has a fraction.
    Known(RankerAxiomResult),
    /// The axiom has no instance in this study.
    Undefined,
    /// There are instances, but none has all its scores.
    Failed,
}

impl CellState {
    fn for_position(overview: &StudyOverview, spot: HeatMapPosition) -> CellState {
        if let Some(cell) = spot.cell_in_overview(overview) {
            return CellState::Known(cell.clone());
        }
        let column = spot
            .column_in_overview(overview)
            .and_then(|it| overview.columns.get(it));
        let n = column.map_or(0, |it| it.n_instances);
        let RankerOrRelevanceRow::Ranker(row) = spot.row else {
            return CellState::Undefined;
        };
        let n_missing = overview.rows.get(row).map_or(0, |it| it.n_unscored);
        if n > 0 && n_missing > 0 {
            CellState::Failed
        } else {
            CellState::Undefined
        }
    }

    fn number(&self) -> String {
        match self {
            CellState::Known(cell) => format::format_two_digit_fraction(cell.micro_average.value),
            CellState::Undefined => format::MISSING.to_owned(),
            CellState::Failed => "✕".to_owned(),
        }
    }

    fn step(&self) -> Option<String> {
        match self {
            CellState::Known(cell) => {
                Some(diverging_color_step_of_fraction(cell.micro_average.value).to_string())
            }
            CellState::Undefined | CellState::Failed => None,
        }
    }

    fn is_chance(&self) -> bool {
        matches!(self, CellState::Known(cell) if cell.p_holm >= FAMILY_WISE_ERROR_RATE)
    }

    fn is_incomplete(&self) -> bool {
        matches!(self, CellState::Known(cell) if cell.tally.unscored > 0)
    }

    /// Returns the full description of the cell for screen readers.
    fn cell_description(&self, who: &str, probe: &str) -> String {
        match self {
            CellState::Known(cell) => said(who, probe, cell),
            CellState::Undefined => format!("{who}, {probe}: no instances"),
            CellState::Failed => format!("{who}, {probe}: no instance has all its scores"),
        }
    }
}

fn said(who: &str, probe: &str, cell: &RankerAxiomResult) -> String {
    let [low, high] = cell
        .micro_average
        .interval
        .map(format::format_two_digit_fraction);
    let mut said = format!(
        "{who}, {probe}: {} satisfied, 95 % interval {low} to {high}, {} instances of {} queries",
        format::format_two_digit_fraction(cell.micro_average.value),
        format::format_count(cell.tally.n_with_verdict()),
        format::format_count(cell.n_queries),
    );
    if cell.tally.unscored > 0 {
        said += &format!(", {} unscored", format::format_count(cell.tally.unscored));
    }
    if cell.p_holm >= FAMILY_WISE_ERROR_RATE {
        said += ", not distinguishable from chance";
    }
    said
}

/// The state that the parts of the map share.
#[derive(Clone, Copy)]
struct HeatMapState {
    overview: Signal<Arc<StudyOverview>>,
    selected: Signal<HeatMapPosition>,
    /// The cell that has the focus, or gets it with the Tab key.
    current: RwSignal<HeatMapPosition>,
    focus: Callback<HeatMapPosition>,
    href: Callback<HeatMapPosition, Option<String>>,
}

/// Renders the heat map with its legend. Rows and columns are those of `frame`, numbers those of
/// `overview`, so that the focus stays in place when a control changes.
#[component]
pub(crate) fn HeatMap(
    /// The overview with the rows and columns.
    frame: Arc<StudyOverview>,
    /// The overview with the numbers.
    #[prop(into)]
    overview: Signal<Arc<StudyOverview>>,
    /// The cell that the side panel shows.
    #[prop(into)]
    selected: Signal<HeatMapPosition>,
    /// Called when a cell gets the focus.
    focus: Callback<HeatMapPosition>,
    /// Returns the address that a cell links to.
    href: Callback<HeatMapPosition, Option<String>>,
    /// Whether new numbers are loading.
    #[prop(into)]
    busy: Signal<bool>,
) -> impl IntoView {
    let current = RwSignal::new(selected.get_untracked());
    Effect::new(move |_| current.set(selected.get()));
    let map = HeatMapState {
        overview,
        selected,
        current,
        focus,
        href,
    };
    let lines = layout::heat_map_row_tracks(&frame);
    let grid = layout::ranker_and_relevance_rows(&lines)
        .into_iter()
        .map(|who| {
            let columns = frame.columns.iter().map(|it| it.probe);
            columns
                .map(|probe| Some(HeatMapPosition { row: who, probe }))
                .collect()
        });
    let grid: Vec<Vec<Option<HeatMapPosition>>> = grid.collect();
    let [wide, turned_columns, turned_rows] = layout::css_grid_templates(&frame, &lines);
    let on_key = move |event: ev::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        if let Some(next) = grid_place_for_key(&grid, current.get_untracked(), &event.key()) {
            event.prevent_default();
            current.set(next);
            focus_on(next);
        }
    };
    let parts = lines.into_iter().map(|it| {
        let frame = frame.clone();
        view! { <InOwnTask><TrackView line=it frame map/></InOwnTask> }
    });
    let parts = parts.collect_view();
    let n_hidden = frame.rows.len().saturating_sub(MAX_PHONE_RANKERS);
    let more = (n_hidden > 0).then(|| {
        let more = format_count_with_noun(n_hidden as u64, "more ranker", "more rankers");
        view! { <p class="note narrow-only">{format!("The table has {more}.")}</p> }
    });
    view! {
        <div
            class="map by"
            class:stale=move || busy.get()
            role="grid"
            aria-label="Fraction of instances on which each ranker agrees with the axiom"
            aria-describedby="map-key"
            aria-busy=move || busy.get().to_string()
            style=("--wide", wide)
            style=("--turned-columns", turned_columns)
            style=("--turned-rows", turned_rows)
            on:keydown=on_key
        >
            {parts}
        </div>
        {more}
        <HeatMapLegend overview/>
    }
}

fn id(spot: HeatMapPosition) -> String {
    match spot.row {
        RankerOrRelevanceRow::Ranker(row) => format!("cell-{row}-{}", spot.probe.slug()),
        RankerOrRelevanceRow::Relevance => format!("cell-relevance-{}", spot.probe.slug()),
    }
}

fn focus_on(spot: HeatMapPosition) {
    keyboard::focus_element_with_id(&id(spot));
}

#[component]
fn TrackView(
    line: HeatMapGridTrack,
    frame: Arc<StudyOverview>,
    map: HeatMapState,
) -> impl IntoView {
    let at = line.index.to_string();
    match line.content {
        HeatMapGridTrackContent::Families => view! {
            <div role="row" class="wide-only" style=("--r", at)><FamilyHeadings frame/></div>
        }
        .into_any(),
        HeatMapGridTrackContent::Heads => {
            view! { <div role="row" style=("--r", at)><ColumnHeadings frame/></div> }.into_any()
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Group(name)) => view! {
            <div role="row" class="wide-only" style=("--r", at)>
                <span role="rowheader" class="rows" style=("--c", "1/-1")>{name}</span>
            </div>
        }
        .into_any(),
        HeatMapGridTrackContent::Row(HeatmapRow::Ranker(row)) => {
            let class = if row >= MAX_PHONE_RANKERS {
                "wide-only"
            } else {
                ""
            };
            let who = RankerOrRelevanceRow::Ranker(row);
            view! { <div role="row" class=class style=("--r", at)><RowCells who frame map/></div> }
                .into_any()
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Relevance) => {
            let who = RankerOrRelevanceRow::Relevance;
            view! { <div role="row" class="" style=("--r", at)><RowCells who frame map/></div> }
                .into_any()
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Count(count)) => view! {
            <div role="row" class="wide-only" style=("--r", at)><CountRow count frame map/></div>
        }
        .into_any(),
    }
}

/// Renders the headings of groups of columns.
#[component]
fn FamilyHeadings(frame: Arc<StudyOverview>) -> impl IntoView {
    let mut all = probe_family_column_spans(&frame);
    if !frame.measures.is_empty() {
        all.push((
            "Effectiveness",
            grid_column_of_measure(&frame, 0),
            frame.measures.len(),
        ));
    }
    let all = all.into_iter().map(|(name, at, n)| {
        let place = format!("{at} / span {n}");
        view! { <span role="columnheader" class="family" style=("--c", place)>{name}</span> }
    });
    all.collect_view()
}

/// Renders the headings of the columns.
#[component]
fn ColumnHeadings(frame: Arc<StudyOverview>) -> impl IntoView {
    let axioms = frame.columns.iter().enumerate().map(|(at, column)| {
        let about = column.probe.probe_description();
        view! {
            <span
                role="columnheader"
                class="axiom"
                aria-description=about.statement
                style=("--c", grid_column_of_probe(&frame, at).to_string())
                {..explains(GlossaryTerm::of_probe(column.probe))}
            >
                <b class="term">{column.probe.name()}</b>
                <span>{about.short_title}</span>
            </span>
        }
    });
    let axioms = axioms.collect_view();
    let measures = frame.measures.iter().enumerate().map(|(at, measure)| {
        let (name, cut) = match measure.split_once('@') {
            Some((name, cut)) => (name.to_owned(), format!("at {cut}")),
            None => (measure.clone(), String::new()),
        };
        let place = grid_column_of_measure(&frame, at).to_string();
        let term = GlossaryTerm::of_measure(measure);
        view! {
            <span
                role="columnheader"
                class="axiom of"
                aria-description=term.map(GlossaryTerm::definition)
                style=("--c", place)
                {..explains(term)}
            >
                <b class:term=term.is_some()>{name}</b>
                <span>{cut}</span>
            </span>
        }
    });
    let measures = measures.collect_view();
    view! {
        <span role="columnheader" style=("--c", "1")><span class="unseen">"Ranker"</span></span>
        {axioms}
        {measures}
    }
}

/// Renders a row of cells, with the effectiveness of its ranker.
#[component]
fn RowCells(
    who: RankerOrRelevanceRow,
    frame: Arc<StudyOverview>,
    map: HeatMapState,
) -> impl IntoView {
    let ranker = match who {
        RankerOrRelevanceRow::Ranker(row) => frame.rows.get(row),
        RankerOrRelevanceRow::Relevance => None,
    };
    let (name, detail, note) = match ranker {
        Some(it) => (
            it.ranker.label.clone(),
            it.ranker.detail.clone(),
            it.ranker.note.clone(),
        ),
        None => (
            "Relevance".to_owned(),
            "qrels, where grades differ".to_owned(),
            None,
        ),
    };
    // There is no space for a long name or description beside the cells.
    let described = match detail.is_empty() {
        true => name.clone(),
        false => format!("{name}, {detail}"),
    };
    let note = match note {
        Some(note) => format!("{described}. {note}"),
        None => described,
    };
    let cells = frame.columns.iter().enumerate().map(|(at, column)| {
        let spot = HeatMapPosition {
            row: who,
            probe: column.probe,
        };
        let place = grid_column_of_probe(&frame, at);
        view! { <MapCell spot place name=name.clone() map/> }
    });
    let cells = cells.collect_view();
    let measures = ranker.map(|it| measures(&frame, it)).unwrap_or_default();
    let measures = measures.into_iter().map(|it| {
        let two_digits = |value: Option<f64>| {
            value.map_or(
                format::MISSING.to_owned(),
                format::format_two_digit_fraction,
            )
        };
        let swapped = it.swapped.map(|value| {
            view! {
                <small class="swapped" title="with the text of another query">
                    <span class="unseen">"with the text of another query "</span>
                    {two_digits(Some(value))}
                </small>
            }
        });
        let length = format!("{:.3}", it.value.unwrap_or(0.0));
        view! {
            <span
                role="gridcell"
                class=it.class
                style=("--c", it.place.to_string())
                style=("--v", length)
            >
                {two_digits(it.value)}
                {swapped}
            </span>
        }
    });
    let measures = measures.collect_view();
    view! {
        <div role="rowheader" class="ranker" style=("--c", "1") title=note>
            {name} <span>{detail}</span>
        </div>
        {cells}
        {measures}
    }
}

/// The effectiveness of a ranker by one measure.
struct EffectivenessGridCell {
    /// The column of the grid.
    place: usize,
    class: &'static str,
    value: Option<f64>,
    /// The value of a trained ranker that reads the text of another query.
    swapped: Option<f64>,
}

/// Returns the effectiveness of a ranker by each measure; the best value of a column is bold.
fn measures(frame: &StudyOverview, row: &RankerOverviewRow) -> Vec<EffectivenessGridCell> {
    let values = row.effectiveness.iter().enumerate().map(|(at, &value)| {
        let all = frame
            .rows
            .iter()
            .filter_map(|it| it.effectiveness.get(at).copied().flatten());
        let best = all.fold(f64::NEG_INFINITY, f64::max);
        let class = match value {
            Some(value) if value >= best && frame.rows.len() > 1 => "metric best",
            Some(_) => "metric",
            None => "plain",
        };
        let training = row.training.as_ref();
        EffectivenessGridCell {
            place: grid_column_of_measure(frame, at),
            class,
            value,
            swapped: training.and_then(|it| *it.swapped_effectiveness.get(at)?),
        }
    });
    values.collect()
}

/// Renders the fraction and its interval, as a link to the instances.
#[component]
fn MapCell(spot: HeatMapPosition, place: usize, name: String, map: HeatMapState) -> impl IntoView {
    let state = Memo::new(move |_| CellState::for_position(&map.overview.read(), spot));
    let probe = spot.probe.name();
    // A click on a cell selects it, and a click on the selected cell opens it; Enter opens it at
    // once.
    let was_selected = StoredValue::new(false);
    let on_click = move |event: ev::MouseEvent| {
        let by_key = event.detail() == 0;
        let apart = event.ctrl_key() || event.meta_key() || event.shift_key();
        if !by_key && !apart && !was_selected.get_value() {
            event.prevent_default();
            // Some browsers do not focus a link when it is clicked.
            map.current.set(spot);
            map.focus.run(spot);
            show_element_below_the_fold(".study .panel");
        }
    };
    let whisker = move || {
        state.with(|it| match it {
            CellState::Known(cell) => {
                let [low, high] = cell.micro_average.interval.map(|it| format!("{it:.3}"));
                let value = format!("{:.3}", cell.micro_average.value);
                Some(view! {
                    <i
                        class="whisker"
                        style=("--v", value)
                        style=("--lo", low)
                        style=("--hi", high)
                    ></i>
                })
            }
            CellState::Undefined | CellState::Failed => None,
        })
    };
    view! {
        <div
            role="gridcell"
            style=("--c", place.to_string())
            aria-selected=move || (map.selected.get() == spot).to_string()
        >
        <a
            id=id(spot)
            class="cell"
            class:chance=move || state.with(CellState::is_chance)
            class:part=move || state.with(CellState::is_incomplete)
            class:none=move || state.with(|it| it.step().is_none())
            data-step=move || state.with(CellState::step)
            href=move || map.href.run(spot)
            tabindex=move || if map.current.get() == spot { "0" } else { "-1" }
            aria-label=move || state.with(|it| it.cell_description(&name, &probe))
            on:focus=move |_| {
                map.current.set(spot);
                map.focus.run(spot);
            }
            on:pointerdown=move |_| was_selected.set_value(map.selected.get_untracked() == spot)
            on:click=on_click
        >
            {move || state.with(CellState::number)}
            {whisker}
        </a>
        </div>
    }
}

/// Renders a row of counts.
#[component]
fn CountRow(
    count: HeatmapCountQuantity,
    frame: Arc<StudyOverview>,
    map: HeatMapState,
) -> impl IntoView {
    let term = (count == HeatmapCountQuantity::Instances).then_some(GlossaryTerm::Instance);
    let cells = (0..frame.columns.len()).map(|at| {
        let shown = move || {
            let overview = map.overview.read();
            overview
                .columns
                .get(at)
                .map(|it| count.format_column_count(it))
        };
        let place = grid_column_of_probe(&frame, at).to_string();
        view! { <span role="gridcell" class="plain" style=("--c", place)>{shown}</span> }
    });
    let cells = cells.collect_view();
    view! {
        <div
            role="rowheader"
            class="ranker"
            class:term=term.is_some()
            aria-description=term.map(GlossaryTerm::definition)
            style=("--c", "1")
            {..explains(term)}
        >
            {count.name()}
        </div>
        {cells}
    }
}
