//! The papers' tables beside ours, cell by cell, and what is wrong with them.

use leptos::prelude::*;
use shared::api::worker::Printed;
use shared::api::{Replay as Ask, Studies};
use shared::replay::{Asked, Paper};
use shared::report::{self, Table};
use shared::study::overview::Card;

use crate::api::{self, Error};
use crate::browser::Address;
use crate::page::Page;
use crate::pages::study::address;
use crate::widgets::answered::{Answered, Refused};
use crate::widgets::download;
use crate::widgets::form::Select;
use crate::widgets::table::DataTable;
use crate::widgets::takes::Takes;

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    asked: Asked,
    /// None takes no study: ours are missing then.
    study: Option<String>,
}

/// The page.
#[component]
pub(crate) fn Replay() -> impl IntoView {
    let choice = Address::follow(read);
    let studies = api::fetch(|| Studies {});
    let replayed = LocalResource::new(move || {
        let Choice { asked, study } = choice.get();
        async move { fetch(asked, study).await }
    });
    let shown = |tables: Vec<Table>| {
        let tables = tables.into_iter().map(|table| view! { <One table/> });
        tables.collect_view().into_any()
    };
    view! {
        <h1>"Replay"</h1>
        <p class="lead">
            "The tables of four papers, cell by cell: what was printed, what the published code
            gave where that is known, and what a study gives in each reading, or for each ranker
            beside BM25. Where a printed number is wrong, a pair of numbers shows it. Of ABNIRML,
            whose tables could not be recovered, it is what its text says."
        </p>
        <Choices choice studies/>
        <Answered answer=replayed until="Counting" shown/>
    }
}

async fn fetch(asked: Asked, study: Option<String>) -> Result<Vec<Table>, Error> {
    match study {
        Some(study) => api::call(&Ask { study, asked }).await,
        None => api::call(&Printed { asked }).await,
    }
}

/// Table 3 of Câmara & Hauff, unless the address says otherwise.
fn read(address: &Address) -> Choice {
    let paper = address.word("paper").and_then(|it| it.parse().ok());
    let paper = paper.unwrap_or(Paper::Camara2020);
    let table = address.word("table").and_then(|it| it.parse().ok());
    let known = table.filter(|it| paper.tables().contains(it));
    Choice {
        asked: Asked {
            paper,
            table: known.unwrap_or(paper.tables()[paper.tables().len() - 1]),
        },
        study: address.word("study").filter(|it| !it.is_empty()),
    }
}

fn choose(next: Choice, choice: RwSignal<Choice>) {
    let mut pairs = vec![
        ("paper", next.asked.paper.name().to_owned()),
        ("table", next.asked.table.to_string()),
    ];
    pairs.extend(next.study.clone().map(|it| ("study", it)));
    let href = Page::Replay.href() + &address::query_string(pairs);
    if let Ok(history) = window().history() {
        let null = wasm_bindgen::JsValue::NULL;
        let _ = history.replace_state_with_url(&null, "", Some(&href));
    }
    choice.set(next);
}

#[component]
fn Choices(
    choice: RwSignal<Choice>,
    studies: LocalResource<Result<Vec<Card>, Error>>,
) -> impl IntoView {
    let tables = Paper::ALL.iter().flat_map(|&paper| {
        let tables = paper.tables().iter();
        tables.map(move |&table| Asked { paper, table })
    });
    let tables: Vec<Asked> = tables.collect();
    let options = tables.iter().enumerate().map(|(at, asked)| {
        let asked = *asked;
        let name = format!("{}, table {}", asked.paper.name(), asked.table);
        let selected = move || choice.with(|it| it.asked == asked);
        view! { <option value=at.to_string() selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let change = move |at: String| {
        let at: usize = at.parse().unwrap_or_default();
        if let Some(&asked) = tables.get(at) {
            let study = choice.get_untracked().study;
            choose(Choice { asked, study }, choice);
        }
    };
    let of_studies = move || {
        let cards = studies.get().and_then(Result::ok).unwrap_or_default();
        let one = |card: Card| {
            let name = card.name.clone();
            let selected = move || choice.with(|it| it.study.as_deref() == Some(name.as_str()));
            view! { <option value=card.name.clone() selected=selected>{card.title}</option> }
        };
        cards.into_iter().map(one).collect_view()
    };
    let none = move || choice.with(|it| it.study.is_none());
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <Select label="Table" choose=change>{options}</Select>
            <Select label="Beside it, the study" choose=move |name: String| {
                let study = Some(name).filter(|it| !it.is_empty());
                let asked = choice.get_untracked().asked;
                choose(Choice { asked, study }, choice);
            }>
                <option value="" selected=none>"none"</option>
                {of_studies}
            </Select>
            <Refused answer=studies/>
        </form>
    }
}

/// A table with its file.
#[component]
fn One(table: Table) -> impl IntoView {
    let id = table.name.clone();
    let title = table.title.clone();
    let csv = {
        let table = table.clone();
        Callback::new(move |()| {
            let name = format!("{}.csv", table.name);
            download::save(&name, "text/csv", &report::to_csv(&table));
        })
    };
    view! {
        <section class="section lines" aria-labelledby=id.clone()>
            <header>
                <h2 id=id.clone()>{title.clone()}</h2>
                <Takes of=title csv/>
            </header>
            <DataTable table/>
        </section>
    }
}
