//! Server-sent events: a connection that opens again when it breaks, until the listener has heard
//! the last event.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use web_sys::{EventSource, MessageEvent};

use super::{RequestError, network_error};

/// What a listener makes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventStreamProgress {
    /// More events follow.
    Continues,
    /// This was the last event, so the connection is closed.
    HasEnded,
    /// The event has the format of another version.
    Unreadable,
}

impl EventStreamProgress {
    /// Returns that the events have ended, or that more follow.
    pub(crate) fn of_end(has_ended: bool) -> EventStreamProgress {
        match has_ended {
            true => EventStreamProgress::HasEnded,
            false => EventStreamProgress::Continues,
        }
    }
}

/// Listens to server-sent events until it is dropped.
pub(crate) struct EventSubscription(Rc<EventListener>);

/// Takes the name and the data of an event.
type EventHandler = dyn Fn(&str, &str) -> EventStreamProgress;

struct EventListener {
    address: String,
    names: &'static [&'static str],
    connection: RefCell<Option<EventConnection>>,
    on_event: Box<EventHandler>,
    on_disconnect: Box<dyn Fn()>,
}

/// An open connection with its listeners.
struct EventConnection {
    events: EventSource,
    _on_event: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(web_sys::Event)>,
}

impl Drop for EventConnection {
    fn drop(&mut self) {
        self.events.set_onerror(None);
        self.events.close();
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        close(&self.0);
    }
}

/// The time until the next try after the server refused the connection. After a lost connection the
/// browser reconnects by itself.
const RETRY_MS: u32 = 3_000;

impl EventSubscription {
    /// Calls `on_event` with the name and the data of each event with one of the names, and
    /// `on_disconnect` whenever the connection breaks or an event cannot be read.
    pub(crate) fn open(
        address: String,
        names: &'static [&'static str],
        on_event: impl Fn(&str, &str) -> EventStreamProgress + 'static,
        on_disconnect: impl Fn() + 'static,
    ) -> Result<EventSubscription, RequestError> {
        let listener = Rc::new(EventListener {
            address,
            names,
            connection: RefCell::new(None),
            on_event: Box::new(on_event),
            on_disconnect: Box::new(on_disconnect),
        });
        connect(&listener).map_err(|it| network_error(format!("{it:?}")))?;
        Ok(EventSubscription(listener))
    }
}

fn connect(listener: &Rc<EventListener>) -> Result<(), JsValue> {
    let events = EventSource::new(&listener.address)?;
    let hears = Rc::downgrade(listener);
    let on_event = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(listener) = hears.upgrade() else {
            return;
        };
        let data = event.data().as_string().unwrap_or_default();
        match (listener.on_event)(&event.type_(), &data) {
            EventStreamProgress::Continues => {}
            EventStreamProgress::HasEnded => close(&listener),
            EventStreamProgress::Unreadable => (listener.on_disconnect)(),
        }
    });
    let loses = Rc::downgrade(listener);
    let source = events.clone();
    let on_error = Closure::<dyn FnMut(web_sys::Event)>::new(move |_| {
        let Some(listener) = loses.upgrade() else {
            return;
        };
        (listener.on_disconnect)();
        if source.ready_state() == EventSource::CLOSED {
            let later = Rc::downgrade(&listener);
            leptos::task::spawn_local(async move {
                gloo_timers::future::TimeoutFuture::new(RETRY_MS).await;
                // Without a connection, the listener has been closed in the meantime.
                if let Some(listener) = later.upgrade()
                    && listener.connection.borrow().is_some()
                {
                    let _ = connect(&listener);
                }
            });
        }
    });
    for name in listener.names {
        events.add_event_listener_with_callback(name, on_event.as_ref().unchecked_ref())?;
    }
    events.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    let connection = EventConnection {
        events,
        _on_event: on_event,
        _on_error: on_error,
    };
    listener.connection.replace(Some(connection));
    Ok(())
}

/// Closes the connection, but only after the listener that asks for it has returned.
fn close(listener: &EventListener) {
    if let Some(connection) = listener.connection.take() {
        connection.events.close();
        leptos::task::spawn_local(async move { drop(connection) });
    }
}
