//! A study small enough to check by eye, for the tests of tables and figures.

use crate::index::DocumentAndTermTotals;
use crate::probe::{Axiom, AxiomVariant, MiningThresholds, Probe, ScoreClaimKind};
use crate::score::rescoring::{RescoringCondition, ScoringEnvironment};
use crate::score::{RankerInfo, RankerKind};
use crate::stats::EstimateWithInterval;
use crate::study::controls::StudyPageControls;
use crate::study::overview::{
    AxiomOverviewColumn, RankerAxiomResult, RankerOverviewRow, StudyOverview,
};
use crate::study::score_stability::{ConditionScoreStability, ScoreStabilitySummary};
use crate::text::Analyzer;
use crate::verdict::ClaimOutcomeCounts;

/// Returns an overview of two rankers on two axioms; the name of the second ranker looks like a
/// script.
pub(crate) fn study_overview_fixture() -> StudyOverview {
    StudyOverview {
        has_fixed_thresholds: false,
        name: "tiny".to_owned(),
        title: "Rivers & banks".to_owned(),
        description: String::new(),
        created: "2026-11-20".to_owned(),
        software: "0.1.0".to_owned(),
        collection_hash: "c011ec7104".repeat(6),
        instances_hash: "3f9ac21e77".repeat(6),
        totals: DocumentAndTermTotals {
            n_docs: 480,
            n_terms: 52_000,
        },
        n_queries: 60,
        splits: Vec::new(),
        n_pairs: 3_000,
        analyzer: Analyzer::default().describe(),
        pool: "group".parse().unwrap(),
        limits: MiningThresholds::STANDARD,
        controls: StudyPageControls::default(),
        variant: AxiomVariant::Fixed,
        variants: vec![AxiomVariant::Fixed],
        rows: vec![
            RankerOverviewRow {
                ranker: ranker("BM25", "k1 1.2, b .75", RankerKind::Lexical),
                slug: "bm25".to_owned(),
                cells: vec![
                    Some(cell([13_094, 0, 963], [0.926, 0.937], 0.0002)),
                    Some(cell([9_785, 0, 0], [1.0, 1.0], 0.0002)),
                ],
                effectiveness: vec![Some(0.5058)],
                n_unscored: 0,
                n_truncated: 0,
                stability: None,
                training: None,
            },
            RankerOverviewRow {
                ranker: ranker("<script>|%&\n_mean", "=1+1", RankerKind::Neural),
                slug: "script-mean".to_owned(),
                cells: vec![Some(cell([7_310, 20, 6_727], [0.38, 0.61], 0.34)), None],
                effectiveness: vec![None],
                n_unscored: 12,
                n_truncated: 1_400,
                stability: Some(certified()),
                training: None,
            },
        ],
        columns: vec![
            column(Probe::Axiom(Axiom::Tfc1), ScoreClaimKind::Higher, 14_057),
            column(Probe::Axiom(Axiom::Lnc2), ScoreClaimKind::NotLower, 9_785),
        ],
        n_unscored_rankers: 0,
        n_behavioral_tests: 0,
        n_tests: 3,
        measures: vec!["nDCG@10".to_owned()],
        audits: Vec::new(),
        remarks: vec!["2 documents have no text.".to_owned()],
        has_withheld_texts: false,
    }
}

fn certified() -> ScoreStabilitySummary {
    let checked = |condition, max_difference, n_changed| ConditionScoreStability {
        condition,
        n_pairs: 128,
        max_difference,
        score_range: 1.9,
        n_verdicts: 400,
        n_changed,
    };
    ScoreStabilitySummary {
        computation: ScoringEnvironment::with_unknown_activation("cpu", "f32"),
        checks: vec![
            checked(RescoringCondition::Unbatched, 4.77e-7, 0),
            checked(RescoringCondition::F16, 0.0012, 3),
        ],
    }
}

fn ranker(label: &str, detail: &str, kind: RankerKind) -> RankerInfo {
    RankerInfo {
        spec: label.to_ascii_lowercase(),
        label: label.to_owned(),
        detail: detail.to_owned(),
        kind,
        fingerprint: "f1".repeat(32),
        note: None,
    }
}

fn cell(
    [satisfied, tied, violated]: [u64; 3],
    interval: [f64; 2],
    p_holm: f64,
) -> RankerAxiomResult {
    let tally = ClaimOutcomeCounts {
        satisfied,
        tied,
        violated,
        unscored: 0,
    };
    let value = satisfied as f64 / tally.n_with_verdict() as f64;
    RankerAxiomResult {
        tally,
        micro_average: EstimateWithInterval { value, interval },
        macro_average: EstimateWithInterval { value, interval },
        p: p_holm / 3.0,
        p_holm,
        n_queries: 60,
        detectable_difference: None,
        untruncated_fraction: None,
    }
}

fn column(probe: Probe, claim: ScoreClaimKind, n_instances: u64) -> AxiomOverviewColumn {
    AxiomOverviewColumn {
        probe,
        claim,
        n_instances,
        n_per_split: Vec::new(),
        n_with_relevant: n_instances / 3,
        n_both_orders: 0,
        sampled_fraction: 1.0,
        qrels_cell: (probe == Probe::Axiom(Axiom::Tfc1))
            .then(|| cell([79, 0, 21], [0.7, 0.86], 0.0003)),
    }
}
