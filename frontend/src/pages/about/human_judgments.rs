//! How people annotate, what is estimated from their annotations, and how agreement is measured.

use leptos::prelude::*;

use crate::widgets::section::Section;

/// Renders the section on human judgments.
#[component]
pub(super) fn HumanJudgmentsHelp() -> impl IntoView {
    view! {
        <Section id="reviewing" name="Human judgments">
            <p>
                "An axiom predicts which document should rank higher. To find out whether people \
                 agree, an annotation task samples instances of a study, several annotators judge \
                 each, and every decision is added to a log. Decisions that were replaced, \
                 withdrawn or excluded stay in the log and in the export."
            </p>
            <dl class="facts-of">
                <dt>"Sampling designs"</dt>
                <dd>
                    "Uniform: every instance has the same probability. By probe: the same \
                     number per probe, or in proportion to its size. By margin: with r = \
                     |margin| / median |margin|, probabilities in proportion to ⅛ + 1/(1 + r) \
                     for close calls and ⅛ + r/(1 + r) for clear ones. Disagreement first: a \
                     share of the items comes from instances on which the axiom and a ranker, \
                     or two rankers, disagree. Every instance can be drawn."
                </dd>
                <dt>"π"</dt>
                <dd>
                    "Inclusion probability: the probability with which an item was drawn. It is \
                     stored with the item and part of every export."
                </dd>
                <dt>"Consensus"</dt>
                <dd>
                    "The curator's adjudication of an item, or otherwise the preference with \
                     the most votes. If two preferences have the same number of votes, the item \
                     is split and has no consensus. "
                    <i>"Cannot say"</i>
                    " is an answer but not a vote. An annotator with contradictory answers on \
                     an item has no vote on it. Training and gold items are not part of any \
                     estimate."
                </dd>
                <dt>"Agreement between two sides"</dt>
                <dd>
                    "Axiom and annotators, ranker and annotators, axiom and relevance \
                     judgments. “Equal” agrees with an expected preference that allows a tie; \
                     it agrees with a ranker whose scores are tied. The same numbers are also \
                     reported over items on which neither side says “equal”, and over \
                     individual votes instead of majorities."
                </dd>
            </dl>
            <p>
                "The estimate is Hájek's (1971) over all instances that could be drawn; y is 1 \
                 if both sides agree and 0 if not:"
            </p>
            <p class="formula">"Σ (y / π) / Σ (1 / π)"</p>
            <p>
                "It has two 95 % intervals. The first resamples queries with all their items \
                 and weights: other samples, same annotators. The second resamples queries and \
                 annotators independently: other samples and other annotators (pigeonhole \
                 bootstrap, Owen, Annals of Applied Statistics, 2007). The effective number of \
                 items, (Σ 1/π)² / Σ (1/π)², is the number of equally weighted items with the \
                 same precision (Kish, Survey Sampling, 1965)."
            </p>
            <p>
                "Inter-annotator agreement is computed over the items that annotators saw, \
                 without weights, with the categories first, equal and second. Items with a \
                 single answer are left out:"
            </p>
            <dl class="facts-of">
                <dt>"Raw agreement"</dt>
                <dd>
                    "The share of annotator pairs with the same answer, averaged over items."
                </dd>
                <dt>"Cohen’s κ"</dt>
                <dd>
                    "Between two annotators: (p_o − p_e) / (1 − p_e), with the observed \
                     agreement p_o and the agreement p_e expected from how often each annotator \
                     uses each answer (Educational and Psychological Measurement, 1960)."
                </dd>
                <dt>"Fleiss’ κ"</dt>
                <dd>
                    "The same for several annotators, with p_e from how often all of them use \
                     each answer (Psychological Bulletin, 1971). Items may have different \
                     numbers of answers."
                </dd>
                <dt>"Krippendorff’s α"</dt>
                <dd>
                    "1 − D_o / D_e: observed disagreement divided by the disagreement expected \
                     by chance (Computing Krippendorff’s Alpha-Reliability, 2011). Nominal \
                     treats all differences as equal; ordinal places “equal” between the other \
                     two answers."
                </dd>
            </dl>
            <p>
                "κ and α are 1 for perfect agreement and 0 for chance agreement. They are \
                 undefined if everyone always gives the same answer. Intervals are percentile \
                 bootstraps over queries. Gold accuracy has Wilson’s interval; drift, the last \
                 third of an annotator’s decisions minus the first third, has Newcombe’s."
            </p>
        </Section>
    }
}
