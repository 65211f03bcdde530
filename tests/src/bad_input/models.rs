//! Folders that contain no valid model.

use std::fs;

use expect_test::expect;

use super::{CORPUS, MINE, QUERIES, check_refused, collection};
use crate::harness::{CommandOutput, TestHome, tiny_model};

/// Copies the tiny model to `m/` with changes.
fn change_model(home: &TestHome, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let _ = fs::remove_file(home.path("m").join(file));
        if let Some(bytes) = change(file, fs::read(tiny_model().join(file)).unwrap()) {
            home.write(&format!("m/{file}"), bytes);
        }
    }
}

#[test]
fn a_ranker_that_nothing_has_is_not_the_default_model() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).expect_success();
    change_model(&home, |_, bytes| Some(bytes));
    let judge = |ranker: &str| {
        let args = "--data data judge --collection c --instances mined.parquet --ranker";
        let mut program = home.program();
        program.env("AXIOSCOPE_MODEL", home.path("m"));
        CommandOutput::run(program.args(args.split(' ')).arg(ranker))
    };
    assert_eq!(judge("m").expect_success(), judge("m:bi").expect_success());
    expect![[r#"
                there is no model named `bm26` among `m:bi`, `m:late`
            "#]]
    .assert_eq(&(judge("bm26").expect_failure() + "\n"));
}

#[test]
fn a_broken_model_folder_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).expect_success();
    let judge = "judge --collection c --instances mined.parquet --ranker m";
    change_model(&home, |_, bytes| Some(bytes));
    home.run(judge).expect_success();

    let without =
        |left_out: &'static str| move |file: &str, bytes| (file != left_out).then_some(bytes);
    change_model(&home, without("model.safetensors"));
    for line in [judge, "models inspect m"] {
        check_refused(
            &home,
            line,
            expect![[r#"
        model HOME/m: has no model.safetensors; a model folder holds config.json, tokenizer.json, model.safetensors
    "#]],
        );
    }
    home.write("m/pytorch_model.bin", "pickled");
    check_refused(
        &home,
        judge,
        expect![[r#"
            model HOME/m: has its weights as pytorch_model.bin, which may run any code when it is read; save them with `save_pretrained(folder, safe_serialization=True)` of transformers, or take a revision with model.safetensors
        "#]],
    );
    fs::remove_file(home.path("m/pytorch_model.bin")).unwrap();
    change_model(&home, |_, bytes| Some(bytes));
    home.write(
        "m/ranker.toml",
        "architecture = \"bi-encoder\"\nmaxlen = 32\n",
    );
    check_refused(
        &home,
        judge,
        expect![[r#"
            model m: ranker.toml: TOML parse error at line 2, column 1
              |
            2 | maxlen = 32
              | ^^^^^^
            unknown field `maxlen`, expected one of `label`, `note`, `architecture`, `max_query_tokens`, `query_pieces`, `max_document_tokens`, `text_pieces`, `read_titles`, `prompts`, `colbert`
        "#]],
    );
    fs::remove_file(home.path("m/ranker.toml")).unwrap();
    change_model(&home, without("config.json"));
    check_refused(
        &home,
        judge,
        expect![[r#"
        model HOME/m: has no config.json; a model folder holds config.json, tokenizer.json, model.safetensors
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "config.json" => {
            let config = String::from_utf8(bytes).unwrap();
            let wider = config.replace("\"hidden_size\": 32", "\"hidden_size\": 64");
            assert_ne!(config, wider);
            Some(wider.into_bytes())
        }
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: tensor `embeddings.word_embeddings.weight` has shape [101, 32], but config.json asks for [101, 64]
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "model.safetensors" => Some(bytes[..bytes.len() / 2].to_vec()),
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: model.safetensors (48972 bytes) cannot be read: incomplete metadata, file not fully covered
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "tokenizer.json" => Some(b"{}".to_vec()),
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: tokenizer.json: Model missing. at line 1 column 2
    "#]],
    );
    check_refused(
        &home,
        &judge.replace("ranker m", "ranker none"),
        expect![[r#"
        model none: is neither a folder nor a name on the hub, such as `sentence-transformers/all-MiniLM-L6-v2`
    "#]],
    );
}
