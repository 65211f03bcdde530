//! Parses the scores of a response, and formats error messages about invalid ones.

use serde::Deserialize;

use super::RerankProtocol;

/// Returns the scores of `n_texts` documents, in their order. Each index must occur once, and each
/// score must be finite; other fields are ignored. Error messages do not contain `secret`.
pub(super) fn parse_rerank_scores(
    shape: RerankProtocol,
    body: &[u8],
    n_texts: usize,
    secret: Option<&str>,
) -> Result<Vec<f64>, String> {
    #[derive(Deserialize)]
    struct Text {
        index: u64,
        score: f64,
    }
    /// A result in Cohere's format.
    #[derive(Deserialize)]
    struct Document {
        index: u64,
        relevance_score: f64,
    }
    #[derive(Deserialize)]
    struct Documents {
        results: Vec<Document>,
    }
    let what = |it: serde_json::Error, expected: &str| {
        let said = response_excerpt(body, secret);
        format!("its answer is not {expected} ({it}): {said}")
    };
    let found: Vec<(u64, f64)> = match shape {
        RerankProtocol::Tei => {
            let texts: Vec<Text> = serde_json::from_slice(body)
                .map_err(|it| what(it, "[{\"index\": …, \"score\": …}, …]"))?;
            texts.into_iter().map(|it| (it.index, it.score)).collect()
        }
        RerankProtocol::Cohere => {
            let Documents { results } = serde_json::from_slice(body).map_err(|it| {
                what(
                    it,
                    "{\"results\": [{\"index\": …, \"relevance_score\": …}, …]}",
                )
            })?;
            let each = results.into_iter();
            each.map(|it| (it.index, it.relevance_score)).collect()
        }
    };
    if found.len() != n_texts {
        return Err(format!(
            "it gives {} scores for {n_texts} texts",
            found.len()
        ));
    }
    let mut scores: Vec<Option<f64>> = vec![None; n_texts];
    for (index, score) in found {
        let place = usize::try_from(index).ok();
        let place = place.and_then(|it| scores.get_mut(it)).ok_or_else(|| {
            format!("it gives a score to text {index}, where there are {n_texts}, from 0 on")
        })?;
        if !score.is_finite() {
            return Err(format!("its score of text {index} is not a finite number"));
        }
        if place.replace(score).is_some() {
            return Err(format!("it gives two scores to text {index}"));
        }
    }
    let scores: Option<Vec<f64>> = scores.into_iter().collect();
    Ok(scores.expect("as many scores as texts, and none twice"))
}

/// Returns the first characters of a response body on one line. The secret is removed before the
/// body is truncated, since a part of it could not be found afterwards.
pub(super) fn response_excerpt(body: &[u8], secret: Option<&str>) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(body);
    let text = match secret {
        Some(secret) => redact_secret(&text, secret),
        None => text.into_owned(),
    };
    let text = text.trim();
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    match shown.is_empty() {
        true => "nothing".to_owned(),
        false => format!("`{}`", escaped(&shown)),
    }
}

/// Removes a secret from a text, both as it is and as JSON writes it.
pub(super) fn redact_secret(text: &str, secret: &str) -> String {
    let json = serde_json::Value::from(secret).to_string();
    text.replace(json.trim_matches('"'), "…")
        .replace(secret, "…")
}

/// Escapes control characters, but not the quotation marks of JSON.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\'' => escaped.push(c),
            _ => escaped.extend(c.escape_debug()),
        }
    }
    escaped
}
