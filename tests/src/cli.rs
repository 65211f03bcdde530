//! The command line on the tiny collection: what every subcommand prints and writes.

mod mine;
mod scores;
mod study;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::harness::{TestHome, tiny_collection};

pub(crate) use study::studied;

/// Runs a line, in which `TINY` stands for the tiny collection, and compares the output.
fn check(home: &TestHome, line: &str, expected: Expect) {
    expected.assert_eq(
        &home
            .run(&line.replace("TINY", tiny_collection()))
            .expect_success(),
    );
}

#[test]
fn with_json_standard_output_holds_one_object_and_nothing_else() {
    let home = TestHome::new();
    let object = |line: &str| {
        let out = home
            .run(&line.replace("TINY", tiny_collection()))
            .expect_success();
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
        tiny_collection()
    );
    assert_eq!(object(&eval).keys().collect::<Vec<_>>(), ["P@5", "nDCG@10"]);
    let per_query = object(&format!("{eval} --per-query"));
    let queries = per_query["P@5"].as_object().unwrap();
    assert_eq!(queries.keys().collect::<Vec<_>>(), ["q1", "q2", "q3"]);
}

/// Returns a row with its numbers rounded to four digits, since those of an interval have
/// seventeen.
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
fn the_version_names_the_program_and_its_commit() {
    let version = TestHome::new().run("--version").expect_success();
    let version = version.trim_end();
    let commit = version
        .strip_prefix(concat!("axioscope ", env!("CARGO_PKG_VERSION"), " ("))
        .and_then(|it| it.strip_suffix(')'))
        .unwrap_or_else(|| panic!("{version}"));
    let is_hash = commit.len() >= 10 && commit.chars().all(|it| it.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown commit", "{version}");
}

#[test]
fn exit_codes_say_who_is_to_act() {
    let home = TestHome::new();
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

#[test]
fn the_help_of_mine_names_every_kind_of_probe() {
    let help = TestHome::new().run("mine --help").expect_success();
    let words = [
        "tfc1",
        "stmc3",
        "all",
        "ir_axioms",
        "tfc1&lnc1",
        "match:all",
        "manipulations",
    ];
    for word in words {
        assert!(help.contains(word), "{word} in {help}");
    }
}
