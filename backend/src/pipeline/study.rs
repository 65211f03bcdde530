//! Creates studies, resumes and completes them, and mines their instances again.

use std::path::Path;
use std::sync::Arc;

use shared::api::worker::LOCAL_STUDY;
use shared::collection::{Collection, Document, Qrels};
use shared::error::{Error as InputError, ErrorFieldName};
use shared::index::Index;
use shared::probe::MiningResult;
use shared::probe::transfer::UsedAndSkippedPairCounts;
use shared::score::{RankerInfo, RankerKind, RankerQueryDocumentScores, rescoring};
use shared::study::build::{self, StudyInputs};
use shared::study::preparation::{PreparedCollection, run_never_waiting_future};
use shared::study::{Study, StudyDefinition, validate_study_name};

use super::inputs::{has_same_input_files, input_checksums, read_non_collection_inputs};
use super::score::{PairScoringInput, read_score_file, score_file_fingerprint, score_with_rankers};
use super::shards::{DistributedStudy, StudyCluster};
use super::{ParallelExecutor, current_utc_date};
use crate::config::RankerSpec;
use crate::error::{Error, run_blocking};
use crate::models::{ModelRegistry, is_doc2query_spec};
use crate::store::partial_scores::PartialScores;
use crate::store::studies::{StudyVisibility, files, late_interaction};
use crate::store::{DataFolder, Database};
use crate::vocabulary;

/// What to do with a finished study of the same name that has a different definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StudyReplacementPolicy {
    /// Keep it and return an error.
    Keep,
    /// Replace it by the new study.
    Replace,
}

/// A study to create, with its collection.
pub(crate) struct NewStudy {
    pub(crate) definition: StudyDefinition,
    /// The whole collection; the definition says how many queries are used.
    pub(crate) collection: Collection,
    pub(crate) finished: StudyReplacementPolicy,
    /// The executor that prepares and mines the collection.
    pub(crate) executor: ParallelExecutor,
    /// Other machines that compute the shards of the study; `None` to compute all here.
    pub(crate) cluster: Option<StudyCluster>,
}

/// Returns an error for the name `index`, since an export has its list of studies in `index.json`.
fn ensure_name_is_free(name: &str) -> Result<(), Error> {
    if name != "index" {
        return Ok(());
    }
    let field = ErrorFieldName::with_display_name("name", format!("name `{name}`"));
    let reason = "is that of the list of studies in an export; choose another name";
    Err(InputError::unsupported_value(field, reason).into())
}

/// Creates a study, or resumes one that was interrupted. If the stored study has the same
/// definition, collection and software version, only missing scores are computed. Lexical rankers
/// are stored first and the others added one by one, so that completed scores survive an
/// interruption. The result has the same bits however often it was interrupted.
pub(crate) fn create_or_resume_study(
    study: NewStudy,
    folder: &Path,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<Study, Error> {
    let NewStudy {
        mut definition,
        mut collection,
        finished,
        mut executor,
        cluster,
    } = study;
    ensure_name_is_free(&definition.name)?;
    read_vocabularies(&mut definition)?;
    definition.remove_unused_collection_queries(&mut collection);
    let open = |definition: &StudyDefinition, collection: &Collection| {
        let open = cluster.as_ref();
        let begun = open.map(|it| DistributedStudy::begin(definition, collection, folder, it));
        begun.transpose()
    };
    if let Some(mut stored) = load_study_if_intact(data, &definition.name) {
        if stored.definition.makes_same_study_as(&definition)
            && stored.software == env!("CARGO_PKG_VERSION")
            && stored.collection_hash == collection.content_hash()
            && asks_alike(&stored, &collection)
            && has_same_input_files(&stored, folder, finished)
        {
            // The file has the last word on title and description.
            let is_renamed = stored.definition != definition;
            stored.definition = definition;
            match files::verify_study_files(data, &stored.definition.name) {
                Ok(1..) if !is_renamed && files::has_sorted_instances(data, &stored)? => {}
                Ok(_) => files::save_study_files(data, &stored)?,
                Err(error) => {
                    eprintln!("{error}; what can be read is written again");
                    files::save_study_files(data, &stored)?;
                }
            }
            let definition = stored.definition.clone();
            let scoring = MissingScores {
                rankers: &definition.rankers,
                distribute: &|| Ok(open(&definition, &collection)?.map(Arc::new)),
            };
            let n_added = compute_missing_scores_of(&mut stored, scoring, folder, data, models)?;
            eprintln!("the study exists already; rankers scored now: {n_added}");
            return Ok(stored);
        }
        let is_other =
            !stored.definition.makes_same_study_as(&definition) && stored.n_unscored_rankers() == 0;
        if is_other && finished == StudyReplacementPolicy::Keep {
            let field =
                ErrorFieldName::with_display_name("name", format!("study `{}`", definition.name));
            let reason = "a finished study of this name was made from another definition; give \
                          the new one another name, or replace the finished one with --replace";
            return Err(InputError::conflicting_value(field, reason).into());
        }
    }
    let distributed = open(&definition, &collection)?.map(Arc::new);
    if let Some(distributed) = &distributed {
        executor.set_distributed_study(distributed.clone());
    }
    let wanted = NewStudy {
        definition,
        collection,
        finished,
        executor,
        cluster: None,
    };
    let mut study = create_study_with_lexical_rankers(wanted, folder, data, models)?;
    let rankers = study.definition.rankers.clone();
    let scoring = MissingScores {
        rankers: &rankers,
        distribute: &|| Ok(distributed.clone()),
    };
    compute_missing_scores_of(&mut study, scoring, folder, data, models)?;
    Ok(study)
}

/// Gives a study that was made elsewhere its name on this server, and validates it as a whole.
pub(crate) fn name_and_validate_upload(study: &mut Study, name: &str) -> Result<(), Error> {
    validate_study_name(name)?;
    ensure_name_is_free(name)?;
    if name == LOCAL_STUDY {
        let field = ErrorFieldName::with_display_name("name", format!("name `{name}`"));
        let reason = "is that of the study in each browser; choose another name";
        return Err(InputError::unsupported_value(field, reason).into());
    }
    name.clone_into(&mut study.definition.name);
    Ok(study.validate_upload()?)
}

/// Stores a study that [`name_and_validate_upload`] has accepted, under the name in its definition.
/// It is withdrawn until it is published. `finished` says whether it replaces a stored study that
/// has the name.
pub(crate) async fn store_uploaded_study(
    store: &Database,
    data: &DataFolder,
    study: Study,
    finished: StudyReplacementPolicy,
) -> Result<(), Error> {
    let name = study.definition.name.clone();
    let listed = store.list_studies().await?;
    let listed = listed.into_iter().find(|it| it.name == name);
    let has_files = data.study_folder(&name)?.exists();
    if (listed.is_some() || has_files) && finished == StudyReplacementPolicy::Keep {
        let reason = format!(
            "there is a study named `{name}` already; choose another name, or replace it on \
             purpose (`replace` in a request, `--replace` on the command line)"
        );
        return Err(Error::Conflict { reason });
    }
    let was_published = listed.as_ref().is_some_and(|it| it.is_published);
    if was_published {
        // Visitors never see the new study before somebody publishes it.
        let withdrawn = StudyVisibility::Withdrawn;
        store.set_study_visibility(&name, withdrawn).await?;
    }
    let data = data.clone();
    let saved = run_blocking("storing a study", move || {
        files::ensure_study_can_be_stored(&data, &study)?;
        files::save_study_files(&data, &study)?;
        late_interaction::remove_late_interaction_analyses(&data, &study.definition.name)?;
        Ok(study)
    });
    match saved.await {
        Ok(study) => store.upsert_study_entry(&study).await,
        Err(error) => {
            if was_published {
                let published = StudyVisibility::Published;
                store.set_study_visibility(&name, published).await?;
            }
            Err(error)
        }
    }
}

/// Returns the stored study of a name. If it is damaged, a message is printed and `None` returned,
/// so that it is created again.
pub(crate) fn load_study_if_intact(data: &DataFolder, name: &str) -> Option<Study> {
    match files::load_and_verify_study(data, name) {
        Ok(stored) => Some(stored),
        Err(Error::Input(InputError::NotFound { .. })) => None,
        Err(error) => {
            eprintln!("{error}; the study is made again");
            None
        }
    }
}

/// Returns whether the queries of a stored study have the same splits and relevance judgments as
/// now. The hash of a collection covers neither.
fn asks_alike(stored: &Study, collection: &Collection) -> bool {
    let own = stored.queries.len() - stored.addition_counts.n_queries as usize;
    let mut pairs = stored.queries[..own].iter().zip(&collection.queries);
    let grades = |of: &Qrels, id: &str| of.0.get(id).cloned();
    pairs.all(|(old, new)| {
        let id = &old.id;
        old.split == new.split && grades(&stored.qrels, id) == grades(&collection.qrels, id)
    })
}

fn read_vocabularies(definition: &mut StudyDefinition) -> Result<(), Error> {
    vocabulary::load_vocabulary_into_analyzer(&mut definition.analyzer)?;
    let others = definition.audit.iter_mut();
    others
        .into_iter()
        .try_for_each(vocabulary::load_vocabulary_into_analyzer)
}

/// Creates and stores a study with its lexical rankers, and replaces a stored study of this name.
/// If that has scores of the other rankers on the same pairs, these are reused, since some of them
/// cost money. [`compute_missing_or_outdated_scores`] adds what is missing.
pub(crate) fn create_study_with_lexical_rankers(
    study: NewStudy,
    folder: &Path,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<Study, Error> {
    let NewStudy {
        mut definition,
        mut collection,
        mut executor,
        ..
    } = study;
    definition.validate()?;
    read_vocabularies(&mut definition)?;
    let rankers = definition.rankers.iter().map(|it| it.parse());
    let rankers = rankers.collect::<Result<Vec<RankerSpec>, Error>>()?;
    definition.remove_unused_collection_queries(&mut collection);
    definition.validate_collection(&collection)?;
    // Missing files and models are reported before the study is computed.
    for ranker in &rankers {
        match ranker {
            RankerSpec::Lexical(_) => {}
            RankerSpec::Scores(file) => drop(read_score_file(file, folder)?),
            RankerSpec::Model(spec) => drop(models.get_or_load_ranker(spec)?),
            RankerSpec::Remote(it) => it.validate_settings()?,
        }
    }
    let files = read_non_collection_inputs(&definition, &collection, folder)?;
    let (mut formulas, mut others) = (Vec::new(), Vec::new());
    for ranker in rankers {
        match ranker {
            RankerSpec::Lexical(formula) => formulas.push(formula),
            RankerSpec::Scores(_) | RankerSpec::Model(_) | RankerSpec::Remote(_) => {
                others.push(ranker);
            }
        }
    }
    let inputs = StudyInputs {
        definition,
        collection,
        files,
        rankers: formulas,
        created: current_utc_date(),
    };
    let input_checksums = input_checksums(&inputs.definition, folder);
    let mut study = run_never_waiting_future(build::make_study(inputs, &mut executor))?;
    study.input_checksums = input_checksums;
    tell_kept(&study);
    let stored = match others.is_empty() {
        true => None,
        false => load_study_if_intact(data, &study.definition.name),
    };
    for ranker in &others {
        if let Some(scores) = taken_over(stored.as_ref(), &study, about(ranker, models)?) {
            eprintln!("{}: its stored scores are taken over", scores.ranker.spec);
            study.upsert_scores_by_fingerprint(scores)?;
        }
    }
    drop(stored);
    // This replaces the stored study and all its files.
    files::save_study_files(data, &study)?;
    Ok(study)
}

/// Prints on standard error how many pairs of transfer sets were left out.
fn tell_kept(study: &Study) {
    for (probe, kept) in &study.transfer_pair_counts {
        let UsedAndSkippedPairCounts {
            n_pairs,
            n_identical,
            n_without_query,
        } = kept;
        if n_identical + n_without_query > 0 {
            eprintln!(
                "{}: of {n_pairs} pairs {n_identical} are identical and {n_without_query} have no \
                 query: they are left out",
                probe.slug()
            );
        }
    }
}

/// Returns the description of a model or remote ranker, whose fingerprint determines the scores;
/// `None` for lexical rankers and score files, which are quickly scored again.
fn about(ranker: &RankerSpec, models: &ModelRegistry) -> Result<Option<RankerInfo>, Error> {
    match ranker {
        RankerSpec::Lexical(_) | RankerSpec::Scores(_) => Ok(None),
        RankerSpec::Model(spec) => Ok(Some(models.get_or_load_ranker(spec)?.about.clone())),
        RankerSpec::Remote(it) => Ok(Some(it.ranker_info())),
    }
}

/// Returns the scores of a ranker from a stored study, if that has the same documents and pairs and
/// was created by this version.
fn taken_over(
    stored: Option<&Study>,
    study: &Study,
    about: Option<RankerInfo>,
) -> Option<RankerQueryDocumentScores> {
    let (stored, about) = (stored?, about?);
    let same = stored.software == study.software
        && stored.collection_hash == study.collection_hash
        && stored.instances_hash == study.instances_hash
        && stored.study_docs == study.study_docs
        && stored.pairs == study.pairs
        && stored.queries == study.queries
        && (!is_doc2query_spec(&about.spec)
            || stored.definition.analyzer == study.definition.analyzer)
        && stored.docs == study.docs;
    let found = stored
        .scores
        .iter()
        .find(|it| it.ranker.fingerprint == about.fingerprint && it.n_missing() == 0);
    let mut scores = found.filter(|_| same)?.clone();
    scores.ranker = about;
    Some(scores)
}

/// Prints on standard error how many pairs have no score, for example in a score file.
fn told(scores: RankerQueryDocumentScores) -> RankerQueryDocumentScores {
    if scores.n_missing() > 0 {
        eprintln!(
            "{}: {} of {} pairs have no score; `axioscope pairs --study` lists them all",
            scores.ranker.spec,
            scores.n_missing(),
            scores.scores_in_pair_order().len()
        );
    }
    scores
}

/// Mines the instances of a stored study again and returns their hash.
pub(crate) fn hash_remined_instances(
    stored: &Study,
    collection: Collection,
    folder: &Path,
) -> Result<String, Error> {
    let (mined, collection) = mine_defined(&stored.definition, collection, folder)?;
    let query_ids: Vec<&str> = collection.queries.iter().map(|it| it.id.as_str()).collect();
    Ok(mined.digest_instances(&query_ids, |doc| {
        collection.docs[doc as usize].id().to_owned()
    }))
}

/// Mines the instances of a study that has not been created. Also returns its collection, with the
/// additional queries and documents of transfer sets.
pub(crate) fn mine_study_from_definition(
    mut definition: StudyDefinition,
    collection: Collection,
    folder: &Path,
) -> Result<(MiningResult, Collection), Error> {
    read_vocabularies(&mut definition)?;
    mine_defined(&definition, collection, folder)
}

fn mine_defined(
    definition: &StudyDefinition,
    mut collection: Collection,
    folder: &Path,
) -> Result<(MiningResult, Collection), Error> {
    definition.remove_unused_collection_queries(&mut collection);
    let files = read_non_collection_inputs(definition, &collection, folder)?;
    let mut cores = ParallelExecutor::default();
    let prepared = PreparedCollection::prepare_for_study(definition, collection, files, &mut cores);
    let prepared = run_never_waiting_future(prepared)?;
    let (mined, _) = run_never_waiting_future(prepared.mine_all_queries(&mut cores))?;
    Ok((mined, prepared.collection))
}

/// Computes the missing scores of a stored study, and those that were computed with other weights
/// or another precision. Returns how many rankers were scored.
pub(crate) fn compute_missing_or_outdated_scores(
    study: &mut Study,
    folder: &Path,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<usize, Error> {
    let rankers = study.definition.rankers.clone();
    compute_missing_scores_of(study, MissingScores::here(&rankers), folder, data, models)
}

/// Does the same for the rankers that were trained for the study.
pub(crate) fn compute_scores_of_trained_rankers(
    study: &mut Study,
    folder: &Path,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<usize, Error> {
    let trained: Vec<String> = study.trainings.iter().map(|it| it.ranker.clone()).collect();
    compute_missing_scores_of(study, MissingScores::here(&trained), folder, data, models)
}

/// The rankers of a study whose missing scores are computed.
struct MissingScores<'a> {
    rankers: &'a [String],
    /// Returns the other machines that score, if there is something to score; `None` to score here.
    distribute: &'a dyn Fn() -> Result<Option<Arc<DistributedStudy>>, Error>,
}

impl MissingScores<'_> {
    fn here(rankers: &[String]) -> MissingScores<'_> {
        MissingScores {
            rankers,
            distribute: &|| Ok(None),
        }
    }
}

fn compute_missing_scores_of(
    study: &mut Study,
    MissingScores {
        rankers,
        distribute,
    }: MissingScores<'_>,
    folder: &Path,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<usize, Error> {
    let drafts = data.study_folder(&study.definition.name)?;
    let mut missing = Vec::new();
    let trained = study.trainings.iter().map(|it| &it.ranker);
    let mut order = Vec::new();
    for spec in study.definition.rankers.iter().chain(trained) {
        let ranker: RankerSpec = spec.parse()?;
        let name = ranker.canonical_spec(models);
        let stored = study.scores.iter().find(|it| it.ranker.spec == name);
        // Lexical rankers are not in `order` and stay first.
        if !matches!(ranker, RankerSpec::Lexical(_)) {
            order.push(name);
        }
        if !rankers.contains(spec) {
            continue;
        }
        if let Some(stored) = stored
            && stored.n_missing() == 0
            && is_of(&stored.ranker, &ranker, folder, models)?
        {
            continue;
        }
        missing.push(ranker);
    }
    if !missing.is_empty() {
        let collection = Collection {
            queries: study.queries.clone(),
            docs: study.docs.clone(),
            qrels: study.qrels.clone(),
        };
        let index = match missing.iter().any(RankerSpec::needs_term_statistics) {
            true => index_without_additions(study)?,
            false => Index::build(&study.definition.analyzer, [])?,
        };
        let texts = study.study_docs.clone();
        let pairs = study.pairs.clone();
        let distributed = distribute()?;
        let scoring = PairScoringInput {
            collection: &collection,
            index: &index,
            texts: &texts,
            pairs: &pairs,
            stability_sample: rescoring::select_pairs_to_rescore(&pairs, &study.instances),
            folder,
            partial_scores: Some(&drafts),
            distributed: distributed.as_deref(),
        };
        score_with_rankers(&scoring, &missing, models, |scores, draft| {
            let scores = told(scores);
            // A model that was replaced by one of another kind has another spec.
            let name = |spec: &str| spec.split(':').next().map(str::to_owned);
            let replaced = name(&scores.ranker.spec);
            let is_model = |it: &RankerQueryDocumentScores| {
                matches!(
                    it.ranker.kind,
                    RankerKind::FeatureBased | RankerKind::Neural
                )
            };
            study.scores.retain(|it| {
                let is_replaced = is_model(it) && name(&it.ranker.spec) == replaced;
                !is_replaced || order.contains(&it.ranker.spec)
            });
            let same = |it: &&mut RankerQueryDocumentScores| it.ranker.spec == scores.ranker.spec;
            match study.scores.iter_mut().find(same) {
                Some(stored) => *stored = scores,
                None => study.upsert_scores_by_fingerprint(scores)?,
            }
            let place = |it: &RankerQueryDocumentScores| {
                order.iter().position(|name| *name == it.ranker.spec)
            };
            study.scores.sort_by_key(place);
            files::save_study_with_stored_title(data, study)?;
            draft.delete_file()
        })?;
    }
    PartialScores::delete_unlocked_files(&drafts)?;
    Ok(missing.len())
}

/// Returns the index of the collection of a study, without the documents that the study added.
fn index_without_additions(study: &Study) -> Result<Index, Error> {
    let n_own = study.docs.len() - study.addition_counts.n_docs as usize;
    let texts = study.docs[..n_own].iter().map(Document::text_with_title);
    Ok(Index::build(&study.definition.analyzer, texts)?)
}

/// Returns whether stored scores are those of the current version of a ranker; if not, prints why
/// on standard error. Scores of a model or a score file that is not available are kept.
fn is_of(
    stored: &RankerInfo,
    ranker: &RankerSpec,
    folder: &Path,
    models: &ModelRegistry,
) -> Result<bool, Error> {
    if let RankerSpec::Scores(file) = ranker {
        let same = match read_score_file(file, folder) {
            Ok((_, scores)) => score_file_fingerprint(&scores) == stored.fingerprint,
            Err(error) => {
                eprintln!("{}: its stored scores stay ({error})", stored.spec);
                true
            }
        };
        if !same {
            eprintln!("{}: the file has changed, so it is read again", stored.spec);
        }
        return Ok(same);
    }
    let about = match (about(ranker, models), ranker) {
        (Err(error @ Error::Input(_)), RankerSpec::Model(_)) => {
            eprintln!(
                "{}: its stored scores stay, and cannot be compared with a model that is not \
                 here ({error})",
                stored.spec
            );
            return Ok(true);
        }
        (about, _) => about?,
    };
    let same = about
        .as_ref()
        .is_none_or(|it| it.fingerprint == stored.fingerprint);
    if !same {
        let detail = about.map_or_else(String::new, |it| it.detail);
        eprintln!(
            "{}: other weights or another precision have scored ({}), so it is scored again \
             ({detail})",
            stored.spec, stored.detail
        );
    }
    Ok(same)
}
