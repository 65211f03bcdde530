//! The tokenization audit: of the instances that were mined under one analyzer, how many are
//! instances under another. An axiom whose instances are mostly gone with other terms says as
//! much of the tokenizer as of the ranker.
//!
//! The pools stay as they are, so only the terms change; a cap per query does not count.

use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::probe::mining::{Miner, QueryPool};
use crate::probe::{AxiomVariant, Instances, MiningResult, Probe};

/// How the instances of a study fare under one other analyzer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnalyzerAudit {
    /// The other analyzer: [`crate::text::Analyzer::describe`].
    pub analyzer: String,
    /// One entry for each axiom and variant.
    pub rows: Vec<AuditRow>,
}

/// How the instances of one axiom in one mode fare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditRow {
    /// The probe whose instances were asked about.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// Instances of the study.
    pub n_instances: u64,
    /// Those among them that are instances under the other analyzer.
    #[serde(alias = "n_held")]
    pub n_retained: u64,
}

/// Asks another analyzer about instances.
#[derive(Clone, Copy)]
pub struct AnalyzerAuditor<'a> {
    /// Over an index of the other analyzer; looks for what was mined, without a cap.
    pub miner: Miner<'a>,
    /// Over document numbers of the collection.
    pub mining_result: &'a MiningResult,
    /// With the queries of the study.
    pub collection: &'a Collection,
}

impl AnalyzerAuditor<'_> {
    /// How many instances of a query hold, for each axiom and mode, and for each behavioral test but
    /// those whose texts stand beside the pool: what these are does not depend on terms.
    pub fn audit_query(&self, query: usize) -> Vec<u64> {
        let texts = &self.mining_result.study_docs;
        let pool = self.mining_result.pools[query].iter();
        let pool: Vec<u32> = pool.map(|&it| texts[it as usize].doc()).collect();
        let theirs = self.miner.mine(&QueryPool {
            query: &self.collection.queries[query].text,
            docs: &pool,
            grades: &self.collection.grades(query, &pool),
            added_samples: &[],
        });
        self.mined_of_pools()
            .map(|(which, instances)| {
                let arity = instances.claim.arity();
                let ours = instances.docs_of(query).chunks_exact(arity);
                let held = ours.filter(|it| {
                    let texts = it.iter().map(|&it| texts[it as usize]);
                    theirs.contains(which, &texts.collect::<Vec<_>>())
                });
                held.count() as u64
            })
            .collect()
    }

    /// With their places.
    fn mined_of_pools(&self) -> impl Iterator<Item = (usize, &Instances)> {
        let all = self.mining_result.instances.iter().enumerate();
        all.filter(|it| !it.1.probe.uses_added_docs())
    }

    /// Sums up what [`AnalyzerAuditor::audit_query`] gave for every query.
    pub fn collect_audit(&self, analyzer: String, queries: &[Vec<u64>]) -> AnalyzerAudit {
        let rows = self.mined_of_pools().zip(0..);
        let rows = rows.map(|((_, instances), at): (_, usize)| AuditRow {
            probe: instances.probe,
            variant: instances.variant,
            n_instances: instances.len() as u64,
            n_retained: queries.iter().map(|it| it[at]).sum(),
        });
        AnalyzerAudit {
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
    use crate::probe::Limits;
    use crate::study::fixture;
    use crate::text::{Analyzer, Stemmer};

    /// `rivers` is a query term for stems alone: then text 1 has two, without stems one, as
    /// text 2 has.
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
        let limits = Limits {
            min_query_term_occurrences: 0,
            ..Limits::STANDARD
        };
        let miner = |index| Miner {
            index,
            word_vectors: None,
            probes: &[(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)],
            limits: &limits,
        };
        let (stems, words) = (index(Stemmer::Porter), index(Stemmer::None));
        let shard = miner(&stems).mine(&QueryPool::without_grades("river", &[0, 1, 2]));
        let mined = MiningResult::collect(
            &[(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)],
            vec![shard],
        );
        let collection = fixture::collection(&["river"], &TEXTS);
        let held = |index| {
            let miner = miner(index);
            let auditor = AnalyzerAuditor {
                miner,
                mining_result: &mined,
                collection: &collection,
            };
            let queries = [auditor.audit_query(0)];
            let audit = auditor.collect_audit("other".to_owned(), &queries);
            (audit.rows[0].n_instances, audit.rows[0].n_retained)
        };
        // By stems 1 > 2, 1 > 3 and 2 > 3; by words 1 and 2 are level.
        assert_eq!(held(&stems), (3, 3));
        assert_eq!(held(&words), (3, 2));
    }
}
