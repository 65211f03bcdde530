//! Words of the further axioms on the aspects of a query, diversity and meaning.

use super::super::ProbeDescription;

const REGULARIZATION_SOURCE: &str = "Zheng & Fang, ECIR 2010; as in ir_axioms";
const AND_SOURCE: &str = "Zheng & Fang, ECIR 2010, and Wu & Fang, SIGIR 2012; as in ir_axioms";

pub(super) const REG: ProbeDescription = ProbeDescription {
    name: "REG",
    short_title: "odd term",
    statement: "Of two texts equally long, the one with more of the query term that is least \
                like the others scores higher.",
    formula: "|d1| ≈ |d2| (10 %), c(w,d1) > c(w,d2) for each w ∈ Q with the least Σ cos(w, w') ⇒ \
              S(d1) > S(d2)",
    source: REGULARIZATION_SOURCE,
    known_issues: "Likeness is that of word vectors; the package has WordNet or fastText. It \
               divides counts by the length of the text, and its condition on length is never \
               asked (mode code).",
    example: &[],
};

pub(super) const ANTI_REG: ProbeDescription = ProbeDescription {
    name: "ANTI-REG",
    short_title: "typical term",
    statement: "Of two texts equally long, the one with more of the query term that is most \
                like the others scores higher.",
    formula: "|d1| ≈ |d2| (10 %), c(w,d1) > c(w,d2) for each w ∈ Q with the greatest Σ cos(w, w') \
              ⇒ S(d1) > S(d2)",
    known_issues: "The reverse of REG, as a check of it. What the package does otherwise it does for \
               both (mode code).",
    ..REG
};

pub(super) const ASPECT_REG: ProbeDescription = ProbeDescription {
    name: "ASPECT-REG",
    short_title: "more aspects",
    statement: "Of two texts, the one that covers more aspects of the query scores higher; all \
                terms of the query must be about equally rare.",
    formula: "idf equal over Q (10 %), more clusters of {w ∈ Q: cos above its mean} with a term in \
              d1 than in d2 ⇒ S(d1) > S(d2)",
    source: REGULARIZATION_SOURCE,
    known_issues: "The package asks only whether a text covers any aspect, which every query term \
               does (mode code), and its clusters depend on the order of a set.",
    example: &[],
};

pub(super) const AND: ProbeDescription = ProbeDescription {
    name: "AND",
    short_title: "all terms",
    statement: "A text with all query terms scores higher than one that lacks one.",
    formula: "Q ⊆ d1, Q ⊄ d2 ⇒ S(d1) > S(d2)",
    source: AND_SOURCE,
    known_issues: "Neither length nor the number of occurrences is controlled for.",
    example: &["river bank", "the river bank", "the river river river"],
};

pub(super) const LEN_AND: ProbeDescription = ProbeDescription {
    name: "LEN-AND",
    statement: "As AND, for two texts equally long.",
    formula: "|d1| ≈ |d2| (10 %), Q ⊆ d1, Q ⊄ d2 ⇒ S(d1) > S(d2)",
    known_issues: "The number of occurrences is not controlled for.",
    example: &["river bank", "river bank mud", "river river mud"],
    ..AND
};

pub(super) const M_AND: ProbeDescription = ProbeDescription {
    name: "M-AND",
    short_title: "more distinct terms",
    statement: "A text with more distinct query terms scores higher.",
    formula: "|Q ∩ d1| > |Q ∩ d2| ⇒ S(d1) > S(d2)",
    source: AND_SOURCE,
    known_issues: "Neither length nor rarity nor the number of occurrences is controlled for.",
    example: AND.example,
};

pub(super) const LEN_M_AND: ProbeDescription = ProbeDescription {
    name: "LEN-M-AND",
    statement: "As M-AND, for two texts equally long.",
    formula: "|d1| ≈ |d2| (10 %), |Q ∩ d1| > |Q ∩ d2| ⇒ S(d1) > S(d2)",
    known_issues: "Neither rarity nor the number of occurrences is controlled for.",
    example: LEN_AND.example,
    ..M_AND
};

pub(super) const DIV: ProbeDescription = ProbeDescription {
    name: "DIV",
    short_title: "other words",
    statement: "Of two texts, the one whose vocabulary has less in common with the query \
                scores higher.",
    formula: "|Q ∩ d1| / |Q ∪ d1| < |Q ∩ d2| / |Q ∪ d2| ⇒ S(d1) > S(d2)",
    source: "Gollapudi & Sharma, WWW 2009; as in ir_axioms",
    known_issues: "Stated for the diversity of a list; for a single ranking it asks for the \
               opposite of relevance, and longer texts satisfy it by being longer.",
    example: &["river bank", "river bank mud sand", "river bank mud"],
};

pub(super) const LEN_DIV: ProbeDescription = ProbeDescription {
    name: "LEN-DIV",
    statement: "As DIV, for two texts equally long.",
    formula: "|d1| ≈ |d2| (10 %), |Q ∩ d1| / |Q ∪ d1| < |Q ∩ d2| / |Q ∪ d2| ⇒ S(d1) > S(d2)",
    known_issues: "As DIV, but for the length.",
    example: &["river bank", "river bank mud sand", "river bank mud mud"],
    ..DIV
};

pub(super) const STMC1: ProbeDescription = ProbeDescription {
    name: "STMC1@ir_axioms",
    short_title: "closer words",
    statement: "Of two texts, the one whose words are in the mean more like those of the query \
                scores higher.",
    formula: "mean cos(t, w) over t ∈ d1, w ∈ Q above that over d2 ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; as in ir_axioms",
    known_issues: "Query terms themselves count among the words of a text, so that it repeats M-AND \
               for the most part. Means that differ by no more than 1e-12 are equal, in every \
               mode: the package lets their rounding decide.",
    example: &[],
};

pub(super) const STMC2: ProbeDescription = ProbeDescription {
    name: "STMC2@ir_axioms",
    short_title: "the term itself",
    statement: "Of two texts of which one holds a query term about as often as the other, for \
                its length, holds the word most like it, the one with the term scores higher.",
    formula: "(t, w) = argmax cos over t ∉ Q in d1 or d2, w ∈ Q: |d2| / |d1| ≈ c(t,d2) / c(w,d1) \
              (20 %) ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; as in ir_axioms",
    known_issues: "The package divides counts by the length of the text, and where both orders \
               qualify it prefers whichever text is asked about first (mode code).",
    example: &[],
};
