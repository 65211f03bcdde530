//! Descriptions of the further axioms on term counts and document length.

use super::super::ProbeDescription;

pub(super) const TFC1: ProbeDescription = ProbeDescription {
    name: "TFC1@ir_axioms",
    short_title: "more terms",
    statement: "Of two equally long documents, the one with clearly more query-term occurrences \
         scores higher.",
    formula: "|d1| ≈ |d2| (10 %), Σ c(w,Q)·c(w,d1) > Σ c(w,Q)·c(w,d2) by more than 10 % ⇒ \
              S(d1) > S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; as in ir_axioms",
    known_issues: "The package divides counts by document length, and its length precondition \
         is never applied (variant code). A rarer term may be traded for a more common one.",
    example: &["river bank", "river bank river mud", "river bank mud mud"],
};

pub(super) const TFC3: ProbeDescription = ProbeDescription {
    name: "TFC3",
    short_title: "both terms",
    statement: "Of two equally long documents with equally many occurrences of two equally rare \
         terms, the one that contains both scores higher than the one that contains only one of \
         them.",
    formula: "|d1| ≈ |d2| (10 %), idf(a) ≈ idf(b) (10 %), c(a,d1), c(b,d1) > 0, {c(a,d2), \
         c(b,d2)} = {c(a,d1) + c(b,d1), 0}, for more such pairs than the other way around ⇒ \
         S(d1) > S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; as in ir_axioms",
    known_issues: "The package divides counts by document length, and its length precondition \
         is never applied (variant code).",
    example: &["river bank", "river bank mud", "river river mud"],
};

pub(super) const MTDC: ProbeDescription = ProbeDescription {
    name: "M-TDC@ir_axioms",
    short_title: "rarer terms",
    statement: "Of two documents with equally many query-term occurrences, the one with more of \
         the rarer terms scores higher.",
    formula: "Σ(d1) = Σ(d2), some count differs; over pairs idf(a) > idf(b) with c(a,Q) ≥ c(b,Q) \
              or swapped counts, c(a,d1) > c(a,d2) for more of them than < ⇒ S(d1) > S(d2)",
    source: "Shi et al., SIGIR 2005; as in ir_axioms",
    known_issues: "The package divides counts by document length (variant code). Lengths are \
         not compared.",
    example: &[
        "glacier valley",
        "glacier glacier valley",
        "glacier valley valley",
    ],
};

pub(super) const LEN_MTDC: ProbeDescription = ProbeDescription {
    name: "LEN-M-TDC",
    short_title: "rarer terms",
    statement: "Like M-TDC of ir_axioms, for two equally long documents.",
    formula: "|d1| ≈ |d2| (10 %) and M-TDC@ir_axioms ⇒ S(d1) > S(d2)",
    source: "Hagen et al., CIKM 2016, after Shi et al., SIGIR 2005; as in ir_axioms",
    known_issues: "The package divides counts by document length (variant code).",
    example: MTDC.example,
};

pub(super) const LNC1: ProbeDescription = ProbeDescription {
    name: "LNC1@ir_axioms",
    short_title: "shorter",
    statement: "Of two documents with about equally many occurrences of each query term, the \
         shorter one scores higher.",
    formula: "c(w,d1) ≈ c(w,d2) (10 %) for every w ∈ Q, |d1| < |d2| ⇒ S(d1) > S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; as in ir_axioms",
    known_issues: "The package divides counts by document length (variant code): the longer \
         document then has more query-term occurrences and still has to score lower.",
    example: &["river bank", "river bank mud", "river bank mud mud"],
};

pub(super) const TF_LNC: ProbeDescription = ProbeDescription {
    name: "TF-LNC",
    short_title: "one more term",
    statement: "Of two documents that differ in length only by occurrences of a query term, the \
         one with more occurrences scores higher.",
    formula: "|d1| − c(w,d1) = |d2| − c(w,d2) and c(w,d1) > c(w,d2), for more w ∈ Q than < ⇒ \
              S(d1) > S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; as in ir_axioms",
    known_issues: "The other words of the two documents may differ. The package divides counts \
         by document length (variant code), which makes documents that consist only of the term \
         equal.",
    example: &["river bank", "river river bank mud", "river bank mud"],
};

pub(super) const LB1: ProbeDescription = ProbeDescription {
    name: "LB1",
    short_title: "extra query term",
    statement: "Of two documents with about the same score, the one that contains all query \
         terms of the other and at least one more scores higher.",
    formula: "BM25(d1) ≈ BM25(d2) (10 %), some w ∈ Q in d1 alone, none in d2 alone ⇒ \
              S(d1) > S(d2)",
    source: "Lv & Zhai, CIKM 2011; as in ir_axioms",
    known_issues: "The pairs depend on a ranker, here BM25 with default parameters; the package \
         uses the scores of the given run.",
    example: &[],
};
