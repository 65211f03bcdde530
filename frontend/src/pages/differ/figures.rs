//! The figures, each with its table and its files; what is drawn for some queries leads to them.

use std::sync::Arc;

use leptos::prelude::*;
use shared::differ::listing::{Fraction, Selection, Turn};
use shared::differ::{DEPTH, Differences};
use shared::plot::{Figure, change, paired};
use shared::report;

use super::address::DifferScene as Scene;
use crate::widgets::part::{Drawn, Part};

/// Everything that is counted over queries.
#[component]
pub(super) fn Figures(found: Arc<Differences>, scene: Scene) -> impl IntoView {
    let tables = report::of_differences(&found);
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let [first, second] = found.rankers.clone().map(|it| it.label);
    let buckets = (0..found.buckets.len() as u8)
        .flat_map(|bucket| [0, 1].map(|side| Selection::Bucket { side, bucket }));
    let lengths = found.lengths.iter().map(|it| Selection::Length {
        n_tokens: it.n_tokens,
    });
    let changes = Turn::ALL.iter().map(|it| Selection::Change { change: *it });
    let depths = (1..=DEPTH as u8).map(|depth| Selection::Apart { depth });
    let answers = found
        .answers
        .iter()
        .map(|it| Selection::Answer { answer: it.answer });
    let bigrams = found.bigrams.iter().map(|it| Selection::Bigram {
        words: it.words.clone(),
    });
    let drawn = |figure: Figure, of: Vec<Selection>| Some(leading(figure, of, scene));
    view! {
        <Part
            of="differ-"
            id="fractions"
            name="What stands at the top"
            said="Reciprocal rank, query tokens and novel terms among the first ten."
            drawing=None
            table=table("fractions")
        />
        <Higher names=[first, second] scene/>
        <Part
            of="differ-"
            id="buckets"
            name="Reciprocal rank by query tokens at the top"
            said="Each ranker by its own FQT; a ranker that is misled by query terms falls."
            drawing=drawn(paired::buckets(&found), buckets.collect())
            table=table("buckets")
        />
        <Part
            of="differ-"
            id="lengths"
            name="Reciprocal rank by the length of queries"
            said="Tokens of the query with white space between."
            drawing=drawn(paired::lengths(&found), lengths.collect())
            table=table("lengths")
        />
        <Part
            of="differ-"
            id="change"
            name="Query by query"
            said="The difference in RR@10, the highest first."
            drawing=drawn(change::change(&found), changes.collect())
            table=table("change")
        />
        <Part
            of="differ-"
            id="overlap"
            name="Documents in common"
            said="Among the first i of both lists; a dot leads to the queries with none in common."
            drawing=drawn(change::overlap(&found), depths.collect())
            table=table("overlap")
        />
        <Part
            of="differ-"
            id="answers"
            name="Reciprocal rank by what is asked for"
            said="Types of answers by rules over question words and head nouns."
            drawing=drawn(paired::answers(&found), answers.collect())
            table=table("answers")
        />
        <Part
            of="differ-"
            id="bigrams"
            name="Reciprocal rank by how queries begin"
            said="The most frequent first two words."
            drawing=drawn(paired::bigrams(&found), bigrams.collect())
            table=table("bigrams")
        />
    }
}

/// To the queries in which one has the higher fraction.
#[component]
fn Higher(names: [String; 2], scene: Scene) -> impl IntoView {
    let ways = [(Fraction::Fqt, "FQT"), (Fraction::Fnt, "FNT")].map(|(fraction, word)| {
        [0_u8, 1].map(|side| {
            let selection = Selection::Higher { fraction, side };
            let name = names[usize::from(side)].clone();
            let own = selection.clone();
            let pressed = move || (scene.view.get().selection == own).to_string();
            view! {
                <button
                    class="btn"
                    type="button"
                    aria-pressed=pressed
                    on:click=move |_| lead(scene, selection.clone())
                >
                    {format!("{word} higher in {name}")}
                </button>
            }
        })
    });
    view! { <div class="btns" role="group" aria-label="Queries by fraction">{ways}</div> }
}

/// Shows the queries behind a number.
fn lead(scene: Scene, selection: Selection) {
    scene.turn(|it| {
        it.selection = selection;
        it.part = 0;
        it.query = None;
    });
    if let Some(list) = document().get_element_by_id("queries") {
        list.scroll_into_view();
    }
}

/// A figure whose groups lead to their queries.
fn leading(figure: Figure, of: Vec<Selection>, scene: Scene) -> Drawn {
    let of = StoredValue::new(of);
    let picked = Memo::new(move |_| {
        let now = scene.view.get().selection;
        of.with_value(|it| it.iter().position(|it| *it == now))
    });
    let pick = Callback::new(move |place: usize| {
        if let Some(selection) = of.with_value(|it| it.get(place).cloned()) {
            lead(scene, selection);
        }
    });
    Drawn::groups(figure, picked.into(), pick)
}
