//! The draft of a new task, as typed. Values are text, so that an error can be shown beside its
//! field.

use serde::{Deserialize, Serialize};
use shared::annotation::task::{
    AnnotationTaskDefinition, DisagreementToOversample, InstanceWithReferenceAnswer,
    OversampledMarginSize, ProbeItemAllocation, SamplingDesign, TaskInstanceFilter,
};
use shared::api::ErrorResponse;
use shared::error::Error;
use shared::probe::Probe;
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::overview::StudySummary;
use shared::verdict::VerdictOutcome;

use crate::widgets::form::{self, FormFieldId};

/// The default guidelines.
const GUIDELINES: &str = "\
Read the query, then both documents. Decide which document is better for a person with this query.

- Judge the content, not its length or style.
- *Equal* if both are equally good or equally bad.
- *Cannot say* if you do not understand the query or a document.
";

/// How items are drawn: the kinds of [`SamplingDesign`] without their parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SamplingDesignKind {
    Uniform,
    ByProbe,
    ByMargin,
    AxiomRankerDisagreement,
    RankerDisagreement,
}

impl SamplingDesignKind {
    /// All kinds, each with its form value and display name.
    pub(super) const ALL: &[(SamplingDesignKind, &str, &str)] = &[
        (
            SamplingDesignKind::Uniform,
            "uniform",
            "uniform: every instance with the same probability",
        ),
        (
            SamplingDesignKind::ByProbe,
            "by-probe",
            "stratified by probe",
        ),
        (
            SamplingDesignKind::ByMargin,
            "by-margin",
            "weighted by margin of a ranker",
        ),
        (
            SamplingDesignKind::AxiomRankerDisagreement,
            "axiom-ranker",
            "disagreements between axiom and ranker first",
        ),
        (
            SamplingDesignKind::RankerDisagreement,
            "rankers",
            "disagreements between two rankers first",
        ),
    ];
}

/// The draft of a task, as typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NewTaskDraft {
    pub(super) study: String,
    pub(super) title: String,
    pub(super) probes: Vec<Probe>,
    pub(super) controls: StudyPageControls,
    /// The row of the ranker whose outcomes and margins are filtered; empty for none.
    pub(super) ranker: String,
    pub(super) outcome: Option<VerdictOutcome>,
    pub(super) min_margin: String,
    pub(super) max_margin: String,
    pub(super) n_items: String,
    pub(super) design: SamplingDesignKind,
    pub(super) allocation: ProbeItemAllocation,
    pub(super) margin_preference: OversampledMarginSize,
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
    pub(super) training: Vec<InstanceWithReferenceAnswer>,
    pub(super) gold: Vec<InstanceWithReferenceAnswer>,
}

/// A field of the new-task form that can hold an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewTaskField {
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

impl FormFieldId for NewTaskField {
    fn id(self) -> String {
        format!("wrong-{self:?}").to_lowercase()
    }
}

impl NewTaskField {
    /// Returns the field of a setting, by the name that the server uses.
    fn of(setting: &str) -> NewTaskField {
        match setting {
            "title" => NewTaskField::Title,
            "probes" => NewTaskField::Probes,
            "ranker" => NewTaskField::Ranker,
            "n_items" => NewTaskField::Items,
            "disagreement_share" => NewTaskField::DisagreementShare,
            "annotators_per_item" => NewTaskField::AnnotatorsPerItem,
            "seed" => NewTaskField::Seed,
            "gold_interval" => NewTaskField::GoldInterval,
            "tag" | "tags" => NewTaskField::Tags,
            "guidelines" => NewTaskField::Guidelines,
            "training" => NewTaskField::Training,
            "gold" => NewTaskField::Gold,
            _ => NewTaskField::Form,
        }
    }
}

/// An error in a field of the new-task form.
pub(super) type NewTaskFieldError = form::FormFieldError<NewTaskField>;

impl NewTaskFieldError {
    fn new(field: NewTaskField, reason: impl Into<String>) -> NewTaskFieldError {
        NewTaskFieldError {
            field,
            reason: reason.into(),
        }
    }

    /// Converts an error of the server.
    pub(super) fn from_server_error(problem: &ErrorResponse) -> NewTaskFieldError {
        match problem
            .field
            .as_deref()
            .map_or(NewTaskField::Form, NewTaskField::of)
        {
            NewTaskField::Form => NewTaskFieldError::new(NewTaskField::Form, &problem.error),
            field => NewTaskFieldError::new(field, problem.message_without_field()),
        }
    }

    fn of_error(error: Error) -> NewTaskFieldError {
        match error
            .field_name()
            .map_or(NewTaskField::Form, NewTaskField::of)
        {
            NewTaskField::Form => NewTaskFieldError::new(NewTaskField::Form, error.to_string()),
            field => NewTaskFieldError::new(field, error.message_without_field()),
        }
    }
}

impl NewTaskDraft {
    /// Creates an empty draft for a study. It draws from instances with a relevant document, about
    /// which a person can say more than about two documents of another topic.
    pub(super) fn empty_for_study(study: &str) -> NewTaskDraft {
        NewTaskDraft {
            study: study.to_owned(),
            title: String::new(),
            probes: Vec::new(),
            controls: StudyPageControls {
                subset: InstanceSubset::WithRelevant,
                ..StudyPageControls::default()
            },
            ranker: String::new(),
            outcome: None,
            min_margin: String::new(),
            max_margin: String::new(),
            n_items: "200".to_owned(),
            design: SamplingDesignKind::Uniform,
            allocation: ProbeItemAllocation::Equal,
            margin_preference: OversampledMarginSize::SmallMargins,
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
    pub(super) fn change_study(&mut self, study: String) {
        let fresh = NewTaskDraft::empty_for_study(&study);
        *self = NewTaskDraft {
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
    pub(super) fn is_required_field_empty(&self, field: NewTaskField) -> bool {
        match field {
            NewTaskField::Title => self.title.is_empty(),
            NewTaskField::Probes => self.probes.is_empty(),
            _ => false,
        }
    }

    /// Returns the task, or all errors.
    pub(super) fn to_annotation_task(
        &self,
    ) -> Result<AnnotationTaskDefinition, Vec<NewTaskFieldError>> {
        let mut wrong = Vec::new();
        let ranker = self.ranker.parse().ok();
        let [margin_from, margin_to] = [
            (NewTaskField::MarginFrom, &self.min_margin),
            (NewTaskField::MarginTo, &self.max_margin),
        ]
        .map(|(field, text)| parse_margin(field, text, &mut wrong));
        let wanted = TaskInstanceFilter {
            controls: self.controls.clone(),
            ranker,
            outcome: self.outcome,
            min_margin: margin_from,
            max_margin: margin_to,
        };
        let task = AnnotationTaskDefinition {
            title: self.title.clone(),
            study: self.study.clone(),
            probes: self.probes.clone(),
            filter: wanted,
            n_items: parse_integer(NewTaskField::Items, &self.n_items, &mut wrong),
            sampling: self.design(&mut wrong),
            annotators_per_item: parse_integer(
                NewTaskField::AnnotatorsPerItem,
                &self.annotators_per_item,
                &mut wrong,
            ),
            seed: parse_integer(NewTaskField::Seed, &self.seed, &mut wrong),
            gold_interval: parse_integer(
                NewTaskField::GoldInterval,
                &self.gold_interval,
                &mut wrong,
            ),
            is_blind: self.blind,
            highlights_query_terms: self.highlight_terms,
            tags: self.tags(),
            guidelines: self.guidelines.clone(),
            training: self.training.clone(),
            gold: self.gold.clone(),
            simulation: None,
        };
        if !wrong.is_empty() {
            return Err(wrong);
        }
        task.normalize_and_validate()
            .map_err(|it| vec![NewTaskFieldError::of_error(it)])
    }

    fn tags(&self) -> Vec<String> {
        let tags = self.tags.split(',').map(str::trim);
        tags.filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn design(&self, wrong: &mut Vec<NewTaskFieldError>) -> SamplingDesign {
        let [first, second] = self.compared_rankers;
        let between = match self.design {
            SamplingDesignKind::Uniform => return SamplingDesign::Uniform,
            SamplingDesignKind::ByProbe => {
                return SamplingDesign::StratifiedByProbe {
                    allocation: self.allocation,
                };
            }
            SamplingDesignKind::ByMargin => {
                return SamplingDesign::WeightedByMargin {
                    ranker: first,
                    weighting: self.margin_preference,
                };
            }
            SamplingDesignKind::AxiomRankerDisagreement => {
                DisagreementToOversample::AxiomAndRanker { ranker: first }
            }
            SamplingDesignKind::RankerDisagreement => {
                if first == second {
                    wrong.push(NewTaskFieldError::new(
                        NewTaskField::DisagreementShare,
                        "must name two different rankers",
                    ));
                }
                DisagreementToOversample::TwoRankers { first, second }
            }
        };
        let share = self
            .disagreement_percent
            .trim()
            .parse::<f64>()
            .unwrap_or(f64::NAN);
        if !(share > 0.0 && share < 100.0) {
            let reason = "must be a number above 0 and below 100";
            wrong.push(NewTaskFieldError::new(
                NewTaskField::DisagreementShare,
                reason,
            ));
        }
        SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: share / 100.0,
        }
    }
}

fn parse_integer<T: std::str::FromStr + Default>(
    field: NewTaskField,
    text: &str,
    wrong: &mut Vec<NewTaskFieldError>,
) -> T {
    text.trim().parse().unwrap_or_else(|_| {
        wrong.push(NewTaskFieldError::new(field, "must be a whole number"));
        T::default()
    })
}

/// Parses a bound of the margin; an empty text means no bound.
fn parse_margin(
    field: NewTaskField,
    text: &str,
    wrong: &mut Vec<NewTaskFieldError>,
) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let found = text.parse::<f64>().ok().filter(|it| it.is_finite());
    if found.is_none() {
        wrong.push(NewTaskFieldError::new(field, "must be a number or blank"));
    }
    found
}

/// The key of the draft in the storage of this tab.
const STORAGE_KEY: &str = "axioscope-new-task";

fn session() -> Option<web_sys::Storage> {
    leptos::prelude::window().session_storage().ok().flatten()
}

/// Returns the draft of this tab if it is for the study in the address, or else a new one.
pub(super) fn restore_or_create_draft(
    wanted: Option<String>,
    studies: &[StudySummary],
) -> NewTaskDraft {
    let is_there = |name: &String| studies.iter().any(|it| it.name == *name);
    let kept = session().and_then(|it| it.get_item(STORAGE_KEY).ok().flatten());
    // A draft of another version that cannot be parsed is ignored.
    let kept = kept.and_then(|it| serde_json::from_str::<NewTaskDraft>(&it).ok());
    let kept = kept.filter(|it| is_there(&it.study));
    let wanted = wanted.filter(is_there);
    match (kept, wanted) {
        (Some(kept), None) => kept,
        (Some(mut kept), Some(wanted)) => {
            if kept.study != wanted {
                kept.change_study(wanted);
            }
            kept
        }
        (None, wanted) => {
            let first = studies.first().map(|it| it.name.clone());
            NewTaskDraft::empty_for_study(&wanted.or(first).unwrap_or_default())
        }
    }
}

/// Stores a draft until the tab is closed.
pub(super) fn store_draft_in_session_storage(draft: &NewTaskDraft) {
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

    fn draft() -> NewTaskDraft {
        NewTaskDraft {
            title: "First".to_owned(),
            probes: vec![Probe::Axiom(Axiom::Tfc1)],
            ..NewTaskDraft::empty_for_study("demo")
        }
    }

    #[track_caller]
    fn wrong(change: impl Fn(&mut NewTaskDraft)) -> Vec<NewTaskField> {
        let mut draft = draft();
        change(&mut draft);
        let refused = draft.to_annotation_task().unwrap_err();
        refused.into_iter().map(|it| it.field).collect()
    }

    #[test]
    fn a_sound_draft_is_a_task_and_survives_a_reload() {
        let task = draft().to_annotation_task().unwrap();
        assert_eq!((task.n_items, task.annotators_per_item), (200, 2));
        let json = serde_json::to_string(&draft()).unwrap();
        assert_eq!(
            serde_json::from_str::<NewTaskDraft>(&json).unwrap(),
            draft()
        );
    }

    #[test]
    fn a_mistake_stands_beside_its_field() {
        assert_eq!(wrong(|it| it.title.clear()), [NewTaskField::Title]);
        assert_eq!(wrong(|it| it.probes.clear()), [NewTaskField::Probes]);
        assert_eq!(
            wrong(|it| it.n_items = "many".to_owned()),
            [NewTaskField::Items]
        );
        assert_eq!(
            wrong(|it| it.annotators_per_item = "99".to_owned()),
            [NewTaskField::AnnotatorsPerItem]
        );
        assert_eq!(
            wrong(|it| it.outcome = Some(VerdictOutcome::Tied)),
            [NewTaskField::Ranker]
        );
        assert_eq!(
            wrong(|it| it.max_margin = "x".to_owned()),
            [NewTaskField::MarginTo]
        );
        let share = |it: &mut NewTaskDraft| {
            it.design = SamplingDesignKind::AxiomRankerDisagreement;
            it.disagreement_percent = "100".to_owned();
        };
        assert_eq!(wrong(share), [NewTaskField::DisagreementShare]);
        let same = |it: &mut NewTaskDraft| {
            it.design = SamplingDesignKind::RankerDisagreement;
            it.compared_rankers = [1, 1];
        };
        assert_eq!(wrong(same), [NewTaskField::DisagreementShare]);
    }

    #[test]
    fn what_the_server_refuses_finds_its_field() {
        let of = |field: Option<&str>, error: &str| {
            let field = field.map(str::to_owned);
            let problem = ErrorResponse::with_message_and_type(error, "setting");
            NewTaskFieldError::from_server_error(&ErrorResponse { field, ..problem })
        };
        let message = "annotators_per_item: is 99; must be from 1 to 20";
        let reason = "is 99; must be from 1 to 20";
        assert_eq!(
            of(Some("annotators_per_item"), message),
            NewTaskFieldError::new(NewTaskField::AnnotatorsPerItem, reason)
        );
        let interval = of(Some("gold_interval"), "gold_interval: is 2000");
        assert_eq!(interval.field, NewTaskField::GoldInterval);
        assert_eq!(
            of(None, "There is no study named `x`").field,
            NewTaskField::Form
        );
    }

    #[test]
    fn another_study_keeps_the_words() {
        let mut draft = draft();
        draft.change_study("other".to_owned());
        assert_eq!((draft.title.as_str(), draft.probes.len()), ("First", 0));
    }
}
