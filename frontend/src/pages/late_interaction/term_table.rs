//! The table of all query terms with their statistics; a row selects its term.

use leptos::prelude::*;
use shared::late_interaction::{LateInteractionRankerAnalysis, LateInteractionWordStatistics};
use shared::report::{self, ReportTable, format};

use super::address::LateInteractionPageState;
use crate::number_format::format_count_with_noun;
use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};
use crate::widgets::term::GlossaryTerm;

/// The number of rows that are shown at first.
const INITIAL_ROWS: usize = 100;

/// Renders the table with its search field.
#[component]
pub(super) fn TermImportanceTable(
    found: StoredValue<LateInteractionRankerAnalysis>,
    /// All statistics of each term, for export.
    table: ReportTable,
    chosen: Memo<Option<LateInteractionWordStatistics>>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let csv = Callback::new(move |()| {
        download::offer_text_download(
            "late-interaction-terms.csv",
            "text/csv",
            &report::table_to_csv(&table),
        );
    });
    let sought = RwSignal::new(String::new());
    let all = RwSignal::new(false);
    let shown = move || {
        let sought = sought.with(|it| it.trim().to_lowercase());
        let mut rows = found.with_value(|it| {
            let found = it.words.iter().filter(|it| it.word.contains(&sought));
            found.cloned().collect::<Vec<_>>()
        });
        // The most important terms come first; those without a value come last.
        let key = |it: &LateInteractionWordStatistics| it.importance.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.word.cmp(&b.word)));
        rows
    };
    let body = move || {
        let mut rows = shown();
        if !all.get() {
            rows.truncate(INITIAL_ROWS);
        }
        match rows.is_empty() {
            true => view! { <tr><td colspan="7">"No query term matches."</td></tr> }.into_any(),
            false => {
                let rows = rows
                    .into_iter()
                    .map(|row| view! { <Row row chosen scene/> });
                rows.collect_view().into_any()
            }
        }
    };
    let more = move || {
        let n = shown().len();
        (n > INITIAL_ROWS && !all.get()).then(|| {
            let label = format!("Show all {}", format::format_count(n as u64));
            view! {
                <button class="btn" type="button" on:click=move |_| all.set(true)>{label}</button>
            }
        })
    };
    let heads = [
        "queries",
        "idf",
        "importance",
        "ΔES",
        "exact match",
        "match with another query term",
    ];
    let heads = heads.map(|it| match it {
        "importance" => ColumnHeading::for_number_column(it).explaining(GlossaryTerm::TauAp),
        _ => ColumnHeading::for_number_column(it),
    });
    let heads = std::iter::once(ColumnHeading::for_text_column("Term")).chain(heads);
    let heads: Vec<ColumnHeading> = heads.collect();
    let name = "Query terms";
    let header = move || view! { <FigureExportButtons of="terms" csv/> };
    let n_terms = found.with_value(|it| it.words.len() as u64);
    let summary = format!(
        "Table of {} with idf, importance, ΔES and matches, most important first",
        format_count_with_noun(n_terms, "query term", "query terms")
    );
    view! {
        <Section id="terms" name header>
            <details class="maps">
                <summary>{summary}</summary>
                <label class="field sought">
                    <span class="label">"Search"</span>
                    <input type="search" data-search="" on:input:target=move |event| {
                        sought.set(event.target().value());
                    }/>
                </label>
                <HeadedTable name="Query terms" caption=name class="data" heads scrolls=true>
                    {body}
                </HeadedTable>
                {more}
            </details>
        </Section>
    }
}

#[component]
fn Row(
    row: LateInteractionWordStatistics,
    chosen: Memo<Option<LateInteractionWordStatistics>>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let name = row.word.clone();
    let is_chosen = Memo::new({
        let name = name.clone();
        move |_| chosen.with(|it| it.as_ref().is_some_and(|it| it.word == name))
    });
    let choose = {
        let name = name.clone();
        move |_| scene.update(|it| it.term = Some(name.clone()))
    };
    let of = |value: Option<f64>| {
        value.map_or(format::MISSING.to_owned(), |it| format::format_score(it, 3))
    };
    let numbers = [
        format::format_count(row.query_nos.len() as u64),
        of(row.idf),
        of(row.importance),
        of(row.delta_es),
        format::format_two_digit_fraction(row.exact_share),
        format::format_two_digit_fraction(row.other_query_token_share),
    ];
    let numbers = numbers.map(|it| view! { <td class="num">{it}</td> });
    view! {
        <tr class:chosen=is_chosen>
            <th scope="row">
                <button
                    class="btn bare"
                    type="button"
                    aria-pressed=move || is_chosen.get().to_string()
                    on:click=choose
                >
                    {name}
                </button>
            </th>
            {numbers}
        </tr>
    }
}
