//! The terms that the pages explain, with their definitions in one sentence.

use shared::compare::hypotheses::PadigelaHypothesis;
use shared::probe::{Axiom, AxiomVariant, Probe};
use shared::verdict::VerdictOutcome;

/// A technical term with an entry in `docs/glossary.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlossaryTerm {
    /// The steps that turn text into terms.
    Analyzer,
    /// Average precision.
    AveragePrecision,
    /// An axiom or a behavioral test, with its statement.
    ProbeStatement(&'static str),
    /// The documents that are considered for a query.
    CandidatePool,
    /// What an axiom demands of the scores.
    ExpectedPreference,
    /// The share of instances that show the expected preference.
    Fraction,
    /// Fraction of novel terms.
    NovelTermFraction,
    /// Fraction of query tokens.
    QueryTokenFraction,
    /// Holm's correction of p-values.
    Holm,
    /// One of the hypotheses H1 to H4.
    Hypothesis(PadigelaHypothesis),
    /// The probability π that an instance became an item.
    InclusionProbability,
    /// The unit that is counted in every fraction.
    Instance,
    /// The hash over all instances of a study.
    InstanceHash,
    /// The 95 % confidence interval.
    Interval,
    /// The length tolerance δ.
    LengthTolerance,
    /// By how much an instance is satisfied.
    Margin,
    /// The default order of instances.
    MostInstructive,
    /// Normalized discounted cumulative gain.
    Ndcg,
    /// A satisfied, tied or violated instance.
    Outcome(VerdictOutcome),
    /// A condition on the documents of an instance.
    Precondition,
    /// The kind of answer a question asks for: ABBR, DESC, ENTY, HUM, LOC or NUM.
    QuestionClass,
    /// Reciprocal rank.
    ReciprocalRank,
    /// The rank correlation τ_AP.
    TauAp,
    /// The tie threshold ε.
    TieThreshold,
    /// The output of a tokenizer.
    Token,
    /// A variant of the axioms.
    Variant(AxiomVariant),
    /// The outcome of an instance.
    Verdict,
}

impl GlossaryTerm {
    /// Lists the words with which notes name a term, not capitalized; none is part of
    /// another.
    pub(super) const PHRASES: &[(&str, GlossaryTerm)] = &[
        ("AP", GlossaryTerm::AveragePrecision),
        ("FNT", GlossaryTerm::NovelTermFraction),
        ("FQT", GlossaryTerm::QueryTokenFraction),
        ("Holm", GlossaryTerm::Holm),
        ("RR", GlossaryTerm::ReciprocalRank),
        ("analyzer", GlossaryTerm::Analyzer),
        ("candidate pool", GlossaryTerm::CandidatePool),
        ("expected preference", GlossaryTerm::ExpectedPreference),
        ("fraction", GlossaryTerm::Fraction),
        ("interval over queries", GlossaryTerm::Interval),
        ("intervals over queries", GlossaryTerm::Interval),
        ("length tolerance", GlossaryTerm::LengthTolerance),
        ("margin", GlossaryTerm::Margin),
        ("nDCG", GlossaryTerm::Ndcg),
        ("precondition", GlossaryTerm::Precondition),
        ("tokens", GlossaryTerm::Token),
        ("question classes", GlossaryTerm::QuestionClass),
        ("tie threshold", GlossaryTerm::TieThreshold),
        ("τ_AP", GlossaryTerm::TauAp),
        ("π", GlossaryTerm::InclusionProbability),
    ];

    /// Returns the definition, one sentence of plain text.
    pub(crate) fn definition(self) -> &'static str {
        match self {
            GlossaryTerm::Analyzer => {
                "The steps that turn text into terms: tokenizer, stop words, stemmer."
            }
            GlossaryTerm::AveragePrecision => {
                "Average precision, from 0 to 1: the mean of the precision at the rank of each \
                 relevant document, where a relevant document that was not retrieved counts 0."
            }
            GlossaryTerm::ProbeStatement(statement) => statement,
            GlossaryTerm::CandidatePool => "The documents that are considered for a query.",
            GlossaryTerm::ExpectedPreference => {
                "What an axiom demands of the scores of an instance: S(d1) > S(d2), \
                 S(d1) ≥ S(d2), or for three documents a shrinking gain (see TFC2)."
            }
            GlossaryTerm::Fraction => {
                "The share of instances on which a ranker shows the expected preference: \
                 (satisfied + tied where ≥ is expected) / (satisfied + tied + violated), from 0 \
                 to 1."
            }
            GlossaryTerm::NovelTermFraction => {
                "Fraction of novel terms: the mean, over the top 10 documents of a query, of the \
                 share of a document's distinct tokens that are not in the query."
            }
            GlossaryTerm::QueryTokenFraction => {
                "Fraction of query tokens: the mean, over the top 10 documents of a query, of the \
                 share of a document's tokens that occur in the query."
            }
            GlossaryTerm::Holm => {
                "Correction of p-values for many tests in one table (step-down), which bounds the \
                 probability of one or more false findings in the table by .05."
            }
            GlossaryTerm::Hypothesis(PadigelaHypothesis::QueryTermBias) => {
                "H1: the first ranker's top documents contain more query tokens (mean difference \
                 of FQT above 0)."
            }
            GlossaryTerm::Hypothesis(PadigelaHypothesis::QueryTermBiasHurts) => {
                "H2: many query tokens hurt the first ranker (correlation of FQT and RR below 0)."
            }
            GlossaryTerm::Hypothesis(PadigelaHypothesis::MoreNovelTerms) => {
                "H3: the second ranker retrieves more novel terms (mean difference of FNT above 0)."
            }
            GlossaryTerm::Hypothesis(PadigelaHypothesis::LongerQueries) => {
                "H4: the gain of the second ranker grows with query length (correlation above 0)."
            }
            GlossaryTerm::InclusionProbability => {
                "π, from 0 (excluded) to 1: the probability with which an instance became an item \
                 of an annotation task."
            }
            GlossaryTerm::Instance => {
                "A query with two or three documents that meet the preconditions of an axiom, and \
                 its expected preference."
            }
            GlossaryTerm::InstanceHash => {
                "SHA-256 over all instances of a study. Figures with different instance hashes are \
                 never put in one table."
            }
            GlossaryTerm::Interval => {
                "A 95 % percentile bootstrap interval over queries: other queries of the same kind \
                 would give a value in this range."
            }
            GlossaryTerm::LengthTolerance => {
                "δ, in terms: the largest difference in length at which two documents count as \
                 equally long."
            }
            GlossaryTerm::Margin => {
                "By how much an instance is satisfied: left side minus right side of the expected \
                 preference, for two documents S(d1) − S(d2)."
            }
            GlossaryTerm::MostInstructive => {
                "The order that puts a relevant document, a query with few function words and a \
                 large margin first, and begins with one instance of each query and outcome."
            }
            GlossaryTerm::Ndcg => {
                "Normalized discounted cumulative gain at a cutoff, from 0 to 1: \
                 Σ g(i)/log2(i + 1) over ranks i ≤ k, where g(i) is the grade at rank i, divided \
                 by the same sum for the best order."
            }
            GlossaryTerm::Outcome(VerdictOutcome::Satisfied) => {
                "Satisfied: the margin is above the tie threshold ε."
            }
            GlossaryTerm::Outcome(VerdictOutcome::Tied) => {
                "Tied: the margin is from −ε to ε, where ε is the tie threshold."
            }
            GlossaryTerm::Outcome(VerdictOutcome::Violated) => {
                "Violated: the margin is below −ε, where ε is the tie threshold."
            }
            GlossaryTerm::Precondition => {
                "A condition on the documents of an instance, with the measured value and its \
                 bound, for example difference in length 3 terms ≤ 10."
            }
            GlossaryTerm::QuestionClass => {
                "The kind of answer a question asks for, found by rules: ABBR abbreviation, DESC \
                 description, ENTY entity, HUM person or group, LOC location, NUM number."
            }
            GlossaryTerm::ReciprocalRank => {
                "Reciprocal rank: 1/i for the first relevant document at rank i, 0 if there is \
                 none within the cutoff."
            }
            GlossaryTerm::TauAp => {
                "τ_AP, a rank correlation that weights the top of the list, from −1 to 1; 1 for \
                 the same order."
            }
            GlossaryTerm::TieThreshold => {
                "ε, in the unit of the scores: differences of at most ε count as tied."
            }
            GlossaryTerm::Token => {
                "The output of a tokenizer, lexical or subword, before stop words and stemming."
            }
            GlossaryTerm::Variant(AxiomVariant::Fixed) => {
                "As defined here: with the misprints of the papers corrected."
            }
            GlossaryTerm::Variant(AxiomVariant::PaperRennings2019) => {
                "As printed in 2019: in Rennings, Moraes & Hauff (ECIR 2019)."
            }
            GlossaryTerm::Variant(AxiomVariant::PaperCamara2020) => {
                "As printed in 2020: in Câmara & Hauff (ECIR 2020)."
            }
            GlossaryTerm::Variant(AxiomVariant::Code) => {
                "As implemented: by the authors, defects included (Câmara & Hauff, or ir_axioms \
                 for its own axioms)."
            }
            GlossaryTerm::Verdict => {
                "The outcome of an instance for a ranker: satisfied, tied or violated."
            }
        }
    }

    /// Returns the term for a measure of effectiveness such as `nDCG@10`; none if the pages do not
    /// explain it.
    pub(crate) fn of_measure(measure: &str) -> Option<GlossaryTerm> {
        match measure.split('@').next() {
            Some("nDCG") => Some(GlossaryTerm::Ndcg),
            Some("RR") => Some(GlossaryTerm::ReciprocalRank),
            Some("AP") => Some(GlossaryTerm::AveragePrecision),
            _ => None,
        }
    }

    /// Returns the term for a probe, which its statement defines.
    pub(crate) fn of_probe(probe: Probe) -> GlossaryTerm {
        GlossaryTerm::ProbeStatement(probe.probe_description().statement)
    }

    /// Returns the term for an axiom such as `TFC1`; none for another text.
    pub(crate) fn of_axiom_name(name: &str) -> Option<GlossaryTerm> {
        let axiom = Axiom::ALL.iter().find(|it| it.name() == name)?;
        Some(GlossaryTerm::of_probe(Probe::Axiom(*axiom)))
    }
}

#[cfg(test)]
mod tests;
