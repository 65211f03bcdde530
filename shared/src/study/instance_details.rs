//! The Instance page: why the documents are an instance, how each ranker scores them, and which
//! query term decided.

mod lexical_analysis;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use crate::error::Error;
use crate::probe::StudyDocNo;
use crate::probe::{
    AxiomVariant, Manipulation, MeasuredPrecondition, Probe, ProbeInstances, ScoreClaim,
};
use crate::rank::LexicalRanker;
use crate::score::{RankerInfo, RankerKind, RankerQueryDocumentScores};
use crate::stats::quantile::median;
use crate::text::ByteSpan;
use crate::text::linguistics::{LinguisticUnit, tag_words_and_noun_phrases};
use crate::verdict::VerdictWithMargin;
use crate::word_vectors::WordSimilarToQuery;

pub(super) use lexical_analysis::InstanceLexicalAnalysis;

/// The data of the Instance page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceDetails {
    /// The title of the study.
    pub study_title: String,
    /// Its number among the instances of the axiom and variant.
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
    /// The claim, over positions in `docs`.
    pub claim: ScoreClaim<u32>,
    /// The preconditions, in the order in which the axiom checks them.
    pub preconditions: Vec<MeasuredPrecondition>,
    /// One verdict for each ranker of the study.
    pub verdicts: Vec<RankerInstanceVerdict>,
    /// Term contributions, one entry for each lexical ranker.
    pub contributions: Vec<TermScoreContributions>,
    /// Whether the texts are withheld; then fields that are counted in them are empty.
    #[serde(default)]
    pub has_withheld_texts: bool,
}

/// The texts of an instance, with highlights.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceTexts {
    /// The query as written, with its query terms highlighted.
    pub query: HighlightedText,
    /// Distinct query terms, in order of first appearance.
    pub terms: Vec<QueryTermInfo>,
    /// The documents, in the order of the claim.
    pub docs: Vec<HighlightedText>,
    /// Whether the texts are withheld.
    pub has_withheld_texts: bool,
}

/// A text with the positions of query terms in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HighlightedText {
    /// The text as written. It is user data: show it as text, never as HTML.
    pub text: String,
    /// The highlights, in ascending order, without overlap.
    pub marks: Vec<TermHighlight>,
    /// The number of bytes of the title with which the text begins; 0 without.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub title_length: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// An occurrence of a query term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TermHighlight {
    /// The bytes of the text, in UTF-8.
    pub span: ByteSpan,
    /// The position among the distinct query terms.
    pub term_index: u32,
    /// Whether it is one of the two terms that are closest to each other (Γ).
    pub is_nearest: bool,
}

/// A query term with its statistics in the collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryTermInfo {
    /// The term, after analysis.
    pub term: String,
    /// As first written in the query.
    pub surface_form: String,
    /// Occurrences in the query.
    pub count: u32,
    /// The number of documents that contain it.
    pub df: u32,
    /// The number of occurrences in the collection.
    pub cf: u64,
    /// The rank by document frequency, 0 for the rarest query term; it selects the line style of
    /// the highlight.
    pub rarity_rank: u32,
}

/// A document of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceDocument {
    /// The document id, or `DOC#probe:argument` for a derived document.
    pub id: String,
    /// The title, may be empty; the text begins with it.
    pub title: String,
    /// The analyzed and scored text, with highlights.
    pub text: HighlightedText,
    /// Its length, in terms.
    pub n_terms: u32,
    /// The number of occurrences of each distinct query term.
    pub term_counts: Vec<u32>,
    /// Γ, the least distance of two distinct query terms; `None` with fewer than two.
    pub term_distance: Option<u32>,
    /// The grade, if judged.
    pub grade: Option<i32>,
    /// The similarity to the query; `None` without word vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_similarity: Option<NonQueryWordsSimilarityToQuery>,
    /// The units that its manipulation changes, in the original document; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linguistic_spans: Vec<LinguisticSpans>,
}

/// The spans of one kind of linguistic unit in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinguisticSpans {
    /// The kind of unit.
    pub unit: LinguisticUnit,
    /// Ascending, without overlap.
    pub spans: Vec<ByteSpan>,
}

/// The similarity of a query to the words of a document that are not in the query, d − Q.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NonQueryWordsSimilarityToQuery {
    /// cos(d − Q, Q); `None` if one of them has no word with a vector.
    pub cosine: Option<f64>,
    /// Occurrences of words with a vector.
    pub n_with_vector: u32,
    /// All occurrences.
    pub n_words: u32,
    /// The words that are most similar to the query, with their cosines.
    pub nearest_words: Vec<WordSimilarToQuery>,
}

/// The scores and the verdict of one ranker on an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerInstanceVerdict {
    /// The ranker whose scores decide the verdict.
    pub ranker: RankerInfo,
    /// Scores, in the order of the documents.
    pub scores: Vec<Option<f64>>,
    /// Whether the ranker read only a part of each document.
    pub truncated: Vec<bool>,
    /// `None` unless all documents have a score.
    pub verdict: Option<VerdictWithMargin>,
    /// The median absolute margin of the ranker on this axiom, as the scale of a bar.
    pub typical_margin: Option<f64>,
}

/// The contribution of each query term to the score of each document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TermScoreContributions {
    /// The lexical ranker whose scores are taken apart.
    pub ranker: RankerInfo,
    /// Distinct query terms × documents: what the occurrences of a term add to the score of a
    /// document without it; 0 if the term does not occur.
    pub terms: Vec<Vec<f64>>,
    /// The part of each score that depends on the length of the document alone; 0 for rankers
    /// whose contributions of terms include the length.
    #[serde(default)]
    pub length: Vec<f64>,
    /// The part of a score that is the same for every document.
    #[serde(default)]
    pub background: f64,
    /// Scores, in the order of the documents: the sum, up to rounding, of the contributions of the
    /// terms, of `length` and of `background`.
    pub scores: Vec<f64>,
}

/// The number of instances, from the first, from which [`RankerInstanceVerdict::typical_margin`] is
/// computed.
const TYPICAL: usize = 2000;

impl Study {
    /// Returns one instance with all its details.
    pub fn instance_details(
        &self,
        probe: Probe,
        mode: AxiomVariant,
        number: u64,
        delta_score: Option<f64>,
    ) -> Result<InstanceDetails, Error> {
        let instances = self.instances_of_probe(probe, mode)?;
        let at = place(instances, number)?;
        let query = instances.query_of_instance(at);
        let claim = instances.claim_at(at);
        let numbers = claim.docs_in_claim_order();
        let bodies: Vec<String> = numbers.iter().map(|&it| self.study_doc_text(it)).collect();
        let read = InstanceLexicalAnalysis::new(
            &self.definition.analyzer,
            &self.queries[query].text,
            &bodies,
            &self.terms,
            self.word_vectors.as_ref().map(|it| &it.vectors),
        );
        let texts = numbers
            .iter()
            .zip(&read.features)
            .zip(read.highlighted_documents());
        let texts = texts.map(|((&text, counted), body)| InstanceDocument {
            id: self.study_doc_id(text),
            title: self.source_title(text).to_owned(),
            text: self.with_title_length(text, body),
            n_terms: counted.n_terms,
            term_counts: counted.term_counts.clone(),
            term_distance: counted.min_query_term_distance(),
            grade: self.relevance_grade(query, text),
            query_similarity: None,
            linguistic_spans: Vec::new(),
        });
        let mut texts: Vec<InstanceDocument> = texts.collect();
        let compares = probe.needs_word_vectors() && !probe.adds_docs_to_collection();
        let words = self.word_vectors.as_ref().filter(|_| compares);
        for (at, text) in texts.iter_mut().enumerate() {
            text.query_similarity = words.and_then(|it| {
                read.query_similarity_of_other_words(&self.definition.analyzer, &it.vectors, at)
            });
        }
        // The second document of a manipulation is the original.
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
            Some(read.term_score_contributions(&ranker, &self.totals))
        });
        let mut shown = InstanceDetails {
            study_title: self.definition.title.clone(),
            has_withheld_texts: false,
            number,
            probe,
            variant: mode,
            query_id: self.queries[query].id.clone(),
            query: read.highlighted_query(),
            terms: read.query_term_infos(),
            docs: texts,
            claim: instances.claim.build_score_claim(&places),
            preconditions: probe.measure_preconditions(
                mode,
                &read.query_pool_features(&self.definition.limits, self.totals, &read.features),
            ),
            verdicts: self
                .scores
                .iter()
                .map(|it| {
                    let width = delta_score.unwrap_or(it.ranker.kind.default_tie_threshold());
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

    /// Returns only the texts of an instance, which is much faster than all its details.
    pub fn instance_texts(
        &self,
        probe: Probe,
        mode: AxiomVariant,
        number: u64,
    ) -> Result<InstanceTexts, Error> {
        let instances = self.instances_of_probe(probe, mode)?;
        let at = place(instances, number)?;
        let (query, numbers) = (
            instances.query_of_instance(at),
            instances.claim_at(at).docs_in_claim_order(),
        );
        let bodies: Vec<String> = numbers.iter().map(|&it| self.study_doc_text(it)).collect();
        let analyzer = &self.definition.analyzer;
        let read = InstanceLexicalAnalysis::new(
            analyzer,
            &self.queries[query].text,
            &bodies,
            &self.terms,
            None,
        );
        Ok(InstanceTexts {
            query: read.highlighted_query(),
            terms: read.query_term_infos(),
            docs: numbers
                .iter()
                .zip(read.highlighted_documents())
                .map(|(&text, body)| self.with_title_length(text, body))
                .collect(),
            has_withheld_texts: self.is_withheld(probe),
        })
    }

    fn source_title(&self, doc: StudyDocNo) -> &str {
        let source = self.study_docs[doc as usize].source_doc();
        self.docs[source as usize].title().trim()
    }

    /// Marks the title of a document.
    fn with_title_length(&self, doc: StudyDocNo, text: HighlightedText) -> HighlightedText {
        HighlightedText {
            title_length: self.title_length(doc, &text.text),
            ..text
        }
    }

    /// Returns the number of bytes of the title with which the text of a document begins; 0
    /// without a title, and for a derived document that does not begin with it.
    pub(super) fn title_length(&self, doc: StudyDocNo, text: &str) -> u32 {
        let rest = text.strip_prefix(self.source_title(doc));
        let rest = rest.filter(|it| it.starts_with(char::is_whitespace));
        rest.map_or(0, |it| (text.len() - it.len()) as u32)
    }

    fn is_withheld(&self, probe: Probe) -> bool {
        let withheld = self.withheld_texts.as_ref();
        withheld.is_some_and(|it| !it.is_restored || probe.adds_docs_to_collection())
    }

    /// Returns the median absolute margin of a ranker on the first instances.
    pub(super) fn typical_margin(
        &self,
        scores: &RankerQueryDocumentScores,
        instances: &ProbeInstances,
    ) -> Option<f64> {
        // A tie has a margin as well, so that the threshold does not matter.
        let width = scores.ranker.kind.default_tie_threshold();
        let margin = |at: usize| {
            let (query, claim) = (instances.query_of_instance(at), instances.claim_at(at));
            let verdict = self.ranker_verdict_on_claim(scores, query, claim, width)?;
            Some(verdict.margin.abs())
        };
        let margins = (0..instances.len().min(TYPICAL)).filter_map(margin);
        median(&margins.collect::<Vec<f64>>())
    }

    fn said(
        &self,
        scores: &RankerQueryDocumentScores,
        instances: &ProbeInstances,
        at: usize,
        tie_width: f64,
    ) -> RankerInstanceVerdict {
        let (query, claim) = (instances.query_of_instance(at), instances.claim_at(at));
        let score = |text| {
            self.pairs
                .position_of_pair(query, text)
                .and_then(|at| scores.score_at_position(at))
        };
        RankerInstanceVerdict {
            ranker: scores.ranker.clone(),
            scores: claim.docs_in_claim_order().into_iter().map(score).collect(),
            truncated: claim
                .docs_in_claim_order()
                .into_iter()
                .map(|it| self.is_doc_truncated_by_ranker(scores, query, it))
                .collect(),
            verdict: self.ranker_verdict_on_claim(scores, query, claim, tie_width),
            typical_margin: self.typical_margin(scores, instances),
        }
    }
}

/// Returns the position of the instance with a number.
fn place(instances: &ProbeInstances, number: u64) -> Result<usize, Error> {
    let at = usize::try_from(number).ok();
    at.filter(|&it| it < instances.len()).ok_or_else(|| {
        let (probe, n) = (instances.probe.slug(), instances.len());
        Error::index_not_found(format!("instance of {probe}"), number, n)
    })
}

fn tagged(manipulation: Manipulation, text: &str) -> Vec<LinguisticSpans> {
    let units = manipulation.linguistic_units();
    if units.is_empty() {
        return Vec::new();
    }
    let analysis = tag_words_and_noun_phrases(text);
    let of = |&unit: &LinguisticUnit| LinguisticSpans {
        unit,
        spans: analysis.unit_byte_ranges(unit),
    };
    units.iter().map(of).collect()
}
