use expect_test::expect;

use super::*;
use crate::compare::fixture;
use crate::report::{table_to_csv, tables_to_json, tables_to_latex, tables_to_markdown};

#[test]
fn every_row_has_a_value_for_every_column() {
    let found = fixture::compare_fixture_runs();
    let mut tables = ranker_comparison_tables(&found);
    tables.push(rr_difference_table(&found));
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let rows =
        crate::compare::query_list::list_all_compared_queries(&source, &found.options).unwrap();
    tables.push(compared_query_table(&found, &rows));
    let names: Vec<&str> = tables.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "hypotheses fractions buckets lengths change overlap answers bigrams samples series queries"
    );
    for table in &tables {
        assert!(!table.rows.is_empty(), "{}", table.name);
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.name);
        }
    }
    let markdown = tables_to_markdown(&tables);
    assert!(!markdown.contains("<i>"), "{markdown}");
    assert!(
        markdown.contains("Least-squares line: 0.055 i + 0.600."),
        "{markdown}"
    );
    assert!(!tables_to_latex(&tables).is_empty() && !tables_to_json(&tables).is_empty());
    assert!(table_to_csv(&tables[2]).starts_with("FQT,"));
}

#[test]
fn candidates_without_a_score_are_told() {
    let mut found = fixture::compare_fixture_runs();
    assert!(incomplete_ranking_notes(&found).is_empty());
    found.n_unscored = [0, 7];
    let said = incomplete_ranking_notes(&found);
    let [sentence] = said.as_slice() else {
        panic!("{said:?}")
    };
    let whom = found.rankers[1].label.as_str();
    assert!(
        sentence.starts_with(whom) && sentence.contains(" 7 "),
        "{sentence}"
    );
    assert!(ranker_comparison_tables(&found)[0].notes.contains(sentence));
}

#[test]
fn words_name_the_two_rankers() {
    let names = ["BM25", "BERT"];
    let told: String = [
        PadigelaHypothesis::QueryTermBias,
        PadigelaHypothesis::QueryTermBiasHurts,
        PadigelaHypothesis::MoreNovelTerms,
        PadigelaHypothesis::LongerQueries,
    ]
    .map(|it| {
        format!(
            "{} {}\n",
            it.name_in_paper(),
            hypothesis_statement(it, names)
        )
    })
    .concat();
    expect![[r#"
        H1 BM25 has more query tokens in its top 10 than BERT
        H2 the more query tokens BM25 has in its top 10, the lower its RR@10
        H3 BERT has more novel terms in its top 10 than BM25
        H4 the RR@10 gain of BERT over BM25 grows with query length
    "#]]
    .assert_eq(&told);
    let found = fixture::compare_fixture_runs();
    let labels: Vec<String> = found.fqt_buckets.iter().map(fqt_bucket_label).collect();
    assert_eq!(
        labels.join(" "),
        "[.00, .10) [.10, .15) [.15, .20) [.20, .25) [.25, 1.00]"
    );
}

#[test]
fn the_difference_in_rr_is_stated_with_its_p_value() {
    let mut found = fixture::compare_fixture_runs();
    found.min_relevant_grade = 2;
    let estimate = |value, low, high| EstimateWithInterval {
        value,
        interval: [low, high],
    };
    let rr = &mut found.reciprocal_rank;
    rr.n_queries = 64;
    rr.means = [
        Some(estimate(0.76, 0.7, 0.8)),
        Some(estimate(0.89, 0.8, 0.9)),
    ];
    rr.difference = Some(estimate(-0.13, -0.2, -0.05));
    rr.p_randomization = Some(0.002);
    expect!["Second is better than First: RR@10 .89 against .76, difference +.13 [+.05, +.20] over 64 queries, p = .0020 (paired randomization test). A document of grade 2 or higher is relevant; the other pages of the study count grade 1."]
        .assert_eq(&named(&mut found));
    found.reciprocal_rank.p_randomization = Some(0.2);
    expect!["Neither ranker is shown to be better: RR@10 .89 of Second, .76 of First, difference +.13 [+.05, +.20] over 64 queries, p = .20 (paired randomization test). A document of grade 2 or higher is relevant; the other pages of the study count grade 1."]
        .assert_eq(&named(&mut found));
    found.reciprocal_rank.means = [None; 2];
    assert_eq!(rr_difference_sentence(&found), None);
}

fn named(found: &mut RankerComparison) -> String {
    found.rankers[0].label = "First".to_owned();
    found.rankers[1].label = "Second".to_owned();
    rr_difference_sentence(found).expect("both have a mean")
}
