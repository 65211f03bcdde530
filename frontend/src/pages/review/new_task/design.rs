//! The part of the form that sets the number of items and the sampling design.

use leptos::prelude::*;
use shared::annotation::task::{OversampledMarginSize, ProbeItemAllocation};

use super::draft::{NewTaskField, SamplingDesignKind};
use super::form::NewTaskForm;
use super::ranker::RankerSelect;
use crate::widgets::form::FormSelect;
use crate::widgets::term::text_with_terms;

/// Renders the fields of the sampling design.
#[component]
pub(super) fn SamplingDesignFields(form: NewTaskForm) -> impl IntoView {
    let way = Memo::new(move |_| form.draft.with(|it| it.design));
    view! {
        <fieldset class="form">
            <legend>"Sample"</legend>
            {form.number_field(NewTaskField::Items, "Items", |it| &mut it.n_items)}
            {form.number_field(NewTaskField::Seed, "Random seed", |it| &mut it.seed)}
            <FormSelect
                form=form.fields
                label="Sampling design"
                options=SamplingDesignKind::ALL
                value=|it| &mut it.design
            />
            {move || match way.get() {
                SamplingDesignKind::Uniform => ().into_any(),
                SamplingDesignKind::ByProbe => view! { <AllocationField form/> }.into_any(),
                SamplingDesignKind::ByMargin => view! { <MarginFields form/> }.into_any(),
                SamplingDesignKind::AxiomRankerDisagreement => view! {
                    <RankerField form label="Ranker"/>
                    <DisagreementShareField form/>
                }
                .into_any(),
                SamplingDesignKind::RankerDisagreement => view! {
                    <RankerField form label="First ranker"/>
                    <RankerSelect
                        form
                        label="Second ranker"
                        get=|it| it.compared_rankers[1].to_string()
                        set=|it, word| it.compared_rankers[1] = word.parse().unwrap_or_default()
                    />
                    <DisagreementShareField form/>
                }
                .into_any(),
            }}
        </fieldset>
        <p class="note">
            {text_with_terms(
                "Every instance can be drawn, and every item keeps its inclusion probability π, \
                 so that results are estimates over all instances whatever the design.",
            )}
        </p>
    }
}

#[component]
fn RankerField(form: NewTaskForm, label: &'static str) -> impl IntoView {
    view! {
        <RankerSelect
            form
            label
            get=|it| it.compared_rankers[0].to_string()
            set=|it, word| it.compared_rankers[0] = word.parse().unwrap_or_default()
        />
    }
}

#[component]
fn DisagreementShareField(form: NewTaskForm) -> impl IntoView {
    let label = "Percentage of items from disagreements";
    form.number_field(NewTaskField::DisagreementShare, label, |it| {
        &mut it.disagreement_percent
    })
}

#[component]
fn AllocationField(form: NewTaskForm) -> impl IntoView {
    const SHARES: &[(ProbeItemAllocation, &str, &str)] = &[
        (
            ProbeItemAllocation::Equal,
            "equal",
            "the same number per probe",
        ),
        (
            ProbeItemAllocation::Proportional,
            "proportional",
            "in proportion to its instances",
        ),
    ];
    view! {
        <FormSelect
            form=form.fields
            label="Items per probe"
            options=SHARES
            value=|it| &mut it.allocation
        />
    }
}

#[component]
fn MarginFields(form: NewTaskForm) -> impl IntoView {
    const CALLS: &[(OversampledMarginSize, &str, &str)] = &[
        (OversampledMarginSize::SmallMargins, "close", "close calls"),
        (OversampledMarginSize::LargeMargins, "clear", "clear calls"),
    ];
    view! {
        <RankerField form label="Ranker"/>
        <FormSelect
            form=form.fields
            label="Oversampled instances"
            options=CALLS
            value=|it| &mut it.margin_preference
        />
    }
}
