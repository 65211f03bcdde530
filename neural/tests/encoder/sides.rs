//! Rankers that read query and text apart, against PyTorch and sentence-transformers; the fixtures
//! are made by `fixtures/sides.py`.

use super::*;
use neural::{
    Colbert, ColbertQueryAugmentation, CrossEncoder, EpicDocumentStates, EpicQueryWeights,
    EpicRanker, Splade,
};

/// Scores of every text as a query with every text, and those of each alone.
const SAME: f64 = 1e-5;

#[derive(Deserialize)]
struct ColbertFixture {
    texts: Vec<String>,
    variants: Vec<Variant>,
}

/// A setting of a ColBERT.
#[derive(Deserialize)]
struct Variant {
    name: String,
    ranker: Option<String>,
    artifact: bool,
    texts: Vec<BothSides>,
    scores: Vec<Vec<f64>>,
    cosines: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct BothSides {
    query: Cut,
    text: Cut,
}

#[derive(Deserialize)]
struct Cut {
    ids: Vec<u32>,
    truncated: bool,
    kept: Vec<u32>,
}

/// Tokenizes each text as a query and as a document.
fn on_both_sides(
    texts: &[String],
    tokenize: impl Fn(QueryOrDocumentRole, &str) -> TokenizedText,
) -> [Vec<TokenizedText>; 2] {
    [QueryOrDocumentRole::Query, QueryOrDocumentRole::Document]
        .map(|side| texts.iter().map(|it| tokenize(side, it)).collect())
}

#[test]
fn colbert_equals_the_reference_in_every_setting() {
    let fixture: ColbertFixture =
        serde_json::from_str(include_str!("../fixtures/colbert-tiny.json")).unwrap();
    assert_eq!(fixture.variants.len(), 5);
    for variant in &fixture.variants {
        let name = &variant.name;
        let mut files = colbert_tiny();
        files.ranker_config = variant.ranker.clone().map(String::into_bytes);
        if !variant.artifact {
            files.colbert_metadata = None;
        }
        let model = Colbert::load(&files, Device::Cpu).unwrap();
        let tokenize = |side, text: &str| model.tokenize(side, text).unwrap();
        let [queries, texts] = on_both_sides(&fixture.texts, tokenize);
        for (at, both) in variant.texts.iter().enumerate() {
            for (found, cut) in [(&queries[at], &both.query), (&texts[at], &both.text)] {
                assert_eq!(found.ids, cut.ids, "{name} {at}");
                assert_eq!(found.truncated, cut.truncated, "{name} {at}");
            }
        }
        // Both sides in one batch.
        let batch: Vec<&TokenizedText> = queries.iter().chain(&texts).collect();
        let mut encoded = model.encode(&batch).unwrap();
        let encoded_texts = encoded.split_off(queries.len());
        let n_kept = |it: &SingleOrMultiVectorEncoding| it.vectors().len();
        for (at, both) in variant.texts.iter().enumerate() {
            assert_eq!(n_kept(&encoded[at]), both.query.kept.len(), "{name} {at}");
            assert_eq!(
                n_kept(&encoded_texts[at]),
                both.text.kept.len(),
                "{name} {at}"
            );
        }
        let mut worst = 0.0_f64;
        for (query, row) in variant.scores.iter().enumerate() {
            let query_alone = model.encode(&[&queries[query]]).unwrap().remove(0);
            for (text, expected) in row.iter().enumerate() {
                let score = model.score(&encoded[query], &encoded_texts[text]);
                let text_alone = model.encode(&[&texts[text]]).unwrap().remove(0);
                let alone = model.score(&query_alone, &text_alone);
                let difference = (score - expected).abs().max((score - alone).abs());
                worst = worst.max(difference / expected.abs().max(1.0));
            }
        }
        let matches = model.token_pair_cosines(&encoded[0], &encoded_texts[1]);
        assert_eq!(matches.cosines.len(), variant.cosines.len(), "{name}");
        for (found, expected) in matches.cosines.iter().zip(&variant.cosines) {
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.iter().zip(expected) {
                worst = worst.max((found - expected).abs());
            }
        }
        exact(&format!("colbert-tiny, {name}"), "score or cosine", worst);
    }
}

#[test]
fn what_a_colbert_compares_is_shown_with_markers_and_masks() {
    let mut files = colbert_tiny();
    files.ranker_config = Some(b"max_query_tokens = 9".to_vec());
    let model = Colbert::load(&files, Device::Cpu).unwrap();
    assert_eq!(model.vector_dimension(), 20);
    let markers = ["[unused0]", "[unused1]"].map(str::to_owned);
    assert_eq!(model.marker_tokens(), Some(markers));
    assert_eq!(
        model.query_augmentation(),
        ColbertQueryAugmentation::Unattended
    );
    let encode = |side, text: &str| {
        let tokens = model.tokenize(side, text).unwrap();
        model.encode(&[&tokens]).unwrap().remove(0)
    };
    let matches = model.token_pair_cosines(
        &encode(QueryOrDocumentRole::Query, "Hill, 東"),
        &encode(QueryOrDocumentRole::Document, "é, downhill!"),
    );
    expect![[r#"
        query: [CLS] 0..0  [unused0] 0..0  h 0..1  ##i 1..2  ##l 2..3  ##l 3..4  , 4..5  東 6..7  [SEP] 7..7
        text:  [CLS] 0..0  [unused1] 0..0  e 0..1  down 3..7  ##hill 7..11  [SEP] 12..12
    "#]]
    .assert_eq(&format!(
        "query: {}\ntext:  {}\n",
        show(&matches.query),
        show(&matches.document)
    ));
    let short = encode(QueryOrDocumentRole::Query, "hill");
    let masks = model.token_pair_cosines(&short, &short).query;
    let masks = masks.iter().filter(|it| it.token == "[MASK]");
    assert_eq!(
        masks.map(|it| (it.start, it.end)).collect::<Vec<_>>(),
        [(4, 4); 2]
    );
}

#[test]
fn the_same_words_as_a_query_and_as_a_text_are_two_things() {
    let model = Colbert::load(&colbert_tiny(), Device::Cpu).unwrap();
    let [query, text] = [QueryOrDocumentRole::Query, QueryOrDocumentRole::Document]
        .map(|it| model.tokenize(it, "the sea").unwrap());
    assert_ne!(query.ids, text.ids);
    let encoded = model.encode(&[&query, &text]).unwrap();
    assert_ne!(encoded[0], encoded[1]);
    // A query that says it is a text was not made by this model.
    let turned = TokenizedText {
        role: QueryOrDocumentRole::Document,
        ..query
    };
    let error = model.encode(&[&turned]).unwrap_err();
    assert!(matches!(error, Error::InvalidTokens { .. }), "{error}");
}

#[test]
fn a_colbert_of_another_family_has_its_own_names_of_tokens() {
    let mut files = relative!("splade-roberta").1;
    files.ranker_config = Some(b"max_query_tokens = 8\n[colbert]\nmarkers = []".to_vec());
    broken::edit_header(&mut files, |header| {
        let tensor = header.remove("lm_head.dense.weight").unwrap();
        header.insert("linear.weight".to_owned(), tensor);
    });
    let model = Colbert::load(&files, Device::Cpu).unwrap();
    assert_eq!(model.marker_tokens(), None);
    let query = model.tokenize(QueryOrDocumentRole::Query, "the").unwrap();
    let text = model
        .tokenize(QueryOrDocumentRole::Document, "where do rivers end")
        .unwrap();
    let encoded = model.encode(&[&query, &text]).unwrap();
    let matches = model.token_pair_cosines(&encoded[0], &encoded[1]);
    let tokens: Vec<&str> = matches.query.iter().map(|it| it.token.as_str()).collect();
    assert_eq!(tokens.first(), Some(&"<s>"));
    assert_eq!((tokens.len(), tokens.last()), (8, Some(&"<mask>")));
    let alone = model.encode(&[&query]).unwrap().remove(0);
    let (score, alone) = (
        model.score(&encoded[0], &encoded[1]),
        model.score(&alone, &encoded[1]),
    );
    assert!(
        score > 0.0 && (score - alone).abs() < SAME,
        "{score} {alone}"
    );

    let mut files = relative!("splade-distilbert").1;
    files.ranker_config = Some(b"architecture = \"epic\"".to_vec());
    let error = EpicRanker::load(&files, 48, Device::Cpu.into())
        .err()
        .unwrap();
    expect!["`model_type` in config.json is distilbert, but must be bert, the encoder of EPIC"]
        .assert_eq(&error.to_string());
}

#[derive(Deserialize)]
struct EpicFixture {
    #[serde(rename = "max_pieces")]
    max_tokens: usize,
    texts: Vec<String>,
    read: Vec<Weighed>,
    scores: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Weighed {
    ids: Vec<u32>,
    query: Vec<(u32, f64)>,
    quality: f64,
    text_sum: f64,
    /// Of the tokens 5 to 8.
    text_some: Vec<f64>,
}

#[test]
fn epic_equals_the_reference_under_both_names_of_tensors() {
    let fixture: EpicFixture =
        serde_json::from_str(include_str!("../fixtures/epic-tiny.json")).unwrap();
    let plain = epic_tiny();
    let mut theirs = epic_tiny();
    broken::edit_header(&mut theirs, |header| {
        let names: Vec<String> = header.keys().cloned().collect();
        for name in names {
            if name.starts_with("bert.") || name.starts_with("cls.") {
                let tensor = header.remove(&name).unwrap();
                header.insert(format!("encoder.bert.{name}"), tensor);
            }
        }
    });
    for files in [plain, theirs] {
        let model = EpicRanker::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let tokenize = |side, text: &str| model.tokenize(side, text).unwrap();
        let [queries, texts] = on_both_sides(&fixture.texts, tokenize);
        let queries: Vec<&TokenizedText> = queries.iter().collect();
        let texts: Vec<&TokenizedText> = texts.iter().collect();
        let made: Vec<EpicQueryWeights> = model.encode_queries(&queries).unwrap();
        let weighed: Vec<EpicDocumentStates> = model.encode_documents(&texts).unwrap();
        let mut worst = 0.0_f64;
        let mut same = |found: f64, expected: f64| {
            worst = worst.max((found - expected).abs() / expected.abs().max(1.0));
        };
        for (at, expected) in fixture.read.iter().enumerate() {
            assert_eq!(
                (&queries[at].ids, &texts[at].ids),
                (&expected.ids, &expected.ids)
            );
            let ids = |all: &[(u32, f64)]| all.iter().map(|it| it.0).collect::<Vec<_>>();
            assert_eq!(ids(made[at].token_weights()), ids(&expected.query));
            for (found, expected) in made[at].token_weights().iter().zip(&expected.query) {
                same(found.1, expected.1);
            }
            same(weighed[at].quality(), expected.quality);
            let weight = |id| model.document_token_weight(&weighed[at], id);
            same((0..101).map(weight).sum(), expected.text_sum);
            assert_eq!(weight(101), 0.0);
            for (id, &expected) in (5..).zip(&expected.text_some) {
                same(weight(id), expected);
            }
        }
        for (query, row) in fixture.scores.iter().enumerate() {
            let query_alone = model.encode_queries(&queries[query..=query]).unwrap();
            for (text, &expected) in row.iter().enumerate() {
                let score = model.score(&made[query], &weighed[text]);
                same(score, expected);
                let text_alone = model.encode_documents(&texts[text..=text]).unwrap();
                same(model.score(&query_alone[0], &text_alone[0]), score);
            }
        }
        exact("epic-tiny", "weight or score", worst);
    }
}

#[derive(Deserialize)]
struct DenseFixture {
    #[serde(rename = "max_pieces")]
    max_tokens: usize,
    texts: Vec<String>,
    queries: Vec<Vec<f64>>,
    documents: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
}

#[test]
fn prompts_and_dense_modules_equal_sentence_transformers() {
    let fixture: DenseFixture =
        serde_json::from_str(include_str!("../fixtures/dense-tiny.json")).unwrap();
    let model = load(
        &dense_tiny(),
        EmbeddingRankerKind::BiEncoder,
        fixture.max_tokens,
    );
    let tokenize = |side, text: &str| model.tokenize(side, text).unwrap();
    let [queries, texts] = on_both_sides(&fixture.texts, tokenize)
        .map(|it| model.encode(&it.iter().collect::<Vec<_>>()).unwrap());
    let mut worst = 0.0_f64;
    for (found, expected) in [(&queries, &fixture.queries), (&texts, &fixture.documents)] {
        for (found, expected) in found.iter().zip(expected) {
            let found = found.vectors().next().unwrap();
            assert_eq!(found.len(), expected.len());
            for (&found, expected) in found.iter().zip(expected) {
                worst = worst.max((f64::from(found) - expected).abs());
            }
        }
    }
    for (query, row) in queries.iter().zip(&fixture.scores) {
        for (text, expected) in texts.iter().zip(row) {
            worst = worst.max((model.score(query, text) - expected).abs());
        }
    }
    exact("dense-tiny, prompts", "number or score", worst);
}

#[test]
fn ranker_toml_has_the_last_word_on_prompts_and_bounds() {
    let ids = |files: &ModelFileContents, side, text: &str| {
        let model = load(files, EmbeddingRankerKind::BiEncoder, 48);
        model.tokenize(side, text).unwrap().ids
    };
    let expect_ids = |files: &ModelFileContents, side, text: &str, plain: &str| {
        let expected = ids(&tiny(), QueryOrDocumentRole::Document, plain);
        assert_eq!(ids(files, side, text), expected, "{text:?} as {plain:?}");
    };
    let (query, document) = (QueryOrDocumentRole::Query, QueryOrDocumentRole::Document);
    let mut files = dense_tiny();
    expect_ids(&files, query, "the sea", "query: the sea");
    files.ranker_config = Some(b"[prompts]\nquery = \"where \"\ntext = \"\"\n".to_vec());
    expect_ids(&files, query, "the sea", "where the sea");
    expect_ids(&files, document, "the sea", "the sea");
    files.ranker_config = Some(b"max_query_tokens = 11\nmax_document_tokens = 13".to_vec());
    let many = "the sea ".repeat(20);
    assert_eq!(ids(&files, query, &many).len(), 11);
    assert_eq!(ids(&files, document, &many).len(), 13);
    // The place of a token is that in the text, whatever was put before it.
    files.ranker_config = Some(b"[prompts]\ntext = \"where \"".to_vec());
    let model = load(&files, EmbeddingRankerKind::LateInteraction, 48);
    let tokens = model
        .tokenize(QueryOrDocumentRole::Document, "the sea")
        .unwrap();
    assert_eq!(tokens.spans, [(0, 0), (0, 3), (4, 7)]);
    // A default prompt is for a side that has none of its own.
    files.ranker_config = None;
    let settings =
        r#"{"prompts": {"query": null, "corpus": "the "}, "default_prompt_name": "corpus"}"#;
    files.sentence_transformers = Some(settings.as_bytes().to_vec());
    expect_ids(&files, query, "sea", "the sea");
    expect_ids(&files, document, "sea", "the sea");
}

#[test]
fn a_prompt_that_would_hide_every_text_is_refused() {
    let prompt = "[prompts]\nquery = \"where do rivers \"";
    let with = |mut files: ModelFileContents, n: usize| {
        files.ranker_config = Some(format!("max_query_tokens = {n}\n{prompt}").into_bytes());
        files
    };
    let told = |it: Option<Error>| it.map_or_else(|| "fine".to_owned(), |it| it.to_string());
    let mut found = Vec::new();
    // Three tokens of the prompt, one of the query, [CLS] and [SEP]; of a ColBERT a marker too.
    for n in [5, 6] {
        let files = with(tiny(), n);
        for &matching in EmbeddingRankerKind::ALL {
            found.push(told(
                SingleOrMultiVectorRanker::load(&files, matching, 48, Device::Cpu).err(),
            ));
        }
    }
    for n in [6, 7] {
        found.push(told(
            Colbert::load(&with(colbert_tiny(), n), Device::Cpu).err(),
        ));
    }
    // Of a pair that is too long each side may be cut to a half.
    let (_, cross, _) = relative!("cross-tiny");
    for max_tokens in [10, 11] {
        let loaded = CrossEncoder::load(&with(cross.clone(), 10), max_tokens, Device::Cpu.into());
        found.push(told(loaded.err()));
    }
    expect![[r#"
        the prompt of queries has 3 tokens where there is room for 3, and one of the text; make it shorter, or allow more tokens
        the prompt of queries has 3 tokens where there is room for 3, and one of the text; make it shorter, or allow more tokens
        fine
        fine
        the prompt of queries has 3 tokens where there is room for 3, and one of the text; make it shorter, or allow more tokens
        fine
        the prompt of queries has 3 tokens where there is room for 3, and one of the text; make it shorter, or allow more tokens
        fine
    "#]].assert_eq(&(found.join("\n") + "\n"));
    let model = load(&with(tiny(), 6), EmbeddingRankerKind::LateInteraction, 48);
    let one = model
        .tokenize(QueryOrDocumentRole::Query, "the sea")
        .unwrap();
    assert_eq!(one.spans, [(0, 0), (0, 0), (0, 0), (0, 3)]);
}

#[test]
fn a_folder_that_says_what_it_is_is_nothing_else() {
    let mut files = tiny();
    let mut loaded = |ranker: &str| {
        files.ranker_config = Some(ranker.as_bytes().to_vec());
        let [bi, late] = [
            EmbeddingRankerKind::BiEncoder,
            EmbeddingRankerKind::LateInteraction,
        ]
        .map(|it| SingleOrMultiVectorRanker::load(&files, it, 48, Device::Cpu).err());
        let splade = Splade::load(&files, 48, Device::Cpu.into()).err();
        let cross = CrossEncoder::load(&files, 48, Device::Cpu.into()).err();
        let colbert = Colbert::load(&files, Device::Cpu).err();
        let epic = EpicRanker::load(&files, 48, Device::Cpu.into()).err();
        [bi, late, splade, cross, colbert, epic]
            .map(|it| it.map_or_else(|| "fine".to_owned(), |it| it.to_string()))
    };
    let names = [
        "bi-encoder",
        "late-interaction",
        "splade",
        "cross-encoder",
        "colbert",
        "epic",
    ];
    for (at, name) in names.into_iter().enumerate() {
        let said = loaded(&format!("architecture = \"{name}\""));
        for (other, said) in said.iter().enumerate() {
            let refused = format!(
                "ranker.toml: `architecture` is {name}, and the folder was to be loaded as {}; \
                 load it as what it is, or change that line",
                names[other]
            );
            assert_eq!(other != at, *said == refused, "{name}: {said}");
        }
    }
    let refused = "ranker.toml: [colbert] is there, and the folder was to be loaded as epic; add \
                   `architecture = \"colbert\"`, or take the table out";
    let said = loaded("[colbert]\npreset = \"formal2021\"");
    assert_eq!(said[5], refused);
    assert!(said[..4].iter().all(|it| it.contains("[colbert] is there")));
    assert!(said[4].contains("no tensor `linear.weight`"), "{}", said[4]);
}

#[test]
fn a_colbert_is_no_bi_encoder_unless_somebody_says_so() {
    let mut files = colbert_tiny();
    let loaded = |files: &ModelFileContents, matching| {
        SingleOrMultiVectorRanker::load(files, matching, 48, Device::Cpu).err()
    };
    let refused = loaded(&files, EmbeddingRankerKind::BiEncoder)
        .unwrap()
        .to_string();
    expect![[
        r#"config.json says that this is a ColBERT and no bi-encoder; ask for it by the ending `:colbert`, or write `architecture = "bi-encoder"` into ranker.toml"#
    ]]
    .assert_eq(&refused);
    assert!(loaded(&files, EmbeddingRankerKind::LateInteraction).is_none());
    files.ranker_config = Some(b"architecture = \"bi-encoder\"".to_vec());
    assert!(loaded(&files, EmbeddingRankerKind::BiEncoder).is_none());
}

pub(crate) fn colbert_tiny() -> ModelFileContents {
    ModelFileContents {
        colbert_metadata: Some(
            include_bytes!("../fixtures/colbert-tiny/artifact.metadata").to_vec(),
        ),
        ..relative!("colbert-tiny").1
    }
}

pub(crate) fn epic_tiny() -> ModelFileContents {
    ModelFileContents {
        ranker_config: Some(include_bytes!("../fixtures/epic-tiny/ranker.toml").to_vec()),
        ..relative!("epic-tiny").1
    }
}

pub(crate) fn dense_tiny() -> ModelFileContents {
    macro_rules! bytes {
        ($name:literal) => {
            include_bytes!(concat!("../fixtures/dense-tiny/", $name)).to_vec()
        };
    }
    let modules = bytes!("modules.json");
    assert_eq!(
        neural::dense_module_folders(&modules).unwrap(),
        ["2_Dense", "4_Dense"]
    );
    let module =
        |path: &str, config: Vec<u8>, weights: Vec<u8>| SentenceTransformersModuleWithWeights {
            path: path.to_owned(),
            config,
            weights,
        };
    ModelFileContents {
        pooling: Some(bytes!("1_Pooling/config.json")),
        modules: Some(modules),
        sentence_transformers: Some(bytes!("config_sentence_transformers.json")),
        modules_with_weights: vec![
            module(
                "2_Dense",
                bytes!("2_Dense/config.json"),
                bytes!("2_Dense/model.safetensors"),
            ),
            module(
                "4_Dense",
                bytes!("4_Dense/config.json"),
                bytes!("4_Dense/model.safetensors"),
            ),
        ],
        ..relative!("dense-tiny").1
    }
}
