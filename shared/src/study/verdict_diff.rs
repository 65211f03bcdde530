//! Compares two rankers on the same instances: which verdicts changed, and by how much.
//!
//! The rankers may be of one study or of two; two studies are compared only if their instances
//! have the same hash.

use serde::{Deserialize, Serialize};

use super::{Study, StudyDefinition};
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe};
use crate::score::RankerQueryDocumentScores;
use crate::verdict::{VerdictOutcome, VerdictWithMargin};

/// The maximum number of instances that are listed.
pub const MAX_CHANGED_INSTANCES: usize = 50;

/// The changes of verdicts between two rankers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictDiffBetweenRankers {
    /// The first ranker.
    pub first: String,
    /// The second.
    pub second: String,
    /// One entry for each axiom and variant.
    pub probes: Vec<ProbeVerdictChangeCounts>,
    /// The queries with a change, those with the most changes first.
    pub queries: Vec<QueryVerdictChangeCounts>,
    /// The instances whose verdict changed, those with the largest difference of margins first, at
    /// most [`MAX_CHANGED_INSTANCES`].
    pub instances: Vec<InstanceWithChangedVerdict>,
}

/// The changes in one axiom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeVerdictChangeCounts {
    /// The probe whose instances changed.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// Instances on which both rankers have a verdict.
    pub n_verdicts: u64,
    /// Instances with another outcome that agrees better with the claim.
    pub n_improved: u64,
    /// Instances with another outcome that agrees less with the claim.
    pub n_worsened: u64,
}

/// The changes in one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryVerdictChangeCounts {
    /// Its id.
    pub query_id: String,
    /// Its text.
    pub query: String,
    /// The number of improved instances, over all axioms and variants.
    pub n_improved: u64,
    /// The number of worsened instances, over all axioms and variants.
    pub n_worsened: u64,
}

/// One instance whose verdict changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceWithChangedVerdict {
    /// The probe that found it.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// The number among its instances.
    pub number: u64,
    /// The id of the query.
    pub query_id: String,
    /// The ids of the documents, in the order of the claim.
    pub doc_ids: Vec<String>,
    /// The verdict of the first ranker.
    pub first: VerdictWithMargin,
    /// The verdict of the second ranker.
    pub second: VerdictWithMargin,
}

/// Compares a ranker of a study with one of the same or of another study.
pub fn diff_verdicts_of_two_rankers(
    first: (&Study, &RankerQueryDocumentScores),
    second: (&Study, &RankerQueryDocumentScores),
) -> Result<VerdictDiffBetweenRankers, Error> {
    ensure_studies_share_instances(first.0, second.0)?;
    let study = first.0;
    let names = [&first.1.ranker, &second.1.ranker].map(|it| it.spec.clone());
    let mut found = VerdictDiffBetweenRankers {
        first: names[0].clone(),
        second: names[1].clone(),
        probes: Vec::new(),
        queries: Vec::new(),
        instances: Vec::new(),
    };
    let mut by_query = vec![(0_u64, 0_u64); study.queries.len()];
    for (one, other) in study.instances.iter().zip(&second.0.instances) {
        let mut moves = ProbeVerdictChangeCounts {
            probe: one.probe,
            variant: one.variant,
            n_verdicts: 0,
            n_improved: 0,
            n_worsened: 0,
        };
        let verdict = |(study, scores): (&Study, &RankerQueryDocumentScores), query, claim| {
            study.ranker_verdict_on_claim(
                scores,
                query,
                claim,
                scores.ranker.kind.default_tie_threshold(),
            )
        };
        let mut at = 0;
        for (query, count) in by_query.iter_mut().enumerate() {
            for _ in 0..one.n_instances_of_query(query) {
                let number = at;
                at += 1;
                let ours = verdict(first, query, one.claim_at(number));
                let theirs = verdict(second, query, other.claim_at(number));
                let Some((a, b)) = ours.zip(theirs) else {
                    continue;
                };
                moves.n_verdicts += 1;
                if a.outcome == b.outcome {
                    continue;
                }
                if rank(b.outcome) > rank(a.outcome) {
                    moves.n_improved += 1;
                    count.0 += 1;
                } else {
                    moves.n_worsened += 1;
                    count.1 += 1;
                }
                found.instances.push(InstanceWithChangedVerdict {
                    probe: one.probe,
                    variant: one.variant,
                    number: number as u64,
                    query_id: study.queries[query].id.clone(),
                    doc_ids: Vec::new(),
                    first: a,
                    second: b,
                });
            }
            keep_farthest(&mut found.instances, 4 * MAX_CHANGED_INSTANCES);
        }
        found.probes.push(moves);
    }
    keep_farthest(&mut found.instances, MAX_CHANGED_INSTANCES);
    for it in &mut found.instances {
        let claim = study
            .instances_of_probe(it.probe, it.variant)?
            .claim_at(it.number as usize);
        it.doc_ids = claim
            .docs_in_claim_order()
            .into_iter()
            .map(|it| study.study_doc_id(it))
            .collect();
    }
    let queries = study.queries.iter().zip(by_query);
    let queries = queries.filter(|(_, (gained, lost))| gained + lost > 0);
    found.queries = queries
        .map(|(query, (n_gained, n_lost))| QueryVerdictChangeCounts {
            query_id: query.id.clone(),
            query: query.text.clone(),
            n_improved: n_gained,
            n_worsened: n_lost,
        })
        .collect();
    found.queries.sort_by(|a, b| {
        let moves = |it: &QueryVerdictChangeCounts| it.n_improved + it.n_worsened;
        moves(b).cmp(&moves(a)).then(a.query_id.cmp(&b.query_id))
    });
    Ok(found)
}

fn rank(outcome: VerdictOutcome) -> u8 {
    match outcome {
        VerdictOutcome::Violated => 0,
        VerdictOutcome::Tied => 1,
        VerdictOutcome::Satisfied => 2,
    }
}

/// Margins of two rankers have no common unit, so each counts by its rank in its own list.
fn keep_farthest(moved: &mut Vec<InstanceWithChangedVerdict>, most: usize) {
    if moved.len() <= most {
        return;
    }
    let apart = |it: &InstanceWithChangedVerdict| (it.second.margin - it.first.margin).abs();
    moved.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
    moved.truncate(most);
}

/// Returns an error if two studies have different instances; it says which of their settings
/// differ.
pub fn ensure_studies_share_instances(first: &Study, second: &Study) -> Result<(), Error> {
    if first.instances_hash == second.instances_hash {
        return Ok(());
    }
    let (one, other) = (&first.definition, &second.definition);
    let differs = |name: &str, differ: bool| differ.then(|| name.to_owned());
    let what: Vec<String> = [
        differs(
            "the collection",
            first.collection_hash != second.collection_hash,
        ),
        differs("the candidate pool", one.pool != other.pool),
        differs("the analyzer", one.analyzer != other.analyzer),
        differs("the limits", one.limits != other.limits),
        differs("the axioms", one.probes != other.probes),
        differs("the variants", one.variants != other.variants),
        differs("the number of queries", one.n_queries != other.n_queries),
        differs("the word vectors", one.vectors != other.vectors),
        differs("the software", first.software != second.software),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = match what.is_empty() {
        true => "none in their settings".to_owned(),
        false => what.join(", "),
    };
    let StudyDefinition { name, .. } = one;
    Err(Error::conflicting_value(
        "study",
        format!(
            "{name} and {} have different instances and cannot be compared; differences: \
             {what}; recreate one with the settings of the other",
            other.name
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    const TEXTS: [&str; 4] = [
        "river river bank",
        "river bank",
        "the river",
        "a sea of mud",
    ];

    #[test]
    fn instances_that_change_side_are_found_and_grouped() {
        let study = fixture::study_with_one_query("river bank", &TEXTS, 10);
        let (bm25, ql) = (&study.scores[0], &study.scores[1]);
        let same = diff_verdicts_of_two_rankers((&study, bm25), (&study, bm25)).unwrap();
        assert!(same.instances.is_empty() && same.queries.is_empty());
        // The same ranker with negated scores loses everything that it satisfied.
        let turned = bm25
            .scores_in_pair_order()
            .iter()
            .map(|it| it.map(|it| -it))
            .collect();
        let turned =
            RankerQueryDocumentScores::new(bm25.ranker.clone(), turned, &study.pairs).unwrap();
        let found = diff_verdicts_of_two_rankers((&study, bm25), (&study, &turned)).unwrap();
        let lost: u64 = found.probes.iter().map(|it| it.n_worsened).sum();
        let gained: u64 = found.probes.iter().map(|it| it.n_improved).sum();
        assert_eq!(found.instances.len() as u64, lost + gained);
        assert_eq!(
            (found.queries[0].n_worsened, found.queries[0].n_improved),
            (lost, gained)
        );
        assert!(lost > 0);
        let moved = &found.instances[0];
        assert_eq!(moved.first.margin, -moved.second.margin);
        assert_eq!(moved.doc_ids.len(), 2);
        assert_eq!(
            diff_verdicts_of_two_rankers((&study, bm25), (&study, ql))
                .unwrap()
                .second,
            ql.ranker.spec
        );
    }

    #[test]
    fn unlike_studies_are_refused_with_what_differs() {
        let one = fixture::study_with_one_query("river bank", &TEXTS, 10);
        let other = fixture::study_with_one_query("river bank", &TEXTS, 0);
        let error = ensure_studies_share_instances(&one, &other)
            .unwrap_err()
            .to_string();
        assert!(error.contains("differences: the limits"), "{error}");
    }
}
