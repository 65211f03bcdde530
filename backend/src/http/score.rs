//! Scoring of a few documents for the Playground, and what all requests to models share: limits,
//! the queue and scoring in batches.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use shared::api::people::AccessRole;
use shared::api::study_request::StudyRequest;
use shared::api::{
    AttentionResponse, GetAttentionRequest, GetInstanceRequest, GetReadingEndsRequest,
    ReadingEndsResponse, ScoreDocumentsRequest, ScoreDocumentsResponse,
};
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::limits::ScoringSlot;
use crate::http::studies;
use crate::models::{
    NeuralRanker, ScoreDetailLevel, ScoredDocuments, ScoringInputWithLimits,
    ScoringRequestInProgress,
};

/// Maximum sizes of a scoring request.
pub(super) struct ScoringLimits {
    pub(super) texts: u64,
    characters_of_query: u64,
    characters_of_text: u64,
    /// Tokens to encode; those of the query count once for each passage.
    pub(super) tokens: u64,
}

/// Maximum number of tokens for visitors: a few seconds on two cores. English texts within the
/// other limits have fewer tokens, in passages of the usual length.
const VISITOR_TOKENS: u64 = 16_384;

/// Maximum number of tokens for operators: some minutes on two cores. Larger requests should be
/// jobs.
const OPERATOR_TOKENS: u64 = 4_194_304;

impl ScoringLimits {
    pub(super) fn for_caller(caller: &Caller) -> ScoringLimits {
        match caller.has_role(AccessRole::Operator) {
            false => ScoringLimits {
                texts: 8,
                characters_of_query: 500,
                characters_of_text: 4_000,
                tokens: VISITOR_TOKENS,
            },
            true => ScoringLimits {
                texts: 256,
                characters_of_query: 10_000,
                characters_of_text: 100_000,
                tokens: OPERATOR_TOKENS,
            },
        }
    }

    /// Returns the limits of a reranking request, which is computed batch by batch.
    pub(super) fn for_ranking(caller: &Caller) -> ScoringLimits {
        match caller.has_role(AccessRole::Operator) {
            false => ScoringLimits::for_caller(caller),
            true => ScoringLimits {
                texts: 10_000,
                characters_of_query: 100_000,
                characters_of_text: 1_000_000,
                tokens: OPERATOR_TOKENS,
            },
        }
    }

    pub(super) fn check(&self, query: &str, texts: &[String]) -> Result<(), Error> {
        let at_most = |what, found, most| match found {
            _ if found > most => Err(Error::TooLarge { what, found, most }),
            _ => Ok(()),
        };
        let characters = |text: &str| text.chars().count() as u64;
        let longest = texts.iter().map(|it| characters(it)).max().unwrap_or(0);
        at_most("documents", texts.len() as u64, self.texts)?;
        at_most(
            "characters of a query",
            characters(query),
            self.characters_of_query,
        )?;
        at_most("characters of a text", longest, self.characters_of_text)?;
        if texts.is_empty() {
            return Err(InputError::missing_field(
                "documents",
                "there is none, so there is nothing to score",
            )
            .into());
        }
        Ok(())
    }
}

pub(super) async fn score(
    ApiRequest(app, caller, asked): ApiRequest<ScoreDocumentsRequest>,
) -> JsonResult<ScoreDocumentsResponse> {
    let bounds = ScoringLimits::for_caller(&caller);
    bounds.check(&asked.query, &asked.documents)?;
    let wanted = RequestedRanker {
        field: "model",
        spec: asked.model,
    };
    let request = ScoringInputWithLimits {
        query: asked.query,
        documents: asked.documents,
        max_document_tokens: None,
        max_passages: None,
        max_tokens: bounds.tokens,
        detail: ScoreDetailLevel::Matches,
        on_truncation: Box::new(|_| Ok(())),
    };
    let ScoredDocuments { ranker, scores, .. } =
        score_in_turns(&app, &caller, wanted, request).await?;
    Ok(Json(ScoreDocumentsResponse {
        ranker: ranker.about.clone(),
        scores: scores.iter().map(|it| it.score).collect(),
        truncated: scores.iter().map(|it| it.truncated).collect(),
        similarities: scores.into_iter().filter_map(|it| it.matches).collect(),
    }))
}

/// Returns the attention of a model on one pair, which always fits into one batch.
pub(super) async fn attention(
    ApiRequest(app, caller, asked): ApiRequest<GetAttentionRequest>,
) -> JsonResult<AttentionResponse> {
    ScoringLimits::for_caller(&caller)
        .check(&asked.query, std::slice::from_ref(&asked.document))?;
    let slot = app.limits.scoring(caller.scoring_asker())?;
    let wanted = RequestedRanker {
        field: "model",
        spec: asked.model.clone(),
    };
    let ranker = wanted.load(&app, &caller, &slot).await?;
    let turn = app.limits.scoring_turn().await;
    let found = slot.run("reading attention", move || {
        turn.run(|| ranker.attention_weights(&asked))
    });
    Ok(Json(found.await?))
}

/// Returns how far a ranker of a study read the documents of an instance.
pub(super) async fn reading_ends(
    ApiRequest(app, caller, asked): ApiRequest<GetReadingEndsRequest>,
) -> JsonResult<ReadingEndsResponse> {
    let listed = studies::find_study(&app, &caller, &asked.study).await?;
    let slot = app.limits.scoring(caller.scoring_asker())?;
    let instance = GetInstanceRequest {
        study: asked.study,
        probe: asked.probe,
        variant: asked.variant,
        number: asked.number,
        tie_threshold: None,
    };
    let name = asked.ranker;
    let details = app.studies.compute(&listed, move |study| {
        let row = study.parse_ranker_row_index(&name)?;
        Ok((study.scores[row].ranker.clone(), instance.respond(study)?))
    });
    let (scored_by, details) = details.await?;
    let wanted = RequestedRanker {
        field: "ranker",
        spec: scored_by.spec.clone(),
    };
    let ranker = wanted.load(&app, &caller, &slot).await?;
    if ranker.about.fingerprint != scored_by.fingerprint {
        let reason = "is another version of the model than the one that scored the study";
        let field = ErrorFieldName::with_display_name("ranker", &scored_by.spec);
        return Err(InputError::unsupported_value(field, reason).into());
    }
    let found = slot.run("reading documents", move || {
        // The title is a line of its own, which not every model reads.
        let starts = details.docs.iter().map(|it| match ranker.reads_titles() {
            true => 0,
            false => {
                let rest = it.text.text.get(it.text.title_length as usize..);
                it.text.text.len() - rest.map_or(0, |it| it.trim_start().len())
            }
        });
        let starts: Vec<usize> = starts.collect();
        let documents = details.docs.iter().zip(&starts);
        let documents: Vec<&str> = documents.map(|(it, &at)| &it.text.text[at..]).collect();
        let read = ranker.n_bytes_read(&details.query.text, &documents)?;
        let read = read.into_iter().zip(starts);
        let n_bytes_read = read.map(|(n, at)| n.map(|it| it + at as u32)).collect();
        Ok(ReadingEndsResponse { n_bytes_read })
    });
    Ok(Json(found.await?))
}

/// The model that a request names.
pub(super) struct RequestedRanker {
    /// The field of the request with the name, for error messages.
    pub(super) field: &'static str,
    pub(super) spec: String,
}

impl RequestedRanker {
    /// Loads the model. Returns an error if a visitor chooses another passage length than the usual
    /// one, or another number of generated queries, since a few texts could then have any number of
    /// tokens to read.
    async fn load(
        self,
        app: &AppState,
        caller: &Caller,
        slot: &ScoringSlot,
    ) -> Result<Arc<NeuralRanker>, Error> {
        let RequestedRanker { field, spec } = self;
        let models = app.models.clone();
        let load = move || models.get_or_load_ranker(&spec);
        let ranker = slot.run("loading a model", load).await?;
        match ranker.spec_with_default_settings() {
            Some(usual) if !caller.has_role(AccessRole::Operator) => {
                let reason = format!(
                    "only operators choose the length of passages and the number of generated \
                     queries; take `{usual}`, or send the operator's token"
                );
                let field = ErrorFieldName::with_display_name(field, &ranker.about.spec);
                Err(InputError::unsupported_value(field, reason).into())
            }
            Some(_) | None => Ok(ranker),
        }
    }
}

/// Scores documents batch by batch, each batch when it has the permit. The remaining batches are
/// not computed if the client disconnects or the request times out.
pub(super) async fn score_in_turns(
    app: &AppState,
    caller: &Caller,
    wanted: RequestedRanker,
    request: ScoringInputWithLimits,
) -> Result<ScoredDocuments, Error> {
    let slot = app.limits.scoring(caller.scoring_asker())?;
    let since = Instant::now();
    let mut leaving = DisconnectCounter { answered: false };
    let scored = take_turns(app, caller, &slot, wanted, request).await;
    leaving.answered = true;
    let scored = scored?;
    metrics::histogram!("axioscope_ranking_duration_seconds").record(since.elapsed().as_secs_f64());
    metrics::counter!("axioscope_pairs_scored_total").increment(scored.scores.len() as u64);
    Ok(scored)
}

async fn take_turns(
    app: &AppState,
    caller: &Caller,
    slot: &ScoringSlot,
    wanted: RequestedRanker,
    request: ScoringInputWithLimits,
) -> Result<ScoredDocuments, Error> {
    let ranker = wanted.load(app, caller, slot).await?;
    let begin = move || ScoringRequestInProgress::check_request_and_start(ranker, request);
    let mut work = slot.run("reading a query", begin).await?;
    while !work.is_done() {
        let turn = app.limits.scoring_turn().await;
        let step = move || turn.run(|| work.run_next_step().map(|()| work));
        work = slot.run("scoring texts", step).await?;
        metrics::counter!("axioscope_ranking_batches_total").increment(1);
    }
    work.into_scored_documents()
}

/// Counts clients that disconnect before the reply: the handler, and this value with it, is then
/// dropped.
struct DisconnectCounter {
    answered: bool,
}

impl Drop for DisconnectCounter {
    fn drop(&mut self) {
        if !self.answered {
            metrics::counter!("axioscope_rankings_left_total").increment(1);
        }
    }
}
