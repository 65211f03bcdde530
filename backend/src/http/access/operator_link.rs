//! The link that lets the operator in, printed each time the server starts.

use std::sync::{Mutex, PoisonError};

use crate::store::operator::TokenHash;
use crate::store::secret_token::SecretToken;

/// The token of the link: it lets in one browser, once, until the server ends.
pub(crate) struct OperatorLink(Mutex<Option<TokenHash>>);

impl OperatorLink {
    /// Makes a link. Its token is returned beside it, to be printed, and stored nowhere.
    pub(crate) fn new() -> (OperatorLink, SecretToken) {
        let token = SecretToken::new();
        let hash = TokenHash::of(token.reveal());
        (OperatorLink(Mutex::new(Some(hash))), token)
    }

    /// Returns a link that lets in nobody.
    pub(crate) fn disabled() -> OperatorLink {
        OperatorLink(Mutex::default())
    }

    /// Returns whether it still lets somebody in.
    pub(crate) fn is_open(&self) -> bool {
        let hash = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hash.is_some()
    }

    /// Returns whether a token is that of the link, which then lets in nobody else.
    pub(crate) fn redeem(&self, token: &str) -> bool {
        let mut hash = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hash.take_if(|it| it.matches(token)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lets_in_one_and_a_wrong_token_spoils_nothing() {
        let (link, token) = OperatorLink::new();
        assert!(!link.redeem(""));
        assert!(!link.redeem("wrong"));
        assert!(link.is_open());
        assert!(link.redeem(token.reveal()));
        assert!(!link.is_open());
        assert!(!link.redeem(token.reveal()));
        assert!(!OperatorLink::disabled().redeem(""));
    }
}
