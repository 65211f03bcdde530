//! Answers about a study that is held, as the server gives them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::api::review::{Results, TaskResults, Try};
use shared::api::study_request::StudyRequest;
use shared::api::worker::{Manipulate, Printed};
use shared::api::{
    Behave, CreateJob, Differ, DifferQueries, DifferQuery, Draw, Endpoint, Export, Inside,
    InsideQuery, JobScores, List, Look, Problem, Replay, Show, Statistics,
};
use shared::collection::text_hash;
use shared::collection::trec::BroughtScores;
use shared::differ::{Asking, Source, Who, differ, listing, sample};
use shared::error::Error;
use shared::probe::TextNo;
use shared::score::{RankerAbout, RankerKind, Scores};
use shared::study::{Study, bench};
use shared::whitebox::WhiteBox;

/// The study that a request is about.
pub(crate) fn study_of(request: &str) -> Result<String, Problem> {
    #[derive(serde::Deserialize)]
    struct About {
        study: String,
    }
    parse::<About>(request).map(|it| it.study)
}

/// The reply to a request, as JSON.
pub(crate) fn answer(study: &Study, path: &str, request: &str) -> Result<String, Problem> {
    match path {
        Look::PATH => respond::<Look>(study, request),
        Draw::PATH => respond::<Draw>(study, request),
        Behave::PATH => respond::<Behave>(study, request),
        // What was looked into lies with the server.
        Inside::PATH => Ok(json(&Vec::<WhiteBox>::new())),
        InsideQuery::PATH => respond::<InsideQuery>(study, request),
        Differ::PATH => respond::<Differ>(study, request),
        DifferQueries::PATH => respond::<DifferQueries>(study, request),
        DifferQuery::PATH => respond::<DifferQuery>(study, request),
        Replay::PATH => respond::<Replay>(study, request),
        // What people said lies with the server.
        Results::PATH => Ok(json(&Vec::<TaskResults>::new())),
        Try::PATH => respond::<Try>(study, request),
        List::PATH => respond::<List>(study, request),
        Show::PATH => respond::<Show>(study, request),
        Export::PATH => Ok(export(study)),
        Statistics::PATH => respond::<Statistics>(study, request),
        other => {
            let error = format!("{other} needs a server; run `axioscope serve` to have it");
            Err(Problem::new(error, "no-server"))
        }
    }
}

fn respond<R: StudyRequest>(study: &Study, request: &str) -> Result<String, Problem> {
    let request: R = parse(request)?;
    Ok(json(&request.respond(study).map_err(refused)?))
}

/// The two runs that a request compares, if it compares runs.
pub(crate) fn runs_of(path: &str, request: &str) -> Result<Option<[String; 2]>, Problem> {
    #[derive(serde::Deserialize)]
    struct About {
        #[serde(default)]
        asking: Asking,
    }
    if ![Differ::PATH, DifferQueries::PATH, DifferQuery::PATH].contains(&path) {
        return Ok(None);
    }
    Ok(match parse::<About>(request)?.asking.pair {
        [Who::Run(first), Who::Run(second)] => Some([first, second]),
        _ => None,
    })
}

/// The reply to a request that compares two runs, as JSON.
pub(crate) fn of_runs(source: &Source<'_>, path: &str, request: &str) -> Result<String, Problem> {
    match path {
        DifferQueries::PATH => {
            let asked: DifferQueries = parse(request)?;
            let page = listing::page(source, &asked.asking, &asked.listing);
            Ok(json(&page.map_err(refused)?))
        }
        DifferQuery::PATH => {
            let asked: DifferQuery = parse(request)?;
            let sample = sample::of_query(source, &asked.asking, &asked.query);
            Ok(json(&sample.map_err(refused)?))
        }
        _ => {
            let asked: Differ = parse(request)?;
            Ok(json(&differ(source, &asked.asking).map_err(refused)?))
        }
    }
}

/// The reply to [`Manipulate`], as JSON.
pub(crate) fn manipulated(request: &str) -> Result<String, Problem> {
    let Manipulate { changing } = parse(request)?;
    Ok(json(&bench::change(&changing).map_err(refused)?))
}

/// The reply to [`Printed`], as JSON.
pub(crate) fn printed(request: &str) -> Result<String, Problem> {
    let Printed { asked } = parse(request)?;
    Ok(json(&shared::replay::replay(asked, None).map_err(refused)?))
}

/// The whole study.
pub(crate) fn export(study: &Study) -> String {
    json(study)
}

/// The unique pairs, one JSON object a line: `query_id, text_id, query, text`.
pub(crate) fn pair_lines(study: &Study) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        query_id: &'a str,
        text_id: String,
        query: &'a str,
        text: String,
    }
    let mut lines = String::new();
    for (query, text) in study.pairs.iter() {
        let query = &study.queries[query];
        let (text_id, text) = (text_id(study, text), body(study, text));
        lines += &json(&Line {
            query_id: &query.id,
            text_id,
            query: &query.text,
            text,
        });
        lines.push('\n');
    }
    lines
}

/// The unique pairs as a job.
pub(crate) fn job(study: &Study, ranker: String, title: String) -> String {
    let Sent {
        queries,
        texts,
        pairs,
        places: _,
    } = sent(study);
    json(&CreateJob {
        ranker,
        title,
        queries,
        texts,
        pairs,
    })
}

/// What a job has scored, in the order of the study's pairs.
pub(crate) fn job_scores(study: &Study, text: &str) -> Result<Scores, Problem> {
    let JobScores {
        ranker,
        scores,
        truncated,
        certificate,
    } = parse(text)?;
    let Sent { pairs, places, .. } = sent(study);
    if scores.len() != pairs.len() {
        let error = format!("{} scores for {} pairs", scores.len(), pairs.len());
        return Err(Problem::new(error, "conflict"));
    }
    let values = places.iter().map(|&it| scores[it as usize]).collect();
    let cut: BTreeSet<u32> = truncated.into_iter().collect();
    let cut = places.iter().enumerate().filter(|it| cut.contains(it.1));
    let cut = cut.map(|it| it.0 as u32).collect();
    let mut scores = Scores::new(ranker, values, &study.pairs).map_err(refused)?;
    scores.truncated = cut;
    scores.certificate = certificate.map(|it| it.renumbered(&places));
    Ok(scores)
}

/// What somebody brought, in the order of the study's pairs.
pub(crate) fn brought_scores(
    study: &Study,
    name: &str,
    brought: &BroughtScores,
) -> Result<Scores, Problem> {
    let value = |(query, text): (usize, TextNo)| {
        brought
            .get(&study.queries[query].id)?
            .get(&text_id(study, text))
            .copied()
    };
    let values: Vec<Option<f64>> = study.pairs.iter().map(value).collect();
    if values.iter().all(Option::is_none) {
        let error = format!(
            "{name}: no row names a pair of this study; a row is `qid docid score`, with the ids \
             of the pairs that can be downloaded here"
        );
        return Err(Problem::new(error, "setting"));
    }
    let missing = values.iter().filter(|it| it.is_none()).count();
    let ranker = RankerAbout {
        spec: format!("scores:{name}"),
        label: name.to_owned(),
        detail: "scores from a file".to_owned(),
        kind: RankerKind::File,
        fingerprint: text_hash(&json(brought)),
        note: (missing > 0).then(|| format!("{missing} of {} pairs have no score", values.len())),
    };
    Scores::new(ranker, values, &study.pairs).map_err(refused)
}

/// What goes to a server: every query, text and pair once, by its characters.
struct Sent {
    queries: Vec<String>,
    texts: Vec<String>,
    pairs: Vec<(u32, u32)>,
    /// For each pair of the study its place in `pairs`.
    places: Vec<u32>,
}

fn sent(study: &Study) -> Sent {
    let mut queries = Numbered::default();
    let mut texts = Numbered::default();
    let mut pairs = Numbered::default();
    let mut text_numbers: BTreeMap<TextNo, u32> = BTreeMap::new();
    let mut places = Vec::with_capacity(study.pairs.len());
    for (query, text) in study.pairs.iter() {
        let query = queries.number(study.queries[query].text.clone());
        let of = text_numbers.entry(text);
        let text = *of.or_insert_with(|| texts.number(body(study, text)));
        places.push(pairs.number((query, text)));
    }
    Sent {
        queries: queries.list(),
        texts: texts.list(),
        pairs: pairs.list(),
        places,
    }
}

/// Things in the order in which they were first seen.
struct Numbered<T>(BTreeMap<T, u32>);

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered(BTreeMap::new())
    }
}

impl<T: Ord> Numbered<T> {
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

fn text_id(study: &Study, text: TextNo) -> String {
    let text = study.texts[text as usize];
    text.id(&study.docs[text.doc() as usize].id)
}

fn body(study: &Study, text: TextNo) -> String {
    let text = study.texts[text as usize];
    text.body(&study.docs[text.doc() as usize].body())
}

/// As the server would say it.
pub(crate) fn refused(error: Error) -> Problem {
    let error_type = match &error {
        Error::File { .. } | Error::Line { .. } => "input",
        Error::Invalid { .. } => "setting",
        Error::Unknown { .. } => "unknown",
    };
    Problem {
        field: error.field().map(str::to_owned),
        ..Problem::new(error.to_string(), error_type)
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|it| {
        let error = format!("not understood, {it}: load the page again");
        Problem::new(error, "worker")
    })
}

fn json(it: &impl Serialize) -> String {
    serde_json::to_string(it).expect("what travels has only text keys")
}
