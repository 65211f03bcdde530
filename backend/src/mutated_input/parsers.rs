//! The table of parsers, with valid inputs for each.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use clap::Parser as _;
use neural::{
    Device, EmbeddingRankerKind, ModelFileContents, NeuralRankerConfig, QueryOrDocumentRole,
    SingleOrMultiVectorRanker,
};
use shared::annotation::AnnotationTaskDefinition;
use shared::collection::document_pairs::{self, layouts};
use shared::collection::{Collection, FileInput, beir, trec, tsv, wikipassageqa};
use shared::effectiveness::EffectivenessMeasure;
use shared::error::{Error, FileReadReport};
use shared::probe::manipulation::ManipulationWordLists;
use shared::probe::{CandidatePoolSpec, Probe};
use shared::study::build::{self, StudyInputs};
use shared::study::preparation::{ParsedInputFiles, run_never_waiting_future};
use shared::study::{Study, StudyDefinition};
use shared::text::{Analyzer, Tokenizer, WordpieceVocabulary, linguistics};
use shared::training::LearningCurvePoint;

use super::{Parser, Seeds};
use crate::cli::Cli;
use crate::config::RankerSpec;
use crate::models::lambdamart_tests;
use crate::models::tests::TINY;
use crate::pipeline::ParallelExecutor;
use crate::store::DataFolder;
use crate::store::instances::{self, CollectionExternalIds};
use crate::store::scores::StudyScoreColumns;
use crate::store::studies::files;
use crate::{http, remote_ranker, store};

/// All parsers of files and requests.
pub(super) const PARSERS: &[Parser] = &[
    seeded(
        "beir-corpus",
        || packed(CORPUS),
        |it| rows(beir::read_beir_documents(input(it))),
    ),
    of("beir-queries", &[QUERIES], |it| {
        rows(beir::read_beir_queries(input(it)))
    }),
    of("passages", &["d1\triver bank\nd2\tmud\n"], |it| {
        rows(tsv::read_msmarco_passages(input(it)))
    }),
    of("documents", &["d1\thttp://a\triver\tbank\n"], |it| {
        rows(tsv::read_msmarco_documents(input(it)))
    }),
    of("plain-lines", &["river bank\n\nmud\n"], |it| {
        rows(tsv::read_one_passage_per_line(input(it)))
    }),
    of("splits", &["q1\ttrain\nq2\ttest\n"], |it| {
        rows(tsv::read_query_splits(input(it)))
    }),
    of(
        "wikipassageqa-passages",
        &[r#"{"1": {"0": "river", "1": "bank"}}"#],
        |it| rows(wikipassageqa::read_wikipassageqa_passages(input(it))),
    ),
    of("wikipassageqa-questions", &[QUESTIONS], |it| {
        wikipassageqa::read_wikipassageqa_questions(input(it), "test").is_ok()
    }),
    of(
        "trec-qrels",
        &[
            "q1 0 d1 1\nq1 0 d2 0\n",
            "query-id\tcorpus-id\tscore\nq1\td1\t2\n",
        ],
        |it| rows(trec::read_qrels(input(it))),
    ),
    of("trec-run", &[RUN, METADATA], |it| {
        rows(trec::read_run(input(it)))
    }),
    of(
        "trec-labelled-run",
        &["q1 Q0 d1 1 2.5 a 1\nq1 Q0 d2 2 1e-3 a 0\n"],
        |it| trec::read_graded_run(input(it)).is_ok(),
    ),
    of("scores", &["qid\tdocid\tscore\nq1\td1\t0.5\n", RUN], |it| {
        trec::read_imported_scores(input(it)).is_ok()
    }),
    of("trec-topics", &[TOPICS, "q1\triver bank\n"], |it| {
        rows(trec::topics::read_trec_topics(input(it)))
    }),
    of("learning-curve", &[CURVE], |it| {
        LearningCurvePoint::parse_lines("a", it).is_ok()
    }),
    of("text-pairs", &[PAIRS], |it| {
        rows(document_pairs::read_dataset_transfer_pairs(input(it)))
    }),
    of(
        "expansions",
        &[r#"{"_id": "d1", "queries": ["river", "bank"]}"#],
        |it| document_pairs::read_generated_queries("a", &text(it)).is_ok(),
    ),
    of(
        "misspellings",
        &["rivver\triver\nbnak\tbank, banks\n"],
        |it| {
            ManipulationWordLists::default()
                .set_misspellings("a", &text(it))
                .is_ok()
        },
    ),
    of("mspc", &[MSPC], |it| {
        layouts::tsv::read_msr_paraphrase_table("train", input(it)).is_ok()
    }),
    of(
        "wikiturk",
        &["1\ta -LRB- b -RRB-\tc\td\te\tf\tg\th\ti\tj\n"],
        |it| layouts::tsv::read_wikiturk_table("tune", input(it)).is_ok(),
    ),
    of(
        "wnc",
        &["1\ta\tb\tthe biased one\tthe neutral one\n"],
        |it| layouts::tsv::read_wiki_neutrality_corpus(input(it)).is_ok(),
    ),
    of("factuality", &[FACTUALITY], |it| {
        layouts::factuality::make_answer_replacement_pairs(input(it), 42).is_ok()
    }),
    of("titles", &["1\tRiver\n2\tBank\n"], |it| {
        rows(layouts::read_document_titles(input(it)))
    }),
    of(
        "word-vectors",
        &[
            "river 1.0 0.5 -2e-3\nbank 0 1 0\n",
            "2 3\nriver 1 0 0\nbank 0 1 0\n",
        ],
        |it| rows(shared::word_vectors::read_word_vectors(input(it))),
    ),
    of(
        "vocabulary",
        &["[UNK]\nriver\n##s\nbank\n", VOCABULARY],
        reads_pieces,
    ),
    of("analyzer", &["{}", ANALYZER], |it| {
        serde_json::from_slice::<Analyzer>(it).is_ok_and(|it| it.validate().is_ok())
    }),
    of("analyzed-text", &[ANALYZED], analyzes),
    of(
        "study-toml",
        &[STUDY, include_str!("../../../demo/study.toml")],
        |it| StudyDefinition::from_toml("a", &text(it)).is_ok(),
    ),
    seeded(
        "study-json",
        || vec![serde_json::to_vec(&*SMALL).unwrap()],
        |it| Study::from_json("a", &text(it)).is_ok_and(|it| it.validate_upload().is_ok()),
    ),
    of(
        "probes",
        &[
            "tfc1,prox1,stmc1",
            "tfc1 & (prox1 | -tp) % m_and if len",
            "tp - 2 * tfc1",
            "tp if undecided(tfc1)",
            "match:length~5:tf,repeat:3,typos",
        ],
        |it| Probe::parse_list(&text(it), true).is_ok(),
    ),
    of(
        "ranker",
        &[
            "bm25:k1=1.2,b=0.75,k3=inf,idf=rsj",
            "ql:mu=750",
            "scores:own.tsv",
            "https://host:80/v1/rerank?model=m&texts=3&per_s=0.5",
            "tiny:bi+maxp=100/50",
        ],
        |it| text(it).parse::<RankerSpec>().is_ok(),
    ),
    of(
        "pool",
        &["rank:bm25:k1=1:50", "run:a.run:5", "group"],
        |it| text(it).parse::<CandidatePoolSpec>().is_ok(),
    ),
    of(
        "measure",
        &["nDCG@10", "AP(rel=2)@100", "ndcg_cut_10", "P_5"],
        |it| text(it).parse::<EffectivenessMeasure>().is_ok(),
    ),
    of(
        "command-line",
        &[
            "mine --collection c --pool all --out m.parquet --delta 3",
            "eval a b -m nDCG@10,P@5 --json",
            "study run a.toml --replace",
        ],
        |it| Cli::try_parse_from(format!("axioscope {}", text(it)).split(' ')).is_ok(),
    ),
    of("review-task", &[TASK], |it| {
        serde_json::from_slice::<AnnotationTaskDefinition>(it)
            .is_ok_and(|it| it.normalize_and_validate().is_ok())
    }),
    seeded(
        "instances-parquet",
        || stored("instances-", ".parquet"),
        reads_instances,
    ),
    seeded(
        "scores-parquet",
        || stored("scores-", ".parquet"),
        |it| {
            in_file(it, |path| {
                let file = std::fs::File::open(path).expect("it was written just now");
                StudyScoreColumns::read_parquet_file(file, path).is_ok()
            })
        },
    ),
    seeded(
        "stored-head",
        || stored("study", ".json"),
        |it| loads("study", ".json", it),
    ),
    seeded(
        "stored-columns",
        || stored("instances-", ".columns"),
        |it| loads("instances-", ".columns", it),
    ),
    seeded(
        "backup",
        store::backup::tests::archives,
        store::backup::tests::unpacks,
    ),
    seeded(
        "model-config",
        || model("config.json"),
        |it| loads_model("config.json", it),
    ),
    seeded(
        "model-tokenizer",
        || model("tokenizer.json"),
        |it| loads_model("tokenizer.json", it),
    ),
    seeded(
        "model-weights",
        || model("model.safetensors"),
        |it| loads_model("model.safetensors", it),
    ),
    seeded(
        "lambdamart-statistics",
        || vec![SMALL_LAMBDAMART.tokenizer.clone()],
        |it| loads_lambdamart(|files| &mut files.tokenizer, it),
    ),
    seeded(
        "lambdamart-trees",
        || vec![SMALL_LAMBDAMART.weights.clone()],
        |it| loads_lambdamart(|files| &mut files.weights, it),
    ),
    of(
        "ranker-toml",
        &["architecture = \"bi-encoder\"\nmax_query_tokens = 32\n"],
        |it| NeuralRankerConfig::parse(it).is_ok(),
    ),
    of(
        "service-answer",
        &[r#"[{"index": 1, "score": 0.5}, {"index": 0, "score": -1}]"#],
        remote_ranker::tests::takes_answer,
    ),
    of(
        "api-request",
        http::tests::mutated::REQUESTS,
        http::tests::mutated::takes,
    ),
];

type Takes = fn(&[u8]) -> bool;

const fn of(name: &'static str, seeds: &'static [&'static str], takes: Takes) -> Parser {
    let seeds = Seeds::Texts(seeds);
    Parser { name, seeds, takes }
}

const fn seeded(name: &'static str, seeds: fn() -> Vec<Vec<u8>>, takes: Takes) -> Parser {
    let seeds = Seeds::Made(seeds);
    Parser { name, seeds, takes }
}

const CORPUS: &str = r#"{"_id": "d1", "title": "A", "text": "river bank", "doc_group": "g"}
{"_id": "d2", "text": "river"}
{"_id": "d3", "text": "bank mud"}
"#;
const QUERIES: &str = r#"{"_id": "q1", "text": "river bank", "doc_group": "g"}
"#;
const RUN: &str = "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1e-3 a\n";
const METADATA: &str = "# ir_metadata.start\n# data:\n# ir_metadata.end\nq1 Q0 d1 1 2.5 a\n";
const ANALYZED: &str = "The rivers' banks, Mr. Smith said, weren't 3.5 m high; 水 is İstanbul's.";
const TOPICS: &str = "<top>\n<num> Number: 301\n<title> Crime\n<desc> Description:\nx\n</top>\n";
const QUESTIONS: &str =
    "QID\tQuestion\tDocumentID\tDocumentName\tRelevantPassages\n7\twhat?\t1\tA\t0,1\n";
const MSPC: &str = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tone\ttwo\n";
const PAIRS: &str = r#"{"_id": "1", "query": "q", "a": "one", "b": "two", "group": "g"}
"#;
const CURVE: &str = r#"{"step": 9, "loss": 0.5, "dev": {"AP": 0.6}, "axioms": {}}
{"step": 10, "loss": 0.25, "dev": {}, "axioms": {"tp": {"fraction": 0.7, "interval": [0.6, 1], "n": 9}}}
"#;
const FACTUALITY: &str = r#"
{"_id": "1", "question": "who", "answers": ["Ada Byrd"], "type": "PERSON", "passage": "Ada Byrd."}
{"_id": "2", "question": "who", "answers": ["Bo Carr"], "type": "PERSON", "passage": "Bo Carr."}
"#;
const VOCABULARY: &str = r###"{"model": {"vocab": {"[UNK]": 0, "river": 1, "##s": 2}},
    "normalizer": {"lowercase": true}}"###;
const ANALYZER: &str = r#"{"tokenizer": "unicode", "stopwords": {"list": ["the"]},
    "stemmer": "porter2", "first_tokens": 5}"#;
const TASK: &str = r#"{"title": "First", "study": "small", "probes": ["tfc1"], "n_items": 3,
    "design": {"kind": "uniform"}, "overlap": 1, "seed": 1, "gold_every": 0, "tags": ["odd"]}"#;
const STUDY: &str = r#"
format = 1
name = "small"
title = "Small"
collection = "c"
pool = "all"
probes = ["tfc1", "lnc2", "prox1"]
modes = ["fixed", "code"]
rankers = ["bm25"]
[limits]
length_gap_terms = 10
min_terms = 1
repeat_from = 2
repeat_to = 4
repeated_terms = 240
filled_terms = 512
fillable_terms = 256
seed = 42
"#;

/// A study of three documents and one query.
static SMALL: LazyLock<Study> = LazyLock::new(|| {
    let collection = Collection {
        queries: beir::read_beir_queries(FileInput::without_progress("q", QUERIES.as_bytes()))
            .unwrap()
            .0,
        docs: beir::read_beir_documents(FileInput::without_progress("c", CORPUS.as_bytes()))
            .unwrap()
            .0,
        ..Collection::default()
    };
    let inputs = StudyInputs {
        definition: StudyDefinition::from_toml("study.toml", STUDY).unwrap(),
        collection,
        files: ParsedInputFiles::default(),
        rankers: vec!["bm25".parse().unwrap()],
        created: "2026-11-20".to_owned(),
    };
    run_never_waiting_future(build::make_study(inputs, &mut ParallelExecutor::default())).unwrap()
});

/// The same study, stored in a data folder.
static STORED: LazyLock<(tempfile::TempDir, DataFolder)> = LazyLock::new(|| {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    files::save_study_files(&folder, &SMALL).unwrap();
    (home, folder)
});

/// The files of the smallest model.
static SMALL_LAMBDAMART: LazyLock<ModelFileContents> = LazyLock::new(lambdamart_tests::small_files);

static MODEL: LazyLock<ModelFileContents> = LazyLock::new(|| ModelFileContents {
    config: model("config.json").remove(0),
    tokenizer: model("tokenizer.json").remove(0),
    weights: model("model.safetensors").remove(0),
    ..ModelFileContents::default()
});

/// Returns whether a reader accepted every row.
fn rows<T>(read: Result<(T, FileReadReport), Error>) -> bool {
    read.is_ok_and(|it| it.1.n_refused == 0)
}

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Returns a text uncompressed, with gzip, and as one raw block of zstd (RFC 8878, 3.1.1).
fn packed(text: &str) -> Vec<Vec<u8>> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let n_bytes = u8::try_from(text.len()).expect("the size has one byte in the header");
    let block = ((u32::from(n_bytes) << 3) | 1).to_le_bytes();
    let mut zstd = vec![0x28, 0xB5, 0x2F, 0xFD, 0x20, n_bytes];
    zstd.extend(&block[..3]);
    zstd.extend(text.as_bytes());
    vec![text.as_bytes().to_vec(), gzip.finish().unwrap(), zstd]
}

fn in_file(input: &[u8], takes: impl FnOnce(&Path) -> bool) -> bool {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), input).unwrap();
    takes(file.path())
}

fn reads_pieces(input: &[u8]) -> bool {
    let Ok(tokens) = WordpieceVocabulary::parse_file("a", &text(input)) else {
        return false;
    };
    let analyzer = Analyzer {
        tokenizer: Tokenizer::Wordpiece(tokens),
        ..Analyzer::default()
    };
    analyzer.terms_with_positions("The rivers' banks, unseen");
    true
}

fn analyzes(input: &[u8]) -> bool {
    let text = text(input);
    for tokenizer in [Tokenizer::Alnum, Tokenizer::Unicode] {
        let analyzer = Analyzer {
            tokenizer,
            ..Analyzer::default()
        };
        analyzer.terms_with_positions(&text);
    }
    linguistics::tag_words_and_noun_phrases(&text);
    true
}

fn reads_instances(input: &[u8]) -> bool {
    let ids = CollectionExternalIds {
        queries: SMALL.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: SMALL.docs.iter().map(|it| it.id()).collect(),
    };
    in_file(input, |path| {
        instances::read_instance_file(path, &ids).is_ok()
    })
}

fn is_called(path: &Path, start: &str, end: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(start) && name.ends_with(end)
}

/// Returns a file of the stored study.
fn stored(start: &str, end: &str) -> Vec<Vec<u8>> {
    let folder = STORED.1.study_folder("small").unwrap();
    let paths = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let found = paths.filter(|it| is_called(it, start, end));
    found.map(|it| fs::read(it).unwrap()).collect()
}

/// Returns whether the stored study can be loaded when a file has other bytes.
fn loads(start: &str, end: &str, input: &[u8]) -> bool {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    let study = folder.study_folder("small").unwrap();
    fs::create_dir_all(&study).unwrap();
    for entry in fs::read_dir(STORED.1.study_folder("small").unwrap()).unwrap() {
        let from = entry.unwrap().path();
        let to = study.join(from.file_name().unwrap());
        match is_called(&from, start, end) {
            true => fs::write(to, input).unwrap(),
            false => fs::copy(from, to).map(drop).unwrap(),
        }
    }
    files::load_and_verify_study(&folder, "small").is_ok()
}

fn model(file: &str) -> Vec<Vec<u8>> {
    vec![fs::read(Path::new(TINY).join(file)).unwrap()]
}

/// Returns bytes as a file that a reader takes.
fn input(bytes: &[u8]) -> FileInput<'_, &[u8]> {
    FileInput::without_progress("a", bytes)
}

/// Returns whether a small LambdaMART can be loaded when a file has other bytes, and can score.
fn loads_lambdamart(file: fn(&mut ModelFileContents) -> &mut Vec<u8>, input: &[u8]) -> bool {
    let mut files = SMALL_LAMBDAMART.clone();
    *file(&mut files) = input.to_vec();
    lambdamart_tests::loads_and_scores(&files)
}

/// Returns whether the smallest model can be loaded when a file has other bytes, and can score a
/// text.
fn loads_model(file: &str, input: &[u8]) -> bool {
    let mut files = MODEL.clone();
    match file {
        "config.json" => files.config = input.to_vec(),
        "tokenizer.json" => files.tokenizer = input.to_vec(),
        _ => files.weights = input.to_vec(),
    }
    let model =
        SingleOrMultiVectorRanker::load(&files, EmbeddingRankerKind::BiEncoder, 64, Device::Cpu);
    model.is_ok_and(|it| {
        it.tokenize(QueryOrDocumentRole::Document, "the river's bank")
            .is_ok()
    })
}
