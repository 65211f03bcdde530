//! Lists of compared queries, and single queries with their documents.

use super::*;

#[test]
fn a_selection_has_the_queries_of_its_number() {
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let asking = RankerComparisonOptions::default();
    let n = |selection: ComparedQueryGroup| {
        let listing = ComparedQueryListOptions {
            selection,
            limit: 10,
            ..ComparedQueryListOptions::default()
        };
        let found = list_compared_queries_page(&source, &asking, &listing).unwrap();
        assert_eq!(found.n_queries, found.rows.len() as u64);
        found.n_queries
    };
    let found = compare_rankers(&source, &asking).unwrap();
    assert_eq!(n(ComparedQueryGroup::All), 3);
    for (at, bucket) in found.fqt_buckets.iter().enumerate() {
        for side in [0, 1] {
            let fqt_bucket = ComparedQueryGroup::FqtBucket {
                side,
                bucket: at as u8,
            };
            assert_eq!(n(fqt_bucket), bucket.rankers[usize::from(side)].n_queries);
        }
    }
    for it in &found.query_lengths {
        let n_tokens = it.n_tokens;
        assert_eq!(
            n(ComparedQueryGroup::QueryLength { n_tokens }),
            it.mrr.n_queries
        );
    }
    for it in &found.question_classes {
        let answer = it.question_class;
        assert_eq!(
            n(ComparedQueryGroup::QuestionClass { answer }),
            it.mrr.n_queries
        );
    }
    for it in &found.bigrams {
        let words = it.bigram.clone();
        assert_eq!(n(ComparedQueryGroup::Bigram { words }), it.mrr.n_queries);
    }
    let counts = found.rr_changes.counts_by_kind();
    for (change, count) in ReciprocalRankChangeKind::ALL.iter().zip(counts) {
        assert_eq!(n(ComparedQueryGroup::RrChange { change: *change }), count);
    }
    for (depth, n_apart) in (1..).zip(&found.top_overlap.n_disjoint) {
        assert_eq!(n(ComparedQueryGroup::Disjoint { depth }), *n_apart);
    }
    for (fraction, paired) in [
        (
            TopDocumentTermFraction::QueryTokens,
            &found.fraction_query_tokens,
        ),
        (
            TopDocumentTermFraction::NovelTerms,
            &found.fraction_novel_terms,
        ),
    ] {
        for side in [0, 1] {
            let higher = ComparedQueryGroup::HigherFraction { fraction, side };
            assert_eq!(n(higher), paired.n_higher[usize::from(side)]);
        }
    }
}

#[test]
fn a_list_is_sorted_and_cut() {
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let ids = |sort, offset, limit| {
        let listing = ComparedQueryListOptions {
            sort,
            offset,
            limit,
            ..ComparedQueryListOptions::default()
        };
        let found =
            list_compared_queries_page(&source, &RankerComparisonOptions::default(), &listing)
                .unwrap();
        assert_eq!(found.n_queries, 3);
        found
            .rows
            .into_iter()
            .map(|it| it.query_id)
            .collect::<Vec<String>>()
    };
    assert_eq!(ids(ComparedQuerySort::Query, 0, 10), ["q1", "q2", "q3"]);
    assert_eq!(ids(ComparedQuerySort::Gain, 0, 10), ["q2", "q3", "q1"]);
    assert_eq!(ids(ComparedQuerySort::Loss, 0, 2), ["q1", "q3"]);
    assert_eq!(ids(ComparedQuerySort::Query, 2, u64::MAX), ["q3"]);
    assert!(ids(ComparedQuerySort::Query, u64::MAX, 5).is_empty());
}

#[test]
fn a_sample_has_what_stands_first_with_marks() {
    let found = fixture::compare_fixture_runs();
    // The second wins on q2, the first on q1.
    let ids: Vec<&str> = found
        .examples
        .iter()
        .map(|it| it.metrics.query_id.as_str())
        .collect();
    assert_eq!(ids, ["q2", "q1"]);
    let lost = &found.examples[1];
    assert_eq!(
        lost.top_docs.each_ref().map(|it| it.doc_id.as_str()),
        ["d1", "d2"]
    );
    assert_eq!(
        lost.top_docs.each_ref().map(|it| it.is_relevant),
        [true, false]
    );
    let text = lost.top_docs[0].text.as_ref().unwrap();
    let marks = text.marks.iter().map(|it| {
        let (start, end) = (it.span.start as usize, it.span.end as usize);
        &text.text[start..end]
    });
    assert_eq!(marks.collect::<Vec<_>>(), ["river", "bank", "river"]);
    assert_eq!(lost.relevant, None);
    // Neither ranker has found d7; its text is as written.
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let asking = RankerComparisonOptions::default();
    let on_query = |id| compared_query::compare_rankers_on_query(&source, &asking, id);
    let shown = on_query("q3").unwrap();
    let relevant = shown.relevant.unwrap();
    assert_eq!(relevant.doc_id, "d7");
    assert!(relevant.text.unwrap().text.contains("<b>tall</b>"));
    let error = on_query("q9").unwrap_err();
    assert!(error.to_string().contains("q9"), "{error}");
}

#[test]
fn long_texts_are_cut_and_texts_that_are_not_here_are_told() {
    let mut collection = fixture::comparison_fixture_collection();
    collection.docs[0].set_title_and_text("", &"é ".repeat(MAX_TEXT_CHARACTERS));
    collection.docs.remove(1);
    collection.queries[0].text = "x".repeat(100_000);
    let source = fixture::fixture_comparison_input(&collection);
    let asking = RankerComparisonOptions::default();
    let shown = compared_query::compare_rankers_on_query(&source, &asking, "q1").unwrap();
    assert!(shown.top_docs[0].is_truncated && !shown.top_docs[1].is_truncated);
    assert_eq!(shown.top_docs[1].text, None);
    let n = |text: &str| text.chars().count();
    assert_eq!(n(&shown.metrics.query), query_list::MAX_QUERY_CHARACTERS);
    assert_eq!(n(&shown.query.text), MAX_TEXT_CHARACTERS);
    let found = compare_rankers(&source, &RankerComparisonOptions::default()).unwrap();
    assert_eq!(found.query_counts.n_docs_without_text, 2);
}
