//! The behavioral tests of ABNIRML on collections that we may not distribute.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::harness::{LIMITS, TestHome, collections};

/// The counts of `tests/reference/measure_and_match.py` on TREC DL 2019 with Terrier's stop list.
pub(crate) const EXPECTED_MATCHES: [(&str, u64); 18] = [
    ("match:length:overlap", 9_123),
    ("match:length:relevance", 9_251),
    ("match:length:sum-tf", 12_642),
    ("match:length:tf", 9_991),
    ("match:overlap:length", 1_778),
    ("match:overlap:relevance", 2_208),
    ("match:overlap:sum-tf", 1_778),
    ("match:overlap:tf", 1_154),
    ("match:relevance:length", 241_557),
    ("match:relevance:overlap", 166_568),
    ("match:relevance:sum-tf", 177_203),
    ("match:relevance:tf", 140_538),
    ("match:sum-tf:length", 120_148),
    ("match:sum-tf:overlap", 68_985),
    ("match:sum-tf:relevance", 52_403),
    ("match:tf:length", 86_507),
    ("match:tf:overlap", 35_344),
    ("match:tf:relevance", 30_301),
];

/// For pairs of equal TF and each variable: how many the published walk finds according to the same
/// script, and how many there are.
const EXPECTED_WALK_COUNTS: [(&str, u64, u64); 3] = [
    ("Length", 62_716, 86_507),
    ("Overlap", 11_553, 35_344),
    ("Relevance", 18_891, 30_301),
];

/// Returns the definition of a study over the judged passages of TREC DL 2019, with Terrier's stop
/// list.
pub(crate) fn definition(data: &Path, rankers: &str, probes: &str, transfers: &str) -> String {
    let resources = data.join("abnirml-resources");
    let stops = std::fs::read_to_string(resources.join("terrier-stops.txt")).unwrap();
    let mut stops: Vec<&str> = stops.lines().filter(|it| !it.is_empty()).collect();
    stops.sort_unstable();
    let [stop_words, misspellings] = ["terrier-stops.txt", "wiki_typos.tsv"];
    format!(
        "format = 1\nname = \"behaviours\"\ntitle = \"Behaviours\"\ncollection = {:?}\n\
         pool = \"judged\"\nprobes = {probes}\nmodes = [\"fixed\"]\nrankers = {rankers}\n\
         analyzer = {{ stopwords = {{ list = {stops:?} }} }}\n\
         lookups = {{ stop_words = {:?}, misspellings = {:?} }}\n{transfers}{LIMITS}",
        data.join("trecdl-passage"),
        resources.join(stop_words),
        resources.join(misspellings),
    )
}

/// Returns the definition of the transfer sets of JFLEG and of Microsoft's paraphrase corpus.
pub(crate) fn transfers(data: &Path) -> String {
    let pairs = |name: &str, more: &str| {
        let file = data.join(name).join("pairs.jsonl.gz");
        format!("{{ name = {name:?}, file = {file:?}, queries = \"noun-phrase\"{more} }}")
    };
    format!(
        "transfers = [{}, {}]\n",
        pairs("jfleg", ""),
        pairs("mspc", ", symmetric = true")
    )
}

/// Returns the rows of the effect table of such a study, by behavioral test and slice; BM25 is the
/// only ranker.
fn effects(data: &Path, home: &TestHome, probes: &str, transfers: &str) -> BTreeMap<String, Value> {
    home.write(
        "study.toml",
        definition(data, "[\"bm25\"]", probes, transfers),
    );
    home.run("study run study.toml").expect_success();
    let tables = home
        .run("report behaviours --format json --tie-threshold 0")
        .json();
    let tables = tables.as_array().unwrap().iter();
    let table = tables.clone().find(|it| it["name"] == "effects").unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    let named = rows.map(|row| {
        let text = |at: usize| row[at]["text"].as_str().unwrap();
        (format!("{} {}", text(0), text(1)), row.clone())
    });
    named.collect()
}

pub(crate) fn count(row: &Value, at: usize) -> u64 {
    row[at]["count"].as_u64().unwrap()
}

/// Returns the numbers of positive, neutral and negative samples.
fn outcomes(row: &Value) -> [u64; 3] {
    [5, 6, 7].map(|at| count(row, at))
}

#[test]
fn pairs_are_matched_as_an_independent_count_has_them() {
    let Some(data) = collections() else {
        return;
    };
    let found = effects(&data, &TestHome::new(), "[\"match\"]", "");
    assert_eq!(found.len(), EXPECTED_MATCHES.len());
    for (probe, n) in EXPECTED_MATCHES {
        let row = &found[&format!("{probe} all")];
        assert_eq!(count(row, 4), n, "{probe}");
        assert_eq!(outcomes(row).iter().sum::<u64>(), n, "{probe}");
    }
}

/// A lexical ranker does not see the order of terms, the boundaries of sentences, or letter case.
#[test]
fn what_a_formula_cannot_see_it_does_not_prefer() {
    let Some(data) = collections() else {
        return;
    };
    let found = effects(&data, &TestHome::new(), "[\"manipulations\"]", "");
    let all = |slug: &str| outcomes(&found[&format!("{slug} all")]);
    for slug in [
        "shuffle-words",
        "shuffle-sentences",
        "shuffle-words-in-sentences",
        "shuffle-around-phrases",
        "shuffle-around-phrases-in-sentences",
        "shuffle-phrases",
        "shuffle-prepositions",
        "reverse-words",
        "reverse-sentences",
        "reverse-phrases",
        "swap-words",
        "case-fold",
        "remove-punctuation",
    ] {
        let [positive, neutral, negative] = all(slug);
        assert_eq!((positive, negative), (0, 0), "{slug}");
        assert!(neutral > 3_000, "{slug}: {neutral}");
    }
    // Query terms are only added, or only removed.
    for slug in ["prepend-query", "append-query"] {
        let [positive, _, negative] = all(slug);
        assert!(positive > 6_000 && negative == 0, "{slug}");
    }
    let [positive, neutral, negative] = all("drop-query-terms");
    assert!(positive == 0 && neutral == 0 && negative > 5_000);
    for slug in ["remove-stops", "typos", "lemmatize"] {
        let n = |slice: &str| count(&found[&format!("{slug} {slice}")], 4);
        assert_eq!(n("all"), n("relevant") + n("not relevant"), "{slug}");
    }
}

#[test]
fn pairs_of_other_data_sets_are_samples_unless_they_are_the_same() {
    let Some(data) = collections() else {
        return;
    };
    let home = TestHome::new();
    let found = effects(&data, &home, "[]", &transfers(&data));
    // There are 754 sentences with four corrections each; 423 corrections change nothing.
    let report = home.run("report behaviours").expect_success();
    assert!(
        report.contains("jfleg: of 3,016 pairs, 423 identical ones"),
        "{report}"
    );
    assert!(
        report.contains("mspc: of 3,900 pairs, 0 identical ones"),
        "{report}"
    );
    let jfleg = &found["transfer:jfleg all"];
    assert!(count(jfleg, 4) > 2_000, "{jfleg}");
    let n_units = count(jfleg, 16);
    assert!(
        n_units <= 754,
        "the corrections of a sentence are one unit: {n_units}"
    );
    let mspc = &found["symmetric:mspc all"];
    assert_eq!(outcomes(mspc)[2], 0, "no side is the preferred one: {mspc}");
    assert_eq!(count(mspc, 4), outcomes(mspc).iter().sum::<u64>());
}

/// Counts what the published code of ABNIRML does on the same documents: its walk over neighbors as
/// implemented in `tests/reference/measure_and_match.py`.
#[test]
fn the_published_code_of_abnirml_misses_pairs_and_loses_words() {
    let Some(data) = collections() else {
        return;
    };
    let home = TestHome::new();
    let resources = data.join("abnirml-resources");
    let make = format!(
        "reproduce abnirml --table 3 --collection {} --stopwords {} --misspellings {} \
         --transfer jfleg={} --json",
        data.join("trecdl-passage").display(),
        resources.join("terrier-stops.txt").display(),
        resources.join("wiki_typos.tsv").display(),
        data.join("jfleg/pairs.jsonl.gz").display(),
    );
    let tables = home.run(&make).json();
    let defects = tables[1]["rows"].as_array().unwrap();
    let text = |row: &Value, at: usize| row[at]["text"].as_str().unwrap_or_default().to_owned();
    let counts = |what: &str, one: &str| {
        let mut rows = defects.iter();
        let row = rows.find(|it| text(it, 0).starts_with(what) && text(it, 1).contains(one));
        let row = row.unwrap_or_else(|| panic!("{what}, {one}: {defects:#?}"));
        [2, 4].map(|at| count(row, at))
    };
    for (variable, met, all) in EXPECTED_WALK_COUNTS {
        let of = format!("{variable} | TF");
        assert_eq!(counts("Documents with equal TF", &of), [met, all]);
        assert!(met < all);
    }
    // The data have no query whose vectors are all equal, so this row has an example.
    assert_eq!(counts("The walk back", "in an example"), [2, 1]);
    let [lost, lost_by_ours] = counts("Shuffled prepositions", "words lost");
    assert!(lost > 1_000 && lost_by_ours == 0, "{lost} {lost_by_ours}");
    let [put, prepositions] = counts("Most character positions", "prepositions");
    assert!(0 < put && put < prepositions / 2, "{put} {prepositions}");
    // BM25 is never below 0; QL is wherever the collection contains a query term.
    let missing = |ranker: &str| counts("A document that Terrier", ranker);
    let [below, all] = missing("BM25");
    assert!(below == 0 && all > 10_000);
    let [below, all] = missing("QL");
    assert!(below > all / 10 * 9, "{below} of {all}");
    // Of 3,016 corrections, 423 change nothing.
    let identical = defects
        .iter()
        .filter(|it| text(it, 0).starts_with("Identical"));
    let identical: Vec<&Value> = identical.collect();
    assert_eq!(identical.len(), 1, "{defects:#?}");
    for row in identical {
        let [theirs, ours] = [2, 4].map(|at| row[at]["difference"].as_f64().unwrap());
        assert!(theirs.abs() < ours.abs(), "{row}");
        assert!(text(row, 1).contains("423 identical"), "{row}");
    }
    // With a tie threshold of 0, no sample with different scores is neutral.
    let without_threshold = defects
        .iter()
        .filter(|it| text(it, 0).starts_with("The command line"));
    let without_threshold: Vec<&Value> = without_threshold.collect();
    assert!(!without_threshold.is_empty(), "{defects:#?}");
    for row in without_threshold {
        let [zero, tuned] = [2, 4].map(|at| row[at]["fraction"].as_f64().unwrap());
        assert!(zero < tuned, "{row}");
    }
    // The same study is used for the other tables.
    let beside = |table: u8| {
        let line = format!("reproduce abnirml --table {table} --study reproduce-abnirml --json");
        home.run(&line).json()[0]["rows"]
            .as_array()
            .unwrap()
            .clone()
    };
    let samples = |rows: &[Value], column: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|it| text(it, 0) == "samples" && text(it, 1) == column);
        count(row.unwrap_or_else(|| panic!("{column}")), 4)
    };
    assert_eq!(samples(&beside(1), "Relevance | TF"), 30_301);
    // The judged passages of grade 2 or 3 that have a text, of 2,501.
    let relevant = samples(&beside(2), "Query, relevant");
    assert!((2_000..=2_501).contains(&relevant), "{relevant}");
}
