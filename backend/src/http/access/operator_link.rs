//! The link that signs in the operator, printed at each start of the server.

use std::sync::{Mutex, PoisonError};

use crate::store::operator::AccessTokenHash;
use crate::store::secret_token::SecretToken;

/// The token of the operator link. It signs in one browser, once, while the server runs.
pub(crate) struct OperatorSignInLink(Mutex<Option<AccessTokenHash>>);

impl OperatorSignInLink {
    /// Creates a link. The token is returned to be printed; only its hash is kept.
    pub(crate) fn new() -> (OperatorSignInLink, SecretToken) {
        let token = SecretToken::generate();
        let hash = AccessTokenHash::from_token(token.reveal());
        (OperatorSignInLink(Mutex::new(Some(hash))), token)
    }

    /// Returns a link that signs in nobody.
    pub(crate) fn disabled() -> OperatorSignInLink {
        OperatorSignInLink(Mutex::default())
    }

    /// Returns whether the link can still be used.
    pub(crate) fn is_open(&self) -> bool {
        let hash = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hash.is_some()
    }

    /// Returns whether a token is that of the link. If so, the link is used up.
    pub(crate) fn redeem(&self, token: &str) -> bool {
        let mut hash = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hash.take_if(|it| it.matches_token(token)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lets_in_one_and_a_wrong_token_spoils_nothing() {
        let (link, token) = OperatorSignInLink::new();
        assert!(!link.redeem(""));
        assert!(!link.redeem("wrong"));
        assert!(link.is_open());
        assert!(link.redeem(token.reveal()));
        assert!(!link.is_open());
        assert!(!link.redeem(token.reveal()));
        assert!(!OperatorSignInLink::disabled().redeem(""));
    }
}
