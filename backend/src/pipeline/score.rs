//! Scores query-document pairs with lexical rankers, score files, models and remote rankers.

use std::path::Path;
use std::time::Instant;

use shared::collection::Collection;
use shared::collection::trec::ImportedScores;
use shared::index::Index;
use shared::probe::mining::OriginalOrDerivedDocument;
use shared::rank::LexicalRanker;
use shared::score::{
    QueryDocumentPairs, RankerInfo, RankerKind, RankerQueryDocumentScores, SCORE_FILE_PREFIX,
};
use shared::study::build::LexicalPairScorer;
use shared::study::preparation::run_never_waiting_future;

use super::ParallelExecutor;
use super::shards::DistributedStudy;
use crate::collection_files;
use crate::config::RankerSpec;
use crate::error::Error;
use crate::models::{self, ModelRegistry, QueryDocumentPairsWithTexts};
use crate::progress::ProgressBar;
use crate::remote_ranker::{RemoteRanker, RequestVolume};
use crate::store::partial_scores::PartialScores;

/// The pairs to score, with their texts.
pub(crate) struct PairScoringInput<'a> {
    /// The queries and documents.
    pub collection: &'a Collection,
    /// The index of the whole collection; without documents if no ranker needs its statistics.
    pub index: &'a Index,
    /// The documents of the study by number, including derived ones.
    pub texts: &'a [OriginalOrDerivedDocument],
    /// The unique pairs to score.
    pub pairs: &'a QueryDocumentPairs,
    /// Indices of the pairs for the score stability check; empty for no check.
    pub stability_sample: Vec<u32>,
    /// The folder where score files are looked up.
    pub folder: &'a Path,
    /// The folder where scores are stored until all pairs have been scored; `None` to keep them in
    /// memory only.
    pub partial_scores: Option<&'a Path>,
    /// Other machines that score with models and remote rankers; `None` to score here.
    pub distributed: Option<&'a DistributedStudy>,
}

/// Scores all pairs with several rankers. Models that encode texts in the same way share the
/// forward passes. `take` gets the scores of each ranker as soon as they are complete; it should
/// discard the partial scores after it has stored them.
pub(crate) fn score_with_rankers(
    scoring: &PairScoringInput<'_>,
    rankers: &[RankerSpec],
    models: &ModelRegistry,
    mut take: impl FnMut(RankerQueryDocumentScores, PartialScores) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut taken = vec![false; rankers.len()];
    for (at, ranker) in rankers.iter().enumerate() {
        if std::mem::replace(&mut taken[at], true) {
            continue;
        }
        let RankerSpec::Model(spec) = ranker else {
            let (scores, draft) = score_all_pairs_with_ranker(scoring, ranker, models)?;
            take(scores, draft)?;
            continue;
        };
        let first = models.get_or_load_ranker(spec)?;
        let mut alike = vec![first.clone()];
        for (other, taken) in rankers.iter().zip(&mut taken).filter(|it| !*it.1) {
            if let RankerSpec::Model(spec) = other {
                let model = models.get_or_load_ranker(spec)?;
                if model.has_same_encoding(&first) {
                    alike.push(model);
                    *taken = true;
                }
            }
        }
        let together: Vec<&models::NeuralRanker> = alike.iter().map(|it| &**it).collect();
        for (scores, draft) in score_with_models_sharing_encodings(scoring, &together)? {
            take(scores, draft)?;
        }
    }
    Ok(())
}

/// Scores all pairs with a ranker. The caller should discard the partial scores after it has stored
/// the result.
pub(crate) fn score_all_pairs_with_ranker(
    scoring: &PairScoringInput<'_>,
    ranker: &RankerSpec,
    models: &ModelRegistry,
) -> Result<(RankerQueryDocumentScores, PartialScores), Error> {
    match ranker {
        RankerSpec::Lexical(formula) => Ok((
            score_formula(scoring, formula)?,
            PartialScores::empty_without_file(),
        )),
        RankerSpec::Scores(file) => Ok((
            score_file(scoring, file)?,
            PartialScores::empty_without_file(),
        )),
        RankerSpec::Model(spec) => {
            let model = models.get_or_load_ranker(spec)?;
            score_with_model(scoring, &model)
        }
        RankerSpec::Remote(service) => score_with_remote_ranker(scoring, service),
    }
}

fn score_formula(
    scoring: &PairScoringInput<'_>,
    ranker: &LexicalRanker,
) -> Result<RankerQueryDocumentScores, Error> {
    let lexical = LexicalPairScorer {
        collection: scoring.collection,
        index: scoring.index,
        study_docs: scoring.texts,
        pairs: scoring.pairs,
    };
    let mut cores = ParallelExecutor::default();
    let mut scores = run_never_waiting_future(lexical.score_all_pairs(&[*ranker], &mut cores))?;
    Ok(scores.remove(0))
}

fn score_file(
    scoring: &PairScoringInput<'_>,
    file: &str,
) -> Result<RankerQueryDocumentScores, Error> {
    let (name, brought) = read_score_file(file, scoring.folder)?;
    brought_scores(scoring, &name, &brought)
}

/// Reads a score file and returns its name and scores.
pub(crate) fn read_score_file(
    file: &str,
    folder: &Path,
) -> Result<(String, ImportedScores), Error> {
    let path = collection_files::resolve_input_file_path(file, folder)?;
    let brought = collection_files::read_with_progress(
        &path,
        shared::collection::trec::read_imported_scores,
    )?;
    let name = path.file_name().unwrap_or_default();
    Ok((name.to_string_lossy().into_owned(), brought))
}

/// Returns the fingerprint of the scores of a file, whatever their order.
pub(crate) fn score_file_fingerprint(scores: &ImportedScores) -> String {
    use std::fmt::Write;
    let mut content = String::new();
    for (query, texts) in scores {
        for (text, score) in texts {
            let _ = writeln!(content, "{query}\t{text}\t{:016x}", score.to_bits());
        }
    }
    shared::collection::text_hash(&content)
}

/// Puts the scores of a file in the order of the pairs.
fn brought_scores(
    scoring: &PairScoringInput<'_>,
    name: &str,
    brought: &ImportedScores,
) -> Result<RankerQueryDocumentScores, Error> {
    let values = scoring.pairs.iter().map(|(query, text)| {
        let text = scoring.texts[text as usize];
        let id = text.id(scoring.collection.docs[text.source_doc() as usize].id());
        brought
            .get(&scoring.collection.queries[query].id)?
            .get(&id)
            .copied()
    });
    let values: Vec<Option<f64>> = values.collect();
    let about = RankerInfo {
        spec: format!("{SCORE_FILE_PREFIX}{name}"),
        label: name.split('.').next().unwrap_or(name).to_owned(),
        detail: "from a score file".to_owned(),
        kind: RankerKind::ScoreFile,
        fingerprint: score_file_fingerprint(brought),
        note: None,
    };
    Ok(RankerQueryDocumentScores::new(
        about,
        values,
        scoring.pairs,
    )?)
}

/// The texts of the queries and documents to score.
struct PairBodies {
    queries: Vec<String>,
    bodies: Vec<String>,
    pairs: Vec<(u32, u32)>,
}

impl PairBodies {
    fn of(scoring: &PairScoringInput<'_>, with_titles: bool) -> PairBodies {
        let PairScoringInput {
            collection,
            texts,
            pairs,
            ..
        } = scoring;
        let mut needed: Vec<u32> = pairs.iter().map(|it| it.1).collect();
        needed.sort_unstable();
        needed.dedup();
        let bodies = needed
            .iter()
            .map(|&it| texts[it as usize])
            .map(|it| {
                let doc = &collection.docs[it.source_doc() as usize];
                it.text_to_score(doc.text_with_optional_title(with_titles))
            })
            .collect();
        let place = |text: u32| needed.partition_point(|&it| it < text) as u32;
        PairBodies {
            queries: collection
                .queries
                .iter()
                .map(|it| it.text.clone())
                .collect(),
            bodies,
            pairs: pairs
                .iter()
                .map(|(query, text)| (query as u32, place(text)))
                .collect(),
        }
    }

    fn listed(&self) -> QueryDocumentPairsWithTexts<'_> {
        QueryDocumentPairsWithTexts {
            queries: &self.queries,
            documents: &self.bodies,
            pairs: &self.pairs,
        }
    }
}

/// Scores all pairs with a model. The caller should discard the partial scores after it has stored
/// the result.
pub(crate) fn score_with_model(
    scoring: &PairScoringInput<'_>,
    model: &models::NeuralRanker,
) -> Result<(RankerQueryDocumentScores, PartialScores), Error> {
    let mut each = score_with_models_sharing_encodings(scoring, &[model])?;
    Ok(each.pop().expect("one for each model"))
}

/// Scores all pairs with models that encode texts in the same way; each text is encoded once. The
/// caller should discard the partial scores after it has stored the results.
pub(crate) fn score_with_models_sharing_encodings(
    scoring: &PairScoringInput<'_>,
    models: &[&models::NeuralRanker],
) -> Result<Vec<(RankerQueryDocumentScores, PartialScores)>, Error> {
    // Models that encode texts in the same way read the same texts.
    let with_titles = models.iter().all(|it| it.reads_titles());
    let queries = || scoring.collection.queries.iter().map(|it| it.text.as_str());
    let models: Vec<models::NeuralRanker> = models
        .iter()
        .map(|it| it.with_statistics_of_index(scoring.index, queries()))
        .collect();
    let models: Vec<&models::NeuralRanker> = models.iter().collect();
    let models = models.as_slice();
    let gathered = PairBodies::of(scoring, with_titles);
    let listed = gathered.listed();
    let draft = |model: &&models::NeuralRanker| match scoring.partial_scores {
        Some(folder) => PartialScores::load_and_lock(folder, &listed.hash_with_ranker(model)),
        None => Ok(PartialScores::empty_without_file()),
    };
    let mut drafts = models.iter().map(draft).collect::<Result<Vec<_>, _>>()?;
    if let Some(distributed) = scoring.distributed {
        distributed.score_batches(models, &listed, &mut drafts)?;
    }
    let specs: Vec<&str> = models.iter().map(|it| it.about.spec.as_str()).collect();
    let specs = specs.join(", ");
    let bar = ProgressBar::with_unit(&specs, listed.pairs.len() as u64, "pairs");
    let reads = || {
        let each = models.iter().map(|it| it.sequence_and_token_counts());
        each.fold((0, 0), |sum, it| (sum.0 + it.sequences, sum.1 + it.tokens))
    };
    let (before, since) = (reads(), Instant::now());
    let scored =
        models::score_with_rankers_sharing_encodings(models, &listed, &mut drafts, |done| {
            bar.set_position(done as u64)
        })?;
    let now = reads();
    let (sequences, tokens) = (now.0 - before.0, now.1 - before.1);
    let seconds = since.elapsed().as_secs_f64().max(1e-3);
    if scoring.distributed.is_none() {
        eprintln!(
            "{specs}: {} pairs, {sequences} sequences of {tokens} tokens read in {seconds:.1} s, \
             {:.0} tokens a second",
            listed.pairs.len(),
            tokens as f64 / seconds
        );
    }
    let each = models.iter().zip(scored).zip(drafts);
    let told = each.map(|((model, scored), draft)| {
        let values = scored.iter().map(|it| Some(it.score)).collect();
        let mut scores =
            RankerQueryDocumentScores::new(model.about.clone(), values, scoring.pairs)?;
        let truncated = scored.iter().filter(|it| it.truncated);
        scores.truncated = truncated.map(|it| it.pair).collect();
        if !scoring.stability_sample.is_empty() {
            // The scores are complete even if this check fails.
            let sample = &scoring.stability_sample;
            let record = match scoring.distributed {
                // An executor that cannot check says so in its output.
                Some(distributed) => Ok(distributed.rescore_sample(model, &listed, sample)?),
                None => model.rescore_sample_under_conditions(&listed, sample, &|| true),
            };
            match record {
                Ok(certificate) => scores.rescoring = certificate,
                Err(error) => tracing::warn!("{}: no certificate: {error}", model.about.spec),
            }
        }
        Ok((scores, draft))
    });
    told.collect()
}

/// Scores all pairs with a remote ranker, after printing the number of requests. The caller should
/// discard the partial scores after it has stored the result.
pub(crate) fn score_with_remote_ranker(
    scoring: &PairScoringInput<'_>,
    service: &RemoteRanker,
) -> Result<(RankerQueryDocumentScores, PartialScores), Error> {
    let gathered = PairBodies::of(scoring, true);
    let listed = gathered.listed();
    let about = service.ranker_info();
    let mut draft = match scoring.partial_scores {
        Some(folder) => {
            PartialScores::load_and_lock(folder, &service.scoring_inputs_sha256(&listed))?
        }
        None => PartialScores::empty_without_file(),
    };
    if let Some(distributed) = scoring.distributed {
        distributed.send_requests(service, &listed, &mut draft)?;
    }
    let RequestVolume {
        requests,
        texts,
        characters,
        done,
    } = service.request_volume(&listed, &draft);
    let before = match done {
        0 => String::new(),
        done => format!("; {done} of these requests are answered already"),
    };
    eprintln!(
        "{}: {requests} requests with {texts} texts, {characters} characters{before}",
        about.spec
    );
    let bar = ProgressBar::with_unit(&about.label, listed.pairs.len() as u64, "pairs");
    let scored = service.score_pairs(&listed, &mut draft, |done| bar.set_position(done as u64))?;
    let values = scored.iter().map(|it| Some(it.score)).collect();
    Ok((
        RankerQueryDocumentScores::new(about, values, scoring.pairs)?,
        draft,
    ))
}

/// Returns the number of requests, documents and characters that scoring with a remote ranker would
/// send.
pub(crate) fn remote_scoring_volume(
    scoring: &PairScoringInput<'_>,
    service: &RemoteRanker,
) -> Result<RequestVolume, Error> {
    let gathered = PairBodies::of(scoring, true);
    let listed = gathered.listed();
    let draft = match scoring.partial_scores {
        Some(folder) => {
            PartialScores::load_read_only(folder, &service.scoring_inputs_sha256(&listed))?
        }
        None => PartialScores::empty_without_file(),
    };
    Ok(service.request_volume(&listed, &draft))
}
