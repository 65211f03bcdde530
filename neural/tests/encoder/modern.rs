//! What a ModernBERT has of its own, in bad files above all; that it computes what the reference
//! does is checked with the other encoders.

use super::broken::edit_config;
use super::*;
use expect_test::Expect;
use neural::{CrossEncoder, Splade};

fn modern() -> ModelFileContents {
    let (_, files, _) = relative!("modernbert");
    files
}

#[test]
fn what_its_configuration_may_not_say_is_refused() {
    check_broken(
        "global_attn_every_n_layers",
        json!(0),
        expect!["`global_attn_every_n_layers` in config.json is 0, but must be positive"],
    );
    check_broken(
        "local_attention",
        json!(1),
        expect!["`local_attention` in config.json is 1, but must be from 2 to 2^24"],
    );
    check_broken(
        "layer_types",
        json!(["full_attention"]),
        expect![
            "`layer_types` in config.json is a list of 1, but must be one for each of 4 layers"
        ],
    );
    check_broken(
        "layer_types",
        json!(["a", "b", "c", "d"]),
        expect![
            "`layer_types` in config.json is a, but must be full_attention or sliding_attention"
        ],
    );
    check_broken(
        "num_attention_heads",
        json!(32),
        expect![
            "`num_attention_heads` in config.json is a head of 1 units, but must be of even heads"
        ],
    );
    check_broken(
        "global_rope_theta",
        json!(0.5),
        expect!["`rope_theta` in config.json is 0.5, but must be a number, 1 or more"],
    );
    check_broken(
        "rope_scaling",
        json!({"type": "linear"}),
        expect!["`rope_scaling` in config.json is there, but must be absent"],
    );
    let ropes = json!({"full_attention": {"rope_type": "yarn", "rope_theta": 10.0}});
    check_broken(
        "rope_parameters",
        ropes,
        expect!["`rope_type` in config.json is yarn, but must be default"],
    );
    // One rotation for all layers, as other models have it; and one of another kind. Where in the
    // line they stand depends on the writer.
    for (ropes, unknown) in [
        (json!({"rope_theta": 10_000.0}), "`rope_theta`"),
        (json!({"full_attention": {"factor": 4.0}}), "`factor`"),
    ] {
        let error = load_error("rope_parameters", ropes);
        assert!(
            error.contains(&format!("unknown field {unknown}")),
            "{error}"
        );
    }
    for field in ["num_hidden_layers", "local_attention", "intermediate_size"] {
        let error = load_error(field, json!(u64::MAX));
        assert!(
            error.contains(&format!("`{field}` in config.json")),
            "{error}"
        );
    }
    check_broken(
        "classifier_activation",
        json!("silu"),
        expect!["`classifier_activation` in config.json is silu, but must be gelu"],
    );
    check_broken(
        "classifier_pooling",
        json!("max"),
        expect!["`classifier_pooling` in config.json is max, but must be cls or mean"],
    );
    check_broken(
        "hidden_activation",
        json!("silu"),
        expect!["`hidden_act` in config.json is silu, but must be gelu"],
    );
    check_broken(
        "attention_bias",
        json!(true),
        expect!["model.safetensors has no tensor `layers.0.attn.Wqkv.bias`"],
    );
    check_broken(
        "norm_bias",
        json!(true),
        expect!["model.safetensors has no tensor `embeddings.norm.bias`"],
    );
    check_broken(
        "num_hidden_layers",
        json!(5),
        expect!["model.safetensors has no tensor `layers.4.attn.Wqkv.weight`"],
    );
    check_broken(
        "intermediate_size",
        json!(41),
        expect![
            "tensor `layers.0.mlp.Wi.weight` has shape [80, 32], but config.json asks for [82, 32]"
        ],
    );
}

#[test]
fn each_of_the_settings_of_attention_counts() {
    let vector = |files: &ModelFileContents| {
        let model = load(files, EmbeddingRankerKind::BiEncoder, 48);
        let text = "where do rivers end a river flows down into the sea or a lake of rivers";
        let encoded = encode(&model, text);
        encoded.vectors().next().unwrap().to_vec()
    };
    let plain = vector(&modern());
    for (field, value) in [
        ("local_attention", json!(6)),
        ("global_attn_every_n_layers", json!(2)),
        ("global_rope_theta", json!(1_000.0)),
        ("local_rope_theta", json!(1_000.0)),
    ] {
        let mut files = modern();
        edit_config(&mut files, field, value);
        let changed = vector(&files);
        let most = plain.iter().zip(&changed).map(|(a, b)| (a - b).abs());
        let most = most.fold(0.0, f32::max);
        assert!(most > 1e-4, "{field}: {most}");
    }
    // A window of an odd number of tokens reaches as far as one of the even number below.
    let mut files = modern();
    edit_config(&mut files, "local_attention", json!(9));
    assert_eq!(vector(&files), plain);
}

#[test]
fn positions_that_are_no_embeddings_go_by_any_name_and_have_an_end() {
    let mut files = modern();
    edit_config(&mut files, "position_embedding_type", json!("sans_pos"));
    edit_config(&mut files, "max_position_embeddings", json!(1 << 24));
    assert_eq!(files.encoder_max_tokens(), Some(65_536));
    load(&files, EmbeddingRankerKind::BiEncoder, 48);
    let error = SingleOrMultiVectorRanker::load(
        &files,
        EmbeddingRankerKind::BiEncoder,
        65_537,
        Device::Cpu,
    )
    .err();
    assert!(matches!(error, Some(Error::MaxTokens { most: 65_536, .. })));
}

#[test]
fn a_text_of_many_blocks_equals_the_reference_alone_and_in_a_batch() {
    let mut files = modern();
    check_reference(
        "modernbert, 300 tokens",
        &files,
        include_str!("../fixtures/modernbert-long.json"),
    );
    edit_config(&mut files, "max_position_embeddings", json!(600));
    let model = load(&files, EmbeddingRankerKind::BiEncoder, 600);
    let long = "the river ends in a lake . ".repeat(100);
    let texts = [long.as_str(), "the sea", &long[..2_000]];
    let tokens = texts.map(|it| {
        model
            .tokenize(neural::QueryOrDocumentRole::Document, it)
            .unwrap()
    });
    assert_eq!((tokens[0].ids.len(), tokens[0].truncated), (600, true));
    let batch = model.encode(&tokens.iter().collect::<Vec<_>>()).unwrap();
    for (tokens, encoded) in tokens.iter().zip(&batch) {
        let alone = model.encode(&[tokens]).unwrap().remove(0);
        let score = model.score(&alone, encoded);
        assert!((score - 1.0).abs() < SAME_SCORE, "{score}");
    }
}

#[test]
fn other_devices_and_missing_heads_are_told_of() {
    let error = |it: Option<Error>| it.unwrap().to_string();
    let model = SingleOrMultiVectorRanker::load(
        &modern(),
        EmbeddingRankerKind::BiEncoder,
        48,
        Device::Cuda(0),
    );
    expect!["cannot compute on cuda:0: a ModernBERT computes on the CPU only; use `cpu`"]
        .assert_eq(&error(model.err()));
    let cross = CrossEncoder::load(&modern(), 48, Device::Cpu.into());
    expect!["model.safetensors has no tensor `head.dense.weight`"].assert_eq(&error(cross.err()));
    let splade = Splade::load(&modern(), 48, Device::Cpu.into());
    expect!["model.safetensors has no tensor `head.dense.weight`"].assert_eq(&error(splade.err()));
}

fn check_broken(field: &str, value: Value, expected: Expect) {
    expected.assert_eq(&load_error(field, value));
}

/// Returns the error of the model with another value in its configuration; empty without one.
fn load_error(field: &str, value: Value) -> String {
    let mut files = modern();
    edit_config(&mut files, field, value);
    let error =
        SingleOrMultiVectorRanker::load(&files, EmbeddingRankerKind::BiEncoder, 48, Device::Cpu)
            .err();
    error.map_or_else(String::new, |it| it.to_string())
}
