//! What is asked of rankers beside probes: where two of them differ, and what one is made of.

use leptos::prelude::*;

use crate::widgets::section::Section;

/// Two rankers, query by query.
#[component]
pub(super) fn CompareRankersHelp() -> impl IntoView {
    view! {
        <Section id="differ" name="Where two rankers differ">
            <p>
                "Two rankers can be as good in the mean and win on other queries. Any two of a
                study, or two runs on the Workbench, are set against each other query by query, by
                four hypotheses of Padigela, Zamani & Croft (2019) on BM25 and BERT; every bar
                leads to its queries, and these to the texts that each ranker puts first."
            </p>
            <dl class="facts-of">
                <dt>"FQT"</dt>
                <dd>
                    "Fraction of query tokens: the share of a text's tokens that are of the query,
                    in the mean over the first ten. H1: the first ranker has more of them. H2: the
                    more it has, the lower is its RR@10."
                </dd>
                <dt>"FNT"</dt>
                <dd>
                    "Fraction of novel terms: the share of a text's distinct tokens that are not
                    of the query. H3: the second ranker has more of them."
                </dd>
                <dt>"ΔRR"</dt>
                <dd>
                    "RR@10 of the second ranker less that of the first. H4: it grows with the
                    length of the query."
                </dd>
            </dl>
        </Section>
    }
}

/// One ranker, piece by piece.
#[component]
pub(super) fn LateInteractionHelp() -> impl IntoView {
    view! {
        <Section id="inside" name="A ranker from inside">
            <p>
                "A model in late interaction adds up, over the pieces of a query, the greatest
                cosine with a piece of the text. So one can say which pieces decide, after Formal,
                Piwowarski & Clinchant (ECIR 2021):"
            </p>
            <p class="formula">"S(d) = Σ_i max_j cos(q_i, d_j)"</p>
            <dl class="facts-of">
                <dt>"Importance"</dt>
                <dd>
                    "τ_AP of the pool as ranked and as ranked without the pieces of a word, in the
                    mean over queries: low is important. In ColBERT rare words have a low one."
                </dd>
                <dt>"ΔES"</dt>
                <dd>
                    "The greatest cosine where a piece meets itself, less that where it meets
                    another. High for a word that has to be met exactly."
                </dd>
                <dt>"Spectral ratio"</dt>
                <dd>
                    "The first singular value of all vectors of a piece over the sum of all: 1
                    where its vectors point one way wherever it stands."
                </dd>
            </dl>
            <p>
                <code>"axioscope whitebox"</code> " counts these, and " <i>"Inside"</i>
                " on the page of a study shows them with their correlations with idf, beside those
                of the paper, and any query against any of its first texts, piece by piece. Of a
                cross-encoder the Playground and the page of an instance show the weights of a
                layer's attention, which say where it looks and not why."
            </p>
        </Section>
    }
}
