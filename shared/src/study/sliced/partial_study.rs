//! A study of only some queries of a sliced study, which answers as the whole study would.

use std::collections::BTreeMap;

use super::files::{QueryDetails, SlicedDocument, SlicedStudyHead, damaged};
use crate::collection::{Document, DocumentFields};
use crate::error::Error;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::probe::{ProbeInstances, StudyDocNo};
use crate::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use crate::study::Study;
use crate::study::withheld_texts::WithheldTextHashesAndLengths;

/// Returns the id of a document that is not given: its number in the whole study, after a space,
/// which no id of a collection contains.
fn placeholder_id(number: StudyDocNo) -> String {
    format!(" {number}")
}

/// Whether an id is that of a document that is not given.
pub(super) fn is_placeholder_id(id: &str) -> bool {
    id.starts_with(' ')
}

/// Returns the study of some queries, in this order. Documents that are not given have no text, and
/// ids with their numbers in the whole study.
pub(super) fn build_partial_study(
    head: &SlicedStudyHead,
    queries: Vec<QueryDetails>,
    mut given: BTreeMap<StudyDocNo, SlicedDocument>,
) -> Result<Study, Error> {
    let mut documents: Vec<StudyDocNo> = queries
        .iter()
        .flat_map(|it| it.documents.iter().copied())
        .collect();
    documents.sort_unstable();
    documents.dedup();
    let mut study = head.study.clone();
    let mut n_terms = Vec::new();
    for (at, number) in documents.iter().enumerate() {
        let of = given.remove(number);
        let original = OriginalOrDerivedDocument::Original { doc: 0 };
        let derivation = of.as_ref().map_or(original, |it| it.derivation);
        study.study_docs.push(derivation.with_source_doc(at as u32));
        n_terms.push(of.as_ref().and_then(|it| it.n_terms).unwrap_or_default());
        study.docs.push(of.map_or_else(
            || {
                Document::from(DocumentFields {
                    id: placeholder_id(*number).into(),
                    ..DocumentFields::default()
                })
            },
            |it| it.source,
        ));
    }
    if head.withholds_texts {
        study.withheld_texts = Some(WithheldTextHashesAndLengths {
            text_hashes: vec![String::new(); documents.len()],
            n_terms,
            is_restored: false,
        });
    }
    let place = |number: StudyDocNo| documents.partition_point(|&it| it < number) as StudyDocNo;
    let numbers_of = |it: &QueryDetails| it.documents.iter().map(|&it| place(it)).collect();
    let by_query: Vec<Vec<StudyDocNo>> = queries.iter().map(numbers_of).collect();
    study.pairs = QueryDocumentPairs::from_documents_by_query(by_query.iter().cloned());
    for (query, numbers) in queries.iter().zip(&by_query) {
        let pool = query.pool.iter();
        let pool = pool.map(|&it| numbers.get(it as usize).copied());
        let pool: Option<Vec<StudyDocNo>> = pool.collect();
        let pool = pool.ok_or_else(|| damaged("query-details", "a document is unknown"))?;
        study.pools.push(pool);
    }
    for (probe_index, it) in head.probes.iter().enumerate() {
        let mut instances = ProbeInstances::new(it.probe, it.variant);
        let arity = instances.claim.arity();
        for (query, numbers) in queries.iter().zip(&by_query) {
            let docs = query.instances.get(probe_index).into_iter().flatten();
            let docs = docs.map(|&it| numbers.get(it as usize).copied());
            let docs: Option<Vec<StudyDocNo>> = docs.collect();
            let docs = docs.filter(|it| it.len().is_multiple_of(arity));
            let docs = docs.ok_or_else(|| damaged("query-details", "an instance is unknown"))?;
            let n_instances = (docs.len() / arity) as u32;
            instances.push_query_instances(docs, n_instances);
        }
        study.instances.push(instances);
    }
    for (row, ranker) in head.rankers.iter().enumerate() {
        let (mut values, mut truncated) = (Vec::new(), Vec::new());
        for query in &queries {
            let cut = query.truncated.get(row).into_iter().flatten();
            truncated.extend(cut.map(|it| values.len() as u32 + it));
            values.extend(query.scores.get(row).into_iter().flatten());
        }
        let mut scores = RankerQueryDocumentScores::new(ranker.clone(), values, &study.pairs)?;
        scores.truncated = truncated;
        study.scores.push(scores);
    }
    for (details, numbers) in queries.into_iter().zip(by_query) {
        let grades = numbers.iter().zip(details.grades);
        let ids =
            grades.filter_map(|(&at, it)| Some((study.docs[at as usize].id().to_owned(), it?)));
        let of_query = study.qrels.0.entry(details.query.id.clone()).or_default();
        of_query.extend(ids);
        study.terms.extend(details.terms);
        study.queries.push(details.query);
    }
    Ok(study)
}
