//! Analysis of a late-interaction ranker. Every document of the candidate pools is encoded once and
//! compared with the queries whose pools contain it; its vectors are then added to the spectra and
//! dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use neural::{QueryOrDocumentRole, SingleOrMultiVectorEncoding, TokenSpectrumAccumulator};
use rayon::prelude::*;
use shared::collection::Collection;
use shared::index::{DocNo, Index};
use shared::late_interaction::{
    self, BestTokenMatch, DfAndSpectrumLookup, LateInteractionAnalysisMetadata,
    LateInteractionRankerAnalysis, QueryPoolMatchStatistics, QuerySubwordToken,
    QueryTokenBestMatches,
};
use shared::text::{Analyzer, Stemmer};

use super::compute_candidate_pools;
use crate::error::Error;
use crate::models::NeuralRanker;
use crate::progress::ProgressBar;

/// The collection, pool and models of a late-interaction analysis.
pub(crate) struct LateInteractionAnalysisInput<'a> {
    /// The collection, restricted to the queries to analyze.
    pub collection: &'a Collection,
    /// The index of the whole collection, for pools of a lexical ranker.
    pub index: &'a Index,
    /// The candidate pool.
    pub pool: &'a shared::probe::CandidatePoolSpec,
    /// The folder where the files of the pool are looked up.
    pub folder: &'a Path,
    /// The late-interaction ranker.
    pub ranker: &'a NeuralRanker,
    /// The encoder before fine-tuning, to compare with.
    pub base_model: Option<&'a NeuralRanker>,
    /// The header of the analysis. Counts and queries are filled in.
    pub head: LateInteractionAnalysisMetadata,
}

/// Number of documents that are tokenized at once.
const TOKENIZATION_CHUNK: usize = 256;

/// Analyzes how a late-interaction ranker matches the tokens of each query with its candidate pool:
/// term importance, exact and soft matches, and spectra. Returns an error if a model does not use
/// late interaction.
pub(crate) fn analyze_late_interaction(
    looking: LateInteractionAnalysisInput<'_>,
) -> Result<LateInteractionRankerAnalysis, Error> {
    let with_titles = looking.ranker.reads_titles();
    let before = looking.base_model.map(|base| {
        let head = LateInteractionAnalysisMetadata {
            ranker: base.about.clone(),
            ..looking.head.clone()
        };
        let base = LateInteractionAnalysisInput {
            ranker: base,
            base_model: None,
            head,
            ..looking
        };
        analyze(base, with_titles, None)
    });
    let before = before.transpose()?;
    analyze(looking, with_titles, before.as_ref())
}

/// Analyzes one ranker, beside the analysis of its encoder before fine-tuning.
fn analyze(
    looking: LateInteractionAnalysisInput<'_>,
    with_titles: bool,
    before: Option<&LateInteractionRankerAnalysis>,
) -> Result<LateInteractionRankerAnalysis, Error> {
    let LateInteractionAnalysisInput {
        collection,
        index,
        pool,
        folder,
        ranker,
        base_model: _,
        mut head,
    } = looking;
    ranker.ensure_late_interaction_without_passages()?;
    let pools = compute_candidate_pools(pool, collection, index, folder)?;
    let queries: Vec<String> = collection
        .queries
        .iter()
        .map(|it| it.text.clone())
        .collect();
    let encoded = encode_queries(ranker, &queries)?;
    let mut read = Read::of(&queries, &encoded, &pools, ranker);
    let wanted = read.tokens();
    let texts = Texts::of(collection, &pools, with_titles);
    let spectra = texts.encode(ranker, &wanted, |place, vectors| {
        read.compare(&encoded, texts.readers(place), vectors);
    })?;
    let ratios = spectra.spectral_ratios_of_frequent_tokens(head.min_occurrences);
    let before_of_token = before.into_iter().flat_map(|it| &it.tokens);
    let before_of_token: BTreeMap<&str, Option<f64>> = before_of_token
        .map(|it| (it.token.as_str(), it.spectral_ratio))
        .collect();

    let words = Analyzer {
        stemmer: Stemmer::None,
        ..Analyzer::default()
    };
    let words = super::build_index(collection, &words)?;
    let token_df = token_df(ranker, collection, &wanted, with_titles)?;
    let each: Vec<(QueryTokenBestMatches, QueryPoolMatchStatistics)> = read
        .matched
        .into_par_iter()
        .map(|it| {
            let of = late_interaction::compute_query_token_match_statistics(&it);
            (it, of)
        })
        .collect();
    head.queries = queries;
    head.n_pairs = pools.iter().map(|it| it.len() as u64).sum();
    head.n_docs = texts.bodies.len() as u64;
    let df = |word: &str| {
        let terms = words.query_term_statistics(word);
        terms.first().map_or(0, |it| u64::from(it.df))
    };
    let known = DfAndSpectrumLookup {
        n_docs: collection.docs.len() as u64,
        df: &df,
        token_df: &|id| token_df.get(&id).copied().unwrap_or(0),
        token: &|id| ranker.id_to_token(id),
        spectrum: &|id| {
            (
                spectra.n_vectors_of_token(id),
                ratios.get(&id).map(|it| it.ratio),
            )
        },
        pretrained_spectral_ratio: &|id| {
            let token = ranker.id_to_token(id);
            before_of_token.get(token.as_str()).copied().flatten()
        },
    };
    let found = late_interaction::aggregate_into_late_interaction_analysis(head, &each, &known);
    Ok(LateInteractionRankerAnalysis {
        before_fine_tuning: before.map(LateInteractionRankerAnalysis::summary),
        ..found
    })
}

fn encode_queries(
    ranker: &NeuralRanker,
    queries: &[String],
) -> Result<Vec<SingleOrMultiVectorEncoding>, Error> {
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    ranker.token_vectors(QueryOrDocumentRole::Query, &queries)
}

/// Returns the document frequency of each of the requested tokens.
fn token_df(
    ranker: &NeuralRanker,
    collection: &Collection,
    requested: &BTreeSet<u32>,
    with_titles: bool,
) -> Result<BTreeMap<u32, u64>, Error> {
    let mut df: BTreeMap<u32, u64> = BTreeMap::new();
    for docs in collection.docs.chunks(TOKENIZATION_CHUNK) {
        let bodies = docs
            .iter()
            .map(|it| it.text_with_optional_title(with_titles));
        let bodies: Vec<&str> = bodies.collect();
        for ids in ranker.token_ids_without_special(&bodies)? {
            let distinct: BTreeSet<u32> = ids
                .into_iter()
                .filter(|it| requested.contains(it))
                .collect();
            distinct
                .into_iter()
                .for_each(|it| *df.entry(it).or_default() += 1);
        }
    }
    Ok(df)
}

/// The documents of all candidate pools, each once.
struct Texts {
    bodies: Vec<String>,
    /// For each document, the queries whose pools contain it, with its position in the pool.
    readers: Vec<Vec<(u32, u32)>>,
}

impl Texts {
    fn of(collection: &Collection, pools: &[Vec<DocNo>], with_titles: bool) -> Texts {
        let mut readers: BTreeMap<DocNo, Vec<(u32, u32)>> = BTreeMap::new();
        for (pool, query) in pools.iter().zip(0..) {
            for (&doc, place) in pool.iter().zip(0..) {
                readers.entry(doc).or_default().push((query, place));
            }
        }
        Texts {
            bodies: readers
                .keys()
                .map(|&it| &collection.docs[it as usize])
                .map(|it| it.text_with_optional_title(with_titles).to_owned())
                .collect(),
            readers: readers.into_values().collect(),
        }
    }

    fn readers(&self, place: u32) -> &[(u32, u32)] {
        &self.readers[place as usize]
    }

    /// Encodes every document once. `take` is called with the index and the vectors of each, in the
    /// order of the batches.
    fn encode(
        &self,
        ranker: &NeuralRanker,
        wanted: &BTreeSet<u32>,
        mut take: impl FnMut(u32, &SingleOrMultiVectorEncoding),
    ) -> Result<TokenSpectrumAccumulator, Error> {
        let mut spectra = TokenSpectrumAccumulator::for_tokens(wanted.iter().copied());
        let bar = ProgressBar::with_unit(&ranker.about.spec, self.bodies.len() as u64, "texts");
        let mut done = 0;
        for batch in ranker.plan_document_batches(&self.bodies)? {
            let texts: Vec<&str> = batch
                .iter()
                .map(|&it| self.bodies[it as usize].as_str())
                .collect();
            let vectors = ranker.token_vectors(QueryOrDocumentRole::Document, &texts)?;
            for (&place, vectors) in batch.iter().zip(&vectors) {
                take(place, vectors);
            }
            spectra.add_texts(&vectors.iter().collect::<Vec<_>>());
            done += batch.len();
            bar.set_position(done as u64);
        }
        Ok(spectra)
    }
}

/// The best matches found so far.
struct Read {
    matched: Vec<QueryTokenBestMatches>,
}

impl Read {
    fn of(
        queries: &[String],
        encoded: &[SingleOrMultiVectorEncoding],
        pools: &[Vec<DocNo>],
        ranker: &NeuralRanker,
    ) -> Read {
        let each = queries.iter().zip(encoded).zip(pools).zip(0..);
        let matched = each.map(|(((query, encoded), pool), number): (_, u32)| {
            let (words, of_token) = words(query, encoded);
            let tokens = encoded.vector_token_ids().zip(of_token);
            let tokens: Vec<QuerySubwordToken> = tokens
                .map(|(id, word)| QuerySubwordToken {
                    id,
                    token: ranker.id_to_token(id),
                    word_index: word,
                })
                .collect();
            let none = BestTokenMatch {
                cosine: -1.0,
                token_id: u32::MAX,
            };
            QueryTokenBestMatches {
                query_no: number,
                best_matches: vec![none; pool.len() * tokens.len()],
                words,
                tokens,
            }
        });
        Read {
            matched: matched.collect(),
        }
    }

    fn tokens(&self) -> BTreeSet<u32> {
        let tokens = self.matched.iter().flat_map(|it| &it.tokens);
        tokens.map(|it| it.id).collect()
    }

    /// Compares a document with the queries whose pools contain it.
    fn compare(
        &mut self,
        queries: &[SingleOrMultiVectorEncoding],
        readers: &[(u32, u32)],
        text: &SingleOrMultiVectorEncoding,
    ) {
        let ids: Vec<u32> = text.vector_token_ids().collect();
        let each = readers.par_iter();
        let best: Vec<_> = each
            .map(|it| queries[it.0 as usize].best_cosines_with_indices(text))
            .collect();
        for (&(query, place), best) in readers.iter().zip(best) {
            let matched = &mut self.matched[query as usize];
            let from = place as usize * matched.tokens.len();
            for (own, best) in matched.best_matches[from..].iter_mut().zip(best) {
                if let Some((cosine, at)) = best {
                    let token = ids[at];
                    *own = BestTokenMatch {
                        cosine,
                        token_id: token,
                    };
                }
            }
        }
    }
}

/// Returns the distinct words of a query in lower case, and for each of its tokens the index of its
/// word. Adjacent tokens of letters and digits belong to one word.
fn words(query: &str, encoded: &SingleOrMultiVectorEncoding) -> (Vec<String>, Vec<Option<u32>>) {
    let letters: Vec<char> = query.chars().collect();
    let is_word = |it: &(u32, u32)| {
        let token = letters
            .get(it.0 as usize..it.1 as usize)
            .unwrap_or_default();
        !token.is_empty() && token.iter().all(|it| it.is_alphanumeric())
    };
    let spans: Vec<(u32, u32)> = encoded.vector_token_char_spans().collect();
    let mut words: Vec<String> = Vec::new();
    let mut of_token = Vec::with_capacity(spans.len());
    let together = |a: &(u32, u32), b: &(u32, u32)| is_word(a) && is_word(b) && a.1 == b.0;
    for run in spans.chunk_by(together) {
        let (from, to) = (run[0].0 as usize, run[run.len() - 1].1 as usize);
        let word = is_word(&run[0]).then(|| {
            let word: String = letters[from..to].iter().collect();
            let word = word.to_lowercase();
            let known = words.iter().position(|it| *it == word);
            known.unwrap_or_else(|| {
                words.push(word);
                words.len() - 1
            }) as u32
        });
        of_token.extend(run.iter().map(|_| word));
    }
    (words, of_token)
}
