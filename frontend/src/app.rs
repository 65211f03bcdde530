//! The frame of every page: routes, navigation, theme, keys.

use leptos::html;
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::hooks::use_location;
use leptos_router::path;
use shared::probe::{Axiom, Mode};

use crate::keys::{self, Press};
use crate::pages::about::About;
use crate::pages::instance::Instance;
use crate::pages::instances::Instances;
use crate::pages::playground::Playground;
use crate::pages::studies::Studies;
use crate::pages::study::Study;
use crate::pages::workbench::Workbench;
use crate::theme::Theme;
use crate::widgets::error::Failures;

/// A page with all that its path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Page {
    /// The list of studies.
    Studies,
    /// One study.
    Study {
        /// Name of the study.
        study: String,
    },
    /// The instances of a cell.
    Instances {
        /// Name of the study.
        study: String,
        /// Column.
        axiom: Axiom,
        /// Row, counted from 0.
        ranker: usize,
    },
    /// One instance.
    Instance {
        /// Name of the study.
        study: String,
        /// Column.
        axiom: Axiom,
        /// Reading of the axiom.
        mode: Mode,
        /// Place among its instances.
        number: u64,
    },
    /// Own texts against every axiom.
    Playground,
    /// Own files to a study.
    Workbench,
    /// What each axiom says, and how to cite.
    About,
}

impl Page {
    /// Where the page is.
    pub(crate) fn href(&self) -> String {
        match self {
            Page::Studies => "/".to_owned(),
            Page::Study { study } => format!("/study/{study}"),
            Page::Instances {
                study,
                axiom,
                ranker,
            } => {
                format!("/study/{study}/{}/{ranker}", axiom.slug())
            }
            Page::Instance {
                study,
                axiom,
                mode,
                number,
            } => {
                format!(
                    "/study/{study}/{}/{}/instance/{number}",
                    axiom.slug(),
                    mode.name()
                )
            }
            Page::Playground => "/playground".to_owned(),
            Page::Workbench => "/workbench".to_owned(),
            Page::About => "/about".to_owned(),
        }
    }

    /// The pages of the header with their names.
    const NAVIGATION: [(Page, &str); 4] = [
        (Page::Studies, "Studies"),
        (Page::Playground, "Playground"),
        (Page::Workbench, "Workbench"),
        (Page::About, "About"),
    ];

    /// Whether a path is this page or one below it.
    fn holds(&self, path: &str) -> bool {
        match self {
            Page::Studies => path == "/" || path.starts_with("/study/"),
            other => path == other.href(),
        }
    }
}

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
                        <Route path=path!("/study/:name/:axiom/:ranker") view=Instances/>
                        <Route
                            path=path!("/study/:name/:axiom/:mode/instance/:number")
                            view=Instance
                        />
                        <Route path=path!("/playground") view=Playground/>
                        <Route path=path!("/workbench") view=Workbench/>
                        <Route path=path!("/about") view=About/>
                    </Routes>
                </ErrorBoundary>
            </main>
            <footer class="foot">
                <p>
                    "Texts and files stay in this browser until you send them. "
                    <a href="/about">"How the numbers are made"</a>
                </p>
            </footer>
        </Router>
    }
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

/// Where keys act, and what they do.
pub(crate) const KEYS: &[(&str, &str)] = &[
    (
        "everywhere",
        "? these keys · / search · T theme · Esc close or cancel",
    ),
    (
        "map",
        "arrows move · Home End row · Enter opens · V violations · M mode · [ ] δ",
    ),
    ("instance", "J K next, previous · P playground"),
    ("playground", "Ctrl Z undo in a text · Ctrl Shift Z redo"),
    ("workbench", "O choose files · Esc cancel"),
];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_below_a_study_belongs_to_studies() {
        let page = Page::Instances {
            study: "demo".to_owned(),
            axiom: Axiom::Tfc1,
            ranker: 2,
        };
        assert_eq!(page.href(), "/study/demo/tfc1/2");
        assert!(Page::Studies.holds(&page.href()));
        assert!(!Page::About.holds(&page.href()));
    }
}
