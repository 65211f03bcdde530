//! Reranking for other programs, in the formats of text-embeddings-inference and Cohere.
//!
//! Requests are scored in batches, see `score.rs`.

use axum::Json;
use shared::api::rerank::{
    CohereApiVersion, CohereBilledUnits, CohereRerankMeta, CohereRerankRequest,
    CohereRerankResponse, CohereRerankResult, CohereRerankTokenUsage, CohereResultDocument,
    RankedText, RerankRequest, RerankResponse, TruncationDirection,
};
use shared::collection::encode_hex;
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::score::{RequestedRanker, ScoringLimits, score_in_turns};
use crate::models::{
    PairScoreWithMatches, ScoreDetailLevel, ScoreScale, ScoredDocuments, ScoringInputWithLimits,
    TruncatedInput,
};

/// Handles `/rerank`: ranks a list of texts (text-embeddings-inference) or documents (Cohere).
pub(super) async fn rerank(
    ApiRequest(app, caller, asked): ApiRequest<RerankRequest>,
) -> JsonResult<RerankResponse> {
    let cut = TruncationPolicy::of(asked.truncate, asked.truncation_direction);
    let (texts, documents) = (asked.texts, asked.documents);
    let mut asked = CohereRerankRequest {
        query: asked.query,
        documents: Vec::new(),
        model: asked.model,
        top_n: asked.top_n,
        // The two formats have different names for this option.
        return_documents: asked.return_text.or(asked.return_documents),
        raw_scores: asked.raw_scores,
        use_activation: asked.use_activation,
        max_tokens_per_doc: asked.max_tokens_per_doc,
        max_chunks_per_doc: asked.max_chunks_per_doc,
        rank_fields: asked.rank_fields,
    };
    let ranking = match (texts, documents) {
        (Some(texts), None) => {
            if asked.rank_fields.is_some() {
                let reason = "goes with `documents`; `texts` have no fields";
                return Err(InputError::conflicting_value("rank_fields", reason).into());
            }
            let wanted = RerankOptions::of(&asked, cut)?;
            let back = ReturnTexts::of(asked.return_documents);
            let ranked = rank(&app, &caller, wanted, asked.query, texts).await?;
            RerankResponse::Texts(ranked.texts(most(asked.top_n), back))
        }
        (None, Some(documents)) => {
            asked.documents = documents;
            let call = ApiRequest(app, caller, asked);
            let ranked = rank_documents(call, RerankApiVersion::First, cut).await?;
            RerankResponse::Documents(ranked.0)
        }
        (Some(_), Some(_)) | (None, None) => {
            let reason = "give either `texts` or `documents`";
            return Err(InputError::conflicting_value(
                ErrorFieldName::with_display_name("texts", "rerank"),
                reason,
            )
            .into());
        }
    };
    Ok(Json(ranking))
}

/// Handles `/v1/rerank`: ranks documents for a query and replies in the format of Cohere's API v1.
pub(super) async fn rerank_v1(
    call: ApiRequest<CohereRerankRequest>,
) -> JsonResult<CohereRerankResponse> {
    rank_documents(call, RerankApiVersion::First, TruncationPolicy::End).await
}

/// Handles `/v2/rerank`: ranks documents for a query and replies in the format of Cohere's API v2.
pub(super) async fn rerank_v2(
    call: ApiRequest<CohereRerankRequest>,
) -> JsonResult<CohereRerankResponse> {
    rank_documents(call, RerankApiVersion::Second, TruncationPolicy::End).await
}

/// The version of Cohere's API in the reply.
#[derive(Clone, Copy)]
enum RerankApiVersion {
    First,
    Second,
}

async fn rank_documents(
    ApiRequest(app, caller, asked): ApiRequest<CohereRerankRequest>,
    version: RerankApiVersion,
    cut: TruncationPolicy,
) -> JsonResult<CohereRerankResponse> {
    let wanted = RerankOptions::of(&asked, cut)?;
    let fields = asked.rank_fields.unwrap_or_default();
    let texts = asked.documents.into_iter().enumerate();
    let texts = texts.map(|(place, it)| it.into_text(place, &fields));
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    let ranked = rank(&app, &caller, wanted, asked.query, texts).await?;
    Ok(Json(ranked.documents(
        most(asked.top_n),
        ReturnTexts::of(asked.return_documents),
        version,
    )))
}

/// Returns the number of results to return; 0 or no value means all.
fn most(top_n: Option<u64>) -> usize {
    let most = top_n.filter(|&it| it > 0);
    most.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

/// The options of a request besides the query and the documents.
struct RerankOptions {
    model: Option<String>,
    numbers: ScoreKind,
    cut: TruncationPolicy,
    max_text_tokens: Option<usize>,
    max_passages: Option<usize>,
}

impl RerankOptions {
    fn of(asked: &CohereRerankRequest, cut: TruncationPolicy) -> Result<RerankOptions, Error> {
        Ok(RerankOptions {
            model: asked.model.clone(),
            numbers: ScoreKind::of(asked.raw_scores, asked.use_activation),
            cut,
            max_text_tokens: at_least_one("max_tokens_per_doc", asked.max_tokens_per_doc)?,
            max_passages: at_least_one("max_chunks_per_doc", asked.max_chunks_per_doc)?,
        })
    }
}

/// Parses a limit on what is read of a document; an error if it is 0, as in Cohere's API.
fn at_least_one(field: &str, asked: Option<u64>) -> Result<Option<usize>, Error> {
    if asked == Some(0) {
        let reason = "is 0; it is at least 1, or left out";
        return Err(InputError::out_of_range(field, reason).into());
    }
    Ok(asked.map(|it| usize::try_from(it).unwrap_or(usize::MAX)))
}

/// Which scores are returned: those of the model, or values from 0 to 1.
#[derive(Clone, Copy)]
enum ScoreKind {
    Raw,
    Unit,
}

impl ScoreKind {
    fn of(raw_scores: Option<bool>, use_activation: Option<bool>) -> ScoreKind {
        match (raw_scores, use_activation) {
            (Some(true), _) | (_, Some(false)) => ScoreKind::Raw,
            (Some(false) | None, Some(true) | None) => ScoreKind::Unit,
        }
    }
}

/// Whether the texts of the documents are returned.
#[derive(Clone, Copy)]
enum ReturnTexts {
    Given,
    Kept,
}

impl ReturnTexts {
    fn of(asked: Option<bool>) -> ReturnTexts {
        match asked {
            Some(true) => ReturnTexts::Given,
            Some(false) | None => ReturnTexts::Kept,
        }
    }

    fn text(self, text: &mut String) -> Option<String> {
        match self {
            ReturnTexts::Given => Some(std::mem::take(text)),
            ReturnTexts::Kept => None,
        }
    }
}

/// What to do with texts that are longer than the model's input.
#[derive(Clone, Copy)]
enum TruncationPolicy {
    /// Truncate the end of the text.
    End,
    /// Reject the request.
    Nothing,
    /// Truncate the beginning. No model here supports it, so the request is rejected.
    Beginning,
}

impl TruncationPolicy {
    fn of(truncate: Option<bool>, direction: Option<TruncationDirection>) -> TruncationPolicy {
        match (truncate, direction) {
            (Some(false), _) => TruncationPolicy::Nothing,
            (Some(true) | None, Some(TruncationDirection::Left)) => TruncationPolicy::Beginning,
            (Some(true) | None, Some(TruncationDirection::Right) | None) => TruncationPolicy::End,
        }
    }

    /// Returns an error unless the policy allows to truncate the end of an input.
    fn check(self, too_long: TruncatedInput) -> Result<(), Error> {
        let reason = match self {
            TruncationPolicy::End => return Ok(()),
            TruncationPolicy::Nothing => "send `truncate`: true to have their ends left out",
            TruncationPolicy::Beginning => {
                "and only their ends can be left out: send `truncation_direction`: \
                               \"right\""
            }
        };
        let what = match too_long {
            TruncatedInput::Query => "the query".to_owned(),
            TruncatedInput::Document(place) => format!("the text at place {place}, from 0 on,"),
        };
        let reason = format!("{what} is longer than the model reads; {reason}");
        Err(InputError::out_of_range("truncate", reason).into())
    }
}

/// The documents of a request with their ranking.
struct RerankResult {
    model: String,
    texts: Vec<String>,
    /// Position of the document in the request and its score, best first.
    order: Vec<(usize, f64)>,
    n_cut: usize,
    n_tokens: u64,
}

impl RerankResult {
    fn texts(mut self, most: usize, back: ReturnTexts) -> Vec<RankedText> {
        let mut order = std::mem::take(&mut self.order);
        order.truncate(most);
        let ranked = order.into_iter().map(|(place, score)| RankedText {
            index: place as u64,
            score,
            text: back.text(&mut self.texts[place]),
        });
        ranked.collect()
    }

    fn documents(
        mut self,
        most: usize,
        back: ReturnTexts,
        version: RerankApiVersion,
    ) -> CohereRerankResponse {
        let mut id = [0; 16];
        getrandom::fill(&mut id).expect("the operating system gives random numbers");
        let mut order = std::mem::take(&mut self.order);
        order.truncate(most);
        let cut = (self.n_cut > 0).then(|| {
            let (n_cut, n) = (self.n_cut, self.texts.len());
            format!("{n_cut} of {n} documents are longer than the model reads and lost their ends")
        });
        let results = order.into_iter().map(|(place, score)| CohereRerankResult {
            index: place as u64,
            relevance_score: score,
            document: back
                .text(&mut self.texts[place])
                .map(|text| CohereResultDocument { text }),
        });
        CohereRerankResponse {
            id: encode_hex(&id),
            object: "rerank".to_owned(),
            results: results.collect(),
            model: self.model,
            usage: CohereRerankTokenUsage {
                prompt_tokens: self.n_tokens,
                total_tokens: self.n_tokens,
            },
            meta: CohereRerankMeta {
                api_version: CohereApiVersion {
                    version: match version {
                        RerankApiVersion::First => "1".to_owned(),
                        RerankApiVersion::Second => "2".to_owned(),
                    },
                },
                billed_units: CohereBilledUnits { search_units: 1 },
                warnings: cut.into_iter().collect(),
            },
        }
    }
}

/// Scores documents for a query with a model and ranks them.
async fn rank(
    app: &AppState,
    caller: &Caller,
    wanted: RerankOptions,
    query: String,
    texts: Vec<String>,
) -> Result<RerankResult, Error> {
    let bounds = ScoringLimits::for_ranking(caller);
    bounds.check(&query, &texts)?;
    let spec = match wanted.model {
        Some(spec) => spec,
        None => app.models.default_model_name()?,
    };
    let ranker = RequestedRanker {
        field: "model",
        spec,
    };
    let cut = wanted.cut;
    let request = ScoringInputWithLimits {
        query,
        documents: texts,
        max_document_tokens: wanted.max_text_tokens,
        max_passages: wanted.max_passages,
        max_tokens: bounds.tokens,
        detail: ScoreDetailLevel::Scores,
        // The request is rejected before the model computes anything.
        on_truncation: Box::new(move |it| cut.check(it)),
    };
    let ScoredDocuments {
        ranker,
        texts,
        scores,
        n_tokens,
    } = score_in_turns(app, caller, ranker, request).await?;
    let n_cut = scores.iter().filter(|it| it.truncated).count();
    let (scale, raw) = (ranker.score_scale(), wanted.numbers);
    Ok(RerankResult {
        model: ranker.about.spec.clone(),
        order: in_order(scores, |score| number(raw, scale, score)),
        texts,
        n_cut,
        n_tokens,
    })
}

fn number(wanted: ScoreKind, scale: ScoreScale, score: f64) -> f64 {
    match wanted {
        ScoreKind::Raw => score,
        ScoreKind::Unit => scale.to_unit_interval(score),
    }
}

/// Ranks by score, best first; ties keep the order of the request. Ranking comes before the
/// conversion of the scores, which can map different scores to the same value.
fn in_order(
    mut scores: Vec<PairScoreWithMatches>,
    number: impl Fn(f64) -> f64,
) -> Vec<(usize, f64)> {
    scores.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.pair.cmp(&b.pair)));
    let each = scores.into_iter();
    each.map(|it| (it.pair as usize, number(it.score)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_scores_also_where_numbers_are_equal() {
        let score = |(pair, score): (usize, f64)| PairScoreWithMatches {
            pair: pair as u32,
            score,
            truncated: false,
            matches: None,
        };
        let scores = [40.0, 50.0, -1.0, 50.0].into_iter().enumerate().map(score);
        let order = in_order(scores.collect(), |it| {
            ScoreScale::Logit.to_unit_interval(it)
        });
        let places: Vec<usize> = order.iter().map(|it| it.0).collect();
        assert_eq!(places, [1, 3, 0, 2]);
        assert_eq!(order[0].1, order[2].1, "1 in all of the digits");
    }

    #[test]
    fn what_is_left_out_is_cut_at_its_end() {
        use TruncationDirection::{Left, Right};
        let text = TruncatedInput::Document(1);
        let fine = |truncate, direction| {
            TruncationPolicy::of(truncate, direction)
                .check(text)
                .is_ok()
        };
        assert!(fine(None, None) && fine(Some(true), Some(Right)));
        assert!(!fine(Some(false), None) && !fine(None, Some(Left)));
    }
}
