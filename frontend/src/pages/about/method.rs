//! How the numbers are made.

use leptos::prelude::*;
use shared::report::format;
use shared::score::RankerKind;
use shared::stats::bootstrap::{N_RESAMPLES, SEED};
use shared::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;

use crate::widgets::section::Section;

/// The readings of an axiom.
#[component]
pub(super) fn VariantsHelp() -> impl IntoView {
    view! {
        <Section id="modes" name="Readings">
            <p>
                "The papers print the axioms with slips, and their code does not always do what
                they print. So an axiom can be read in up to four ways, and every result says which
                one it took."
            </p>
            <dl class="facts-of">
                <dt>"fixed"</dt>
                <dd>
                    "what the axiom says, in our definitions: both sides of a length test, idf that
                    differs where it must, no pair that is an instance both ways. Start here."
                </dd>
                <dt>"paper 2019"</dt>
                <dd>"as printed in Rennings, Moraes & Hauff (ECIR 2019)."</dd>
                <dt>"paper 2020"</dt>
                <dd>"as printed in Câmara & Hauff (ECIR 2020)."</dd>
                <dt>"code 2020"</dt>
                <dd>
                    "as the published code of Câmara & Hauff does it, its defects included, so that
                    their figures can be made again; for the axioms of ir_axioms as its release
                    1.2.5 does it. The code of the 2019 paper was not published."
                </dd>
            </dl>
        </Section>
    }
}

/// From scores to a cell of a heat map.
#[component]
pub(super) fn StatisticsHelp() -> impl IntoView {
    let draws = format::count(N_RESAMPLES as u64);
    let seed = SEED.to_string();
    let level = format::fraction(FAMILY_WISE_ERROR_RATE);
    let width = format!("{:e}", RankerKind::Lexical.tie_threshold()).replace("e-", " · 10⁻");
    view! {
        <Section id="numbers" name="How the numbers are made">
            <dl class="facts-of">
                <dt>"Verdict"</dt>
                <dd>
                    "The margin of an instance is the left side of its claim less the right side,
                    in the unit of the scores: S(d1) − S(d2), or for three texts (S(d2) − S(d1)) −
                    (S(d3) − S(d2)). Above the width of a tie it is satisfied, below minus that
                    width violated, in between tied."
                </dd>
                <dt>"Ties"</dt>
                <dd>
                    "For BM25 and QL the width is " {superscript(&width)}
                    ", since sums of logarithms differ in their last digits between equal texts;
                    for neural rankers and score files it is 0. A wider one can be set on a study.
                    Ties are counted apart: they agree with a claim of ≥ and not with one of >."
                </dd>
                <dt>"Fraction"</dt>
                <dd>
                    "Instances that agree among all with a verdict (micro), and the mean over
                    queries of the fraction within each (macro). Instances without all scores have
                    no verdict and are counted apart."
                </dd>
                <dt>"Interval"</dt>
                <dd>
                    "Percentile bootstrap over queries, not over pairs, since the pairs of a query
                    share texts: as many queries as there are, drawn with replacement "
                    {draws.clone()} " times with seed " {seed}
                    "; the bounds are the 2.5th and the 97.5th percentile of the fractions. One
                    query alone bounds nothing: its interval is [0, 1]."
                </dd>
                <dt>"p"</dt>
                <dd>
                    "Two-sided against a coin toss, from the same draws: twice the share on the far
                    side of .5, with one added to count and draws, and never below what a sign test
                    of so many queries could give."
                </dd>
                <dt>"Many tests"</dt>
                <dd>
                    "Holm’s step-down correction over all cells of a table. A cell whose corrected
                    p is not below " {level} " has a hollow dot: it cannot be told from chance."
                </dd>
                <dt>"Truncation"</dt>
                <dd>
                    "Texts that a model saw only in part are counted, and where it matters the
                    fraction without them is shown."
                </dd>
                <dt>"Hash"</dt>
                <dd>
                    "The instances of a study have a hash. Results with different hashes are about
                    different pairs, and are not compared without saying so."
                </dd>
            </dl>
        </Section>
    }
}

/// `1 · 10⁻9` with its last digit raised as well.
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
