//! The queries behind the selected number, a page at a time.

use std::sync::Arc;

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::api::ListComparedQueriesRequest;
use shared::compare::query_groups::{FQT_EDGES, MAX_QUERY_LENGTH};
use shared::compare::query_list::{
    ComparedQueryGroup, ComparedQueryPage, ComparedQuerySort, QueryWithPairedMetrics,
    TopDocumentTermFraction,
};
use shared::compare::question_class::QuestionClass;
use shared::compare::{MAX_DEPTH, RankerComparison};
use shared::report::comparison::rr_change_label;
use shared::report::format;
use web_sys::HtmlSelectElement;

use crate::api;
use crate::number_format::format_count_with_noun;
use crate::pages::compare_address::{ComparePageState, ROWS};
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};
use crate::widgets::term::GlossaryTerm;

/// Renders the section with the queries.
#[component]
pub(super) fn ComparedQueriesSection(
    found: Arc<RankerComparison>,
    scene: ComparePageState,
) -> impl IntoView {
    let names = StoredValue::new(found.rankers.clone().map(|it| it.label));
    let asking = found.options.clone();
    let listing = Memo::new(move |_| scene.view.get().listing());
    let answer = api::fetch_on_signal_change(move || ListComparedQueriesRequest {
        study: scene.study.get_value(),
        options: asking.clone(),
        page: listing.get(),
    });
    let shown = move |page| view! { <QueryTable page names=names.get_value() scene/> }.into_any();
    let said = move || {
        let selection = scene.view.get().selection;
        names.with_value(|it| selection_text(&selection, it))
    };
    let every = move || {
        let selected = scene.view.get().selection != ComparedQueryGroup::All;
        selected.then(|| {
            let clear = move |_| {
                scene.update(|it| {
                    it.selection = ComparedQueryGroup::All;
                    it.page = 0;
                });
            };
            view! {
                <button class="btn" type="button" on:click=clear>"Show all queries"</button>
            }
        })
    };
    let sorts = [
        (ComparedQuerySort::Query, "collection order"),
        (ComparedQuerySort::Gain, "largest gain first"),
        (ComparedQuerySort::Loss, "largest loss first"),
    ];
    let options = sorts.map(|(sort, said)| {
        let selected = move || scene.view.get().sort == sort;
        view! { <option selected=selected>{said}</option> }
    });
    let change = move |event: Targeted<Event, HtmlSelectElement>| {
        let at = usize::try_from(event.target().selected_index()).unwrap_or_default();
        let wanted = sorts.get(at).map_or(ComparedQuerySort::Query, |it| it.0);
        scene.update(|it| {
            it.sort = wanted;
            it.page = 0;
        });
    };
    let header = move || view! { <p class="note" role="status">{said}</p> };
    view! {
        <Section id="queries" name="Queries" header>
            <div class="bar" role="group" aria-label="Query list and its order">
                <label class="dial">
                    <span class="label">"Order"</span>
                    <select on:change:target=change>{options}</select>
                </label>
                {every}
            </div>
            <RequestReplyView answer until="Loading queries" shown/>
        </Section>
    }
}

/// Describes the selected queries.
fn selection_text(selection: &ComparedQueryGroup, names: &[String; 2]) -> String {
    let name = |side: u8| names[usize::from(side.min(1))].as_str();
    let both = names.each_ref().map(String::as_str);
    match selection {
        ComparedQueryGroup::All => "All compared queries.".to_owned(),
        ComparedQueryGroup::FqtBucket { side, bucket } => {
            let edge = |at: usize| FQT_EDGES.get(at).copied().unwrap_or(1.0);
            let at = usize::from(*bucket);
            let [from, to] = [edge(at), edge(at + 1)].map(format::format_two_digit_fraction);
            format!(
                "Queries with an FQT of {} from {from} to {to}.",
                name(*side)
            )
        }
        ComparedQueryGroup::QueryLength { n_tokens } if *n_tokens > MAX_QUERY_LENGTH => {
            format!("Queries with more than {MAX_QUERY_LENGTH} tokens.")
        }
        ComparedQueryGroup::QueryLength { n_tokens } => {
            format!(
                "Queries with {}.",
                format_count_with_noun(u64::from(*n_tokens), "token", "tokens")
            )
        }
        ComparedQueryGroup::RrChange { change } => format!("{}.", rr_change_label(*change, both)),
        ComparedQueryGroup::QuestionClass { answer } => match answer {
            Some(QuestionClass::Abbreviation) => {
                "Queries that ask for an abbreviation (ABBR).".to_owned()
            }
            Some(QuestionClass::Location) => "Queries that ask for a location (LOC).".to_owned(),
            Some(QuestionClass::Description) => {
                "Queries that ask for a description (DESC).".to_owned()
            }
            Some(QuestionClass::Human) => "Queries that ask for a person (HUM).".to_owned(),
            Some(QuestionClass::Numeric) => "Queries that ask for a number (NUM).".to_owned(),
            Some(QuestionClass::Entity) => "Queries that ask for an entity (ENTY).".to_owned(),
            None => "Queries without a question class.".to_owned(),
        },
        ComparedQueryGroup::Bigram { words } => format!("Queries that begin with “{words}”."),
        ComparedQueryGroup::Disjoint { depth } => {
            format!("Queries with no shared document in the top {depth}.")
        }
        ComparedQueryGroup::HigherFraction { fraction, side } => {
            let word = match fraction {
                TopDocumentTermFraction::QueryTokens => "FQT",
                TopDocumentTermFraction::NovelTerms => "FNT",
            };
            format!("Queries on which {word} is higher for {}.", name(*side))
        }
    }
}

#[component]
fn QueryTable(
    page: ComparedQueryPage,
    names: [String; 2],
    scene: ComparePageState,
) -> impl IntoView {
    if page.n_queries == 0 {
        return view! { <p class="ahead">"No query matches."</p> }.into_any();
    }
    let n = page.n_queries;
    let rows = page
        .rows
        .into_iter()
        .map(|row| view! { <QueryTableRow row scene/> });
    let rows = rows.collect_view();
    let measures = [
        ("RR@10", GlossaryTerm::ReciprocalRank),
        ("FQT", GlossaryTerm::QueryTokenFraction),
        ("FNT", GlossaryTerm::NovelTermFraction),
    ];
    let measures = measures.into_iter().flat_map(|(measure, term)| {
        let [first, second] = names
            .each_ref()
            .map(|name| ColumnHeading::for_number_column(format!("{measure} {name}")));
        [first.explaining(term), second]
    });
    let mut heads = vec![ColumnHeading::for_text_column("query")];
    heads.extend(measures);
    heads.push(ColumnHeading::for_number_column(format!(
        "shared in top {MAX_DEPTH}"
    )));
    let part = move || scene.view.get().page;
    let shown = move || {
        let from = part() * ROWS;
        let to = (from + ROWS).min(n);
        format!(
            "{} to {} of {}",
            format::format_count(from + 1),
            format::format_count(to),
            format_count_with_noun(n, "query", "queries")
        )
    };
    let back = move |_| scene.update(|it| it.page = it.page.saturating_sub(1));
    let at_end = move || (part() + 1) * ROWS >= n;
    let further = move |_| scene.update(|it| it.page += 1);
    view! {
        <HeadedTable name="Queries and measures" class="data asked" heads scrolls=true>
            {rows}
        </HeadedTable>
        <div class="btns">
            <button
                class="btn"
                type="button"
                disabled=move || part() == 0
                on:click=back
            >
                "Previous"
            </button>
            <span class="note">{shown}</span>
            <button
                class="btn"
                type="button"
                disabled=at_end
                on:click=further
            >
                "Next"
            </button>
        </div>
    }
    .into_any()
}

#[component]
fn QueryTableRow(row: QueryWithPairedMetrics, scene: ComparePageState) -> impl IntoView {
    let values = row.metrics;
    let id = row.query_id.clone();
    let href = move || scene.href_after_change(|it| it.query = Some(id.clone()));
    let current =
        move || (scene.view.get().query.as_ref() == Some(&row.query_id)).then_some("true");
    let rr = values.rr.map_or([None; 2], |it| it.map(Some));
    let numbers = [rr, values.fqt, values.fnt].into_iter().flatten();
    let numbers = numbers.map(|it| {
        let shown = it.map_or(
            format::MISSING.to_owned(),
            format::format_two_digit_fraction,
        );
        view! { <td class="num">{shown}</td> }
    });
    let numbers = numbers.collect_view();
    view! {
        <tr>
            <th scope="row" dir="auto">
                <a href=href data-noscroll="" aria-current=current>{row.query}</a>
            </th>
            {numbers}
            <td class="num">{values.n_shared_docs[MAX_DEPTH - 1]}</td>
        </tr>
    }
}
