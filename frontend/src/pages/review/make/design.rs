//! How many items are drawn, and with which chances.

use leptos::prelude::*;
use shared::review::task::{Favour, Share};

use super::draft::{Field, Way};
use super::form::Form;
use super::ranker::Ranker;
use crate::widgets::form::OneOf;

/// The part of the form.
#[component]
pub(super) fn Drawing(form: Form) -> impl IntoView {
    let way = Memo::new(move |_| form.draft.with(|it| it.way));
    view! {
        <fieldset class="form">
            <legend>"What is drawn"</legend>
            {form.number(Field::Items, "Items", |it| &mut it.n_items)}
            {form.number(Field::Seed, "Seed of everything random", |it| &mut it.seed)}
            <OneOf
                form=form.fields
                label="With which chances"
                options=Way::ALL
                value=|it| &mut it.way
            />
            {move || match way.get() {
                Way::Uniform => ().into_any(),
                Way::ByProbe => view! { <PerProbe form/> }.into_any(),
                Way::ByMargin => view! { <ByMargin form/> }.into_any(),
                Way::AxiomAndRanker => view! {
                    <First form label="Ranker"/>
                    <DrawnFirst form/>
                }
                .into_any(),
                Way::TwoRankers => view! {
                    <First form label="One ranker"/>
                    <Ranker
                        form
                        label="The other"
                        get=|it| it.between[1].to_string()
                        set=|it, word| it.between[1] = word.parse().unwrap_or_default()
                    />
                    <DrawnFirst form/>
                }
                .into_any(),
            }}
        </fieldset>
        <p class="note">
            "No instance has no chance, and each item keeps the chance π with which it was drawn,
            so that the results are estimates over all instances whatever was drawn more often."
        </p>
    }
}

#[component]
fn First(form: Form, label: &'static str) -> impl IntoView {
    view! {
        <Ranker
            form
            label
            get=|it| it.between[0].to_string()
            set=|it, word| it.between[0] = word.parse().unwrap_or_default()
        />
    }
}

#[component]
fn DrawnFirst(form: Form) -> impl IntoView {
    let label = "Per cent of items from where they disagree";
    form.number(Field::Share, label, |it| &mut it.share)
}

#[component]
fn PerProbe(form: Form) -> impl IntoView {
    const SHARES: &[(Share, &str, &str)] = &[
        (Share::Equal, "equal", "as many of each"),
        (
            Share::Proportional,
            "proportional",
            "in proportion to its instances",
        ),
    ];
    view! {
        <OneOf
            form=form.fields
            label="Items of each probe"
            options=SHARES
            value=|it| &mut it.per_probe
        />
    }
}

#[component]
fn ByMargin(form: Form) -> impl IntoView {
    const CALLS: &[(Favour, &str, &str)] = &[
        (Favour::Close, "close", "close calls"),
        (Favour::Clear, "clear", "clear calls"),
    ];
    view! {
        <First form label="Ranker"/>
        <OneOf form=form.fields label="More often" options=CALLS value=|it| &mut it.favour/>
    }
}
