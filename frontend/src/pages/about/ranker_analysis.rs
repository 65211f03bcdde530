//! The analyses of rankers other than probes: the comparison of two rankers, and late interaction.

use leptos::prelude::*;

use crate::widgets::section::Section;
use crate::widgets::term::text_with_terms;

/// Renders the section on the comparison of two rankers.
#[component]
pub(super) fn CompareRankersHelp() -> impl IntoView {
    view! {
        <Section id="differ" name="Compare rankers">
            <p>
                "Two rankers can have the same mean reciprocal rank and win on different queries. \
                 Compare rankers sets any two rankers of a study, or two runs in the Workbench, \
                 against each other query by query, with four hypotheses of Padigela, Zamani & \
                 Croft (2019) on BM25 and BERT. Every bar links to its queries, and every query \
                 to the top documents of each ranker."
            </p>
            <dl class="facts-of">
                <dt>"FQT"</dt>
                <dd>
                    "Fraction of query tokens: the share of a document's tokens that are query \
                     tokens, averaged over the top ten documents. H1: the first ranker has the \
                     higher FQT. H2: a higher FQT goes with a lower RR@10."
                </dd>
                <dt>"FNT"</dt>
                <dd>
                    "Fraction of novel terms: the share of a document's distinct tokens that \
                     are not in the query. H3: the second ranker has the higher FNT."
                </dd>
                <dt>"ΔRR"</dt>
                <dd>
                    {text_with_terms(
                        "RR@10 of the second ranker minus RR@10 of the first. H4: it grows with \
                         query length.",
                    )}
                </dd>
            </dl>
        </Section>
    }
}

/// Renders the section on late interaction.
#[component]
pub(super) fn LateInteractionHelp() -> impl IntoView {
    view! {
        <Section id="inside" name="Late interaction">
            <p>
                "A late-interaction model sums, over the query tokens, the highest cosine with \
                 any document token. The analysis shows which tokens decide a score, following \
                 Formal, Piwowarski & Clinchant (ECIR 2021):"
            </p>
            <p class="formula">"S(d) = Σ_i max_j cos(q_i, d_j)"</p>
            <dl class="facts-of">
                <dt>"Importance"</dt>
                <dd>
                    {text_with_terms(
                        "τ_AP between the candidate pool as ranked and as ranked without the \
                         tokens of a term, averaged over queries. Low values mean important \
                         terms. In ColBERT, rare terms have low values.",
                    )}
                </dd>
                <dt>"ΔES"</dt>
                <dd>
                    "The mean of the highest cosine of a query token where it matches itself, \
                     minus the mean where it matches another token. High for terms that need an \
                     exact match."
                </dd>
                <dt>"Spectral ratio"</dt>
                <dd>
                    "The first singular value of all vectors of a token divided by the sum of \
                     all singular values: 1 if its vectors point in the same direction wherever \
                     the token occurs."
                </dd>
            </dl>
            <p>
                <code>"axioscope late-interaction"</code> " computes these, and "
                <i>"Late interaction"</i>
                " on a study's page shows them with their correlation with idf, next to those \
                 of the paper, and matches any query with its top documents token by token. For \
                 a cross-encoder, the Playground and the instance page show the attention \
                 weights of one layer. They show which tokens the model attends to, not why."
            </p>
        </Section>
    }
}
