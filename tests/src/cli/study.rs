//! `study` and `report`: a study from its definition to the five formats of its report.

use expect_test::expect;
use serde_json::Value;

use super::check;
use crate::harness::{LIMITS, TestHome, tiny_collection};

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

/// Returns a folder with the study above.
pub(crate) fn studied() -> TestHome {
    let home = TestHome::new();
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    home.write("study.toml", format!("{STUDY}{LIMITS}"));
    home.write(
        "data/collections/tiny/runs/own.tsv",
        "q1 w2 0.5\nq1 w3 0.25\nq1 w1 0.125\n",
    );
    home.run("study run study.toml").expect_success();
    home
}

#[test]
fn a_study_file_that_init_writes_makes_a_study_as_it_is() {
    let home = TestHome::new();
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    let init = "study init --collection tiny";
    check(
        &home,
        init,
        expect![[r#"
            study.toml defines study `tiny`; edit it, then run: axioscope --data data study run study.toml
        "#]],
    );
    let written = home.read("study.toml");
    home.run("study run study.toml").expect_success();
    let report = home.run("report tiny --format csv").expect_success();
    for row in ["BM25,tfc1,fixed,", "QL,tp,fixed,"] {
        assert!(report.contains(row), "{report}");
    }

    home.expect_refused(init, "study.toml: exists; choose another file by --out");
    assert_eq!(home.read("study.toml"), written);
    home.run(&format!("{init} --name other --replace"))
        .expect_success();
    let renamed = written.replace("\nname = \"tiny\"\n", "\nname = \"other\"\n");
    assert_ne!(renamed, written);
    assert_eq!(home.read("study.toml"), renamed);
}

#[test]
fn init_refuses_what_makes_no_study() {
    let home = TestHome::new();
    home.write("empty/corpus.jsonl", "");
    home.write("empty/queries.jsonl", "");
    for (args, reason) in [
        ("--collection none", "there is no collection named `none`"),
        ("--collection empty", "it has no documents"),
        (
            "--collection empty --name A",
            "name `A`: a name has 1 to 64",
        ),
    ] {
        home.expect_refused(&format!("study init {args}"), reason);
        assert!(!home.path("study.toml").exists(), "{args}");
    }
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
    let listed = || today(&home.run("study list").expect_success());
    expect![[r#"
        small
        188 instances
        not published
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
    check(
        &home,
        "study publish small",
        expect![[r#"
        visitors see study `small`, at /studies/small
    "#]],
    );
    assert!(listed().contains("\npublished\n"));
    check(
        &home,
        "study withdraw small",
        expect![[r#"
        visitors do not see study `small`
    "#]],
    );
    assert!(listed().contains("\nnot published\n"));
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
    let cards: Vec<shared::study::overview::StudySummary> =
        serde_json::from_str(&home.read("site/studies/index.json")).unwrap();
    assert_eq!(
        cards.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        ["small"]
    );

    // The exported file makes the same study elsewhere, under any name that is free.
    let import = "study import site/studies/small.json";
    home.expect_refused(import, "there is a study named `small` already");
    home.expect_refused(&format!("{import} --name local"), "study in each browser");
    check(
        &home,
        &format!("{import} --name copy"),
        expect![[r#"
            study `copy` is stored; `axioscope study publish copy` shows it to visitors
        "#]],
    );
    let report = |name: &str| {
        home.run(&format!("report {name} --format csv"))
            .expect_success()
    };
    assert_eq!(report("copy"), report("small"));
    home.run("study check copy").expect_success();
    assert!(listed().starts_with("copy\n188 instances\nnot published\n"));
    let changed = home
        .read("site/studies/small.json")
        .replace("\"w2\"", "\"w0\"");
    home.write("changed.json", changed);
    home.expect_refused("study import changed.json --name other", "instance hash");
}

#[test]
fn a_check_that_finds_another_collection_ends_with_code_3() {
    let home = studied();
    let folder = "data/collections/tiny";
    let corpus = home.read(&format!("{folder}/corpus.jsonl"));
    home.write(
        &format!("{folder}/corpus.jsonl"),
        corpus.replace("mud boat", "river boat"),
    );
    home.expect_refused("study check small", "corpus.jsonl is damaged");
    // Removing the checksums tells that the change is intended.
    std::fs::remove_file(home.path(&format!("{folder}/SHA256SUMS"))).unwrap();
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
    let report = |format: &str| {
        home.run(&format!("report small --format {format}"))
            .expect_success()
    };
    expect![[r#"
        ## Rivers &amp; foxes: how often each ranker agrees with each axiom

        | ranker | TFC1 | TFC2 | M-TDC | LNC1 | LNC2 | TP | nDCG@10 | RR@10 | AP | P@5 |
        | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
        | BM25 | 1.00 [1.00, 1.00] | .50 [.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 | 1.00 | 1.00 | .27 |
        | QL | .95 [.91, 1.00] | .50 [.00, 1.00] | .75 [.50, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 1.00 | 1.00 | 1.00 | .27 |
        | own | .67 [.00, 1.00] | 1.00 [.00, 1.00] | – | – | – | – | .86 | 1.00 | 1.00 | .40 |
        | relevance judgments on instances with different grades | 1.00 [1.00, 1.00] | .00 [.00, 1.00] | – | 1.00 [.00, 1.00] | – | 1.00 [1.00, 1.00] | – | – | – | – |
        | instances | 22 | 4 | 4 | 3 | 45 | 4 | – | – | – | – |
        | with a relevant document | 15 | 4 | 0 | 1 | 12 | 3 | – | – | – | – |
    "#]]
    .assert_eq(&first_lines(&report("md"), 10));
    expect![[r#"
        ranker,axiom,variant,satisfied,tied,violated,unscored,share scored,queries,fraction,fraction low,fraction high,mean over queries,mean over queries low,mean over queries high,p,p (Holm),smallest detectable difference from .5,fraction without truncated documents,instance hash,fingerprint
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
        .expect_success();
    assert_eq!(home.read("report.html"), html);
    let other = home
        .run("report small --format csv --variant code")
        .expect_success();
    assert_ne!(other, report("csv"));
    let refused = home.run("report small --variant paper").expect_failure();
    expect!["there is no variant of this study named `paper`"].assert_eq(&refused);
}

fn first_lines(text: &str, n: usize) -> String {
    text.lines().take(n).map(|it| format!("{it}\n")).collect()
}

#[test]
fn a_finished_study_is_replaced_only_when_that_is_asked_for() {
    let home = studied();
    let hash = |home: &TestHome| home.run("study check small").expect_success();
    let before = hash(&home);
    // The same definition continues where the run was interrupted.
    home.run("study run study.toml").expect_success();
    assert_eq!(hash(&home), before);
    // Another title is no other study.
    let renamed = home.read("study.toml").replace("Rivers & foxes", "Foxes");
    home.write("study.toml", renamed);
    home.run("study run study.toml").expect_success();
    assert!(
        home.run("study list")
            .expect_success()
            .ends_with("\tFoxes\n")
    );
    assert_eq!(hash(&home), before);

    let other = home
        .read("study.toml")
        .replace("\"tfc1\", \"tfc2\", ", "\"tfc1\", ");
    home.write("study.toml", other);
    let refused = home.run("study run study.toml").expect_failure() + "\n";
    expect![[r#"
        study `small`: a finished study of this name was made from another definition; give the new one another name, or replace the finished one with --replace
    "#]]
    .assert_eq(&refused);
    assert_eq!(hash(&home), before);
    home.run("study run study.toml --replace").expect_success();
    assert_ne!(hash(&home), before);
}
