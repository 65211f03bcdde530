//! Documents and queries added to a collection: manipulated documents, and the pairs of transfer
//! sets.
//!
//! They are documents and queries like others, so that scoring, storing and displaying need no
//! special cases; but they come after those of the collection and do not enter its statistics.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::manipulation::{Manipulation, ManipulationInput, ManipulationWordLists};
use super::mining::draw_random_indices;
use super::transfer::{TransferPairSet, UsedAndSkippedPairCounts};
use super::{AxiomVariant, MiningThresholds, Probe};
use crate::collection::{Collection, Document, DocumentFields, Query};
use crate::index::{DocNo, Index};
use crate::text::linguistics::{LinguisticAnalysis, tag_words_and_noun_phrases};

/// The numbers of documents and queries that were added to the collection of a study; they are the
/// last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AddedDocAndQueryCounts {
    /// The number of added documents.
    pub n_docs: u32,
    /// The number of added queries.
    pub n_queries: u32,
}

/// A document that a manipulation derived from another. The repeated documents of LNC2, which are
/// derived too, are not of this type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedDocument {
    /// The index of the probe among the requested ones.
    probe_index: u32,
    /// The original document.
    source_doc: DocNo,
    body: String,
}

/// The bodies of documents with their linguistic analysis, each computed once when needed.
#[derive(Debug, Default)]
pub struct LinguisticAnalysisCache(Vec<OnceLock<LinguisticAnalysis>>);

impl LinguisticAnalysisCache {
    /// Creates the cache for a collection, with no document analyzed yet.
    pub fn for_collection(collection: &Collection) -> LinguisticAnalysisCache {
        LinguisticAnalysisCache(collection.docs.iter().map(|_| OnceLock::new()).collect())
    }
}

/// Builds the derived documents of one query at a time.
#[derive(Clone, Copy)]
pub struct DerivedDocumentBuilder<'a> {
    /// The collection, with the queries of the study.
    pub collection: &'a Collection,
    /// The index of the whole collection.
    pub index: &'a Index,
    /// The analyzed documents of the collection, from [`LinguisticAnalysisCache::for_collection`].
    pub documents: &'a LinguisticAnalysisCache,
    /// The requested probes.
    pub probes: &'a [(Probe, AxiomVariant)],
    /// The word lists of manipulations.
    pub lookup_tables: &'a ManipulationWordLists,
    /// The limits of the study.
    pub limits: &'a MiningThresholds,
}

impl DerivedDocumentBuilder<'_> {
    /// Returns the requested manipulations with their indexes among the probes.
    fn manipulations(&self) -> Vec<(u32, Manipulation)> {
        let asked = self.probes.iter().zip(0..);
        let manipulations = asked.filter_map(|(it, at)| match it.0 {
            Probe::Manipulation(it) => Some((at, it)),
            _ => None,
        });
        manipulations.collect()
    }

    fn read(&self, doc: DocNo) -> (&str, &LinguisticAnalysis) {
        let body = self.collection.docs[doc as usize].text_with_title();
        let analysis = &self.documents.0[doc as usize];
        (
            body,
            analysis.get_or_init(|| tag_words_and_noun_phrases(body)),
        )
    }

    /// Builds the derived documents of one query; queries can be processed in parallel.
    pub fn build_documents_for_query(&self, query: usize, pool: &[DocNo]) -> Vec<DerivedDocument> {
        let manipulations = self.manipulations();
        if manipulations.is_empty() {
            return Vec::new();
        }
        let asked = &self.collection.queries[query];
        let judged = self.collection.qrels.0.get(&asked.id);
        let grade = |doc: DocNo| {
            let id = self.collection.docs[doc as usize].id();
            judged.and_then(|it| it.get(id))
        };
        let needs_others = manipulations.iter().any(|it| it.1.needs_other_docs());
        let is_other = |it: &&DocNo| needs_others && grade(**it).is_some_and(|it| *it < 1);
        let others: Vec<(&str, &LinguisticAnalysis)> = pool
            .iter()
            .filter(is_other)
            .map(|&it| self.read(it))
            .collect();
        let mut made = Vec::new();
        let limits = self.limits;
        let chosen: Vec<usize> = match limits.max_manipulated_docs {
            Some(most) => draw_random_indices(pool.len(), most, limits.seed, &asked.text),
            None => (0..pool.len()).collect(),
        };
        for doc in chosen.into_iter().map(|it| pool[it]) {
            let (text, analysis) = self.read(doc);
            let source = ManipulationInput {
                id: self.collection.docs[doc as usize].id(),
                text,
                analysis,
                query: &asked.text,
                non_relevant_docs: &others,
                lookup_tables: self.lookup_tables,
                vocabulary: self.index.vocabulary(),
                seed: limits.seed,
            };
            for &(which, manipulation) in &manipulations {
                made.extend(manipulation.apply(&source).map(|body| DerivedDocument {
                    probe_index: which,
                    source_doc: doc,
                    body,
                }));
            }
        }
        made
    }
}

/// The documents and queries to add to a collection.
pub struct PendingCollectionAdditions<'a> {
    /// The derived documents of each query, in the order of queries.
    pub derived_docs: Vec<Vec<DerivedDocument>>,
    /// The requested transfer sets.
    pub transfer_sets: &'a [TransferPairSet],
    /// The seed for the inferred queries.
    pub seed: u64,
}

/// The samples with added documents: for each query its samples, each with the index of its probe
/// among the requested ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSamplesByQuery {
    /// For each query its samples: the index of the probe, and the two documents.
    samples: Vec<Vec<(u32, [DocNo; 2])>>,
    /// The numbers of added documents and queries.
    pub addition_counts: AddedDocAndQueryCounts,
    /// The numbers of used and skipped pairs of each transfer set.
    pub transfer_pair_counts: Vec<(Probe, UsedAndSkippedPairCounts)>,
}

impl AddedSamplesByQuery {
    /// Returns the samples of a query, each with the index of its probe.
    pub fn samples_of_query(&self, query: usize) -> &[(u32, [DocNo; 2])] {
        self.samples.get(query).map_or(&[], Vec::as_slice)
    }

    /// Adds derived documents after the documents of a collection and of its index, and then the
    /// pairs of transfer sets.
    pub fn extend_collection_and_index(
        collection: &mut Collection,
        index: &mut Index,
        asked: &[(Probe, AxiomVariant)],
        additions: PendingCollectionAdditions<'_>,
    ) -> AddedSamplesByQuery {
        let PendingCollectionAdditions {
            derived_docs: made,
            transfer_sets: sets,
            seed,
        } = additions;
        let (n_docs, n_queries) = (collection.docs.len(), collection.queries.len());
        let mut beside = AddedSamplesByQuery {
            samples: vec![Vec::new(); n_queries],
            ..AddedSamplesByQuery::default()
        };
        let mut add = |doc: Document, collection: &mut Collection| {
            index.add_text_without_statistics(doc.text_with_title());
            collection.docs.push(doc);
            (collection.docs.len() - 1) as DocNo
        };
        // A document that does not depend on the query is added once.
        let mut known: BTreeMap<(u32, DocNo), DocNo> = BTreeMap::new();
        for (query, made) in made.into_iter().enumerate() {
            for DerivedDocument {
                probe_index: which,
                source_doc: of,
                body,
            } in made
            {
                let slug = asked[which as usize].0.slug();
                let is_of_query = match asked[which as usize].0 {
                    Probe::Manipulation(it) => it.depends_on_query(),
                    _ => false,
                };
                let original = collection.docs[of as usize].id();
                let id = match is_of_query {
                    true => format!("{original}#{slug}@{}", collection.queries[query].id),
                    false => format!("{original}#{slug}"),
                };
                let doc = Document::from(DocumentFields {
                    id: id.into(),
                    text: body.into(),
                    ..DocumentFields::default()
                });
                let place = match known.get(&(which, of)).filter(|_| !is_of_query) {
                    Some(&place) => place,
                    None => add(doc, collection),
                };
                if !is_of_query {
                    known.insert((which, of), place);
                }
                beside.samples[query].push((which, [place, of]));
            }
        }
        for (probe, which) in asked.iter().map(|it| it.0).zip(0..) {
            let Probe::Transfer(of) = probe else {
                continue;
            };
            let Some(set) = sets.iter().find(|it| it.transfer == of) else {
                continue;
            };
            let (samples, kept) = set.query_samples_and_skip_counts(seed);
            beside.transfer_pair_counts.push((probe, kept));
            for (pair, query) in samples {
                let id = format!("{}#{}", probe.slug(), pair.id);
                let mut text = |side: &str, text: &str| {
                    let doc = Document::from(DocumentFields {
                        id: format!("{id}:{side}").into(),
                        text: text.into(),
                        ..DocumentFields::default()
                    });
                    add(doc, collection)
                };
                let texts = [text("a", &pair.a), text("b", &pair.b)];
                collection.queries.push(Query {
                    id,
                    text: query,
                    group: pair.group.clone(),
                    split: None,
                });
                beside.samples.push(vec![(which, texts)]);
            }
        }
        beside.addition_counts = AddedDocAndQueryCounts {
            n_docs: (collection.docs.len() - n_docs) as u32,
            n_queries: (collection.queries.len() - n_queries) as u32,
        };
        beside
    }
}

/// Whether an id looks like one from [`AddedSamplesByQuery::extend_collection_and_index`]: that of
/// a manipulated document, or of a query or a document of a transfer set.
pub fn is_added_sample_id(id: &str) -> bool {
    id.match_indices('#').any(|(at, _)| {
        let slug = id[at + 1..].split('@').next().unwrap_or_default();
        let is_manipulated = slug.parse::<Manipulation>().is_ok();
        is_manipulated || matches!(id[..at].parse::<Probe>(), Ok(Probe::Transfer(_)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_documents_and_queries_that_are_added_are_known() {
        for id in [
            "421#lemmatize",
            "a#b#shuffle-words@q7",
            "transfer:fluency#dev-2:0:a",
            "symmetric:mspc#7",
        ] {
            assert!(is_added_sample_id(id), "{id}");
        }
        for id in [
            "421",
            "421#lnc2:3",
            "421#tfc1",
            "lemmatize",
            "x#",
            "transfer:fluency",
        ] {
            assert!(!is_added_sample_id(id), "{id}");
        }
    }
}
