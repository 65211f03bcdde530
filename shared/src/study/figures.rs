//! The figures of a study: where its instances come from, how two rankers differ, and how axioms
//! relate to effectiveness.

pub mod funnel;
pub mod reference_comparison;
pub mod effectiveness;
pub mod query_overlap;
pub mod scatter;

use serde::{Deserialize, Serialize};

use super::Study;
use super::analyzer_audit::InstanceRetentionUnderAnalyzer;
use super::controls::{InstanceFilter, StudyPageControls};
use super::overview::{QuerySplitSize, StudyOverview};
use crate::error::{Error, InvalidFieldReason};
use crate::probe::{AxiomVariant, ProbeInstances};
use crate::score::RankerInfo;
use effectiveness::EffectivenessTable;
use funnel::AxiomRelaxationFunnel;
use query_overlap::EffectivenessByQueryTermOverlap;
use reference_comparison::ComparisonWithReferenceRanker;
use scatter::EffectivenessScatterPlot;

/// The options of the figures: controls, reference ranker, effectiveness measure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StudyFigureOptions {
    /// The controls, as on the Study page.
    #[serde(default)]
    pub controls: StudyPageControls,
    /// The row of the ranker that the others are compared with.
    #[serde(default)]
    pub reference_row: u32,
    /// The position of the measure in [`EffectivenessTable::measures`].
    #[serde(default)]
    pub measure_index: u32,
}

/// All figures of a study for one choice of options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StudyFigures {
    /// Name of the study.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// The hash of its instances.
    pub instances_hash: String,
    /// The variant that is shown.
    pub variant: AxiomVariant,
    /// The variants that were mined.
    pub variants: Vec<AxiomVariant>,
    /// The splits of the queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<QuerySplitSize>,
    /// The options that were chosen.
    pub options: StudyFigureOptions,
    /// The rankers, one for each row.
    pub rankers: Vec<RankerInfo>,
    /// The analyzer, which turns text into terms.
    pub analyzer: String,
    /// One funnel for each axiom.
    pub funnels: Vec<AxiomRelaxationFunnel>,
    /// How many instances remain under other analyzers.
    pub audits: Vec<InstanceRetentionUnderAnalyzer>,
    /// The rankers compared with one of them, axiom by axiom.
    pub reference_comparison: ComparisonWithReferenceRanker,
    /// The effectiveness of the rankers; `None` without judgments.
    pub effectiveness: Option<EffectivenessTable>,
    /// Effectiveness by the share of the query terms that relevant documents contain; `None`
    /// without judgments.
    pub query_overlap: Option<EffectivenessByQueryTermOverlap>,
    /// Effectiveness against axioms; `None` without judgments.
    pub effectiveness_scatter: Option<EffectivenessScatterPlot>,
}

impl Study {
    /// Computes all figures for one choice of options.
    pub fn compute_figures(&self, choice: &StudyFigureOptions) -> Result<StudyFigures, Error> {
        let overview: StudyOverview = self.overview(&choice.controls)?;
        let mode = overview.variant;
        if choice.reference_row as usize >= self.scores.len().max(1) {
            let (members, n) = ("rankers", self.scores.len());
            return Err(InvalidFieldReason::IndexOutOfRange { items: members, n }
                .into_error_for_field("reference_row"));
        }
        let filter = InstanceFilter::from_study_page_controls(self, &choice.controls);
        let probes = self.definition.axioms();
        let shown: Vec<&ProbeInstances> = probes
            .map(|it| self.instances_of_probe(it, mode))
            .collect::<Result<_, Error>>()?;
        let per_query = self.per_query_effectiveness(&filter);
        let measure = choice.measure_index as usize;
        if measure >= overview.measures.len() {
            let (members, n) = ("measures", overview.measures.len());
            return Err(InvalidFieldReason::IndexOutOfRange { items: members, n }
                .into_error_for_field("measure_index"));
        }
        let effectiveness =
            EffectivenessTable::from_per_query_values(&overview.measures, &per_query);
        let scatter = effectiveness
            .as_ref()
            .map(|it| EffectivenessScatterPlot::from_overview(&overview, it, measure));
        Ok(StudyFigures {
            funnels: self.axiom_relaxation_funnels(&shown, &filter)?,
            reference_comparison: self
                .compare_satisfaction_with_reference_ranker(&shown, &filter, choice),
            query_overlap: EffectivenessByQueryTermOverlap::from_per_query_values(
                self,
                &filter,
                &overview.measures[measure],
                measure,
                &per_query,
            ),
            effectiveness_scatter: scatter,
            effectiveness,
            name: overview.name,
            title: overview.title,
            instances_hash: overview.instances_hash,
            variant: mode,
            variants: overview.variants,
            options: choice.clone(),
            rankers: overview.rows.into_iter().map(|it| it.ranker).collect(),
            analyzer: overview.analyzer,
            splits: overview.splits,
            audits: overview.audits,
        })
    }
}
