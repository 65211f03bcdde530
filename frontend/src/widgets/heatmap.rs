//! The heat map of a study: rankers × axioms, effectiveness beside it, agreement with
//! relevance and counts below. On a phone the sheet turns it; the reading order stays.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use shared::plot::step_of_fraction;
use shared::probe::Axiom;
use shared::report::format;
use shared::score::RankerKind;
use shared::stats::correction::LEVEL;
use shared::study::overview::{Cell, Column, Overview, Row};
use wasm_bindgen::JsCast;

/// A place on the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Row.
    pub(crate) who: Who,
    /// Column.
    pub(crate) axiom: Axiom,
}

/// Whose row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// A ranker, counted from 0.
    Ranker(usize),
    /// Agreement of the axiom with the judgements.
    Relevance,
}

impl Spot {
    /// The column of an overview.
    pub(crate) fn column(self, overview: &Overview) -> Option<usize> {
        overview.probes.iter().position(|it| it.axiom == self.axiom)
    }

    /// What an overview knows of this place.
    pub(crate) fn cell(self, overview: &Overview) -> Option<&Cell> {
        let column = self.column(overview)?;
        match self.who {
            Who::Ranker(row) => overview.rankers.get(row)?.cells.get(column)?.as_ref(),
            Who::Relevance => overview.probes[column].relevance.as_ref(),
        }
    }

    /// The name of the row.
    pub(crate) fn name(self, overview: &Overview) -> String {
        match self.who {
            Who::Ranker(row) => {
                let row = overview.rankers.get(row);
                row.map_or(String::new(), |it| it.ranker.label.clone())
            }
            Who::Relevance => "Relevance".to_owned(),
        }
    }
}

/// What a cell shows.
#[derive(Debug, Clone, PartialEq)]
enum State {
    /// A fraction.
    Known(Cell),
    /// The axiom has no instance here.
    Undefined,
    /// It has, but none has all its scores.
    Failed,
}

impl State {
    fn of(overview: &Overview, spot: Spot) -> State {
        if let Some(cell) = spot.cell(overview) {
            return State::Known(cell.clone());
        }
        let column = spot.column(overview).and_then(|it| overview.probes.get(it));
        let n = column.map_or(0, |it| it.n_instances);
        let Who::Ranker(row) = spot.who else {
            return State::Undefined;
        };
        let n_missing = overview.rankers.get(row).map_or(0, |it| it.n_missing);
        if n > 0 && n_missing > 0 {
            State::Failed
        } else {
            State::Undefined
        }
    }

    fn number(&self) -> String {
        match self {
            State::Known(cell) => format::fraction_within(cell.micro.value, cell.micro.interval),
            State::Undefined => format::MISSING.to_owned(),
            State::Failed => "✕".to_owned(),
        }
    }

    fn step(&self) -> Option<String> {
        match self {
            State::Known(cell) => Some(step_of_fraction(cell.micro.value).to_string()),
            State::Undefined | State::Failed => None,
        }
    }

    fn is_chance(&self) -> bool {
        matches!(self, State::Known(cell) if cell.p_holm >= LEVEL)
    }

    fn is_part(&self) -> bool {
        matches!(self, State::Known(cell) if cell.tally.unscored > 0)
    }

    /// Everything, for those who do not see the cell.
    fn said(&self, who: &str, axiom: &str) -> String {
        match self {
            State::Known(cell) => said(who, axiom, cell),
            State::Undefined => format!("{who}, {axiom}: no instance, so not defined"),
            State::Failed => format!("{who}, {axiom}: no instance has all its scores"),
        }
    }
}

fn said(who: &str, axiom: &str, cell: &Cell) -> String {
    let [low, high] = cell.micro.interval.map(format::fraction);
    let mut said = format!(
        "{who}, {axiom}: {} satisfied, 95 % interval {low} to {high}, {} instances of {} queries",
        format::fraction_within(cell.micro.value, cell.micro.interval),
        format::count(cell.tally.judged()),
        format::count(cell.n_queries),
    );
    if cell.tally.unscored > 0 {
        said += &format!(", {} without a score", format::count(cell.tally.unscored));
    }
    if cell.p_holm >= LEVEL {
        said += ", not told apart from chance";
    }
    said
}

/// What the parts of the map share.
#[derive(Clone, Copy)]
struct Map {
    overview: Signal<Arc<Overview>>,
    selected: Signal<Spot>,
    /// Where the focus is or would be: the one tab stop.
    current: RwSignal<Spot>,
    focus: Callback<Spot>,
    href: Callback<Spot, Option<String>>,
}

/// The map with its legend. Rows and columns are those of `frame`, numbers those of
/// `overview`, so that the focus stays where it is when a dial is turned.
#[component]
pub(crate) fn HeatMap(
    /// Its rows and columns.
    frame: Arc<Overview>,
    /// Its numbers.
    #[prop(into)]
    overview: Signal<Arc<Overview>>,
    /// The cell of the side panel.
    #[prop(into)]
    selected: Signal<Spot>,
    /// A cell has got the focus.
    focus: Callback<Spot>,
    /// Where a cell leads.
    href: Callback<Spot, Option<String>>,
    /// Whether new numbers are on their way.
    #[prop(into)]
    busy: Signal<bool>,
) -> impl IntoView {
    let current = RwSignal::new(selected.get_untracked());
    Effect::new(move |_| current.set(selected.get()));
    let map = Map {
        overview,
        selected,
        current,
        focus,
        href,
    };
    let layout = Layout::of(&frame);
    let tracks = layout.tracks;
    let axioms: Vec<Axiom> = frame.probes.iter().map(|it| it.axiom).collect();
    let rows = layout.whos();
    let on_key = move |event: ev::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        if let Some(next) = step(current.get_untracked(), &event.key(), &rows, &axioms) {
            event.prevent_default();
            current.set(next);
            focus_on(next);
        }
    };
    let parts = layout.lines.into_iter().map(|it| {
        let frame = frame.clone();
        view! { <Line line=it frame map/> }
    });
    let parts = parts.collect_view();
    let n_hidden = frame.rankers.len().saturating_sub(ON_PHONE);
    let more = (n_hidden > 0).then(|| {
        let n = format::count(n_hidden as u64);
        view! { <p class="note narrow-only">{format!("{n} more rankers stand in the table.")}</p> }
    });
    view! {
        <div
            class="map by"
            class:stale=move || busy.get()
            role="grid"
            aria-label="Fraction of instances that each ranker orders as the axiom says"
            aria-describedby="map-key"
            aria-busy=move || busy.get().to_string()
            style=("--wide", tracks.wide)
            style=("--turned-columns", tracks.turned_columns)
            style=("--turned-rows", tracks.turned_rows)
            on:keydown=on_key
        >
            {parts}
        </div>
        {more}
        <Legend overview/>
    }
}

/// Rankers that a phone has room for.
const ON_PHONE: usize = 7;

/// One row of the grid.
#[derive(Debug, Clone, PartialEq)]
struct GridLine {
    /// Its row on a wide screen, its column on a phone, counted from 1.
    at: usize,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Families,
    Heads,
    Group(&'static str),
    Cells(Who),
    Count(Count),
}

/// A row of counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Count {
    Instances,
    Relevant,
    BothOrders,
    Sampled,
}

impl Count {
    fn name(self) -> &'static str {
        match self {
            Count::Instances => "Instances",
            Count::Relevant => "with a relevant text",
            Count::BothOrders => "in both orders",
            Count::Sampled => "share kept by the cap",
        }
    }

    fn of(self, column: &Column) -> String {
        match self {
            Count::Instances => format::count(column.n_instances),
            Count::Relevant => format::count(column.n_relevant),
            Count::BothOrders => format::count(column.n_both_orders),
            Count::Sampled => format::fraction(column.sampled),
        }
    }
}

/// Where everything stands.
struct Layout {
    lines: Vec<GridLine>,
    tracks: Tracks,
}

/// Columns and rows of the grid, for the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tracks {
    wide: String,
    turned_columns: String,
    turned_rows: String,
}

impl Layout {
    fn of(frame: &Overview) -> Layout {
        let mut whats = vec![What::Families, What::Heads];
        for (kind, name) in [
            (RankerKind::Lexical, "Lexical"),
            (RankerKind::Neural, "Neural"),
            (RankerKind::File, "Scores that were brought"),
        ] {
            let rows = frame.rankers.iter().enumerate();
            let rows = rows.filter(|it| it.1.ranker.kind == kind);
            let rows: Vec<What> = rows.map(|it| What::Cells(Who::Ranker(it.0))).collect();
            if !rows.is_empty() {
                whats.push(What::Group(name));
                whats.extend(rows);
            }
        }
        if frame.probes.iter().any(|it| it.relevance.is_some()) {
            whats.push(What::Group("The axiom itself agrees with"));
            whats.push(What::Cells(Who::Relevance));
        }
        whats.push(What::Group("Counts"));
        whats.extend([Count::Instances, Count::Relevant].map(What::Count));
        if frame.probes.iter().any(|it| it.n_both_orders > 0) {
            whats.push(What::Count(Count::BothOrders));
        }
        if frame.probes.iter().any(|it| it.sampled < 1.0) {
            whats.push(What::Count(Count::Sampled));
        }
        let lines = whats.into_iter().enumerate();
        let lines: Vec<GridLine> = lines
            .map(|(at, what)| GridLine { at: at + 1, what })
            .collect();
        let tracks = Tracks::of(frame, &lines);
        Layout { lines, tracks }
    }

    /// Rows with cells, from the top.
    fn whos(&self) -> Vec<Who> {
        let cells = self.lines.iter().filter_map(|it| match it.what {
            What::Cells(who) => Some(who),
            What::Families | What::Heads | What::Group(_) | What::Count(_) => None,
        });
        cells.collect()
    }
}

impl Tracks {
    fn of(frame: &Overview, lines: &[GridLine]) -> Tracks {
        let mut wide = "minmax(124px, 1fr)".to_owned();
        let mut turned_rows = "auto".to_owned();
        for (at, column) in frame.probes.iter().enumerate() {
            let parts = at > 0 && family(frame.probes[at - 1].axiom) != family(column.axiom);
            if parts {
                wide += " 6px";
                turned_rows += " 4px";
            }
            wide += " var(--w)";
            turned_rows += " 38px";
        }
        if !frame.measures.is_empty() {
            wide += " 18px";
            turned_rows += " 10px";
            for _ in &frame.measures {
                wide += " minmax(40px, 58px)";
                turned_rows += " 34px";
            }
        }
        let mut groups = 0;
        let turned = lines.iter().map(|it| match it.what {
            What::Families => "0",
            What::Heads => "minmax(58px, 1fr)",
            What::Group("Counts") | What::Count(_) => "0",
            What::Group(_) => {
                groups += 1;
                if groups == 1 { "0" } else { "4px" }
            }
            What::Cells(who) if is_wide_only(who) => "0",
            What::Cells(_) => "var(--w)",
        });
        let turned: Vec<&str> = turned.collect();
        Tracks {
            wide,
            turned_columns: turned.join(" "),
            turned_rows,
        }
    }
}

fn is_wide_only(who: Who) -> bool {
    match who {
        Who::Ranker(row) => row >= ON_PHONE,
        Who::Relevance => false,
    }
}

/// The column of the grid for a column of the study, counted from 1; a gap parts families.
fn track(frame: &Overview, column: usize) -> usize {
    let probes = &frame.probes[..=column];
    let gaps = probes
        .windows(2)
        .filter(|it| family(it[0].axiom) != family(it[1].axiom))
        .count();
    column + 2 + gaps
}

/// The column of the grid for a measure.
fn measure_track(frame: &Overview, measure: usize) -> usize {
    let last = frame
        .probes
        .len()
        .checked_sub(1)
        .map_or(1, |it| track(frame, it));
    last + 2 + measure
}

/// What the axioms of a kind are about.
pub(crate) fn family(axiom: Axiom) -> &'static str {
    match axiom {
        Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc => "Term frequency",
        Axiom::Lnc1 | Axiom::Lnc2 => "Length",
        Axiom::Tp => "Proximity",
    }
}

/// Families with the columns they take, from the left.
fn families(frame: &Overview) -> Vec<(&'static str, usize, usize)> {
    let mut all: Vec<(&'static str, usize, usize)> = Vec::new();
    for (at, column) in frame.probes.iter().enumerate() {
        let name = family(column.axiom);
        match all.last_mut() {
            Some((last, _, n)) if *last == name => *n += 1,
            Some(_) | None => all.push((name, track(frame, at), 1)),
        }
    }
    all
}

/// Where a key leads from a place; none if it is no key of the map.
fn step(from: Spot, key: &str, rows: &[Who], axioms: &[Axiom]) -> Option<Spot> {
    let row = rows.iter().position(|it| *it == from.who)?;
    let column = axioms.iter().position(|it| *it == from.axiom)?;
    let (row, column) = match key {
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(axioms.len() - 1)),
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(rows.len() - 1), column),
        "Home" => (row, 0),
        "End" => (row, axioms.len() - 1),
        _ => return None,
    };
    Some(Spot {
        who: rows[row],
        axiom: axioms[column],
    })
}

fn id(spot: Spot) -> String {
    match spot.who {
        Who::Ranker(row) => format!("cell-{row}-{}", spot.axiom.slug()),
        Who::Relevance => format!("cell-relevance-{}", spot.axiom.slug()),
    }
}

fn focus_on(spot: Spot) {
    let found = document().get_element_by_id(&id(spot));
    if let Some(cell) = found.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = cell.focus();
    }
}

#[component]
fn Line(line: GridLine, frame: Arc<Overview>, map: Map) -> impl IntoView {
    let at = line.at.to_string();
    match line.what {
        What::Families => {
            view! { <div role="row" class="wide-only" style=("--r", at)><Families frame/></div> }
                .into_any()
        }
        What::Heads => view! { <div role="row" style=("--r", at)><Heads frame/></div> }.into_any(),
        What::Group(name) => view! {
            <div role="row" class="wide-only" style=("--r", at)>
                <span role="rowheader" class="rows" style=("--c", "1/-1")>{name}</span>
            </div>
        }
        .into_any(),
        What::Cells(who) => {
            let class = if is_wide_only(who) { "wide-only" } else { "" };
            view! { <div role="row" class=class style=("--r", at)><Cells who frame map/></div> }
                .into_any()
        }
        What::Count(count) => view! {
            <div role="row" class="wide-only" style=("--r", at)><Counts count frame map/></div>
        }
        .into_any(),
    }
}

/// What groups of columns are about.
#[component]
fn Families(frame: Arc<Overview>) -> impl IntoView {
    let mut all = families(&frame);
    if !frame.measures.is_empty() {
        all.push((
            "Effectiveness",
            measure_track(&frame, 0),
            frame.measures.len(),
        ));
    }
    let all = all.into_iter().map(|(name, at, n)| {
        let place = format!("{at} / span {n}");
        view! { <span role="columnheader" class="family" style=("--c", place)>{name}</span> }
    });
    all.collect_view()
}

/// Names of the columns.
#[component]
fn Heads(frame: Arc<Overview>) -> impl IntoView {
    let axioms = frame.probes.iter().enumerate().map(|(at, column)| {
        let about = column.axiom.about();
        view! {
            <span
                role="columnheader"
                class="axiom"
                title=about.statement
                style=("--c", track(&frame, at).to_string())
            >
                <b>{about.name}</b>
                <span>{about.gist}</span>
            </span>
        }
    });
    let axioms = axioms.collect_view();
    let measures = frame.measures.iter().enumerate().map(|(at, measure)| {
        let (name, cut) = match measure.split_once('@') {
            Some((name, cut)) => (name.to_owned(), format!("at {cut}")),
            None => (measure.clone(), String::new()),
        };
        let place = measure_track(&frame, at).to_string();
        view! {
            <span role="columnheader" class="axiom of" style=("--c", place)>
                <b>{name}</b>
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

/// A row of cells, with the effectiveness of its ranker.
#[component]
fn Cells(who: Who, frame: Arc<Overview>, map: Map) -> impl IntoView {
    let ranker = match who {
        Who::Ranker(row) => frame.rankers.get(row),
        Who::Relevance => None,
    };
    let (name, detail, note) = match ranker {
        Some(it) => (
            it.ranker.label.clone(),
            it.ranker.detail.clone(),
            it.ranker.note.clone(),
        ),
        None => (
            "Relevance".to_owned(),
            "qrels, grade differs".to_owned(),
            None,
        ),
    };
    let cells = frame.probes.iter().enumerate().map(|(at, column)| {
        let spot = Spot {
            who,
            axiom: column.axiom,
        };
        let place = track(&frame, at);
        view! { <MapCell spot place name=name.clone() map/> }
    });
    let cells = cells.collect_view();
    let measures = ranker.map(|it| measures(&frame, it)).unwrap_or_default();
    let measures = measures.into_iter().map(|(place, class, value)| {
        let shown = value.map_or(format::MISSING.to_owned(), format::fraction);
        let length = format!("{:.3}", value.unwrap_or(0.0));
        view! {
            <span
                role="gridcell"
                class=class
                style=("--c", place.to_string())
                style=("--v", length)
            >
                {shown}
            </span>
        }
    });
    let measures = measures.collect_view();
    view! {
        <div role="rowheader" class="ranker" style=("--c", "1") title=note>
            {name.clone()} <span>{detail}</span>
        </div>
        {cells}
        {measures}
    }
}

/// Place, class and value of each measure of a ranker; the best of a column is bold.
fn measures(frame: &Overview, row: &Row) -> Vec<(usize, &'static str, Option<f64>)> {
    let values = row.effectiveness.iter().enumerate().map(|(at, &value)| {
        let all = frame
            .rankers
            .iter()
            .filter_map(|it| it.effectiveness.get(at).copied().flatten());
        let best = all.fold(f64::NEG_INFINITY, f64::max);
        let class = match value {
            Some(value) if value >= best && frame.rankers.len() > 1 => "metric best",
            Some(_) => "metric",
            None => "plain",
        };
        (measure_track(frame, at), class, value)
    });
    values.collect()
}

/// A number with its bounds, as a link to its instances.
#[component]
fn MapCell(spot: Spot, place: usize, name: String, map: Map) -> impl IntoView {
    let state = Memo::new(move |_| State::of(&map.overview.read(), spot));
    let axiom = spot.axiom.about().name;
    // A pointer first selects, and opens what is selected already; Enter opens.
    let was_selected = StoredValue::new(false);
    let on_click = move |event: ev::MouseEvent| {
        let by_key = event.detail() == 0;
        let apart = event.ctrl_key() || event.meta_key() || event.shift_key();
        if !by_key && !apart && !was_selected.get_value() {
            event.prevent_default();
        }
    };
    let whisker = move || {
        state.with(|it| match it {
            State::Known(cell) => {
                let [low, high] = cell.micro.interval.map(|it| format!("{it:.3}"));
                let value = format!("{:.3}", cell.micro.value);
                Some(view! {
                    <i
                        class="whisker"
                        style=("--v", value)
                        style=("--lo", low)
                        style=("--hi", high)
                    ></i>
                })
            }
            State::Undefined | State::Failed => None,
        })
    };
    view! {
        <a
            role="gridcell"
            id=id(spot)
            class="cell"
            class:chance=move || state.with(State::is_chance)
            class:part=move || state.with(State::is_part)
            class:none=move || state.with(|it| it.step().is_none())
            style=("--c", place.to_string())
            data-step=move || state.with(State::step)
            href=move || map.href.run(spot)
            aria-selected=move || (map.selected.get() == spot).to_string()
            tabindex=move || if map.current.get() == spot { "0" } else { "-1" }
            aria-label=move || state.with(|it| it.said(&name, axiom))
            on:focus=move |_| {
                map.current.set(spot);
                map.focus.run(spot);
            }
            on:pointerdown=move |_| was_selected.set_value(map.selected.get_untracked() == spot)
            on:click=on_click
        >
            {move || state.with(State::number)}
            {whisker}
        </a>
    }
}

/// A row of counts.
#[component]
fn Counts(count: Count, frame: Arc<Overview>, map: Map) -> impl IntoView {
    let cells = (0..frame.probes.len()).map(|at| {
        let shown = move || {
            let overview = map.overview.read();
            overview.probes.get(at).map(|it| count.of(it))
        };
        let place = track(&frame, at).to_string();
        view! { <span role="gridcell" class="plain" style=("--c", place)>{shown}</span> }
    });
    let cells = cells.collect_view();
    view! {
        <div role="rowheader" class="ranker" style=("--c", "1")>{count.name()}</div>
        {cells}
    }
}

/// How to read a cell.
#[component]
fn Legend(overview: Signal<Arc<Overview>>) -> impl IntoView {
    let steps = (-5..=5).map(|it: i8| view! { <i data-step=it.to_string()></i> });
    let steps = steps.collect_view();
    let n_tests = move || format::count(overview.read().n_tests);
    view! {
        <div class="scale" id="map-key">
            <div class="steps" aria-hidden="true">
                {steps} <span>"0 never"</span> <span>".5 chance"</span> <span>"always 1"</span>
            </div>
            <span>
                <svg viewBox="0 0 60 14" aria-hidden="true">
                    <path class="axis" d="M0 7h60M30 3v8"></path>
                    <path d="M38 7h14" stroke="var(--ink)" stroke-width="3"></path>
                    <circle
                        cx="45"
                        cy="7"
                        r="3.5"
                        fill="var(--ink)"
                        stroke="var(--ink)"
                        stroke-width="1.5"
                    ></circle>
                </svg>
                "95 % interval, queries as units"
            </span>
            <span>
                <svg viewBox="0 0 60 14" aria-hidden="true">
                    <path class="axis" d="M0 7h60M30 3v8"></path>
                    <path d="M24 7h20" stroke="var(--ink)" stroke-width="3"></path>
                    <circle
                        cx="34"
                        cy="7"
                        r="3.5"
                        fill="var(--paper)"
                        stroke="var(--ink)"
                        stroke-width="1.5"
                    ></circle>
                </svg>
                "not told apart from chance (Holm, " {n_tests} " tests)"
            </span>
        </div>
    }
}

/// The map before its numbers: the same room, hatched.
#[component]
pub(crate) fn WaitingMap() -> impl IntoView {
    const ROWS: usize = 4;
    let rows = (0..ROWS).map(|row| {
        let cells = (0..Axiom::ALL.len()).map(|column| {
            view! { <span class="cell loading" style=("--c", (column + 2).to_string())></span> }
        });
        let cells = cells.collect_view();
        view! { <div role="row" style=("--r", (row + 3).to_string())>{cells}</div> }
    });
    let rows = rows.collect_view();
    let columns = format!("minmax(124px, 1fr) repeat({}, var(--w))", Axiom::ALL.len());
    let turned = format!("0 minmax(58px, 1fr) repeat({ROWS}, var(--w))");
    let turned_rows = format!("96px repeat({}, 38px)", Axiom::ALL.len());
    view! {
        <div
            class="map by waiting"
            aria-hidden="true"
            style=("--wide", columns)
            style=("--turned-columns", turned)
            style=("--turned-rows", turned_rows)
        >
            {rows}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_inside_the_map() {
        let rows = [Who::Ranker(0), Who::Ranker(2), Who::Relevance];
        let axioms = [Axiom::Tfc1, Axiom::Tp];
        let from = Spot {
            who: Who::Ranker(2),
            axiom: Axiom::Tfc1,
        };
        let to = |key: &str| step(from, key, &rows, &axioms);
        assert_eq!(
            to("ArrowRight"),
            Some(Spot {
                axiom: Axiom::Tp,
                ..from
            })
        );
        assert_eq!(to("ArrowLeft"), Some(from));
        assert_eq!(
            to("ArrowDown"),
            Some(Spot {
                who: Who::Relevance,
                ..from
            })
        );
        assert_eq!(
            to("ArrowUp"),
            Some(Spot {
                who: Who::Ranker(0),
                ..from
            })
        );
        assert_eq!(
            to("End"),
            Some(Spot {
                axiom: Axiom::Tp,
                ..from
            })
        );
        assert_eq!(to("x"), None);
    }

    #[test]
    fn axioms_of_a_family_stand_together() {
        let names: Vec<&str> = Axiom::ALL.iter().map(|&it| family(it)).collect();
        let mut parts = names.clone();
        parts.dedup();
        assert_eq!(parts, ["Term frequency", "Length", "Proximity"]);
    }
}
