//! Password hashing: Argon2id with the parameters that OWASP recommends (19 MiB, two passes, one
//! lane).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use shared::api::people::MIN_PASSWORD_LENGTH;
use shared::error::Error as InputError;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, run_blocking};
use crate::http::AppState;

/// Maximum number of characters of a password.
const MAX_CHARS: usize = 256;

/// Hash to compare with if a name has none, so that unknown names take as long as known ones.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hashed("nobody has this password"));

/// Returns the hash of a new password. Returns an error for the field of the request if the
/// password is too short or too long.
pub(super) async fn hash(
    app: &AppState,
    field: &'static str,
    password: String,
) -> Result<String, Error> {
    let wrong = |reason: String| Error::from(InputError::out_of_range(field, reason));
    match password.chars().count() {
        n if n < MIN_PASSWORD_LENGTH => {
            let reason = format!("has {n} characters; take at least {MIN_PASSWORD_LENGTH}");
            return Err(wrong(reason));
        }
        n if n > MAX_CHARS => {
            return Err(wrong(format!(
                "has {n} characters; take at most {MAX_CHARS}"
            )));
        }
        _ => {}
    }
    let place = app.limits.password().await;
    run_blocking("keeping a password", move || {
        let _place = place;
        Ok(hashed(&password))
    })
    .await
}

/// Returns whether a password matches a hash. Without a hash it takes as long and returns false.
pub(super) async fn verify(
    app: &AppState,
    password: String,
    hash: Option<String>,
) -> Result<bool, Error> {
    if password.chars().count() > MAX_CHARS {
        return Ok(false);
    }
    let place = app.limits.password().await;
    run_blocking("comparing a password", move || {
        let _place = place;
        let kept = hash.as_ref().unwrap_or(&DUMMY_HASH);
        let damaged = |it: argon2::password_hash::phc::Error| Error::CorruptData {
            what: "the list of people".to_owned(),
            reason: it.to_string(),
        };
        let kept = PasswordHash::new(kept).map_err(damaged)?;
        let same = Argon2::default().verify_password(plain(&password).as_bytes(), &kept);
        Ok(same.is_ok() && hash.is_some())
    })
    .await
}

fn hashed(password: &str) -> String {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).expect("the operating system gives random numbers");
    Argon2::default()
        .hash_password_with_salt(plain(password).as_bytes(), &salt)
        .expect("a salt of 16 bytes and a password below 4 GiB can be hashed")
        .to_string()
}

/// Normalizes a password, so that it is the same from every keyboard (NIST SP 800-63B, 5.1.1.2).
fn plain(password: &str) -> String {
    password.nfkc().collect()
}
