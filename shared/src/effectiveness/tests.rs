use crate::collection::FileInput;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use test_dependencies::{TestDependency, or_skip};

use super::*;
use crate::collection::trec::{read_graded_run, read_qrels, read_run};

fn measures(list: &str) -> Vec<EffectivenessMeasure> {
    list.split(' ').map(|it| it.parse().unwrap()).collect()
}

/// Evaluates lines `query document score grade`; `-` stands for a document without a judgment or
/// without a score.
fn check(rows: &str, list: &str, expect: Expect) {
    let (mut qrels, mut run) = (Qrels::default(), Run::default());
    for row in rows.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let [query, doc, score, grade] = row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("four columns: {row}");
        };
        if let Ok(score) = score.parse() {
            let ranked = RunEntry {
                doc: doc.to_owned(),
                rank: 0,
                score,
            };
            run.0.entry(query.to_owned()).or_default().push(ranked);
        }
        if let Ok(grade) = grade.parse() {
            qrels
                .0
                .entry(query.to_owned())
                .or_default()
                .insert(doc.to_owned(), grade);
        }
    }
    let Some(found) = evaluate_run(&qrels, &run, &measures(list)) else {
        return expect.assert_eq("nothing to evaluate");
    };
    let row = |name: &str, values: &[f64]| {
        let cells: String = values.iter().map(|it| format!(" {it:.4}")).collect();
        format!("{name}{cells}\n")
    };
    let mut table = format!("    {list}\n");
    table.extend(
        found
            .per_query
            .iter()
            .map(|(query, values)| row(query, values)),
    );
    table += &row("all", &found.mean);
    expect.assert_eq(&table);
}

/// d9 and d1 tie, so d9 is first; the order is c, d9, d1, a, b with grades 0, 1, 3, -, -1. DCG = 1
/// / log2(3) + 3 / log2(4) = 2.1309; the best order 3, 2 (not retrieved), 1 has 3 + 2 / log2(3) + 1
/// / log2(4) = 4.7619: nDCG .4475. AP = (1/2 + 2/3) / 3 = .3889; AP(rel=2) = (1/3) / 2 = .1667; RR
/// 1/2 and 1/3; P@5 = 2/5; R@3 = 2/3.
#[test]
fn equal_scores_stand_in_reverse_order_of_their_ids() {
    check(
        "
        q  a   1.0  -
        q  b   0.5  -1
        q  c   3.0  0
        q  d1  2.0  3
        q  d9  2.0  1
        q  e   -    2
        ",
        "nDCG nDCG@2 AP AP@2 AP(rel=2) RR RR(rel=2) RR(rel=2)@2 P@5 P(rel=2)@5 R@3",
        expect![[r#"
                nDCG nDCG@2 AP AP@2 AP(rel=2) RR RR(rel=2) RR(rel=2)@2 P@5 P(rel=2)@5 R@3
            q 0.4475 0.1480 0.3889 0.1667 0.1667 0.5000 0.3333 0.0000 0.4000 0.2000 0.6667
            all 0.4475 0.1480 0.3889 0.1667 0.1667 0.5000 0.3333 0.0000 0.4000 0.2000 0.6667
        "#]],
    );
}

/// 16777217 is not a 32-bit float and is rounded to 16777216; -0 equals 0.
#[test]
fn scores_are_compared_as_32_bit_floats() {
    check(
        "
        far   a  16777217  1
        far   b  16777216  0
        zero  a  0.0       1
        zero  b  -0.0      0
        ",
        "RR",
        expect![[r#"
                RR
            far 0.5000
            zero 0.5000
            all 0.5000
        "#]],
    );
}

/// `none` has no relevant document and counts as 0; `unjudged` and `unranked` do not count.
#[test]
fn only_queries_with_judgements_and_documents_count() {
    check(
        "
        none      a  1.0  0
        some      a  1.0  1
        unjudged  a  1.0  -
        unranked  a  -    1
        ",
        "nDCG@10 AP RR P@1 R@10",
        expect![[r#"
                nDCG@10 AP RR P@1 R@10
            none 0.0000 0.0000 0.0000 0.0000 0.0000
            some 1.0000 1.0000 1.0000 1.0000 1.0000
            all 0.5000 0.5000 0.5000 0.5000 0.5000
        "#]],
    );
    check("q a 1.0 -", "AP", expect!["nothing to evaluate"]);
}

/// `trec_eval`'s own tests: every measure that both have, for every query and the mean, equals the
/// printed four digits. `results.test` has nine ties.
#[test]
fn numbers_are_those_of_trec_eval() {
    let Some(data) = data("trec_eval-fixtures") else {
        return;
    };
    for (judgements, results, printed, rel) in [
        ("qrels.test.gz", "results.test.gz", "out.test.aq.gz", 1),
        (
            "qrels.rel_level.gz",
            "results.test.gz",
            "out.test.aql.gz",
            2,
        ),
        ("qrels.test.gz", "results.trunc.gz", "out.test.aqc.gz", 1),
    ] {
        let (qrels, _) = read_qrels(FileInput::without_progress(
            judgements,
            &data(judgements)[..],
        ))
        .unwrap();
        let (run, _) = read_run(FileInput::without_progress(results, &data(results)[..])).unwrap();
        let printed = unpacked(&data(printed));
        let mut n_compared = 0;
        for line in printed.lines() {
            let mut columns = line.split_whitespace();
            let [Some(name), Some(query), Some(value)] = [(); 3].map(|()| columns.next()) else {
                continue;
            };
            let Some(measure) = measure_of(name, rel) else {
                continue;
            };
            let found = evaluate_run(&qrels, &run, &[measure]).unwrap();
            let n_queries = found.per_query.len() as f64;
            let ours = match (query, found.per_query.get(query)) {
                // The option -c of out.test.aqc divides by all three queries with judgments; two
                // are ranked.
                ("all", _) => found.mean[0] * n_queries / 3.0,
                (_, Some(values)) => values[0],
                (_, None) => 0.0,
            };
            assert_eq!(
                format!("{ours:.4}"),
                value,
                "{measure} of query {query}, {results}"
            );
            n_compared += 1;
        }
        assert_eq!(n_compared, 4 * 39, "{results}");
    }
}

/// Returns the measure for a name of `trec_eval`.
fn measure_of(name: &str, rel: i32) -> Option<EffectivenessMeasure> {
    let cut = name.rsplit_once('_').and_then(|(_, cut)| cut.parse().ok());
    match (name, cut) {
        ("ndcg", _) => Some(EffectivenessMeasure::Ndcg { cutoff: None }),
        ("map", _) => Some(EffectivenessMeasure::Ap { rel, cutoff: None }),
        ("recip_rank", _) => Some(EffectivenessMeasure::Rr { rel, cutoff: None }),
        (_, Some(at)) => match name.trim_end_matches(|it: char| it.is_ascii_digit()) {
            "ndcg_cut_" => Some(EffectivenessMeasure::Ndcg { cutoff: cut }),
            "map_cut_" => Some(EffectivenessMeasure::Ap { rel, cutoff: cut }),
            "P_" => Some(EffectivenessMeasure::Precision { rel, cutoff: at }),
            "recall_" => Some(EffectivenessMeasure::Recall { rel, cutoff: at }),
            _ => None,
        },
        _ => None,
    }
}

/// nDCG@10 of the five runs over the judged passages of TREC DL 2019.
#[test]
fn trec_dl_2019_runs_have_their_published_figures() {
    let Some(data) = data("trecdl-passage") else {
        return;
    };
    let (qrels, _) = read_qrels(FileInput::without_progress(
        "qrels",
        &data("qrels.tsv.gz")[..],
    ))
    .unwrap();
    let mut found = String::new();
    for name in [
        "BM25",
        "BM25_RM3",
        "D_BERT_KD_TASB",
        "OPEN_AI_ADA2",
        "SPLADE_P_P_ENSEMBLE_DISTIL",
    ] {
        let bytes = data(&format!("runs/{name}.run.gz"));
        let (run, _) = read_run(FileInput::without_progress(name, &bytes[..])).unwrap();
        let value = evaluate_run(&qrels, &run, &measures("nDCG@10")).unwrap();
        found += &format!("{name} {:.4} of {}\n", value.mean[0], value.per_query.len());
    }
    expect![[r#"
        BM25 0.5058 of 43
        BM25_RM3 0.5216 of 43
        D_BERT_KD_TASB 0.7210 of 43
        OPEN_AI_ADA2 0.7035 of 43
        SPLADE_P_P_ENSEMBLE_DISTIL 0.7308 of 43
    "#]]
    .assert_eq(&found);
}

/// MAP, MRR and P@5 of the runs of Rennings, Moraes and Hauff (ECIR 2019), whose seventh column is
/// the grade.
#[test]
fn wikipassageqa_runs_have_their_published_figures() {
    let Some(data) = data("wikipassageqa-questions") else {
        return;
    };
    let mut found = String::new();
    for name in ["anmm", "drmm", "duet", "matchpyramid"] {
        let path = format!("rennings_runs/predict.test.{name}.wikipassageqa_long.txt.gz");
        let (run, qrels, _) =
            read_graded_run(FileInput::without_progress(name, &data(&path)[..])).unwrap();
        let value = evaluate_run(&qrels, &run, &measures("AP RR P@5")).unwrap();
        let means: String = value.mean.iter().map(|it| format!(" {it:.4}")).collect();
        found += &format!("{name}{means} of {}\n", value.per_query.len());
    }
    expect![[r#"
        anmm 0.5734 0.6579 0.2087 of 414
        drmm 0.5597 0.6393 0.2024 of 414
        duet 0.2472 0.2877 0.0971 of 414
        matchpyramid 0.4388 0.5088 0.1807 of 414
    "#]]
    .assert_eq(&found);
}

/// Returns a reader of the files in one folder of the research data, which is not part of the
/// project: `AXIOSCOPE_DATA`, else `../shared/data` beside the checkout.
#[expect(clippy::disallowed_methods, reason = "a test may look beside the checkout")]
fn data(folder: &str) -> Option<impl Fn(&str) -> Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let set = std::env::var_os("AXIOSCOPE_DATA").map(PathBuf::from);
    let folder = set.unwrap_or_else(beside).join(folder);
    let reason = format!("{} is absent (set AXIOSCOPE_DATA)", folder.display());
    let folder = or_skip(
        Some(folder).filter(|it| it.is_dir()),
        TestDependency::Collections,
        &reason,
    )?;
    Some(move |file: &str| std::fs::read(folder.join(file)).unwrap())
}

fn unpacked(gzip: &[u8]) -> String {
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(gzip);
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    text
}
