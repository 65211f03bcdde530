//! How many items are drawn, and with which chances.

use leptos::prelude::*;
use shared::review::task::{Favour, Share};

use super::draft::{Draft, Field, Way};
use super::form::Form;
use super::ranker::Ranker;
use crate::widgets::form::{Choice, Number};

/// The part of the form.
#[component]
pub(super) fn Drawing(form: Form) -> impl IntoView {
    let ways = Way::ALL.map(|it| (it.1, it.2));
    let way = Memo::new(move |_| form.draft.with(|it| it.way));
    view! {
        <fieldset class="form">
            <legend>"What is drawn"</legend>
            <Number form=form.fields field=Field::Items label="Items" text=|it| &mut it.n_items/>
            <Number
                form=form.fields
                field=Field::Seed
                label="Seed of everything random"
                text=|it| &mut it.seed
            />
            <Choice
                form=form.fields
                label="With which chances"
                options=ways.to_vec()
                get=|it| {
                    let found = Way::ALL.iter().find(|way| way.0 == it.way);
                    found.map_or("", |it| it.1).to_owned()
                }
                set=|it, word| {
                    if let Some(found) = Way::ALL.iter().find(|way| way.1 == word) {
                        it.way = found.0;
                    }
                }
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
    view! {
        <Number
            form=form.fields
            field=Field::Share
            label="Per cent of items from where they disagree"
            text=|it| &mut it.share
        />
    }
}

#[component]
fn PerProbe(form: Form) -> impl IntoView {
    let options = [
        ("equal", "as many of each"),
        ("proportional", "in proportion to its instances"),
    ];
    let get = |it: &Draft| {
        let word = match it.per_probe {
            Share::Equal => "equal",
            Share::Proportional => "proportional",
        };
        word.to_owned()
    };
    let set = |it: &mut Draft, word: String| {
        it.per_probe = match word.as_str() {
            "proportional" => Share::Proportional,
            _ => Share::Equal,
        };
    };
    let options = options.to_vec();
    view! { <Choice form=form.fields label="Items of each probe" options get set/> }
}

#[component]
fn ByMargin(form: Form) -> impl IntoView {
    let options = [("close", "close calls"), ("clear", "clear calls")];
    let get = |it: &Draft| {
        let word = match it.favour {
            Favour::Close => "close",
            Favour::Clear => "clear",
        };
        word.to_owned()
    };
    let set = |it: &mut Draft, word: String| {
        it.favour = match word.as_str() {
            "clear" => Favour::Clear,
            _ => Favour::Close,
        };
    };
    view! {
        <First form label="Ranker"/>
        <Choice form=form.fields label="More often" options=options.to_vec() get set/>
    }
}
