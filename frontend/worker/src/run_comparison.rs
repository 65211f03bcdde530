//! Compares two uploaded runs over the uploaded documents, queries and qrels.

use std::borrow::Cow;
use std::collections::BTreeMap;

use shared::api::ErrorResponse;
use shared::api::worker::LOCAL_STUDY;
use shared::collection::{Document, Qrels, Query, Run, text_hash};
use shared::compare::{ComparisonInput, describe_run, run_option};
use shared::text::Tokenizer;

use crate::file::FileContent;
use crate::state::{WorkerState, require_unique_ids};

/// Returns the input of a comparison of two runs, by the names of their files.
pub(crate) fn compare_runs<'a>(
    bench: &'a WorkerState,
    files: &[String; 2],
) -> Result<ComparisonInput<'a>, ErrorResponse> {
    let both = [find_run(bench, &files[0])?, find_run(bench, &files[1])?];
    let mut docs: Vec<&Document> = Vec::new();
    let mut queries: Vec<&Query> = Vec::new();
    let mut qrels = Qrels::default();
    for kept in bench.files.values() {
        match &kept.content {
            FileContent::Documents(of) => docs.extend(of),
            FileContent::Queries(of) => queries.extend(of),
            FileContent::Qrels(of) => qrels.merge(of),
            FileContent::Run(_)
            | FileContent::Vectors(_)
            | FileContent::Splits(_)
            | FileContent::Pairs(_) => (),
        }
    }
    require_unique_ids("document", docs.iter().map(|it| it.id.as_str()))?;
    require_unique_ids("query", queries.iter().map(|it| it.id.as_str()))?;
    if queries.is_empty() {
        return Err(setting_problem(
            "Two runs can only be compared with their queries. Add the query file.",
        ));
    }
    let choices = bench
        .files
        .iter()
        .filter_map(|(name, kept)| match &kept.content {
            FileContent::Run(run) => Some(run_option(name, run)),
            _ => None,
        });
    let names: Vec<&str> = bench.files.keys().map(String::as_str).collect();
    Ok(ComparisonInput {
        name: LOCAL_STUDY.to_owned(),
        title: "Runs on the Workbench".to_owned(),
        content_hash: text_hash(&names.join("\n")),
        docs: docs
            .into_iter()
            .map(|it| (it.id.as_str(), it))
            .collect::<BTreeMap<_, _>>(),
        queries,
        qrels: Cow::Owned(qrels),
        rankers: [
            describe_run(&files[0], both[0]),
            describe_run(&files[1], both[1]),
        ],
        runs: both.map(Cow::Borrowed),
        choices: choices.collect(),
        tokenizer: Tokenizer::default(),
        has_withheld_texts: false,
        n_unscored: [0; 2],
    })
}

fn find_run<'a>(bench: &'a WorkerState, file: &str) -> Result<&'a Run, ErrorResponse> {
    match bench.files.get(file).map(|it| &it.content) {
        Some(FileContent::Run(run)) => Ok(run),
        Some(_) | None => Err(setting_problem(&format!(
            "There is no run `{file}`. Files are lost when the page closes; add the file in the \
             Workbench again."
        ))),
    }
}

fn setting_problem(error: &str) -> ErrorResponse {
    ErrorResponse::new(error, "setting")
}
