//! The draft of a new task, as typed. Values are text, so that an error can be shown beside its
//! field.

use serde::{Deserialize, Serialize};
use shared::annotation::task::{
    Allocation, AnnotationTask, DisagreementPair, MarginWeighting, ReferenceAnswer, SamplingDesign,
    TaskFilter,
};
use shared::api::ErrorResponse;
use shared::error::Error;
use shared::probe::Probe;
use shared::study::controls::StudyControls;
use shared::study::overview::StudySummary;
use shared::verdict::Outcome;

use crate::widgets::form::{self, FieldName};

/// The default guidelines.
const GUIDELINES: &str = "\
Read the query, then both documents. Decide which document is better for a person with this query.

- Judge the content, not its length or style.
- *Equal* if both are equally good or equally bad.
- *Cannot say* if you do not understand the query or a document.
";

/// How items are drawn: the kinds of [`SamplingDesign`] without their parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum DesignKind {
    Uniform,
    ByProbe,
    ByMargin,
    AxiomRankerDisagreement,
    RankerDisagreement,
}

impl DesignKind {
    /// All kinds, each with its form value and display name.
    pub(super) const ALL: &[(DesignKind, &str, &str)] = &[
        (
            DesignKind::Uniform,
            "uniform",
            "uniform: every instance with the same probability",
        ),
        (DesignKind::ByProbe, "by-probe", "stratified by probe"),
        (
            DesignKind::ByMargin,
            "by-margin",
            "weighted by margin of a ranker",
        ),
        (
            DesignKind::AxiomRankerDisagreement,
            "axiom-ranker",
            "disagreements between axiom and ranker first",
        ),
        (
            DesignKind::RankerDisagreement,
            "rankers",
            "disagreements between two rankers first",
        ),
    ];
}

/// The draft of a task, as typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskDraft {
    pub(super) study: String,
    pub(super) title: String,
    pub(super) probes: Vec<Probe>,
    pub(super) controls: StudyControls,
    /// The row of the ranker whose outcomes and margins are filtered; empty for none.
    pub(super) ranker: String,
    pub(super) outcome: Option<Outcome>,
    pub(super) min_margin: String,
    pub(super) max_margin: String,
    pub(super) n_items: String,
    pub(super) design: DesignKind,
    pub(super) allocation: Allocation,
    pub(super) margin_preference: MarginWeighting,
    /// The rows of the rankers that the design compares.
    pub(super) compared_rankers: [usize; 2],
    /// The percentage of items that are drawn from those on which the rankers disagree.
    pub(super) disagreement_percent: String,
    pub(super) annotators_per_item: String,
    pub(super) seed: String,
    pub(super) gold_interval: String,
    pub(super) blind: bool,
    pub(super) highlight_terms: bool,
    /// The tags, separated by commas.
    pub(super) tags: String,
    pub(super) guidelines: String,
    pub(super) training: Vec<ReferenceAnswer>,
    pub(super) gold: Vec<ReferenceAnswer>,
}

/// A field of the new-task form that can hold an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskField {
    Title,
    Probes,
    Ranker,
    MarginFrom,
    MarginTo,
    Items,
    DisagreementShare,
    AnnotatorsPerItem,
    Seed,
    GoldInterval,
    Tags,
    Guidelines,
    Training,
    Gold,
    /// The form as a whole: for errors about no field or several.
    Form,
}

impl FieldName for TaskField {
    fn id(self) -> String {
        format!("wrong-{self:?}").to_lowercase()
    }
}

impl TaskField {
    /// Returns the field of a setting, by the name that the server uses.
    fn of(setting: &str) -> TaskField {
        match setting {
            "title" => TaskField::Title,
            "probes" => TaskField::Probes,
            "ranker" => TaskField::Ranker,
            "n_items" => TaskField::Items,
            "disagreement_share" => TaskField::DisagreementShare,
            "annotators_per_item" => TaskField::AnnotatorsPerItem,
            "seed" => TaskField::Seed,
            "gold_interval" => TaskField::GoldInterval,
            "tag" | "tags" => TaskField::Tags,
            "guidelines" => TaskField::Guidelines,
            "training" => TaskField::Training,
            "gold" => TaskField::Gold,
            _ => TaskField::Form,
        }
    }
}

/// An error in a field of the new-task form.
pub(super) type TaskFieldError = form::FormFieldError<TaskField>;

impl TaskFieldError {
    fn new(field: TaskField, reason: impl Into<String>) -> TaskFieldError {
        TaskFieldError {
            field,
            reason: reason.into(),
        }
    }

    /// Converts an error of the server.
    pub(super) fn of(problem: &ErrorResponse) -> TaskFieldError {
        match problem
            .field
            .as_deref()
            .map_or(TaskField::Form, TaskField::of)
        {
            TaskField::Form => TaskFieldError::new(TaskField::Form, &problem.error),
            field => TaskFieldError::new(field, problem.message_without_field()),
        }
    }

    fn of_error(error: Error) -> TaskFieldError {
        match error.field().map_or(TaskField::Form, TaskField::of) {
            TaskField::Form => TaskFieldError::new(TaskField::Form, error.to_string()),
            field => TaskFieldError::new(field, error.message_without_field()),
        }
    }
}

impl TaskDraft {
    /// Creates an empty draft for a study.
    pub(super) fn of(study: &str) -> TaskDraft {
        TaskDraft {
            study: study.to_owned(),
            title: String::new(),
            probes: Vec::new(),
            controls: StudyControls::default(),
            ranker: String::new(),
            outcome: None,
            min_margin: String::new(),
            max_margin: String::new(),
            n_items: "200".to_owned(),
            design: DesignKind::Uniform,
            allocation: Allocation::Equal,
            margin_preference: MarginWeighting::SmallMargins,
            compared_rankers: [0, 1],
            disagreement_percent: "70".to_owned(),
            annotators_per_item: "2".to_owned(),
            seed: "1".to_owned(),
            gold_interval: "10".to_owned(),
            blind: true,
            highlight_terms: true,
            tags: String::new(),
            guidelines: GUIDELINES.to_owned(),
            training: Vec::new(),
            gold: Vec::new(),
        }
    }

    /// Changes the study. Probes, rankers and instances are reset, and texts are kept.
    pub(super) fn select_study(&mut self, study: String) {
        let fresh = TaskDraft::of(&study);
        *self = TaskDraft {
            study,
            probes: fresh.probes,
            controls: fresh.controls,
            ranker: fresh.ranker,
            outcome: fresh.outcome,
            compared_rankers: fresh.compared_rankers,
            training: fresh.training,
            gold: fresh.gold,
            ..self.clone()
        };
    }

    /// Returns whether a required field is empty.
    pub(super) fn is_missing(&self, field: TaskField) -> bool {
        match field {
            TaskField::Title => self.title.is_empty(),
            TaskField::Probes => self.probes.is_empty(),
            _ => false,
        }
    }

    /// Returns the task, or all errors.
    pub(super) fn task(&self) -> Result<AnnotationTask, Vec<TaskFieldError>> {
        let mut wrong = Vec::new();
        let ranker = self.ranker.parse().ok();
        let [margin_from, margin_to] = [
            (TaskField::MarginFrom, &self.min_margin),
            (TaskField::MarginTo, &self.max_margin),
        ]
        .map(|(field, text)| parse_margin(field, text, &mut wrong));
        let wanted = TaskFilter {
            controls: self.controls.clone(),
            ranker,
            outcome: self.outcome,
            min_margin: margin_from,
            max_margin: margin_to,
        };
        let task = AnnotationTask {
            title: self.title.clone(),
            study: self.study.clone(),
            probes: self.probes.clone(),
            filter: wanted,
            n_items: parse_integer(TaskField::Items, &self.n_items, &mut wrong),
            sampling: self.design(&mut wrong),
            annotators_per_item: parse_integer(
                TaskField::AnnotatorsPerItem,
                &self.annotators_per_item,
                &mut wrong,
            ),
            seed: parse_integer(TaskField::Seed, &self.seed, &mut wrong),
            gold_interval: parse_integer(TaskField::GoldInterval, &self.gold_interval, &mut wrong),
            is_blind: self.blind,
            highlights_query_terms: self.highlight_terms,
            tags: self.tags(),
            guidelines: self.guidelines.clone(),
            training: self.training.clone(),
            gold: self.gold.clone(),
        };
        if !wrong.is_empty() {
            return Err(wrong);
        }
        task.validated()
            .map_err(|it| vec![TaskFieldError::of_error(it)])
    }

    fn tags(&self) -> Vec<String> {
        let tags = self.tags.split(',').map(str::trim);
        tags.filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn design(&self, wrong: &mut Vec<TaskFieldError>) -> SamplingDesign {
        let [first, second] = self.compared_rankers;
        let between = match self.design {
            DesignKind::Uniform => return SamplingDesign::Uniform,
            DesignKind::ByProbe => {
                return SamplingDesign::StratifiedByProbe {
                    allocation: self.allocation,
                };
            }
            DesignKind::ByMargin => {
                return SamplingDesign::WeightedByMargin {
                    ranker: first,
                    weighting: self.margin_preference,
                };
            }
            DesignKind::AxiomRankerDisagreement => {
                DisagreementPair::AxiomAndRanker { ranker: first }
            }
            DesignKind::RankerDisagreement => {
                if first == second {
                    wrong.push(TaskFieldError::new(
                        TaskField::DisagreementShare,
                        "must name two different rankers",
                    ));
                }
                DisagreementPair::TwoRankers { first, second }
            }
        };
        let share = self
            .disagreement_percent
            .trim()
            .parse::<f64>()
            .unwrap_or(f64::NAN);
        if !(share > 0.0 && share < 100.0) {
            let reason = "must be a number above 0 and below 100";
            wrong.push(TaskFieldError::new(TaskField::DisagreementShare, reason));
        }
        SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: share / 100.0,
        }
    }
}

fn parse_integer<T: std::str::FromStr + Default>(
    field: TaskField,
    text: &str,
    wrong: &mut Vec<TaskFieldError>,
) -> T {
    text.trim().parse().unwrap_or_else(|_| {
        wrong.push(TaskFieldError::new(field, "must be a whole number"));
        T::default()
    })
}

/// Parses a bound of the margin; an empty text means no bound.
fn parse_margin(field: TaskField, text: &str, wrong: &mut Vec<TaskFieldError>) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let found = text.parse::<f64>().ok().filter(|it| it.is_finite());
    if found.is_none() {
        wrong.push(TaskFieldError::new(field, "must be a number or blank"));
    }
    found
}

/// The key of the draft in the storage of this tab.
const STORAGE_KEY: &str = "axioscope-new-task";

fn session() -> Option<web_sys::Storage> {
    leptos::prelude::window().session_storage().ok().flatten()
}

/// Returns the draft of this tab if it is for the study in the address, or else a new one.
pub(super) fn restore_or_new(wanted: Option<String>, studies: &[StudySummary]) -> TaskDraft {
    let is_there = |name: &String| studies.iter().any(|it| it.name == *name);
    let kept = session().and_then(|it| it.get_item(STORAGE_KEY).ok().flatten());
    // A draft of another version that cannot be parsed is ignored.
    let kept = kept.and_then(|it| serde_json::from_str::<TaskDraft>(&it).ok());
    let kept = kept.filter(|it| is_there(&it.study));
    let wanted = wanted.filter(is_there);
    match (kept, wanted) {
        (Some(kept), None) => kept,
        (Some(mut kept), Some(wanted)) => {
            if kept.study != wanted {
                kept.select_study(wanted);
            }
            kept
        }
        (None, wanted) => {
            let first = studies.first().map(|it| it.name.clone());
            TaskDraft::of(&wanted.or(first).unwrap_or_default())
        }
    }
}

/// Stores a draft until the tab is closed.
pub(super) fn store_draft(draft: &TaskDraft) {
    if let (Some(session), Ok(text)) = (session(), serde_json::to_string(draft)) {
        let _ = session.set_item(STORAGE_KEY, &text);
    }
}

/// Deletes the draft of a new task from the storage of this browser tab.
pub(super) fn delete_draft() {
    if let Some(session) = session() {
        let _ = session.remove_item(STORAGE_KEY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    fn draft() -> TaskDraft {
        TaskDraft {
            title: "First".to_owned(),
            probes: vec![Probe::Axiom(Axiom::Tfc1)],
            ..TaskDraft::of("demo")
        }
    }

    #[track_caller]
    fn wrong(change: impl Fn(&mut TaskDraft)) -> Vec<TaskField> {
        let mut draft = draft();
        change(&mut draft);
        let refused = draft.task().unwrap_err();
        refused.into_iter().map(|it| it.field).collect()
    }

    #[test]
    fn a_sound_draft_is_a_task_and_survives_a_reload() {
        let task = draft().task().unwrap();
        assert_eq!((task.n_items, task.annotators_per_item), (200, 2));
        let json = serde_json::to_string(&draft()).unwrap();
        assert_eq!(serde_json::from_str::<TaskDraft>(&json).unwrap(), draft());
    }

    #[test]
    fn a_mistake_stands_beside_its_field() {
        assert_eq!(wrong(|it| it.title.clear()), [TaskField::Title]);
        assert_eq!(wrong(|it| it.probes.clear()), [TaskField::Probes]);
        assert_eq!(
            wrong(|it| it.n_items = "many".to_owned()),
            [TaskField::Items]
        );
        assert_eq!(
            wrong(|it| it.annotators_per_item = "99".to_owned()),
            [TaskField::AnnotatorsPerItem]
        );
        assert_eq!(
            wrong(|it| it.outcome = Some(Outcome::Tied)),
            [TaskField::Ranker]
        );
        assert_eq!(
            wrong(|it| it.max_margin = "x".to_owned()),
            [TaskField::MarginTo]
        );
        let share = |it: &mut TaskDraft| {
            it.design = DesignKind::AxiomRankerDisagreement;
            it.disagreement_percent = "100".to_owned();
        };
        assert_eq!(wrong(share), [TaskField::DisagreementShare]);
        let same = |it: &mut TaskDraft| {
            it.design = DesignKind::RankerDisagreement;
            it.compared_rankers = [1, 1];
        };
        assert_eq!(wrong(same), [TaskField::DisagreementShare]);
    }

    #[test]
    fn what_the_server_refuses_finds_its_field() {
        let of = |field: Option<&str>, error: &str| {
            let field = field.map(str::to_owned);
            let problem = ErrorResponse::new(error, "setting");
            TaskFieldError::of(&ErrorResponse { field, ..problem })
        };
        let message = "annotators_per_item: is 99; must be from 1 to 20";
        let reason = "is 99; must be from 1 to 20";
        assert_eq!(
            of(Some("annotators_per_item"), message),
            TaskFieldError::new(TaskField::AnnotatorsPerItem, reason)
        );
        let interval = of(Some("gold_interval"), "gold_interval: is 2000");
        assert_eq!(interval.field, TaskField::GoldInterval);
        assert_eq!(
            of(None, "There is no study named `x`").field,
            TaskField::Form
        );
    }

    #[test]
    fn another_study_keeps_the_words() {
        let mut draft = draft();
        draft.select_study("other".to_owned());
        assert_eq!((draft.title.as_str(), draft.probes.len()), ("First", 0));
    }
}
