//! Answers requests about a loaded study in the same way as the server.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::api::annotation::{AnnotationTaskResults, ListStudyHumanJudgmentsRequest};
use shared::api::study_request::{StudyRequestError, respond_to_study_request};
use shared::api::worker::{
    GetPublishedTableRequest, ManipulateTextRequest, NO_SERVER, NO_SERVER_MESSAGE,
    study_name_of_request,
};
use shared::api::{
    CompareRankersRequest, CreateScoringJobRequest, Endpoint, ErrorResponse, ExportStudyRequest,
    GetComparedQueryRequest, GetLateInteractionTopDocumentsRequest, JobScoresResponse,
    ListComparedQueriesRequest, ListLateInteractionAnalysesRequest,
};
use shared::collection::text_hash;
use shared::collection::trec::ImportedScores;
use shared::compare::{
    RankerComparisonInput, RankerComparisonOptions, RankerRef, compare_rankers, compared_query,
    query_list,
};
use shared::error::Error;
use shared::late_interaction::LateInteractionAnalysisWithRankerSlug;
use shared::probe::StudyDocNo;
use shared::score::slug::ranker_slugs;
use shared::score::{RankerInfo, RankerKind, RankerQueryDocumentScores, SCORE_FILE_PREFIX};
use shared::study::{Study, playground};

/// Returns the name of the study that a request is about.
pub(crate) fn require_study_name(request: &str) -> Result<String, ErrorResponse> {
    study_name_of_request(request).ok_or_else(|| unreadable_request("it names no study"))
}

/// Returns the reply to a request, as JSON.
pub(crate) fn answer_study_request(
    study: &Study,
    path: &str,
    request: &str,
) -> Result<String, ErrorResponse> {
    match path {
        // Only the server has late-interaction analyses.
        ListLateInteractionAnalysesRequest::PATH => {
            Ok(json(&Vec::<LateInteractionAnalysisWithRankerSlug>::new()))
        }
        // Only the server has human judgments.
        ListStudyHumanJudgmentsRequest::PATH => Ok(json(&Vec::<AnnotationTaskResults>::new())),
        ExportStudyRequest::PATH => Ok(study_to_json(study)),
        GetLateInteractionTopDocumentsRequest::PATH => {
            let asked: GetLateInteractionTopDocumentsRequest = parse(request)?;
            let rankers = study.scores.iter().map(|it| &it.ranker);
            let fingerprint = fingerprint_of_slug(rankers, &asked.ranker);
            let found = study.top_documents(asked.query, &fingerprint);
            Ok(json(&found.map_err(to_error_response)?))
        }
        _ => match respond_to_study_request(path, request, study) {
            Some(reply) => reply.map_err(|error| match error {
                StudyRequestError::Malformed(error) => unreadable_request(error),
                StudyRequestError::Failed(error) => to_error_response(error),
            }),
            None => Err(ErrorResponse::with_message_and_type(
                NO_SERVER_MESSAGE,
                NO_SERVER,
            )),
        },
    }
}

/// Returns the fingerprint of the ranker with a slug; empty if the study has no scores of it, so
/// that documents stay in the order of the pool.
pub(crate) fn fingerprint_of_slug<'a>(
    rankers: impl Iterator<Item = &'a RankerInfo> + Clone,
    slug: &str,
) -> String {
    let slugs = ranker_slugs(rankers.clone());
    let named = slugs.iter().zip(rankers).find(|it| it.0 == slug);
    named.map_or_else(String::new, |it| it.1.fingerprint.clone())
}

/// Returns the two runs that a request compares; none if it does not compare runs.
pub(crate) fn runs_compared_by_request(
    path: &str,
    request: &str,
) -> Result<Option<[String; 2]>, ErrorResponse> {
    #[derive(serde::Deserialize)]
    struct ComparedRankers {
        #[serde(default)]
        options: RankerComparisonOptions,
    }
    if ![
        CompareRankersRequest::PATH,
        ListComparedQueriesRequest::PATH,
        GetComparedQueryRequest::PATH,
    ]
    .contains(&path)
    {
        return Ok(None);
    }
    Ok(match parse::<ComparedRankers>(request)?.options.rankers {
        [RankerRef::Run(first), RankerRef::Run(second)] => Some([first, second]),
        _ => None,
    })
}

/// Returns the reply to a request that compares two runs, as JSON.
pub(crate) fn answer_run_comparison(
    source: &RankerComparisonInput<'_>,
    path: &str,
    request: &str,
) -> Result<String, ErrorResponse> {
    match path {
        ListComparedQueriesRequest::PATH => {
            let asked: ListComparedQueriesRequest = parse(request)?;
            let page = query_list::list_compared_queries_page(source, &asked.options, &asked.page);
            Ok(json(&page.map_err(to_error_response)?))
        }
        GetComparedQueryRequest::PATH => {
            let asked: GetComparedQueryRequest = parse(request)?;
            let sample =
                compared_query::compare_rankers_on_query(source, &asked.options, &asked.query_id);
            Ok(json(&sample.map_err(to_error_response)?))
        }
        _ => {
            let asked: CompareRankersRequest = parse(request)?;
            Ok(json(
                &compare_rankers(source, &asked.options).map_err(to_error_response)?,
            ))
        }
    }
}

/// Returns the reply to [`ManipulateTextRequest`], as JSON.
pub(crate) fn answer_manipulation_request(request: &str) -> Result<String, ErrorResponse> {
    let ManipulateTextRequest {
        manipulation: changing,
    } = parse(request)?;
    Ok(json(
        &playground::apply_each_manipulation_separately(&changing).map_err(to_error_response)?,
    ))
}

/// Returns the reply to [`GetPublishedTableRequest`], as JSON.
pub(crate) fn answer_published_table_request(request: &str) -> Result<String, ErrorResponse> {
    let GetPublishedTableRequest { table: asked } = parse(request)?;
    Ok(json(
        &shared::reproduce::reproduce_table_from_study(asked, None).map_err(to_error_response)?,
    ))
}

/// Serializes the whole study as JSON for export.
pub(crate) fn study_to_json(study: &Study) -> String {
    json(study)
}

/// Returns the unique pairs, one JSON object per line: `query_id, text_id, query, text`.
pub(crate) fn pairs_to_json_lines(study: &Study) -> String {
    #[derive(Serialize)]
    struct PairLine<'a> {
        query_id: &'a str,
        text_id: String,
        query: &'a str,
        text: String,
    }
    let mut lines = String::new();
    for (query, text) in study.pairs.iter() {
        let query = &study.queries[query];
        let (text_id, text) = (text_id(study, text), document_text(study, text));
        lines += &json(&PairLine {
            query_id: &query.id,
            text_id,
            query: &query.text,
            text,
        });
        lines.push('\n');
    }
    lines
}

/// Returns the request that creates a job for the unique pairs, as JSON.
pub(crate) fn scoring_job_request(study: &Study, ranker: String, title: String) -> String {
    let PairExport {
        queries,
        texts,
        pairs,
        places: _,
    } = unique_pairs(study);
    json(&CreateScoringJobRequest {
        model: ranker,
        title,
        queries,
        documents: texts,
        pairs,
    })
}

/// Parses the scores of a job and puts them in the order of the study's pairs.
pub(crate) fn parse_job_scores(
    study: &Study,
    text: &str,
) -> Result<RankerQueryDocumentScores, ErrorResponse> {
    let JobScoresResponse {
        ranker,
        scores,
        truncated,
        rescoring: certificate,
    } = parse(text)?;
    let PairExport { pairs, places, .. } = unique_pairs(study);
    if scores.len() != pairs.len() {
        let error = format!(
            "The server returned {} scores for {} pairs. Score the study again.",
            scores.len(),
            pairs.len()
        );
        return Err(ErrorResponse::with_message_and_type(error, "conflict"));
    }
    let values = places.iter().map(|&it| scores[it as usize]).collect();
    let cut: BTreeSet<u32> = truncated.into_iter().collect();
    let cut = places.iter().enumerate().filter(|it| cut.contains(it.1));
    let cut = cut.map(|it| it.0 as u32).collect();
    let mut scores =
        RankerQueryDocumentScores::new(ranker, values, &study.pairs).map_err(to_error_response)?;
    scores.truncated = cut;
    scores.rescoring = certificate.map(|it| it.with_renumbered_pairs(&places));
    Ok(scores)
}

/// Returns uploaded scores in the order of the study's pairs.
pub(crate) fn uploaded_scores_in_pair_order(
    study: &Study,
    name: &str,
    brought: &ImportedScores,
) -> Result<RankerQueryDocumentScores, ErrorResponse> {
    let value = |(query, text): (usize, StudyDocNo)| {
        brought
            .get(&study.queries[query].id)?
            .get(&text_id(study, text))
            .copied()
    };
    let values: Vec<Option<f64>> = study.pairs.iter().map(value).collect();
    if values.iter().all(Option::is_none) {
        let error = format!(
            "{name}: no row matches a pair of this study. Expected rows `qid docid score`, with \
             the ids of the downloaded pairs."
        );
        return Err(ErrorResponse::with_message_and_type(error, "setting"));
    }
    let missing = values.iter().filter(|it| it.is_none()).count();
    let ranker = RankerInfo {
        spec: format!("{SCORE_FILE_PREFIX}{name}"),
        label: name.to_owned(),
        detail: "scores from a file".to_owned(),
        kind: RankerKind::ScoreFile,
        fingerprint: text_hash(&json(brought)),
        note: (missing > 0).then(|| format!("{missing} of {} pairs have no score", values.len())),
    };
    RankerQueryDocumentScores::new(ranker, values, &study.pairs).map_err(to_error_response)
}

/// The pairs that are sent to a server. Every distinct query, text and pair occurs once.
struct PairExport {
    queries: Vec<String>,
    texts: Vec<String>,
    pairs: Vec<(u32, u32)>,
    /// The index in `pairs` for each pair of the study.
    places: Vec<u32>,
}

fn unique_pairs(study: &Study) -> PairExport {
    let mut queries = IdNumbering::default();
    let mut texts = IdNumbering::default();
    let mut pairs = IdNumbering::default();
    let mut text_numbers: BTreeMap<StudyDocNo, u32> = BTreeMap::new();
    let mut places = Vec::with_capacity(study.pairs.len());
    for (query, text) in study.pairs.iter() {
        let query = queries.number(study.queries[query].text.clone());
        let of = text_numbers.entry(text);
        let text = *of.or_insert_with(|| texts.number(document_text(study, text)));
        places.push(pairs.number((query, text)));
    }
    PairExport {
        queries: queries.list(),
        texts: texts.list(),
        pairs: pairs.list(),
        places,
    }
}

/// Numbers values in the order in which they are first seen.
struct IdNumbering<T>(BTreeMap<T, u32>);

impl<T> Default for IdNumbering<T> {
    fn default() -> IdNumbering<T> {
        IdNumbering(BTreeMap::new())
    }
}

impl<T: Ord> IdNumbering<T> {
    fn number(&mut self, it: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(it).or_insert(next)
    }

    fn list(self) -> Vec<T> {
        let mut list: Vec<(T, u32)> = self.0.into_iter().collect();
        list.sort_unstable_by_key(|it| it.1);
        list.into_iter().map(|it| it.0).collect()
    }
}

fn text_id(study: &Study, text: StudyDocNo) -> String {
    let text = study.study_docs[text as usize];
    text.id(study.docs[text.source_doc() as usize].id())
}

fn document_text(study: &Study, text: StudyDocNo) -> String {
    let text = study.study_docs[text as usize];
    text.text_to_score(study.docs[text.source_doc() as usize].text_with_title())
}

/// Converts an error to the response that the server would give.
pub(crate) fn to_error_response(error: Error) -> ErrorResponse {
    let error_type = match &error {
        Error::File { .. } | Error::Line { .. } => "input",
        Error::Invalid { .. } => "setting",
        Error::NotFound { .. } | Error::UnknownName { .. } | Error::IndexNotFound { .. } => {
            "unknown"
        }
    };
    ErrorResponse {
        field: error.field_name().map(str::to_owned),
        ..ErrorResponse::with_message_and_type(error.to_string(), error_type)
    }
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ErrorResponse> {
    serde_json::from_str(text).map_err(unreadable_request)
}

/// Returns the error of a request that is not what the worker expects.
fn unreadable_request(reason: impl std::fmt::Display) -> ErrorResponse {
    let error = format!("The request could not be read ({reason}). Reload the page.");
    ErrorResponse::with_message_and_type(error, "worker")
}

pub(crate) fn json(it: &impl Serialize) -> String {
    serde_json::to_string(it).expect("the reply has only string keys")
}
