//! The command `tune`: grid search over the parameters of a lexical ranker.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use shared::effectiveness::EffectivenessMeasure;
use shared::error::Error as InputError;
use shared::plot;
use shared::probe::CandidatePoolSpec;
use shared::rank::LexicalRanker;
use shared::study::StudyDefinition;
use shared::tune::{
    GridSearchResult, ParameterGrid, QueryWithDocumentTermCounts, collect_grid_results,
    mean_measure_at_grid_point,
};
use toml::Spanned;

use super::study::read_study_definition;
use super::{CommandOutcome, load, print_json};
use crate::collection_files::CollectionWithReadReport;
use crate::config::AnalyzerArgs;
use crate::error::Error;
use crate::pipeline;
use crate::progress::ProgressBar;
use crate::remedy;
use crate::store::write_atomically;

/// Search a grid of parameters and report the best
#[derive(clap::Args)]
pub(crate) struct TuneArgs {
    /// Folder or name of an imported collection with qrels
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// bm25 (tunes k1 and b) or ql (tunes μ); other parameters stay as given
    #[arg(long)]
    ranker: LexicalRanker,
    /// Measure to maximize: nDCG@10, AP, AP(rel=2), RR, P@5, …
    #[arg(long, default_value = "AP")]
    measure: EffectivenessMeasure,
    /// Use only the queries of these splits of splits.tsv, comma-separated, such as train,dev
    /// [default: all queries]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    split: Vec<String>,
    /// Candidate pool: rank:bm25:K, run:FILE:K, group, judged or all
    #[arg(long, default_value = "rank:bm25:1000")]
    pool: CandidatePoolSpec,
    /// Write the parameter surface as SVG
    #[arg(long, value_name = "FILE.svg")]
    figure: Option<PathBuf>,
    /// Write the best parameters into this study file, in place of its first ranker of that kind
    #[arg(long, value_name = "STUDY.toml")]
    update_study: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
}

/// The output of `tune --json`.
#[derive(serde::Serialize)]
struct TuneOutput<'a> {
    measure: &'a str,
    queries: u64,
    best: String,
    value: f64,
    grid: Vec<(String, f64)>,
}

impl TuneArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let grid = ParameterGrid::default_for_ranker(&self.ranker)?;
        // An invalid study file is reported before the search.
        let study = self.update_study.as_deref();
        study.map(read_study_definition).transpose()?;
        let mut loaded = load(&self.collection, data, None)?;
        self.keep_splits(&mut loaded)?;
        let found = self.search(&loaded, &grid)?;
        let best = grid.rankers[found.best_index];
        if let Some(path) = &self.figure {
            let figure = plot::figure_to_svg(
                &plot::draw_grid_search_heatmap(&grid, &found),
                plot::FigureTheme::Light,
            );
            write_atomically(path, "choose another file", |mut file| {
                file.write_all(figure.as_bytes())
            })?;
        }
        if let Some(path) = study {
            write_study(path, &best)?;
        }
        self.tell(&grid, &found);
        Ok(CommandOutcome::Done)
    }

    fn tell(&self, grid: &ParameterGrid, found: &GridSearchResult) {
        let each = grid.rankers.iter().zip(&found.values);
        if self.json {
            print_json(&TuneOutput {
                measure: &found.measure,
                queries: found.n_queries,
                best: grid.rankers[found.best_index].to_string(),
                value: found.values[found.best_index],
                grid: each.map(|(ranker, it)| (ranker.to_string(), *it)).collect(),
            });
            return;
        }
        for (ranker, value) in each {
            println!("{ranker}\t{value:.4}");
        }
        println!(
            "best\t{}\t{} {:.4} over {} queries",
            grid.rankers[found.best_index],
            found.measure,
            found.values[found.best_index],
            found.n_queries
        );
    }

    /// Removes all queries that are not in the given splits.
    fn keep_splits(&self, loaded: &mut CollectionWithReadReport) -> Result<(), Error> {
        if self.split.is_empty() {
            return Ok(());
        }
        let queries = &mut loaded.collection.queries;
        let known: BTreeSet<&str> = queries
            .iter()
            .filter_map(|it| it.split.as_deref())
            .collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        queries.retain(|it| it.split.as_ref().is_some_and(|it| self.split.contains(it)));
        if queries.is_empty() {
            let reason = match known.as_str() {
                "" => {
                    "no query is in a split: put query id, tab, split on the lines of splits.tsv \
                       beside the queries, or leave out --split"
                        .to_owned()
                }
                known => format!(
                    "no query is in {}; there are {known}",
                    self.split.join(", ")
                ),
            };
            return Err(InputError::missing_field("split", reason).into());
        }
        Ok(())
    }

    fn search(
        &self,
        loaded: &CollectionWithReadReport,
        grid: &ParameterGrid,
    ) -> Result<GridSearchResult, Error> {
        let collection = &loaded.collection;
        let analyzer = self.analyzer.build_analyzer(None)?;
        let index = pipeline::build_index(collection, &analyzer)?;
        let folder = &loaded.folder;
        let pools = pipeline::compute_candidate_pools(&self.pool, collection, &index, folder)?;
        let queries: Vec<QueryWithDocumentTermCounts> = pools
            .par_iter()
            .enumerate()
            .map(|(at, docs)| {
                let query = &collection.queries[at];
                let doc_id = |doc: u32| collection.docs[doc as usize].id().to_owned();
                QueryWithDocumentTermCounts::from_ranked_documents(
                    &index,
                    &query.id,
                    &query.text,
                    docs,
                    doc_id,
                )
            })
            .collect();
        let bar = ProgressBar::with_unit("tune", grid.rankers.len() as u64, "points");
        let totals = index.collection_totals();
        let values = grid.rankers.par_iter().map(|ranker| {
            let value = mean_measure_at_grid_point(
                &queries,
                ranker,
                &totals,
                &collection.qrels,
                self.measure,
            );
            bar.increment();
            value
        });
        let values: Option<Vec<(f64, u64)>> = values.collect();
        let found = values.and_then(|it| collect_grid_results(&self.measure.to_string(), it));
        found.ok_or_else(|| {
            let reason = "no query has a judgment; tuning needs qrels";
            InputError::missing_field("tune", reason).into()
        })
    }
}

/// Replaces the first lexical ranker of the same kind in a study file by the best one.
fn write_study(path: &Path, best: &LexicalRanker) -> Result<(), Error> {
    let text =
        fs::read_to_string(path).map_err(Error::io_error_converter(path, remedy::CHECK_PATH))?;
    let text = with_ranker(&path.display().to_string(), &text, best)?;
    write_atomically(path, remedy::ANOTHER_FILE, |mut file| {
        file.write_all(text.as_bytes())
    })
}

/// Returns the text of a study file with a lexical ranker in place of the first one of its kind, or
/// before the others if there is none. All else stays, comments too.
fn with_ranker(file: &str, text: &str, ranker: &LexicalRanker) -> Result<String, Error> {
    #[derive(serde::Deserialize)]
    struct StudyRankers {
        rankers: Option<Spanned<Vec<Spanned<String>>>>,
    }
    let refuse = |it: toml::de::Error| InputError::unreadable_file(file, it.to_string());
    let StudyRankers { rankers } = toml::from_str(text).map_err(refuse)?;
    let spec = ranker.to_string();
    let kind = |it: &str| it.split(':').next().map(str::to_ascii_lowercase);
    let mut text = text.to_owned();
    let Some(rankers) = rankers else {
        // The default rankers, one of which is replaced.
        let mut rankers = StudyDefinition::from_toml(file, &text)?.rankers;
        rankers.retain(|it| kind(it) != kind(&spec));
        rankers.insert(0, spec);
        text.insert_str(0, &format!("rankers = {rankers:?}\n"));
        return Ok(text);
    };
    let mut listed = rankers.get_ref().iter();
    match listed.find(|it| kind(it.get_ref()) == kind(&spec)) {
        Some(same) => text.replace_range(same.span(), &format!("{spec:?}")),
        None => text.insert_str(rankers.span().start + 1, &format!("{spec:?}, ")),
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_file_keeps_all_but_the_ranker() {
        let ranker: LexicalRanker = "bm25:k1=0.5".parse().unwrap();
        let spec = ranker.to_string();
        let put = |text: &str| with_ranker("study.toml", text, &ranker).unwrap();
        let file = "# mine\nname = \"a\"\nrankers = [\n  \"ql\", # smoothed\n  'BM25:b=1',\n  \"bm25\",\n]\n";
        assert_eq!(
            put(file),
            file.replacen("'BM25:b=1'", &format!("\"{spec}\""), 1)
        );
        assert_eq!(put("rankers = []\n"), format!("rankers = [\"{spec}\", ]\n"));
        let without = "name = \"a\" # no rankers\ncollection = \"c\"\n";
        let expected = format!("rankers = [\"{spec}\", \"ql\"]\n{without}");
        assert_eq!(put(without), expected);
    }
}
