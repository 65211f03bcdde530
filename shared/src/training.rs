//! What a training leaves behind: its learning curve with the fraction of every axiom, and the
//! effectiveness of its result with controls.

pub mod axiom_curve;
pub mod spec;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;

/// A training as its folder records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingRecord {
    /// The name of the folder.
    pub name: String,
    /// The learning curve so far, by ascending step.
    pub points: Vec<LearningCurvePoint>,
    /// The result; `None` before the training has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<TrainingSummary>,
}

/// Values of effectiveness measures by their names, such as `AP`.
pub type MeasureValues = BTreeMap<String, f64>;

/// The learning curve at one checkpoint, a line of `curves.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LearningCurvePoint {
    /// The number of updates before this checkpoint.
    pub step: u64,
    /// The mean loss of the updates since the point before.
    pub loss: f64,
    /// The effectiveness on the development queries.
    pub dev: MeasureValues,
    /// How often each axiom is satisfied on the development queries, by its slug.
    pub axioms: BTreeMap<String, AxiomCurveValue>,
}

impl LearningCurvePoint {
    /// Parses a file with a JSON object in each line, such as `curves.jsonl`. Returns an error for
    /// a line that is not a point, or whose step is not above that of the point before.
    pub fn parse_lines(file: &str, bytes: &[u8]) -> Result<Vec<LearningCurvePoint>, Error> {
        let mut points: Vec<LearningCurvePoint> = Vec::new();
        for (line, number) in bytes.split(|it| *it == b'\n').zip(1..) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let broken = |reason: String| Error::Line {
                file: file.to_owned(),
                line: number,
                reason: format!("{reason}; remove the line, or train again in another folder"),
            };
            let point: LearningCurvePoint =
                serde_json::from_slice(line).map_err(|it| broken(it.to_string()))?;
            if let Some(before) = points.last().filter(|it| it.step >= point.step) {
                let (step, before) = (point.step, before.step);
                return Err(broken(format!("step {step} follows step {before}")));
            }
            points.push(point);
        }
        Ok(points)
    }
}

/// How often an axiom is satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxiomCurveValue {
    /// The fraction of satisfied instances.
    pub fraction: f64,
    /// Its 95 % interval over queries.
    pub interval: [f64; 2],
    /// The number of instances.
    pub n: u64,
}

/// The result of a training, `training.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingSummary {
    /// The name of the network.
    pub model: String,
    /// The number of trained weights.
    pub parameters: u64,
    /// The number of updates before this checkpoint.
    pub steps: u64,
    /// The duration of the training with its evaluations, without interruptions.
    pub seconds: f64,
    /// The best evaluation: its step, and the value of the measure that selects the weights.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub best: BTreeMap<String, serde_json::Number>,
    /// The effectiveness of the result on the development queries.
    pub dev: MeasureValues,
    /// The effectiveness of the result on the test queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<MeasureValues>,
    /// What the effectiveness would be without the right query, on the test queries, or on the
    /// development queries if there is no test split.
    pub controls: EffectivenessControls,
    /// SHA-256 of `model.safetensors` in hex.
    pub sha256: String,
}

impl TrainingSummary {
    /// Returns the name of the split that the controls are for, and the ranker's own values on it.
    pub fn controlled_split_and_values(&self) -> (&'static str, &MeasureValues) {
        match &self.test {
            Some(test) => ("test", test),
            None => ("development", &self.dev),
        }
    }
}

/// The effectiveness of rankings other than the ranker's own for the right query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessControls {
    /// The candidates of each query, ranked by the trained ranker for another query.
    pub swapped_queries: MeasureValues,
    /// The document with most words first.
    pub longest_first: MeasureValues,
    /// The document with fewest words first.
    pub shortest_first: MeasureValues,
    /// The same score for all documents.
    pub constant_score: MeasureValues,
    /// BM25 with its default parameters, over the texts that the ranker reads.
    #[serde(default)]
    pub bm25: MeasureValues,
    /// The standard error over queries of the ranker's own values.
    pub standard_error: MeasureValues,
    /// The number of queries.
    pub n_queries: u64,
    /// The number of candidates of these queries, and of those whose text is also a candidate of a
    /// training query; 0 and 0 if these are not known.
    pub candidates_and_those_in_training: [u64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learning_curve_has_a_point_in_each_line() {
        let point = |step: u64| format!(r#"{{"step":{step},"loss":0.5,"dev":{{}},"axioms":{{}}}}"#);
        let parse = |text: String| LearningCurvePoint::parse_lines("curves.jsonl", text.as_bytes());
        let points = parse(format!("{}\n\n{}\r\n", point(9), point(10))).unwrap();
        assert_eq!(points.iter().map(|it| it.step).collect::<Vec<_>>(), [9, 10]);
        assert_eq!(serde_json::to_string(&points[0]).unwrap(), point(9));
        assert_eq!(parse(String::new()).unwrap(), []);

        let refused = |text: String| parse(text).unwrap_err().to_string();
        let torn = refused(format!("{}\n{}", point(9), &point(10)[..20]));
        assert!(
            torn.starts_with("curves.jsonl, line 2: EOF while"),
            "{torn}"
        );
        assert!(torn.ends_with("; remove the line, or train again in another folder"));
        let again = refused(format!("{}\n\n{}", point(9), point(9)));
        assert!(
            again.starts_with("curves.jsonl, line 3: step 9 follows step 9;"),
            "{again}"
        );
    }
}
