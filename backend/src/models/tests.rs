//! The smallest model, from the fixtures of `neural`.

use super::*;
use crate::store::draft::Draft;

/// A folder with a model of 24,000 parameters that were drawn at random.
pub(crate) const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures/tiny");

/// Only the smallest model.
pub(crate) fn tiny() -> Models {
    Models::new(&[TINY.to_owned()], Device::Cpu).unwrap()
}

#[test]
fn one_folder_gives_two_rankers() {
    let models = tiny();
    assert_eq!(models.specs(), ["tiny:bi", "tiny:late"]);
    let (bi, late) = (
        models.get("tiny:bi").unwrap(),
        models.get("tiny:late").unwrap(),
    );
    assert_ne!(bi.about.fingerprint, late.about.fingerprint);
    assert_eq!(bi.about.note, None);
    assert_eq!(
        late.about.note.as_deref(),
        Some("not fine-tuned for late interaction")
    );
    assert!(
        Arc::ptr_eq(&bi, &models.get("tiny").unwrap()),
        "loaded once, and :bi is meant"
    );
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let error = tiny().get("minilm").err().unwrap().to_string();
    assert_eq!(
        error,
        "there is no model named `minilm` among `tiny:bi`, `tiny:late`"
    );
    let error = Models::new(&["no such folder".to_owned()], Device::Cpu)
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
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("half");
    fs::create_dir(&folder).unwrap();
    for file in ["config.json", "tokenizer.json"] {
        fs::copy(Path::new(TINY).join(file), folder.join(file)).unwrap();
    }
    let load = || {
        let models = Models::new(&[folder.display().to_string()], Device::Cpu).unwrap();
        models.get("half:bi").err().unwrap().to_string()
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
    let ranker = tiny().get("tiny:late").unwrap();
    let queries = ["a b c".to_owned(), "d e".to_owned()];
    let texts: Vec<String> = (1..40).map(|it| "a b d f ".repeat(it)).collect();
    let pairs: Vec<(u32, u32)> = (0..2).flat_map(|q| (0..39).map(move |t| (q, t))).collect();
    let listed = Listed {
        queries: &queries,
        texts: &texts,
        pairs: &pairs,
    };
    let mut steps = Vec::new();
    let scores = ranker
        .score_pairs(&listed, &mut Draft::none(), |n| steps.push(n))
        .unwrap();
    assert_eq!(steps.last(), Some(&pairs.len()));
    check_alone(&ranker, &listed, &scores);
    let said = ranker.say(&queries[0], &texts).unwrap();
    assert!(said.iter().all(|it| it.matches.is_some()));
    assert!(scores[38].truncated && !scores[0].truncated);
}

#[test]
fn what_was_scored_before_a_stop_is_not_scored_again() {
    let ranker = tiny().get("tiny:bi").unwrap();
    let queries = ["a b c".to_owned()];
    let texts: Vec<String> = (1..600).map(|it| "a b d f ".repeat(it % 40)).collect();
    let pairs: Vec<(u32, u32)> = (0..599).map(|it| (0, it)).collect();
    let listed = Listed {
        queries: &queries,
        texts: &texts,
        pairs: &pairs,
    };
    let mut steps = Vec::new();
    let scores = ranker.score_pairs(&listed, &mut Draft::none(), |n| steps.push(n));
    let scores = scores.unwrap();
    assert!(steps.len() > 3, "{steps:?}");
    let folder = tempfile::tempdir().unwrap();
    let open = || Draft::open(folder.path(), &listed.hash(&ranker)).unwrap();
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ranker.score_pairs(&listed, &mut open(), |n| assert!(n < steps[1], "stop"))
    }));
    assert!(stopped.is_err());
    let mut again = open();
    let of_first = again.batch(0).unwrap();
    assert_eq!(of_first.len(), steps[0]);
    assert!(again.batch(1).is_some() && again.batch(2).is_none());
    assert_eq!(
        ranker.score_pairs(&listed, &mut again, |_| {}).unwrap(),
        scores
    );
}

#[test]
fn a_folder_with_a_head_is_a_cross_encoder_and_its_batches_agree_with_single_texts() {
    const CROSS: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../neural/tests/fixtures/cross-roberta"
    );
    let models = Models::new(&[CROSS.to_owned()], Device::Cpu).unwrap();
    assert_eq!(models.specs(), ["cross-roberta:cross"]);
    assert_eq!(models.full_spec("cross-roberta"), "cross-roberta:cross");
    let ranker = models.get("cross-roberta").unwrap();
    let queries = ["where do rivers end".to_owned(), "a lake".to_owned()];
    let texts: Vec<String> = (0..300)
        .map(|it| "the river ends ".repeat(it % 30))
        .collect();
    let pairs: Vec<(u32, u32)> = (0..2).flat_map(|q| (0..300).map(move |t| (q, t))).collect();
    let listed = Listed {
        queries: &queries,
        texts: &texts,
        pairs: &pairs,
    };
    let mut steps = Vec::new();
    let scores = ranker.score_pairs(&listed, &mut Draft::none(), |n| steps.push(n));
    let scores = scores.unwrap();
    assert_eq!(steps.last(), Some(&600));
    assert!(steps.len() > 3, "{steps:?}");
    check_alone(&ranker, &listed, &scores);
    // Query and text share the 64 pieces.
    assert!(scores[29].truncated && !scores[1].truncated);
    // Without a head there is no such ranker.
    let error = tiny().get("tiny:cross").err().unwrap().to_string();
    assert!(error.contains("pooler.dense.weight"), "{error}");
}

#[test]
fn a_folder_with_a_head_for_masked_pieces_weighs_the_vocabulary_too() {
    const SPLADE: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../neural/tests/fixtures/splade-tiny"
    );
    let models = Models::new(&[SPLADE.to_owned()], Device::Cpu).unwrap();
    let specs = ["splade-tiny:bi", "splade-tiny:late", "splade-tiny:splade"];
    assert_eq!(models.specs(), specs);
    let ranker = models.get(specs[2]).unwrap();
    let queries = ["where do rivers end".to_owned()];
    let texts: Vec<String> = (0..90).map(|it| "a river flows ".repeat(it % 30)).collect();
    let pairs: Vec<(u32, u32)> = (0..90).map(|it| (0, it)).collect();
    let listed = Listed {
        queries: &queries,
        texts: &texts,
        pairs: &pairs,
    };
    let scores = ranker
        .score_pairs(&listed, &mut Draft::none(), |_| {})
        .unwrap();
    check_alone(&ranker, &listed, &scores);
    assert!(scores.iter().all(|it| it.score > 0.0));
}

#[test]
fn a_folder_with_a_t5_is_asked_and_its_batches_agree_with_single_texts() {
    const T5: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures/t5");
    let models = Models::new(&[T5.to_owned()], Device::Cpu).unwrap();
    assert_eq!(models.specs(), ["t5:monot5"]);
    assert_eq!(models.full_spec("t5"), "t5:monot5");
    let ranker = models.get("t5").unwrap();
    assert!(ranker.about.detail.starts_with("monoT5"));
    let queries = ["where do rivers end".to_owned(), String::new()];
    let texts: Vec<String> = (0..60).map(|it| "the river ends ".repeat(it * 3)).collect();
    let pairs: Vec<(u32, u32)> = (0..2).flat_map(|q| (0..60).map(move |t| (q, t))).collect();
    let listed = Listed {
        queries: &queries,
        texts: &texts,
        pairs: &pairs,
    };
    let mut steps = Vec::new();
    let scores = ranker.score_pairs(&listed, &mut Draft::none(), |n| steps.push(n));
    let scores = scores.unwrap();
    assert!(steps.len() > 3 && steps.last() == Some(&120), "{steps:?}");
    check_alone(&ranker, &listed, &scores);
    // Query and text share the 512 pieces.
    assert!(scores[59].truncated && !scores[1].truncated);
    assert!(scores.iter().all(|it| it.score < 0.0));
    let error = models.get("t5:bi").err().unwrap().to_string();
    assert!(error.contains("describes a `t5` model"), "{error}");
    let error = tiny().get("tiny:monot5").err().unwrap().to_string();
    assert!(error.contains("is bert, but must be t5"), "{error}");
    let error = Models::new(&[T5.to_owned()], Device::Cuda(0)).unwrap();
    let error = error.get("t5").err().unwrap().to_string();
    assert!(error.contains("on the CPU only"), "{error}");
}

/// Every pair as a ranker scores it when it is asked about one query and all texts; `scores` are
/// of every query with every text, in order.
fn check_alone(ranker: &Ranker, listed: &Listed<'_>, scores: &[PairScore]) {
    assert_eq!(scores.len(), listed.queries.len() * listed.texts.len());
    let of_queries = scores.chunks(listed.texts.len());
    for (query, scores) in listed.queries.iter().zip(of_queries) {
        let said = ranker.say(query, listed.texts).unwrap();
        for (said, score) in said.iter().zip(scores) {
            assert!((said.score - score.score).abs() < 1e-5 * score.score.abs().max(1.0));
            assert_eq!(said.truncated, score.truncated);
        }
    }
}
