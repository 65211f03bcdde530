//! A ranker in late interaction from inside: which words decide, whether they match themselves,
//! how much the vectors of a piece depend on where it stands, and what the pieces of a query meet
//! in a text.

pub(crate) mod address;
mod lists;
mod plots;
mod table;
mod texts;
mod word;

use leptos::prelude::*;
use shared::api::{Inside as Ask, Look};
use shared::report::{self, format};
use shared::score::RankerAbout;
use shared::study::dials::Dials;
use shared::study::overview::Overview;
use shared::whitebox::WhiteBox;

use crate::api;
use crate::numbers::plural;
use crate::widgets::answered::{Answered, Crumbs};
use crate::widgets::form::Select;
use crate::widgets::part::Part;
use address::{InsideScene as Scene, InsideView};
use lists::Lists;
use plots::Plots;
use table::Words;
use texts::Texts;
use word::Word;

/// The study, once it is known.
type Study = LocalResource<Result<Overview, api::Error>>;

/// The page of a study.
#[component]
pub(crate) fn Inside(
    /// Its name.
    study: String,
) -> impl IntoView {
    let scene = Scene::follow(study.clone(), InsideView::read, InsideView::href);
    let name = scene.study;
    let overview = api::fetch(move || Look {
        study: name.get_value(),
        dials: Dials::default(),
    });
    let found = api::fetch(move || Ask {
        study: name.get_value(),
    });
    let shown = move |found: Vec<WhiteBox>| match found.is_empty() {
        true => view! { <Nothing study=name.get_value()/> }.into_any(),
        false => view! { <Shown found overview scene/> }.into_any(),
    };
    view! {
        <Crumbs study here="Inside"/>
        <Answered answer=found until="Looking" without="This cannot be shown" shown/>
    }
}

#[component]
fn Nothing(study: String) -> impl IntoView {
    let command = format!("axioscope whitebox --study {study} --ranker MODEL:late");
    view! {
        <h1>"No ranker of this study was looked into"</h1>
        <p>"A model that compares piece by piece can be opened on the command line:"</p>
        <pre tabindex="0"><code>{command}</code></pre>
    }
}

#[component]
fn Shown(
    found: Vec<WhiteBox>,
    /// For the ways to instances; the page is whole without it.
    overview: Study,
    scene: Scene,
) -> impl IntoView {
    let last = found.len() - 1;
    let at = Memo::new(move |_| scene.view.get().ranker.min(last));
    let rankers = (last > 0).then(|| {
        let rankers = found.iter().map(|it| it.head.ranker.clone()).collect();
        view! { <Rankers rankers at scene/> }
    });
    let found = StoredValue::new(found);
    view! {
        {rankers}
        {move || {
            let found = found.with_value(|it| it[at.get()].clone());
            view! { <One found overview scene/> }
        }}
    }
}

/// Which of them is shown.
#[component]
fn Rankers(rankers: Vec<RankerAbout>, at: Memo<usize>, scene: Scene) -> impl IntoView {
    let options = rankers.into_iter().enumerate().map(|(number, it)| {
        let note = it.note.map(|it| format!(", {it}")).unwrap_or_default();
        let selected = move || at.get() == number;
        view! { <option value=number.to_string() selected=selected>{it.label} {note}</option> }
    });
    let options = options.collect_view();
    let choose = move |at: String| {
        let ranker = at.parse().unwrap_or_default();
        scene.turn(|it| {
            *it = InsideView {
                ranker,
                ..InsideView::default()
            };
        });
    };
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <Select label="Ranker" choose>{options}</Select>
        </form>
    }
}

/// One ranker.
#[component]
fn One(found: WhiteBox, overview: Study, scene: Scene) -> impl IntoView {
    let head = found.head.clone();
    let note = head
        .ranker
        .note
        .clone()
        .map(|it| view! { <span>{it}</span> });
    let [correlations, words, pieces] = report::of_whitebox(&found);
    let found = StoredValue::new(found);
    let chosen = Memo::new(move |_| {
        let word = scene.view.get().word?;
        found.with_value(|it| it.words.iter().find(|it| it.word == word).cloned())
    });
    let lists = Memo::new(move |_| {
        let overview = overview.get().and_then(Result::ok);
        let of = |it: Overview| found.with_value(|found| Lists::of(&it, &found.head.ranker));
        overview.map(of).unwrap_or_default()
    });
    let of_word = move || {
        chosen
            .get()
            .map(|word| view! { <Word word found lists scene/> })
    };
    view! {
        <div class="head">
            <div>
                <h1>{head.title}</h1>
                <p class="facts">
                    <span>{head.ranker.label}</span>
                    {note}
                    <span>{plural(head.queries.len() as u64, "query", "queries")}</span>
                    <span>{plural(head.n_texts, "text", "texts")}</span>
                    <span>"pool " {head.pool}</span>
                    <span>{format::date(&head.made)}</span>
                </p>
            </div>
        </div>
        <Part
            of="inside-"
            id="correlations"
            name="With idf"
            said="Beside what the paper finds in ColBERT."
            drawing=None
            table=Some(correlations)
        />
        <Plots found pieces chosen scene/>
        {of_word}
        <Texts found lists scene/>
        <Words found table=words chosen scene/>
    }
}
