//! Random tokens. Only their SHA-256 is stored.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

/// A token that gives access to its bearer. It is not shown in logs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretToken(String);

impl SecretToken {
    /// Generates a token of 256 random bits, encoded as URL-safe Base64 without padding.
    pub(crate) fn generate() -> SecretToken {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).expect("the operating system gives random numbers");
        SecretToken(BASE64_URL_SAFE_NO_PAD.encode(bits))
    }

    /// Wraps a token as received from a client, without checking it.
    pub(crate) fn from_unchecked_text(token: &str) -> SecretToken {
        SecretToken(token.to_owned())
    }

    /// Returns the token as text, to be shown once to its owner.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 of the token in hex, which is stored.
    pub(crate) fn sha256(&self) -> String {
        encode_hex(&Sha256::digest(&self.0))
    }

    /// Returns the CSRF token of a session, the SHA-256 of `csrf\n` and the token in Base64. The
    /// session token cannot be derived from it.
    pub(crate) fn csrf_token(&self) -> String {
        let digest = Sha256::digest(format!("csrf\n{}", self.0));
        BASE64_URL_SAFE_NO_PAD.encode(digest)
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

/// Compares two texts in a time that does not depend on where they differ.
pub(crate) fn equal_in_constant_time(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes());
    a.len() == b.len() && differing.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_alike_and_none_is_in_a_log() {
        let (one, other) = (SecretToken::generate(), SecretToken::generate());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 43);
        assert_eq!(format!("{one:?}"), "Secret");
        assert_ne!(one.csrf_token(), one.sha256());
        assert!(!one.csrf_token().contains(one.reveal()));
    }

    #[test]
    fn only_the_same_is_equal() {
        assert!(equal_in_constant_time("right", "right"));
        for wrong in ["", "righ", "rights", "Right"] {
            assert!(!equal_in_constant_time("right", wrong), "{wrong}");
        }
    }
}
