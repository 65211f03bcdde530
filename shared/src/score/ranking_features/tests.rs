use super::*;
use crate::index::IndexBuilder;
use crate::rank::{Bm25, QueryLikelihood};

const DOCS: [&str; 4] = [
    "the river bank",
    "river river flood",
    "the money bank",
    "green field",
];

const RANKERS: [LexicalRanker; 2] = [
    LexicalRanker::Bm25(Bm25::DEFAULT),
    LexicalRanker::QueryLikelihood(QueryLikelihood::DEFAULT),
];

fn statistics(vectors: Option<&WordVectors>) -> RankingFeatureStatistics {
    let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
    DOCS.iter().for_each(|it| builder.add_document(it));
    let index = builder.finish().unwrap();
    let query = Query {
        id: "q".to_owned(),
        text: "sand near the river".to_owned(),
        group: None,
        split: None,
    };
    RankingFeatureStatistics::from_index(&index, vectors, &[query])
}

fn values(extractor: &RankingFeatureExtractor, query: &str, text: &str) -> RankingFeatureValues {
    extractor.compute(
        &extractor.word_numbers(query),
        &extractor.word_numbers(text),
    )
}

fn word_vectors() -> WordVectors {
    WordVectors::from_words_and_vectors(&[
        ("river", [1.0, 0.0]),
        ("bank", [0.6, 0.8]),
        ("sand", [0.0, 1.0]),
        ("near", [-1.0, 0.0]),
        ("nowhere", [1.0, 0.0]),
    ])
}

#[test]
fn each_feature_of_a_text_outside_of_the_collection_is_that_of_its_formula() {
    let extractor = RankingFeatureExtractor::new(statistics(Some(&word_vectors())), RANKERS);
    let text = "the river near a river bank of desert sand";
    let found = values(&extractor.unwrap(), "river bank flood desert river", text);
    // The formulas in Python over the lists of words; `desert` is in no document of the collection.
    let expected = [
        (RankingFeature::Bm25, 2.7152458152841232),
        (RankingFeature::QueryLikelihood, -6.707527812782591),
        (RankingFeature::MatchedTerms, 3.0),
        (RankingFeature::MatchedTermFraction, 0.75),
        (RankingFeature::QueryTermOccurrences, 4.0),
        (RankingFeature::DocumentLength, 9.0),
        (RankingFeature::QueryLength, 5.0),
        (RankingFeature::SumIdf, 1.3862943611198906),
        (RankingFeature::MeanIdf, 0.46209812037329684),
        (RankingFeature::MaxIdf, std::f64::consts::LN_2),
        (RankingFeature::MinTermDistance, 1.0),
        (RankingFeature::MeanFirstDistance, 3.0),
        (RankingFeature::MeanTermSpan, 3.75),
        (RankingFeature::WordVectorCosine, -0.4678877204190327),
    ];
    for ((feature, expected), found) in expected.into_iter().zip(found) {
        let difference = (f64::from(found) - expected).abs();
        assert!(difference < 1e-6, "{}: {found} {expected}", feature.name());
    }
    assert_eq!(expected.map(|it| it.0), RankingFeature::ALL);
}

#[test]
fn features_that_are_not_defined_are_missing() {
    let extractor = RankingFeatureExtractor::new(statistics(None), RANKERS).unwrap();
    let missing = |query: &str, text: &str| -> Vec<&'static str> {
        let found = values(&extractor, query, text);
        let named = RankingFeature::ALL.into_iter().zip(found);
        named
            .filter(|it| it.1.is_nan())
            .map(|it| it.0.name())
            .collect()
    };
    let of_pairs = ["min_term_distance", "mean_first_distance", "mean_term_span"];
    let all = [&of_pairs[..], &["word_vector_cosine"]].concat();
    assert_eq!(missing("river bank", "a river"), all);
    assert_eq!(missing("", ""), all);
    assert_eq!(
        missing("river bank", "a river bank"),
        ["word_vector_cosine"]
    );
}

#[test]
fn a_stored_extractor_computes_the_same_bits() {
    let statistics = statistics(Some(&word_vectors()));
    assert!(!statistics.vectors.contains_key("nowhere"));
    let json = serde_json::to_string(&statistics).unwrap();
    let read: RankingFeatureStatistics = serde_json::from_str(&json).unwrap();
    assert_eq!(read, statistics);
    let [one, other] =
        [statistics, read].map(|it| RankingFeatureExtractor::new(it, RANKERS).unwrap());
    for text in DOCS {
        let bits = |it| values(it, "the river near", text).map(f32::to_bits);
        assert_eq!(bits(&one), bits(&other));
    }
}

#[test]
fn statistics_that_contradict_each_other_are_refused() {
    let refused = |change: fn(&mut RankingFeatureStatistics)| {
        let mut changed = statistics(Some(&word_vectors()));
        change(&mut changed);
        let error = RankingFeatureExtractor::new(changed, RANKERS).err();
        error.expect("it should be refused").to_string()
    };
    let impossible = "statistics: term `bank` occurs 2 times in 2 documents, of 1 documents";
    assert!(refused(|it| it.totals.n_docs = 1).starts_with(impossible));
    assert!(refused(|it| it.totals.n_terms = 1).contains("of 4 documents with 1 terms"));
    let twice = |it: &mut RankingFeatureStatistics| {
        it.terms.get_mut("bank").unwrap().df = 3;
    };
    assert!(refused(twice).contains("occurs 2 times in 3 documents"));
    let short = |it: &mut RankingFeatureStatistics| {
        it.vectors.insert("river".to_owned(), vec![1.0]);
    };
    assert!(refused(short).contains("the vector of `river`: 1 numbers, expected 2"));
}
