//! `pairs`, `score`, `judge` and `eval`: from instances to verdicts, and from runs to measures.

use expect_test::{expect, expect_file};

use super::check;
use crate::harness::{TestHome, tiny_collection};

/// Returns a folder in which every axiom of a variant has been mined from the tiny collection.
fn mined(args: &str) -> TestHome {
    let home = TestHome::new();
    let line = format!(
        "mine --collection {} --out mined.parquet {args}",
        tiny_collection()
    );
    home.run(&line).expect_success();
    home
}

#[test]
fn judge_says_how_often_a_ranker_agrees() {
    let home = mined("--pool all");
    let rankers = ["bm25", "bm25:idf=rsj", "ql", "bm25 --delta-score 0.1"];
    let tables = rankers.map(|ranker| {
        let judge = "judge --collection TINY --instances mined.parquet --ranker";
        let line = format!("{judge} {ranker}").replace("TINY", tiny_collection());
        format!("{ranker}\n{}", home.run(&line).expect_success())
    });
    expect_file!["../../expected/judge.tsv"].assert_eq(&tables.concat());
}

#[test]
fn brought_scores_are_judged_as_the_formula_they_came_from() {
    let home = mined("--pool all");
    check(
        &home,
        "pairs --collection TINY --instances mined.parquet --out pairs.jsonl",
        expect![[r#""#]],
    );
    let pairs = home.read("pairs.jsonl");
    let derived: Vec<&str> = pairs.lines().filter(|it| it.contains("#lnc2:2")).collect();
    expect![[r#"
        {"query_id":"q1","text_id":"w1#lnc2:2","query":"river bank","text":"river mud river mud"}
    "#]]
    .assert_eq(&(derived[0].to_owned() + "\n"));
    check(
        &home,
        "score --collection TINY --pairs pairs.jsonl --ranker bm25 --out scores.tsv",
        expect![[r#""#]],
    );
    check(
        &home,
        "score --collection TINY --instances mined.parquet --ranker bm25 --out same.tsv",
        expect![[r#""#]],
    );
    let scores = home.read("scores.tsv");
    assert_eq!(scores, home.read("same.tsv"));
    assert_eq!(scores.lines().count(), pairs.lines().count());
    for line in [
        "pairs --collection TINY --instances mined.parquet --out pairs.tsv",
        "score --collection TINY --pairs pairs.tsv --ranker bm25 --out columns.tsv",
    ] {
        check(&home, line, expect![[r#""#]]);
    }
    assert_eq!(scores, home.read("columns.tsv"));
    expect!["q1	w1	1.0128567010232692e0"].assert_eq(scores.lines().next().unwrap());

    let judge = format!(
        "judge --collection {} --instances mined.parquet --json",
        tiny_collection()
    );
    let by_formula = home.run(&format!("{judge} --ranker bm25")).expect_success();
    let by_file = home
        .run(&format!("{judge} --ranker scores:scores.tsv"))
        .expect_success();
    assert_eq!(by_file, by_formula);
}

#[test]
fn pairs_are_scored_with_the_analyser_that_is_asked_for() {
    let home = TestHome::new();
    home.write("mud.txt", "mud\n");
    let mine = "mine --collection TINY --out mined.parquet --pool all --stopwords mud.txt";
    home.run(&mine.replace("TINY", tiny_collection()))
        .expect_success();
    let score = "score --collection TINY --ranker bm25";
    for line in [
        "pairs --collection TINY --instances mined.parquet --out pairs.jsonl",
        &format!("{score} --instances mined.parquet --out same.tsv"),
        &format!("{score} --pairs pairs.jsonl --out other.tsv"),
        &format!("{score} --pairs pairs.jsonl --stopwords mud.txt --out scores.tsv"),
    ] {
        check(&home, line, expect![[r#""#]]);
    }
    assert_eq!(home.read("scores.tsv"), home.read("same.tsv"));
    assert_ne!(home.read("scores.tsv"), home.read("other.tsv"));
    let line = format!("{score} --instances mined.parquet --stopwords mud.txt --out no.tsv");
    let message = home
        .run(&line.replace("TINY", tiny_collection()))
        .expect_failure()
        + "\n";
    expect![[r#"
        score: instances are scored with the analyzer they were mined with; give --tokenizer, --stopwords and --stemmer with --pairs
    "#]]
    .assert_eq(&message);
}

#[test]
fn pairs_without_a_score_are_unscored() {
    let home = mined("--pool run:tiny.run:9 --probes tfc1");
    let judge = "judge --collection TINY --instances mined.parquet --ranker scores:some.tsv";
    home.write("some.tsv", "qid\tdocid\tscore\nq1\tw2\t1\nq1\tw3\t2\n");
    check(
        &home,
        judge,
        expect![[r#"
        axiom	satisfied	tied	violated	unscored	fraction	95 % interval
        tfc1	1	0	0	1	1.0000	[0.0000, 1.0000]
    "#]],
    );
    // A run with six columns is also a score file; all documents of this run have a score.
    check(
        &home,
        &judge.replace("some.tsv", "tiny.run"),
        expect![[r#"
        axiom	satisfied	tied	violated	unscored	fraction	95 % interval
        tfc1	0	0	2	0	0.0000	[0.0000, 0.0000]
    "#]],
    );
}

#[test]
fn runs_are_evaluated_as_trec_eval_does() {
    let home = TestHome::new();
    let measures = "-m nDCG@10 -m AP -m AP(rel=2) -m RR -m P@5 -m R@2";
    let eval = format!("eval TINY/qrels.tsv TINY/runs/tiny.run {measures}");
    check(
        &home,
        &eval,
        expect![[r#"
        nDCG@10	0.8302
        AP	0.8333
        AP(rel=2)	0.3333
        RR	0.8333
        P@5	0.2667
        R@2	1.0000
    "#]],
    );
    // Names of trec_eval and display names, several in a list.
    check(
        &home,
        "eval TINY/qrels.tsv TINY/runs/tiny.run -m ndcg_cut_10,map,MRR -m P_5,recall_2",
        expect![[r#"
            ndcg_cut_10	0.8302
            map	0.8333
            MRR	0.8333
            P_5	0.2667
            recall_2	1.0000
        "#]],
    );
    check(
        &home,
        "eval TINY/qrels.tsv TINY/runs/tiny.run -m RR --per-query",
        expect![[r#"
            RR	q1	1.0000
            RR	q2	0.5000
            RR	q3	1.0000
        "#]],
    );
    let labelled = "q1 Q0 a 0 9 x 0\nq1 Q0 b 1 8 x 1\nq1 Q0 c 2 7 x 1\nq2 Q0 a 0 1 x 1\n";
    home.write("labelled.run", labelled);
    check(
        &home,
        "eval --labels-in-run labelled.run -m AP -m RR -m P@5",
        expect![[r#"
            AP	0.7917
            RR	0.7500
            P@5	0.3000
        "#]],
    );
}

#[test]
fn instances_of_another_version_of_the_collection_are_refused() {
    let home = TestHome::new();
    for file in ["corpus.jsonl", "queries.jsonl"] {
        let whole = std::fs::read_to_string(format!("{}/{file}", tiny_collection())).unwrap();
        home.write(&format!("c/{file}"), whole);
    }
    home.run("mine --collection c --pool all --out mined.parquet")
        .expect_success();
    let corpus = home.read("c/corpus.jsonl");
    home.write("c/corpus.jsonl", corpus.replace("river", "brook"));
    let lines = [
        "judge --collection c --instances mined.parquet --ranker bm25",
        "score --collection c --instances mined.parquet --ranker bm25 --out scores.tsv",
        "pairs --collection c --instances mined.parquet --out pairs.jsonl",
    ];
    for line in lines {
        let before = home.files();
        home.expect_refused(line, "mined.parquet: was mined from another version");
        assert_eq!(home.files(), before, "{line}");
        let forced = home.run(&format!("{line} --force"));
        forced.expect_stderr("warning: mined.parquet was mined from another version");
        forced.expect_success();
    }
}

#[test]
fn instances_of_manipulations_are_left_to_studies() {
    let home = TestHome::new();
    let mine = format!("mine --collection {} --pool all --out", tiny_collection());
    home.run(&format!(
        "{mine} derived.parquet --probes tfc1,reverse-words"
    ))
    .expect_success();
    // A manipulation without instances derives no documents.
    home.run(&format!("{mine} none.parquet --probes tfc1,truncate:500"))
        .expect_success();
    let expected = "derived.parquet: has instances of the manipulation `reverse-words`";
    for line in [
        "judge --ranker bm25",
        "judge --ranker bm25 --force",
        "score --ranker bm25 --out scores.tsv",
        "pairs --out pairs.jsonl",
    ] {
        let line = format!("{line} --collection {} --instances", tiny_collection());
        home.expect_refused(&format!("{line} derived.parquet"), expected);
        home.run(&format!("{line} none.parquet")).expect_success();
    }
}
