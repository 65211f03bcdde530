//! Rankers that are trained for a study: `[[train]]` in its file, and what each training leaves in
//! the study.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::controls::InstanceFilter;
use super::definition::validate_study_name;
use super::measures::MEASURES;
use super::{Study, StudyDefinition};
use crate::error::{Error, ErrorFieldName};
use crate::probe::{CandidatePoolSpec, Probe};
use crate::score::RankerQueryDocumentScores;
use crate::study::controls::StudyPageControls;
use crate::training::TrainingRecord;
use crate::training::spec::TrainingSpec;

/// Names that a ranker list reads as something else than a model.
const NAMES_OF_OTHER_RANKERS: [&str; 3] = ["bm25", "ql", "scores"];

/// A training of a study, as written in its file: `[[train]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "WrittenStudyTraining")]
pub struct StudyTraining {
    /// The name of the trained ranker: lowercase letters, digits, hyphens.
    pub name: String,
    /// The name of an earlier training of the study with which this one is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
    /// What is trained, and how.
    #[serde(flatten)]
    pub spec: TrainingSpec,
}

/// The keys of `[[train]]` with those that are unknown: serde does not reject these beside a
/// flattened structure.
#[derive(Deserialize)]
struct WrittenStudyTraining {
    name: String,
    #[serde(default)]
    repairs: Option<String>,
    #[serde(flatten)]
    spec: TrainingSpec,
    #[serde(flatten)]
    unknown: BTreeMap<String, IgnoredAny>,
}

impl TryFrom<WrittenStudyTraining> for StudyTraining {
    /// The reason why the table is invalid.
    type Error = String;

    fn try_from(written: WrittenStudyTraining) -> Result<StudyTraining, String> {
        let WrittenStudyTraining {
            name,
            repairs,
            spec,
            unknown,
        } = written;
        match unknown.keys().next() {
            None => Ok(StudyTraining {
                name,
                repairs,
                spec,
            }),
            Some(key) => Err(format!(
                "unknown field `{key}` of training `{name}`; `[[train]]` has `name`, `repairs` \
                 and the options of `axioscope train`, for example `model`"
            )),
        }
    }
}

impl StudyTraining {
    /// Returns the split on whose queries the ranker is compared with others: that of the test, or
    /// else of development.
    pub fn evaluation_split(&self) -> &str {
        self.spec.test.as_deref().unwrap_or(&self.spec.dev)
    }
}

/// Checks the trainings of a definition; returns an error if one cannot be started or compared.
pub(super) fn validate_trainings(trainings: &[StudyTraining]) -> Result<(), Error> {
    for (at, training) in trainings.iter().enumerate() {
        let StudyTraining {
            name,
            repairs,
            spec,
        } = training;
        validate_study_name(name)?;
        let refuse = |reason: String| {
            let field = ErrorFieldName::with_display_name("train", format!("training `{name}`"));
            Err(Error::conflicting_value(field, reason))
        };
        if NAMES_OF_OTHER_RANKERS.contains(&&**name) {
            return refuse("has the name of another kind of ranker; choose another".to_owned());
        }
        let earlier = &trainings[..at];
        if earlier.iter().any(|it| it.name == *name) {
            return refuse("has the name of another one; give each a name of its own".to_owned());
        }
        spec.pool.parse::<CandidatePoolSpec>()?;
        let Some(repaired) = repairs else { continue };
        let Some(before) = earlier.iter().find(|it| it.name == *repaired) else {
            return refuse(format!(
                "repairs `{repaired}`, which is no earlier training of the study; put that \
                 [[train]] first"
            ));
        };
        if before.spec.model != spec.model {
            return refuse(format!(
                "repairs `{repaired}`, which is another network; give both the same `model`"
            ));
        }
        let seen = [&spec.split, &spec.dev, &before.spec.split, &before.spec.dev];
        let test = spec.test.as_ref().filter(|it| !seen.contains(it));
        if test.is_none() || before.spec.test.as_ref() != test {
            return refuse(format!(
                "repairs `{repaired}`, and both are compared on held-out queries; give both the \
                 same `test`, other than `split` and `dev`"
            ));
        }
    }
    Ok(())
}

/// A ranker that was trained for a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainedRankerRecord {
    /// The [`crate::score::RankerInfo::spec`] of its scores.
    pub ranker: String,
    /// The axioms for which examples were added: that of the repeated documents, and those of the
    /// instances.
    pub added_axioms: Vec<Probe>,
    /// For each query with judgments the effectiveness in its pool when it is ranked with the text
    /// of another query of its split, by the measures of the overview.
    pub swapped_effectiveness: BTreeMap<String, Vec<f64>>,
    /// The learning curve and the result; its name is that of the training.
    pub record: TrainingRecord,
}

/// What the overview of a study shows of a trained ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainedRankerOverview {
    /// The name of the training.
    pub name: String,
    /// The network, such as `drmm`.
    pub model: String,
    /// The name of the training that it repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
    /// The axioms for which examples were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_axioms: Vec<Probe>,
    /// The effectiveness with the text of another query, one value for each measure of the
    /// overview; `None` without judgments.
    pub swapped_effectiveness: Vec<Option<f64>>,
}

impl StudyDefinition {
    /// Returns the split that every training of the study is tested on; `None` if there is no
    /// training or they differ.
    pub fn common_test_split(&self) -> Option<&str> {
        let first = self.train.first()?.spec.test.as_deref()?;
        let is_common = |it: &StudyTraining| it.spec.test.as_deref() == Some(first);
        self.train.iter().all(is_common).then_some(first)
    }
}

impl Study {
    /// Returns the record of the training with a name, if it has ended.
    pub fn find_training(&self, name: &str) -> Option<&TrainedRankerRecord> {
        self.trainings.iter().find(|it| it.record.name == name)
    }

    /// Returns the effectiveness of a ranker in the pool of each query with judgments, by the
    /// measures of the overview.
    pub fn evaluate_ranker_per_query(
        &self,
        scores: &RankerQueryDocumentScores,
    ) -> BTreeMap<String, Vec<f64>> {
        let controls = StudyPageControls::default();
        let filter = InstanceFilter::from_study_page_controls(self, &controls);
        let evaluated = self.evaluate_ranker(scores, &filter);
        evaluated.map_or_else(BTreeMap::new, |it| it.per_query)
    }

    /// Returns whether the definition has a training, and its record has the values that are shown.
    pub(super) fn has_training(&self, trained: &TrainedRankerRecord) -> bool {
        let mut defined = self.definition.train.iter();
        let mut swapped = trained.swapped_effectiveness.values();
        let points = &trained.record.points;
        defined.any(|it| it.name == trained.record.name)
            && swapped.all(|it| it.len() == MEASURES.len())
            && !points.is_empty()
            && points.is_sorted_by(|one, next| one.step < next.step)
    }

    /// Returns the record of the training of a ranker, if it was trained for the study.
    pub(super) fn trained_ranker_record(
        &self,
        scores: &RankerQueryDocumentScores,
    ) -> Option<&TrainedRankerRecord> {
        let mut trainings = self.trainings.iter();
        trainings.find(|it| it.ranker == scores.ranker.spec)
    }

    /// Returns what the overview shows of a ranker if it was trained for the study.
    pub(super) fn trained_ranker_overview(
        &self,
        scores: &RankerQueryDocumentScores,
        filter: &InstanceFilter<'_>,
    ) -> Option<TrainedRankerOverview> {
        let record = self.trained_ranker_record(scores)?;
        let mut defined = self.definition.train.iter();
        let training = defined.find(|it| it.name == record.record.name)?;
        let queries = self.queries.iter().enumerate();
        let values: Vec<&Vec<f64>> = queries
            .filter(|it| filter.includes_query(it.0))
            .filter_map(|it| record.swapped_effectiveness.get(&it.1.id))
            .collect();
        let mean = |measure: usize| {
            let sum: f64 = values.iter().filter_map(|it| it.get(measure)).sum();
            (!values.is_empty()).then(|| sum / values.len() as f64)
        };
        Some(TrainedRankerOverview {
            name: training.name.clone(),
            model: training.spec.model.clone(),
            repairs: training.repairs.clone(),
            added_axioms: record.added_axioms.clone(),
            swapped_effectiveness: (0..MEASURES.len()).map(mean).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::ParsedStudyFile;

    fn read(trainings: &str) -> Result<StudyDefinition, Error> {
        let text = format!("name = \"s\"\ncollection = \"c\"\n{trainings}");
        ParsedStudyFile::from_toml("study.toml", &text).map(|it| it.definition)
    }

    const REPAIRED: &str = "[[train]]\nname = \"drmm\"\nmodel = \"drmm\"\ntest = \"test\"\n";

    #[test]
    fn a_training_has_the_options_of_the_command() {
        let definition = read(&format!(
            "{REPAIRED}[[train]]\nname = \"drmm-lnc2\"\nmodel = \"drmm\"\ntest = \"test\"\n\
             repairs = \"drmm\"\naugment = [\"lnc2\"]\nset = [\"epochs=3\"]\nseed = 7"
        ))
        .unwrap();
        let [first, second] = &definition.train[..] else {
            panic!("there are two trainings")
        };
        assert_eq!((first.spec.pool.as_str(), first.spec.seed), ("judged", 1));
        assert_eq!(second.repairs.as_deref(), Some("drmm"));
        assert_eq!(
            (&second.spec.augment[..], second.spec.seed),
            (&["lnc2".to_owned()][..], 7)
        );
        assert_eq!(second.evaluation_split(), "test");
        assert_eq!(definition.common_test_split(), Some("test"));
        // What is written is read again, as TOML and as JSON.
        assert_eq!(
            StudyDefinition::from_toml("s", &definition.to_toml()).unwrap(),
            definition
        );
        let json = serde_json::to_string(&definition).unwrap();
        assert_eq!(
            serde_json::from_str::<StudyDefinition>(&json).unwrap(),
            definition
        );
    }

    #[test]
    fn a_training_that_cannot_be_made_or_compared_is_an_error() {
        let second = |keys: &str| format!("{REPAIRED}[[train]]\nname = \"b\"\n{keys}");
        for (trainings, part) in [
            (
                "[[train]]".to_owned(),
                "missing: `name` in [[train]], `model` in [[train]]; ",
            ),
            (
                format!("{REPAIRED}epochs = 2"),
                "unknown field `epochs` of training `drmm`",
            ),
            (
                REPAIRED.replace("\"drmm\"", "\"A b\""),
                "a name has 1 to 64 lowercase letters",
            ),
            (
                REPAIRED.replace("name = \"drmm\"", "name = \"ql\""),
                "another kind of ranker",
            ),
            (format!("{REPAIRED}pool = \"some\""), "some"),
            (
                REPAIRED.repeat(2),
                "training `drmm`: has the name of another one",
            ),
            (
                second("model = \"drmm\"\nrepairs = \"c\""),
                "`c`, which is no earlier training",
            ),
            (
                second("model = \"drmm\"\nrepairs = \"b\""),
                "`b`, which is no earlier training",
            ),
            (
                second("model = \"anmm\"\ntest = \"test\"\nrepairs = \"drmm\""),
                "give both the same `model`",
            ),
            (
                second("model = \"drmm\"\nrepairs = \"drmm\""),
                "give both the same `test`",
            ),
            (
                second("model = \"drmm\"\nrepairs = \"drmm\"\ntest = \"test\"\ndev = \"test\""),
                "other than `split` and `dev`",
            ),
        ] {
            let error = read(&trainings).unwrap_err().to_string();
            assert!(error.contains(part), "{trainings}: {error}");
        }
    }
}
