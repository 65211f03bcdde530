//! How people review, what is estimated from what they say, and how far they agree.

use leptos::prelude::*;

use crate::widgets::section::Section;

/// The section of the page.
#[component]
pub(super) fn HumanJudgmentsHelp() -> impl IntoView {
    view! {
        <Section id="reviewing" name="Reviewing">
            <p>
                "An axiom is a claim about which text should stand above which. Whether people see
                it so is asked of them: a task draws instances of a study, several people decide on
                each, and every decision stays in a log that only grows. What is replaced, taken
                back or left out is still there, and in the export."
            </p>
            <dl class="facts-of">
                <dt>"Designs"</dt>
                <dd>
                    "Uniform: every instance with the same chance. By probe: as many of each, or in
                    proportion. By margin: with r the size of a ranker’s margin over its median,
                    chances in proportion to ⅛ + 1/(1 + r) for close calls and ⅛ + r/(1 + r) for
                    clear ones. Disagreement first: a share of the items from those instances on
                    which axiom and ranker, or two rankers, disagree. No instance has no chance."
                </dd>
                <dt>"π"</dt>
                <dd>
                    "The chance with which an item was drawn. It is kept with the item and stands
                    in every export."
                </dd>
                <dt>"What people say"</dt>
                <dd>
                    "Of an item: what a curator settled, or else the preference with the most
                    votes. Where two have as many, people are split and say nothing. "
                    <i>"Cannot say"</i>
                    " is an answer and no vote. Who contradicts themselves on an item has no vote
                    there, and training and gold are in no estimate."
                </dd>
                <dt>"Agreement of two sides"</dt>
                <dd>
                    "Axiom against people, ranker against people, axiom against judgements. Equal
                    is with a claim that allows a tie and against one that does not; with a ranker
                    it is where its scores tie. Beside it stand the same numbers over items on
                    which neither side says equal, and by single votes instead of majorities."
                </dd>
            </dl>
            <p>
                "The estimate is that of Hájek (1971), over all instances that could have been
                drawn; y is 1 where both sides agree and 0 where not:"
            </p>
            <p class="formula">"Σ (y / π) / Σ (1 / π)"</p>
            <p>
                "It has two 95 % intervals. One draws queries again, with all their items and
                weights: other samples. The other draws queries and people, each by themselves:
                other samples and other people (the pigeonhole bootstrap of Owen, Annals of Applied
                Statistics, 2007). The effective number of items, (Σ 1/π)² / Σ (1/π)², says how
                many of equal weight would tell as much (Kish, Survey Sampling, 1965)."
            </p>
            <p>
                "How far people agree with each other is counted over the items they saw, without
                weights, first, equal and second being the categories; items with one answer have
                no part in it:"
            </p>
            <dl class="facts-of">
                <dt>"Raw"</dt>
                <dd>
                    "The share of pairs of people with the same answer, in the mean over items."
                </dd>
                <dt>"Cohen’s κ"</dt>
                <dd>
                    "Of two people: (p_o − p_e) / (1 − p_e), with the share p_o on which they agree
                    and p_e from how often each uses each answer (Educational and Psychological
                    Measurement, 1960)."
                </dd>
                <dt>"Fleiss’ κ"</dt>
                <dd>
                    "The same of many people, with p_e from how often all use each answer
                    (Psychological Bulletin, 1971). Here items may have different numbers of
                    answers."
                </dd>
                <dt>"Krippendorff’s α"</dt>
                <dd>
                    "1 − D_o / D_e: disagreement that is there over disagreement by chance
                    (Computing Krippendorff’s Alpha-Reliability, 2011). Nominal takes any two
                    answers as equally far apart, ordinal puts equal between the others."
                </dd>
            </dl>
            <p>
                "κ and α are 1 for full agreement and 0 for that of chance. Where everybody always
                gives the same answer they are undefined, and left out: that much agreement could
                be chance as well as not. Their intervals are percentile bootstraps over queries.
                How right somebody is on gold has Wilson’s interval; drift, the last third of
                somebody’s decisions less the first, has Newcombe’s."
            </p>
        </Section>
    }
}
