//! Compares two uploaded runs over the uploaded documents, queries and qrels.

use std::borrow::Cow;
use std::collections::BTreeMap;

use shared::api::ErrorResponse;
use shared::api::worker::LOCAL_STUDY;
use shared::collection::{Document, Qrels, Query, Run, text_hash};
use shared::compare::{RankerComparisonInput, ranker_info_of_run, selectable_ranker_from_run};
use shared::text::Tokenizer;

use crate::file::CollectionFileContent;
use crate::state::{WorkerState, require_unique_ids};

/// Returns the input of a comparison of two runs, by the names of their files.
pub(crate) fn build_comparison_input_from_files<'a>(
    bench: &'a WorkerState,
    files: &[String; 2],
) -> Result<RankerComparisonInput<'a>, ErrorResponse> {
    let both = [find_run(bench, &files[0])?, find_run(bench, &files[1])?];
    let mut docs: Vec<&Document> = Vec::new();
    let mut queries: Vec<&Query> = Vec::new();
    let mut qrels = Qrels::default();
    for kept in bench.files.values() {
        match &kept.content {
            CollectionFileContent::Documents(of) => docs.extend(of),
            CollectionFileContent::Queries(of) => queries.extend(of),
            CollectionFileContent::Qrels(of) => qrels.merge(of),
            CollectionFileContent::Run(_)
            | CollectionFileContent::Vectors(_)
            | CollectionFileContent::Splits(_)
            | CollectionFileContent::Pairs(_) => (),
        }
    }
    require_unique_ids("document", docs.iter().map(|it| it.id()))?;
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
            CollectionFileContent::Run(run) => Some(selectable_ranker_from_run(name, run)),
            _ => None,
        });
    let names: Vec<&str> = bench.files.keys().map(String::as_str).collect();
    Ok(RankerComparisonInput {
        name: LOCAL_STUDY.to_owned(),
        title: "Runs in the Workbench".to_owned(),
        content_hash: text_hash(&names.join("\n")),
        docs: docs
            .into_iter()
            .map(|it| (it.id(), it))
            .collect::<BTreeMap<_, _>>(),
        queries,
        qrels: Cow::Owned(qrels),
        rankers: [
            ranker_info_of_run(&files[0], both[0]),
            ranker_info_of_run(&files[1], both[1]),
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
        Some(CollectionFileContent::Run(run)) => Ok(run),
        Some(_) | None => Err(setting_problem(&format!(
            "There is no run `{file}`. Files are lost when the page closes; add the file in the \
             Workbench again."
        ))),
    }
}

fn setting_problem(error: &str) -> ErrorResponse {
    ErrorResponse::with_message_and_type(error, "setting")
}
