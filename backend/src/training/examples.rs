//! The candidates of queries: the documents that the qrels list, as the network reads them.

use std::collections::{BTreeMap, BTreeSet};

use neural::InteractionRanker;
use neural::training::{ExampleUnit, TrainingExamples};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use shared::collection::{Collection, Qrels, Run, RunEntry};
use shared::effectiveness::{EffectivenessMeasure, RunEvaluation, evaluate_run};
use shared::error::{Error as InputError, ErrorFieldName};
use shared::index::{DocNo, Index};
use shared::probe::ScoreClaim;
use shared::probe::mining::OriginalOrDerivedDocument;
use shared::rank::{Bm25, LexicalRanker};
use shared::score::lexical::score_lexically_for_query;
use shared::study::preparation::ParsedInputFiles;
use shared::text::Analyzer;
use shared::training::{EffectivenessControls, MeasureValues};

use super::pools::CandidatePools;
use super::ranker_in_training::RankerToEvaluate;
use super::request::InstanceAugmentation;
use super::{Augmentation, TrainingRequest};
use crate::collection_files::CollectionWithReadReport;
use crate::error::Error;
use crate::pipeline;
use crate::store::instances::{CollectionExternalIds, InstanceFileReader};

/// The measures of learning curves and results.
const MEASURES: [&str; 4] = ["AP", "RR", "RR@10", "nDCG@10"];

/// The numbers of repetitions of LNC2-All.
const REPETITIONS: [usize; 3] = [2, 3, 4];

/// The candidates of the queries to train on, to select with and to test on.
pub(super) struct CandidatesOfSplits {
    pub training: SplitCandidates,
    pub dev: SplitCandidates,
    pub test: Option<SplitCandidates>,
    /// The documents of the candidate pool.
    pub pools: CandidatePools,
    /// The run of the pool and the word vectors of the recipe.
    pub files: ParsedInputFiles,
}

impl CandidatesOfSplits {
    /// Selects the queries of all splits of a training, augments those to train on, and reads the
    /// run and the word vectors, if there are any.
    pub(super) fn select(
        request: &TrainingRequest,
        loaded: &CollectionWithReadReport,
        vectors: Option<&str>,
    ) -> Result<CandidatesOfSplits, Error> {
        let collection = &loaded.collection;
        let pools = CandidatePools::compute(&request.pool, collection, &loaded.folder)?;
        let select = |split: &str| SplitCandidates::select(collection, split, &pools);
        let mut training = select(&request.splits.train)?;
        training.augment(&request.augmentation, collection)?;
        let dev = select(&request.splits.dev)?;
        let test = request.splits.test.as_deref().map(select).transpose()?;
        let (pool, folder) = (&request.pool, &loaded.folder);
        let files = pipeline::read_run_and_word_vectors(pool, vectors, collection, folder)?;
        Ok(CandidatesOfSplits {
            training,
            dev,
            test,
            pools,
            files,
        })
    }
}

/// The queries of a split with their candidates.
pub(super) struct SplitCandidates {
    /// The number of each query in the collection.
    pub queries: Vec<usize>,
    /// Query (its place in `queries`), document and grade of each candidate; adjacent for a query,
    /// except for those of instances, which are last and have the grade 0.
    pub rows: Vec<CandidateRow>,
    /// The number of rows before those of instances.
    n_candidates: usize,
    preferences: Vec<InstancePreferences>,
}

/// Preferences of instances: the row that should have the higher score, and another one.
struct InstancePreferences {
    pairs: Vec<(usize, usize)>,
    weight: f64,
}

/// A candidate of a query.
#[derive(Clone, Copy)]
pub(super) struct CandidateRow {
    /// The place of the query.
    pub query: usize,
    /// The number of the document in the collection.
    pub doc: usize,
    /// The grade in the qrels.
    pub grade: i32,
    /// How often the document is repeated; 1 for the document itself.
    pub times: usize,
}

impl SplitCandidates {
    /// Selects the queries of a split that have a relevant document, with all documents that the
    /// qrels list for them or their pool has. Documents that the collection lacks are left out.
    pub(super) fn select(
        collection: &Collection,
        split: &str,
        pools: &CandidatePools,
    ) -> Result<SplitCandidates, Error> {
        let numbers = collection.doc_numbers_by_id();
        let mut selected = SplitCandidates {
            queries: Vec::new(),
            rows: Vec::new(),
            n_candidates: 0,
            preferences: Vec::new(),
        };
        for (number, query) in collection.queries.iter().enumerate() {
            let grades = collection.qrels.0.get(&query.id);
            let Some(grades) = grades.filter(|_| query.split.as_deref() == Some(split)) else {
                continue;
            };
            let known = grades
                .iter()
                .filter_map(|(doc, grade)| Some((*numbers.get(doc.as_str())? as usize, *grade)));
            let mut known: BTreeMap<usize, i32> = known.collect();
            if known.values().any(|it| *it > 0) {
                for doc in pools.docs_of_query(number) {
                    known.entry(*doc as usize).or_insert(0);
                }
                let query = selected.queries.len();
                selected
                    .rows
                    .extend(known.into_iter().map(|(doc, grade)| CandidateRow {
                        query,
                        doc,
                        grade,
                        times: 1,
                    }));
                selected.queries.push(number);
            }
        }
        selected.n_candidates = selected.rows.len();
        match selected.queries.is_empty() {
            false => Ok(selected),
            true => {
                let splits: BTreeSet<&str> = collection
                    .queries
                    .iter()
                    .filter_map(|it| it.split.as_deref())
                    .collect();
                let known = match splits.is_empty() {
                    true => "no query of the collection has a split".to_owned(),
                    false => {
                        let names: Vec<&str> = splits.into_iter().collect();
                        format!("its splits are {}", names.join(", "))
                    }
                };
                let reason = format!(
                    "`{split}` has no query with a relevant document in the collection; {known}"
                );
                Err(InputError::unsupported_value("split", reason).into())
            }
        }
    }

    /// Adds what a training is augmented with.
    pub(super) fn augment(
        &mut self,
        augmentation: &Augmentation,
        collection: &Collection,
    ) -> Result<(), Error> {
        if augmentation.repeats_documents {
            let repeated = self
                .rows
                .iter()
                .flat_map(|&row| REPETITIONS.map(|times| CandidateRow { times, ..row }));
            let mut rows: Vec<CandidateRow> = repeated.collect();
            rows.extend(&self.rows);
            rows.sort_by_key(|it| (it.query, it.times));
            self.n_candidates = rows.len();
            self.rows = rows;
        }
        let mut instances = augmentation.instances.iter();
        instances.try_for_each(|it| self.add_instances(it, collection))
    }

    /// Adds the instances of the queries with a preference for one of two documents.
    fn add_instances(
        &mut self,
        instances: &InstanceAugmentation,
        collection: &Collection,
    ) -> Result<(), Error> {
        let file = instances.file.display();
        let refuse = |reason: &str| -> Error {
            let field = ErrorFieldName::with_display_name("instances", &file);
            InputError::unsupported_value(field, reason).into()
        };
        let ids = CollectionExternalIds {
            queries: collection.queries.iter().map(|it| it.id.as_str()).collect(),
            docs: collection.docs.iter().map(|it| it.id()).collect(),
        };
        let (mined, origin) =
            InstanceFileReader::open(&instances.file, &ids)?.read_mining_result(&ids)?;
        let hash = collection.content_hash_of_first_queries(origin.n_queries);
        if origin.collection_hash != hash {
            return Err(refuse("was mined from another version of the collection"));
        }
        let rows = self.rows.iter().enumerate();
        let mut row_of: BTreeMap<(usize, usize, usize), usize> = rows
            .map(|(at, it)| ((it.query, it.doc, it.times), at))
            .collect();
        let mut pairs = Vec::new();
        for (query, &number) in self.queries.iter().enumerate() {
            let claims = mined
                .instances
                .iter()
                .flat_map(|it| it.claims_of_query(number));
            for claim in claims {
                let preference = match claim {
                    ScoreClaim::Higher { winner, loser }
                    | ScoreClaim::NotLower { winner, loser } => [winner, loser],
                    ScoreClaim::Different { .. } | ScoreClaim::DiminishingGain { .. } => continue,
                };
                let [winner, loser] = preference.map(|it| {
                    let (doc, times) = match mined.study_docs[it as usize] {
                        OriginalOrDerivedDocument::Original { doc } => (doc, 1),
                        OriginalOrDerivedDocument::Repeated { doc, times } => (doc, times),
                    };
                    let (doc, times) = (doc as usize, times as usize);
                    *row_of.entry((query, doc, times)).or_insert_with(|| {
                        self.rows.push(CandidateRow {
                            query,
                            doc,
                            grade: 0,
                            times,
                        });
                        self.rows.len() - 1
                    })
                });
                pairs.push((winner, loser));
            }
        }
        if pairs.is_empty() {
            return Err(refuse(
                "has no instance of the training queries that prefers one of two documents",
            ));
        }
        self.preferences.push(InstancePreferences {
            pairs,
            weight: instances.weight,
        });
        Ok(())
    }

    /// Returns the examples with all documents of lower grade as negatives; rows are indices of
    /// `rows`.
    pub(super) fn examples(&self, unit: ExampleUnit) -> TrainingExamples {
        let mut by_query: Vec<Vec<(usize, i32)>> = vec![Vec::new(); self.queries.len()];
        for (row, it) in self.rows[..self.n_candidates].iter().enumerate() {
            by_query[it.query].push((row, it.grade));
        }
        unit.examples_from_grades(&by_query)
    }

    /// Adds the preferences of instances, in proportion to the number of examples.
    pub(super) fn add_preferences(
        &self,
        mut examples: TrainingExamples,
    ) -> Result<TrainingExamples, Error> {
        match &mut examples {
            TrainingExamples::Pairs(pairs) => {
                let n_judged = pairs.len();
                for InstancePreferences { pairs: all, weight } in &self.preferences {
                    // Evenly spread over the instances, or each of them several times.
                    let n = (n_judged as f64 * weight).ceil() as usize;
                    pairs.extend((0..n).map(|it| all[it * all.len() / n]));
                }
                Ok(examples)
            }
            TrainingExamples::Groups(_) if self.preferences.is_empty() => Ok(examples),
            TrainingExamples::Groups(_) => {
                let reason =
                    "is `positive` or `query`, but instances are pairs; add --set unit=pair";
                Err(InputError::conflicting_value("sampling.unit", reason).into())
            }
        }
    }

    /// Returns the ids of the query and the document of a row.
    pub(super) fn ids_of_row<'a>(
        &self,
        collection: &'a Collection,
        row: usize,
    ) -> (&'a str, &'a str) {
        let CandidateRow { query, doc, .. } = self.rows[row];
        let query = &collection.queries[self.queries[query]].id;
        (query, collection.docs[doc].id())
    }

    /// Names the document and the query of a row.
    pub(super) fn describe_row(&self, collection: &Collection, row: usize) -> String {
        let (query, doc) = self.ids_of_row(collection, row);
        format!("document `{doc}` for query `{query}`")
    }

    /// Adds ids and grades of all candidates to a hash of the training data.
    pub(super) fn add_to_hash(&self, collection: &Collection, hash: &mut Sha256) {
        for (at, row) in self.rows.iter().enumerate() {
            let (query, doc) = self.ids_of_row(collection, at);
            for id in [query, doc] {
                hash.update((id.len() as u64).to_le_bytes());
                hash.update(id);
            }
            hash.update(row.grade.to_le_bytes());
            hash.update((row.times as u64).to_le_bytes());
        }
        for preferences in &self.preferences {
            hash.update(preferences.weight.to_le_bytes());
            for (winner, loser) in &preferences.pairs {
                hash.update((*winner as u64).to_le_bytes());
                hash.update((*loser as u64).to_le_bytes());
            }
        }
        hash.update([0]);
    }
}

/// The candidates of a split as a ranker reads them, with their qrels.
pub(super) struct PreparedCandidates<'a, R: RankerToEvaluate> {
    collection: &'a Collection,
    candidates: SplitCandidates,
    /// In the order of the candidates.
    pub pairs: Vec<R::Pair>,
    qrels: Qrels,
}

impl<'a, R: RankerToEvaluate> PreparedCandidates<'a, R> {
    pub(super) fn prepare(
        collection: &'a Collection,
        candidates: SplitCandidates,
        ranker: &R,
    ) -> Result<PreparedCandidates<'a, R>, Error> {
        let with_titles = ranker.reads_titles();
        let prepare = |row: &CandidateRow| {
            let query = &collection.queries[candidates.queries[row.query]].text;
            let body = collection.docs[row.doc].text_with_optional_title(with_titles);
            let document = OriginalOrDerivedDocument::Repeated {
                doc: row.doc as DocNo,
                times: row.times as u32,
            };
            ranker.prepare_pair(query, &document.text_to_score(body))
        };
        let mut qrels = Qrels::default();
        for row in candidates.rows.iter().filter(|it| it.times == 1) {
            let query = &collection.queries[candidates.queries[row.query]].id;
            let grades = qrels.0.entry(query.clone()).or_default();
            grades.insert(collection.docs[row.doc].id().to_owned(), row.grade);
        }
        let pairs = candidates.rows.par_iter().map(prepare);
        Ok(PreparedCandidates {
            pairs: pairs.collect::<Result<_, Error>>()?,
            collection,
            candidates,
            qrels,
        })
    }

    /// Evaluates the ranking of the candidates by the ranker.
    pub(super) fn evaluate(&self, ranker: &R) -> Result<RunEvaluation, Error> {
        let pairs: Vec<&R::Pair> = self.pairs.iter().collect();
        Ok(self.evaluate_scores(&ranker.score_pairs(&pairs)?))
    }

    /// Evaluates the ranking by a score for each candidate.
    fn evaluate_scores(&self, scores: &[f64]) -> RunEvaluation {
        let mut run = Run::default();
        let rows = self.candidates.rows.iter().zip(scores);
        for (row, &score) in rows.filter(|it| it.0.times == 1) {
            let query = &self.collection.queries[self.candidates.queries[row.query]].id;
            run.0.entry(query.clone()).or_default().push(RunEntry {
                doc: self.collection.docs[row.doc].id().to_owned(),
                rank: 0,
                score,
            });
        }
        let measures = MEASURES.map(|it| {
            it.parse::<EffectivenessMeasure>()
                .expect("these are names of measures")
        });
        evaluate_run(&self.qrels, &run, &measures).expect("every query has candidates")
    }

    /// Scores the candidates with BM25, with the statistics of the whole collection.
    fn bm25_scores(&self, with_titles: bool) -> Result<Vec<f64>, Error> {
        let docs = self.collection.docs.iter();
        let texts = docs.map(|it| it.text_with_optional_title(with_titles));
        let index = Index::build(&Analyzer::default(), texts)?;
        let bm25 = LexicalRanker::Bm25(Bm25::DEFAULT);
        let of_query = |rows: &[CandidateRow]| {
            let query = &self.collection.queries[self.candidates.queries[rows[0].query]];
            let docs = rows.iter().map(|it| OriginalOrDerivedDocument::Original {
                doc: it.doc as DocNo,
            });
            score_lexically_for_query(&index, &bm25, &query.text, docs)
        };
        let rows: Vec<&[CandidateRow]> = self
            .candidates
            .rows
            .chunk_by(|a, b| a.query == b.query)
            .collect();
        Ok(rows.into_par_iter().flat_map_iter(of_query).collect())
    }

    /// Evaluates rankings of the same candidates by other scores, see [`EffectivenessControls`].
    /// `training` are the candidates of the training queries.
    pub(super) fn evaluate_controls(
        &self,
        ranker: &R,
        training: Option<&SplitCandidates>,
        seed: u64,
    ) -> Result<EffectivenessControls, Error> {
        let queries = &self.candidates.queries;
        let with_titles = ranker.reads_titles();
        let text = |doc: usize| self.collection.docs[doc].text_with_optional_title(with_titles);
        let others = neural::training::random_cycle(queries.len(), seed);
        let swap = |row: &CandidateRow| {
            let other = &self.collection.queries[queries[others[row.query]]];
            ranker.prepare_pair(&other.text, text(row.doc))
        };
        let swapped = self.candidates.rows.par_iter().map(swap);
        let swapped: Vec<R::Pair> = swapped.collect::<Result<_, Error>>()?;
        let swapped = ranker.score_pairs(&swapped.iter().collect::<Vec<_>>())?;
        let bm25 = self.bm25_scores(with_titles)?;
        let rows = self.candidates.rows.iter();
        let lengths = rows.map(|it| InteractionRanker::words_of(text(it.doc)).len() as f64);
        let lengths: Vec<f64> = lengths.collect();
        let negative: Vec<f64> = lengths.iter().map(|it| -it).collect();
        let mean = |scores: &[f64]| measure_values(&self.evaluate_scores(scores).mean);
        let training_rows = training.iter().flat_map(|it| &it.rows[..it.n_candidates]);
        let known: BTreeSet<&str> = training_rows.map(|it| text(it.doc)).collect();
        let rows = self.candidates.rows.iter();
        let n_known = rows.filter(|it| known.contains(text(it.doc))).count() as u64;
        Ok(EffectivenessControls {
            swapped_queries: mean(&swapped),
            longest_first: mean(&lengths),
            shortest_first: mean(&negative),
            constant_score: mean(&vec![0.0; lengths.len()]),
            bm25: mean(&bm25),
            standard_error: MeasureValues::new(),
            n_queries: queries.len() as u64,
            candidates_and_those_in_training: [lengths.len() as u64, n_known],
        })
    }

    /// Returns the candidates in the order of `pairs`.
    pub(super) fn candidates(&self) -> &SplitCandidates {
        &self.candidates
    }
}

/// Names the values of [`MEASURES`].
pub(super) fn measure_values(values: &[f64]) -> MeasureValues {
    let named = MEASURES.iter().zip(values);
    named
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

/// Returns the standard error over queries of each mean: the standard deviation over the square
/// root of the number of queries; 0 for one query.
pub(super) fn standard_errors(evaluation: &RunEvaluation) -> MeasureValues {
    let n = evaluation.per_query.len() as f64;
    let of_measure = |(at, mean): (usize, &f64)| {
        let values = evaluation.per_query.values().map(|it| it[at]);
        let squares: f64 = values.map(|it| (it - mean) * (it - mean)).sum();
        (squares / (n - 1.0).max(1.0) / n).sqrt()
    };
    let errors: Vec<f64> = evaluation.mean.iter().enumerate().map(of_measure).collect();
    measure_values(&errors)
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use shared::collection::{Document, DocumentFields, Query};
    use shared::probe::CandidatePoolSpec;

    use super::*;

    /// Returns documents with their ids, and a training query with the relevant document `good` and
    /// the judged document `bad`.
    pub(in super::super) fn collection_of_one_query(docs: &[(&str, &str)]) -> Collection {
        let document = |(id, text): &(&str, &str)| {
            Document::from(DocumentFields {
                id: (*id).into(),
                text: (*text).into(),
                ..DocumentFields::default()
            })
        };
        let query = Query {
            id: "q".to_owned(),
            text: "river".to_owned(),
            group: None,
            split: Some("train".to_owned()),
        };
        let grades = BTreeMap::from([("good".to_owned(), 1), ("bad".to_owned(), 0)]);
        Collection {
            queries: vec![query],
            docs: docs.iter().map(document).collect(),
            qrels: Qrels(BTreeMap::from([("q".to_owned(), grades)])),
        }
    }

    #[test]
    fn repeated_documents_are_examples_with_their_grade() {
        let collection = collection_of_one_query(&[("good", "a river"), ("bad", "a river")]);
        let pool = CandidatePoolSpec::Judged;
        let pools = CandidatePools::compute(&pool, &collection, Path::new(".")).unwrap();
        let mut candidates = SplitCandidates::select(&collection, "train", &pools).unwrap();
        assert_eq!(candidates.examples(ExampleUnit::Pair).len(), 1);
        let augmentation = Augmentation {
            repeats_documents: true,
            instances: Vec::new(),
        };
        candidates.augment(&augmentation, &collection).unwrap();
        let of_document = |doc: usize| -> Vec<(usize, i32)> {
            let rows = candidates.rows.iter().filter(|it| it.doc == doc);
            rows.map(|it| (it.times, it.grade)).collect()
        };
        assert_eq!(of_document(0), [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(of_document(1), [(1, 0), (2, 0), (3, 0), (4, 0)]);
        // Each relevant one with each other, whatever their repetitions.
        let TrainingExamples::Pairs(pairs) = candidates.examples(ExampleUnit::Pair) else {
            panic!("they are pairs")
        };
        assert_eq!(pairs.len(), 16);
        for (positive, negative) in pairs {
            assert_eq!(candidates.rows[positive].grade, 1);
            assert_eq!(candidates.rows[negative].grade, 0);
        }
    }
}
