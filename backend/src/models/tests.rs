//! Tests with the smallest model, from the fixtures of `neural`.

use neural::Device;

use std::fs;

use super::files::{CONFIG, FILES, MODULES, RANKER};
use super::*;
use crate::store::partial_scores::PartialScores;

/// Folder of a model with 24,000 random parameters.
pub(crate) const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures/tiny");

/// Returns a registry with only the smallest model.
pub(crate) fn tiny() -> ModelRegistry {
    only_model(TINY)
}

/// Returns a registry with only the model of a folder.
fn only_model(folder: impl AsRef<Path>) -> ModelRegistry {
    let specs = [folder.as_ref().display().to_string()];
    ModelRegistry::with_models_or_default(&specs, Device::Cpu).unwrap()
}

/// Returns the error of a ranker that does not load.
fn load_error(models: &ModelRegistry, spec: &str) -> String {
    models.get_or_load_ranker(spec).err().unwrap().to_string()
}

/// Creates a folder with some files of the smallest model.
pub(crate) fn copy_tiny(name: &str, files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(name);
    fs::create_dir(&folder).unwrap();
    for file in files {
        fs::copy(Path::new(TINY).join(file), folder.join(file)).unwrap();
    }
    (home, folder)
}

#[test]
fn one_folder_gives_two_rankers() {
    let models = tiny();
    assert_eq!(models.ranker_specs(), ["tiny:bi", "tiny:late"]);
    let (bi, late) = (
        models.get_or_load_ranker("tiny:bi").unwrap(),
        models.get_or_load_ranker("tiny:late").unwrap(),
    );
    assert_ne!(bi.about.fingerprint, late.about.fingerprint);
    assert_eq!(bi.about.note, None);
    assert_eq!(
        late.about.note.as_deref(),
        Some("not fine-tuned for late interaction")
    );
    assert!(
        Arc::ptr_eq(&bi, &models.get_or_load_ranker("tiny").unwrap()),
        "loaded once, and :bi is meant"
    );
}

#[test]
fn a_spec_names_its_model_by_a_folder_too() {
    let (_home, folder) = copy_tiny("tiny", &FILES);
    let spec = format!("{}:bi", folder.display());
    let register = |named: &[String]| {
        let specs = ["bm25".to_owned(), spec.clone()];
        ModelRegistry::with_models_of_specs(named, &specs, Device::Cpu)
    };
    let models = register(&[folder.display().to_string()]).unwrap();
    assert_eq!(models.ranker_specs(), ["tiny:bi", "tiny:late"]);
    assert_eq!(models.add_default_use_suffix(&spec), "tiny:bi");
    let (by_folder, by_name) = (
        models.get_or_load_ranker(&spec).unwrap(),
        models.get_or_load_ranker("tiny:bi").unwrap(),
    );
    assert!(Arc::ptr_eq(&by_folder, &by_name));
    // A model of the same name that was asked for is another model.
    let error = register(&[TINY.to_owned()]).err().unwrap().to_string();
    assert!(error.contains("two of the name `tiny`"), "{error}");
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let error = tiny()
        .get_or_load_ranker("minilm")
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        error,
        "there is no model named `minilm` among `tiny:bi`, `tiny:late`"
    );
    let error = ModelRegistry::with_models_or_default(&["no such folder".to_owned()], Device::Cpu)
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("neither a folder nor a name on the hub"),
        "{error}"
    );
}

#[test]
fn a_folder_without_weights_or_with_wrong_ones_says_so() {
    let (_home, folder) = copy_tiny("half", &["config.json", "tokenizer.json"]);
    let load = || {
        let models = only_model(&folder);
        load_error(&models, "half:bi")
    };
    assert!(load().contains("has no model.safetensors"), "{}", load());
    fs::write(folder.join("model.safetensors"), "cut off").unwrap();
    assert!(
        load().contains("model.safetensors (7 bytes) cannot be read"),
        "{}",
        load()
    );
    let weights = fs::read(Path::new(TINY).join("model.safetensors")).unwrap();
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    let config = fs::read_to_string(folder.join("config.json")).unwrap();
    let config = config.replace("\"intermediate_size\": 72", "\"intermediate_size\": 80");
    fs::write(folder.join("config.json"), config).unwrap();
    assert!(load().contains("has shape"), "{}", load());
}

#[test]
fn a_few_texts_and_many_pairs_agree() {
    let ranker = tiny().get_or_load_ranker("tiny:late").unwrap();
    let queries = ["a b c".to_owned(), "d e".to_owned()];
    let texts: Vec<String> = (1..40).map(|it| "a b d f ".repeat(it)).collect();
    let (scores, steps) = score_all(&ranker, &queries, &texts);
    assert_eq!(steps.last(), Some(&(2 * 39)));
    let said = ranker
        .score_documents_in_detail(&queries[0], &texts)
        .unwrap();
    assert!(said.iter().all(|it| it.matches.is_some()));
    assert!(scores[38].truncated && !scores[0].truncated);
}

#[test]
fn what_was_scored_before_a_stop_is_not_scored_again() {
    let ranker = tiny().get_or_load_ranker("tiny:bi").unwrap();
    let queries = ["a b c".to_owned()];
    let texts: Vec<String> = (1..600).map(|it| "a b d f ".repeat(it % 40)).collect();
    let pairs: Vec<(u32, u32)> = (0..599).map(|it| (0, it)).collect();
    let listed = listed(&queries, &texts, &pairs);
    let mut steps = Vec::new();
    let scores = ranker.score_pairs(&listed, &mut PartialScores::empty_without_file(), |n| {
        steps.push(n)
    });
    let scores = scores.unwrap();
    assert!(steps.len() > 3, "{steps:?}");
    let folder = tempfile::tempdir().unwrap();
    let open =
        || PartialScores::load_and_lock(folder.path(), &listed.hash_with_ranker(&ranker)).unwrap();
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ranker.score_pairs(&listed, &mut open(), |n| assert!(n < steps[1], "stop"))
    }));
    assert!(stopped.is_err());
    let mut again = open();
    let of_first = again.loaded_batch_scores(0).unwrap();
    assert_eq!(of_first.len(), steps[0]);
    assert!(again.loaded_batch_scores(1).is_some() && again.loaded_batch_scores(2).is_none());
    assert_eq!(
        ranker.score_pairs(&listed, &mut again, |_| {}).unwrap(),
        scores
    );
}

#[test]
fn rankers_that_read_alike_share_every_pass_and_have_the_bits_of_their_own() {
    let texts: Vec<String> = (1..300).map(|it| "a b d f ".repeat(it % 40)).collect();
    let queries = ["a b c".to_owned(), "d e".to_owned()];
    let pairs: Vec<(u32, u32)> = (0..299).map(|it| (it % 2, it)).collect();
    let listed = listed(&queries, &texts, &pairs);
    let alone = ["tiny:bi", "tiny:late"].map(|spec| {
        let ranker = tiny().get_or_load_ranker(spec).unwrap();
        let scores = ranker.score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {});
        (scores.unwrap(), ranker.sequence_and_token_counts())
    });
    let models = tiny();
    let rankers =
        ["tiny:bi", "tiny:late", "tiny:bi+maxp"].map(|it| models.get_or_load_ranker(it).unwrap());
    let [bi, late, parts] = &rankers;
    assert!(bi.has_same_encoding(late) && !bi.has_same_encoding(parts));
    assert!(!bi.has_same_encoding(&tiny().get_or_load_ranker("tiny:late").unwrap()));

    let folder = tempfile::tempdir().unwrap();
    let open = |it: &NeuralRanker| {
        PartialScores::load_and_lock(folder.path(), &listed.hash_with_ranker(it)).unwrap()
    };
    let mut drafts = [open(bi), open(late)];
    let scores =
        score_with_rankers_sharing_encodings(&[bi, late], &listed, &mut drafts, |_| {}).unwrap();
    assert_eq!(scores[0], alone[0].0);
    assert_eq!(scores[1], alone[1].0);
    // Each ranker has encoded the queries itself.
    let n_texts = 299;
    let n_reads =
        bi.sequence_and_token_counts().sequences + late.sequence_and_token_counts().sequences;
    assert_eq!(alone[0].1.sequences, n_texts + 2);
    assert_eq!(n_reads, n_texts + 2 * 2);

    // One ranker has only the first batch, the other has all, as after a crash between two records.
    drop(drafts);
    let first = open(late).loaded_batch_scores(0).unwrap().to_vec();
    let behind = tempfile::tempdir().unwrap();
    let behind =
        || PartialScores::load_and_lock(behind.path(), &listed.hash_with_ranker(late)).unwrap();
    behind().append_batch(0, &first).unwrap();
    let before = late.sequence_and_token_counts();
    let again = score_with_rankers_sharing_encodings(
        &[bi, late],
        &listed,
        &mut [open(bi), behind()],
        |_| {},
    );
    assert_eq!(again.unwrap(), scores);
    let n_missing = n_texts - first.len() as u64;
    assert_eq!(
        late.sequence_and_token_counts()
            .minus_earlier(before)
            .sequences,
        n_missing + 2
    );
}

#[test]
fn a_folder_with_a_head_is_a_cross_encoder_and_its_batches_agree_with_single_texts() {
    let (_, ranker) = only_ranker("cross-roberta", "cross-roberta:cross");
    let queries = ["where do rivers end".to_owned(), "a lake".to_owned()];
    let texts: Vec<String> = (0..300)
        .map(|it| "the river ends ".repeat(it % 30))
        .collect();
    let (scores, steps) = score_all(&ranker, &queries, &texts);
    assert_eq!(steps.last(), Some(&600));
    assert!(steps.len() > 3, "{steps:?}");
    // Query and document share the 64 tokens.
    assert!(scores[29].truncated && !scores[1].truncated);
}

#[test]
fn a_folder_with_a_head_for_masked_tokens_weighs_the_vocabulary_too() {
    let models = only_model(fixture("splade-tiny"));
    let specs = ["splade-tiny:bi", "splade-tiny:late", "splade-tiny:splade"];
    assert_eq!(models.ranker_specs(), specs);
    let ranker = models.get_or_load_ranker(specs[2]).unwrap();
    let queries = ["where do rivers end".to_owned()];
    let texts: Vec<String> = (0..90).map(|it| "a river flows ".repeat(it % 30)).collect();
    let (scores, _) = score_all(&ranker, &queries, &texts);
    assert!(scores.iter().all(|it| it.score > 0.0));
}

#[test]
fn folders_say_what_they_are_and_their_batches_agree_with_single_texts() {
    for (name, used) in [
        ("colbert-tiny", ":colbert"),
        ("epic-tiny", ":epic"),
        ("dense-tiny", ":bi"),
    ] {
        let models = only_model(fixture(name));
        assert_eq!(models.ranker_specs()[0], format!("{name}{used}"));
        assert_eq!(models.ranker_specs().len() == 1, used != ":bi");
        let ranker = models.get_or_load_ranker(name).unwrap();
        // The first text occurs as a query and as a document; each is encoded in its role.
        let queries = ["where do rivers end".to_owned(), "a lake".to_owned()];
        let mut texts: Vec<String> = (0..300)
            .map(|it| "the river ends ".repeat(it % 30))
            .collect();
        texts[0].clone_from(&queries[0]);
        let (scores, _) = score_all(&ranker, &queries, &texts);
        assert!(scores[29].truncated && !scores[1].truncated, "{name}");
        let said = ranker
            .score_documents_in_detail(&queries[0], &texts[..2])
            .unwrap();
        assert_eq!(said[0].matches.is_some(), used == ":colbert");
        for matches in said.into_iter().filter_map(|it| it.matches) {
            assert_eq!(matches.query_tokens[1], "[unused0]");
            assert_eq!(matches.document_tokens[1], "[unused1]");
            assert_eq!(matches.query_tokens.len(), 12);
        }
    }
}

#[test]
fn a_ranker_toml_says_what_a_folder_is_and_is_refused_with_a_wrong_word() {
    let (_home, folder) = copy_tiny("said", &FILES);
    let models = only_model(&folder);
    for (ranker, specs) in [
        ("", &["said:bi", "said:late"][..]),
        ("architecture = \"late-interaction\"", &["said:late"]),
        ("architecture = \"bi-encoder\"", &["said:bi"]),
        ("architecture = \"splade\"", &["said:splade"]),
        ("architecture = \"cross-encoder\"", &["said:cross"]),
        ("architecture = \"colbert\"", &["said:colbert"]),
    ] {
        fs::write(folder.join(RANKER), ranker).unwrap();
        assert_eq!(models.ranker_specs(), specs);
    }
    let refused = load_error(&models, "said");
    assert!(refused.contains("no tensor `linear.weight`"), "{refused}");
    fs::write(folder.join(RANKER), "architecture = \"late\"").unwrap();
    assert_eq!(models.ranker_specs(), ["said:bi", "said:late"]);
    // The same error for every spec, since it has to be fixed first.
    let models = only_model(&folder);
    for wanted in ["said", "said:late", "said:colbert", "said:monot5"] {
        let refused = load_error(&models, wanted);
        assert!(refused.contains("unknown variant `late`"), "{refused}");
    }
    let failed: Vec<String> = models.load_failures().into_iter().map(|it| it.0).collect();
    assert_eq!(failed, ["said:bi", "said:late"]);
}

#[test]
fn a_use_that_a_model_does_not_have_is_refused_and_not_noted() {
    let models = tiny();
    for wanted in ["tiny:cross", "tiny:splade", "tiny:monot5+maxp"] {
        let error = models.get_or_load_ranker(wanted).err().unwrap();
        assert!(matches!(error, Error::Input(_)), "{error}");
        let used = wanted.trim_end_matches("+maxp");
        assert_eq!(
            error.to_string(),
            format!("there is no model named `{used}` among `tiny:bi`, `tiny:late`")
        );
        assert!(models.load_and_return_status(wanted).is_err());
    }
    assert!(models.failed.lock().unwrap().is_empty() && models.loaded_rankers().is_empty());
    let cross = only_model(fixture("cross-tiny"));
    assert!(cross.get_or_load_ranker("cross-tiny:bi").is_err());
    // A model with an invalid configuration could have any use, so the error of the configuration
    // is reported.
    let (_home, folder) = copy_tiny("other", &FILES);
    fs::write(folder.join(CONFIG), r#"{"model_type": "gpt2"}"#).unwrap();
    let models = only_model(&folder);
    let error = load_error(&models, "other:cross");
    assert!(error.contains("describes a `gpt2` model"), "{error}");
    assert!(models.load_failures().is_empty(), "it is none of its specs");
}

#[test]
fn a_module_outside_its_folder_is_not_read() {
    let (_home, folder) = copy_tiny("modules", &FILES);
    for path in ["../tiny", "/etc", "", "2_Dense"] {
        let modules = serde_json::json!([{"type": "models.Dense", "path": path}]);
        fs::write(folder.join(MODULES), modules.to_string()).unwrap();
        let models = only_model(&folder);
        let refused = load_error(&models, "modules:bi");
        let said = match path {
            "2_Dense" => "has no 2_Dense/config.json".to_owned(),
            path => format!("names `{path}`, which is no folder inside"),
        };
        assert!(refused.contains(&said), "{refused}");
    }
    fs::create_dir(folder.join("2_Dense")).unwrap();
    fs::write(folder.join("2_Dense/config.json"), "{}").unwrap();
    fs::write(folder.join("2_Dense/pytorch_model.bin"), "pickled").unwrap();
    let models = only_model(&folder);
    let refused = load_error(&models, "modules:bi");
    assert!(refused.contains("safe_serialization=True"), "{refused}");
}

pub(crate) fn fixture(name: &str) -> String {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    format!("{fixtures}/{name}")
}

/// Returns the only ranker of a folder, with its registry.
fn only_ranker(folder: &str, spec: &str) -> (ModelRegistry, Arc<NeuralRanker>) {
    let models = only_model(fixture(folder));
    assert_eq!(models.ranker_specs(), [spec]);
    assert_eq!(models.add_default_use_suffix(folder), spec);
    let ranker = models.get_or_load_ranker(folder).unwrap();
    (models, ranker)
}

#[test]
fn a_folder_with_a_t5_is_asked_and_its_batches_agree_with_single_texts() {
    let models = only_model(fixture("t5"));
    assert_eq!(models.ranker_specs(), ["t5:monot5", "t5:doc2query"]);
    assert_eq!(models.add_default_use_suffix("t5"), "t5:monot5");
    let ranker = models.get_or_load_ranker("t5").unwrap();
    assert!(ranker.about.detail.starts_with("monoT5"));
    let queries = ["where do rivers end".to_owned(), String::new()];
    let texts: Vec<String> = (0..60).map(|it| "the river ends ".repeat(it * 3)).collect();
    let (scores, steps) = score_all(&ranker, &queries, &texts);
    assert!(steps.len() > 3 && steps.last() == Some(&120), "{steps:?}");
    // Query and document share the 512 tokens.
    assert!(scores[59].truncated && !scores[1].truncated);
    assert!(scores.iter().all(|it| it.score < 0.0));
    let error = load_error(&models, "t5:bi");
    let expected = "there is no model named `t5:bi` among `t5:monot5`, `t5:doc2query`";
    assert_eq!(error, expected);
    let error = ModelRegistry::with_models_or_default(&[fixture("t5")], Device::Cuda(0)).unwrap();
    let error = load_error(&error, "t5");
    assert!(error.contains("on the CPU only"), "{error}");
}

/// Returns all pairs of queries and documents.
fn each_with_each(n_queries: u32, n_texts: u32) -> Vec<(u32, u32)> {
    let of_query = |query| (0..n_texts).map(move |text| (query, text));
    (0..n_queries).flat_map(of_query).collect()
}

fn listed<'a>(
    queries: &'a [String],
    texts: &'a [String],
    pairs: &'a [(u32, u32)],
) -> QueryDocumentPairsWithTexts<'a> {
    QueryDocumentPairsWithTexts {
        queries,
        documents: texts,
        pairs,
    }
}

/// Scores every query with every document, in order, and checks each score against the one for a
/// single query. Also returns the number of scored pairs after each batch.
fn score_all(
    ranker: &NeuralRanker,
    queries: &[String],
    texts: &[String],
) -> (Vec<PairScore>, Vec<usize>) {
    let pairs = each_with_each(queries.len() as u32, texts.len() as u32);
    let mut steps = Vec::new();
    let listed = listed(queries, texts, &pairs);
    let scores = ranker.score_pairs(&listed, &mut PartialScores::empty_without_file(), |n| {
        steps.push(n)
    });
    let scores = scores.unwrap();
    assert_eq!(scores.len(), pairs.len());
    for (query, scores) in queries.iter().zip(scores.chunks(texts.len())) {
        let said = ranker.score_documents_in_detail(query, texts).unwrap();
        for (said, score) in said.iter().zip(scores) {
            assert!((said.score - score.score).abs() < 1e-5 * score.score.abs().max(1.0));
            assert_eq!(said.truncated, score.truncated);
        }
    }
    (scores, steps)
}

#[test]
fn what_a_ranker_reads_of_a_document_has_the_score_of_the_whole() {
    let query = "where do rivers end";
    let long = "Ähnlich weit: the river carries sand past old houses. ".repeat(20);
    for (folder, spec) in [
        ("tiny", "tiny:bi"),
        ("tiny", "tiny:bi+firstp=30/30"),
        ("cross-tiny", "cross-tiny:cross"),
        ("colbert-tiny", "colbert-tiny:colbert"),
        ("t5", "t5:monot5"),
    ] {
        let models = only_model(fixture(folder));
        let ranker = models.get_or_load_ranker(spec).unwrap();
        let read = ranker.n_bytes_read(query, &[&long, "a river"]).unwrap();
        let [Some(n), None] = read[..] else {
            panic!("{spec}: {read:?}")
        };
        let beginning = long[..n as usize].to_owned();
        let texts = [long.clone(), beginning, long[..n as usize / 2].to_owned()];
        let said = ranker.score_documents_in_detail(query, &texts).unwrap();
        let [whole, beginning, half] = [0, 1, 2].map(|it| said[it].score);
        assert!(
            (whole - beginning).abs() < 1e-5 * whole.abs().max(1.0),
            "{spec}"
        );
        assert!(whole != half, "{spec}");
    }
}

#[test]
fn a_long_text_is_worth_what_its_passages_are() {
    let models = tiny();
    let text = "the river carries sand past old houses, and the bank is made of mud and stone";
    let passages = [
        "the river carries sand past",
        "sand past old houses, and",
        "houses, and the bank is",
        "bank is made of mud",
        "of mud and stone",
    ];
    let passages = passages.map(str::to_owned);
    let say = |spec: &str, texts: &[String]| {
        let ranker = models.get_or_load_ranker(spec).unwrap();
        let said = ranker
            .score_documents_in_detail("where is sand", texts)
            .unwrap();
        // The same scores as in a job.
        let listed = QueryDocumentPairsWithTexts {
            queries: &["where is sand".to_owned()],
            documents: texts,
            pairs: &(0..texts.len() as u32)
                .map(|it| (0, it))
                .collect::<Vec<_>>(),
        };
        let scored = ranker.score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {});
        for (said, scored) in said.iter().zip(scored.unwrap()) {
            assert!((said.score - scored.score).abs() < 1e-6, "{spec}");
            assert_eq!(said.truncated, scored.truncated, "{spec}");
        }
        said
    };
    for base in ["tiny:bi", "tiny:late"] {
        let each: Vec<f64> = say(base, &passages).iter().map(|it| it.score).collect();
        let most = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = each.iter().sum::<f64>() / 5.0;
        for (ending, expected, truncated) in [
            ("+firstp=5/3", each[0], true),
            ("+maxp=5/3", most, false),
            ("+meanp=5/3", mean, false),
        ] {
            let spec = format!("{base}{ending}");
            let said = say(&spec, &[text.to_owned(), String::new()]);
            assert!((said[0].score - expected).abs() < 1e-5, "{spec}");
            assert_eq!((said[0].truncated, said[1].truncated), (truncated, false));
            let matrix = said[0].matches.is_some();
            assert_eq!(matrix, base == "tiny:late" && !ending.contains("mean"));
        }
    }
    let plain = models.get_or_load_ranker("tiny:bi").unwrap();
    let read = models.get_or_load_ranker("tiny+maxp").unwrap();
    assert_eq!(read.about.spec, "tiny:bi+maxp");
    assert_eq!(read.about.label, "tiny MaxP");
    assert_ne!(read.about.fingerprint, plain.about.fingerprint);
}

#[test]
fn however_texts_are_read_the_weights_are_in_memory_once() {
    let models = tiny();
    let whole = models.get_or_load_ranker("tiny:bi").unwrap();
    for n_words in 7..40 {
        let read = models
            .get_or_load_ranker(&format!("tiny:bi+maxp={n_words}/3"))
            .unwrap();
        assert!(Arc::ptr_eq(&read.reader, &whole.reader), "{n_words}");
    }
    assert_eq!(models.loaded_rankers().len(), 1);
    // What a ranker with passages reads counts for the shared weights.
    let (before, text) = (whole.sequence_and_token_counts(), ["a river".to_owned()]);
    models
        .get_or_load_ranker("tiny:bi+maxp")
        .unwrap()
        .score_documents_in_detail("a", &text)
        .unwrap();
    assert_eq!(
        whole
            .sequence_and_token_counts()
            .minus_earlier(before)
            .sequences,
        2
    );
    let error = models
        .get_or_load_ranker("tiny:bi+maxp=10001/3")
        .err()
        .unwrap();
    assert!(matches!(error, Error::Input(_)), "{error}");
}
