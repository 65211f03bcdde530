//! The link to the content of the page.
//!
//! The content is in the fragment of the link, which browsers do not send to a server.

use leptos::prelude::*;
use shared::report::format;
use wasm_bindgen_futures::JsFuture;

use super::input::{MAX_LINK_CHARS, PlaygroundInput};
use super::state::PlaygroundState;
use crate::debounce::DebounceTimer;
use crate::routes::PageRoute;

/// The delay between updates of the address. Browsers allow about a hundred updates in 30 seconds.
const PAUSE_MS: u64 = 500;

/// Returns the fragment of the address; empty if the page shows the example that it opens with.
pub(crate) fn to_address_fragment(sheet: &PlaygroundInput) -> String {
    if *sheet == PlaygroundInput::opening_example() {
        return String::new();
    }
    let pairs = sheet.to_link_parameters();
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| format!("{key}={}", js_sys::encode_uri_component(&value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Parses the parameters of a fragment, as [`to_address_fragment`] writes it.
pub(super) fn parse_fragment_parameters(fragment: &str) -> Vec<(String, String)> {
    let pairs = fragment
        .trim_start_matches('#')
        .split('&')
        .filter_map(|it| it.split_once('='));
    let decoded = |(key, value): (&str, &str)| {
        let value = js_sys::decode_uri_component(value).ok()?;
        Some((key.to_owned(), String::from(value)))
    };
    pairs.filter_map(decoded).collect()
}

/// Writes the content of the page to the address, unless it is too long.
pub(super) fn update_address_on_change(desk: PlaygroundState) {
    let later = DebounceTimer::with_delay_ms(PAUSE_MS);
    Effect::new(move |before: Option<()>| {
        let sheet = desk.current_input();
        if before.is_some() {
            later.schedule(move || write_address(&sheet));
        }
    });
}

fn write_address(sheet: &PlaygroundInput) {
    let location = window().location();
    let search = location.search().unwrap_or_default();
    let fragment = to_address_fragment(sheet);
    let fits = fragment.len() <= MAX_LINK_CHARS && !fragment.is_empty();
    let tail = if fits {
        format!("#{fragment}")
    } else {
        String::new()
    };
    let address = format!("{}{search}{tail}", PageRoute::Playground.href());
    if let Ok(history) = window().history() {
        let state = history.state().unwrap_or_default();
        let _ = history.replace_state_with_url(&state, "", Some(&address));
    }
}

/// The result of pressing Share.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ShareState {
    Not,
    Copied,
    /// The browser did not allow copying, so the link is shown.
    Shown(String),
    /// The link is too long, with this number of characters.
    TooLong(usize),
}

/// Renders the button that copies the link, or tells why there is none.
#[component]
pub(super) fn CopyLinkButton(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let shared = RwSignal::new(ShareState::Not);
    let share = move |_| {
        let link = link(&untrack(|| desk.current_input()));
        if link.len() > MAX_LINK_CHARS {
            shared.set(ShareState::TooLong(link.len()));
            return;
        }
        leptos::task::spawn_local(async move {
            let clipboard = window().navigator().clipboard();
            let copied = JsFuture::from(clipboard.write_text(&link)).await;
            let _ = shared.try_set(if copied.is_ok() {
                ShareState::Copied
            } else {
                ShareState::Shown(link)
            });
        });
    };
    // The message is cleared when the content changes.
    Effect::new(move |before: Option<()>| {
        let _ = desk.current_input();
        if before.is_some() {
            shared.set(ShareState::Not);
        }
    });
    let said = move || match shared.get() {
        ShareState::Not => ().into_any(),
        ShareState::Copied => "Link copied".into_any(),
        ShareState::Shown(link) => view! {
            <input class="link" readonly aria-label="Link to this page" prop:value=link/>
        }
        .into_any(),
        ShareState::TooLong(n) => format!(
            "The link would have {} characters; at most {} can be shared safely. Shorten the \
             documents or save them as an instance.",
            format::format_count(n as u64),
            format::format_count(MAX_LINK_CHARS as u64),
        )
        .into_any(),
    };
    view! {
        <span class="note said" role="status">{said}</span>
        <button class="btn" type="button" on:click=share>"Share"</button>
    }
}

fn link(sheet: &PlaygroundInput) -> String {
    let origin = window().location().origin().unwrap_or_default();
    format!(
        "{origin}{}#{}",
        PageRoute::Playground.href(),
        to_address_fragment(sheet)
    )
}
