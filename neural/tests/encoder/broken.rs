//! Folders that hold no model, or another than they say.

use super::*;
use expect_test::Expect;

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
            "config.json describes a `gpt2` model; `bert`, `roberta`, `xlm-roberta`, `electra`, `distilbert` and `modernbert` can be loaded"
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
        expect!["`num_attention_heads` in config.json is 0, but must be positive"],
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
            "tokenizer.json has a piece with id 100, but config.json says that there are 50 pieces; take both files from the same model"
        ],
    );
    check_broken(
        |files| files.tokenizer = b"{".to_vec(),
        expect!["tokenizer.json: EOF while parsing an object at line 1 column 1"],
    );
}

#[test]
fn a_part_of_sentence_transformers_that_is_not_known_is_refused() {
    let modules = |kind: &str| {
        let kinds = ["Transformer", "Pooling", kind];
        let all = kinds.map(|it| json!({"type": format!("sentence_transformers.models.{it}")}));
        Some(json!(all).to_string().into_bytes())
    };
    let mut fine = tiny();
    fine.modules = modules("Normalize");
    load(&fine, Matching::BiEncoder, 48);
    check_broken(
        |files| files.modules = modules("Dense"),
        expect![
            "`type` in modules.json is sentence_transformers.models.Dense, but must be Transformer, Pooling or Normalize"
        ],
    );
    check_broken(
        |files| files.settings = Some(br#"{"default_prompt_name": "query"}"#.to_vec()),
        expect![
            "`default_prompt_name` in config_sentence_transformers.json is query, but must be null: texts are encoded as they are"
        ],
    );
    check_broken(
        |files| files.settings = Some(br#"{"similarity_fn_name": "euclidean"}"#.to_vec()),
        expect![
            "`similarity_fn_name` in config_sentence_transformers.json is euclidean, but must be cosine or dot"
        ],
    );
    check_broken(
        |files| files.settings = Some(b"[1]".to_vec()),
        expect![
            "config_sentence_transformers.json cannot be read: invalid type: integer `1`, expected a string at line 1 column 2"
        ],
    );
}

fn check_broken(change: impl Fn(&mut ModelFiles), expected: Expect) {
    let mut files = tiny();
    change(&mut files);
    let error = Model::load(&files, Matching::BiEncoder, 48, Device::Cpu)
        .err()
        .unwrap();
    expected.assert_eq(&error.to_string());
}

/// Rewrites the JSON header of the safetensors file.
pub(crate) fn edit_header(
    files: &mut ModelFiles,
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

pub(crate) fn edit_config(files: &mut ModelFiles, field: &str, value: Value) {
    let mut config: Value = serde_json::from_slice(&files.config).unwrap();
    config[field] = value;
    files.config = config.to_string().into_bytes();
}
