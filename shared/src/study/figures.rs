//! The figures of a study: where its instances come from, how two rankers differ, and how axioms
//! relate to effectiveness.

pub mod funnel;
pub mod reference_comparison;
pub mod effectiveness;
pub mod query_overlap;
pub mod scatter;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyFigureOptions {
    /// The controls, as on the Study page.
    #[serde(default)]
    pub controls: StudyPageControls,
    /// The ranker that the others are compared with: its slug, or its row counted from 0.
    #[serde(
        default = "first_row",
        alias = "reference_row",
        deserialize_with = "deserialize_reference"
    )]
    pub reference: String,
    /// The position of the measure in [`EffectivenessTable::measures`], counted from 0.
    #[serde(default, alias = "measure_index")]
    pub measure: u32,
}

impl Default for StudyFigureOptions {
    fn default() -> StudyFigureOptions {
        StudyFigureOptions {
            controls: StudyPageControls::default(),
            reference: first_row(),
            measure: 0,
        }
    }
}

/// Returns the row of the first ranker as text, which every study with a ranker has.
fn first_row() -> String {
    "0".to_owned()
}

/// Reads the reference ranker: a text, or its row as a number, as it was written before.
fn deserialize_reference<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenReference {
        Name(String),
        Row(u32),
    }
    Ok(match WrittenReference::deserialize(from)? {
        WrittenReference::Name(name) => name,
        WrittenReference::Row(row) => row.to_string(),
    })
}

/// All figures of a study for one choice of options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
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
        let reference = self.reference_row(&choice.reference)?;
        let filter = InstanceFilter::from_study_page_controls(self, &choice.controls);
        let probes = self.definition.axioms();
        let shown: Vec<&ProbeInstances> = probes
            .map(|it| self.instances_of_probe(it, mode))
            .collect::<Result<_, Error>>()?;
        let per_query = self.per_query_effectiveness(&filter);
        let measure = choice.measure as usize;
        if measure >= overview.measures.len() {
            let (members, n) = ("measures", overview.measures.len());
            return Err(InvalidFieldReason::IndexOutOfRange { items: members, n }
                .into_error_for_field("measure"));
        }
        let mut effectiveness =
            EffectivenessTable::from_per_query_values(&overview.measures, &per_query);
        if let Some(table) = &mut effectiveness {
            table.add_swapped_values(&overview);
        }
        let scatter = effectiveness
            .as_ref()
            .map(|it| EffectivenessScatterPlot::from_overview(&overview, it, measure));
        Ok(StudyFigures {
            funnels: self.axiom_relaxation_funnels(&shown, &filter)?,
            reference_comparison: self.compare_satisfaction_with_reference_ranker(
                &shown,
                &filter,
                &choice.controls,
                reference,
            ),
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

    /// Returns the row of the reference ranker. A study without scores has the first row only, of
    /// which nothing is computed.
    fn reference_row(&self, name: &str) -> Result<usize, Error> {
        match self.scores.is_empty() && name == first_row() {
            true => Ok(0),
            false => self.parse_ranker_row_index(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn the_reference_ranker_is_named_by_its_slug_or_its_row() {
        let study = fixture::study_with_one_query("river bank", &fixture::RIVER_TEXTS, 10);
        let figures = |reference: &str| {
            study.compute_figures(&StudyFigureOptions {
                reference: reference.to_owned(),
                ..StudyFigureOptions::default()
            })
        };
        for (name, row) in [("bm25", 0), ("0", 0), ("ql", 1), ("1", 1)] {
            let found = figures(name).unwrap().reference_comparison;
            assert_eq!(found.reference, row, "{name}");
            assert!(
                found.rows[row as usize].iter().all(Option::is_none),
                "{name}"
            );
        }
        for unknown in ["2", "minilm-bi"] {
            let error = figures(unknown).unwrap_err().to_string();
            assert!(
                error.contains(unknown) && error.contains("bm25, ql"),
                "{error}"
            );
        }
        let mut unscored = study.clone();
        unscored.scores.clear();
        let figures = unscored.compute_figures(&StudyFigureOptions::default());
        assert!(figures.unwrap().rankers.is_empty());
    }

    #[test]
    fn options_under_the_old_names_are_read() {
        let parse = |json| serde_json::from_str::<StudyFigureOptions>(json).unwrap();
        let expected = StudyFigureOptions {
            reference: "1".to_owned(),
            measure: 2,
            ..StudyFigureOptions::default()
        };
        assert_eq!(
            parse(r#"{"reference_row": 1, "measure_index": 2}"#),
            expected
        );
        assert_eq!(parse(r#"{"reference": "1", "measure": 2}"#), expected);
        assert_eq!(parse("{}"), StudyFigureOptions::default());
    }
}
