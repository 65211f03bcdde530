//! The operator token. It is printed once, and only its SHA-256 is stored.

use crate::error::Error;
use crate::store::Database;
use crate::store::secret_token::{self, SecretToken};

/// The SHA-256 of a token in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccessTokenHash(String);

impl AccessTokenHash {
    /// Returns the hash of a token.
    pub(crate) fn from_token(token: &str) -> AccessTokenHash {
        AccessTokenHash(SecretToken::from_unchecked_text(token).sha256())
    }

    /// Returns whether a token has this hash. The time does not depend on where they differ.
    pub(crate) fn matches_token(&self, token: &str) -> bool {
        secret_token::equal_in_constant_time(&self.0, &AccessTokenHash::from_token(token).0)
    }
}

impl Database {
    /// Returns the hash of the operator token, if there is one.
    pub(crate) async fn operator_token_hash(&self) -> Result<Option<AccessTokenHash>, Error> {
        let found: Option<String> = sqlx::query_scalar("SELECT token_sha256 FROM operator")
            .fetch_optional(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
        Ok(found.map(AccessTokenHash))
    }

    /// Creates a new token and returns it. The previous one becomes invalid.
    pub(crate) async fn replace_operator_token(&self) -> Result<String, Error> {
        let token = SecretToken::generate();
        let statement = sqlx::query(
            "INSERT INTO operator (one, token_sha256) VALUES (1, $1)
             ON CONFLICT (one) DO UPDATE SET token_sha256 = excluded.token_sha256",
        )
        .bind(token.sha256());
        self.execute(statement).await?;
        Ok(token.reveal().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestFolder;

    #[test]
    fn only_the_token_itself_matches() {
        let hash = AccessTokenHash::from_token("correct");
        assert!(hash.matches_token("correct"));
        for wrong in ["", "correc", "correct ", "Correct"] {
            assert!(!hash.matches_token(wrong), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_new_token_takes_the_place_of_the_one_before() {
        for place in TestFolder::each() {
            let store = place.store().await;
            assert_eq!(store.operator_token_hash().await.unwrap(), None);
            let first = store.replace_operator_token().await.unwrap();
            let second = store.replace_operator_token().await.unwrap();
            let kept = store.operator_token_hash().await.unwrap().unwrap();
            assert!(kept.matches_token(&second) && !kept.matches_token(&first));
        }
    }
}
