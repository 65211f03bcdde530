//! What shows the server that a request comes from this page, and whose page it is.
//!
//! Only the main program has it: the lab asks through the page.

use std::cell::RefCell;

use serde::Deserialize;
use shared::api::Endpoint;
use shared::api::people::{Join, Me, SetPassword, SignIn, SignInAsOperator, SignOut};
use shared::review::PersonNo;

/// The parts of [`shared::api::people::Who`] that requests go by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Known {
    person: Option<Holder>,
    /// To be sent with each POST; none without a session.
    pub(crate) csrf: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Holder {
    no: PersonNo,
}

/// What a refusal means, once it was asked again who is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing has changed: the request itself was refused.
    Same,
    /// The token was an earlier one's: the request can be sent once more.
    Fresh,
    /// The session has ended, or is somebody else's: what this page sends is not theirs.
    Other,
}

impl Known {
    /// What has become of it.
    pub(crate) fn turn(&self, now: &Known) -> Turn {
        if self.person.is_some() && self.person != now.person {
            Turn::Other
        } else if self.csrf == now.csrf {
            Turn::Same
        } else {
            Turn::Fresh
        }
    }
}

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// What was told last; none before anything was.
pub(crate) fn known() -> Option<Known> {
    KNOWN.with_borrow(Clone::clone)
}

/// Keeps it for the requests to come.
pub(crate) fn keep(known: Known) {
    KNOWN.set(Some(known));
}

/// Hears who somebody is, where a reply says so.
pub(crate) fn hear(path: &str, reply: &str) -> bool {
    let tells = [
        Me::PATH,
        Join::PATH,
        SignIn::PATH,
        SignInAsOperator::PATH,
        SignOut::PATH,
        SetPassword::PATH,
    ];
    if !tells.contains(&path) {
        return false;
    }
    match serde_json::from_str(reply) {
        Ok(known) => {
            keep(known);
            true
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(person: Option<u32>, csrf: Option<&str>) -> Known {
        Known {
            person: person.map(|no| Holder { no: PersonNo(no) }),
            csrf: csrf.map(str::to_owned),
        }
    }

    #[test]
    fn nothing_is_sent_again_as_somebody_else() {
        let mine = known(Some(1), Some("a"));
        assert_eq!(mine.turn(&known(Some(1), Some("a"))), Turn::Same);
        assert_eq!(mine.turn(&known(Some(1), Some("b"))), Turn::Fresh);
        assert_eq!(mine.turn(&known(Some(2), Some("b"))), Turn::Other);
        assert_eq!(mine.turn(&known(None, None)), Turn::Other);
        let visitor = known(None, None);
        assert_eq!(visitor.turn(&known(Some(2), Some("b"))), Turn::Fresh);
    }

    #[test]
    fn who_is_heard_from_what_says_so() {
        let reply = r#"{"role":"annotator","person":{"no":3,"name":"Ada","has_password":false},
                        "csrf":"x"}"#;
        assert!(!hear("/api/studies", reply));
        assert!(hear(Me::PATH, reply));
        assert_eq!(super::known(), Some(known(Some(3), Some("x"))));
    }
}
