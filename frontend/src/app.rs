//! The frame of every page: routes, navigation, theme, keys.

use leptos::html;
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::hooks::{use_location, use_params_map};
use leptos_router::path;

use crate::apart::Apart;
use crate::keys::{self, KEYS, Press};
use crate::page::Page;
use crate::pages::instances::Instances;
use crate::pages::studies::Studies;
use crate::pages::study::Study;
use crate::pages::workbench::Workbench;
use crate::theme::Theme;
use crate::widgets::error::Failures;

/// Everything.
#[component]
pub(crate) fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|page: String| {
            if page.is_empty() { "Axioscope".to_owned() } else { format!("{page} · Axioscope") }
        }/>
        <Router>
            <a class="skip" href="#main">"Skip to the content"</a>
            <Header/>
            <main id="main" tabindex="-1">
                <ErrorBoundary fallback=|errors| view! { <Failures errors/> }>
                    <Routes fallback=NotFound>
                        <Route path=path!("/") view=Studies/>
                        <Route path=path!("/study/:name") view=Study/>
                        <Route path=path!("/study/:name/figures") view=Figures/>
                        <Route path=path!("/study/:name/inside") view=Inside/>
                        <Route path=path!("/study/:name/differ") view=Differ/>
                        <Route path=path!("/study/:name/:axiom/:ranker") view=Instances/>
                        <Route
                            path=path!("/study/:name/:axiom/:mode/instance/:number")
                            view=Instance
                        />
                        <Route
                            path=path!("/playground")
                            view=|| {
                                view! { <Apart path=Page::Playground.href() name="Playground"/> }
                            }
                        />
                        <Route path=path!("/workbench") view=Workbench/>
                        <Route
                            path=path!("/replay")
                            view=|| view! { <Apart path=Page::Replay.href() name="Replay"/> }
                        />
                        <Route path=path!("/review") view=Review/>
                        <Route path=path!("/review/*any") view=Review/>
                        <Route path=path!("/join") view=Review/>
                        <Route path=path!("/people") view=Review/>
                        <Route
                            path=path!("/operator")
                            view=|| {
                                let path = Page::Operator.href();
                                view! { <Apart path name="Models and jobs"/> }
                            }
                        />
                        <Route
                            path=path!("/about")
                            view=|| view! { <Apart path=Page::About.href() name="About"/> }
                        />
                    </Routes>
                </ErrorBoundary>
            </main>
            <footer class="foot">
                <p>
                    "Texts and files stay in this browser until you send them. "
                    <a href="/about">"How the numbers are made"</a>
                    " · "
                    <a href=Page::Operator.href()>"Models and jobs"</a>
                </p>
            </footer>
        </Router>
    }
}

/// The figures of the study that the address names.
#[component]
fn Figures() -> impl IntoView {
    let params = use_params_map();
    // Another study is another page.
    move || {
        let study = params.with(|it| it.get("name").unwrap_or_default());
        let path = Page::Figures { study }.href();
        view! { <Apart path name="Figures"/> }
    }
}

/// The rankers of the study that the address names, from inside.
#[component]
fn Inside() -> impl IntoView {
    let params = use_params_map();
    move || {
        let study = params.with(|it| it.get("name").unwrap_or_default());
        let path = Page::Inside { study }.href();
        view! { <Apart path name="Inside"/> }
    }
}

/// Where two rankers of the study differ that the address names.
#[component]
fn Differ() -> impl IntoView {
    let params = use_params_map();
    move || {
        let study = params.with(|it| it.get("name").unwrap_or_default());
        let path = Page::Differ { study }.href();
        view! { <Apart path name="Where they differ"/> }
    }
}

/// Whichever page of reviewing the address names.
#[component]
fn Review() -> impl IntoView {
    let path = use_location().pathname;
    move || view! { <Apart path=path.get() name="Review"/> }
}

/// The instance that the address names; the next one takes its place without a pause.
#[component]
fn Instance() -> impl IntoView {
    let path = use_location().pathname.get_untracked();
    view! { <Apart path name="Instance"/> }
}

/// Brand, pages, keys and theme.
#[component]
fn Header() -> impl IntoView {
    let path = use_location().pathname;
    let links = Page::NAVIGATION.map(|(page, name)| {
        let href = page.href();
        let current = move || page.holds(&path.get()).then_some("page");
        view! { <a href=href aria-current=current>{name}</a> }
    });
    let theme = RwSignal::new(Theme::stored());
    let turn = move || {
        theme.update(|it| *it = it.next());
        theme.get_untracked().apply();
    };
    let dialog = NodeRef::<html::Dialog>::new();
    let show_keys = move || {
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    keys::on_key(move |key| match key {
        "t" => {
            turn();
            Press::Taken
        }
        "?" => {
            show_keys();
            Press::Taken
        }
        "/" => keys::focus_search(),
        _ => Press::Passed,
    });
    view! {
        <header class="site">
            <a class="brand" href="/">
                <svg viewBox="0 0 18 18" aria-hidden="true">
                    <path d="M1 1h7v7H1z" fill="var(--p5)"/>
                    <path d="M10 1h7v7h-7z" fill="var(--p3)"/>
                    <path d="M1 10h7v7H1z" fill="var(--n2)"/>
                    <path d="M10 10h7v7h-7z" fill="var(--n4)"/>
                </svg>
                "Axioscope"
            </a>
            <nav aria-label="Pages">{links}</nav>
            <div class="btns">
                <button class="btn bare wide" type="button" on:click=move |_| show_keys()>
                    "Keys"
                </button>
                <button class="btn bare" type="button" on:click=move |_| turn()>
                    "Theme"
                    <span class="wide">{move || theme.get().name()}</span>
                </button>
            </div>
        </header>
        <Keys dialog/>
    }
}

/// Every key, on demand.
#[component]
fn Keys(
    /// Opened by the header.
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let rows = KEYS
        .iter()
        .map(|(place, keys)| view! { <tr><th scope="row">{*place}</th><td>{*keys}</td></tr> })
        .collect_view();
    view! {
        <dialog node_ref=dialog aria-labelledby="keys-title">
            <header>
                <h2 id="keys-title">"Keys"</h2>
                <button class="btn" type="button" on:click=close>"Close" <kbd>"Esc"</kbd></button>
            </header>
            <table><tbody>{rows}</tbody></table>
            <p class="note">"Single keys rest while a field has the focus."</p>
        </dialog>
    }
}

/// An address that no page has.
#[component]
fn NotFound() -> impl IntoView {
    view! {
        <Title text="Not found"/>
        <h1>"There is no such page"</h1>
        <p class="lead">
            "The address may be mistyped, or a study may have been withdrawn. "
            <a href="/">"See all studies"</a>
        </p>
    }
}
