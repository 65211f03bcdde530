//! Studies for tests: one or more queries over a few documents, in order.

use super::build::{StudyInputs, make_study};
use super::preparation::{ParsedInputFiles, SequentialShardExecutor, run_never_waiting_future};
use super::{ManipulationLookupFiles, Study, StudyDefinition};
use crate::collection::{Collection, Document, DocumentFields, Qrels, Query};
use crate::probe::{AxiomVariant, MiningThresholds, Probe};
use crate::text::Analyzer;

/// Documents over a few words; some have the same terms with other counts.
pub(crate) const RIVER_TEXTS: [&str; 6] = [
    "river bank",
    "river river mud",
    "bank mud of the river",
    "mud",
    "bank bank river of mud",
    "the sea and the river",
];

/// Documents over a few words; the last one contains none of `river bank`.
pub(crate) const FOUR_TEXTS: [&str; 4] = [
    "river river bank",
    "river bank",
    "the river",
    "a sea of mud",
];

/// Makes a study with every lexical axiom, BM25 and QL. The documents are named `1`, `2`, …, and
/// the first is relevant.
pub(crate) fn study_with_one_query(query: &str, texts: &[&str], delta: u32) -> Study {
    study_with_queries(&[query], texts, delta)
}

/// Makes the same study with several queries, `q`, `q1`, `q2`, …; the first has the judgment.
pub(crate) fn study_with_queries(queries: &[&str], texts: &[&str], delta: u32) -> Study {
    make_fixture_study(
        fixture_study_definition(delta),
        fixture_collection(queries, texts),
    )
}

/// Makes a study with lexical rankers.
pub(crate) fn make_fixture_study(definition: StudyDefinition, collection: Collection) -> Study {
    make_fixture_study_with_files(definition, collection, ParsedInputFiles::default())
}

/// Makes a study with lexical rankers and the files that its definition names.
pub(crate) fn make_fixture_study_with_files(
    definition: StudyDefinition,
    collection: Collection,
    files: ParsedInputFiles,
) -> Study {
    let rankers = definition.rankers.iter().map(|it| it.parse().unwrap());
    let inputs = StudyInputs {
        rankers: rankers.collect(),
        definition,
        collection,
        files,
        created: "2026-11-20".to_owned(),
    };
    run_never_waiting_future(make_study(inputs, &mut SequentialShardExecutor)).unwrap()
}

/// Returns a definition with every lexical axiom, BM25 and QL.
pub(crate) fn fixture_study_definition(delta: u32) -> StudyDefinition {
    StudyDefinition {
        format: 1,
        name: "local".to_owned(),
        title: "Rivers".to_owned(),
        description: String::new(),
        collection: "c".to_owned(),
        n_queries: None,
        pool: "all".parse().unwrap(),
        probes: Probe::list_minable_paper_axioms(false),
        variants: vec![AxiomVariant::Fixed],
        rankers: vec!["bm25".to_owned(), "ql".to_owned()],
        analyzer: Analyzer::default(),
        limits: MiningThresholds {
            length_tolerance_terms: Some(delta),
            ..MiningThresholds::STANDARD
        },
        vectors: None,
        audit: Vec::new(),
        lookups: ManipulationLookupFiles::default(),
        transfers: Vec::new(),
        train: Vec::new(),
    }
}

/// Returns a collection with documents `1`, `2`, … and queries `q`, `q1`, …; the first has a
/// judgment.
pub(crate) fn fixture_collection(queries: &[&str], texts: &[&str]) -> Collection {
    let docs = texts.iter().zip(1..).map(|(text, id): (_, u32)| {
        Document::from(DocumentFields {
            id: id.to_string().into(),
            text: (*text).into(),
            ..DocumentFields::default()
        })
    });
    let mut qrels = Qrels::default();
    qrels.0.insert("q".to_owned(), [("1".to_owned(), 1)].into());
    let queries = queries.iter().enumerate().map(|(at, text)| Query {
        id: match at {
            0 => "q".to_owned(),
            at => format!("q{at}"),
        },
        text: (*text).to_owned(),
        group: None,
        split: Some(if at == 0 { "train" } else { "test" }.to_owned()),
    });
    Collection {
        queries: queries.collect(),
        docs: docs.collect(),
        qrels,
    }
}

/// Like [`fixture_collection`], with these grades of documents for the first query.
pub(crate) fn fixture_collection_with_grades(
    queries: &[&str],
    texts: &[&str],
    grades: &[(&str, i32)],
) -> Collection {
    let mut collection = fixture_collection(queries, texts);
    let grades = grades.iter().map(|&(id, grade)| (id.to_owned(), grade));
    collection.qrels.0.insert("q".to_owned(), grades.collect());
    collection
}
