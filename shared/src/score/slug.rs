//! Slugs: the names of rankers in addresses, such as `bm25` and `minilm-bi`.
//!
//! They are computed from the rankers of a study and never stored, so that every study has them.

use std::iter;

use super::{RankerInfo, RankerKind};
use crate::error::Error;

/// The maximum number of characters of a slug.
pub const MAX_SLUG_CHARS: usize = 40;

/// The name of the relevance judgments, which are a row of the heat map like a ranker.
pub const RELEVANCE_SLUG: &str = "relevance";

/// The number of digits of a fingerprint that make a slug unique.
const FINGERPRINT_DIGITS: usize = 6;

/// Returns the slug of each ranker of a study, in the same order.
///
/// A slug is the label in lower case, followed by the use of a neural model (`bi` of
/// `MODEL:bi`) if the label does not contain it. Every run of characters other than `a`–`z` and
/// `0`–`9` is one hyphen. A name of digits only follows `ranker-`, since a number in an address is
/// a position. A ranker whose slug is taken has the first digits of its fingerprint added, if it
/// has one, and a counter if that slug is taken as well.
pub fn ranker_slugs<'a>(rankers: impl IntoIterator<Item = &'a RankerInfo>) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    for ranker in rankers {
        let name = base_slug(ranker);
        let digits = ranker.fingerprint.chars().take(FINGERPRINT_DIGITS);
        let digits = slugify(&digits.collect::<String>());
        let with_digits = (!digits.is_empty()).then(|| with_suffix(&name, &digits));
        let with_counter = (2..).map(|it| match digits.is_empty() {
            true => with_suffix(&name, &it.to_string()),
            false => with_suffix(&name, &format!("{digits}-{it}")),
        });
        let mut candidates = iter::once(name.clone())
            .chain(with_digits)
            .chain(with_counter);
        let free = candidates.find(|it| it != RELEVANCE_SLUG && !slugs.contains(it));
        slugs.push(free.expect("some counter is free"));
    }
    slugs
}

/// Returns the position of the ranker with a slug. A name of digits, which is never a slug, is the
/// position itself, counted from 0. The error of an unknown name lists the slugs.
pub fn parse_ranker_slug_or_position<'a>(
    slugs: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> Result<usize, Error> {
    let with_slug = slugs.clone().position(|it| it == name);
    let with_number = || {
        let number = name.parse().ok().filter(|_| is_digits_only(name));
        number.filter(|&it: &usize| it < slugs.clone().count())
    };
    with_slug.or_else(with_number).ok_or_else(|| {
        let known: Vec<String> = slugs.map(str::to_owned).collect();
        Error::not_found_among("ranker", name, &known)
    })
}

/// Returns the slug of a ranker before it is made unique.
fn base_slug(ranker: &RankerInfo) -> String {
    let label = slugify(&ranker.label);
    let model_use = match ranker.kind {
        RankerKind::FeatureBased | RankerKind::Neural => {
            ranker.spec.split_once(':').map_or("", |it| it.1)
        }
        RankerKind::Lexical | RankerKind::Remote | RankerKind::ScoreFile => "",
    };
    // What follows, such as the length of passages, is a part of the label.
    let model_use = model_use
        .split(|it: char| !it.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let model_use = slugify(model_use);
    let name = match label.split('-').any(|it| it == model_use) {
        true => label,
        false => slugify(&format!("{label} {model_use}")),
    };
    match shortened(&name, MAX_SLUG_CHARS) {
        "" => "ranker".to_owned(),
        digits if is_digits_only(digits) => {
            let name = format!("ranker-{digits}");
            shortened(&name, MAX_SLUG_CHARS).to_owned()
        }
        name => name.to_owned(),
    }
}

/// Returns whether a name has no characters but digits, as the position of a ranker has.
fn is_digits_only(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_digit())
}

/// Returns a text in lower case, with one hyphen for every run of other characters.
pub fn slugify(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    words.join("-")
}

/// Returns the beginning of a slug that ends with no hyphen.
fn shortened(slug: &str, n: usize) -> &str {
    slug[..slug.len().min(n)].trim_end_matches('-')
}

fn with_suffix(name: &str, suffix: &str) -> String {
    let rest = MAX_SLUG_CHARS.saturating_sub(suffix.len() + 1);
    format!("{}-{suffix}", shortened(name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranker(label: &str, spec: &str, fingerprint: &str) -> RankerInfo {
        RankerInfo {
            spec: spec.to_owned(),
            label: label.to_owned(),
            detail: String::new(),
            kind: match spec.contains("model") {
                true => RankerKind::Neural,
                false => RankerKind::Lexical,
            },
            fingerprint: fingerprint.to_owned(),
            note: None,
        }
    }

    #[test]
    fn a_slug_is_the_label_and_the_use_of_a_model() {
        let long = "a".repeat(39) + " b";
        for (label, spec, slug) in [
            ("BM25", "bm25:k1=1.2", "bm25"),
            ("BM25, RSJ", "bm25:idf=rsj", "bm25-rsj"),
            ("MiniLM", "model:bi", "minilm-bi"),
            ("MiniLM", "model:bi+max:128", "minilm-bi"),
            (
                "MiniLM late interaction",
                "model:late",
                "minilm-late-interaction",
            ),
            ("org/My_Model--v2", "model:cross", "org-my-model-v2-cross"),
            ("plain model", "model", "plain-model"),
            ("Überblick (neu)!", "x", "berblick-neu"),
            ("模型", "x", "ranker"),
            ("", "x", "ranker"),
            (&long, "x", &"a".repeat(39)),
            ("0", "scores:0.tsv", "ranker-0"),
            (&"7".repeat(60), "x", &format!("ranker-{}", "7".repeat(33))),
            ("2024-1", "scores:2024-1.tsv", "2024-1"),
        ] {
            assert_eq!(ranker_slugs([&ranker(label, spec, "0a1b2c3d")]), [slug]);
        }
    }

    #[test]
    fn slugs_of_a_study_are_unique() {
        let long = "x".repeat(60);
        let rankers = [
            ranker("BM25", "a", "111111aa"),
            ranker("bm25", "b", "222222aa"),
            ranker("BM25!", "c", "222222bb"),
            ranker("BM25 222222", "d", "333333aa"),
            ranker("BM25", "e", "222222cc"),
            ranker("Relevance", "f", "444444aa"),
            ranker(&long, "g", "555555aa"),
            ranker(&long, "h", "666666aa"),
        ];
        let slugs = ranker_slugs(&rankers);
        assert_eq!(
            slugs[..6],
            [
                "bm25",
                "bm25-222222",
                "bm25-222222-2",
                "bm25-222222-333333",
                "bm25-222222-3",
                "relevance-444444",
            ]
        );
        assert_eq!(slugs[6], "x".repeat(MAX_SLUG_CHARS));
        assert_eq!(slugs[7], format!("{}-666666", "x".repeat(33)));
        let mut unique = slugs.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), rankers.len());
        assert!(slugs.iter().all(|it| it.len() <= MAX_SLUG_CHARS));
    }

    #[test]
    fn slugs_without_a_fingerprint_have_a_counter_alone() {
        let rankers = [ranker("BM25", "a", ""), ranker("BM25", "b", "")];
        let rankers = rankers.iter().chain(&rankers[..1]);
        assert_eq!(ranker_slugs(rankers), ["bm25", "bm25-2", "bm25-3"]);
    }

    #[test]
    fn a_ranker_is_found_by_its_slug_or_its_number() {
        let slugs = ["bm25", "ql", "ranker-0"];
        let found = |name: &str| parse_ranker_slug_or_position(slugs.into_iter(), name).ok();
        assert_eq!(found("ql"), Some(1));
        assert_eq!(found("1"), Some(1));
        assert_eq!(found("0"), Some(0));
        assert_eq!(found("ranker-0"), Some(2));
        for unknown in ["3", "QL", "", "-1", "+1", " 1", "relevance"] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
        let error = parse_ranker_slug_or_position(slugs.into_iter(), "splade").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no ranker named `splade`; there are bm25, ql, ranker-0"
        );
    }

    #[test]
    fn a_number_is_the_position_also_beside_a_score_file_named_by_a_number() {
        let rankers = [ranker("QL", "ql", "a"), ranker("0", "scores:0.tsv", "b")];
        let slugs = ranker_slugs(&rankers);
        let slugs = slugs.iter().map(String::as_str);
        for row in [0, 1] {
            let found = parse_ranker_slug_or_position(slugs.clone(), &row.to_string());
            assert_eq!(found, Ok(row));
        }
    }
}
