//! The Playground: a query and two or three documents, checked against every axiom and lexical
//! ranker.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use std::collections::BTreeMap;

use super::TermStatistics;
use super::instance_details::{
    HighlightedText, InstanceLexicalAnalysis, QueryTermInfo, RankerInstanceVerdict,
    TermScoreContributions,
};
use crate::error::{Error, ErrorFieldName};
use crate::index::{DocumentAndTermTotals, Index};
use crate::probe::manipulation::{ManipulationInput, ManipulationWordLists};
use crate::probe::{
    AxiomVariant, Manipulation, MeasuredPrecondition, MiningThresholds, Probe, ScoreClaim,
};
use crate::rank::LexicalRanker;
use crate::score::RankerKind;
use crate::text::linguistics::{LinguisticAnalysis, tag_words_and_noun_phrases};
use crate::text::{Analyzer, Vocabulary};
use crate::word_vectors::WordVectors;

/// The input of the Playground: a query and two or three documents with the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlaygroundRequest {
    /// The query.
    pub query: String,
    /// Two or three documents.
    pub docs: Vec<String>,
    /// The analyzer, which turns text into terms.
    pub analyzer: Analyzer,
    /// The bounds of the preconditions.
    pub limits: MiningThresholds,
    /// The variant of the axioms.
    pub variant: AxiomVariant,
    /// Lexical rankers, as on the command line.
    pub rankers: Vec<String>,
    /// Axioms in addition to [`crate::probe::Axiom::ALL`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_probes: Vec<Probe>,
}

/// The results of every axiom on the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlaygroundResult {
    /// The query, with highlights.
    pub query: HighlightedText,
    /// The distinct terms of the query with their statistics, one per color.
    pub terms: Vec<QueryTermInfo>,
    /// The documents, with highlights.
    pub docs: Vec<HighlightedText>,
    /// The length of each document, in terms.
    pub n_terms: Vec<u32>,
    /// Γ of each document.
    pub term_distances: Vec<Option<u32>>,
    /// One result for each axiom: the order of documents in which it applies, or else the order
    /// that fails the fewest preconditions. Semantic axioms are included only with word vectors.
    pub axiom_results: Vec<PlaygroundAxiomResult>,
    /// Term contributions, one entry for each ranker.
    pub contributions: Vec<TermScoreContributions>,
}

/// The result of one axiom on the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlaygroundAxiomResult {
    /// The axiom that was applied.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The claim, over positions in `docs`.
    pub claim: ScoreClaim<u32>,
    /// Whether all preconditions hold.
    pub applies: bool,
    /// The preconditions, in the order in which the axiom checks them.
    pub preconditions: Vec<MeasuredPrecondition>,
    /// One verdict for each ranker; empty if the axiom does not apply.
    pub verdicts: Vec<RankerInstanceVerdict>,
}

/// The maximum length of a text, in bytes: enough for a document, and fast at every keystroke.
pub const MAX_TEXT_BYTES: usize = 200_000;

/// The maximum number of axioms in addition to [`crate::probe::Axiom::ALL`].
pub const MAX_EXTRA_PROBES: usize = 64;

/// The statistics of the collection that the input is evaluated with.
#[derive(Debug, Clone, Copy)]
pub struct CollectionStatisticsAndVectors<'a> {
    /// Totals of the whole collection.
    pub totals: DocumentAndTermTotals,
    /// Statistics of its terms.
    pub terms: &'a BTreeMap<String, TermStatistics>,
    /// Word vectors, if it has any.
    pub word_vectors: Option<&'a WordVectors>,
}

/// Evaluates the input with the statistics of a collection. Without one, the documents of the
/// input are the collection.
pub fn evaluate_playground_input(
    typed: &PlaygroundRequest,
    collection: Option<CollectionStatisticsAndVectors<'_>>,
) -> Result<PlaygroundResult, Error> {
    if !(2..=3).contains(&typed.docs.len()) {
        return Err(Error::out_of_range(
            "texts",
            "two or three documents can be compared",
        ));
    }
    if typed
        .docs
        .iter()
        .chain([&typed.query])
        .any(|it| it.len() > MAX_TEXT_BYTES)
    {
        return Err(Error::out_of_range(
            "texts",
            format!("at most {MAX_TEXT_BYTES} bytes per document"),
        ));
    }
    if typed.extra_probes.len() > MAX_EXTRA_PROBES {
        return Err(Error::out_of_range(
            ErrorFieldName::with_display_name("further", "further axioms"),
            format!("at most {MAX_EXTRA_PROBES} at once"),
        ));
    }
    typed.limits.validate()?;
    let rankers = typed.rankers.iter().map(|it| it.parse());
    let rankers = rankers.collect::<Result<Vec<LexicalRanker>, Error>>()?;
    let own;
    let vectors = collection.and_then(|it| it.word_vectors);
    let (totals, stats) = match collection {
        Some(it) => (it.totals, it.terms),
        None => {
            own = statistics(&typed.analyzer, &typed.docs)?;
            (own.0, &own.1)
        }
    };
    let read =
        InstanceLexicalAnalysis::new(&typed.analyzer, &typed.query, &typed.docs, stats, vectors);
    let contributions: Vec<TermScoreContributions> = rankers
        .iter()
        .map(|it| read.term_score_contributions(it, &totals))
        .collect();
    let further = typed.extra_probes.iter().copied();
    let further = further.filter(|it| vectors.is_some() || !it.needs_word_vectors());
    let axioms = Probe::list_minable_paper_axioms(vectors.is_some())
        .into_iter()
        .chain(further)
        .filter_map(|it| apply(it, typed, totals, &read, &contributions));
    Ok(PlaygroundResult {
        query: read.highlighted_query(),
        terms: read.query_term_infos(),
        docs: read.highlighted_documents().collect(),
        n_terms: read.features.iter().map(|it| it.n_terms).collect(),
        term_distances: read
            .features
            .iter()
            .map(|it| it.min_query_term_distance())
            .collect(),
        axiom_results: axioms.collect(),
        contributions,
    })
}

/// A document and the manipulations to apply to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlaygroundManipulationInput {
    /// The query.
    pub query: String,
    /// The document.
    pub document: String,
    /// Documents that are not relevant to the query. The vocabulary is that of all documents here.
    pub other_docs: Vec<String>,
    /// The manipulations, each applied on its own.
    pub manipulations: Vec<Manipulation>,
    /// The analyzer, which turns text into terms.
    pub analyzer: Analyzer,
}

/// The seed of random choices. It is the default seed of a study, so that a document changes as it
/// does there.
const SEED: u64 = 42;

/// Returns the document after each manipulation; `None` if the result is empty or unchanged, or if
/// documents are missing.
pub fn apply_each_manipulation_separately(
    changing: &PlaygroundManipulationInput,
) -> Result<Vec<Option<String>>, Error> {
    let PlaygroundManipulationInput {
        query,
        document: text,
        other_docs: others,
        manipulations,
        analyzer,
    } = changing;
    let texts = || others.iter().chain([text]);
    if texts().chain([query]).any(|it| it.len() > MAX_TEXT_BYTES) {
        let reason = format!("at most {MAX_TEXT_BYTES} bytes per document");
        return Err(Error::out_of_range("texts", reason));
    }
    let mut vocabulary = Vocabulary::new(analyzer.clone());
    texts().for_each(|it| vocabulary.append_terms_of_text(it, &mut Vec::new()));
    let analysis = tag_words_and_noun_phrases(text);
    let analysed: Vec<LinguisticAnalysis> = others
        .iter()
        .map(|it| tag_words_and_noun_phrases(it))
        .collect();
    let others: Vec<(&str, &LinguisticAnalysis)> = others
        .iter()
        .map(String::as_str)
        .zip(analysed.iter())
        .collect();
    let source = ManipulationInput {
        id: "",
        text,
        analysis: &analysis,
        query,
        non_relevant_docs: &others,
        lookup_tables: &ManipulationWordLists::default(),
        vocabulary: &vocabulary,
        seed: SEED,
    };
    let made = manipulations.iter().map(|it| it.apply(&source));
    Ok(made.collect())
}

/// Returns the statistics of the input documents as a collection.
fn statistics(
    analyzer: &Analyzer,
    texts: &[String],
) -> Result<(DocumentAndTermTotals, BTreeMap<String, TermStatistics>), Error> {
    let index = Index::build(analyzer, texts.iter().map(|it| it.as_str()))?;
    let numbers = 0..index.vocabulary().len() as u32;
    let stats = numbers.map(|it| {
        let stats = TermStatistics {
            df: index.df(it),
            cf: index.cf(it),
        };
        (index.vocabulary().term(it).to_owned(), stats)
    });
    Ok((index.collection_totals(), stats.collect()))
}

/// Returns the order of documents in which an axiom applies, or that fails the fewest
/// preconditions; the first one if there are several. `None` if there are too few documents.
fn apply(
    probe: Probe,
    typed: &PlaygroundRequest,
    totals: DocumentAndTermTotals,
    read: &InstanceLexicalAnalysis<'_>,
    contributions: &[TermScoreContributions],
) -> Option<PlaygroundAxiomResult> {
    let kind = probe.claim_kind(typed.variant);
    let tried = orders(typed.docs.len() as u32, kind.arity())
        .into_iter()
        .map(|order| {
            let counted: Vec<_> = order
                .iter()
                .map(|&it| read.features[it as usize].clone())
                .collect();
            let case = read.query_pool_features(&typed.limits, totals, &counted);
            let preconditions = probe.measure_preconditions(typed.variant, &case);
            (order, preconditions)
        });
    let failing = |preconditions: &[MeasuredPrecondition]| {
        preconditions.iter().filter(|it| !it.holds()).count()
    };
    let (order, preconditions) = tried.min_by_key(|it| failing(&it.1))?;
    let applies = failing(&preconditions) == 0;
    let claim = kind.build_score_claim(&order);
    let said = contributions.iter().filter(|_| applies).map(|it| {
        let scores = order.iter().map(|&text| Some(it.scores[text as usize]));
        let scored = claim.replace_docs_with_scores(|text| Some(it.scores[text as usize]));
        RankerInstanceVerdict {
            ranker: it.ranker.clone(),
            scores: scores.collect(),
            truncated: vec![false; order.len()],
            verdict: scored.map(|it| it.verdict(RankerKind::Lexical.default_tie_threshold())),
            typical_margin: None,
        }
    });
    Some(PlaygroundAxiomResult {
        probe,
        claim,
        applies,
        preconditions,
        verdicts: said.collect(),
    })
}

/// Returns all ordered selections of `arity` of the numbers below `n`.
fn orders(n: u32, arity: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..arity {
        let longer = all.iter().flat_map(|it: &Vec<u32>| {
            let rest = (0..n).filter(|place| !it.contains(place));
            rest.map(|place| it.iter().copied().chain([place]).collect())
                .collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Axiom;

    fn typed(query: &str, texts: &[&str]) -> PlaygroundRequest {
        PlaygroundRequest {
            query: query.to_owned(),
            docs: texts.iter().map(|&it| it.to_owned()).collect(),
            analyzer: Analyzer::default(),
            limits: MiningThresholds::STANDARD,
            variant: AxiomVariant::Fixed,
            rankers: vec!["bm25".to_owned(), "ql".to_owned()],
            extra_probes: Vec::new(),
        }
    }

    #[test]
    fn an_axiom_finds_the_order_in_which_it_applies() {
        let answer =
            evaluate_playground_input(&typed("river bank", &["river mud", "river bank"]), None)
                .unwrap();
        let tfc1 = &answer.axiom_results[0];
        assert!(tfc1.applies);
        assert_eq!(
            tfc1.claim,
            ScoreClaim::Higher {
                winner: 1,
                loser: 0
            }
        );
        assert_eq!(tfc1.verdicts.len(), 2);
        let tfc2 = answer
            .axiom_results
            .iter()
            .find(|it| it.probe == Probe::Axiom(Axiom::Tfc2));
        assert!(tfc2.is_none(), "two texts are no triple");
        let lnc2 = answer
            .axiom_results
            .iter()
            .find(|it| it.probe == Probe::Axiom(Axiom::Lnc2))
            .unwrap();
        assert!(!lnc2.applies);
    }

    #[test]
    fn the_parts_of_a_score_sum_to_it() {
        let mut typed = typed("river bank tide bank", &["river bank mud", "tide"]);
        typed.rankers.push("ql:lambda=0.3".to_owned());
        let answer = evaluate_playground_input(&typed, None).unwrap();
        for it in &answer.contributions {
            for text in 0..2 {
                let terms: f64 = it.terms.iter().map(|term| term[text]).sum();
                let sum = terms + it.length[text] + it.background;
                assert!((sum - it.scores[text]).abs() < 1e-12, "{sum} {it:?}");
            }
            // The first document lacks the tide.
            assert_eq!(it.terms[2][0], 0.0);
        }
    }

    #[test]
    fn a_text_is_changed_by_each_manipulation_and_says_where_it_stays() {
        let changing = |others: &[&str]| PlaygroundManipulationInput {
            query: "river bank".to_owned(),
            document: "The river rises. It takes the bank.".to_owned(),
            other_docs: others.iter().map(|&it| it.to_owned()).collect(),
            manipulations: vec![
                Manipulation::ReverseSentences,
                Manipulation::ChangeNumbers,
                Manipulation::AddSentenceLast,
            ],
            analyzer: Analyzer::default(),
        };
        let reversed = Some("It takes the bank. The river rises.".to_owned());
        let added = Some("The river rises. It takes the bank. Bread rises.".to_owned());
        let made = apply_each_manipulation_separately(&changing(&["Bread rises."])).unwrap();
        assert_eq!(made, [reversed.clone(), None, added]);
        assert_eq!(
            apply_each_manipulation_separately(&changing(&[])).unwrap(),
            [reversed, None, None]
        );
    }

    #[test]
    fn nothing_typed_is_an_answer_too() {
        let answer = evaluate_playground_input(&typed("", &["", ""]), None).unwrap();
        assert!(answer.terms.is_empty());
        assert!(answer.axiom_results.iter().all(|it| !it.applies));
    }
}
