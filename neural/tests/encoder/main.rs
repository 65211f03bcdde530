//! The whole of a model, against the reference implementation and against broken files.
//!
//! `fixtures/tiny` is a BERT of 2 layers with random weights; `fixtures/*.json` is what Hugging
//! Face transformers computes. Both are made by `fixtures/reference.py`. Tests of all-MiniLM-L6-v2
//! itself look for its folder in `AXIOSCOPE_MODEL` or below `~/.cache/axioscope`, and are skipped
//! where there is none.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

mod broken;
mod heads;
mod sides;
mod modern;
mod t5;

use std::io::Write;
use std::path::{Path, PathBuf};

use expect_test::expect;
use neural::{
    Device, EmbeddingRankerKind, Error, ModelFileContents, QueryOrDocumentRole,
    SentenceTransformersModuleWithWeights, SingleOrMultiVectorEncoding, SingleOrMultiVectorRanker,
    TokenizedText,
};
use serde::Deserialize;
use serde_json::{Value, json};
use test_dependencies::{TestDependency, or_skip};

/// Of a unit vector's numbers, between two implementations in f32.
const SAME_VECTOR: f64 = 1e-4;
/// Of a score, between a text alone and in a batch.
const SAME_SCORE: f64 = 1e-5;

#[test]
fn the_tiny_model_equals_the_reference() {
    check_reference("bert", &tiny(), include_str!("../fixtures/tiny.json"));
}

/// The largest difference from the reference: printed for the table of `cargo xtask test`, and an
/// error if too large. The numbers are at most about 1, or divided by their size where they are
/// larger.
fn exact(name: &str, what: &str, worst: f64) {
    let line = format!("{name}\t{what}\t{worst:.1e}\n");
    print!("{line}");
    if let Some(file) = std::env::var_os("AXIOSCOPE_EXACTNESS") {
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
    assert!(worst < SAME_VECTOR, "{name}: {worst}");
}

/// Files of a fixture, and what the reference computes with them.
macro_rules! relative {
    ($name:literal) => {
        (
            $name,
            ModelFileContents {
                config: include_bytes!(concat!("../fixtures/", $name, "/config.json")).to_vec(),
                tokenizer: include_bytes!(concat!("../fixtures/", $name, "/tokenizer.json"))
                    .to_vec(),
                weights: include_bytes!(concat!("../fixtures/", $name, "/model.safetensors"))
                    .to_vec(),
                ..ModelFileContents::default()
            },
            include_str!(concat!("../fixtures/", $name, ".json")),
        )
    };
}
pub(crate) use relative;

#[test]
fn the_relatives_of_bert_equal_the_reference() {
    for (name, files, fixture) in [
        relative!("roberta"),
        relative!("xlm-roberta"),
        relative!("electra"),
        relative!("distilbert"),
        relative!("modernbert"),
    ] {
        check_reference(name, &files, fixture);
        check_alone(&files, fixture);
    }
}

#[test]
fn minilm_equals_the_reference() {
    let Some(files) = minilm() else { return };
    check_reference(
        "all-MiniLM-L6-v2",
        &files,
        include_str!("../fixtures/minilm.json"),
    );
}

#[test]
fn a_text_alone_scores_as_in_a_batch_in_any_order() {
    check_alone(&tiny(), include_str!("../fixtures/tiny.json"));
    if let Some(files) = minilm() {
        check_alone(&files, include_str!("../fixtures/minilm.json"));
    }
}

#[test]
fn the_same_batch_gives_the_same_bits() {
    let files = minilm().unwrap_or_else(tiny);
    let model = load(&files, EmbeddingRankerKind::LateInteraction, 64);
    let texts = Fixture::read(include_str!("../fixtures/minilm.json")).tokenized(&model);
    let batch: Vec<&TokenizedText> = texts.iter().collect();
    let first = model.encode(&batch).unwrap();
    for _ in 0..3 {
        assert_eq!(model.encode(&batch).unwrap(), first);
    }
}

#[test]
fn an_empty_text_has_a_vector_as_a_whole_but_no_tokens() {
    let bi = load(&tiny(), EmbeddingRankerKind::BiEncoder, 48);
    let empty = bi.tokenize(QueryOrDocumentRole::Document, "").unwrap();
    assert_eq!(
        (empty.ids.len(), empty.spans.len(), empty.truncated),
        (2, 0, false)
    );
    assert_eq!(encode(&bi, "").vectors().len(), 1);

    let late = load(&tiny(), EmbeddingRankerKind::LateInteraction, 48);
    let (empty, query) = (encode(&late, ""), encode(&late, "where do rivers end"));
    assert_eq!(empty.vectors().len(), 0);
    assert_eq!(late.score(&query, &empty), -4.0);
    assert_eq!(late.score(&empty, &query), 0.0);
    assert_eq!(late.score(&empty, &empty), 0.0);
    assert!(late.encode(&[]).unwrap().is_empty());
}

#[test]
fn a_million_characters_are_cut_to_the_bound() {
    let model = load(&tiny(), EmbeddingRankerKind::BiEncoder, 48);
    let words = "river ".repeat(170_000);
    let tokens = model
        .tokenize(QueryOrDocumentRole::Document, &words)
        .unwrap();
    assert_eq!((tokens.ids.len(), tokens.truncated), (48, true));
    let score = model.score(&encode(&model, "river"), &encode(&model, &words));
    assert!(score.is_finite());

    let one_word = model
        .tokenize(QueryOrDocumentRole::Document, &"x".repeat(1_000_000))
        .unwrap();
    assert_eq!((one_word.ids.len(), one_word.truncated), (3, false)); // [CLS] [UNK] [SEP]
}

#[test]
fn a_text_that_just_fits_is_not_truncated() {
    let model = load(&tiny(), EmbeddingRankerKind::BiEncoder, 5);
    assert!(
        !model
            .tokenize(QueryOrDocumentRole::Document, "the river end")
            .unwrap()
            .truncated
    );
    assert!(
        model
            .tokenize(QueryOrDocumentRole::Document, "the river end .")
            .unwrap()
            .truncated
    );
}

/// Tokens with their places in the text.
fn show(tokens: &[neural::SubwordToken]) -> String {
    let each = tokens
        .iter()
        .map(|it| format!("{} {}..{}", it.token, it.start, it.end));
    each.collect::<Vec<_>>().join("  ")
}

#[test]
fn matches_show_what_the_score_is_made_of() {
    let model = load(&tiny(), EmbeddingRankerKind::LateInteraction, 48);
    let query = encode(&model, "Hill, 東");
    let text = encode(&model, "é downhill");
    let matches = model.token_pair_cosines(&query, &text).unwrap();
    expect![[r#"
        query: h 0..1  ##i 1..2  ##l 2..3  ##l 3..4  , 4..5  東 6..7
        text:  e 0..1  down 2..6  ##hill 6..10
    "#]]
    .assert_eq(&format!(
        "query: {}\ntext:  {}\n",
        show(&matches.query),
        show(&matches.document)
    ));

    assert_eq!(matches.cosines.len(), 6);
    assert!(matches.cosines.iter().all(|row| row.len() == 3));
    let best = matches
        .cosines
        .iter()
        .map(|row| row.iter().copied().fold(-1.0, f64::max));
    assert_eq!(best.sum::<f64>(), model.score(&query, &text));

    let model = load(&tiny(), EmbeddingRankerKind::BiEncoder, 48);
    let text = encode(&model, "river");
    assert_eq!(model.token_pair_cosines(&text, &text), None);
}

#[test]
fn the_fingerprint_tells_every_part_apart() {
    let fingerprint = |files: &ModelFileContents, matching, max_tokens| {
        load(files, matching, max_tokens).fingerprint().to_owned()
    };
    let files = tiny();
    let mut all = vec![
        fingerprint(&files, EmbeddingRankerKind::BiEncoder, 48),
        fingerprint(&files, EmbeddingRankerKind::LateInteraction, 48),
        fingerprint(&files, EmbeddingRankerKind::BiEncoder, 47),
    ];
    for change in [
        |files: &mut ModelFileContents| files.config.push(b' '),
        |files: &mut ModelFileContents| files.tokenizer.push(b' '),
        |files: &mut ModelFileContents| files.pooling = Some(heads::pooling("cls_token")),
        |files: &mut ModelFileContents| files.sentence_transformers = Some(b"{}".to_vec()),
        |files: &mut ModelFileContents| files.colbert_metadata = Some(b"{}".to_vec()),
        |files: &mut ModelFileContents| files.ranker_config = Some(b"".to_vec()),
        |files: &mut ModelFileContents| files.ranker_config = Some(b"# why".to_vec()),
        |files: &mut ModelFileContents| {
            files
                .modules_with_weights
                .push(SentenceTransformersModuleWithWeights::default())
        },
        |files: &mut ModelFileContents| *files.weights.last_mut().unwrap() ^= 1,
    ] {
        let mut files = tiny();
        change(&mut files);
        all.push(fingerprint(&files, EmbeddingRankerKind::BiEncoder, 48));
    }
    assert!(
        all.iter()
            .all(|it| it.len() == 64 && it.bytes().all(|b| b.is_ascii_hexdigit()))
    );
    let n = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n);
    assert!(all.contains(&fingerprint(&tiny(), EmbeddingRankerKind::BiEncoder, 48)));
}

/// For each tensor by its name, the files with a NaN for its first number.
fn with_nan(files: &ModelFileContents) -> Vec<(String, ModelFileContents)> {
    let (length, rest) = files.weights.split_first_chunk::<8>().unwrap();
    let length = u64::from_le_bytes(*length) as usize;
    let header: Value = serde_json::from_slice(&rest[..length]).unwrap();
    let tensors = header.as_object().unwrap().iter();
    let changed = tensors
        .filter(|it| it.0 != "__metadata__")
        .map(|(name, tensor)| {
            let mut files = files.clone();
            let first = 8 + length + tensor["data_offsets"][0].as_u64().unwrap() as usize;
            files.weights[first..first + 4].copy_from_slice(&f32::NAN.to_le_bytes());
            (name.clone(), files)
        });
    changed.collect()
}

#[test]
fn weights_that_are_no_numbers_are_found_when_a_text_is_encoded() {
    for (name, files) in with_nan(&tiny()) {
        // the first row of the words is [PAD], which no text has
        if name == "embeddings.word_embeddings.weight" {
            continue;
        }
        let model = load(&files, EmbeddingRankerKind::BiEncoder, 48);
        let tokens = model
            .tokenize(QueryOrDocumentRole::Document, "river")
            .unwrap();
        assert!(
            matches!(model.encode(&[&tokens]), Err(Error::NotFinite)),
            "{name}"
        );
    }
}

#[test]
fn the_bound_on_tokens_leaves_room_for_one_and_is_what_the_model_was_made_for() {
    for max_tokens in [0, 2, 65, usize::MAX] {
        let error = SingleOrMultiVectorRanker::load(
            &tiny(),
            EmbeddingRankerKind::BiEncoder,
            max_tokens,
            Device::Cpu,
        )
        .err();
        let Some(Error::MaxTokens {
            found,
            least: 3,
            most: 64,
        }) = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(found, max_tokens);
    }
    assert_eq!(
        load(&tiny(), EmbeddingRankerKind::BiEncoder, 3)
            .tokenize(QueryOrDocumentRole::Document, "a b")
            .unwrap()
            .ids
            .len(),
        3
    );
}

#[test]
fn tokens_of_another_model_are_refused() {
    let model = load(&tiny(), EmbeddingRankerKind::BiEncoder, 8);
    let good = model
        .tokenize(QueryOrDocumentRole::Document, "river")
        .unwrap();
    for (ids, n_spans) in [
        (vec![], 0),
        (vec![2, 101, 3], 1),
        (vec![2; 9], 7),
        (vec![2; 4], 1),
    ] {
        let tokens = TokenizedText {
            role: QueryOrDocumentRole::Document,
            ids,
            spans: vec![(0, 1); n_spans],
            truncated: false,
        };
        let error = model.encode(&[&good, &tokens]).unwrap_err();
        assert!(matches!(error, Error::InvalidTokens { .. }), "{error}");
    }
}

#[test]
fn matchings_travel_in_kebab_case() {
    let all = serde_json::to_string(EmbeddingRankerKind::ALL).unwrap();
    assert_eq!(all, r#"["bi-encoder","late-interaction"]"#);
}

/// What reference.py wrote.
#[derive(Deserialize)]
struct Fixture {
    #[serde(rename = "max_pieces")]
    max_tokens: usize,
    texts: Vec<Text>,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<u32>,
    truncated: bool,
    pooled: Vec<f64>,
}

#[derive(Deserialize)]
struct Pair {
    query: usize,
    text: usize,
    score: f64,
}

impl Fixture {
    fn read(json: &str) -> Fixture {
        serde_json::from_str(json).unwrap()
    }

    fn tokenized(&self, model: &SingleOrMultiVectorRanker) -> Vec<TokenizedText> {
        self.texts
            .iter()
            .map(|text| {
                model
                    .tokenize(QueryOrDocumentRole::Document, &text.text)
                    .unwrap()
            })
            .collect()
    }
}

fn check_reference(name: &str, files: &ModelFileContents, fixture: &str) {
    let fixture = Fixture::read(fixture);

    let model = load(files, EmbeddingRankerKind::BiEncoder, fixture.max_tokens);
    let tokens = fixture.tokenized(&model);
    for (text, tokens) in fixture.texts.iter().zip(&tokens) {
        assert_eq!(
            (&tokens.ids, tokens.truncated),
            (&text.ids, text.truncated),
            "{}",
            text.text
        );
    }
    let encoded = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
    let mut worst = 0.0f64;
    for (text, encoded) in fixture.texts.iter().zip(&encoded) {
        let vector = encoded.vectors().next().unwrap();
        assert_eq!(vector.len(), text.pooled.len());
        for (&found, &expected) in vector.iter().zip(&text.pooled) {
            worst = worst.max((f64::from(found) - expected).abs());
        }
    }
    exact(name, "number of a unit vector", worst);

    let model = load(
        files,
        EmbeddingRankerKind::LateInteraction,
        fixture.max_tokens,
    );
    let encoded = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
    for pair in &fixture.pairs {
        let score = model.score(&encoded[pair.query], &encoded[pair.text]);
        let n_tokens = encoded[pair.query].vectors().len() as f64;
        let difference = (score - pair.score).abs();
        assert!(
            difference <= SAME_VECTOR * n_tokens,
            "{score} for {}",
            pair.score
        );
    }
}

fn check_alone(files: &ModelFileContents, fixture: &str) {
    let fixture = Fixture::read(fixture);
    for &matching in EmbeddingRankerKind::ALL {
        let model = load(files, matching, fixture.max_tokens);
        let tokens = fixture.tokenized(&model);
        let batch = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
        let mut reversed = model
            .encode(&tokens.iter().rev().collect::<Vec<_>>())
            .unwrap();
        reversed.reverse();
        let alone: Vec<SingleOrMultiVectorEncoding> = tokens
            .iter()
            .map(|it| model.encode(&[it]).unwrap().remove(0))
            .collect();
        for query in 0..tokens.len() {
            for text in 0..tokens.len() {
                let expected = model.score(&alone[query], &alone[text]);
                for other in [&batch, &reversed] {
                    let score = model.score(&other[query], &other[text]);
                    let bound = SAME_SCORE * expected.abs().max(1.0);
                    assert!((score - expected).abs() <= bound, "{score} for {expected}");
                }
            }
        }
    }
}

fn load(
    files: &ModelFileContents,
    matching: EmbeddingRankerKind,
    max_tokens: usize,
) -> SingleOrMultiVectorRanker {
    SingleOrMultiVectorRanker::load(files, matching, max_tokens, Device::Cpu).unwrap()
}

fn encode(model: &SingleOrMultiVectorRanker, text: &str) -> SingleOrMultiVectorEncoding {
    model
        .encode(&[&model.tokenize(QueryOrDocumentRole::Document, text).unwrap()])
        .unwrap()
        .remove(0)
}

fn tiny() -> ModelFileContents {
    ModelFileContents {
        config: include_bytes!("../fixtures/tiny/config.json").to_vec(),
        tokenizer: include_bytes!("../fixtures/tiny/tokenizer.json").to_vec(),
        weights: include_bytes!("../fixtures/tiny/model.safetensors").to_vec(),
        ..ModelFileContents::default()
    }
}

fn minilm() -> Option<ModelFileContents> {
    let folder = match (
        std::env::var_os("AXIOSCOPE_MODEL"),
        std::env::var_os("HOME"),
    ) {
        (Some(folder), _) => PathBuf::from(folder),
        (None, Some(home)) => Path::new(&home).join(".cache/axioscope/models/all-MiniLM-L6-v2"),
        (None, None) => PathBuf::new(),
    };
    let found = Some(folder).filter(|it| it.join("model.safetensors").is_file());
    let folder = or_skip(found, TestDependency::Model, "all-MiniLM-L6-v2 is absent")?;
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    Some(ModelFileContents {
        config: read("config.json"),
        tokenizer: read("tokenizer.json"),
        weights: read("model.safetensors"),
        ..ModelFileContents::default()
    })
}
