//! How many items are drawn, and with which chances.

use leptos::prelude::*;
use shared::review::task::{Favour, Share};

use super::Form;
use super::choice::{Choice, Ranker};
use super::draft::{Draft, Field, Way};
use super::field::Number;

/// The part of the form.
#[component]
pub(super) fn Drawing(form: Form) -> impl IntoView {
    let ways = Way::ALL.map(|it| (it.1.to_owned(), it.2.to_owned()));
    let way = Memo::new(move |_| form.draft.with(|it| it.way));
    view! {
        <fieldset class="form">
            <legend>"What is drawn"</legend>
            <Number
                form
                field=Field::Items
                label="Items"
                get=|it| it.n_items.clone()
                set=|it, text| it.n_items = text
            />
            <Number
                form
                field=Field::Seed
                label="Seed of everything random"
                get=|it| it.seed.clone()
                set=|it, text| it.seed = text
            />
            <Choice
                form
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
            form
            field=Field::Share
            label="Per cent of items from where they disagree"
            get=|it| it.share.clone()
            set=|it, text| it.share = text
        />
    }
}

#[component]
fn PerProbe(form: Form) -> impl IntoView {
    let options = [
        ("equal", "as many of each"),
        ("proportional", "in proportion to its instances"),
    ];
    let options = options.map(|(word, name)| (word.to_owned(), name.to_owned()));
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
    view! { <Choice form label="Items of each probe" options=options.to_vec() get set/> }
}

#[component]
fn ByMargin(form: Form) -> impl IntoView {
    let options = [("close", "close calls"), ("clear", "clear calls")];
    let options = options.map(|(word, name)| (word.to_owned(), name.to_owned()));
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
        <Choice form label="More often" options=options.to_vec() get set/>
    }
}
