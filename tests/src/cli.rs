//! The command line on the tiny collection: what every subcommand prints and writes.

use std::fs;
use std::io::Write;

use expect_test::{Expect, expect, expect_file};
use serde_json::Value;

use crate::harness::{Home, LIMITS, tiny};

/// Runs a line, with `TINY` for the tiny collection, and compares what it prints.
fn check(home: &Home, line: &str, expected: Expect) {
    expected.assert_eq(&home.run(&line.replace("TINY", tiny())).done());
}

/// A folder in which every axiom of a mode is mined from the tiny collection.
fn mined(args: &str) -> Home {
    let home = Home::new();
    let line = format!("mine --collection {} --out mined.parquet {args}", tiny());
    home.run(&line).done();
    home
}

#[test]
fn every_axiom_has_instances_in_every_mode() {
    let home = Home::new();
    let mine = "mine --collection TINY --pool all --out mined.parquet";
    check(
        &home,
        mine,
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	4
            lnc1	3
            lnc2	45
            tp	4
            hash	659dc691d0a672457ae36feb3f9d60cf6c1b0250a27c0b48ca76b54e2e85e5a5
        "#]],
    );
    check(
        &home,
        &format!("{mine} --mode paper"),
        expect![[r#"
            tfc1	125
            tfc2	4
            mtdc	6
            lnc1	106
            lnc2	36
            tp	4
            hash	98777587aa0c8af18348f45100f84de687f41f045a2b4e1e8aa4bb6da7b599aa
        "#]],
    );
    check(
        &home,
        &format!("{mine} --mode code"),
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	8
            lnc1	32
            lnc2	36
            tp	4
            hash	660ad6d8a71933883d099f44b97bb21e45525aad6e14cb25560e35062228b0e6
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset rennings2019 --out mined.parquet",
        expect![[r#"
            tfc1	40
            tfc2	4
            mtdc	4
            lnc1	3
            lnc2	45
            tp	4
            hash	705db3da649bf284f81b41e8c4c3a4a876d94fa283dac5d709b35324968e3165
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset rennings2019 --mode paper --out mined.parquet",
        expect![[r#"
            tfc1	40
            tfc2	4
            mtdc	6
            lnc1	7
            lnc2	57
            tp	4
            hash	e429c06259d253c3f8fad8d30c369ba50776a41e1afc6c12913335dce36e1fc8
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset camara2020 --tokenizer alnum --mode code \
         --out mined.parquet",
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	8
            lnc1	8
            lnc2	15
            tp	4
            hash	112e78a5585601cb1b299f46c6715d70334b9c3e6d58a4acc41d4a59a156f58a
        "#]],
    );
}

#[test]
fn judge_says_how_often_a_ranker_agrees() {
    let home = mined("--pool all");
    let rankers = ["bm25", "bm25:idf=rsj", "ql", "bm25 --delta-score 0.1"];
    let tables = rankers.map(|ranker| {
        let judge = "judge --collection TINY --instances mined.parquet --ranker";
        let line = format!("{judge} {ranker}").replace("TINY", tiny());
        format!("{ranker}\n{}", home.run(&line).done())
    });
    expect_file!["../expected/judge.tsv"].assert_eq(&tables.concat());
}

#[test]
fn with_json_standard_output_holds_one_object_and_nothing_else() {
    let home = Home::new();
    let object = |line: &str| {
        let out = home.run(&line.replace("TINY", tiny())).done();
        assert_eq!(out.matches('\n').count(), 1, "{out}");
        let Value::Object(object) = serde_json::from_str(&out).unwrap() else {
            panic!("{out}")
        };
        object
    };
    let found = object("import TINY --to tiny --json");
    assert_eq!((&found["docs"], &found["queries"]), (&12.into(), &3.into()));

    let found = object("mine --collection TINY --pool all --out mined.parquet --json");
    expect![[r#"{"tfc1":22,"tfc2":4,"mtdc":4,"lnc1":3,"lnc2":45,"tp":4}"#]]
        .assert_eq(&found["instances"].to_string());
    assert_eq!(found["hash"].as_str().unwrap().len(), 64);

    let judge = "judge --collection TINY --instances mined.parquet --ranker bm25 --json";
    let found = object(judge);
    expect![[r#"
        satisfied 22
        tied 0
        violated 0
        unscored 0
        fraction 1.0000
        interval 1.0000 1.0000
        over_queries 1.0000
        over_queries_interval 1.0000 1.0000
        p 0.2500
        n_queries 3
        mode "fixed"
    "#]]
    .assert_eq(&rounded(&found["tfc1"]));

    let eval = format!(
        "eval {0}/qrels.tsv {0}/runs/tiny.run -m nDCG@10 -m P@5 --json",
        tiny()
    );
    assert_eq!(object(&eval).keys().collect::<Vec<_>>(), ["P@5", "nDCG@10"]);
    let per_query = object(&format!("{eval} --per-query"));
    let queries = per_query["P@5"].as_object().unwrap();
    assert_eq!(queries.keys().collect::<Vec<_>>(), ["q1", "q2", "q3"]);
}

/// Numbers to four digits, since those of an interval have seventeen.
fn rounded(row: &Value) -> String {
    let number = |it: &Value| match it.as_f64() {
        Some(number) if !it.is_u64() => format!("{number:.4}"),
        _ => it.to_string(),
    };
    let fields = row
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| match value.as_array() {
            Some(both) => format!(
                "{name} {}\n",
                both.iter().map(number).collect::<Vec<_>>().join(" ")
            ),
            None => format!("{name} {}\n", number(value)),
        });
    fields.collect()
}

#[test]
fn a_run_is_found_where_it_may_lie() {
    let home = Home::new();
    let pool = |file: &str| {
        let pool = format!("--pool run:{file}:3 --probes tfc1 --json");
        let mine = format!("mine --collection {} --out mined.parquet {pool}", tiny());
        home.run(&mine).json()["hash"].clone()
    };
    let expected = pool("tiny.run");

    let run = fs::read(format!("{}/runs/tiny.run", tiny())).unwrap();
    home.write("here/plain.run", &run);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&run).unwrap();
    home.write("gzip.run.gz", packer.finish().unwrap());
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    home.write(
        "zstd.run.zst",
        ruzstd::encoding::compress_to_vec(&run[..], fastest),
    );
    let absolute = home.path("here/plain.run");
    for file in [
        "here/plain.run",
        "gzip.run.gz",
        "gzip.run",
        "zstd.run.zst",
        "zstd.run",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(pool(file), expected, "{file}");
    }
}

#[test]
fn only_the_first_queries_count() {
    let home = Home::new();
    let mine = "mine --collection TINY --probes tfc1,tp --pool all --out mined.parquet";
    check(
        &home,
        &format!("{mine} --queries 1"),
        expect![[r#"
            tfc1	11
            tp	2
            hash	81e8c4ec00c4288e802ef2e1eaf4a4362dfde8f27ad7229482deb9d45d76552f
        "#]],
    );
    check(
        &home,
        &format!("{mine} --queries 0"),
        expect![[r#"
            tfc1	0
            tp	0
            hash	27163ab962d0833a026fc2af5143528164484f2fbec3a7d90e53a82a960a839c
        "#]],
    );
    check(
        &home,
        &format!("{mine} --queries 99"),
        expect![[r#"
            tfc1	22
            tp	4
            hash	cf5173d7d1a5673d5775bc77cf310fe75e7ea86e35311e5af87bfcfc4b236490
        "#]],
    );
    check(
        &home,
        "rank --collection TINY --ranker bm25 --top 2 --queries 1 --out a.run",
        expect![[r#""#]],
    );
    expect![[r##"
        # ir_metadata.start
        # platform:
        #   software:
        #     axioscope: "0.1.0"
        # implementation:
        #   source:
        #     lang: ["rust"]
        # method:
        #   automatic: true
        #   indexing:
        #     analyzer: "alnum, no stop list, porter"
        #   retrieval:
        #     - name: "BM25"
        #       parameters: "k1 1.2, b 0.75"
        #       spec: "bm25:k1=1.2,b=0.75,k3=inf,idf=lucene"
        # data:
        #   test_collection:
        #     name: "tiny"
        #     sha256: "6c8e6f5af92ab26ab5085f563333ac9e638ff73e066781d8edbfe650f5ace61e"
        #     documents: 12
        #     queries: 1
        # ir_metadata.end
        q1 Q0 w3 1 2.1347724383100837e0 bm25:k1=1.2,b=0.75,k3=inf,idf=lucene
        q1 Q0 w2 2 1.9633462308794627e0 bm25:k1=1.2,b=0.75,k3=inf,idf=lucene
    "##]]
    .assert_eq(&home.read("a.run"));
}

#[test]
fn a_preset_without_published_code_has_no_mode_code() {
    let home = Home::new();
    let mine = format!("mine --collection {} --out mined.parquet", tiny());
    let refused = home
        .run(&format!("{mine} --mode code --preset rennings2019"))
        .refused()
        + "\n";
    expect![[r#"
        mode: `rennings2019` has no mode `code`, since its extraction scripts were not published; take `fixed` or `paper`
    "#]].assert_eq(&refused);
    assert!(home.files().is_empty());
}

#[test]
fn a_draw_is_the_same_each_time_and_says_its_share() {
    let home = Home::new();
    let mine = "mine --collection TINY --pool all --out mined.parquet --per-query 3";
    for _ in 0..2 {
        check(
            &home,
            mine,
            expect![[r#"
            tfc1	9	sampled 0.4091
            tfc2	3	sampled 0.7500
            mtdc	4
            lnc1	3
            lnc2	9	sampled 0.2000
            tp	4
            hash	3fb1632bc03525d0ae5a8223dfcb135fcbcb52d02dec1eb1f1f6ca4a33630470
            "#]],
        );
    }
    check(
        &home,
        &format!("{mine} --seed 7 --probes tfc1"),
        expect![[r#"
            tfc1	9	sampled 0.4091
            hash	e7953a25a955fe6c507fbdd11ca221ebdb82f27cf3e63122d68a53666582a356
        "#]],
    );
    let line = format!("{} --json --probes tfc1", mine.replace("TINY", tiny()));
    expect![[r#"{"tfc1":0.4090909090909091}"#]]
        .assert_eq(&home.run(&line).json()["sampled"].to_string());
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
    expect!["q1	w1	1.0128567010232692e0"].assert_eq(scores.lines().next().unwrap());

    let judge = format!(
        "judge --collection {} --instances mined.parquet --json",
        tiny()
    );
    let by_formula = home.run(&format!("{judge} --ranker bm25")).done();
    let by_file = home
        .run(&format!("{judge} --ranker scores:scores.tsv"))
        .done();
    assert_eq!(by_file, by_formula);
}

#[test]
fn pairs_are_scored_with_the_analyser_that_is_asked_for() {
    let home = Home::new();
    home.write("mud.txt", "mud\n");
    let mine = "mine --collection TINY --out mined.parquet --pool all --stopwords mud.txt";
    home.run(&mine.replace("TINY", tiny())).done();
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
    let message = home.run(&line.replace("TINY", tiny())).refused() + "\n";
    expect![[r#"
        score: instances are scored with the analyser they were mined with; give --tokenizer, --stopwords and --stemmer with --pairs
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
    // A run of six columns is a file of scores too; all of this run's documents have one.
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
    let home = Home::new();
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

const STUDY: &str = r#"
format = 1
name = "small"
title = "Rivers & foxes"
collection = "tiny"
pool = "all"
probes = ["tfc1", "tfc2", "mtdc", "lnc1", "lnc2", "tp"]
modes = ["fixed", "code"]
rankers = ["bm25", "ql", "scores:own.tsv"]
"#;

/// A folder with the study above.
pub(crate) fn studied() -> Home {
    let home = Home::new();
    home.run(&format!("import {} --to tiny", tiny())).done();
    home.write("study.toml", format!("{STUDY}{LIMITS}"));
    home.write(
        "data/collections/tiny/runs/own.tsv",
        "q1 w2 0.5\nq1 w3 0.25\nq1 w1 0.125\n",
    );
    home.run("study run study.toml").done();
    home
}

#[test]
fn a_study_is_made_listed_checked_published_and_exported() {
    let home = studied();
    let today = |it: &str| {
        it.split('\t')
            .enumerate()
            .filter(|it| it.0 != 1)
            .fold(String::new(), |row, (_, column)| {
                row + column.trim_end() + "\n"
            })
    };
    let listed = || today(&home.run("study list").done());
    expect![[r#"
        small
        188 instances
        withdrawn
        Rivers & foxes
    "#]]
    .assert_eq(&listed());
    check(
        &home,
        "study check small",
        expect![[r#"
            the same instances: 6a1188ed9b5460c6484e2dfdb4214ad1257f0b45fb72b019dd621e1af93e475a
        "#]],
    );
    check(&home, "study publish small", expect![[r#""#]]);
    assert!(listed().contains("\npublished\n"));
    check(&home, "study withdraw small", expect![[r#""#]]);
    assert!(listed().contains("\nwithdrawn\n"));
    check(
        &home,
        "study resume small",
        expect![[r#"
        1 rankers were added
    "#]],
    );

    check(
        &home,
        "study export small --out site/studies",
        expect![[r#"
        site/studies holds study `small`
    "#]],
    );
    let study: shared::study::Study =
        serde_json::from_str(&home.read("site/studies/small.json")).unwrap();
    assert_eq!(
        (study.docs.len(), study.queries.len(), study.scores.len()),
        (12, 3, 3)
    );
    let cards: Vec<shared::study::overview::Card> =
        serde_json::from_str(&home.read("site/studies/index.json")).unwrap();
    assert_eq!(
        cards.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        ["small"]
    );
}

#[test]
fn a_check_that_finds_another_collection_ends_with_code_3() {
    let home = studied();
    let corpus = home.read("data/collections/tiny/corpus.jsonl");
    home.write(
        "data/collections/tiny/corpus.jsonl",
        corpus.replace("mud boat", "river boat"),
    );
    let ran = home.run("study check small");
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.out.starts_with("other instances: stored "),
        "{}",
        ran.out
    );
}

#[test]
fn a_report_comes_in_five_formats() {
    let home = studied();
    let report = |format: &str| home.run(&format!("report small --format {format}")).done();
    expect![[r#"
        ## Rivers &amp; foxes: how often each ranker orders texts as the axiom says

        | ranker | TFC1 | TFC2 | M-TDC | LNC1 | LNC2 | TP | nDCG@10 | RR@10 | AP | P@5 |
        | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
        | BM25 | 1.00 [1.00, 1.00] | .5 [.0, 1.0] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 | 1.00 | 1.00 | .27 |
        | QL | .95 [.91, 1.00] | .5 [.0, 1.0] | .8 [.5, 1.0] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 | 1.00 | 1.00 | .27 |
        | own | .7 [.0, 1.0] | 1.0 [.0, 1.0] | – | – | – | – | .86 | 1.00 | 1.00 | .40 |
        | relevance, where grades differ | 1.00 [1.00, 1.00] | .0 [.0, 1.0] | – | 1.0 [.0, 1.0] | – | 1.00 [1.00, 1.00] | – | – | – | – |
        | instances | 22 | 4 | 4 | 3 | 45 | 4 | – | – | – | – |
        | with a relevant text | 15 | 4 | 0 | 1 | 12 | 3 | – | – | – | – |
    "#]]
    .assert_eq(&first_lines(&report("md"), 10));
    expect![[r#"
        ranker,axiom,mode,satisfied,tied,violated,unscored,share asked,queries,fraction,fraction low,fraction high,mean over queries,mean over queries low,mean over queries high,p,p after Holm,detectable from .5,fraction of texts seen whole,instances hash,fingerprint
        BM25,tfc1,fixed,22,0,0,0,1,3,1,1,1,1,1,1,0.25,1,,,6a1188ed9b54,4319308885f3
        BM25,tfc2,fixed,2,0,2,0,1,1,0.5,0,1,0.5,0,1,1,1,,,6a1188ed9b54,4319308885f3
        BM25,mtdc,fixed,4,0,0,0,1,2,1,1,1,1,1,1,0.5,1,,,6a1188ed9b54,4319308885f3
        BM25,lnc1,fixed,3,0,0,0,1,2,1,1,1,1,1,1,0.5,1,,,6a1188ed9b54,4319308885f3
        BM25,lnc2,fixed,45,0,0,0,1,3,1,1,1,1,1,1,0.25,1,,,6a1188ed9b54,4319308885f3
        BM25,tp,fixed,4,0,0,0,1,2,1,1,1,1,1,1,0.5,1,,,6a1188ed9b54,4319308885f3
        QL,tfc1,fixed,21,0,1,0,1,3,0.9545454545454546,0.9090909090909091,1,0.9696969696969697,0.9090909090909091,1,0.25,1,0.08270200200145225,,6a1188ed9b54,14576bffed96
        QL,tfc2,fixed,2,0,2,0,1,1,0.5,0,1,0.5,0,1,1,1,,,6a1188ed9b54,14576bffed96
        QL,mtdc,fixed,2,1,1,0,1,2,0.75,0.5,1,0.75,0.5,1,0.5027497250274973,1,0.4933737238570111,,6a1188ed9b54,14576bffed96
        QL,lnc1,fixed,3,0,0,0,1,2,1,1,1,1,1,1,0.5,1,,,6a1188ed9b54,14576bffed96
        QL,lnc2,fixed,45,0,0,0,1,3,1,1,1,1,1,1,0.25,1,,,6a1188ed9b54,14576bffed96
        QL,tp,fixed,4,0,0,0,1,2,1,1,1,1,1,1,0.5,1,,,6a1188ed9b54,14576bffed96
        own,tfc1,fixed,2,0,1,19,0.13636363636363635,1,0.6666666666666666,0,1,0.6666666666666666,0,1,1,1,,,6a1188ed9b54,77622c188408
        own,tfc2,fixed,1,0,0,3,0.25,1,1,0,1,1,0,1,1,1,,,6a1188ed9b54,77622c188408
        own,mtdc,fixed,,,,,,,,,,,,,,,,,6a1188ed9b54,77622c188408
        own,lnc1,fixed,,,,,,,,,,,,,,,,,6a1188ed9b54,77622c188408
        own,lnc2,fixed,,,,,,,,,,,,,,,,,6a1188ed9b54,77622c188408
        own,tp,fixed,,,,,,,,,,,,,,,,,6a1188ed9b54,77622c188408
    "#]].assert_eq(&report("csv").replace("\r\n", "\n"));
    let latex = report("tex");
    assert!(
        latex.contains(r"\begin{tabular}") && latex.contains(r"Rivers \& foxes"),
        "{latex}"
    );
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    assert!(json.to_string().contains("Rivers & foxes"), "{json}");
    let html = report("html");
    assert!(
        html.contains("<svg") && html.contains("Rivers &amp; foxes"),
        "{html}"
    );
    assert!(!html.contains("<script"), "{html}");

    home.run("report small --format html --out report.html")
        .done();
    assert_eq!(home.read("report.html"), html);
    let other = home.run("report small --format csv --mode code").done();
    assert_ne!(other, report("csv"));
    let refused = home.run("report small --mode paper").refused();
    expect!["there is no mode of this study named `paper`"].assert_eq(&refused);
}

#[test]
fn the_version_names_the_program_and_its_commit() {
    let version = Home::new().run("--version").done();
    let version = version.trim_end();
    let commit = version
        .strip_prefix(concat!("axioscope ", env!("CARGO_PKG_VERSION"), " ("))
        .and_then(|it| it.strip_suffix(')'))
        .unwrap_or_else(|| panic!("{version}"));
    let is_hash = commit.len() >= 10 && commit.chars().all(|it| it.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown commit", "{version}");
}

fn first_lines(text: &str, n: usize) -> String {
    text.lines().take(n).map(|it| format!("{it}\n")).collect()
}

#[test]
fn exit_codes_say_who_is_to_act() {
    let home = Home::new();
    assert_eq!(home.run("--version").code, Some(0));
    assert_eq!(home.run("mine --help").code, Some(0));
    assert_eq!(home.run("study check none").code, Some(1));
    assert_eq!(home.run("").code, Some(2));
    assert_eq!(home.run("mien").code, Some(2));
    assert_eq!(home.run("mine --collection").code, Some(2));
    assert_eq!(
        home.run("mine --preset nobody2021 --collection a --out b")
            .code,
        Some(2)
    );
}
