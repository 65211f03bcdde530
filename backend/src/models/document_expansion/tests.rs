//! doc2query with random parameters: against BM25 by hand, alone and among others, in steps.

use neural::Device;
use shared::collection::{Collection, Document, DocumentFields, Query};
use shared::probe::mining::OriginalOrDerivedDocument;
use shared::score::QueryDocumentPairs;
use shared::text::Stemmer;

use super::*;
use crate::models::tests::{fixture, tiny};
use crate::models::{
    ModelRegistry, PairScoreWithMatches, QueryDocumentPairsWithTexts, ScoringInputWithLimits,
    ScoringRequestInProgress, load_doc2query,
};
use crate::pipeline::{self, PairScoringInput};
use crate::store::partial_scores::PartialScores;

const TEXTS: [&str; 4] = [
    "A river ends in the sea.",
    "the sea is wide and the sea is deep",
    "a bank is made of mud",
    "rivers and lakes",
];

fn registry() -> ModelRegistry {
    ModelRegistry::with_models_or_default(&[fixture("t5-gated")], Device::Cpu).unwrap()
}

fn ranker(spec: &str) -> Arc<NeuralRanker> {
    registry().get_or_load_ranker(spec).unwrap()
}

/// Generates queries as `axioscope expand` does, and appends them to the text.
fn expand(text: &str, n_queries: usize) -> String {
    let (_, model) = load_doc2query(&fixture("t5-gated")).unwrap();
    let sampling = QueryGenerationConfig {
        seed: 42,
        top_k: 10,
        n_queries,
        max_new_tokens: 64,
    };
    let generated = model
        .generate_queries_per_document(&[text], &sampling)
        .unwrap();
    let mut expanded = text.to_owned();
    for query in &generated[0].queries {
        expanded += " ";
        expanded += &query.text;
    }
    expanded
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    words
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns Σ ln(1 + (N − df + ½)/(df + ½)) · 2.2 tf / (tf + 1.2 (¼ + ¾ length / average)) over
/// distinct query words: tf and length of `expanded`, the rest of `collection`.
fn bm25_by_hand(query: &str, expanded: &str, collection: &[&str]) -> f64 {
    let collection: Vec<Vec<String>> = collection.iter().map(|it| words(it)).collect();
    let n_docs = collection.len() as f64;
    let average = collection.iter().map(Vec::len).sum::<usize>() as f64 / n_docs;
    let expanded = words(expanded);
    let length = expanded.len() as f64;
    let score = |word: &String| {
        let df = collection.iter().filter(|it| it.contains(word)).count() as f64;
        let tf = expanded.iter().filter(|it| *it == word).count() as f64;
        let idf = (1.0 + (n_docs - df + 0.5) / (df + 0.5)).ln();
        idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / average))
    };
    words(query).iter().map(score).sum()
}

/// Returns two words that were generated for the first text and are not in it, and a word that is.
fn query_of_generated_words() -> String {
    let all = words(&expand(TEXTS[0], DEFAULT_QUERIES));
    let n_own = words(TEXTS[0]).len();
    let mut new: Vec<&String> = Vec::new();
    for word in &all[n_own..] {
        if !all[..n_own].contains(word) && !new.contains(&word) {
            new.push(word);
        }
    }
    format!("{} sea {}", new[0], new[1])
}

fn collection(query: &str) -> Collection {
    let docs = TEXTS.iter().zip(["a", "b", "c", "d"]);
    let docs = docs.map(|(text, id)| {
        Document::from(DocumentFields {
            id: id.into(),
            text: (*text).into(),
            ..DocumentFields::default()
        })
    });
    Collection {
        docs: docs.collect(),
        queries: vec![Query {
            id: "q".to_owned(),
            text: query.to_owned(),
            split: None,
            group: None,
        }],
        qrels: Default::default(),
    }
}

/// Scores original documents and one repeated three times, as a study and the command line do.
fn score_collection(ranker: &NeuralRanker, collection: &Collection) -> Vec<f64> {
    let analyzer = Analyzer {
        stemmer: Stemmer::None,
        ..Analyzer::default()
    };
    let index = pipeline::build_index(collection, &analyzer).unwrap();
    let original = |doc| OriginalOrDerivedDocument::Original { doc };
    let mut study_docs: Vec<_> = (0..4).map(original).collect();
    study_docs.push(OriginalOrDerivedDocument::Repeated { doc: 0, times: 3 });
    let pairs = QueryDocumentPairs::from_documents_by_query([(0..5).collect()]);
    let scoring = PairScoringInput {
        collection,
        index: &index,
        texts: &study_docs,
        pairs: &pairs,
        stability_sample: vec![0, 4],
        folder: std::path::Path::new("."),
        partial_scores: None,
        distributed: None,
    };
    let (scores, _) = pipeline::score_with_model(&scoring, ranker).unwrap();
    let record = scores.rescoring.clone().unwrap();
    let scores: Vec<f64> = scores
        .scores_in_pair_order()
        .iter()
        .flatten()
        .copied()
        .collect();
    // Generated again, alone and in another order.
    assert_eq!(record.rescored.len(), 2);
    for again in record.rescored {
        assert_eq!(again.scores, [scores[0], scores[4]]);
    }
    scores
}

#[test]
fn scores_are_those_of_bm25_by_hand_over_texts_and_generated_queries() {
    let query = query_of_generated_words();
    let collection = collection(&query);
    for (spec, n_queries) in [("t5-gated:doc2query", 4), ("t5-gated:doc2query=2", 2)] {
        let found = score_collection(&ranker(spec), &collection);
        let repeated = [TEXTS[0]; 3].join(" ");
        let texts = TEXTS.into_iter().chain([repeated.as_str()]);
        let expected: Vec<f64> = texts
            .map(|it| bm25_by_hand(&query, &expand(it, n_queries), &TEXTS))
            .collect();
        assert_eq!(found.len(), 5);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{spec}: {found} and {expected}"
            );
        }
        let plain = bm25_by_hand(&query, TEXTS[0], &TEXTS);
        assert!((found[0] - plain).abs() > 1e-3, "the generated words count");
        assert!(
            (found[0] - found[4]).abs() > 1e-3,
            "the repeated document is another"
        );
    }
}

#[test]
fn scores_have_the_same_bits_on_any_threads() {
    let collection = collection(&query_of_generated_words());
    let bits = |n_threads: usize| -> Vec<u64> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let ranker = ranker("t5-gated:doc2query");
        let scores = threads
            .build()
            .unwrap()
            .install(|| score_collection(&ranker, &collection));
        scores.into_iter().map(f64::to_bits).collect()
    };
    assert_eq!(bits(1), bits(7));
}

fn request(query: &str) -> ScoringInputWithLimits {
    ScoringInputWithLimits::without_limits(query, &TEXTS.map(str::to_owned))
}

/// Scores a request in steps, and returns the scores with the number of tokens.
fn score_in_steps(
    ranker: &Arc<NeuralRanker>,
    request: ScoringInputWithLimits,
) -> Result<(Vec<PairScoreWithMatches>, u64), Error> {
    let mut work = ScoringRequestInProgress::check_request_and_start(ranker.clone(), request)?;
    while !work.is_done() {
        work.run_next_step()?;
    }
    let done = work.into_scored_documents()?;
    Ok((done.scores, done.n_tokens))
}

#[test]
fn a_request_is_scored_with_the_statistics_of_its_documents() {
    let query = query_of_generated_words();
    for spec in ["t5-gated:doc2query", "t5-gated:doc2query+maxp=3/2"] {
        let ranker = ranker(spec);
        let (found, n_tokens) = score_in_steps(&ranker, request(&query)).unwrap();
        let texts = TEXTS.map(str::to_owned);
        let expected = ranker.score_documents_in_detail(&query, &texts).unwrap();
        assert_eq!(found, expected, "{spec}");
        assert!(
            n_tokens > 4 * 64 * 4,
            "the tokens to generate count: {n_tokens}"
        );
        let few = ScoringInputWithLimits {
            max_tokens: n_tokens - 1,
            ..request(&query)
        };
        let refused = score_in_steps(&ranker, few).err().unwrap().to_string();
        assert!(
            refused.contains("tokens to encode are too many"),
            "{refused}"
        );
    }
    // The words of this query are their own stems.
    let scores = ranker("t5-gated:doc2query")
        .score_documents_in_detail("sea mud", &TEXTS.map(str::to_owned));
    let expected = TEXTS.map(|it| bm25_by_hand("sea mud", &expand(it, 4), &TEXTS));
    for (found, expected) in scores.unwrap().iter().zip(expected) {
        assert!(
            (found.score - expected).abs() < 1e-12,
            "{} and {expected}",
            found.score
        );
    }
}

#[test]
fn generated_queries_are_cached_by_text() {
    let ranker = ranker("t5-gated:doc2query");
    let texts = TEXTS.map(str::to_owned);
    let n_generated = |texts: &[String]| {
        let before = ranker.sequence_and_token_counts();
        ranker.score_documents_in_detail("sea", texts).unwrap();
        ranker
            .sequence_and_token_counts()
            .minus_earlier(before)
            .sequences
    };
    assert_eq!(n_generated(&texts[..2]), 2);
    assert_eq!(n_generated(&texts), 2);
    assert_eq!(n_generated(&texts), 0);
    let twice = [texts[0].clone() + "!", texts[0].clone() + "!"];
    assert_eq!(n_generated(&twice), 1);

    let mut cache = GeneratedQueryCache::default();
    let long: Arc<str> = "x".repeat(MAX_CACHED_BYTES / 4).into();
    let key = |n: usize| (n, [0; 32]);
    for n in 0..10 {
        cache.insert(key(n), Arc::clone(&long));
        cache.insert(key(n), Arc::clone(&long));
    }
    assert!(cache.n_bytes <= MAX_CACHED_BYTES);
    assert_eq!(
        (cache.queries.len(), cache.n_bytes),
        (3, 3 * cached_bytes(&long))
    );
    assert!(cache.queries.contains_key(&key(9)) && !cache.queries.contains_key(&key(6)));
}

#[test]
fn specs_name_the_number_of_queries() {
    let models = registry();
    assert_eq!(
        models.ranker_specs(),
        ["t5-gated:monot5", "t5-gated:doc2query"]
    );
    let base = ranker("t5-gated:doc2query");
    assert_eq!(base.about.label, "t5-gated doc2query");
    assert_eq!(
        base.about.detail,
        "BM25 of the text with 4 generated queries"
    );
    assert_eq!(base.spec_with_default_settings(), None);
    for (spec, canonical) in [
        ("t5-gated:doc2query=4", "t5-gated:doc2query"),
        ("t5-gated:doc2query=10", "t5-gated:doc2query=10"),
        ("t5-gated:doc2query=10+maxp", "t5-gated:doc2query=10+maxp"),
    ] {
        let ranker = models.get_or_load_ranker(spec).unwrap();
        assert_eq!(ranker.about.spec, canonical);
        assert_eq!(models.add_default_use_suffix(spec), canonical);
        let is_base = ranker.about.fingerprint == base.about.fingerprint;
        assert_eq!(is_base, canonical == base.about.spec, "{spec}");
        assert!(is_doc2query_spec(spec));
        let usual = canonical.replace("=10", "");
        assert_eq!(
            ranker.spec_with_default_settings(),
            (usual != canonical).then_some(usual)
        );
    }
    for spec in [
        "t5-gated:doc2query=0",
        "t5-gated:doc2query=101",
        "t5-gated:monot5=4",
    ] {
        let refused = models.get_or_load_ranker(spec).err().unwrap().to_string();
        let expected = format!(
            "there is no model named `{spec}` among `t5-gated:monot5`, `t5-gated:doc2query`"
        );
        assert_eq!(refused, expected);
    }
    // One model in memory for any number of queries.
    assert_eq!(models.loaded_rankers().len(), 1);
}

#[test]
fn a_folder_without_a_t5_and_missing_statistics_are_errors() {
    let refused = tiny().get_or_load_ranker("tiny:doc2query").err().unwrap();
    assert_eq!(
        refused.to_string(),
        "there is no model named `tiny:doc2query` among `tiny:bi`, `tiny:late`"
    );
    let (queries, texts) = (["sea".to_owned()], TEXTS.map(str::to_owned));
    let listed = QueryDocumentPairsWithTexts {
        queries: &queries,
        documents: &texts,
        pairs: &[(0, 0)],
    };
    let ranker = ranker("t5-gated:doc2query");
    let draft = &mut PartialScores::empty_without_file();
    let refused = ranker.score_pairs(&listed, draft, |_| {}).err().unwrap();
    assert!(
        refused
            .to_string()
            .contains("the statistics of a collection"),
        "{refused}"
    );
    let whole = ranker.with_statistics_of_documents(TEXTS, ["sea"]).unwrap();
    assert!(whole.score_pairs(&listed, draft, |_| {}).is_ok());
    // Scores that were computed with other statistics are not continued.
    let other = ranker.with_statistics_of_documents(TEXTS, ["mud"]).unwrap();
    assert_ne!(
        listed.hash_with_ranker(&whole),
        listed.hash_with_ranker(&other)
    );
}
