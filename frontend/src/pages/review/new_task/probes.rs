//! The part of the form that selects the probes of a task and filters their instances.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::study::controls::StudyPageControls;
use shared::verdict::VerdictOutcome;

use super::draft::NewTaskField;
use super::form::NewTaskForm;
use super::ranker::RankerSelect;
use crate::number_format;
use crate::widgets::controls::{AllowedControlValues, DebouncedStudyControls, StudyControlBar};
use crate::widgets::form::{FieldErrorMessage, FormSelect};
use crate::widgets::heatmap::probe_family_name;

/// Renders the choice of probes, by family.
#[component]
pub(super) fn ProbesAndInstanceFiltersFields(form: NewTaskForm) -> impl IntoView {
    view! {
        <fieldset>
            <legend>"Probes"</legend>
            {move || match form.study.read().is_some() {
                true => view! { <ProbeFamilies form/> }.into_any(),
                false => view! {
                    <p class="note" role="status">"Loading the study"</p>
                }
                .into_any(),
            }}
            <FieldErrorMessage form=form.fields field=NewTaskField::Probes/>
        </fieldset>
        <fieldset>
            <legend>"Instance filter"</legend>
            {move || form.study.read().is_some().then(|| view! { <InstanceFilters form/> })}
        </fieldset>
    }
}

#[component]
fn ProbeFamilies(form: NewTaskForm) -> impl IntoView {
    let counted = move || {
        let study = form.study.read();
        let columns = study.iter().flat_map(|it| &it.columns);
        let axioms = columns.map(|it| (it.probe, Some(it.n_instances)));
        let behaviours = form.behavioral_tests.get().into_iter().map(|it| (it, None));
        axioms.chain(behaviours).collect::<Vec<_>>()
    };
    move || {
        let all = counted();
        let order: Vec<Probe> = all.iter().map(|it| it.0).collect();
        let mut families: Vec<&'static str> =
            all.iter().map(|it| probe_family_name(it.0)).collect();
        families.dedup();
        let groups = families.into_iter().map(|name| {
            let own = all.iter().filter(|it| probe_family_name(it.0) == name);
            let boxes = own.map(|&(probe, n)| {
                let order = order.clone();
                view! { <ProbeCheckbox form probe n order/> }
            });
            let boxes = boxes.collect_view();
            view! {
                <div class="family-of" role="group" aria-label=name>
                    <span class="label">{name}</span>
                    <div class="checks">{boxes}</div>
                </div>
            }
        });
        groups.collect_view()
    }
}

#[component]
fn ProbeCheckbox(
    form: NewTaskForm,
    probe: Probe,
    /// The number of its instances; none until the study is loaded.
    n: Option<u64>,
    /// All probes of the study, in order.
    order: Vec<Probe>,
) -> impl IntoView {
    let on = move || form.draft.with(|it| it.probes.contains(&probe));
    let turn = move |_| {
        form.draft.update(|it| {
            let chosen = &it.probes;
            let next = order.iter().copied();
            it.probes = next
                .filter(|one| chosen.contains(one) != (*one == probe))
                .collect();
        });
    };
    view! {
        <label title=probe.probe_description().short_title>
            <input type="checkbox" prop:checked=on on:change=turn/>
            {probe.name()}
            {n.map(|n| {
                view! { <span class="label">{number_format::abbreviate_millions(n)}</span> }
            })}
        </label>
    }
}

/// The outcomes to draw from, each with its form value and display name.
const OUTCOMES: &[(Option<VerdictOutcome>, &str, &str)] = &[
    (None, "", "any"),
    (Some(VerdictOutcome::Satisfied), "satisfied", "satisfied"),
    (Some(VerdictOutcome::Tied), "tied", "tied"),
    (Some(VerdictOutcome::Violated), "violated", "violated"),
];

/// Renders the filters of instances: the controls of the Study page, and outcome and margin for one
/// ranker.
#[component]
fn InstanceFilters(form: NewTaskForm) -> impl IntoView {
    let reach = form
        .study
        .with_untracked(|it| it.as_ref().map(AllowedControlValues::from_overview))
        .expect("shown once the study has loaded");
    let settled = Signal::derive(move || form.draft.with(|it| it.controls.clone()));
    let settle =
        Callback::new(move |dials: StudyPageControls| form.draft.update(|it| it.controls = dials));
    let turned = DebouncedStudyControls::new(settled, settle);
    let has_ranker = Memo::new(move |_| form.draft.with(|it| !it.ranker.is_empty()));
    view! {
        <StudyControlBar reach turned/>
        <div class="form">
            <RankerSelect
                form
                label="Filter by a ranker's verdict"
                none="no filter"
                get=|it| it.ranker.clone()
                set=|it, word| {
                    if word.is_empty() {
                        it.outcome = None;
                        it.min_margin.clear();
                        it.max_margin.clear();
                    }
                    it.ranker = word;
                }
            />
            <FieldErrorMessage form=form.fields field=NewTaskField::Ranker/>
            <Show when=move || has_ranker.get()>
                <FormSelect
                    form=form.fields
                    label="Verdict"
                    options=OUTCOMES
                    value=|it| &mut it.outcome
                />
                {form
                    .number_field(NewTaskField::MarginFrom, "Minimum margin (blank = any)", |it| {
                        &mut it.min_margin
                    })}
                {form.number_field(NewTaskField::MarginTo, "Maximum margin (blank = any)", |it| {
                    &mut it.max_margin
                })}
            </Show>
        </div>
    }
}
