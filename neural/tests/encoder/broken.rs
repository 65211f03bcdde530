//! Folders that hold no model, or another than they say.

use super::sides::{colbert_tiny, dense_tiny, epic_tiny};
use super::*;
use expect_test::Expect;
use neural::{Colbert, EpicRanker, NeuralRankerConfig};

#[test]
fn a_folder_without_weights_says_so() {
    check_broken(
        |files| files.weights.clear(),
        expect!["model.safetensors (0 bytes) cannot be read: header too small"],
    );
}

#[test]
fn cut_off_weights_say_so() {
    check_broken(
        |files| files.weights.truncate(files.weights.len() / 2),
        expect![
            "model.safetensors (48972 bytes) cannot be read: incomplete metadata, file not fully covered"
        ],
    );
    check_broken(
        |files| files.weights.truncate(100),
        expect!["model.safetensors (100 bytes) cannot be read: invalid header length"],
    );
    check_broken(
        |files| files.weights = b"<html>not found</html>".to_vec(),
        expect!["model.safetensors (22 bytes) cannot be read: header too large"],
    );
}

#[test]
fn a_missing_tensor_is_named() {
    check_broken(
        |files| {
            edit_header(files, |header| {
                let tensor = header.remove("encoder.layer.1.output.dense.bias").unwrap();
                header.insert("another".to_owned(), tensor);
            });
        },
        expect!["model.safetensors has no tensor `encoder.layer.1.output.dense.bias`"],
    );
    check_broken(
        |files| edit_config(files, "num_hidden_layers", json!(3)),
        expect!["model.safetensors has no tensor `encoder.layer.2.attention.self.query.weight`"],
    );
}

#[test]
fn a_wrong_shape_or_type_is_named() {
    check_broken(
        |files| {
            edit_header(files, |header| {
                header["embeddings.LayerNorm.bias"]["shape"] = json!([4, 8]);
            });
        },
        expect![
            "tensor `embeddings.LayerNorm.bias` has shape [4, 8], but config.json asks for [32]"
        ],
    );
    check_broken(
        |files| edit_config(files, "hidden_size", json!(64)),
        expect![
            "tensor `embeddings.word_embeddings.weight` has shape [101, 32], but config.json asks for [101, 64]"
        ],
    );
    check_broken(
        |files| {
            edit_header(files, |header| {
                header["embeddings.LayerNorm.bias"]["dtype"] = json!("I32");
            });
        },
        expect![
            "tensor `embeddings.LayerNorm.bias` is of type I32; F32, F16 and BF16 can be loaded"
        ],
    );
}

#[test]
fn another_architecture_is_named() {
    check_broken(
        |files| edit_config(files, "model_type", json!("gpt2")),
        expect![
            "config.json describes a `gpt2` model; `bert`, `roberta`, `xlm-roberta`, `camembert`, `electra`, `distilbert` and `modernbert` can be loaded, and `t5` as `NAME:monot5`"
        ],
    );
    check_broken(
        |files| edit_config(files, "auto_map", json!({"AutoModel": "own.Model"})),
        expect![
            "`auto_map` in config.json is there, but must be absent: code that comes with a model is not run"
        ],
    );
    check_broken(
        |files| edit_config(files, "model_type", json!("distilbert")),
        expect!["model.safetensors has no tensor `transformer.layer.0.attention.q_lin.weight`"],
    );
    check_broken(
        |files| edit_config(files, "hidden_act", json!("relu")),
        expect!["`hidden_act` in config.json is relu, but must be gelu"],
    );
    check_broken(
        |files| edit_config(files, "num_attention_heads", json!(5)),
        expect!["`hidden_size` in config.json is 32, but must be a multiple of 5 heads"],
    );
    check_broken(
        |files| edit_config(files, "num_attention_heads", json!(0)),
        expect!["`num_attention_heads` in config.json is 0, but must be from 1 to 2^24"],
    );
    check_broken(
        |files| edit_config(files, "intermediate_size", json!(u64::MAX)),
        expect![
            "`intermediate_size` in config.json is 18446744073709551615, but must be from 1 to 2^24"
        ],
    );
    check_broken(
        |files| edit_config(files, "num_hidden_layers", json!(1_u64 << 40)),
        expect!["`num_hidden_layers` in config.json is 1099511627776, but must be from 1 to 4096"],
    );
    check_broken(
        |files| edit_config(files, "position_embedding_type", json!("relative_key")),
        expect!["`position_embedding_type` in config.json is relative_key, but must be absolute"],
    );
    check_broken(
        |files| edit_config(files, "vocab_size", Value::Null),
        expect![
            "config.json is not the configuration of an encoder: invalid type: null, expected usize at line 1 column 556"
        ],
    );
    check_broken(
        |files| files.config = b"{}".to_vec(),
        expect![
            "config.json is not the configuration of an encoder: missing field `model_type` at line 1 column 2"
        ],
    );
}

#[test]
fn a_tokenizer_of_another_model_or_none_is_refused() {
    check_broken(
        |files| edit_config(files, "vocab_size", json!(50)),
        expect![
            "tokenizer.json has a token with id 100, but config.json says that there are 50 tokens; take both files from the same model"
        ],
    );
    check_broken(
        |files| files.tokenizer = b"{".to_vec(),
        expect!["tokenizer.json: EOF while parsing an object at line 1 column 1"],
    );
}

#[test]
fn a_tokenizer_that_breaks_off_is_an_error_that_names_its_file() {
    let mut files = tiny();
    let mut tokenizer: Value = serde_json::from_slice(&files.tokenizer).unwrap();
    // Each run of letters can be read in as many ways as there are sums of ones and twos.
    tokenizer["pre_tokenizer"] = json!({
        "type": "Split", "pattern": {"Regex": "(a|aa)+$"}, "behavior": "Isolated", "invert": false,
    });
    files.tokenizer = tokenizer.to_string().into_bytes();
    let model = load(&files, EmbeddingRankerKind::BiEncoder, 48);
    let long = "a".repeat(200) + "b";
    for side in [QueryOrDocumentRole::Query, QueryOrDocumentRole::Document] {
        let error = model.tokenize(side, &long).err().unwrap().to_string();
        let parts = [
            "tokenizer.json: ",
            "retry-limit",
            "published with the model",
        ];
        assert!(parts.iter().all(|it| error.contains(it)), "{error}");
    }
    assert_eq!(
        model
            .tokenize(QueryOrDocumentRole::Document, "a")
            .unwrap()
            .ids
            .len(),
        3
    );
}

#[test]
fn a_part_of_sentence_transformers_that_is_not_known_is_refused() {
    let modules = |kind: &str| {
        let kinds = ["Transformer", "Pooling", kind];
        let all = kinds.map(
            |it| json!({"path": "1_Pooling", "type": format!("sentence_transformers.models.{it}")}),
        );
        Some(json!(all).to_string().into_bytes())
    };
    let mut fine = tiny();
    fine.modules = modules("Normalize");
    fine.pooling = Some(heads::pooling("cls_token"));
    load(&fine, EmbeddingRankerKind::BiEncoder, 48);
    check_broken(
        |files| {
            files.modules = modules("LSTM");
            files.pooling = Some(heads::pooling("cls_token"));
        },
        expect![
            "`type` in modules.json is sentence_transformers.models.LSTM, but must be Transformer, Pooling, Dense or Normalize"
        ],
    );
    // What is listed has to be there, or the mean would be taken for it.
    check_broken(
        |files| files.modules = modules("Normalize"),
        expect!["`path` in modules.json is 1_Pooling, but must be a folder with config.json"],
    );
    check_broken(
        |files| {
            let modules = json!([{"type": "models.Pooling", "path": "2_Pooling"}]);
            files.modules = Some(modules.to_string().into_bytes());
            files.pooling = Some(heads::pooling("cls_token"));
        },
        expect!["`path` in modules.json is 2_Pooling, but must be 1_Pooling"],
    );
    check_broken(
        |files| files.sentence_transformers = Some(br#"{"default_prompt_name": "query"}"#.to_vec()),
        expect![
            "`default_prompt_name` in config_sentence_transformers.json is query, but must be the name of one of its `prompts`"
        ],
    );
    check_broken(
        |files| {
            files.sentence_transformers = Some(br#"{"similarity_fn_name": "euclidean"}"#.to_vec())
        },
        expect![
            "`similarity_fn_name` in config_sentence_transformers.json is euclidean, but must be cosine or dot"
        ],
    );
    check_broken(
        |files| files.sentence_transformers = Some(b"[1]".to_vec()),
        expect![
            "config_sentence_transformers.json cannot be read: invalid type: integer `1`, expected a string at line 1 column 2"
        ],
    );
}

#[test]
fn a_colbert_without_its_parts_is_refused() {
    let refused = |change: &dyn Fn(&mut ModelFileContents)| {
        let mut files = colbert_tiny();
        change(&mut files);
        let error = Colbert::load(&files, Device::Cpu).err().unwrap();
        error.to_string()
    };
    let ranker = |toml: &'static str| {
        refused(&move |files| files.ranker_config = Some(toml.as_bytes().to_vec()))
    };
    let artifact = |json: &'static str| {
        refused(&move |files| files.colbert_metadata = Some(json.as_bytes().to_vec()))
    };
    let found = [
        refused(&|files| {
            edit_header(files, |header| {
                let tensor = header.remove("linear.weight").unwrap();
                header.insert("another".to_owned(), tensor);
            });
        }),
        refused(&|files| {
            files.colbert_metadata = None;
            edit_header(files, |header| {
                header["linear.weight"]["shape"] = json!([24, 20]);
            });
        }),
        artifact(r#"{"dim": 128}"#),
        artifact(r#"{"dim": 0}"#),
        artifact(r#"{"similarity": "l2"}"#),
        artifact(r#"{"interaction": "flipr"}"#),
        artifact(r#"{"query_token_id": "[unused0]"}"#),
        artifact(r#"{"doc_token_id": "[unused1]"}"#),
        artifact("[]"),
        artifact(r#"{"query_maxlen": 3}"#),
        artifact(r#"{"doc_maxlen": 220}"#),
        ranker("[colbert]\nmarkers = [\"[Q]\", \"[D]\"]"),
        ranker("[colbert]\nmarkers = [\"[unused0]\"]"),
    ];
    expect![[r#"
        model.safetensors has no tensor `linear.weight`
        tensor `linear.weight` has shape [24, 20], but config.json asks for [24, 24]
        `dim` in artifact.metadata is 128, but must be 20, the rows of `linear.weight`
        `dim` in artifact.metadata is 0, but must be 20, the rows of `linear.weight`
        `similarity` in artifact.metadata is l2, but must be cosine
        `interaction` in artifact.metadata is flipr, but must be colbert
        `doc_token_id` in artifact.metadata is absent, but must be there, as query_token_id is
        `query_token_id` in artifact.metadata is absent, but must be there, as doc_token_id is
        artifact.metadata cannot be read: invalid length 0, expected struct Artifact with 9 elements at line 1 column 2
        a maximum of 3 tokens is out of range; the model takes 4 to 64
        a maximum of 220 tokens is out of range; the model takes 4 to 64
        tokenizer.json has no token `[Q]`, which this ColBERT adds to each text; set `markers` and `augmentation` under [colbert] in ranker.toml
        ranker.toml: `markers` has 1 tokens, but must have two or none
    "#]]
    .assert_eq(&(found.join("\n") + "\n"));
}

#[test]
fn with_a_preset_the_artifact_is_not_looked_at() {
    let mut files = colbert_tiny();
    files.colbert_metadata = Some(b"no JSON".to_vec());
    assert!(Colbert::load(&files, Device::Cpu).is_err());
    files.ranker_config = Some(b"[colbert]\npreset = \"khattab2020\"".to_vec());
    let model = Colbert::load(&files, Device::Cpu).unwrap();
    assert_eq!(model.vector_dimension(), 20);
}

#[test]
fn a_ranker_toml_that_says_something_unknown_is_refused() {
    let refused = |toml: &[u8]| NeuralRankerConfig::parse(toml).unwrap_err().to_string();
    let found = [
        refused(b"architektur = \"colbert\""),
        refused(b"architecture = \"colbertv3\""),
        refused(b"[colbert]\nquery_maxlen = 32"),
        refused(b"[colbert]\nquery_keeps = [\"pad\"]"),
        refused(b"[prompts]\npassage = \"passage: \""),
        refused(b"architecture = \"epic\"\n[colbert]\npreset = \"formal2021\""),
        refused(b"max_query_tokens = -1"),
        refused(b"label = \" \""),
        refused(b"note = \"two\\nlines\""),
        refused(b"= 1"),
        refused(b"\xff"),
    ];
    // The reader of TOML shows the line; what it says of it comes last.
    let last = found.map(|it| it.lines().last().unwrap().to_owned());
    expect![[r#"
        unknown field `architektur`, expected one of `label`, `note`, `architecture`, `max_query_tokens`, `query_pieces`, `max_document_tokens`, `text_pieces`, `read_titles`, `prompts`, `colbert`
        unknown variant `colbertv3`, expected one of `bi-encoder`, `late-interaction`, `splade`, `cross-encoder`, `colbert`, `epic`, `monot5`, `doc2query`
        unknown field `query_maxlen`, expected one of `preset`, `markers`, `augmentation`, `punctuation`, `query_keeps`, `text_keeps`
        unknown variant `pad`, expected one of `cls`, `marker`, `sep`, `mask`
        unknown field `passage`, expected `query` or `text`
        ranker.toml: [colbert] is there, but the architecture is another
        invalid value: integer `-1`, expected usize
        ranker.toml: `label` must be one line of 1 to 60 characters
        ranker.toml: `note` must be one line of 1 to 60 characters
        unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
        ranker.toml: invalid utf-8 sequence of 1 bytes from index 0
    "#]].assert_eq(&(last.join("\n") + "\n"));
    let loaded = |ranker: &[u8]| {
        let mut files = tiny();
        files.ranker_config = Some(ranker.to_vec());
        let loaded = SingleOrMultiVectorRanker::load(
            &files,
            EmbeddingRankerKind::BiEncoder,
            48,
            Device::Cpu,
        );
        loaded.err().map(|it| it.to_string())
    };
    assert_eq!(loaded(b"max_document_tokens = 64"), None);
    assert!(
        loaded(b"max_document_tokens = 65")
            .unwrap()
            .contains("takes 3 to 64")
    );
    assert!(
        loaded(b"text = 1")
            .unwrap()
            .contains("unknown field `text`")
    );
}

#[test]
fn modules_that_cannot_be_done_are_refused() {
    let refused = |change: &dyn Fn(&mut ModelFileContents)| {
        let mut files = dense_tiny();
        change(&mut files);
        let loaded = SingleOrMultiVectorRanker::load(
            &files,
            EmbeddingRankerKind::BiEncoder,
            48,
            Device::Cpu,
        );
        loaded.err().unwrap().to_string()
    };
    let config = |field: &'static str, value: Value| {
        refused(&move |files| {
            let mut config: Value =
                serde_json::from_slice(&files.modules_with_weights[1].config).unwrap();
            config[field] = value.clone();
            files.modules_with_weights[1].config = config.to_string().into_bytes();
        })
    };
    let found = [
        refused(&|files| files.modules_with_weights.clear()),
        refused(&|files| files.modules_with_weights[0].weights.truncate(9)),
        refused(&|files| {
            files.modules_with_weights[0].weights = files.modules_with_weights[1].weights.clone()
        }),
        config("in_features", json!(24)),
        config("bias", json!(true)),
        config(
            "activation_function",
            json!("torch.nn.modules.activation.ReLU"),
        ),
        config("use_residual", json!(true)),
        config("module_input_name", json!("token_embeddings")),
        refused(&|files| {
            files.modules = Some(br#"[{"type": "sentence_transformers.models.Dense"}]"#.to_vec());
        }),
        refused(&|files| {
            let pooling = br#"{"pooling_mode": "mean", "include_prompt": false}"#;
            files.pooling = Some(pooling.to_vec());
        }),
    ];
    expect![[r#"
        `path` in modules.json is 2_Dense, but must be a folder with config.json and model.safetensors
        module `2_Dense`: model.safetensors (9 bytes) cannot be read: invalid header length
        module `2_Dense`: tensor `linear.weight` has shape [12, 16], but config.json asks for [16, 24]
        module `4_Dense`: `in_features` in config.json is 24, but must be 16, as many as come in
        module `4_Dense`: model.safetensors has no tensor `linear.bias`
        module `4_Dense`: `activation_function` in config.json is torch.nn.modules.activation.ReLU, but must be Tanh or Identity
        module `4_Dense`: `use_residual` in config.json is true, but must be false or absent
        module `4_Dense`: `module_input_name` in config.json is token_embeddings, but must be sentence_embedding
        `type` in modules.json is sentence_transformers.models.Dense, but must be after Pooling: vectors of tokens are taken as they are
        `include_prompt` in 1_Pooling/config.json is false, but must be true: tokens of a prompt are pooled with the others
    "#]].assert_eq(&(found.join("\n") + "\n"));
}

#[test]
fn weights_of_an_epic_that_are_no_numbers_are_found() {
    for (name, files) in with_nan(&epic_tiny()) {
        let loaded = EpicRanker::load(&files, 48, Device::Cpu.into());
        let failed = match loaded {
            Err(error) => Some(error),
            Ok(model) => {
                let [query, text] = [QueryOrDocumentRole::Query, QueryOrDocumentRole::Document]
                    .map(|it| model.tokenize(it, "river").unwrap());
                let query = model.encode_queries(&[&query]).err();
                query.or(model.encode_documents(&[&text]).err())
            }
        };
        assert!(matches!(failed, Some(Error::NotFinite)), "{name}");
    }
    let mut files = epic_tiny();
    edit_header(&mut files, |header| {
        let tensor = header.remove("doc_quality.weight").unwrap();
        header.insert("another".to_owned(), tensor);
    });
    let error = EpicRanker::load(&files, 48, Device::Cpu.into())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("no tensor `doc_quality.weight`"), "{error}");
}

#[test]
fn what_was_trained_for_another_use_is_no_bi_encoder_unless_somebody_says_so() {
    let load = |files: &ModelFileContents| {
        SingleOrMultiVectorRanker::load(files, EmbeddingRankerKind::BiEncoder, 32, Device::Cpu)
    };
    let mut cross = tiny();
    let mut config: Value = serde_json::from_slice(&cross.config).unwrap();
    config["architectures"] = json!(["BertForSequenceClassification"]);
    config["num_labels"] = json!(1);
    cross.config = config.to_string().into_bytes();
    for (mut files, ending) in [(cross, "`:cross`"), (colbert_tiny(), "`:colbert`")] {
        let error = load(&files).err().unwrap().to_string();
        assert!(error.contains(ending), "{error}");
        files.ranker_config = Some(b"architecture = \"bi-encoder\"".to_vec());
        assert!(load(&files).is_ok(), "{ending}");
    }
}

fn check_broken(change: impl Fn(&mut ModelFileContents), expected: Expect) {
    let mut files = tiny();
    change(&mut files);
    let error =
        SingleOrMultiVectorRanker::load(&files, EmbeddingRankerKind::BiEncoder, 48, Device::Cpu)
            .err()
            .unwrap();
    expected.assert_eq(&error.to_string());
}

/// Rewrites the JSON header of the safetensors file.
pub(crate) fn edit_header(
    files: &mut ModelFileContents,
    edit: impl Fn(&mut serde_json::Map<String, Value>),
) {
    let (length, rest) = files.weights.split_first_chunk::<8>().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    edit(header.as_object_mut().unwrap());
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    files.weights = [&length, header.as_bytes(), numbers].concat();
}

pub(crate) fn edit_config(files: &mut ModelFileContents, field: &str, value: Value) {
    let mut config: Value = serde_json::from_slice(&files.config).unwrap();
    config[field] = value;
    files.config = config.to_string().into_bytes();
}
