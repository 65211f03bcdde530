//! Where the texts come from: a link, an instance of a study, or nowhere yet.

use leptos::prelude::*;
use shared::report::format;

use super::desk::{Desk, Origin};
use super::link;
use super::sheet::Sheet;
use crate::api::Error;
use crate::browser::Address;

/// What the address says.
pub(super) enum Opening {
    /// Everything, or nothing.
    Here(Option<Origin>),
    /// The texts have to be fetched.
    Fetch(Origin),
}

impl Opening {
    pub(super) fn origin(&self) -> Option<Origin> {
        match self {
            Opening::Here(origin) => origin.clone(),
            Opening::Fetch(origin) => Some(origin.clone()),
        }
    }
}

/// What the page starts with.
pub(super) fn at_first() -> (Sheet, Opening) {
    let address = Address::here();
    let origin = Origin::from_words(|key| address.word(key));
    let fragment = address.hash.get_untracked();
    let sheet = in_fragment(&fragment).or_else(|| Sheet::from_words(|key| address.word(key)));
    match (sheet, origin) {
        (Some(sheet), origin) => (sheet, Opening::Here(origin)),
        (None, Some(origin)) => (Sheet::empty(), Opening::Fetch(origin)),
        (None, None) => (Sheet::empty(), Opening::Here(None)),
    }
}

fn in_fragment(fragment: &str) -> Option<Sheet> {
    let words = link::words(fragment);
    Sheet::from_words(|key| words.iter().find(|it| it.0 == key).map(|it| it.1.clone()))
}

/// How the fetching of an instance stands.
pub(super) type Opened = RwSignal<Option<Result<(), Error>>>;

/// Fetches the instance that the address names, and follows a link that is put in its place.
pub(super) fn follow(desk: Desk, opening: Opening) -> Opened {
    let opened = RwSignal::new(Some(Ok(())));
    if let Opening::Fetch(origin) = opening {
        opened.set(None);
        leptos::task::spawn_local(async move {
            let found = origin.sheet().await;
            let result = found.map(|sheet| {
                if desk.query.try_get_untracked().is_some() {
                    desk.lay(sheet);
                }
            });
            let _ = opened.try_set(Some(result));
        });
    }
    let hash = Address::here().hash;
    Effect::new(move |before: Option<String>| {
        let hash = hash.get();
        if before.is_some_and(|it| it != hash)
            && let Some(sheet) = in_fragment(&hash)
            && sheet != untrack(|| desk.sheet())
        {
            desk.open("another link", sheet);
        }
        hash
    });
    opened
}

/// Names the instance that was opened, or says why it could not be.
#[component]
pub(super) fn Where(
    /// The page.
    desk: Desk,
    /// How the fetching stands.
    opened: Opened,
) -> impl IntoView {
    move || {
        let origin = desk.origin.get()?;
        let href = origin.page().href();
        let name = format!(
            "{} instance {}",
            origin.0.probe.name(),
            format::count(origin.0.number + 1)
        );
        let said = match opened.get() {
            None => view! { "Opening " {name} }.into_any(),
            Some(Ok(())) => {
                view! { "Opened from " <a href=href>{name} " of " {origin.0.study}</a> }.into_any()
            }
            Some(Err(error)) => {
                view! { <span class="verdict bad">{error.to_string()}</span> }.into_any()
            }
        };
        Some(view! { <span class="note" role="status">{said}</span> })
    }
}

/// After something else was opened: the way back.
#[component]
pub(super) fn PutBack(
    /// The page.
    desk: Desk,
) -> impl IntoView {
    let back = move |_| {
        if let Some((_, sheet)) = desk.before.get_untracked() {
            desk.before.set(None);
            desk.lay(sheet);
        }
    };
    let said = move || {
        desk.before.get().map(|(what, _)| {
            view! {
                <p class="toast">
                    <span>"Opened " {what}</span>
                    <button class="btn" type="button" on:click=back>
                        "Put back what was here"
                    </button>
                    <button class="btn" type="button" on:click=move |_| desk.before.set(None)>
                        "Close"
                    </button>
                </p>
            }
        })
    };
    view! { <div role="status">{said}</div> }
}
