//! Event keys: 128 random bits that the author's browser creates, so that an event that is sent
//! twice is stored once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, serialize_as_text};

/// The key of an event: 128 bits, written as 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AnnotationEventKey(u128);

impl AnnotationEventKey {
    /// Creates an event key from 16 random bytes, read as a big-endian integer.
    pub fn from_bytes(bytes: [u8; 16]) -> AnnotationEventKey {
        AnnotationEventKey(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for AnnotationEventKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

impl FromStr for AnnotationEventKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<AnnotationEventKey, Error> {
        let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        let sound = text.len() == 32 && text.bytes().all(is_digit);
        let bits = sound.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        let reason = "must be 128 random bits, written as 32 hexadecimal digits (0-9, a-f)";
        bits.map(AnnotationEventKey)
            .ok_or_else(|| Error::malformed_value("key", reason))
    }
}

serialize_as_text!(AnnotationEventKey);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_as_it_was_written() {
        let key =
            AnnotationEventKey::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]);
        let text = "000102030405060708090a0b0c0d0eff";
        assert_eq!(key.to_string(), text);
        assert_eq!(text.parse(), Ok(key));
        assert_eq!(
            serde_json::from_str::<AnnotationEventKey>(&format!("\"{text}\"")).unwrap(),
            key
        );
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in [
            "",
            "000102030405060708090A0B0C0D0EFF",
            "000102030405060708090a0b0c0d0ef",
            "+00102030405060708090a0b0c0d0eff",
            "00010203-0405-0607-0809-0a0b0c0d0eff",
        ] {
            assert!(text.parse::<AnnotationEventKey>().is_err(), "{text}");
        }
    }
}
