//! A collection with three queries that can be counted by hand, and two that do not count.

use std::borrow::Cow;

use super::{
    RankerComparison, RankerComparisonInput, RankerComparisonOptions, compare_rankers,
    ranker_info_of_run, selectable_ranker_from_run,
};
use crate::collection::{Collection, Document, DocumentFields, Qrels, Query, Run, RunEntry};
use crate::text::Tokenizer;

/// Id, text, split.
const QUERIES: [[&str; 3]; 5] = [
    ["q1", "river bank", "train"],
    ["q2", "what is sea ice", "train"],
    ["q3", "How tall are oak trees?", "test"],
    ["q4", "only one ranks this", "test"],
    ["q5", "nothing is relevant here", "test"],
];

const DOCS: [[&str; 2]; 10] = [
    ["d1", "The river bank, the river."],
    ["d2", "A bank of money"],
    ["d3", "the of; and?"],
    ["d4", "Sea ice melts in sea water when warm"],
    ["d5", "ice cream, sugar, milk"],
    [
        "d6",
        "Sea shells; sand; wind: waves! gulls? tides, foam. salt, spray",
    ],
    ["d7", "Trees grow <b>tall</b>"],
    ["d8", "oak"],
    ["d9", "pine cone nut bark leaf root seed twig moss fern"],
    ["d10", "whatever"],
];

const GRADES: [(&str, &str, i32); 5] = [
    ("q1", "d1", 1),
    ("q2", "d4", 1),
    ("q3", "d7", 1),
    ("q4", "d1", 1),
    ("q5", "d10", 0),
];

/// A query with its documents, best first.
type List = (&'static str, &'static [&'static str]);

const FIRST: [List; 5] = [
    ("q1", &["d1", "d2"]),
    ("q2", &["d5", "d4"]),
    ("q3", &["d8"]),
    ("q4", &["d1"]),
    ("q5", &["d10"]),
];

const SECOND: [List; 4] = [
    ("q1", &["d2", "d3"]),
    ("q2", &["d4", "d5", "d6"]),
    ("q3", &["d9"]),
    ("q5", &["d10"]),
];

pub(crate) fn comparison_fixture_collection() -> Collection {
    let queries = QUERIES.map(|[id, text, split]| Query {
        id: id.to_owned(),
        text: text.to_owned(),
        group: None,
        split: Some(split.to_owned()),
    });
    let docs = DOCS.map(|[id, text]| {
        Document::from(DocumentFields {
            id: id.into(),
            text: text.into(),
            ..DocumentFields::default()
        })
    });
    let mut qrels = Qrels::default();
    for (query, doc, grade) in GRADES {
        let grades = qrels.0.entry(query.to_owned()).or_default();
        grades.insert(doc.to_owned(), grade);
    }
    Collection {
        queries: queries.into(),
        docs: docs.into(),
        qrels,
    }
}

/// Creates a run with scores that decrease from 100.
pub(crate) fn run_from_ranked_lists(lists: &[(&str, &[&str])]) -> Run {
    let rows = |docs: &[&str]| {
        let docs = docs.iter().zip(1_i32..);
        let ranked = docs.map(|(doc, rank)| RunEntry {
            doc: (*doc).to_owned(),
            rank: i64::from(rank),
            score: 100.0 - f64::from(rank),
        });
        ranked.collect()
    };
    let lists = lists.iter();
    Run(lists
        .map(|(query, docs)| ((*query).to_owned(), rows(docs)))
        .collect())
}

/// Creates an input from the two runs over a collection, with user-defined names.
pub(crate) fn fixture_comparison_input(collection: &Collection) -> RankerComparisonInput<'_> {
    comparison_input_from_runs(
        collection,
        [
            run_from_ranked_lists(&FIRST),
            run_from_ranked_lists(&SECOND),
        ],
    )
}

pub(crate) fn comparison_input_from_runs(
    collection: &Collection,
    runs: [Run; 2],
) -> RankerComparisonInput<'_> {
    let names = ["runs/BM25.run.gz", "<i>|second.run"];
    let about = [0, 1].map(|it| ranker_info_of_run(names[it], &runs[it]));
    RankerComparisonInput {
        name: "tiny".to_owned(),
        title: "Tiny".to_owned(),
        content_hash: collection.content_hash(),
        queries: collection.queries.iter().collect(),
        docs: collection.docs.iter().map(|it| (it.id(), it)).collect(),
        qrels: Cow::Borrowed(&collection.qrels),
        rankers: about,
        choices: vec![
            selectable_ranker_from_run(names[0], &runs[0]),
            selectable_ranker_from_run(names[1], &runs[1]),
        ],
        runs: runs.map(Cow::Owned),
        tokenizer: Tokenizer::default(),
        has_withheld_texts: false,
        n_unscored: [0; 2],
    }
}

/// Compares the runs with default options.
pub(crate) fn compare_fixture_runs() -> RankerComparison {
    let collection = comparison_fixture_collection();
    compare_rankers(
        &fixture_comparison_input(&collection),
        &RankerComparisonOptions::default(),
    )
    .unwrap()
}
