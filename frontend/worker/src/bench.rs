//! What is on the bench: files that were read, and studies that are held.

use std::collections::BTreeMap;
use std::sync::Arc;

use shared::api::Problem;
use shared::api::worker::{LOCAL, Made, Stage, Tell};
use shared::collection::Splits;
use shared::collection::trec::{BroughtScores, Unknown};
use shared::collection::{Collection, Doc, Run};
use shared::error::Error;
use shared::probe::Pool;
use shared::probe::transfer::Pairs;
use shared::rank::Ranker;
use shared::score::Scores;
use shared::study::make::{StudyInputs, make_study};
use shared::study::prepare::{self, Executor, InputFiles, Progress};
use shared::study::{Definition, Study, TransferFile};
use shared::vectors::Vectors;

use crate::answer::{self, refused};
use crate::file::{Holds, Kept};
use crate::post::{self, Clock, Said};
use crate::{BENCH, memory, not_held};

/// Everything the worker knows.
#[derive(Default)]
pub(crate) struct Bench {
    /// By name.
    pub(crate) files: BTreeMap<String, Kept>,
    /// By name; [`LOCAL`] was made here.
    pub(crate) studies: BTreeMap<String, Study>,
    /// The last piece of work that was to stop.
    pub(crate) cancelled: Option<u64>,
    /// What is to be said of the local study, beside its overview.
    remarks: Vec<String>,
    memory: Memory,
}

/// Whether the browser was asked for the study of an earlier visit.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Memory {
    #[default]
    Unasked,
    Asked,
}

impl Bench {
    /// The study that was made here.
    pub(crate) fn local(&self) -> Result<&Study, Problem> {
        self.studies.get(LOCAL).ok_or_else(|| not_held(LOCAL))
    }

    /// The study that was made here, if its texts are here.
    pub(crate) fn local_with_texts(&self) -> Result<&Study, Problem> {
        let study = self.local()?;
        study.needs_texts().map_err(refused)?;
        Ok(study)
    }

    /// Puts the texts of a study back.
    pub(crate) fn restore(&mut self, name: &str, copy: &[Doc]) -> Result<(), Problem> {
        let study = self.studies.get_mut(name).ok_or_else(|| not_held(name))?;
        study.restore(copy).map_err(refused)
    }

    /// What the local study holds, if there is one.
    pub(crate) fn made(&self) -> Option<Made> {
        self.studies.get(LOCAL).map(|study| Made {
            hash: study.instances_hash.clone(),
            n_queries: study.queries.len() as u64,
            n_docs: study.totals.n_docs,
            n_instances: study.instances.iter().map(|it| it.len() as u64).sum(),
            n_pairs: study.pairs.len() as u64,
            rankers: study.scores.iter().map(|it| it.ranker.clone()).collect(),
            remarks: self.remarks.clone(),
        })
    }

    /// Holds a study that was made elsewhere.
    pub(crate) fn hold(&mut self, name: String, file: &str, text: &str) -> Result<Tell, Problem> {
        let mut study = Study::from_json(file, text).map_err(refused)?;
        study.definition.name.clone_from(&name);
        let local = name == LOCAL;
        self.studies.insert(name, study);
        if !local {
            return Ok(Tell::Done);
        }
        self.memory = Memory::Asked;
        self.remarks.clear();
        Ok(self.made().map_or(Tell::Done, Tell::Made))
    }

    /// Adds what a job has scored for the study whose hash begins with `of`.
    pub(crate) fn merge(&mut self, of: &str, text: &str) -> Result<Tell, Problem> {
        let study = self.local()?;
        if !study.instances_hash.starts_with(of) {
            let error = "this job scored another study than the one on the bench now, so its \
                         scores do not fit; make that study again to take them";
            return Err(Problem::new(error, "conflict"));
        }
        let scores = answer::job_scores(study, text)?;
        self.add(scores)
    }

    /// Adds scores that somebody brought.
    pub(crate) fn bring(&mut self, name: &str, brought: &BroughtScores) -> Result<Tell, Problem> {
        let scores = answer::brought_scores(self.local()?, name, brought)?;
        self.add(scores)
    }

    /// Adds a ranker, in place of the same one.
    fn add(&mut self, scores: Scores) -> Result<Tell, Problem> {
        let study = self.studies.get_mut(LOCAL).ok_or_else(|| not_held(LOCAL))?;
        let fingerprint = &scores.ranker.fingerprint;
        match study
            .scores
            .iter_mut()
            .find(|it| it.ranker.fingerprint == *fingerprint)
        {
            Some(place) => *place = scores,
            None => {
                study.definition.rankers.push(scores.ranker.spec.clone());
                study.scores.push(scores);
            }
        }
        Ok(self.made().map_or(Tell::Done, Tell::Made))
    }

    /// The texts of all files.
    pub(crate) fn docs(&self) -> Vec<Doc> {
        let held = self.files.values().filter_map(|it| match &it.holds {
            Holds::Docs(docs) => Some(docs),
            _ => None,
        });
        held.flatten().cloned().collect()
    }

    /// All files as one collection.
    fn collection(&self) -> Result<Collection, Problem> {
        let mut all = Collection::default();
        let mut splits = Splits::new();
        for kept in self.files.values() {
            match &kept.holds {
                Holds::Docs(docs) => all.docs.extend(docs.iter().cloned()),
                Holds::Queries(queries) => all.queries.extend(queries.iter().cloned()),
                Holds::Qrels(qrels) => {
                    for (query, grades) in &qrels.0 {
                        let known = all.qrels.0.entry(query.clone()).or_default();
                        known.extend(grades.iter().map(|it| (it.0.clone(), *it.1)));
                    }
                }
                Holds::Splits(of) => {
                    splits.extend(of.iter().map(|it| (it.0.clone(), it.1.clone())));
                }
                Holds::Run(_) | Holds::Vectors(_) | Holds::Pairs(_) => (),
            }
        }
        all.set_splits(&splits);
        once("text", all.docs.iter().map(|it| it.id.as_str()))?;
        once("query", all.queries.iter().map(|it| it.id.as_str()))?;
        Ok(all)
    }

    /// The run that a pool is taken from.
    fn run_of(&self, pool: &Pool) -> Result<Option<Run>, Problem> {
        let Pool::Run { file, .. } = pool else {
            return Ok(None);
        };
        match self.files.get(file).map(|it| &it.holds) {
            Some(Holds::Run(run)) => Ok(Some(run.clone())),
            Some(_) | None => {
                let error =
                    format!("pool {pool}: there is no run `{file}`; bring it, or change the pool");
                Err(Problem::new(error, "setting"))
            }
        }
    }

    /// The word vectors that a study names.
    fn vectors_of(&self, definition: &Definition) -> Option<Arc<Vectors>> {
        let file = definition.vectors.as_ref()?;
        match &self.files.get(file)?.holds {
            Holds::Vectors(vectors) => Some(Arc::clone(vectors)),
            _ => None,
        }
    }

    /// The pairs of the transfer sets that a study names.
    fn sets_of(&self, definition: &Definition) -> Result<Vec<Pairs>, Problem> {
        let set = |file: &TransferFile| match self.files.get(&file.file).map(|it| &it.holds) {
            Some(Holds::Pairs(pairs)) => Ok(Pairs {
                of: file.transfer().map_err(refused)?,
                inference: file.queries,
                pairs: pairs.clone(),
            }),
            Some(_) | None => {
                let error = format!("there are no pairs `{}`; bring them", file.file);
                Err(Problem::new(error, "setting"))
            }
        };
        definition.transfers.iter().map(set).collect()
    }

    /// What files name and the collection does not have.
    fn unknown(&self, collection: &Collection) -> Vec<String> {
        let files = self.files.iter();
        let said = files.filter_map(|(name, kept)| {
            let unknown = match &kept.holds {
                Holds::Qrels(qrels) => Unknown::in_qrels(qrels, collection),
                Holds::Run(run) => Unknown::in_run(run, collection),
                Holds::Docs(_) | Holds::Queries(_) | Holds::Vectors(_) => return None,
                Holds::Pairs(_) => return None,
                Holds::Splits(splits) => Unknown::in_splits(splits, collection),
            };
            (!unknown.is_empty()).then(|| format!("{name}: {unknown}"))
        });
        said.collect()
    }
}

/// Refuses an id that two files give.
pub(crate) fn once<'a>(what: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            let error = format!("two files have a {what} with id `{id}`; remove one of the files");
            return Err(Problem::new(error, "input"));
        }
    }
    Ok(())
}

/// Makes the local study; gives way to other messages between steps.
pub(crate) async fn make(
    number: u64,
    definition: Definition,
    made: String,
) -> Result<Tell, Problem> {
    let (inputs, remarks) = BENCH.with_borrow(|it| begin(it, definition, made))?;
    let mut steps = Steps {
        number,
        clock: Clock::new(number),
    };
    let study = match make_study(inputs, &mut steps).await {
        Ok(study) => study,
        Err(End::Cancelled) => return Ok(Tell::Stopped),
        Err(End::Refused(error)) => return Err(refused(error)),
    };
    let tell = BENCH.with_borrow_mut(|it| {
        it.studies.insert(LOCAL.to_owned(), study);
        it.remarks = remarks;
        it.memory = Memory::Asked;
        it.made().map_or(Tell::Done, Tell::Made)
    });
    remember().await;
    Ok(tell)
}

/// Computes one shard after the other, and lets other messages in between.
struct Steps {
    /// Of the message that asked for the study.
    number: u64,
    clock: Clock,
}

/// Why a study is not made.
enum End {
    Cancelled,
    Refused(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Refused(error)
    }
}

impl Executor for Steps {
    type Error = End;

    async fn report(&mut self, progress: Progress) -> Result<(), End> {
        let Progress {
            stage,
            done,
            of,
            n_found,
        } = progress;
        let (stage, found) = match stage {
            prepare::Stage::Index => (Stage::Index, None),
            prepare::Stage::Derive => (Stage::Make, None),
            prepare::Stage::Mine => (Stage::Mine, Some(n_found)),
            prepare::Stage::AuditIndex => (Stage::Audit, None),
            // The page counts an audit in documents.
            prepare::Stage::Audit => return Ok(()),
            prepare::Stage::Score => (Stage::Score, None),
        };
        if self.clock.at(stage, done, of, found) == Said::Yes {
            post::give_way().await;
            if BENCH.with_borrow(|it| it.cancelled == Some(self.number)) {
                return Err(End::Cancelled);
            }
        }
        Ok(())
    }
}

fn begin(
    bench: &Bench,
    definition: Definition,
    made: String,
) -> Result<(StudyInputs, Vec<String>), Problem> {
    let collection = bench.collection()?;
    let remarks = bench.unknown(&collection);
    let files = InputFiles {
        run: bench.run_of(&definition.pool)?,
        vectors: bench.vectors_of(&definition),
        sets: bench.sets_of(&definition)?,
        ..InputFiles::default()
    };
    let rankers = definition.rankers.iter().map(|it| it.parse());
    let rankers = rankers.collect::<Result<Vec<Ranker>, Error>>();
    let inputs = StudyInputs {
        rankers: rankers.map_err(refused)?,
        definition,
        collection,
        files,
        made,
    };
    Ok((inputs, remarks))
}

/// Looks once for the local study of an earlier visit.
pub(crate) async fn recall() -> Result<(), Problem> {
    let known = || BENCH.with_borrow(|it| it.studies.contains_key(LOCAL));
    if known() || BENCH.with_borrow(|it| it.memory == Memory::Asked) {
        return Ok(());
    }
    // Several questions may wait here at once; each looks, so that none is answered too early.
    let text = memory::recall().await;
    BENCH.with_borrow_mut(|it| it.memory = Memory::Asked);
    // What an earlier version has kept may be unreadable now; then there is no study.
    match text.map(|it| Study::from_json(LOCAL, &it)) {
        Some(Ok(study)) if !known() => {
            BENCH.with_borrow_mut(|it| it.studies.insert(LOCAL.to_owned(), study));
        }
        Some(Err(error)) => web_sys::console::warn_1(&error.to_string().into()),
        Some(Ok(_)) | None => {}
    }
    Ok(())
}

/// Keeps the local study for a later visit.
pub(crate) async fn remember() {
    let text = BENCH.with_borrow(|it| it.studies.get(LOCAL).map(serde_json::to_string));
    if let Some(Ok(text)) = text {
        memory::keep(&text).await;
    }
}
