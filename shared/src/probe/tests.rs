//! What is stored of a probe: its slug, which is also its JSON, and its order, which is that of
//! tables, files and hashes.

use super::*;

/// Every axiom and manipulation, and some of the other probes, in order.
const IN_ORDER: &str = "
    tfc1 tfc2 mtdc lnc1 lnc2 tp stmc1 stmc2 stmc3
    tfc1@ir_axioms tfc3 mtdc@ir_axioms len_m_tdc lnc1@ir_axioms tf_lnc lb1 reg anti_reg aspect_reg
    and len_and m_and len_m_and div len_div prox1 prox2 prox3 prox4 prox5
    stmc1@ir_axioms stmc2@ir_axioms
    +tp tfc1&tp tfc1|tp
    match:relevance:length match:length:relevance match:length~5:relevance match:length:tf
    match:tf:length match:sum-tf:overlap match:overlap:coverage match:coverage:position
    match:position:proximity match:proximity:similarity match:similarity:relevance
    remove-stops remove-punctuation remove-stops-punctuation lemmatize case-fold shuffle-words
    shuffle-sentences shuffle-words-in-sentences shuffle-around-phrases
    shuffle-around-phrases-in-sentences shuffle-phrases shuffle-prepositions reverse-words
    reverse-sentences reverse-phrases swap-words typos typos-outside-stops delete-first-sentence
    delete-last-sentence delete-sentence add-sentence-first add-sentence-last query prepend-query
    append-query doc2query repeat:2 repeat:3 noise:5 synonyms:5 drop-query-terms truncate:20
    change-numbers negate
    transfer:a symmetric:a transfer:b symmetric:b transfer:aa
";

/// Checks that each word is refused with a message that contains the text next to it.
pub(super) fn check_refused<T>(words: &[(&str, &str)])
where
    T: std::str::FromStr<Err = Error> + std::fmt::Debug,
{
    for (word, reason) in words {
        let error = word.parse::<T>().unwrap_err().to_string();
        assert!(error.contains(reason), "{word}: {error}");
    }
}

fn in_order() -> Vec<Probe> {
    let words = IN_ORDER.split_whitespace();
    words.map(|it| it.parse().unwrap()).collect()
}

#[test]
fn slugs_and_json_stay() {
    for (word, probe) in IN_ORDER.split_whitespace().zip(in_order()) {
        assert_eq!(probe.slug(), word);
        let json = serde_json::to_string(&probe).unwrap();
        assert_eq!(json, format!("\"{word}\""));
        assert_eq!(serde_json::from_str::<Probe>(&json).unwrap(), probe);
    }
}

#[test]
fn the_order_stays() {
    let known = in_order();
    assert!(known.is_sorted_by(|a, b| a < b));
    for group in ["all", "ir_axioms", "manipulations"] {
        let listed = Probe::parse_probe_or_group(group, true).unwrap();
        assert!(listed.is_sorted(), "{group}");
        assert!(listed.iter().all(|it| known.contains(it)), "{group}");
    }
    assert!(
        Probe::parse_probe_or_group("match:all", true)
            .unwrap()
            .is_sorted()
    );
}

#[test]
fn names_stay() {
    for (word, name) in [
        ("mtdc", "M-TDC"),
        ("tfc1&tp", "tfc1&tp"),
        ("match:length:relevance", "Relevance | Length"),
        ("symmetric:msr", "msr"),
    ] {
        assert_eq!(word.parse::<Probe>().unwrap().name(), name);
    }
}
