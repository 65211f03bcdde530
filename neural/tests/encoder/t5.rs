//! What is built on a T5: monoT5 and doc2query, against `fixtures/t5.py`.

use super::broken::{edit_config, edit_header};
use super::heads::check_pairs;
use super::*;
use expect_test::Expect;
use neural::{
    DeviceAndPrecision, Doc2Query, FloatPrecision, MonoT5, QueryDocumentTokenSequence,
    QueryGenerationConfig,
};

/// What t5.py wrote.
#[derive(Deserialize)]
struct Fixture {
    #[serde(rename = "max_pieces")]
    max_tokens: usize,
    seed: u64,
    k: usize,
    max_new: usize,
    texts: Vec<Written>,
    pairs: Vec<Asked>,
    /// The likeliest first tokens of the first text, with their probabilities among themselves.
    first: Vec<(u32, f64)>,
}

#[derive(Deserialize)]
struct Written {
    text: String,
    ids: Vec<u32>,
    truncated: bool,
    greedy: Vec<u32>,
    sampled: Vec<Query>,
}

/// A query of a collection: its id, its text, and optionally its group and split.
#[derive(Deserialize)]
struct Query {
    ids: Vec<u32>,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    query: String,
    text: String,
    ids: Vec<u32>,
    truncated: bool,
    score: f64,
}

fn fixtures() -> [(&'static str, ModelFileContents, Fixture); 2] {
    [relative!("t5"), relative!("t5-gated")]
        .map(|(name, files, json)| (name, files, serde_json::from_str(json).unwrap()))
}

impl Fixture {
    fn sampling(&self, n_queries: usize) -> QueryGenerationConfig {
        let sampling = QueryGenerationConfig::doctttttquery_defaults(n_queries, self.seed);
        assert_eq!(
            (sampling.top_k, sampling.max_new_tokens),
            (self.k, self.max_new)
        );
        sampling
    }

    fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(|it| it.text.as_str()).collect()
    }
}

#[test]
fn mono_t5_equals_the_reference() {
    for (name, files, fixture) in fixtures() {
        assert!(MonoT5::is_supported_config(&files.config), "{name}");
        let model = MonoT5::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let pairs = fixture.pairs.iter().map(|it| {
            let [query, text] = [&it.query, &it.text].map(|it| {
                model
                    .tokenize(neural::QueryOrDocumentRole::Document, it)
                    .unwrap()
            });
            let pair = model.join_tokenized_pair(&query, &text);
            let found = (&pair.ids, pair.truncated);
            assert_eq!(
                found,
                (&it.ids, it.truncated),
                "{name}: {} | {}",
                it.query,
                it.text
            );
            assert!(pair.document_start <= pair.ids.len());
            (pair, it.score)
        });
        let score = |batch: &[&QueryDocumentTokenSequence]| model.score_pairs(batch).unwrap();
        check_pairs((name, "score of monoT5"), pairs, score);
        assert!(model.score_pairs(&[]).unwrap().is_empty());
    }
    assert!(!MonoT5::is_supported_config(&tiny().config));
}

#[test]
fn tokens_of_texts_are_those_of_the_reference() {
    for (name, files, fixture) in fixtures() {
        // The token that ends a text is not among those that a query or a text has by itself.
        let model = MonoT5::load(&files, fixture.max_tokens - 1, Device::Cpu.into()).unwrap();
        for it in &fixture.texts {
            let tokens = model
                .tokenize(neural::QueryOrDocumentRole::Document, &it.text)
                .unwrap();
            let (end, ids) = it.ids.split_last().unwrap();
            assert_eq!(
                (*end, ids),
                (1, tokens.ids.as_slice()),
                "{name}: {}",
                it.text
            );
            assert_eq!(tokens.truncated, it.truncated, "{name}: {}", it.text);
            assert_eq!(tokens.spans.len(), tokens.ids.len());
        }
    }
}

#[test]
fn a_prompt_keeps_its_end_and_the_longer_side_loses_its_own() {
    let [(_, files, _), _] = fixtures();
    let model = MonoT5::load(&files, 14, Device::Cpu.into()).unwrap();
    let cut = |text: &str| {
        model
            .tokenize(neural::QueryOrDocumentRole::Document, text)
            .unwrap()
    };
    let whole = model.join_tokenized_pair(&cut("river sea"), &cut("lake"));
    assert!(!whole.truncated);
    assert_eq!(whole.ids.len(), whole.document_start + 1 + 4);
    let n_around = whole.ids.len() - 3;
    let many = "river ".repeat(50);
    let room = 14 - n_around;
    // However long a query is, tokens of the text are read.
    for (query, text, n_query) in [
        ("sea", many.as_str(), 1),
        (&many, "sea", room - 1),
        (&many, &many, room / 2),
    ] {
        let pair = model.join_tokenized_pair(&cut(query), &cut(text));
        assert!(pair.truncated);
        assert_eq!(pair.ids.len(), 14);
        assert_eq!(pair.document_start, whole.document_start - 2 + n_query);
        assert_eq!(pair.ids[10..], whole.ids[whole.ids.len() - 4..]);
    }
    // Cut texts are told of even where another bound would not have cut the pair.
    assert_eq!(cut(&many).ids.len(), 14);
}

#[test]
fn the_likeliest_tokens_equal_those_of_the_reference() {
    for (name, files, fixture) in fixtures() {
        let model = Doc2Query::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let greedy = QueryGenerationConfig {
            top_k: 1,
            ..fixture.sampling(1)
        };
        let written = model
            .generate_queries_per_document(&fixture.texts(), &greedy)
            .unwrap();
        let lengths: Vec<usize> = fixture.texts.iter().map(|it| it.greedy.len()).collect();
        assert!(
            lengths.contains(&64) && lengths.iter().any(|it| *it < 6),
            "{lengths:?}"
        );
        for (written, expected) in written.iter().zip(&fixture.texts) {
            assert_eq!(written.queries.len(), 1);
            let ids = &written.queries[0].ids;
            assert_eq!(*ids, expected.greedy, "{name}: {}", expected.text);
            assert_eq!(written.truncated, expected.truncated, "{name}");
        }
    }
}

#[test]
fn drawn_queries_equal_those_of_the_reference_in_any_order_and_on_any_threads() {
    for (name, files, fixture) in fixtures() {
        let model = Doc2Query::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let n_queries = fixture.texts[0].sampled.len();
        let texts = fixture.texts();
        let written = model
            .generate_queries_per_document(&texts, &fixture.sampling(n_queries))
            .unwrap();
        for (written, expected) in written.iter().zip(&fixture.texts) {
            for (query, expected_query) in written.queries.iter().zip(&expected.sampled) {
                assert_eq!(query.ids, expected_query.ids, "{name}: {}", expected.text);
                assert_eq!(query.text, expected_query.text.trim());
            }
        }
        // More queries than are written at once, texts the other way round, other threads.
        let turned: Vec<&str> = texts.iter().rev().copied().collect();
        for threads in [1, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            let mut more = pool
                .install(|| model.generate_queries_per_document(&turned, &fixture.sampling(20)))
                .unwrap();
            more.reverse();
            for (more, written) in more.iter().zip(&written) {
                assert_eq!(more.queries.len(), 20);
                assert_eq!(more.queries[..n_queries], written.queries[..]);
            }
        }
        let mut another = fixture.sampling(n_queries);
        another.seed += 1;
        assert_ne!(
            model
                .generate_queries_per_document(&texts, &another)
                .unwrap(),
            written
        );
    }
}

/// Pearson's χ² over the ten likeliest first tokens.
#[test]
fn first_tokens_are_drawn_as_often_as_the_reference_finds_them_likely() {
    for (name, files, fixture) in fixtures() {
        let model = Doc2Query::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
        let n = 1_000;
        let sampling = QueryGenerationConfig {
            max_new_tokens: 1,
            ..fixture.sampling(n)
        };
        let written = model
            .generate_queries_per_document(&[fixture.texts[0].text.as_str()], &sampling)
            .unwrap();
        let tokens = written[0].queries.iter().map(|it| it.ids[0]);
        let mut left = n as f64;
        let each = fixture.first.iter().map(|(token, p)| {
            let found = tokens.clone().filter(|it| it == token).count() as f64;
            left -= found;
            let expected = p * n as f64;
            (found - expected).powi(2) / expected
        });
        let chi_squared: f64 = each.sum();
        assert_eq!(left, 0.0, "{name}: a token that is not among the likeliest");
        // Of 9 degrees of freedom 27.9 is exceeded once in a thousand.
        println!("{name}: {chi_squared:.1}");
        assert!(chi_squared < 27.9, "{name}: {chi_squared}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let [(_, files, fixture), _] = fixtures();
    let model = Doc2Query::load(&files, fixture.max_tokens, Device::Cpu.into()).unwrap();
    let good = fixture.sampling(1);
    let check = |sampling: QueryGenerationConfig, expected: Expect| {
        let error = model
            .generate_queries_per_document(&["a"], &sampling)
            .unwrap_err();
        expected.assert_eq(&error.to_string());
    };
    for k in [0, 124] {
        let what = format!("`top_k` is {k}; must be from 1 to 123");
        let error = model
            .generate_queries_per_document(&["a"], &QueryGenerationConfig { top_k: k, ..good })
            .unwrap_err();
        assert_eq!(error.to_string(), what);
    }
    check(
        QueryGenerationConfig {
            n_queries: 1_001,
            ..good
        },
        expect!["`n_queries` is 1001; must be from 1 to 1000"],
    );
    check(
        QueryGenerationConfig {
            max_new_tokens: 0,
            ..good
        },
        expect!["`max_new_tokens` is 0; must be from 1 to 512"],
    );
    assert!(
        model
            .generate_queries_per_document(&[], &good)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn fingerprints_tell_uses_bounds_and_files_apart() {
    let [(_, files, _), (_, gated, _)] = fixtures();
    let mono = |files: &ModelFileContents, n| {
        let model = MonoT5::load(files, n, Device::Cpu.into()).unwrap();
        model.fingerprint().to_owned()
    };
    let doc2query = Doc2Query::load(&files, 48, Device::Cpu.into()).unwrap();
    let all = [
        mono(&files, 48),
        mono(&files, 47),
        mono(&gated, 48),
        doc2query.fingerprint().to_owned(),
    ];
    for (at, it) in all.iter().enumerate() {
        assert!(it.len() == 64 && !all[..at].contains(it));
    }
    assert_eq!(all[0], mono(&files, 48));
}

#[test]
fn bounds_devices_and_foreign_tokens_are_refused() {
    let [(_, files, _), _] = fixtures();
    let load = |n, device: Device| {
        let loaded = MonoT5::load(&files, n, device.into());
        loaded.err().unwrap().to_string()
    };
    expect!["a maximum of 5 tokens is out of range; the model takes 10 to 4096"]
        .assert_eq(&load(5, Device::Cpu));
    expect!["a maximum of 1048576 tokens is out of range; the model takes 10 to 4096"]
        .assert_eq(&load(1 << 20, Device::Cpu));
    expect!["cannot compute on cuda:0: a T5 computes on the CPU only; use `cpu`"]
        .assert_eq(&load(48, Device::Cuda(0)));
    let half = DeviceAndPrecision {
        device: Device::Cpu,
        precision: FloatPrecision::F16,
    };
    let error = |it: Option<Error>| it.unwrap().to_string();
    let in_half = MonoT5::load(&files, 48, half).err();
    expect!["cannot compute on cpu in f16: a T5 computes in f32 only; use `f32`"]
        .assert_eq(&error(in_half));
    let in_half = Doc2Query::load(&files, 48, half).err();
    expect!["cannot compute on cpu in f16: a T5 computes in f32 only; use `f32`"]
        .assert_eq(&error(in_half));
    let model = MonoT5::load(&files, 20, Device::Cpu.into()).unwrap();
    for ids in [vec![], vec![5; 21], vec![4_000]] {
        let pair = QueryDocumentTokenSequence {
            ids,
            document_start: 0,
            n_document_tokens: 0,
            truncated: false,
        };
        let error = model.score_pairs(&[&pair]).unwrap_err();
        assert!(matches!(error, Error::InvalidTokens { .. }), "{error}");
    }
}

#[test]
fn what_ranker_toml_says_of_a_t5_is_heeded_or_refused() {
    let [(_, mut files, _), _] = fixtures();
    let mut refused = Vec::new();
    for ranker in [
        "architecture = \"monot5\"",
        "architecture = \"doc2query\"",
        "label = \"Small T5\"",
        "architecture = \"splade\"",
        "max_query_tokens = 20",
        "max_document_tokens = 20",
        "[prompts]\nquery = \"\"",
        "[colbert]",
        "",
    ] {
        files.ranker_config = Some(ranker.as_bytes().to_vec());
        let mono = MonoT5::load(&files, 48, Device::Cpu.into()).err();
        let doc2query = Doc2Query::load(&files, 48, Device::Cpu.into()).err();
        for error in [mono, doc2query] {
            refused.push(error.map_or_else(|| "fine".to_owned(), |it| it.to_string()));
        }
    }
    expect![[r#"
        fine
        ranker.toml: `architecture` is monot5, and the folder was to be loaded as doc2query; load it as what it is, or change that line
        ranker.toml: `architecture` is doc2query, and the folder was to be loaded as monot5; load it as what it is, or change that line
        fine
        fine
        fine
        ranker.toml: `architecture` is splade, and the folder was to be loaded as monot5; load it as what it is, or change that line
        ranker.toml: `architecture` is splade, and the folder was to be loaded as doc2query; load it as what it is, or change that line
        ranker.toml: `max_query_tokens` cannot be set of a monoT5, whose prompt is its own; take it out
        ranker.toml: `max_query_tokens` cannot be set of a T5 that generates queries; take it out
        ranker.toml: `max_document_tokens` cannot be set of a monoT5, whose prompt is its own; take it out
        ranker.toml: `max_document_tokens` cannot be set of a T5 that generates queries; take it out
        ranker.toml: `prompts` cannot be set of a monoT5, whose prompt is its own; take it out
        ranker.toml: `prompts` cannot be set of a T5 that generates queries; take it out
        ranker.toml: [colbert] is there, and the folder was to be loaded as monot5; add `architecture = "colbert"`, or take the table out
        ranker.toml: [colbert] is there, and the folder was to be loaded as doc2query; add `architecture = "colbert"`, or take the table out
        fine
        fine
    "#]].assert_eq(&(refused.join("\n") + "\n"));
    files.ranker_config = Some(b"architecture = monot5".to_vec());
    assert!(MonoT5::load(&files, 48, Device::Cpu.into()).is_err());
    assert!(Doc2Query::load(&files, 48, Device::Cpu.into()).is_err());
}

#[test]
fn a_t5_with_a_wrong_field_is_one_and_is_told_of() {
    let [(_, mut files, _), _] = fixtures();
    edit_config(&mut files, "auto_map", json!({}));
    assert!(MonoT5::is_supported_config(&files.config));
    edit_config(&mut files, "architectures", json!(["T5EncoderModel"]));
    assert!(!MonoT5::is_supported_config(&files.config));
}

#[test]
fn a_million_characters_are_cut() {
    let [(_, files, _), _] = fixtures();
    let model = MonoT5::load(&files, 32, Device::Cpu.into()).unwrap();
    let query = model
        .tokenize(neural::QueryOrDocumentRole::Document, "river")
        .unwrap();
    for text in ["river ".repeat(170_000), "x".repeat(1_000_000)] {
        let text = model
            .tokenize(neural::QueryOrDocumentRole::Document, &text)
            .unwrap();
        assert!(text.truncated);
        let pair = model.join_tokenized_pair(&query, &text);
        assert!(pair.truncated && pair.ids.len() == 32);
        assert!(model.score_pairs(&[&pair]).unwrap()[0] <= 0.0);
    }
}

#[test]
fn weights_that_are_no_numbers_are_found() {
    let [(_, files, fixture), _] = fixtures();
    let mut files = files;
    let (length, rest) = files.weights.split_first_chunk::<8>().unwrap();
    let length = u64::from_le_bytes(*length) as usize;
    let header: Value = serde_json::from_slice(&rest[..length]).unwrap();
    for name in [
        "encoder.final_layer_norm.weight",
        "decoder.block.1.layer.2.DenseReluDense.wo.weight",
    ] {
        let mut files = files.clone();
        let first = 8 + length + header[name]["data_offsets"][0].as_u64().unwrap() as usize;
        files.weights[first..first + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        let mono = MonoT5::load(&files, 48, Device::Cpu.into()).unwrap();
        let tokens = mono
            .tokenize(neural::QueryOrDocumentRole::Document, "river")
            .unwrap();
        let pair = mono.join_tokenized_pair(&tokens, &tokens);
        assert!(
            matches!(mono.score_pairs(&[&pair]), Err(Error::NotFinite)),
            "{name}"
        );
        let doc2query = Doc2Query::load(&files, 48, Device::Cpu.into()).unwrap();
        let written = doc2query.generate_queries_per_document(&["river"], &fixture.sampling(1));
        assert!(matches!(written, Err(Error::NotFinite)), "{name}");
    }
    files.weights.clear();
    assert!(MonoT5::load(&files, 48, Device::Cpu.into()).is_err());
}

#[test]
fn a_broken_folder_says_what_is_wrong() {
    let header = |name: &'static str, new: Option<Value>| {
        move |files: &mut ModelFileContents| {
            edit_header(files, |header| {
                let mut tensor = header.remove(name).unwrap();
                match &new {
                    Some(shape) => {
                        tensor["shape"] = shape.clone();
                        header.insert(name.to_owned(), tensor);
                    }
                    None => {
                        header.insert("another".to_owned(), tensor);
                    }
                }
            });
        }
    };
    check_broken(
        header("shared.weight", None),
        expect!["model.safetensors has no tensor `shared.weight`"],
    );
    check_broken(
        header("decoder.block.1.layer.1.EncDecAttention.k.weight", None),
        expect![
            "model.safetensors has no tensor `decoder.block.1.layer.1.EncDecAttention.k.weight`"
        ],
    );
    check_broken(
        header(
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
            Some(json!([3, 8])),
        ),
        expect![
            "tensor `encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight` has shape [3, 8], but config.json asks for [8, 3]"
        ],
    );
    check_broken(
        header(
            "encoder.block.1.layer.1.DenseReluDense.wi.weight",
            Some(json!([32, 40])),
        ),
        expect![
            "tensor `encoder.block.1.layer.1.DenseReluDense.wi.weight` has shape [32, 40], but config.json asks for [40, 32]"
        ],
    );
    let settings = [
        ("feed_forward_proj", json!("gated-silu")),
        ("feed_forward_proj", json!("gated-gelu")),
        ("scale_decoder_outputs", json!(false)),
        ("relative_attention_num_buckets", json!(0)),
        ("relative_attention_num_buckets", json!(6)),
        ("relative_attention_num_buckets", json!(1_000_000)),
        ("relative_attention_num_buckets", json!(-8)),
        ("relative_attention_max_distance", json!(4)),
        ("num_decoder_layers", json!(3)),
        ("num_heads", json!(4)),
        ("d_kv", json!(u64::MAX)),
        ("num_layers", json!(0)),
        ("layer_norm_epsilon", json!(0.0)),
        ("decoder_start_token_id", json!(4_000)),
        ("model_type", json!("bart")),
        ("auto_map", json!({})),
        ("vocab_size", json!(60)),
    ];
    let refused = settings
        .map(|(field, value)| refusal(|files| edit_config(files, field, value.clone())) + "\n");
    expect![[r#"
        `feed_forward_proj` in config.json is gated-silu, but must be relu or gated-gelu
        model.safetensors has no tensor `encoder.block.0.layer.1.DenseReluDense.wi_0.weight`
        model.safetensors has no tensor `lm_head.weight`
        `relative_attention_num_buckets` in config.json is 0, but must be a multiple of 4, at most 65536: half of them are for each direction, and half of these for one distance each
        `relative_attention_num_buckets` in config.json is 6, but must be a multiple of 4, at most 65536: half of them are for each direction, and half of these for one distance each
        `relative_attention_num_buckets` in config.json is 1000000, but must be a multiple of 4, at most 65536: half of them are for each direction, and half of these for one distance each
        config.json is not the configuration of an encoder: invalid value: integer `-8`, expected usize at line 1 column 511
        `relative_attention_max_distance` in config.json is 4, but must be above 4, half of the buckets, to 2^24
        model.safetensors has no tensor `decoder.block.2.layer.0.layer_norm.weight`
        tensor `encoder.block.0.layer.0.SelfAttention.q.weight` has shape [24, 32], but config.json asks for [32, 32]
        `d_kv` in config.json is 18446744073709551615, but must be from 1 to 2^24
        `num_layers` in config.json is 0, but must be from 1 to 2^24
        `layer_norm_epsilon` in config.json is 0, but must be between 0 and 1
        `decoder_start_token_id` in config.json is 4000, but must be below vocab_size, 123
        `model_type` in config.json is bart, but must be t5
        `auto_map` in config.json is there, but must be absent: code that comes with a model is not run
        tokenizer.json has a token with id 117, but config.json says that there are 60 tokens; take both files from the same model
    "#]]
    .assert_eq(&refused.concat());
    let renamed = |files: &mut ModelFileContents| {
        let tokenizer = String::from_utf8(std::mem::take(&mut files.tokenizer)).unwrap();
        files.tokenizer = tokenizer.replace("\"▁true\"", "\"▁truth\"").into_bytes();
    };
    check_broken(renamed, expect!["tokenizer.json: there is no token ▁true"]);
    let joined = |files: &mut ModelFileContents| {
        let mut tokenizer: Value = serde_json::from_slice(&files.tokenizer).unwrap();
        tokenizer["pre_tokenizer"] = Value::Null;
        files.tokenizer = tokenizer.to_string().into_bytes();
    };
    check_broken(
        joined,
        expect!["tokenizer.json: tokens reach over white space, which those of a T5 do not"],
    );
}

/// What is said of a T5 whose files were changed; nothing where it is loaded.
fn refusal(change: impl Fn(&mut ModelFileContents)) -> String {
    let [(_, mut files, _), _] = fixtures();
    change(&mut files);
    let error = MonoT5::load(&files, 48, Device::Cpu.into()).err();
    error.map_or_else(String::new, |it| it.to_string())
}

fn check_broken(change: impl Fn(&mut ModelFileContents), expected: Expect) {
    expected.assert_eq(&refusal(change));
}
