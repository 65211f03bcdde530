//! The operator token. It is printed once, and only its SHA-256 is stored.

use crate::error::Error;
use crate::store::Store;
use crate::store::secret_token::{self, SecretToken};

/// The SHA-256 of a token in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenHash(String);

impl TokenHash {
    /// Returns the hash of a token.
    pub(crate) fn of(token: &str) -> TokenHash {
        TokenHash(SecretToken::from_text(token).sha256())
    }

    /// Returns whether a token has this hash. The time does not depend on where they differ.
    pub(crate) fn matches(&self, token: &str) -> bool {
        secret_token::equal(&self.0, &TokenHash::of(token).0)
    }
}

impl Store {
    /// Returns the hash of the operator token, if there is one.
    pub(crate) async fn operator(&self) -> Result<Option<TokenHash>, Error> {
        let found: Option<String> = sqlx::query_scalar("SELECT token_sha256 FROM operator")
            .fetch_optional(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
        Ok(found.map(TokenHash))
    }

    /// Creates a new token and returns it. The previous one becomes invalid.
    pub(crate) async fn new_operator_token(&self) -> Result<String, Error> {
        let token = SecretToken::new();
        sqlx::query(
            "INSERT INTO operator (one, token_sha256) VALUES (1, $1)
             ON CONFLICT (one) DO UPDATE SET token_sha256 = excluded.token_sha256",
        )
        .bind(token.sha256())
        .execute(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        Ok(token.reveal().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestFolder;

    #[test]
    fn only_the_token_itself_matches() {
        let hash = TokenHash::of("correct");
        assert!(hash.matches("correct"));
        for wrong in ["", "correc", "correct ", "Correct"] {
            assert!(!hash.matches(wrong), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_new_token_takes_the_place_of_the_one_before() {
        for place in TestFolder::each() {
            let store = place.store().await;
            assert_eq!(store.operator().await.unwrap(), None);
            let first = store.new_operator_token().await.unwrap();
            let second = store.new_operator_token().await.unwrap();
            let kept = store.operator().await.unwrap().unwrap();
            assert!(kept.matches(&second) && !kept.matches(&first));
        }
    }
}
