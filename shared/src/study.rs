//! A study: a collection, probes with their limits, rankers and a candidate pool, with everything
//! that is shown of it, computed from its instances and scores.
//!
//! [`StudyDefinition`] is what a user writes, [`Study`] is the result. The backend stores a study
//! in columns on disk, a static host serves it as one file. Both load it into this type and answer
//! with the functions of `study/`, so a page shows the same numbers with and without a server.

mod measures;
mod definition;
pub mod trained_rankers;
pub mod preparation;
pub mod build;
mod validation;
pub mod controls;
pub mod score_stability;
pub mod overview;
pub mod findings;
pub mod behavioral_tests;
pub mod analyzer_audit;
pub mod export;
pub mod figures;
pub mod repair;
pub mod verdict_diff;
pub mod baseline;
pub mod study_comparison;
pub mod instance_list;
pub mod instance_details;
pub mod top_documents;
pub mod playground;
pub mod withheld_texts;
pub mod sliced;
#[cfg(test)]
pub(crate) mod fixture;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::collection::{Document, Qrels, Query};
use crate::error::{Error, ErrorFieldName, InvalidFieldReason};
use crate::index::DocumentAndTermTotals;
pub use crate::index::term_statistics::TermStatistics;
use crate::probe::additions::AddedDocAndQueryCounts;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::probe::transfer::UsedAndSkippedPairCounts;
use crate::probe::{Probe, ProbeInstances, StudyDocNo};
use crate::rank::LexicalRanker;
use crate::score::slug::{parse_ranker_slug_or_position, ranker_slugs};
use crate::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use crate::word_vectors::{WordVectors, WordVectorsInfo};
use analyzer_audit::InstanceRetentionUnderAnalyzer;
pub use definition::{
    ManipulationLookupFiles, ParsedStudyFile, StudyDefinition, TransferSetFile, validate_study_name,
};
pub use trained_rankers::StudyTraining;
use trained_rankers::TrainedRankerRecord;
use withheld_texts::WithheldTextHashesAndLengths;

/// A study with all the data that is needed to show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Study {
    /// The version of this layout; 1.
    pub format: u32,
    /// The definition it was made from.
    pub definition: StudyDefinition,
    /// When its instances were mined: `2026-11-20`.
    #[serde(alias = "made")]
    pub created: String,
    /// Version of the software that mined them.
    pub software: String,
    /// [`crate::collection::Collection::content_hash`].
    pub collection_hash: String,
    /// [`crate::probe::mining::MiningResult::digest_instances`].
    pub instances_hash: String,
    /// Totals of the whole collection.
    pub totals: DocumentAndTermTotals,
    /// df and cf, in the whole collection, of the terms of the study's documents and queries.
    pub terms: BTreeMap<String, TermStatistics>,
    /// The queries, in file order.
    pub queries: Vec<Query>,
    /// The documents of all pools.
    #[schema(value_type = Vec<crate::collection::DocumentFields>)]
    pub docs: Vec<Document>,
    /// Grades of the pooled documents and of the other judged documents of these queries.
    pub qrels: Qrels,
    /// The documents of `docs` and the documents derived from them.
    #[serde(alias = "texts")]
    pub study_docs: Vec<OriginalOrDerivedDocument>,
    /// For each query the documents that are compared, best first where the pool has an order.
    pub pools: Vec<Vec<StudyDocNo>>,
    /// One entry for each axiom and variant.
    pub instances: Vec<ProbeInstances>,
    /// The pairs that were scored: those of the pools and of all instances.
    pub pairs: QueryDocumentPairs,
    /// One entry for each ranker.
    pub scores: Vec<RankerQueryDocumentScores>,
    /// The number of documents that the pool names and the collection lacks.
    #[serde(default)]
    #[serde(alias = "n_without_text")]
    pub n_docs_without_text: u64,
    /// Word vectors, if the definition names a file of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "words")]
    pub word_vectors: Option<StudyWordVectors>,
    /// For each query the mean share of its distinct terms that its relevant documents contain;
    /// `None` if the collection has no relevant document for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(alias = "overlap")]
    pub query_overlap: Vec<Option<f64>>,
    /// One entry for each analyzer of [`StudyDefinition::audit`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audits: Vec<InstanceRetentionUnderAnalyzer>,
    /// What is known of texts that are withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "withheld")]
    pub withheld_texts: Option<WithheldTextHashesAndLengths>,
    /// How many documents and queries at the end of the lists were added to those of the
    /// collection.
    #[serde(default)]
    #[serde(alias = "added")]
    pub addition_counts: AddedDocAndQueryCounts,
    /// The SHA-256 of each file that the definition names besides the collection, by its name in
    /// the definition; empty if they are not known, as of a study that was made in the browser.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub input_checksums: BTreeMap<String, String>,
    /// The number of pairs of each transfer set that were used or left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(alias = "kept")]
    pub transfer_pair_counts: Vec<(Probe, UsedAndSkippedPairCounts)>,
    /// One entry for each ranker that was trained for the study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trainings: Vec<TrainedRankerRecord>,
    /// Cached lengths of the documents; never written.
    #[serde(skip)]
    pub lengths: controls::CachedDocumentLengths,
}

/// Word vectors of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyWordVectors {
    /// A description of the whole file.
    #[serde(alias = "about")]
    pub info: WordVectorsInfo,
    /// The vectors of the words in the study's documents and queries.
    #[schema(value_type = Object)]
    pub vectors: WordVectors,
}

impl Study {
    /// Returns the name of each ranker in addresses, in the order of `scores`.
    pub fn ranker_slugs(&self) -> Vec<String> {
        ranker_slugs(self.scores.iter().map(|it| &it.ranker))
    }

    /// Returns the row of a ranker, given its slug or the row as text. The error of an unknown
    /// ranker lists the slugs.
    pub fn parse_ranker_row_index(&self, name: &str) -> Result<usize, Error> {
        let slugs = self.ranker_slugs();
        parse_ranker_slug_or_position(slugs.iter().map(String::as_str), name)
    }

    /// Returns the row of a ranker, given what a person types: its spec, which may be short, such
    /// as `bm25`, its label, its slug, its row, or the beginning of the spec of one ranker only.
    pub fn find_ranker(&self, typed: &str) -> Result<usize, Error> {
        // A short spec is expanded to `bm25:k1=1.2,b=0.75,…`.
        let lexical = typed.parse::<LexicalRanker>().map(|it| it.to_string());
        let spec = lexical.unwrap_or_else(|_| typed.to_owned());
        let is_named =
            |it: &RankerQueryDocumentScores| it.ranker.spec == spec || it.ranker.label == typed;
        if let Some(row) = self.scores.iter().position(is_named) {
            return Ok(row);
        }
        let specs = self.scores.iter().map(|it| &it.ranker.spec).enumerate();
        let begins = specs.filter_map(|(row, it)| it.starts_with(typed).then_some(row));
        let begins: Vec<usize> = begins.collect();
        match (self.parse_ranker_row_index(typed), &begins[..]) {
            (Ok(row), _) | (Err(_), &[row]) => Ok(row),
            (Err(error), _) => Err(error),
        }
    }

    /// Returns how many rankers of the definition have no scores yet.
    pub fn n_unscored_rankers(&self) -> usize {
        let n_rankers = self.definition.rankers.len() + self.definition.train.len();
        n_rankers.saturating_sub(self.scores.len())
    }

    /// Adds the scores of a ranker, or replaces those of the ranker with the same fingerprint.
    pub fn upsert_scores_by_fingerprint(
        &mut self,
        scores: RankerQueryDocumentScores,
    ) -> Result<(), Error> {
        if scores.scores_in_pair_order().len() != self.pairs.len() {
            let (n_scores, n_pairs) = (scores.scores_in_pair_order().len(), self.pairs.len());
            let field = ErrorFieldName::with_display_name("scores", &scores.ranker.spec);
            return Err(InvalidFieldReason::ScoreCountMismatch { n_scores, n_pairs }
                .into_error_for_field(field));
        }
        let same =
            |it: &RankerQueryDocumentScores| it.ranker.fingerprint == scores.ranker.fingerprint;
        match self.scores.iter().position(same) {
            Some(at) => self.scores[at] = scores,
            None => self.scores.push(scores),
        }
        Ok(())
    }

    /// Returns the id of a document: `421`, or `421#lnc2:3` if it is derived.
    pub fn study_doc_id(&self, text: StudyDocNo) -> String {
        let text = self.study_docs[text as usize];
        text.id(self.docs[text.source_doc() as usize].id())
    }

    /// Returns the text of a document that is analyzed and scored.
    pub fn study_doc_text(&self, text: StudyDocNo) -> String {
        let text = self.study_docs[text as usize];
        text.text_to_score(self.docs[text.source_doc() as usize].text_with_title())
    }

    /// Returns the grade of a document for a query; a derived document has that of its original.
    pub fn relevance_grade(&self, query: usize, text: StudyDocNo) -> Option<i32> {
        let doc = self.study_docs[text as usize].source_doc();
        self.qrels
            .grade(&self.queries[query].id, self.docs[doc as usize].id())
    }

    /// Returns the unique pairs of query and document, to be scored elsewhere.
    pub fn unique_pairs_to_score(&self) -> UniquePairsToScore {
        let mut texts: Vec<StudyDocNo> = self.pairs.iter().map(|it| it.1).collect();
        texts.sort_unstable();
        texts.dedup();
        let place = |text: StudyDocNo| texts.partition_point(|&it| it < text) as u32;
        UniquePairsToScore {
            pairs: self
                .pairs
                .iter()
                .map(|(query, text)| (query as u32, place(text)))
                .collect(),
            texts: texts.iter().map(|&it| self.study_doc_text(it)).collect(),
            doc_ids: texts.iter().map(|&it| self.study_doc_id(it)).collect(),
            queries: self.queries.iter().map(|it| it.text.clone()).collect(),
        }
    }
}

/// The unique pairs of a study to be scored, with their texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniquePairsToScore {
    /// The queries as written, in the order of the study.
    pub queries: Vec<String>,
    /// The texts of the documents.
    pub texts: Vec<String>,
    /// The ids of the documents, in the same order.
    pub doc_ids: Vec<String>,
    /// Positions in `queries` and `texts`, in the order of [`Study::pairs`].
    pub pairs: Vec<(u32, u32)>,
}
