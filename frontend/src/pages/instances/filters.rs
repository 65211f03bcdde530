//! The filters of an instance list: outcome, query, margin and order.

use std::sync::Arc;

use leptos::prelude::*;
use shared::probe::Probe;
use shared::report::format;
use shared::study::instance_list::{InstanceSort, ReviewStatus};
use shared::study::overview::{RankerAxiomResult, StudyOverview};
use shared::verdict::VerdictOutcome;

use super::super::study::address::{
    InstanceListView, parse_review_status, parse_sort, review_status_parameter, sort_parameter,
};
use crate::debounce::DebounceTimer;
use crate::widgets::form::RadioButton;
use crate::widgets::heatmap::HeatMapPosition;
use crate::widgets::term::{GlossaryTerm, Term};
use crate::widgets::verdict::outcome_label_for_probe;

/// Who has decided on instances of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceReviewers {
    People,
    /// Simulated annotators alone.
    Simulated,
    Both,
}

impl InstanceReviewers {
    /// Returns who has decided, given the number of instances on which people have, and that of
    /// those on which only simulated annotators have.
    pub(super) fn from_counts(n_people: u64, n_simulated: u64) -> Option<InstanceReviewers> {
        match (n_people, n_simulated) {
            (0, 0) => None,
            (_, 0) => Some(InstanceReviewers::People),
            (0, _) => Some(InstanceReviewers::Simulated),
            (..) => Some(InstanceReviewers::Both),
        }
    }
}

/// Renders the filters of an instance list: outcome, query, margin and sort order.
#[component]
pub(super) fn InstanceListFilters(
    /// The axiom or behavioral test.
    probe: Probe,
    /// The view in the address.
    view: Memo<InstanceListView>,
    /// Changes the address.
    go: Callback<InstanceListView>,
    /// Used for the counts; none until it is loaded.
    overview: Memo<Option<Arc<StudyOverview>>>,
    /// The position on the heat map whose instances are listed, once it is known.
    spot: Memo<Option<HeatMapPosition>>,
    /// Who has decided on instances of the probe; none if nobody has.
    reviewers: Memo<Option<InstanceReviewers>>,
) -> impl IntoView {
    let cell = move || {
        let overview = overview.get()?;
        spot.get()?.cell_in_overview(&overview).cloned()
    };
    let outcomes = [
        None,
        Some(VerdictOutcome::Violated),
        Some(VerdictOutcome::Tied),
        Some(VerdictOutcome::Satisfied),
    ];
    let outcomes = outcomes.map(|outcome| {
        let turn = move || update_view(view, go, |it| it.outcome = outcome);
        let term = outcome
            .filter(|_| probe.is_axiom())
            .map(GlossaryTerm::Outcome);
        let chosen = move || view.get().outcome == outcome;
        view! {
            <RadioButton group="outcome" term chosen choose=turn>
                {move || outcome_count_text(probe, cell().as_ref(), outcome)}
            </RadioButton>
        }
    });
    let filter_label = if probe.is_axiom() {
        "Verdict"
    } else {
        "Effect"
    };
    let later = DebounceTimer::with_delay_ms(250);
    let search = move |text: String| {
        later.schedule(move || update_view(view, go, |it| it.query = text));
    };
    let status =
        Signal::derive(move || view.get().review_status.map_or("", review_status_parameter));
    let choose = Callback::new(move |chosen: String| {
        update_view(view, go, |it| {
            it.review_status = parse_review_status(&chosen)
        });
    });
    let review = move || {
        let is_shown = reviewers.get().is_some() || view.get().review_status.is_some();
        let reviewed = match reviewers.get() {
            Some(InstanceReviewers::People) | None => "reviewed",
            Some(InstanceReviewers::Simulated) => "reviewed (simulated)",
            Some(InstanceReviewers::Both) => "reviewed (people or simulated)",
        };
        let statuses = [
            (None, "all"),
            (Some(ReviewStatus::Reviewed), reviewed),
            (Some(ReviewStatus::NotReviewed), "not reviewed"),
        ];
        let statuses = statuses.map(|(it, said)| (it.map_or("", review_status_parameter), said));
        let options = statuses.to_vec();
        is_shown.then(|| view! { <SelectFilter label="Review" options selected=status choose/> })
    };
    let from = Callback::new(move |from| update_view(view, go, |it| it.min_margin = from));
    let to = Callback::new(move |to| update_view(view, go, |it| it.max_margin = to));
    let (up, down) = match probe.is_axiom() {
        true => ("clearest violation first", "clearest agreement first"),
        false => ("most negative first", "most positive first"),
    };
    let orders = [
        (InstanceSort::MostInstructive, "most instructive first"),
        (InstanceSort::Query, "by query"),
        (InstanceSort::MarginAscending, up),
        (InstanceSort::MarginDescending, down),
        (InstanceSort::AbsoluteMargin, "closest call first"),
    ];
    let orders = orders.map(|(sort, said)| (sort_parameter(sort), said));
    let order = Signal::derive(move || sort_parameter(view.get().sort));
    let reorder = Callback::new(move |chosen: String| {
        update_view(view, go, |it| it.sort = parse_sort(&chosen));
    });
    view! {
        <div class="bar filters" role="group" aria-label="Instance filters">
            <span class="choice" role="radiogroup" aria-label=filter_label>{outcomes}</span>
            <label class="dial">
                <span class="label">"Query"</span>
                <input
                    class="btn search"
                    type="search"
                    placeholder="query text or id"
                    prop:value=move || view.get().query
                    on:input:target=move |event| search(event.target().value())
                />
            </label>
            <span class="dial" role="group" aria-label="Margin">
                <span class="label"><Term of=GlossaryTerm::Margin>"Margin"</Term></span>
                <MarginBound
                    label="from"
                    value=Signal::derive(move || view.get().min_margin)
                    set=from
                />
                <MarginBound label="to" value=Signal::derive(move || view.get().max_margin) set=to/>
            </span>
            {review}
            <SelectFilter
                label="Order"
                options=orders.to_vec()
                selected=order
                choose=reorder
            />
        </div>
    }
}

/// Renders a choice among options, each with its address parameter and its name.
#[component]
fn SelectFilter(
    label: &'static str,
    options: Vec<(&'static str, &'static str)>,
    /// The address parameter of the selected option.
    #[prop(into)]
    selected: Signal<&'static str>,
    /// Is called with the address parameter of the chosen option.
    choose: Callback<String>,
) -> impl IntoView {
    let options = options.into_iter().map(|(parameter, name)| {
        view! {
            <option value=parameter selected=move || selected.get() == parameter>
                {name}
            </option>
        }
    });
    let options: Vec<_> = options.collect();
    view! {
        <label class="dial">
            <span class="label">{label}</span>
            <select class="btn" on:change:target=move |event| choose.run(event.target().value())>
                {options}
            </select>
        </label>
    }
}

/// Changes the view in the address.
fn update_view(
    view: Memo<InstanceListView>,
    go: Callback<InstanceListView>,
    set: impl FnOnce(&mut InstanceListView),
) {
    let mut next = view.get_untracked();
    set(&mut next);
    go.run(next);
}

/// Renders a field for a number that may be empty.
#[component]
fn MarginBound(
    label: &'static str,
    value: Signal<Option<f64>>,
    set: Callback<Option<f64>>,
) -> impl IntoView {
    let later = DebounceTimer::with_delay_ms(400);
    let wrong = RwSignal::new(false);
    let read = move |text: String| match parse_bound(&text) {
        Ok(found) => {
            wrong.set(false);
            later.schedule(move || set.run(found));
        }
        Err(()) => {
            later.cancel();
            wrong.set(true);
        }
    };
    view! {
        <input
            class="btn bound"
            class:wrong-number=move || wrong.get()
            type="text"
            inputmode="decimal"
            placeholder=label
            aria-label=format!("Margin {label}")
            aria-invalid=move || wrong.get().to_string()
            prop:value=move || value.get().map(|it| it.to_string()).unwrap_or_default()
            on:input:target=move |event| read(event.target().value())
        />
    }
}

/// Parses a number as typed; an empty text is none.
fn parse_bound(text: &str) -> Result<Option<f64>, ()> {
    let text = text.trim().replace('−', "-").replace(',', ".");
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number)),
        Ok(_) | Err(_) => Err(()),
    }
}

/// Returns the option for an outcome with its count, as in `963 violated`.
fn outcome_count_text(
    probe: Probe,
    cell: Option<&RankerAxiomResult>,
    outcome: Option<VerdictOutcome>,
) -> String {
    let word = match outcome {
        Some(outcome) => outcome_label_for_probe(probe, Some(outcome)),
        None => "all",
    };
    let Some(tally) = cell.map(|it| it.tally) else {
        return word.to_owned();
    };
    let n = match outcome {
        None => tally.n_with_verdict() + tally.unscored,
        Some(VerdictOutcome::Satisfied) => tally.satisfied,
        Some(VerdictOutcome::Tied) => tally.tied,
        Some(VerdictOutcome::Violated) => tally.violated,
    };
    format!("{} {word}", format::format_count(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_read_as_it_is_typed() {
        let read = ["", " -2.5", "−2,5", "x", "inf"].map(parse_bound);
        assert_eq!(
            read,
            [Ok(None), Ok(Some(-2.5)), Ok(Some(-2.5)), Err(()), Err(())]
        );
    }
}
