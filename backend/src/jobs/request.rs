//! Checks of requests for new jobs.

use std::collections::BTreeMap;

use shared::api::CreateScoringJobRequest;
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;

const MAX_QUERIES: usize = 100_000;
const MAX_TEXTS: usize = 1_000_000;
const MAX_PAIRS: usize = 5_000_000;
const MAX_BYTES_OF_A_TEXT: usize = 1 << 20;
const MAX_BYTES_OF_A_TITLE: usize = 500;

/// Returns an error if a request is too large, has a query, document or pair twice, or if a pair
/// refers to a missing query or document.
pub(crate) fn validate_job_request(job: &CreateScoringJobRequest) -> Result<(), Error> {
    at_most("queries", job.queries.len(), MAX_QUERIES)?;
    at_most("documents", job.documents.len(), MAX_TEXTS)?;
    at_most("pairs", job.pairs.len(), MAX_PAIRS)?;
    at_most("bytes of a title", job.title.len(), MAX_BYTES_OF_A_TITLE)?;
    let longest = job
        .queries
        .iter()
        .chain(&job.documents)
        .map(String::len)
        .max()
        .unwrap_or(0);
    at_most("bytes of a text", longest, MAX_BYTES_OF_A_TEXT)?;
    if job.pairs.is_empty() {
        return Err(InputError::missing_field(
            "pairs",
            "there is none, so there is nothing to score",
        )
        .into());
    }
    each_once("queries", &job.queries)?;
    each_once("documents", &job.documents)?;
    for (at, &(query, text)) in job.pairs.iter().enumerate() {
        for (what, place, n) in [
            ("queries", query, job.queries.len()),
            ("documents", text, job.documents.len()),
        ] {
            if place as usize >= n {
                let reason = format!("{place} is no place in {what}, which has {n}");
                return Err(InputError::out_of_range(
                    ErrorFieldName::with_display_name("pairs", format!("pairs[{at}]")),
                    reason,
                )
                .into());
            }
        }
    }
    each_once("pairs", &job.pairs)
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), Error> {
    if found > most {
        return Err(Error::TooLarge {
            what,
            found: found as u64,
            most: most as u64,
        });
    }
    Ok(())
}

fn each_once<T: Ord>(what: &str, list: &[T]) -> Result<(), Error> {
    let mut first = BTreeMap::new();
    for (at, it) in list.iter().enumerate() {
        if let Some(before) = first.insert(it, at) {
            let reason = format!("is the same as {what}[{before}]; give each once");
            return Err(InputError::conflicting_value(
                ErrorFieldName::with_display_name(what, format!("{what}[{at}]")),
                reason,
            )
            .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_pairs(pairs: &[(u32, u32)]) -> String {
        let words = |words: &[&str]| words.iter().map(|&it| it.to_owned()).collect();
        let job = CreateScoringJobRequest {
            model: "tiny".to_owned(),
            title: "A job".to_owned(),
            queries: words(&["river", "bank"]),
            documents: words(&["a river", "a bank", "a meadow"]),
            pairs: pairs.to_vec(),
        };
        validate_job_request(&job).map_or_else(|it| it.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn pairs_name_places_that_are_there_and_each_once() {
        assert_eq!(check_pairs(&[(0, 0), (1, 2), (0, 2)]), "fine");
        assert_eq!(
            check_pairs(&[]),
            "pairs: there is none, so there is nothing to score"
        );
        assert_eq!(
            check_pairs(&[(0, 0), (0, 3)]),
            "pairs[1]: 3 is no place in documents, which has 3"
        );
        assert_eq!(
            check_pairs(&[(2, 0)]),
            "pairs[0]: 2 is no place in queries, which has 2"
        );
        assert_eq!(
            check_pairs(&[(0, 0), (1, 1), (0, 0)]),
            "pairs[2]: is the same as pairs[0]; give each once"
        );
    }

    #[test]
    fn texts_are_unique_and_not_endless() {
        let job = |texts: Vec<String>| CreateScoringJobRequest {
            model: "tiny".to_owned(),
            title: "A job".to_owned(),
            queries: vec!["river".to_owned()],
            documents: texts,
            pairs: vec![(0, 0)],
        };
        let twice = validate_job_request(&job(vec!["a".to_owned(), "a".to_owned()])).unwrap_err();
        assert_eq!(
            twice.to_string(),
            "documents[1]: is the same as documents[0]; give each once"
        );
        let long =
            validate_job_request(&job(vec!["a".repeat(MAX_BYTES_OF_A_TEXT + 1)])).unwrap_err();
        assert!(matches!(
            long,
            Error::TooLarge {
                found: 1_048_577,
                most: 1_048_576,
                ..
            }
        ));
    }
}
