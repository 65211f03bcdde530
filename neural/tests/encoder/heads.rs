//! What is built on an encoder: pooling, SPLADE, cross-encoders.

use super::*;
use neural::{
    CrossEncoder, DeviceAndPrecision, FloatPrecision, QueryDocumentTokenSequence, Splade,
    TokenPooling, VectorSimilarity,
};

/// As sentence-transformers writes it.
pub(crate) fn pooling(mode: &str) -> Vec<u8> {
    let modes = [
        "cls_token",
        "mean_tokens",
        "max_tokens",
        "mean_sqrt_len_tokens",
    ];
    let mut config = json!({"word_embedding_dimension": 32});
    for it in modes {
        config[format!("pooling_mode_{it}")] = json!(it == mode);
    }
    config.to_string().into_bytes()
}

#[test]
fn each_way_of_pooling_equals_the_reference() {
    #[derive(Deserialize)]
    struct Pooled {
        text: String,
        cls_token: Vec<f64>,
        max_tokens: Vec<f64>,
    }
    let fixture: Vec<Pooled> =
        serde_json::from_str(include_str!("../fixtures/pooling.json")).unwrap();
    for mode in ["cls_token", "max_tokens"] {
        let mut files = tiny();
        files.pooling = Some(pooling(mode));
        let model = load(&files, EmbeddingRankerKind::BiEncoder, 48);
        for it in &fixture {
            let expected = match mode {
                "cls_token" => &it.cls_token,
                _ => &it.max_tokens,
            };
            let encoded = encode(&model, &it.text);
            let vector = encoded.vectors().next().unwrap();
            for (&found, expected) in vector.iter().zip(expected) {
                assert!(
                    (f64::from(found) - expected).abs() < SAME_VECTOR,
                    "{}",
                    it.text
                );
            }
        }
    }
    let by =
        |json: &[u8]| TokenPooling::from_pooling_config_json(json).map_err(|it| it.to_string());
    assert_eq!(by(&pooling("mean_tokens")), Ok(TokenPooling::Mean));
    assert_eq!(by(br#"{"pooling_mode": "cls"}"#), Ok(TokenPooling::Cls));
    for odd in [pooling("mean_sqrt_len_tokens"), pooling(""), b"[]".to_vec()] {
        assert!(by(&odd).unwrap_err().contains("1_Pooling/config.json"));
    }
}

/// The SPLADE models whose output is the table of words.
fn tied_splades() -> [(&'static str, ModelFileContents, &'static str); 4] {
    [
        relative!("splade-tiny"),
        relative!("splade-roberta"),
        relative!("splade-distilbert"),
        relative!("splade-modernbert"),
    ]
}

#[test]
fn splade_equals_the_reference() {
    #[derive(Deserialize)]
    struct Fixture {
        #[serde(rename = "max_pieces")]
        max_tokens: usize,
        texts: Vec<Weighed>,
        pairs: Vec<Pair>,
    }
    #[derive(Deserialize)]
    struct Weighed {
        text: String,
        n: usize,
        sum: f64,
    }
    let untied = relative!("splade-untied");
    for (name, files, fixture) in tied_splades().into_iter().chain([untied]) {
        assert!(Splade::is_supported_config(&files.config), "{name}");
        let fixture: Fixture = serde_json::from_str(fixture).unwrap();
        let model = Splade::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let texts = fixture.texts.iter();
        let tokens: Vec<TokenizedText> = texts
            .map(|it| {
                model
                    .tokenize(QueryOrDocumentRole::Document, &it.text)
                    .unwrap()
            })
            .collect();
        let sparse = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
        for (text, sparse) in fixture.texts.iter().zip(&sparse) {
            // A weight that is all but 0 may be on either side of it.
            assert!(
                text.n.abs_diff(sparse.token_weights().len()) <= 1,
                "{name}: {}",
                text.text
            );
            let sum: f64 = sparse
                .token_weights()
                .iter()
                .map(|it| f64::from(it.1))
                .sum();
            assert!(
                (sum - text.sum).abs() < SAME_VECTOR * text.sum,
                "{name}: {sum}"
            );
        }
        let mut worst = 0.0_f64;
        for pair in &fixture.pairs {
            let score = model.score_sparse_vectors(&sparse[pair.query], &sparse[pair.text]);
            worst = worst.max((score - pair.score).abs() / pair.score.abs().max(1.0));
            let alone = model.encode(&[&tokens[pair.text]]).unwrap().remove(0);
            let alone = model.score_sparse_vectors(&sparse[pair.query], &alone);
            assert!(
                (score - alone).abs() < SAME_SCORE * score.max(1.0),
                "{name}"
            );
        }
        exact(name, "score", worst);
    }
    assert!(!Splade::is_supported_config(&tiny().config));
}

#[test]
fn an_output_that_is_not_tied_has_to_be_there() {
    let missing = tied_splades().map(|(_, mut files, _)| {
        broken::edit_config(&mut files, "tie_word_embeddings", json!(false));
        let model = Splade::load(&files, 48, Device::Cpu.into());
        model.err().unwrap().to_string()
    });
    expect![[r#"
        model.safetensors has no tensor `cls.predictions.decoder.weight`
        model.safetensors has no tensor `lm_head.decoder.weight`
        model.safetensors has no tensor `vocab_projector.weight`
        model.safetensors has no tensor `decoder.weight`
    "#]]
    .assert_eq(&(missing.join("\n") + "\n"));
}

/// Half precision is candle's pass for GPUs, here on the CPU. Numbers of unit vectors are at most
/// 1; two layers round them to 11 and to 8 digits some dozens of times.
#[test]
fn fewer_bits_are_close_to_the_reference_and_not_the_same() {
    let fixture = Fixture::read(include_str!("../fixtures/tiny.json"));
    let in_bits = |precision| {
        let computing = DeviceAndPrecision {
            device: Device::Cpu,
            precision,
        };
        let model = SingleOrMultiVectorRanker::load(
            &tiny(),
            EmbeddingRankerKind::BiEncoder,
            fixture.max_tokens,
            computing,
        );
        let model = model.unwrap();
        let tokens = fixture.tokenized(&model);
        let encoded = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
        let mut worst = 0.0_f64;
        for (text, encoded) in fixture.texts.iter().zip(&encoded) {
            let vector = encoded.vectors().next().unwrap();
            for (&found, &expected) in vector.iter().zip(&text.pooled) {
                worst = worst.max((f64::from(found) - expected).abs());
            }
        }
        println!("{precision}: {worst:.1e}");
        worst
    };
    assert!(in_bits(FloatPrecision::F32) < 1e-5);
    let (half, brain) = (in_bits(FloatPrecision::F16), in_bits(FloatPrecision::Bf16));
    assert!((1e-5..5e-3).contains(&half), "{half}");
    assert!((1e-4..5e-2).contains(&brain), "{brain}");
}

#[test]
fn the_inner_product_is_that_of_vectors_as_they_are() {
    let mut files = tiny();
    let cosine = load(&files, EmbeddingRankerKind::BiEncoder, 48);
    files.sentence_transformers = Some(br#"{"similarity_fn_name": "dot", "prompts": {}}"#.to_vec());
    let dot = load(&files, EmbeddingRankerKind::BiEncoder, 48);
    assert_eq!(dot.similarity_measure(), VectorSimilarity::Dot);
    let texts = ["where do rivers end", "a river flows into the sea"];
    let [a, b] = texts.map(|it| encode(&dot, it));
    let norm = |it: &SingleOrMultiVectorEncoding| dot.score(it, it).sqrt();
    assert!(norm(&a) > 1.5, "{}", norm(&a));
    let [unit_a, unit_b] = texts.map(|it| encode(&cosine, it));
    let expected = cosine.score(&unit_a, &unit_b) * norm(&a) * norm(&b);
    assert!((dot.score(&a, &b) - expected).abs() < 1e-4 * expected.abs());
}

#[derive(Deserialize)]
struct AttentionFixture {
    /// Layers × heads × two rows.
    first_rows: Vec<Vec<Vec<Vec<f32>>>>,
}

fn joined_pair(model: &CrossEncoder, pair: &CrossPair) -> QueryDocumentTokenSequence {
    let tokens = |role, text| model.tokenize(role, text).unwrap();
    model.join_tokenized_pair(
        &tokens(QueryOrDocumentRole::Query, &pair.query),
        &tokens(QueryOrDocumentRole::Document, &pair.text),
    )
}

#[test]
fn attention_equals_the_reference() {
    let (_, files, fixture) = relative!("cross-tiny");
    let fixture: CrossFixture = serde_json::from_str(fixture).unwrap();
    let expected = include_str!("../fixtures/cross-tiny-attention.json");
    let expected: AttentionFixture = serde_json::from_str(expected).unwrap();
    let model = CrossEncoder::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
    let first = &fixture.pairs[0];
    let pair = joined_pair(&model, first);
    let n = pair.ids.len();
    assert_eq!(model.n_layers_and_heads(), (2, 4));
    for (layer, heads) in expected.first_rows.iter().enumerate() {
        let mut mean = vec![0.0; n];
        for (head, rows) in heads.iter().enumerate() {
            let found = model
                .layer_attention_weights(&pair, layer, Some(head))
                .unwrap()
                .unwrap();
            for (row, expected) in found.chunks_exact(n).zip(rows) {
                for (found, expected) in row.iter().zip(expected) {
                    assert!((found - expected).abs() < 2e-5, "{found} is not {expected}");
                }
            }
            for row in found.chunks_exact(n) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            let first = mean.iter_mut().zip(&found);
            first.for_each(|(sum, it)| *sum += it / heads.len() as f32);
        }
        let found = model
            .layer_attention_weights(&pair, layer, None)
            .unwrap()
            .unwrap();
        for (found, expected) in found.iter().zip(&mean) {
            assert!((found - expected).abs() < 1e-6);
        }
    }
    assert_eq!(model.layer_attention_weights(&pair, 2, None).unwrap(), None);
    assert_eq!(
        model.layer_attention_weights(&pair, 0, Some(4)).unwrap(),
        None
    );

    let (_, files, _) = relative!("cross-modernbert");
    let modern = CrossEncoder::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
    let pair = joined_pair(&modern, first);
    assert_eq!(
        modern.layer_attention_weights(&pair, 0, None).unwrap(),
        None
    );
}

#[test]
fn cross_encoders_equal_the_reference() {
    for (name, files, fixture) in [
        relative!("cross-tiny"),
        relative!("cross-roberta"),
        relative!("cross-electra"),
        relative!("cross-distilbert"),
        relative!("cross-modernbert"),
    ] {
        assert!(CrossEncoder::is_supported_config(&files.config), "{name}");
        let fixture: CrossFixture = serde_json::from_str(fixture).unwrap();
        let model = CrossEncoder::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let pairs = fixture.pairs.iter().map(|it| {
            let pair = joined_pair(&model, it);
            assert_eq!(pair.ids, it.ids, "{name}: {} | {}", it.query, it.text);
            (pair, it.score)
        });
        check_pairs((name, "score"), pairs, |batch| {
            model.score_pairs(batch).unwrap()
        });
    }
    assert!(!CrossEncoder::is_supported_config(&tiny().config));
}

/// Checks that pairs in a batch have the scores of the reference, and that each of them has the
/// same score alone.
pub(crate) fn check_pairs(
    (name, what): (&str, &str),
    pairs: impl Iterator<Item = (QueryDocumentTokenSequence, f64)>,
    score: impl Fn(&[&QueryDocumentTokenSequence]) -> Vec<f64>,
) {
    let (pairs, expected): (Vec<QueryDocumentTokenSequence>, Vec<f64>) = pairs.unzip();
    let batch: Vec<&QueryDocumentTokenSequence> = pairs.iter().collect();
    let scores = score(&batch);
    let mut worst = 0.0_f64;
    for (pair, (found, expected)) in batch.into_iter().zip(scores.iter().zip(expected)) {
        worst = worst.max((found - expected).abs());
        let alone = score(&[pair])[0];
        assert!(
            (found - alone).abs() < SAME_SCORE,
            "{name}: {found} {alone}"
        );
    }
    exact(name, what, worst);
}

/// What reference.py wrote of a cross-encoder.
#[derive(Deserialize)]
struct CrossFixture {
    #[serde(rename = "max_pieces")]
    max_tokens: usize,
    pairs: Vec<CrossPair>,
}

#[derive(Deserialize)]
struct CrossPair {
    query: String,
    text: String,
    ids: Vec<u32>,
    score: f64,
}
