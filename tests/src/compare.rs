//! The comparison of two runs over TREC DL 2019, against an independent count.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use shared::api::{CompareRankersRequest, GetComparedQueryRequest, ListComparedQueriesRequest};
use shared::compare::query_list::{ComparedQueryListOptions, ComparedQuerySort};
use shared::compare::{RankerComparisonOptions, RankerRef};

use crate::harness::{TestHome, collections, demo_folder, study_file, study_lines};

/// The output of `tests/reference/differ.py` for BM25 and SPLADE++ with Terrier's stop list; values
/// of the first, then of the second.
const SPLADE: Counted = Counted {
    fqt: [0.178081370, 0.134297525],
    fnt: [0.900155963, 0.910634227],
    rr: [0.702417866, 0.918604651],
    higher: [[37, 5], [12, 30], [4, 17]],
    buckets: [[10, 4, 11, 10, 8], [13, 10, 14, 4, 2]],
    changes: [2, 17, 22, 4, 0],
    mur: [
        0.139534884,
        0.348837209,
        0.604651163,
        0.976744186,
        1.325581395,
        1.558139535,
        1.906976744,
        2.139534884,
        2.488372093,
        2.883720930,
    ],
    line: "0.305 i − 0.242",
};

/// The same for BM25 and TAS-B.
const TAS_B: Counted = Counted {
    fqt: [0.178081370, 0.131294282],
    fnt: [0.900155963, 0.910195123],
    rr: [0.702417866, 0.875415282],
    higher: [[37, 6], [13, 30], [6, 16]],
    buckets: [[10, 4, 11, 10, 8], [15, 8, 14, 2, 4]],
    changes: [2, 16, 21, 6, 1],
    mur: [
        0.093023256,
        0.255813953,
        0.465116279,
        0.930232558,
        1.186046512,
        1.534883721,
        1.720930233,
        1.976744186,
        2.325581395,
        2.651162791,
    ],
    line: "0.290 i − 0.279",
};

/// The numbers of queries with 2 to 9 tokens.
const LENGTHS: [u64; 8] = [1, 5, 6, 12, 8, 6, 4, 1];

/// The most frequent pairs of first words, with their counts.
const BIGRAMS: [(&str, u64); 4] = [
    ("what is", 9),
    ("causes of", 2),
    ("difference between", 2),
    ("what are", 2),
];

struct Counted {
    fqt: [f64; 2],
    fnt: [f64; 2],
    rr: [f64; 2],
    /// The numbers of queries on which each has the higher FQT, FNT and RR.
    higher: [[u64; 2]; 3],
    buckets: [[u64; 5]; 2],
    /// The numbers of queries won, better, level, worse and lost.
    changes: [u64; 5],
    mur: [f64; 10],
    line: &'static str,
}

/// Returns the tables of a comparison of two runs, by name.
fn tables(data: &Path, second: &str) -> BTreeMap<String, Value> {
    let collection = data.join("trecdl-passage");
    let stops = data.join("abnirml-resources").join("terrier-stops.txt");
    let args = [
        "compare",
        "--collection",
        collection.to_str().unwrap(),
        "--a",
        "BM25.run",
        "--b",
        second,
        "--stopwords",
        stops.to_str().unwrap(),
        "--per-query",
        "--json",
    ];
    let found = TestHome::new().run_with(&args).json();
    let tables = found.as_array().unwrap().iter();
    let named = tables.map(|it| (it["name"].as_str().unwrap().to_owned(), it.clone()));
    named.collect()
}

fn count(cell: &Value) -> u64 {
    cell["count"]
        .as_u64()
        .unwrap_or_else(|| panic!("no count: {cell}"))
}

fn mean(cell: &Value) -> f64 {
    cell["estimate"]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no estimate: {cell}"))
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
}

fn check(data: &Path, second: &str, expected: &Counted) {
    let tables = tables(data, second);
    let rows = |name: &str| tables[name]["rows"].as_array().unwrap();
    let means = [expected.rr, expected.fqt, expected.fnt];
    let [fqt, fnt, rr] = expected.higher;
    for ((row, means), higher) in rows("fractions").iter().zip(means).zip([rr, fqt, fnt]) {
        near(mean(&row[1]), means[0]);
        near(mean(&row[2]), means[1]);
        assert_eq!(count(&row[9]), 43, "{row}");
        for side in [0, 1] {
            near(
                row[5 + side]["fraction"].as_f64().unwrap(),
                higher[side] as f64 / 43.0,
            );
        }
    }
    for (at, row) in rows("buckets").iter().enumerate() {
        let counts = [count(&row[1]), count(&row[3])];
        assert_eq!(counts, [0, 1].map(|side: usize| expected.buckets[side][at]));
    }
    let changes: Vec<u64> = rows("change").iter().map(|it| count(&it[1])).collect();
    assert_eq!(changes, expected.changes);
    for (row, mur) in rows("overlap").iter().zip(expected.mur) {
        near(mean(&row[1]), mur);
    }
    let notes = tables["overlap"]["notes"].to_string();
    assert!(notes.contains(expected.line), "{notes}");
    let lengths: Vec<u64> = rows("lengths").iter().map(|it| count(&it[1])).collect();
    assert_eq!(lengths, LENGTHS);
    let bigrams = rows("bigrams").iter().take(BIGRAMS.len());
    let bigrams: Vec<(&str, u64)> = bigrams
        .map(|it| (it[0]["text"].as_str().unwrap(), count(&it[1])))
        .collect();
    assert_eq!(bigrams, BIGRAMS);
    assert_eq!(rows("queries").len(), 43);
    let verdicts: Vec<&str> = rows("hypotheses")
        .iter()
        .map(|it| it[6]["text"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts.len(), 4);
    // For 37 of 43 queries, BM25's top documents contain more query tokens.
    assert_eq!(verdicts[0], "supported");
    assert!(!verdicts.contains(&"too few queries"), "{verdicts:?}");
    let samples = rows("samples").len();
    assert!((1..=6).contains(&samples), "{samples}");
}

#[test]
fn runs_differ_as_an_independent_count_has_it() {
    let Some(data) = collections() else {
        return;
    };
    check(&data, "SPLADE_P_P_ENSEMBLE_DISTIL.run", &SPLADE);
    check(&data, "D_BERT_KD_TASB.run", &TAS_B);
}

/// Compares two lexical rankers over the demo collection by their rankings of the pools, and does
/// the same through the server.
#[test]
fn rankers_of_a_study_are_compared_by_command_and_by_server() {
    let home = TestHome::new();
    let rest = study_lines("rank:bm25:10", &["tfc1"], &["bm25", "ql"]);
    home.make_study(study_file("pair", "A pair", demo_folder(), &rest));
    home.expect_refused(
        "compare --study pair --a bm25 --b nobody",
        "no ranker named `nobody`; there are bm25, ql",
    );
    let by_label = ["compare", "--study", "pair", "--a", "BM25", "--b", "1"];
    let by_label = home.run_with(&by_label).expect_success();
    assert!(by_label.contains("RR@10 by question class"), "{by_label}");
    let by_spec = home
        .run("compare --study pair --a bm25 --b ql")
        .expect_success();
    assert_eq!(by_spec, by_label);
    let tables = home.run("compare --study pair --a 0 --b 1 --json").json();
    assert_eq!(tables.as_array().unwrap().len(), 9);
    let server = home.serve(&[]);
    let study = "pair".to_owned();
    let asking = RankerComparisonOptions::default();
    let found = server.call(&CompareRankersRequest {
        study: study.clone(),
        options: asking.clone(),
    });
    assert_eq!(found.rankers[0].label, "BM25");
    let n = found.query_counts.n_included;
    assert!(n >= 30, "{:?}", found.query_counts);
    assert_eq!(found.rr_changes.differences.len() as u64, n);
    let listed = server.call(&ListComparedQueriesRequest {
        study: study.clone(),
        options: asking.clone(),
        page: ComparedQueryListOptions {
            limit: 5,
            sort: ComparedQuerySort::Loss,
            ..ComparedQueryListOptions::default()
        },
    });
    assert_eq!((listed.n_queries, listed.rows.len()), (n, 5));
    let query = listed.rows[0].query_id.clone();
    let sample = server.call(&GetComparedQueryRequest {
        study: study.clone(),
        options: asking.clone(),
        query_id: query,
    });
    assert_eq!(sample.metrics, listed.rows[0]);
    assert!(sample.top_docs.iter().all(|it| it.text.is_some()));
    let other = RankerComparisonOptions {
        rankers: ["bm25", "7"].map(|it| RankerRef::Ranker(it.to_owned())),
        ..asking
    };
    let refused = server.try_call(&CompareRankersRequest {
        study,
        options: other,
    });
    let (status, refused) = refused.unwrap_err();
    assert_eq!(status, 404);
    assert!(
        refused.error.contains("there are bm25, "),
        "{}",
        refused.error
    );
}
