//! The initial content of the page: from a link, from an instance of a study, or an example.

use leptos::prelude::*;
use shared::report::format;

use super::input::PlaygroundInput;
use super::share_link;
use super::state::{PlaygroundState, StudyInstanceFromUrl};
use crate::api::RequestError;
use crate::keyboard;
use crate::location::PageLocation;

/// Where the initial content comes from: the address itself, or an instance that has to be fetched.
pub(super) enum InitialContentSource {
    /// The content is complete and needs no request.
    Local(Option<StudyInstanceFromUrl>),
    /// The documents of the instance have to be fetched.
    Remote(StudyInstanceFromUrl),
}

impl InitialContentSource {
    pub(super) fn source_instance(&self) -> Option<StudyInstanceFromUrl> {
        match self {
            InitialContentSource::Local(origin) => origin.clone(),
            InitialContentSource::Remote(origin) => Some(origin.clone()),
        }
    }
}

/// Returns the initial content of the page.
pub(super) fn initial_playground_content() -> (PlaygroundInput, InitialContentSource) {
    let address = PageLocation::from_context_or_browser();
    let origin = StudyInstanceFromUrl::from_address_parameters(|key| address.query_parameter(key));
    let fragment = address.hash.get_untracked();
    let sheet = parse_input(&fragment)
        .or_else(|| PlaygroundInput::from_link_parameters(|key| address.query_parameter(key)));
    match (sheet, origin) {
        (Some(sheet), origin) => (sheet, InitialContentSource::Local(origin)),
        (None, Some(origin)) => (
            PlaygroundInput::empty(),
            InitialContentSource::Remote(origin),
        ),
        (None, None) => (
            PlaygroundInput::opening_example(),
            InitialContentSource::Local(None),
        ),
    }
}

fn parse_input(fragment: &str) -> Option<PlaygroundInput> {
    let words = share_link::parse_fragment_parameters(fragment);
    PlaygroundInput::from_link_parameters(|key| {
        words.iter().find(|it| it.0 == key).map(|it| it.1.clone())
    })
}

/// The state of fetching an instance.
pub(super) type InstanceFetchState = RwSignal<Option<Result<(), RequestError>>>;

/// Fetches the instance in the address, and follows later changes of the address.
pub(super) fn fetch_instance_and_follow_address(
    desk: PlaygroundState,
    opening: InitialContentSource,
) -> InstanceFetchState {
    let opened = RwSignal::new(Some(Ok(())));
    if let InitialContentSource::Remote(origin) = opening {
        opened.set(None);
        leptos::task::spawn_local(async move {
            let found = origin.fetch_as_input().await;
            let result = found.map(|sheet| {
                if desk.query.try_get_untracked().is_some() {
                    desk.set_current_input(sheet);
                }
            });
            let _ = opened.try_set(Some(result));
        });
    }
    let hash = PageLocation::from_context_or_browser().hash;
    Effect::new(move |before: Option<String>| {
        let hash = hash.get();
        if before.is_some_and(|it| it != hash)
            && let Some(sheet) = parse_input(&hash)
            && sheet != untrack(|| desk.current_input())
        {
            desk.open_input_keeping_previous("another link", sheet);
        }
        hash
    });
    opened
}

/// Renders the name of the opened instance, or why it could not be opened.
#[component]
pub(super) fn OpenedInstanceNotice(
    /// The state of the page.
    desk: PlaygroundState,
    /// The state of fetching the instance.
    opened: InstanceFetchState,
) -> impl IntoView {
    move || {
        let origin = desk.origin.get()?;
        let href = origin.href();
        let name = format!(
            "{} instance {}",
            origin.0.probe.name(),
            format::format_count(origin.0.number + 1)
        );
        let said = match opened.get() {
            None => view! { "Opening " {name} }.into_any(),
            Some(Ok(())) => {
                view! { "Opened from " <a href=href>{name} " of " {origin.0.study}</a> }.into_any()
            }
            Some(Err(error)) => {
                view! { <span class="verdict failed">{error.to_string()}</span> }.into_any()
            }
        };
        Some(view! { <span class="note" role="status">{said}</span> })
    }
}

/// Renders that the page shows the example, as long as no field is changed.
#[component]
pub(super) fn ExampleNotice(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let is_example = desk.is_example_memo();
    let notice = move || {
        is_example.get().then(|| {
            view! {
                <p class="example-of">
                    <span>
                        <b>"This is an example."</b>
                        " Select a field and type to replace its text."
                    </span>
                    <StartEmptyButton desk label="Start empty"/>
                </p>
            }
        })
    };
    view! { {notice} }
}

/// The id of the field of the query.
const QUERY_FIELD_ID: &str = "playground-query";

/// Renders the button that empties the page, after which the field of the query has the focus.
#[component]
pub(super) fn StartEmptyButton(
    /// The state of the page.
    desk: PlaygroundState,
    /// The label of the button.
    label: &'static str,
) -> impl IntoView {
    let clear = move |_| {
        desk.open_input_keeping_previous("an empty page", PlaygroundInput::empty());
        keyboard::focus_element_on_next_frame(QUERY_FIELD_ID);
    };
    view! { <button class="btn" type="button" on:click=clear>{label}</button> }
}

/// Renders the button that restores the previous content after something else was opened.
#[component]
pub(super) fn RestorePreviousButton(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let back = move |_| {
        if let Some((_, sheet)) = desk.previous.get_untracked() {
            // What is replaced now can be restored in the same way.
            desk.open_input_keeping_previous("the previous content", sheet);
        }
    };
    let said = move || {
        desk.previous.get().map(|(what, _)| {
            view! {
                <p class="toast">
                    <span>"Opened " {what}</span>
                    <button class="btn" type="button" on:click=back>
                        "Restore previous content"
                    </button>
                    <button class="btn" type="button" on:click=move |_| desk.previous.set(None)>
                        "Close"
                    </button>
                </p>
            }
        })
    };
    view! { <div role="status">{said}</div> }
}
