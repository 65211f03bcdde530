//! The dialogs of the annotation page: skip, report, and the worked example of an axiom.

use leptos::html;
use leptos::prelude::*;
use shared::annotation::content::ProbeSummary;
use shared::annotation::event::SkipReason;
use shared::probe::Probe;
use shared::user_text::MAX_NOTE_CHARS;

#[cfg(not(feature = "lazy-bundle"))]
use crate::bundle_loader::LazyBundlePage;
use crate::keyboard;
#[cfg(feature = "lazy-bundle")]
use crate::pages::about::worked_example::StatementWithExample;
use crate::pages::review::item::ButtonWithShortcutKey;
use crate::routes::PageRoute;

/// A reference to a dialog of this page.
pub(super) type DialogRef = NodeRef<html::Dialog>;

/// Opens a dialog as a modal; does nothing if it is not on the page.
pub(super) fn open_dialog(place: DialogRef) {
    if let Some(dialog) = place.get_untracked() {
        let _ = dialog.show_modal();
    }
}

fn close(place: DialogRef) {
    if let Some(dialog) = place.get_untracked() {
        dialog.close();
    }
}

/// Renders the heading of a dialog with its close button.
#[component]
fn DialogHead(place: DialogRef, id: &'static str, children: Children) -> impl IntoView {
    view! {
        <header>
            <h2 id=id>{children()}</h2>
            <ButtonWithShortcutKey class="btn" key="Esc" press=move || close(place)>
                "Close"
            </ButtonWithShortcutKey>
        </header>
    }
}

/// Returns the button label of a reason to skip an item.
fn reason_word(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::NotUnderstandable => "I do not understand the query or a document",
        SkipReason::BrokenDocument => "A document is broken, cut off or empty",
        SkipReason::DistressingContent => "I do not want to read this",
        SkipReason::ConflictOfInterest => "I have a conflict of interest",
        SkipReason::Other => "Another reason (say which in the note)",
    }
}

/// Renders the dialog that asks why an item is skipped.
#[component]
pub(super) fn SkipDialog(
    /// The dialog, which a key opens.
    place: DialogRef,
    /// Receives the reason and the note.
    skip: Callback<(SkipReason, String)>,
) -> impl IntoView {
    let note = RwSignal::new(String::new());
    let wants = RwSignal::new(false);
    let choose = move |reason: SkipReason| {
        let words = note.get_untracked();
        if reason == SkipReason::Other && words.trim().is_empty() {
            wants.set(true);
            keyboard::focus_element_on_next_frame("skip-note");
            return;
        }
        close(place);
        note.set(String::new());
        wants.set(false);
        skip.run((reason, words));
    };
    let buttons = SkipReason::ALL.iter().zip(1..).map(|(&reason, key)| {
        view! {
            <button class="btn" type="button" on:click=move |_| choose(reason)>
                {reason_word(reason)} " " <kbd>{key}</kbd>
            </button>
        }
    });
    let press = move |event: leptos::ev::KeyboardEvent| {
        let key: Option<usize> = event.key().parse().ok();
        let in_field = event_target::<web_sys::Element>(&event).tag_name() == "TEXTAREA";
        let reason = key.and_then(|it| SkipReason::ALL.get(it.checked_sub(1)?));
        if let (Some(&reason), false) = (reason, in_field || event.repeat()) {
            event.prevent_default();
            choose(reason);
        }
    };
    view! {
        <dialog node_ref=place class="skipping" aria-labelledby="skip-title" on:keydown=press>
            <DialogHead place id="skip-title">"Why are you skipping this item?"</DialogHead>
            <div class="reasons">{buttons.collect_view()}</div>
            <label class="field">
                <span class="label">
                    {move || if wants.get() { "Note (required)" } else { "Note" }}
                </span>
                <textarea
                    id="skip-note"
                    rows="2"
                    maxlength=MAX_NOTE_CHARS.to_string()
                    prop:value=move || note.get()
                    on:input:target=move |event| note.set(event.target().value())
                ></textarea>
            </label>
        </dialog>
    }
}

/// Renders the dialog that asks what is wrong with an item.
#[component]
pub(super) fn ReportProblemDialog(
    /// The dialog, which a key opens.
    place: DialogRef,
    /// Receives the description of the problem.
    report: Callback<String>,
) -> impl IntoView {
    let note = RwSignal::new(String::new());
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let words = note.get_untracked();
        if !words.trim().is_empty() {
            close(place);
            note.set(String::new());
            report.run(words);
        }
    };
    view! {
        <dialog node_ref=place aria-labelledby="report-title">
            <DialogHead place id="report-title">"What is wrong with this item?"</DialogHead>
            <form class="reasons" on:submit=send>
                <label class="field">
                    <span class="label">"The curator reads your report. You can still answer \
                         the item."</span>
                    <textarea
                        rows="3"
                        required
                        autofocus
                        maxlength=MAX_NOTE_CHARS.to_string()
                        prop:value=move || note.get()
                        on:input:target=move |event| note.set(event.target().value())
                    ></textarea>
                </label>
                <button class="btn main" type="submit">"Report"</button>
            </form>
        </dialog>
    }
}

/// Renders the worked example of an axiom, computed when the dialog is opened.
#[component]
pub(super) fn AxiomExampleDialog(
    /// The dialog, which a key opens.
    place: DialogRef,
    /// The probe of the example; none until the dialog is opened.
    probe: RwSignal<Option<ProbeSummary>>,
) -> impl IntoView {
    let body = move || {
        probe.get().map(|probe| {
            view! {
                {explanation(probe.probe)}
                <p class="note">
                    <a href=PageRoute::About.href() target="_blank">"About all axioms"</a>
                    " (opens in a new tab)"
                </p>
            }
        })
    };
    let name = move || probe.get().map(|it| it.name);
    view! {
        <dialog node_ref=place class="wide-dialog" aria-labelledby="example-title">
            <DialogHead place id="example-title">{name} ": what it predicts"</DialogHead>
            {body}
        </dialog>
    }
}

#[cfg(feature = "lazy-bundle")]
fn explanation(probe: Probe) -> AnyView {
    view! { <StatementWithExample probe/> }.into_any()
}

/// Loads the explanation, whose example is computed: rankers and axioms would double this program.
#[cfg(not(feature = "lazy-bundle"))]
fn explanation(axiom: Probe) -> AnyView {
    let path = PageRoute::AxiomExample { axiom }.href();
    view! { <LazyBundlePage path until="Loading the example"/> }.into_any()
}
