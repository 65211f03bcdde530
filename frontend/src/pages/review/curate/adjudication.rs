//! The adjudication queue: the annotations of disputed items, and the decision of a curator. An
//! adjudication overrides the annotations and deletes none of them.

use std::collections::BTreeMap;

use leptos::html;
use leptos::prelude::*;
use shared::annotation::event::{AnnotationEventAction, ItemAdjudication as Made};
use shared::annotation::judgments::AdjudicationQueueItem;
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::{AnnotationEventKey, AnnotatorAnswer, ItemNo};
use shared::api::annotation::{GetItemHistoryRequest, ItemHistoryResponse, ListDisputesRequest};
use shared::probe::ScoreClaimKind;

use super::item_history::ItemHistoryView;
use super::labels;
use super::state::{CurationPageState, CurationTab};
use super::submission::{AnnotationEventSender, SubmissionErrorMessage};
use crate::api::{self, RequestError};
use crate::keyboard::{self, KeyPressOutcome};
use crate::location::{self, PageLocation};
use crate::number_format::format_count_with_noun;
use crate::pages::review::item::ButtonWithShortcutKey;
use crate::widgets::error_message::{LoadErrorMessage, OptionalErrorMessage};
use crate::widgets::form::TextField;
use crate::widgets::section::Section;

/// The answers, in the order of their keys.
const KEYS: [(&str, AnnotatorAnswer); 4] = [
    ("1", AnnotatorAnswer::First),
    ("2", AnnotatorAnswer::Equal),
    ("3", AnnotatorAnswer::Second),
    ("4", AnnotatorAnswer::CannotSay),
];

/// The state that the parts of this tab share.
#[derive(Clone, Copy)]
struct AdjudicationState {
    desk: CurationPageState,
    queue: RwSignal<Option<Vec<AdjudicationQueueItem>>>,
    failed: RwSignal<Option<RequestError>>,
    /// The item that is open.
    item: Memo<Option<ItemNo>>,
    /// Notes that were typed and are not sent.
    notes: RwSignal<BTreeMap<ItemNo, String>>,
    /// Items that were adjudicated while the page was open, the last one last.
    done: RwSignal<Vec<ItemNo>>,
    sending: AnnotationEventSender,
}

impl AdjudicationState {
    fn new(desk: CurationPageState) -> AdjudicationState {
        let here = PageLocation::from_context_or_browser();
        let queue = RwSignal::new(None::<Vec<AdjudicationQueueItem>>);
        let item = Memo::new(move |_| {
            let wanted = location::query_string_parameter(&here.search.get(), "item");
            let wanted = wanted.and_then(|it| it.parse().ok()).map(ItemNo);
            wanted.or_else(|| queue.with(|it| it.as_ref()?.first().map(|it| it.item)))
        });
        AdjudicationState {
            desk,
            queue,
            failed: RwSignal::new(None),
            item,
            notes: RwSignal::new(BTreeMap::new()),
            done: RwSignal::new(Vec::new()),
            sending: AnnotationEventSender::new(desk.task),
        }
    }

    fn fetch_queue(self) {
        let task = self.desk.task;
        leptos::task::spawn_local(async move {
            match api::send_and_parse(&ListDisputesRequest { task }).await {
                Ok(found) => {
                    self.failed.try_set(None);
                    self.queue.try_set(Some(found));
                }
                Err(error) => {
                    self.failed.try_set(Some(error));
                }
            }
        });
    }

    fn href(self, item: ItemNo) -> String {
        format!(
            "{}&item={}",
            CurationTab::Adjudication.href(self.desk.task),
            item.0
        )
    }

    fn open_item(self, item: ItemNo) {
        self.sending.discard_unconfirmed_event();
        location::replace_browser_address(&self.href(item));
    }

    /// Opens the item that is `by` places further in the queue.
    fn step(self, by: isize) {
        let queue = self.queue.get_untracked().unwrap_or_default();
        let items: Vec<ItemNo> = queue.iter().map(|it| it.item).collect();
        if let Some(next) = neighbor_item(&items, self.item.get_untracked(), by) {
            self.open_item(next);
        }
    }
}

/// Returns the item that is `by` places after another in the queue, wrapping around at the ends;
/// the first if the other one is not in the queue.
fn neighbor_item(items: &[ItemNo], from: Option<ItemNo>, by: isize) -> Option<ItemNo> {
    let at = items.iter().position(|it| Some(*it) == from);
    let at = match at {
        Some(at) => (at as isize + by).rem_euclid(items.len() as isize) as usize,
        None => 0,
    };
    items.get(at).copied()
}

/// Renders the tab with the adjudication queue and the open item.
#[component]
pub(super) fn AdjudicationTab(desk: CurationPageState) -> impl IntoView {
    let court = AdjudicationState::new(desk);
    court.fetch_queue();
    let retry = Callback::new(move |()| court.fetch_queue());
    view! {
        <OptionalErrorMessage error=court.failed retry/>
        <div class="court">
            <Queue court/>
            <AdjudicationItem court/>
        </div>
    }
}

/// Renders the queue of disputed items, disagreements first.
#[component]
fn Queue(court: AdjudicationState) -> impl IntoView {
    let row = move |it: &AdjudicationQueueItem| {
        let item = it.item;
        let current = move || (court.item.get() == Some(item)).then_some("true");
        let votes = format_count_with_noun(u64::from(it.n_votes), "vote", "votes");
        view! {
            <li>
                <a href=court.href(item) aria-current=current>
                    <b>{format!("Item {}", item.0)}</b>
                    <span>{labels::dispute_reason_label(it.reason)} ", " {votes}</span>
                </a>
            </li>
        }
    };
    let rows = move || {
        let queue = court.queue.get();
        queue.map(|it| it.iter().map(row).collect_view())
    };
    let said = move || {
        court.queue.with(|it| match it.as_deref() {
            None => "Loading the queue".to_owned(),
            Some([]) => "Nothing to adjudicate: no disagreements and no reports.".to_owned(),
            Some(all) => format_count_with_noun(all.len() as u64, "item", "items"),
        })
    };
    let done = move || {
        let done = court.done.get();
        (!done.is_empty()).then(|| {
            let rows = done.into_iter().rev().map(|item| {
                view! { <li><a href=court.href(item)>{format!("Item {}", item.0)}</a></li> }
            });
            view! {
                <h3>"Adjudicated"</h3>
                <ul class="settled">{rows.collect_view()}</ul>
            }
        })
    };
    let typed = RwSignal::new(String::new());
    let made = court
        .desk
        .details
        .with_untracked(|it| it.composition.clone());
    let n_items = made.n_training_items + made.n_gold_items + made.n_sampled_items;
    let open = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let item = typed.get_untracked().trim().parse().ok();
        if let Some(item) = item.filter(|it| *it < n_items) {
            court.open_item(ItemNo(item));
        }
    };
    let header = move || view! { <p class="note" role="status">{said}</p> };
    view! {
        <Section id="queue" name="Adjudication queue" class="section queue" header>
            <ol class="cases disputed">{rows}</ol>
            {done}
            <form class="btns" on:submit=open>
                <TextField
                    label=format!("Go to item, 0 to {}", n_items.saturating_sub(1))
                    text=typed
                    inputmode="numeric"
                />
                <button class="btn" type="submit">"Open"</button>
            </form>
        </Section>
    }
}

/// Renders the item that is open.
#[component]
fn AdjudicationItem(court: AdjudicationState) -> impl IntoView {
    let task = court.desk.task;
    let answer = LocalResource::new(move || {
        let item = court.item.get();
        async move {
            match item {
                Some(item) => Some((
                    item,
                    api::send_and_parse(&GetItemHistoryRequest { task, item }).await,
                )),
                None => None,
            }
        }
    });
    let again = Callback::new(move |()| answer.refetch());
    let body = move || {
        let item = court.item.get()?;
        // A late reply may belong to an item that is no longer open.
        Some(match answer.get().flatten().filter(|it| it.0 == item) {
            None => view! { <p class="note" role="status">"Loading the item"</p> }.into_any(),
            Some((_, Err(error))) => view! { <LoadErrorMessage error retry=again/> }.into_any(),
            Some((_, Ok(found))) => view! { <AdjudicationForm court item found again/> }.into_any(),
        })
    };
    view! { <section class="section judged" aria-label="Item">{body}</section> }
}

#[component]
fn AdjudicationForm(
    court: AdjudicationState,
    item: ItemNo,
    found: ItemHistoryResponse,
    /// Fetches the item again.
    again: Callback<()>,
) -> impl IntoView {
    let claim = found.content.claim;
    let replaces = StoredValue::new(active_adjudications(&found));
    let before = replaces.with_value(Vec::len);
    let is_simulated = court.desk.is_simulated();
    // They would bias a decision that is still to be made.
    let shows_rankers = before > 0 || is_simulated;
    let head = NodeRef::<html::H2>::new();
    let field = NodeRef::<html::Textarea>::new();
    let done = Callback::new(move |()| {
        court.notes.update(|it| {
            it.remove(&item);
        });
        court.done.update(|it| {
            it.retain(|other| *other != item);
            it.push(item);
        });
        let queue = court.queue.get_untracked().unwrap_or_default();
        let waits = queue.iter().any(|it| it.item != item);
        match waits && before == 0 {
            true => court.step(1),
            false => again.run(()),
        }
        court.fetch_queue();
    });
    let decide = move |answer: AnnotatorAnswer| {
        if is_simulated {
            return;
        }
        let note = court.notes.with_untracked(|it| it.get(&item).cloned());
        let made = Made {
            item,
            answer,
            note: note.unwrap_or_default().trim().to_owned(),
            replaces: replaces.get_value(),
        };
        court
            .sending
            .send_action(AnnotationEventAction::Adjudicated(made), done);
    };
    keyboard::listen_for_key_presses(move |key| {
        if let Some((_, answer)) = KEYS.iter().find(|it| it.0 == key) {
            decide(*answer);
            return KeyPressOutcome::Handled;
        }
        match key {
            "j" => court.step(1),
            "k" => court.step(-1),
            "n" => {
                if let Some(field) = field.get_untracked() {
                    let _ = field.focus();
                }
            }
            _ => return KeyPressOutcome::Ignored,
        }
        KeyPressOutcome::Handled
    });
    let disabled = Signal::derive(move || court.sending.is_sending());
    let buttons = KEYS.map(|(key, answer)| {
        view! {
            <ButtonWithShortcutKey class="btn" key press=move || decide(answer) disabled>
                {labels::answer_label_in_claim_order(answer, claim)}
            </ButtonWithShortcutKey>
        }
    });
    let note = move || {
        court
            .notes
            .with(|it| it.get(&item).cloned().unwrap_or_default())
    };
    let write =
        move |event: leptos::ev::Targeted<leptos::ev::Event, web_sys::HtmlTextAreaElement>| {
            let text = event.target().value();
            court.notes.update(|it| {
                it.insert(item, text);
            });
        };
    // After an adjudication the focus moves to the heading, so that screen readers announce the
    // next item.
    Effect::new(move |_| {
        if let Some(head) = head
            .get()
            .filter(|_| court.done.with_untracked(|it| !it.is_empty()))
        {
            let _ = head.focus();
        }
    });
    let question = match claim {
        ScoreClaimKind::DiminishingGain => "Which step helps more?",
        ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => {
            "Which document answers the query better?"
        }
    };
    let said = match before {
        0 => {
            "Your answer replaces the annotators' answers in the estimates. Their answers stay \
             in the log."
        }
        _ => {
            "This item is adjudicated. A new answer replaces the old one, which stays in the \
             log."
        }
    };
    // Nobody adjudicates what simulated annotators answered.
    let form = (!is_simulated).then(|| {
        view! {
            <div class="settle">
                <h3>{question}</h3>
                <p class="note">{said}</p>
                <label class="field">
                    <span class="label">"Note " <kbd>"N"</kbd></span>
                    <textarea
                        node_ref=field
                        class="written"
                        rows="2"
                        prop:value=note
                        on:input:target=write
                    ></textarea>
                </label>
                <div class="decide four">{buttons}</div>
                <SubmissionErrorMessage sending=court.sending done/>
            </div>
        }
    });
    view! {
        <header>
            <h2 node_ref=head tabindex="-1">{format!("Item {}", item.0)}</h2>
            <div class="btns">
                <ButtonWithShortcutKey class="btn" key="K" press=move || court.step(-1)>
                    "Previous "
                </ButtonWithShortcutKey>
                <ButtonWithShortcutKey class="btn" key="J" press=move || court.step(1)>
                    "Next "
                </ButtonWithShortcutKey>
            </div>
        </header>
        <ItemHistoryView found shows_rankers/>
        {form}
    }
}

/// Returns the keys of the adjudications that a new one replaces.
fn active_adjudications(found: &ItemHistoryResponse) -> Vec<AnnotationEventKey> {
    let done = found.events.iter().filter(|it| {
        let made = matches!(it.entry.event.action, AnnotationEventAction::Adjudicated(_));
        made && matches!(
            it.status,
            AnnotationEventValidity::Active | AnnotationEventValidity::Conflict
        )
    });
    done.map(|it| it.entry.event.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_goes_round() {
        let items = [4, 7, 9].map(ItemNo);
        let next = |from, by| neighbor_item(&items, Some(ItemNo(from)), by).map(|it| it.0);
        assert_eq!(
            [next(4, 1), next(9, 1), next(4, -1)],
            [Some(7), Some(4), Some(9)]
        );
        assert_eq!(next(5, 1), Some(4));
        assert_eq!(neighbor_item(&[], None, 1), None);
    }
}
