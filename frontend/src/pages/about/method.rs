//! How the numbers are computed.

use leptos::prelude::*;
use shared::probe::AxiomVariant;
use shared::report::format;
use shared::score::RankerKind;
use shared::stats::bootstrap::{N_RESAMPLES, SEED};
use shared::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;

use crate::widgets::section::Section;
use crate::widgets::term::text_with_terms;
use crate::widgets::variant::axiom_variant_label;

/// Renders the section on the variants of an axiom.
#[component]
pub(super) fn AxiomVariantsHelp() -> impl IntoView {
    view! {
        <Section id="modes" name="Variants of an axiom">
            <p>
                "The papers contain misprints in their axioms, and the authors' code deviates \
                 from the papers. An axiom therefore has up to four variants, and every result \
                 states which one it uses."
            </p>
            <dl class="facts-of">
                <dt>{axiom_variant_label(AxiomVariant::Fixed)}</dt>
                <dd>
                    "The length difference is tested in both directions, idf must differ where \
                     the axiom requires it, and no pair is an instance in both orders. Start with \
                     this one."
                </dd>
                <dt>{axiom_variant_label(AxiomVariant::PaperRennings2019)}</dt>
                <dd>"In Rennings, Moraes & Hauff (ECIR 2019)."</dd>
                <dt>{axiom_variant_label(AxiomVariant::PaperCamara2020)}</dt>
                <dd>"In Câmara & Hauff (ECIR 2020)."</dd>
                <dt>{axiom_variant_label(AxiomVariant::Code)}</dt>
                <dd>
                    "By Câmara & Hauff, including defects, so that their results can be \
                     reproduced; for the axioms of ir_axioms, as implemented in release 1.2.5. \
                     The code of the 2019 paper was not published."
                </dd>
            </dl>
        </Section>
    }
}

/// Renders the section on statistics, from scores to a cell of the heat map.
#[component]
pub(super) fn StatisticsHelp() -> impl IntoView {
    let draws = format::format_count(N_RESAMPLES as u64);
    let seed = SEED.to_string();
    let level = format::format_two_digit_fraction(FAMILY_WISE_ERROR_RATE);
    let width =
        format!("{:e}", RankerKind::Lexical.default_tie_threshold()).replace("e-", " · 10⁻");
    view! {
        <Section id="numbers" name="How the numbers are computed">
            <dl class="facts-of">
                <dt>"Verdict"</dt>
                <dd>
                    {text_with_terms(
                        "The margin of an instance is the left side of the expected preference \
                         minus its right side, in score units: S(d1) − S(d2), or S(d2) − S(d1) − \
                         (S(d3) − S(d2)) for three documents. An instance is satisfied if the \
                         margin is above the tie threshold ε, violated if it is below −ε, and \
                         tied otherwise.",
                    )}
                </dd>
                <dt>"Ties"</dt>
                <dd>
                    "For BM25 and QL, ε is " {superscript(&width)}
                    ", because sums of logarithms differ in their last digits between equal \
                     documents; for neural rankers and score files, ε is 0. A study page can \
                     set a larger one. Ties are reported separately; a tie satisfies ≥ but not \
                     >."
                </dd>
                <dt>"Fraction"</dt>
                <dd>
                    "The share of instances with a verdict that agree with the axiom (micro \
                     average), and the mean of this share over queries (macro average). \
                     Instances with missing scores have no verdict and are reported separately."
                </dd>
                <dt>"Interval"</dt>
                <dd>
                    "95 % percentile bootstrap over queries rather than pairs, because pairs of \
                     one query share documents. Queries are drawn with replacement "
                    {draws.clone()} " times with seed " {seed}
                    "; the bounds are the 2.5th and the 97.5th percentile of the fractions. \
                     With a single query, the interval is [0, 1]."
                </dd>
                <dt>"p-value"</dt>
                <dd>
                    "Two-sided test of the fraction against .5 from the same bootstrap samples: \
                     twice the share on the far side of .5, with one added to numerator and \
                     denominator, and never below the p-value of a sign test over the same \
                     number of queries."
                </dd>
                <dt>"Multiple tests"</dt>
                <dd>
                    "Holm’s step-down correction over all cells of a table. A cell whose corrected
                    p is not below " {level} " has a hollow dot: it is not distinguishable from \
                         chance."
                </dd>
                <dt>"Truncation"</dt>
                <dd>
                    "The number of truncated documents is reported. Where it matters, the \
                     fraction without them is also shown."
                </dd>
                <dt>"Instance hash"</dt>
                <dd>
                    "The instances of a study have a hash. Results with different instance hashes \
                     come from different instances and cannot be compared."
                </dd>
            </dl>
        </Section>
    }
}

/// Converts the digits of an exponent to superscript: `10⁻⁹` for `10⁻9`.
fn superscript(text: &str) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let Some((head, power)) = text.split_once('⁻') else {
        return text.to_owned();
    };
    let digits = power
        .chars()
        .map(|it| it.to_digit(10).map_or(it, |at| RAISED[at as usize]));
    format!("{head}⁻{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_ten_is_raised() {
        assert_eq!(superscript("1 · 10⁻9"), "1 · 10⁻⁹");
        assert_eq!(superscript("0"), "0");
    }
}
