//! The analyzer audit: the share of the instances mined with one analyzer that are still instances
//! with another. If most instances of an axiom disappear, its result depends on the tokenizer as
//! much as on the ranker.
//!
//! The pools stay the same, so only the terms change; a cap per query is ignored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::collection::Collection;
use crate::probe::mining::{InstanceMiner, PooledQuery};
use crate::probe::{AxiomVariant, MiningResult, Probe, ProbeInstances};

/// How many instances of a study are still instances under one other analyzer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstanceRetentionUnderAnalyzer {
    /// The other analyzer: [`crate::text::Analyzer::describe`].
    pub analyzer: String,
    /// One entry for each axiom and variant.
    pub rows: Vec<InstanceRetentionAcrossAnalyzers>,
}

/// How many instances of one axiom in one variant are still instances under the other analyzer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstanceRetentionAcrossAnalyzers {
    /// The probe whose instances were checked.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// Instances of the study.
    pub n_instances: u64,
    /// The number of them that are instances under the other analyzer.
    #[serde(alias = "n_held")]
    pub n_retained: u64,
}

/// Checks instances under another analyzer.
#[derive(Clone, Copy)]
pub struct AnalyzerChangeRetentionCounter<'a> {
    /// A miner over an index made with the other analyzer, for the same probes and without a cap.
    pub miner: InstanceMiner<'a>,
    /// The mined instances, over document numbers of the collection.
    pub mining_result: &'a MiningResult,
    /// The collection, with the queries of the study.
    pub collection: &'a Collection,
}

impl AnalyzerChangeRetentionCounter<'_> {
    /// Returns how many instances of a query are still instances, for each axiom and variant and
    /// for each behavioral test. Tests whose documents are not from the pool are left out: their
    /// samples do not depend on terms.
    pub fn count_retained_per_probe(&self, query: usize) -> Vec<u64> {
        let texts = &self.mining_result.study_docs;
        let pool = self.mining_result.pools[query].iter();
        let pool: Vec<u32> = pool.map(|&it| texts[it as usize].source_doc()).collect();
        let theirs = self.miner.mine_pooled_query(&PooledQuery {
            query: &self.collection.queries[query].text,
            docs: &pool,
            grades: &self.collection.grades_of_documents(query, &pool),
            added_samples: &[],
        });
        self.mined_of_pools()
            .map(|(which, instances)| {
                let arity = instances.claim.arity();
                let ours = instances.docs_of_query(query).chunks_exact(arity);
                let held = ours.filter(|it| {
                    let texts = it.iter().map(|&it| texts[it as usize]);
                    theirs.contains_instance(which, &texts.collect::<Vec<_>>())
                });
                held.count() as u64
            })
            .collect()
    }

    /// Returns the instances from pools, each with its position.
    fn mined_of_pools(&self) -> impl Iterator<Item = (usize, &ProbeInstances)> {
        let all = self.mining_result.instances.iter().enumerate();
        all.filter(|it| !it.1.probe.adds_docs_to_collection())
    }

    /// Sums up the results of [`AnalyzerChangeRetentionCounter::count_retained_per_probe`] over all
    /// queries.
    pub fn sum_retained_over_queries(
        &self,
        analyzer: String,
        queries: &[Vec<u64>],
    ) -> InstanceRetentionUnderAnalyzer {
        let rows = self.mined_of_pools().zip(0..);
        let rows = rows.map(
            |((_, instances), at): (_, usize)| InstanceRetentionAcrossAnalyzers {
                probe: instances.probe,
                variant: instances.variant,
                n_instances: instances.len() as u64,
                n_retained: queries.iter().map(|it| it[at]).sum(),
            },
        );
        InstanceRetentionUnderAnalyzer {
            analyzer,
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::probe::Axiom;
    use crate::probe::MiningThresholds;
    use crate::study::fixture;
    use crate::text::{Analyzer, Stemmer};

    /// `rivers` is a query term only when stemmed: with a stemmer document 1 has two query terms,
    /// without one it has one, like document 2.
    const TEXTS: [&str; 3] = ["river rivers bank", "river of mud", "mud of mud"];

    fn index(stemmer: Stemmer) -> Index {
        let analyzer = Analyzer {
            stemmer,
            ..Analyzer::default()
        };
        Index::build(&analyzer, TEXTS).unwrap()
    }

    #[test]
    fn an_instance_holds_or_not_under_other_terms() {
        let limits = MiningThresholds {
            min_query_term_occurrences: 0,
            ..MiningThresholds::STANDARD
        };
        let miner = |index| InstanceMiner {
            index,
            word_vectors: None,
            probes: &[(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)],
            limits: &limits,
        };
        let (stems, words) = (index(Stemmer::Porter), index(Stemmer::None));
        let shard =
            miner(&stems).mine_pooled_query(&PooledQuery::from_ungraded_docs("river", &[0, 1, 2]));
        let mined = MiningResult::from_query_results(
            &[(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)],
            vec![shard],
        );
        let collection = fixture::fixture_collection(&["river"], &TEXTS);
        let held = |index| {
            let miner = miner(index);
            let auditor = AnalyzerChangeRetentionCounter {
                miner,
                mining_result: &mined,
                collection: &collection,
            };
            let queries = [auditor.count_retained_per_probe(0)];
            let audit = auditor.sum_retained_over_queries("other".to_owned(), &queries);
            (audit.rows[0].n_instances, audit.rows[0].n_retained)
        };
        // With stems 1 > 2, 1 > 3 and 2 > 3; with words 1 and 2 have equal counts.
        assert_eq!(held(&stems), (3, 3));
        assert_eq!(held(&words), (3, 2));
    }
}
