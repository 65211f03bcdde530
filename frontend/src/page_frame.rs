//! The frame around every page: navigation, theme, keyboard shortcuts and footer.

use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::Router;
use leptos_router::hooks::use_location;
use leptos_router::location::{BrowserUrl, LocationProvider};

use crate::api::transport::server_info_signal;
use crate::api::{self, RequestTransport};
use crate::first_paint::{self, InOwnTask};
use crate::keyboard::{self, KeyPressOutcome, SHORTCUTS};
use crate::routes::PageRoute;
use crate::site_checks::SiteCheckStatus;
use crate::site_host::site_address;
use crate::theme::PageTheme;
use crate::widgets::error_message::ErrorBoundaryMessages;
use crate::widgets::term::TermDefinition;

/// Renders a program into the body of the document, with the function that sends its requests.
pub(crate) fn mount_program<V: IntoView + 'static>(
    transport: RequestTransport,
    program: impl FnOnce() -> V + 'static,
) {
    PageTheme::load_stored().apply_and_store();
    api::set_request_transport(transport);
    first_paint::remove_when_page_has_content();
    // In a task of its own, like the parts of the page: the program was just compiled.
    set_timeout(|| leptos::mount::mount_to_body(program), Duration::ZERO);
}

/// Renders the frame around the routes of a program.
#[component]
pub(crate) fn PageFrame(
    /// What stands between the page and the footer.
    #[prop(optional, into)]
    after_main: ViewFnOnce,
    /// The page that matches the address.
    children: Children,
) -> impl IntoView {
    provide_meta_context();
    let server = server_info_signal();
    let operator_link = move || {
        let is_elsewhere = server
            .read()
            .as_ref()
            .is_some_and(|it| !it.has_operator_page);
        (!is_elsewhere).then(|| {
            view! { " · " <a href=PageRoute::Operator.href()>"Models and jobs"</a> }
        })
    };
    view! {
        <Title formatter=|page: String| {
            if page.is_empty() { "Axioscope".to_owned() } else { format!("{page} · Axioscope") }
        }/>
        <Router>
            <a class="skip" href="#main" on:click=focus_main>"Skip to content"</a>
            <InOwnTask><Header/></InOwnTask>
            <main id="main" tabindex="-1">
                <ErrorBoundary fallback=|errors| view! { <ErrorBoundaryMessages errors/> }>
                    <InOwnTask>{children()}</InOwnTask>
                </ErrorBoundary>
            </main>
            <InOwnTask>{after_main.run()}</InOwnTask>
            <TermDefinition/>
            <footer class="foot">
                <p>
                    "Documents and files stay in this browser until you send them. "
                    <a href=PageRoute::About.href()>"How the numbers are computed"</a>
                    {operator_link}
                    " · "
                    <a href=site_address("/docs/") rel="external">"Documentation"</a>
                    " · "
                    <a href=site_address("/docs/privacy/") rel="external">"Privacy"</a>
                </p>
                <InOwnTask><SiteCheckStatus/></InOwnTask>
            </footer>
        </Router>
    }
}

/// Moves the focus to the content, which a link of the router does not.
fn focus_main(event: leptos::ev::MouseEvent) {
    event.prevent_default();
    keyboard::focus_element_with_id("main");
}

/// Writes the address of each page into the history when the page has been rendered. The router
/// leaves this to its `Routes`, whose nested routes no page needs.
pub(crate) fn write_addresses_of_rendered_pages() {
    let path = use_location().pathname;
    let browser = expect_context::<BrowserUrl>();
    Effect::new(move |_| {
        path.track();
        browser.ready_to_complete();
    });
}

/// Renders the header: brand, links to the pages, keyboard help and theme button.
#[component]
fn Header() -> impl IntoView {
    let path = use_location().pathname;
    let links = PageRoute::NAVIGATION.map(|(page, name)| {
        let href = page.href();
        let current = move || page.contains(&path.get()).then_some("page");
        view! { <a href=href aria-current=current>{name}</a> }
    });
    // On a phone the links are in a menu, which closes when a page is opened.
    let menu = RwSignal::new(false);
    let menu_button = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        path.track();
        menu.set(false);
    });
    let theme = RwSignal::new(PageTheme::load_stored());
    let turn = move || {
        theme.update(|it| *it = it.next_theme());
        theme.get_untracked().apply_and_store();
    };
    let dialog = NodeRef::<html::Dialog>::new();
    let show_keys = move || {
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    keyboard::listen_for_key_presses(move |key| match key {
        "t" => {
            turn();
            KeyPressOutcome::Handled
        }
        "?" => {
            show_keys();
            KeyPressOutcome::Handled
        }
        "/" => keyboard::focus_search_field(),
        "Escape" if menu.get_untracked() => {
            menu.set(false);
            if let Some(button) = menu_button.get_untracked() {
                let _ = button.focus();
            }
            KeyPressOutcome::Handled
        }
        _ => KeyPressOutcome::Ignored,
    });
    view! {
        <header class="site">
            <a class="brand" href=PageRoute::Studies.href()>
                <svg viewBox="0 0 18 18" aria-hidden="true">
                    <path d="M1 1h7v7H1z" fill="var(--p5)"/>
                    <path d="M10 1h7v7h-7z" fill="var(--p3)"/>
                    <path d="M1 10h7v7H1z" fill="var(--n2)"/>
                    <path d="M10 10h7v7h-7z" fill="var(--n4)"/>
                </svg>
                "Axioscope"
            </a>
            <button
                class="btn bare menu"
                type="button"
                node_ref=menu_button
                aria-controls="pages"
                aria-expanded=move || menu.get().to_string()
                on:click=move |_| menu.update(|it| *it = !*it)
            >
                "Menu"
            </button>
            <nav
                id="pages"
                aria-label="Pages"
                class:open=menu
                on:click=move |_| menu.set(false)
            >
                {links}
            </nav>
            <div class="btns">
                <button class="btn bare wide" type="button" on:click=move |_| show_keys()>
                    "Shortcuts"
                </button>
                <button class="btn bare" type="button" on:click=move |_| turn()>
                    "Theme"
                    <span class="wide">{move || theme.get().name()}</span>
                </button>
            </div>
        </header>
        <InOwnTask><KeyboardHelp dialog/></InOwnTask>
    }
}

/// Renders the dialog that lists all keyboard shortcuts.
#[component]
fn KeyboardHelp(
    /// The dialog, which the header opens.
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let rows = SHORTCUTS
        .iter()
        .map(|(place, keys)| view! { <tr><th scope="row">{*place}</th><td>{*keys}</td></tr> })
        .collect_view();
    view! {
        <dialog node_ref=dialog aria-labelledby="keys-title">
            <header>
                <h2 id="keys-title">"Keyboard shortcuts"</h2>
                <button class="btn" type="button" on:click=close>"Close" <kbd>"Esc"</kbd></button>
            </header>
            <table><tbody>{rows}</tbody></table>
            <p class="note">"Shortcuts are off while you type in a field."</p>
        </dialog>
    }
}

/// Renders the page for an address that does not exist.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    view! {
        <Title text="Page not found"/>
        <h1>"Page not found"</h1>
        <p class="lead">
            "The address may be mistyped, or the study may have been withdrawn."
        </p>
        <p class="btns">
            <a class="btn main" href=PageRoute::Studies.href()>"See all studies"</a>
        </p>
    }
}
