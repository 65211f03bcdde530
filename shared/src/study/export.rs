//! A study as a dataset: every instance with its preconditions and scores, for use elsewhere.

use serde::Serialize;

use super::Study;
use crate::error::Error;
use crate::index::term_statistics::distinct_query_terms_with_statistics;
use crate::index::{Index, IndexBuilder};
use crate::probe::features::{
    DocumentFeatureExtractor, DocumentFeatures, QueryPoolFeatures, RequiredDocumentFeatures,
};
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::probe::{AxiomVariant, MeasuredPrecondition, Probe, ScoreClaimKind, StudyDocNo};
use crate::word_vectors::{IndexedWordVectors, WordVectors};

/// One instance. Positions of query terms in its preconditions are positions in `terms`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExportedInstance<'a> {
    /// The probe that found it.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// What it claims about its documents.
    pub claim: ScoreClaimKind,
    /// The id of its query.
    pub query_id: &'a str,
    /// The distinct terms of the query.
    pub terms: Vec<&'a str>,
    /// The ids of its documents, in the order of the claim.
    pub doc_ids: Vec<String>,
    /// The measured preconditions.
    pub preconditions: Vec<MeasuredPrecondition>,
    /// For each ranker of the study, in its order, the scores of the documents.
    pub scores: Vec<Vec<Option<f64>>>,
}

impl Study {
    /// Returns an index of the study's documents. Statistics of the whole collection are in
    /// [`Study::terms`].
    pub(super) fn build_document_index(&self) -> Result<Index, Error> {
        let builder = IndexBuilder::with_analyzer(self.definition.analyzer.clone());
        let mut builder = match self.word_vectors {
            Some(_) => builder.with_stored_tokens(),
            None => builder,
        };
        self.docs
            .iter()
            .for_each(|it| builder.add_document(it.text_with_title()));
        builder.finish()
    }

    /// Returns the word vectors of the study.
    pub(super) fn stored_word_vectors(&self) -> Option<&WordVectors> {
        self.word_vectors.as_ref().map(|it| &it.vectors)
    }

    /// Calls `take` with every instance, in order. Documents are counted once per query.
    pub fn for_each_exported_instance<E: From<Error>>(
        &self,
        mut take: impl FnMut(&ExportedInstance<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let index = self.build_document_index()?;
        let rows = self
            .stored_word_vectors()
            .map(|it| it.token_rows_of_index(&index));
        let rows = rows.unwrap_or_default();
        let known = self
            .stored_word_vectors()
            .map(|it| IndexedWordVectors::new(it, &index, &rows));
        for (query, asked) in self.queries.iter().enumerate() {
            let vocabulary = index.vocabulary();
            let terms = distinct_query_terms_with_statistics(
                &self.definition.analyzer,
                &asked.text,
                |term| {
                    let stats = self.terms.get(term).copied().unwrap_or_default();
                    (vocabulary.term_no(term), stats.df, stats.cf)
                },
            );
            let counting = DocumentFeatureExtractor::for_query(
                &index,
                known.as_ref(),
                &asked.text,
                &terms,
                RequiredDocumentFeatures::ALL,
            );
            let texts = self.pairs.documents_of_query(query);
            let count = |&text: &StudyDocNo| {
                let text = self.study_docs[text as usize];
                match text {
                    OriginalOrDerivedDocument::Original { doc } => counting.extract(doc),
                    OriginalOrDerivedDocument::Repeated { times, .. } => {
                        let body = index
                            .term_sequence_of_doc(text.source_doc())
                            .repeat(times as usize);
                        DocumentFeatures::from_terms_including_non_query(&body, &terms)
                    }
                }
            };
            let counted: Vec<DocumentFeatures> = texts.iter().map(count).collect();
            let alike = counting.pairwise_query_term_similarities();
            for instances in &self.instances {
                for claim in instances.claims_of_query(query) {
                    let place = |text: &StudyDocNo| {
                        let at = texts.binary_search(text);
                        at.expect("every text of an instance is scored")
                    };
                    let of_claim = claim.docs_in_claim_order();
                    let counted: Vec<DocumentFeatures> = of_claim
                        .iter()
                        .map(|it| counted[place(it)].clone())
                        .collect();
                    let case = QueryPoolFeatures {
                        query: &terms,
                        pool: &counted,
                        limits: &self.definition.limits,
                        totals: self.totals,
                        term_similarities: &alike,
                    };
                    let (probe, mode) = (instances.probe, instances.variant);
                    let from = self.pairs.pair_range_of_query(query).start;
                    let scores = self.scores.iter().map(|scores| {
                        let each = of_claim.iter();
                        each.map(|it| scores.score_at_position(from + place(it)))
                            .collect()
                    });
                    take(&ExportedInstance {
                        probe,
                        variant: mode,
                        claim: instances.claim,
                        query_id: &asked.id,
                        terms: terms.iter().map(|it| it.term.as_str()).collect(),
                        doc_ids: of_claim.iter().map(|&it| self.study_doc_id(it)).collect(),
                        preconditions: probe.measure_preconditions(mode, &case),
                        scores: scores.collect(),
                    })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn every_instance_has_preconditions_that_hold_and_with_its_scores() {
        let study = fixture::study_with_one_query("river bank", &fixture::FOUR_TEXTS, 10);
        let mut n = 0;
        let done: Result<(), Error> = study.for_each_exported_instance(|line| {
            n += 1;
            assert!(!line.preconditions.is_empty());
            assert!(
                line.preconditions.iter().all(MeasuredPrecondition::holds),
                "{line:?}"
            );
            assert_eq!(line.scores.len(), 2);
            assert!(
                line.scores.iter().flatten().all(Option::is_some),
                "{line:?}"
            );
            Ok(())
        });
        done.unwrap();
        assert_eq!(n, study.instances.iter().map(|it| it.len()).sum::<usize>());
        assert!(n > 0);
    }
}
