//! How often a ranker in training satisfies each axiom on the development queries.

use std::collections::BTreeMap;

use rayon::prelude::*;
use shared::collection::Collection;
use shared::probe::mining::MiningResult;
use shared::probe::{AxiomVariant, CandidatePoolSpec, MiningThresholds, Probe};
use shared::score::{QueryDocumentPairs, RankerInfo, RankerKind, RankerQueryDocumentScores};
use shared::study::overview::ranker_axiom_result_from_counts;
use shared::study::preparation::{
    MiningSettings, ParsedInputFiles, PreparedCollection, run_never_waiting_future,
};
use shared::text::Analyzer;
use shared::training::AxiomCurveValue;
use shared::verdict::count_outcomes_per_query;

use super::examples::SplitCandidates;
use super::ranker_in_training::RankerToEvaluate;
use crate::error::Error;
use crate::pipeline::ParallelExecutor;

/// The instances of the axioms, and their documents as a ranker reads them.
pub(super) struct AxiomInstances<R: RankerToEvaluate> {
    mined: MiningResult,
    pairs: QueryDocumentPairs,
    prepared: Vec<R::Pair>,
}

impl<R: RankerToEvaluate> AxiomInstances<R> {
    /// Returns no instances, for a training that makes no more evaluations.
    pub(super) fn none() -> AxiomInstances<R> {
        AxiomInstances {
            mined: MiningResult::default(),
            pairs: QueryDocumentPairs::default(),
            prepared: Vec::new(),
        }
    }

    /// Mines the instances of every axiom in the pools of the queries, with the files that these
    /// need. Without word vectors, axioms that need them are left out.
    pub(super) fn mine(
        collection: &Collection,
        candidates: &SplitCandidates,
        ranker: &R,
        (pool, files): (CandidatePoolSpec, ParsedInputFiles),
    ) -> Result<AxiomInstances<R>, Error> {
        let mut collection = collection.clone();
        let queries = candidates.queries.iter();
        collection.queries = queries.map(|&it| collection.queries[it].clone()).collect();
        let probes = Probe::list_minable_paper_axioms(files.vectors.is_some()).into_iter();
        let settings = MiningSettings {
            analyzer: Analyzer::default(),
            pool,
            probes: probes.map(|it| (it, AxiomVariant::Fixed)).collect(),
            limits: MiningThresholds::STANDARD,
        };
        let mut cores = ParallelExecutor::default();
        let prepared = PreparedCollection::prepare(collection, settings, files, &mut cores);
        let prepared = run_never_waiting_future(prepared)?;
        let mined = run_never_waiting_future(prepared.mine_all_queries(&mut cores))?.0;
        let pairs = QueryDocumentPairs::from_mining_result(&mined);
        let prepare = |(query, doc): (usize, u32)| {
            let doc = mined.study_docs[doc as usize];
            let body = &prepared.collection.docs[doc.source_doc() as usize];
            let body = body.text_with_optional_title(ranker.reads_titles());
            let query = &prepared.collection.queries[query].text;
            ranker.prepare_pair(query, &doc.text_to_score(body))
        };
        let all: Vec<(usize, u32)> = pairs.iter().collect();
        Ok(AxiomInstances {
            prepared: all
                .into_par_iter()
                .map(prepare)
                .collect::<Result<_, Error>>()?,
            mined,
            pairs,
        })
    }

    /// Scores all documents and counts satisfied instances. Axioms without instances are left out.
    pub(super) fn compute_profile(
        &self,
        ranker: &R,
    ) -> Result<BTreeMap<String, AxiomCurveValue>, Error> {
        let scores = ranker.score_pairs(&self.prepared.iter().collect::<Vec<_>>())?;
        let ranker = RankerInfo {
            spec: ranker.name().to_owned(),
            label: String::new(),
            detail: String::new(),
            kind: RankerKind::Neural,
            fingerprint: String::new(),
            note: None,
        };
        let values = scores.into_iter().map(Some).collect();
        let scores = RankerQueryDocumentScores::new(ranker, values, &self.pairs)?;
        let tie_width = RankerKind::Neural.default_tie_threshold();
        let profile = self.mined.instances.par_iter().filter_map(|instances| {
            let counts = count_outcomes_per_query(instances, &self.pairs, &scores, tie_width);
            let agreement = instances.claim.tie_agreement_with_claim();
            let result = ranker_axiom_result_from_counts(&counts, agreement)?;
            let value = AxiomCurveValue {
                fraction: result.micro_average.value,
                interval: result.micro_average.interval,
                n: instances.len() as u64,
            };
            Some((instances.probe.slug().to_string(), value))
        });
        Ok(profile.collect())
    }
}
