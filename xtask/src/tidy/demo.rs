//! The demo collection is large enough, and its passages do not repeat each other.
//!
//! A passage of `corpus.jsonl` has `doc_group`, its subject, and may have `variants`, the names
//! of groups of near-duplicate passages. Outside one shared variant group, no sequence of eight
//! words may occur in more than two passages.

use super::Finding;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CORPUS: &str = "demo/corpus.jsonl";
pub(super) const QUERIES: &str = "demo/queries.jsonl";
pub(super) const QRELS: &str = "demo/qrels.tsv";
pub(super) const TRANSFERS: [&str; 6] = [
    "demo/transfer/factuality.jsonl",
    "demo/transfer/fluency.jsonl",
    "demo/transfer/formality.jsonl",
    "demo/transfer/neutrality.jsonl",
    "demo/transfer/simplicity.jsonl",
    "demo/transfer/summary.jsonl",
];

const MIN_QUERIES: usize = 60;
const QUERY_WORDS: std::ops::RangeInclusive<usize> = 2..=10;
const MIN_PASSAGES: usize = 480;
const PASSAGE_WORDS: std::ops::RangeInclusive<usize> = 30..=150;
const MIN_SUBJECTS: usize = 30;
const MIN_JUDGED: usize = 12;
const MAX_GRADE: u8 = 3;
const SEQUENCE_WORDS: usize = 8;
const MAX_SHARING: usize = 2;

const MIN_PAIRS: usize = 60;

/// Sets of pairs: large enough, every text there, no pair of equal texts.
pub(super) fn check_pairs(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut ids = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let row: Value = serde_json::from_str(line).unwrap_or_default();
        let field = |name: &str| row[name].as_str().unwrap_or_default().trim().to_owned();
        let [id, query, a, b] = ["_id", "query", "a", "b"].map(field);
        let complete = [&id, &query, &a, &b].iter().all(|it| !it.is_empty());
        if !complete || a == b || !ids.insert(id) {
            let what = "lacks `_id`, `query`, `a` or `b`, has two equal texts, or an id twice";
            findings.push(Finding::at_line(file, index + 1, what));
        }
    }
    if ids.len() < MIN_PAIRS {
        let what = format!("has {} pairs, {MIN_PAIRS} are wanted", ids.len());
        findings.push(Finding::at_line(file, 1, what));
    }
    findings
}

struct Passage {
    id: String,
    line: usize,
    words: Vec<String>,
    subject: Option<String>,
    variants: BTreeSet<String>,
}

pub(super) fn check(corpus: &str, queries: &str, qrels: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let passages = passages(corpus, &mut findings);
    check_passages(&passages, &mut findings);
    check_sequences(&passages, &mut findings);
    let queries = check_queries(queries, &mut findings);
    let ids = passages.iter().map(|it| &*it.id).collect();
    check_qrels(qrels, &queries, &ids, &mut findings);
    findings
}

fn passages(corpus: &str, findings: &mut Vec<Finding>) -> Vec<Passage> {
    let mut passages = Vec::new();
    for (index, line) in corpus.lines().enumerate() {
        match passage(line, index + 1) {
            Ok(passage) => passages.push(passage),
            Err(what) => findings.push(Finding::at_line(CORPUS, index + 1, what)),
        }
    }
    passages
}

fn passage(line: &str, number: usize) -> Result<Passage, String> {
    let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let strings = |field: &str| -> BTreeSet<String> {
        match row.get(field).or_else(|| row.get("metadata")?.get(field)) {
            Some(Value::String(one)) => [one.clone()].into(),
            Some(Value::Array(all)) => all
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => BTreeSet::new(),
        }
    };
    Ok(Passage {
        id: text(&row, "_id")?.to_owned(),
        line: number,
        words: words(text(&row, "text")?),
        subject: strings("doc_group").into_iter().next(),
        variants: strings("variants"),
    })
}

fn text<'a>(row: &'a Value, field: &str) -> Result<&'a str, String> {
    row.get(field)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("no text in `{field}`"))
}

/// Lower-cased runs of `[a-z0-9]`.
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn check_passages(passages: &[Passage], findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for passage in passages {
        let mut say = |what| findings.push(Finding::at_line(CORPUS, passage.line, what));
        if !seen.insert(&passage.id) {
            say(format!("`{}` is there twice", passage.id));
        }
        let n_words = passage.words.len();
        if !PASSAGE_WORDS.contains(&n_words) {
            say(format!(
                "`{}` has {n_words} words, not 30 to 150",
                passage.id
            ));
        }
        if passage.subject.is_none() {
            say(format!("`{}` has no `doc_group`", passage.id));
        }
    }
    let subjects: BTreeSet<_> = passages
        .iter()
        .filter_map(|it| it.subject.as_ref())
        .collect();
    findings.extend(at_least(CORPUS, passages.len(), MIN_PASSAGES, "passages"));
    findings.extend(at_least(
        CORPUS,
        subjects.len(),
        MIN_SUBJECTS,
        "subjects (`doc_group`)",
    ));
}

fn check_sequences(passages: &[Passage], findings: &mut Vec<Finding>) {
    let mut holders: BTreeMap<&[String], Vec<&Passage>> = BTreeMap::new();
    for passage in passages {
        let sequences: BTreeSet<_> = passage.words.windows(SEQUENCE_WORDS).collect();
        for sequence in sequences {
            holders.entry(sequence).or_default().push(passage);
        }
    }
    // Of overlapping sequences in the same passages, one says it.
    let mut told = BTreeSet::new();
    for (sequence, holders) in &holders {
        if holders.len() <= MAX_SHARING || share_a_group(holders) {
            continue;
        }
        let ids: Vec<&str> = holders.iter().map(|it| &*it.id).collect();
        if told.insert(ids.clone()) {
            let what = format!("`{}` stands in {}", sequence.join(" "), ids.join(", "));
            findings.push(Finding::at_line(CORPUS, holders[0].line, what));
        }
    }
}

fn share_a_group(passages: &[&Passage]) -> bool {
    let Some((first, rest)) = passages.split_first() else {
        return true;
    };
    first
        .variants
        .iter()
        .any(|group| rest.iter().all(|it| it.variants.contains(group)))
}

/// The ids of the queries.
fn check_queries(queries: &str, findings: &mut Vec<Finding>) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for (index, line) in queries.lines().enumerate() {
        let mut say = |what| findings.push(Finding::at_line(QUERIES, index + 1, what));
        let row: Value = match serde_json::from_str(line) {
            Ok(row) => row,
            Err(error) => {
                say(error.to_string());
                continue;
            }
        };
        match (text(&row, "_id"), text(&row, "text")) {
            (Ok(id), Ok(text)) => {
                let n_words = text.split_whitespace().count();
                if !QUERY_WORDS.contains(&n_words) {
                    say(format!("`{text}` has {n_words} words, not 2 to 10"));
                }
                if !ids.insert(id.to_owned()) {
                    say(format!("`{id}` is there twice"));
                }
            }
            (Err(what), _) | (_, Err(what)) => say(what),
        }
    }
    findings.extend(at_least(QUERIES, ids.len(), MIN_QUERIES, "queries"));
    ids
}

fn check_qrels(
    qrels: &str,
    queries: &BTreeSet<String>,
    passages: &BTreeSet<&str>,
    findings: &mut Vec<Finding>,
) {
    let mut judged: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (index, line) in qrels.lines().enumerate() {
        let columns: Vec<&str> = line.split('\t').collect();
        // The usual first line: query-id, corpus-id, score.
        if index == 0 && columns.first() == Some(&"query-id") {
            continue;
        }
        let mut say = |what| findings.push(Finding::at_line(QRELS, index + 1, what));
        // Of BEIR, or of TREC with its unused second column.
        let (&[query, passage, grade] | &[query, _, passage, grade]) = columns.as_slice() else {
            say(format!("{} columns, not 3 or 4", columns.len()));
            continue;
        };
        if !queries.contains(query) {
            say(format!("there is no query `{query}`"));
        }
        if !passages.contains(passage) {
            say(format!("there is no passage `{passage}`"));
        }
        if !grade.parse::<u8>().is_ok_and(|it| it <= MAX_GRADE) {
            say(format!("grade `{grade}` is not one of 0 to {MAX_GRADE}"));
        }
        if !judged.entry(query).or_default().insert(passage) {
            say(format!("`{passage}` is judged twice for `{query}`"));
        }
    }
    for query in queries {
        let n_judged = judged.get(&**query).map_or(0, BTreeSet::len);
        findings.extend(at_least(
            QRELS,
            n_judged,
            MIN_JUDGED,
            &format!("judged for `{query}`"),
        ));
    }
}

fn at_least(path: &str, n: usize, min: usize, what: &str) -> Option<Finding> {
    (n < min).then(|| Finding::at(path, format!("{n} {what}, at least {min} expected")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;

    /// A collection without fault, to be spoiled at one place.
    struct Good {
        corpus: Vec<String>,
        queries: Vec<String>,
        qrels: Vec<String>,
    }

    fn good() -> Good {
        let corpus = (0..480)
            .map(|it| passage_line(it, &prose(it), ""))
            .collect();
        let queries = (0..60)
            .map(|it| format!(r#"{{"_id":"q{it}","text":"two words"}}"#))
            .collect();
        let qrels = (0..60 * 12).map(|it| format!("q{}\td{}\t{}", it / 12, it % 12, it % 4));
        Good {
            corpus,
            queries,
            qrels: qrels.collect(),
        }
    }

    /// Forty words that no other passage has.
    fn prose(passage: usize) -> String {
        (0..40).map(|it| format!("w{passage}x{it} ")).collect()
    }

    fn passage_line(number: usize, text: &str, more: &str) -> String {
        let subject = number % 30;
        format!(r#"{{"_id":"d{number}","text":"{text}","doc_group":"s{subject}"{more}}}"#)
    }

    fn check_good(spoil: impl FnOnce(&mut Good), expected: &str) {
        let mut it = good();
        spoil(&mut it);
        let findings = check(
            &it.corpus.join("\n"),
            &it.queries.join("\n"),
            &it.qrels.join("\n"),
        );
        assert_eq!(shown(&findings).trim_end(), expected);
    }

    #[test]
    fn a_good_collection_has_no_findings() {
        check_good(|_| {}, "");
        check_good(
            |it| it.qrels.insert(0, "query-id\tcorpus-id\tscore".into()),
            "",
        );
    }

    #[test]
    fn too_few_are_found() {
        check_good(
            |it| it.corpus.truncate(479),
            "demo/corpus.jsonl: 479 passages, at least 480 expected",
        );
        check_good(
            |it| {
                it.corpus
                    .iter_mut()
                    .for_each(|it| *it = it.replace("\"s29\"", "\"s28\""))
            },
            "demo/corpus.jsonl: 29 subjects (`doc_group`), at least 30 expected",
        );
        check_good(
            |it| {
                it.queries.pop();
                it.qrels.truncate(59 * 12);
            },
            "demo/queries.jsonl: 59 queries, at least 60 expected",
        );
        check_good(
            |it| it.qrels.truncate(60 * 12 - 1),
            "demo/qrels.tsv: 11 judged for `q59`, at least 12 expected",
        );
    }

    #[test]
    fn lengths_are_bounded() {
        check_good(
            |it| it.corpus[3] = passage_line(3, "too short", ""),
            "demo/corpus.jsonl:4: `d3` has 2 words, not 30 to 150",
        );
        check_good(
            |it| it.queries[0] = r#"{"_id":"q0","text":"one"}"#.into(),
            "demo/queries.jsonl:1: `one` has 1 words, not 2 to 10",
        );
    }

    #[test]
    fn judgements_fit_the_collection() {
        check_good(
            |it| it.qrels.push("q0\td99999\t4".into()),
            "demo/qrels.tsv:721: there is no passage `d99999`\n\
             demo/qrels.tsv:721: grade `4` is not one of 0 to 3",
        );
    }

    #[test]
    fn three_passages_share_no_eight_words() {
        let shared = "One two, three four five six seven eight";
        let with = |it: &mut Good, which: &[usize], more: &str| {
            for &number in which {
                let text = prose(number) + shared;
                it.corpus[number] = passage_line(number, &text, more);
            }
        };
        check_good(|it| with(it, &[5, 7], ""), "");
        check_good(
            |it| with(it, &[5, 7, 9], ""),
            "demo/corpus.jsonl:6: `one two three four five six seven eight` stands in d5, d7, d9",
        );
        check_good(|it| with(it, &[5, 7, 9], r#","variants":["tides"]"#), "");
        check_good(
            |it| {
                with(it, &[5, 7, 9], r#","variants":["tides"]"#);
                with(it, &[11], r#","variants":"moons""#);
            },
            "demo/corpus.jsonl:6: `one two three four five six seven eight` \
             stands in d5, d7, d9, d11",
        );
    }
}
