//! How fast the lexical pipeline is, on one thread: index, top 100, mining.
//!
//! `cargo run --release -p shared --example lexical -- COLLECTION FOLDER` reads the collection
//! and writes into FOLDER what peers are given: `texts.jsonl`, `queries.jsonl`, `pools.json`,
//! `terms.json`. Then it does what each line of standard input names and prints a line of JSON
//! for it; `cargo xtask bench` alternates it so with its peers.

// A timing program is no part of the pure core: it has files and a clock.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[path = "../../xtask/bench/clock.rs"]
mod clock;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};
use shared::collection::{FileInput, Run, beir, trec};
use shared::index::term_statistics::DistinctQueryTerms;
use shared::index::{DocNo, Index, IndexBuilder};
use shared::probe::features::{DocumentFeatures, QueryPoolFeatures};
use shared::probe::manipulation::{Manipulation, ManipulationInput, ManipulationWordLists};
use shared::probe::mining::{InstanceMiner, MiningResult, PooledQuery, QueryMiningResult};
use shared::probe::{Axiom, AxiomVariant, MiningThresholds, Probe};
use shared::rank::LexicalRanker;
use shared::rank::max_score::TopKSearcher;
use shared::text::linguistics::{LinguisticAnalysis, tag_words_and_noun_phrases};
use shared::text::{Analyzer, Stemmer, Stopwords, Tokenizer};
use shared::word_vectors::glove::{GloveCorpus, GloveSettings, GloveTrainer};

use clock::ThreadClock;

const TOP: usize = 100;
/// The three that ir_axioms has too.
const THREE: [Probe; 3] = [
    Probe::Axiom(Axiom::Tfc1),
    Probe::Axiom(Axiom::Lnc1),
    Probe::Axiom(Axiom::Mtdc),
];
/// Passes over the texts that word vectors are trained in.
const PASSES: u32 = 5;
/// Passages that are manipulated, and threads that do it.
const MANIPULATED: usize = 10_000;
const THREADS: usize = 2;
/// Short work is repeated, and the mean of a round is reported.
const ROUNDS: u32 = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [collection, folder] = arguments.as_slice() else {
        return Err("usage: lexical COLLECTION FOLDER".into());
    };
    let given = Given::read(Path::new(collection))?;
    let porter2 = Analyzer {
        tokenizer: Tokenizer::Alnum,
        stopwords: Stopwords::None,
        stemmer: Stemmer::Porter2,
        max_tokens: None,
    };
    let index = given.index(&porter2)?;
    given.write(Path::new(folder), &index)?;
    let bench = Bench {
        searcher: TopKSearcher::for_lexical_ranker(&index, "bm25".parse::<LexicalRanker>()?),
        queries: given
            .queries
            .iter()
            .map(|it| index.query_term_statistics(it))
            .collect(),
        index,
        given,
        porter2,
    };
    for task in std::io::stdin().lock().lines() {
        println!("{}", bench.run(&task?)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// What every peer is given too.
struct Given {
    texts: Vec<String>,
    queries: Vec<String>,
    /// The first of the collection's BM25 run for each query.
    pools: Vec<Vec<DocNo>>,
}

struct Bench {
    given: Given,
    porter2: Analyzer,
    index: Index,
    searcher: TopKSearcher,
    queries: Vec<DistinctQueryTerms>,
}

impl Given {
    fn read(collection: &Path) -> Result<Given, Box<dyn Error>> {
        let open = |name: &str| File::open(collection.join(name));
        let name = "corpus.jsonl.gz";
        let (docs, _) = beir::read_beir_documents(FileInput::without_progress(name, open(name)?))?;
        let name = "queries.jsonl.gz";
        let (queries, _) = beir::read_beir_queries(FileInput::without_progress(name, open(name)?))?;
        let name = "runs/BM25.run.gz";
        let (run, _): (Run, _) = trec::read_run(FileInput::without_progress(name, open(name)?))?;
        let numbers: BTreeMap<&str, DocNo> = docs.iter().map(|it| it.id()).zip(0..).collect();
        let pools = queries.iter().map(|query| {
            let top = run.top_documents(&query.id, TOP);
            top.iter()
                .filter_map(|it| numbers.get(it).copied())
                .collect()
        });
        Ok(Given {
            pools: pools.collect(),
            texts: docs
                .iter()
                .map(|it| it.text_with_title().to_owned())
                .collect(),
            queries: queries.into_iter().map(|it| it.text).collect(),
        })
    }

    fn index(&self, analyzer: &Analyzer) -> Result<Index, shared::error::Error> {
        Index::build(analyzer, self.texts.iter().map(|it| it.as_str()))
    }

    /// For peers: texts as they are, and as the numbers of our terms.
    fn write(&self, folder: &Path, index: &Index) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        lines(&folder.join("texts.jsonl"), &self.texts)?;
        lines(&folder.join("queries.jsonl"), &self.queries)?;
        let docs: Vec<_> = (0..index.n_docs() as DocNo)
            .map(|it| index.term_sequence_of_doc(it))
            .collect();
        let asked = self.queries.iter().map(|it| {
            let terms = index.query_term_statistics(it).into_iter();
            terms
                .flat_map(|it| vec![it.term_no; it.count as usize])
                .flatten()
                .collect::<Vec<_>>()
        });
        let terms = json!({
            "n_terms": index.vocabulary().len(),
            "docs": docs,
            "queries": asked.collect::<Vec<_>>(),
        });
        std::fs::write(folder.join("terms.json"), terms.to_string())?;
        let mined = Index::build(
            &Analyzer::default(),
            self.texts.iter().map(|it| it.as_str()),
        )?;
        let terms_of = |text: &str| -> Vec<String> {
            Analyzer::default()
                .terms_with_positions(text)
                .into_iter()
                .map(|it| it.0)
                .collect()
        };
        let pools = self.queries.iter().zip(&self.pools).map(|(query, pool)| {
            let known = mined.query_term_statistics(query);
            json!({
                "query": query,
                "terms": terms_of(query),
                "df": known.iter().map(|it| (it.term.as_str(), it.df)).collect::<BTreeMap<_, _>>(),
                "docs": pool,
                "texts": pool.iter().map(|&it| &self.texts[it as usize]).collect::<Vec<_>>(),
            })
        });
        let pools = json!({ "n_docs": mined.n_docs(), "pools": pools.collect::<Vec<_>>() });
        std::fs::write(folder.join("pools.json"), pools.to_string())?;
        Ok(())
    }

    fn n_bytes(&self) -> usize {
        self.texts.iter().map(|it| it.len()).sum()
    }
}

impl Bench {
    fn run(&self, task: &str) -> Result<Value, Box<dyn Error>> {
        Ok(match task {
            "index" => self.index()?,
            "top" => self.top(),
            "ranking" => self.ranking(),
            "mine" => self.mine(),
            "bootstrap" => bootstrap(),
            "glove" => self.glove()?,
            "manipulate" => self.manipulate()?,
            "memory" => self.memory()?,
            unknown => return Err(format!("unknown task `{unknown}`").into()),
        })
    }

    fn index(&self) -> Result<Value, Box<dyn Error>> {
        let start = ThreadClock::start();
        let index = self.given.index(&self.porter2)?;
        let seconds = start.seconds();
        Ok(json!({
            "seconds": seconds,
            "n_docs": index.n_docs(),
            "n_terms": index.collection_totals().n_terms,
        }))
    }

    fn top(&self) -> Value {
        let seconds = mean(|| {
            for query in &self.queries {
                black_box(self.searcher.search(&self.index, query, TOP));
            }
        });
        json!({ "seconds": seconds, "n_queries": self.queries.len() })
    }

    /// For each query documents and scores.
    fn ranking(&self) -> Value {
        let hits = self.queries.iter().map(|it| {
            let hits = self.searcher.search(&self.index, it, TOP);
            hits.into_iter()
                .map(|it| json!([it.doc, it.score]))
                .collect::<Vec<_>>()
        });
        json!({ "ranking": hits.collect::<Vec<_>>() })
    }

    /// Mining in one go: from texts, from analysed texts, with the numbers of ordered pairs.
    fn mine(&self) -> Value {
        let analyzer = Analyzer::default();
        let index = self.given.index(&analyzer).expect("it was indexed before");
        let limits = MiningThresholds::STANDARD;
        let three = THREE.map(|it| (it, AxiomVariant::Fixed));
        let six: Vec<(Probe, AxiomVariant)> = Probe::list_minable_paper_axioms(false)
            .into_iter()
            .map(|it| (it, AxiomVariant::Fixed))
            .collect();
        let asked: Vec<DistinctQueryTerms> = self
            .given
            .queries
            .iter()
            .map(|it| index.query_term_statistics(it))
            .collect();

        let mine = |query: &DistinctQueryTerms, pool: &[DocumentFeatures]| {
            let case = QueryPoolFeatures::without_word_vectors(
                query,
                pool,
                &limits,
                index.collection_totals(),
            );
            THREE.iter().for_each(|it| {
                drop(black_box(
                    it.find_instances_in_pool(AxiomVariant::Fixed, &case),
                ))
            });
        };
        // Every text is analysed anew for every query, as the peer does.
        let from_texts = mean(|| {
            for (terms, pool) in asked.iter().zip(&self.given.pools) {
                let texts = pool
                    .iter()
                    .map(|&it| self.given.texts[it as usize].as_str());
                let read = Index::build(&analyzer, texts).expect("a pool is small");
                let query = here(terms, &read);
                let counted = (0..pool.len() as DocNo)
                    .map(|it| DocumentFeatures::from_terms(&read.term_sequence_of_doc(it), &query));
                let counted: Vec<DocumentFeatures> = counted.collect();
                mine(&query, &counted);
            }
        });

        let counted: Vec<Vec<DocumentFeatures>> = asked
            .iter()
            .zip(&self.given.pools)
            .map(|(query, pool)| {
                pool.iter()
                    .map(|&it| DocumentFeatures::from_terms(&index.term_sequence_of_doc(it), query))
                    .collect()
            })
            .collect();
        let from_counts = mean(|| {
            for (query, pool) in asked.iter().zip(&counted) {
                mine(query, pool);
            }
        });
        let mined = |asked: &[(Probe, AxiomVariant)]| {
            let each = self.given.queries.iter().zip(&self.given.pools);
            let miner = InstanceMiner {
                index: &index,
                word_vectors: None,
                probes: asked,
                limits: &limits,
            };
            let shards: Vec<QueryMiningResult> = each
                .map(|(query, pool)| {
                    miner.mine_pooled_query(&PooledQuery::from_ungraded_docs(query, pool))
                })
                .collect();
            MiningResult::from_query_results(asked, shards)
        };
        let from_index = mean(|| drop(black_box(mined(&three))));
        let all_six = mean(|| drop(black_box(mined(&six))));
        let n_pairs: usize = self
            .given
            .pools
            .iter()
            .map(|it| it.len() * (it.len() - 1))
            .sum();
        json!({
            "from_texts": from_texts,
            "from_counts": from_counts,
            "from_index": from_index,
            "six": all_six,
            "n_ordered_pairs": n_pairs,
            "n_instances": mined(&six).first_variant_counts_by_probe(),
        })
    }

    /// Word vectors of the collection, as many passes as the peer makes.
    fn glove(&self) -> Result<Value, Box<dyn Error>> {
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        self.given
            .texts
            .iter()
            .for_each(|it| builder.add_document(it));
        let index = builder.finish()?;
        let settings = GloveSettings {
            n_epochs: PASSES,
            ..GloveSettings::default()
        };
        let start = ThreadClock::start();
        let corpus = GloveCorpus::with_frequent_words(&index, settings)?;
        let counted = corpus.count_cooccurrences_in_docs(0..corpus.n_docs());
        let mut trainer = GloveTrainer::from_corpus_and_cooccurrences(corpus, vec![counted]);
        trainer.train_remaining_rounds();
        let vectors = trainer.into_word_vectors();
        Ok(json!({
            "seconds": start.seconds(),
            "n_tokens": u64::from(PASSES) * index.collection_totals().n_terms,
            "n_words": vectors.len(),
        }))
    }

    /// Every manipulation of every passage: each is analysed once. Words of it are looked up in the
    /// index, so the time of that is not in it.
    fn manipulate(&self) -> Result<Value, Box<dyn Error>> {
        let index = self.given.index(&Analyzer::default())?;
        let texts = &self.given.texts[..MANIPULATED.min(self.given.texts.len())];
        let others: Vec<(&str, LinguisticAnalysis)> = self.given.texts[texts.len()..]
            .iter()
            .take(8)
            .map(|it| (it.as_str(), tag_words_and_noun_phrases(it)))
            .collect();
        let others: Vec<(&str, &LinguisticAnalysis)> =
            others.iter().map(|it| (it.0, &it.1)).collect();
        let tools = ManipulationWordLists::default();
        let make = |from: usize, texts: &[String]| -> (usize, f64) {
            let mut n_made = 0;
            let mut seconds = 0.0;
            for (at, text) in texts.iter().enumerate() {
                let analysing = ThreadClock::start();
                let analysis = tag_words_and_noun_phrases(text);
                seconds += analysing.seconds();
                let source = ManipulationInput {
                    id: "d",
                    text,
                    analysis: &analysis,
                    query: &self.given.queries[(from + at) % self.given.queries.len()],
                    non_relevant_docs: &others,
                    lookup_tables: &tools,
                    vocabulary: index.vocabulary(),
                    seed: 42,
                };
                let made = Manipulation::ALL.iter().map(|it| it.apply(&source));
                n_made += made.filter(|it| black_box(it).is_some()).count();
            }
            (n_made, seconds)
        };
        let began = Instant::now();
        let part = texts.len().div_ceil(THREADS).max(1);
        let made: Vec<(usize, f64)> = std::thread::scope(|scope| {
            let parts = texts.chunks(part).enumerate();
            let each = parts.map(|(at, texts)| {
                scope.spawn({
                    let make = &make;
                    move || make(at * part, texts)
                })
            });
            let each: Vec<_> = each.collect();
            let each = each.into_iter();
            each.map(|it| it.join().expect("it has not panicked"))
                .collect()
        });
        Ok(json!({
            "seconds": began.elapsed().as_secs_f64(),
            "analysis_seconds": made.iter().map(|it| it.1).sum::<f64>(),
            "n_texts": texts.len(),
            "n_made": made.iter().map(|it| it.0).sum::<usize>(),
        }))
    }

    fn memory(&self) -> Result<Value, Box<dyn Error>> {
        let index = self.given.index(&Analyzer::default())?;
        Ok(json!({
            "index_bytes": index.memory_bytes(),
            "text_bytes": self.given.n_bytes(),
            "peak_bytes": peak_bytes(),
        }))
    }
}

/// The interval of a fraction over 3 million instances of 1,558 queries, as many as a table of
/// Câmara & Hauff has.
fn bootstrap() -> Value {
    let query = |at: u64| shared::stats::bootstrap::QueryVerdictCounts {
        n_agreeing: 900 + at * 37 % 900,
        n_verdicts: 1_926,
    };
    let queries: Vec<_> = (0..1_558).map(query).collect();
    let start = ThreadClock::start();
    let found = shared::stats::bootstrap::bootstrap_fraction(&queries);
    let seconds = start.seconds();
    let interval = found.map(|it| it.micro_average.interval);
    json!({ "seconds": seconds, "interval": interval })
}

/// Query terms with the statistics of the collection and the numbers of another index.
fn here(terms: &DistinctQueryTerms, index: &Index) -> DistinctQueryTerms {
    let mut terms = terms.clone();
    terms
        .iter_mut()
        .for_each(|it| it.term_no = index.vocabulary().term_no(&it.term));
    terms
}

/// Seconds of a round.
fn mean(mut round: impl FnMut()) -> f64 {
    round();
    let start = ThreadClock::start();
    (0..ROUNDS).for_each(|_| round());
    start.seconds() / f64::from(ROUNDS)
}

/// The peak memory of this process, if the system reports it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn lines(file: &Path, rows: &[impl Serialize]) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(file)?);
    for row in rows {
        serde_json::to_writer(&mut out, row)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
