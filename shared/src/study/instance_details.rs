//! The Instance page: why it is an instance, what each ranker said, which term decided.

use serde::{Deserialize, Serialize};

use super::{Study, TermStatistics};
use crate::error::Error;
use crate::index::CollectionTotals;
use crate::index::term_statistics::{QueryTerms, query_terms};
use crate::probe::features::{DocumentFeatures, QueryContext, SemanticFeatures};
use crate::probe::{
    AxiomVariant, Claim, Instances, Limits, Manipulation, MeasuredPrecondition, Probe,
};
use crate::rank::LexicalRanker;
use crate::score::{RankerInfo, RankerKind, Scores, lexical};
use crate::stats::quantile::median;
use crate::text::linguistics::{LinguisticUnit, analyze};
use crate::text::{Analyzer, Span};
use crate::verdict::Verdict;
use crate::word_vectors::{
    SimilarWord, WordVectors, bag_of_query, bag_without_query, for_each_word, nearest_words,
    query_term_similarities, word_similarities, words_of_query,
};

use std::collections::BTreeMap;

/// Everything the Instance page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InstanceDetails {
    /// Its place among the instances of the axiom and mode.
    pub number: u64,
    /// The probe that found it.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// Query id.
    pub query_id: String,
    /// The query as written, with its query terms highlighted.
    pub query: HighlightedText,
    /// Distinct query terms, in order of first appearance.
    pub terms: Vec<QueryTermInfo>,
    /// The documents, in the order of the claim.
    pub docs: Vec<InstanceDocument>,
    /// Over places in `texts`.
    pub claim: Claim<u32>,
    /// The preconditions, in the order in which the axiom checks them.
    pub preconditions: Vec<MeasuredPrecondition>,
    /// One for each ranker of the study.
    pub verdicts: Vec<RankerVerdict>,
    /// One for each lexical ranker.
    pub contributions: Vec<TermContributions>,
    /// Whether the texts are not here; then there is nothing that is counted in them.
    #[serde(default)]
    pub has_withheld_texts: bool,
}

/// The words of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceTexts {
    /// The query as written, with its query terms highlighted.
    pub query: HighlightedText,
    /// Distinct query terms, in order of first appearance.
    pub terms: Vec<QueryTermInfo>,
    /// The documents, in the order of the claim.
    pub docs: Vec<HighlightedText>,
    /// Whether the texts are not here.
    pub has_withheld_texts: bool,
}

/// A text with the places of query terms in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HighlightedText {
    /// As written. It comes from outside: text, never HTML.
    pub text: String,
    /// Ascending, without overlap.
    pub marks: Vec<TermHighlight>,
}

/// Where a query term stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TermHighlight {
    /// Bytes of the text, in UTF-8.
    pub span: Span,
    /// Place among the distinct query terms.
    pub term_index: u32,
    /// One of the two terms that stand nearest (Γ).
    pub is_nearest: bool,
}

/// A query term with what the collection knows of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryTermInfo {
    /// After analysis.
    pub term: String,
    /// As first written in the query.
    pub surface_form: String,
    /// Occurrences in the query.
    pub count: u32,
    /// Documents that hold it.
    pub df: u32,
    /// Occurrences in the collection.
    pub cf: u64,
    /// 0 for the rarest query term, then on by df: the line it is marked with.
    pub rarity_rank: u32,
}

/// A text of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InstanceDocument {
    /// Document id, or `DOC#probe:argument` for a derived text.
    pub id: String,
    /// May be empty; it is the beginning of the body.
    pub title: String,
    /// What was analyzed and scored, with marks.
    pub text: HighlightedText,
    /// Its length, in terms.
    pub n_terms: u32,
    /// Occurrences of each distinct query term.
    pub term_counts: Vec<u32>,
    /// Γ, the least distance of two distinct query terms; none with fewer than two.
    pub term_distance: Option<u32>,
    /// Grade, if judged.
    pub grade: Option<i32>,
    /// What its words mean; none without word vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_similarity: Option<QuerySimilarity>,
    /// What its manipulation goes by, in the document as it is; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linguistic_spans: Vec<LinguisticSpans>,
}

/// What was found in a text, of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinguisticSpans {
    /// Of which kind.
    pub unit: LinguisticUnit,
    /// Ascending, without overlap.
    pub spans: Vec<Span>,
}

/// How like a query the words of a text are that are not in it, d − Q.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuerySimilarity {
    /// cos(d − Q, Q); none if one of them has no word with a vector.
    pub cosine: Option<f64>,
    /// Occurrences of words with a vector.
    pub n_with_vector: u32,
    /// All occurrences.
    pub n_words: u32,
    /// The words that are most like the query, with their cosine.
    pub nearest_words: Vec<SimilarWord>,
}

/// How many words [`QuerySimilarity::nearest_words`] names.
const NEAREST: usize = 6;

/// The scores and the verdict of one ranker on an instance. (`Said` five times).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankerVerdict {
    /// The ranker.
    pub ranker: RankerInfo,
    /// Scores, in the order of the documents.
    pub scores: Vec<Option<f64>>,
    /// Whether it saw only a part of each text.
    pub truncated: Vec<bool>,
    /// `None` unless all documents have a score.
    pub verdict: Option<Verdict>,
    /// The median size of its margins on this axiom, to scale a bar with.
    pub typical_margin: Option<f64>,
}

/// What each query term adds to the score of each text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TermContributions {
    /// The ranker.
    pub ranker: RankerInfo,
    /// Distinct query terms × texts; each column sums, from the top, to the score.
    pub terms: Vec<Vec<f64>>,
    /// Scores, in the order of the documents.
    pub scores: Vec<f64>,
}

/// Instances from which [`RankerVerdict::typical_margin`] is taken: the first so many.
const TYPICAL: usize = 2000;

impl Study {
    /// One instance with everything that is known of it.
    pub fn instance_details(
        &self,
        probe: Probe,
        mode: AxiomVariant,
        number: u64,
        delta_score: Option<f64>,
    ) -> Result<InstanceDetails, Error> {
        let instances = self.instances_of(probe, mode)?;
        let at = place(instances, number)?;
        let query = instances.query(at);
        let claim = instances.claim(at);
        let numbers = claim.docs();
        let bodies: Vec<String> = numbers.iter().map(|&it| self.study_doc_text(it)).collect();
        let read = AnalyzedInstance::new(
            &self.definition.analyzer,
            &self.queries[query].text,
            &bodies,
            &self.terms,
            self.word_vectors.as_ref().map(|it| &it.vectors),
        );
        let texts = numbers.iter().zip(&read.features).zip(read.texts());
        let texts = texts.map(|((&text, counted), body)| InstanceDocument {
            id: self.study_doc_id(text),
            title: self.docs[self.study_docs[text as usize].doc() as usize]
                .title
                .clone(),
            text: body,
            n_terms: counted.n_terms,
            term_counts: counted.term_counts.clone(),
            term_distance: counted.term_distance(),
            grade: self.grade(query, text),
            query_similarity: None,
            linguistic_spans: Vec::new(),
        });
        let mut texts: Vec<InstanceDocument> = texts.collect();
        let compares = probe.needs_vectors() && !probe.uses_added_docs();
        let words = self.word_vectors.as_ref().filter(|_| compares);
        for (at, text) in texts.iter_mut().enumerate() {
            text.query_similarity = words
                .and_then(|it| read.query_similarity(&self.definition.analyzer, &it.vectors, at));
        }
        // The second text of a manipulation is the document.
        if let (Probe::Manipulation(it), Some(text)) = (probe, texts.get_mut(1)) {
            text.linguistic_spans = tagged(it, &text.text.text);
        }
        let places: Vec<u32> = (0..numbers.len() as u32).collect();
        let lexical = self
            .scores
            .iter()
            .filter(|it| it.ranker.kind == RankerKind::Lexical);
        let contributions = lexical.filter_map(|it| {
            let ranker: LexicalRanker = it.ranker.spec.parse().ok()?;
            Some(read.contributions(&ranker, &self.totals))
        });
        let mut shown = InstanceDetails {
            has_withheld_texts: false,
            number,
            probe,
            variant: mode,
            query_id: self.queries[query].id.clone(),
            query: read.query(),
            terms: read.query_term_infos(),
            docs: texts,
            claim: instances.claim.claim_for(&places),
            preconditions: probe.preconditions(
                mode,
                &read.query_context(&self.definition.limits, self.totals, &read.features),
            ),
            verdicts: self
                .scores
                .iter()
                .map(|it| {
                    let width = delta_score.unwrap_or(it.ranker.kind.tie_threshold());
                    self.said(it, instances, at, width)
                })
                .collect(),
            contributions: contributions.collect(),
        };
        if let Some(withheld) = &self.withheld_texts
            && self.is_withheld(probe)
        {
            shown.has_withheld_texts = true;
            shown.preconditions.clear();
            shown.contributions.clear();
            for (shown, &text) in shown.docs.iter_mut().zip(&numbers) {
                shown.n_terms = withheld.n_terms[text as usize];
                shown.term_counts.clear();
                shown.linguistic_spans.clear();
            }
        }
        Ok(shown)
    }

    /// The words of an instance alone, which is much less work than all that is known of it.
    pub fn instance_texts(
        &self,
        probe: Probe,
        mode: AxiomVariant,
        number: u64,
    ) -> Result<InstanceTexts, Error> {
        let instances = self.instances_of(probe, mode)?;
        let at = place(instances, number)?;
        let (query, numbers) = (instances.query(at), instances.claim(at).docs());
        let bodies: Vec<String> = numbers.iter().map(|&it| self.study_doc_text(it)).collect();
        let analyzer = &self.definition.analyzer;
        let read = AnalyzedInstance::new(
            analyzer,
            &self.queries[query].text,
            &bodies,
            &self.terms,
            None,
        );
        Ok(InstanceTexts {
            query: read.query(),
            terms: read.query_term_infos(),
            docs: read.texts().collect(),
            has_withheld_texts: self.is_withheld(probe),
        })
    }

    fn is_withheld(&self, probe: Probe) -> bool {
        let withheld = self.withheld_texts.as_ref();
        withheld.is_some_and(|it| !it.is_restored || probe.uses_added_docs())
    }

    fn said(
        &self,
        scores: &Scores,
        instances: &Instances,
        at: usize,
        tie_width: f64,
    ) -> RankerVerdict {
        let (query, claim) = (instances.query(at), instances.claim(at));
        let score = |text| {
            self.pairs
                .position(query, text)
                .and_then(|at| scores.get(at))
        };
        let sizes: Vec<f64> = (0..instances.len().min(TYPICAL))
            .filter_map(|at| {
                let claim = instances.claim(at);
                self.ranker_verdict(scores, instances.query(at), claim, tie_width)
            })
            .map(|it| it.margin.abs())
            .collect();
        RankerVerdict {
            ranker: scores.ranker.clone(),
            scores: claim.docs().into_iter().map(score).collect(),
            truncated: claim
                .docs()
                .into_iter()
                .map(|it| self.is_doc_truncated(scores, query, it))
                .collect(),
            verdict: self.ranker_verdict(scores, query, claim, tie_width),
            typical_margin: median(&sizes),
        }
    }
}

/// The instance with a number.
fn place(instances: &Instances, number: u64) -> Result<usize, Error> {
    let at = usize::try_from(number).ok();
    at.filter(|&it| it < instances.len()).ok_or_else(|| {
        let (probe, n) = (instances.probe.slug(), instances.len());
        let what = format!("instance of {probe} (there are {n}, counted from 0)");
        Error::not_found(&what, format!("{number}"))
    })
}

fn tagged(manipulation: Manipulation, text: &str) -> Vec<LinguisticSpans> {
    let units = manipulation.linguistic_units();
    if units.is_empty() {
        return Vec::new();
    }
    let analysis = analyze(text);
    let of = |&unit: &LinguisticUnit| LinguisticSpans {
        unit,
        spans: analysis.spans(unit),
    };
    units.iter().map(of).collect()
}

/// A query and texts, analyzed and counted.
pub(super) struct AnalyzedInstance<'a> {
    query: (&'a str, Vec<(String, Span)>),
    bodies: Vec<(&'a str, Vec<(String, Span)>)>,
    /// Distinct query terms.
    pub(super) terms: QueryTerms,
    /// Each text.
    pub(super) features: Vec<DocumentFeatures>,
    /// How like each query term is to each.
    alike: Vec<f64>,
}

impl<'a> AnalyzedInstance<'a> {
    pub(super) fn new(
        analyzer: &Analyzer,
        query: &'a str,
        bodies: &'a [String],
        stats: &BTreeMap<String, TermStatistics>,
        vectors: Option<&WordVectors>,
    ) -> AnalyzedInstance<'a> {
        let analysed = |text: &'a str| (text, analyzer.terms(text));
        let query = analysed(query);
        let bodies: Vec<_> = bodies.iter().map(|it| analysed(it)).collect();
        // Numbers in the order of first appearance, the query first.
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (term, _) in query.1.iter().chain(bodies.iter().flat_map(|it| &it.1)) {
            let next = numbers.len() as u32;
            numbers.entry(term).or_insert(next);
        }
        let terms = query_terms(analyzer, query.0, |term| {
            let stats = stats.get(term).copied().unwrap_or_default();
            (numbers.get(term).copied(), stats.df, stats.cf)
        });
        let meaning = vectors.map(|it| (it, bag_of_query(it, analyzer, query.0)));
        let asked = vectors.map(|it| words_of_query(it, analyzer, query.0, &terms));
        let count = |body: &(&str, Vec<(String, Span)>)| {
            let found: Vec<u32> = body.1.iter().map(|it| numbers[it.0.as_str()]).collect();
            let mut counted = DocumentFeatures::with_other_terms(&found, &terms);
            counted.record_positions(&found, &terms);
            counted.semantics = meaning.as_ref().map(|(vectors, bag)| {
                let mut words = Vec::new();
                for_each_word(analyzer, body.0, |token, term| {
                    words.push((numbers[term], vectors.row(token)));
                });
                let rest = bag_without_query(vectors, analyzer, body.0, &terms);
                let mut meaning = SemanticFeatures::new(rest, bag);
                let words = words.into_iter();
                meaning.word_similarities = asked
                    .as_ref()
                    .map(|it| word_similarities(vectors, it, &terms, words));
                meaning
            });
            counted
        };
        let counted = bodies.iter().map(count).collect();
        let alike = match (vectors, &asked) {
            (Some(vectors), Some(asked)) => query_term_similarities(vectors, asked),
            _ => Vec::new(),
        };
        AnalyzedInstance {
            alike,
            query,
            bodies,
            terms,
            features: counted,
        }
    }

    /// Some of the texts, for an axiom.
    pub(super) fn query_context<'b>(
        &'b self,
        limits: &'b Limits,
        totals: CollectionTotals,
        pool: &'b [DocumentFeatures],
    ) -> QueryContext<'b> {
        QueryContext {
            query: &self.terms,
            pool,
            limits,
            totals,
            term_similarities: &self.alike,
        }
    }

    /// What the words of a text mean.
    pub(super) fn query_similarity(
        &self,
        analyzer: &Analyzer,
        vectors: &WordVectors,
        at: usize,
    ) -> Option<QuerySimilarity> {
        let SemanticFeatures {
            other_words: rest,
            query_similarity: to_query,
            ..
        } = self.features[at].semantics.as_ref()?;
        let asked = bag_of_query(vectors, analyzer, self.query.0);
        let text = self.bodies[at].0;
        let mut nearest = nearest_words(vectors, analyzer, text, &self.terms, &asked);
        nearest.truncate(NEAREST);
        Some(QuerySimilarity {
            cosine: *to_query,
            n_with_vector: rest.n_with_vector,
            n_words: rest.n_words,
            nearest_words: nearest,
        })
    }

    /// The query with its marks.
    pub(super) fn query(&self) -> HighlightedText {
        self.mark(&self.query, None)
    }

    /// The texts with their marks.
    pub(super) fn texts(&self) -> impl Iterator<Item = HighlightedText> + '_ {
        self.bodies
            .iter()
            .zip(&self.features)
            .map(|(body, it)| self.mark(body, it.nearest_positions))
    }

    /// Distinct query terms with what the collection knows of them.
    pub(super) fn query_term_infos(&self) -> Vec<QueryTermInfo> {
        let mut by_df: Vec<usize> = (0..self.terms.len()).collect();
        by_df.sort_by_key(|&it| self.terms[it].df);
        let written = |term: &str| {
            let first = self.query.1.iter().find(|it| it.0 == term);
            let span = first.map_or(Span { start: 0, end: 0 }, |it| it.1);
            self.query.0[span.start as usize..span.end as usize].to_owned()
        };
        self.terms
            .iter()
            .enumerate()
            .map(|(place, it)| QueryTermInfo {
                term: it.term.clone(),
                surface_form: written(&it.term),
                count: it.count,
                df: it.df,
                cf: it.cf,
                rarity_rank: by_df.iter().position(|&at| at == place).unwrap_or(0) as u32,
            })
            .collect()
    }

    /// What each query term adds to the score of each text.
    pub(super) fn contributions(
        &self,
        ranker: &LexicalRanker,
        totals: &CollectionTotals,
    ) -> TermContributions {
        let weighed = ranker.query_scorer(&self.terms, totals);
        let terms = (0..self.terms.len()).map(|term| {
            let texts = self.features.iter();
            texts
                .map(|it| weighed.contribution(term, it.term_counts[term], it.n_terms))
                .collect()
        });
        TermContributions {
            ranker: lexical::lexical_ranker_info(ranker),
            terms: terms.collect(),
            scores: self
                .features
                .iter()
                .map(|it| weighed.score(&it.term_counts, it.n_terms))
                .collect(),
        }
    }

    fn mark(
        &self,
        body: &(&str, Vec<(String, Span)>),
        nearest: Option<(u32, u32)>,
    ) -> HighlightedText {
        let is_near =
            |position: usize| nearest.is_some_and(|(a, b)| [a, b].contains(&(position as u32)));
        let marks = body
            .1
            .iter()
            .enumerate()
            .filter_map(|(position, (term, span))| {
                let place = self.terms.iter().position(|it| it.term == *term)?;
                Some(TermHighlight {
                    span: *span,
                    term_index: place as u32,
                    is_nearest: is_near(position),
                })
            });
        HighlightedText {
            text: body.0.to_owned(),
            marks: marks.collect(),
        }
    }
}
