//! Exact top-k retrieval without scoring every document.
//!
//! This is MaxScore (Turtle & Flood, IPM 1995), one posting list at a time. Terms are sorted by the
//! largest contribution that they can make to any score, and posting lists are read from the
//! strongest on. The k-th largest sum of the contributions read so far is a lower bound of the k-th
//! score. Once the remaining terms together cannot reach it, they are only looked up in documents
//! that have been found already. The sums over all terms raise the bound again before any document
//! is scored. Contributions are computed once for each term ([`TopKSearcher`]), in 32 bits and
//! rounded up.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{LexicalQueryScorer, LexicalRanker};
use crate::index::term_statistics::{DistinctQueryTerms, QueryTermStatistics};
use crate::index::{DocNo, DocumentAndTermTotals, Index, Posting};
use crate::text::vocabulary::TermNo;

/// Top-k search in an index with one lexical ranker; it caches the contributions of terms, up to
/// 64 MiB or half of the size of the index.
pub struct TopKSearcher {
    ranker: LexicalRanker,
    totals: DocumentAndTermTotals,
    /// The length of the shortest document that is not empty, for which the part of a score that
    /// depends on length alone is largest.
    shortest: u32,
    /// The length of the longest document, for which that part is smallest.
    longest: u32,
    /// The contributions of each term that has been used, while there is room for them.
    gains: Vec<OnceLock<Box<Gains>>>,
    n_cached_bytes: AtomicUsize,
    max_cached_bytes: usize,
}

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The number of the document.
    pub doc: DocNo,
    /// The score.
    pub score: f64,
}

/// The relative amount by which bounds are widened for each term, since they are rounded and summed
/// in another order than scores.
const SLACK: f64 = 2.5e-7;

/// The average number of postings in a block of documents.
const POSTINGS_IN_BLOCK: usize = 4;

/// A term that occurs in at least one of this many documents is looked up by document, not by
/// posting.
const DENSE: usize = 16;

/// The least room for cached contributions, in bytes.
const MIN_CACHED_BYTES: usize = 64 << 20;

/// The size of the index relative to the room for cached contributions.
const INDEX_PER_CACHED: usize = 2;

/// The number of postings that a lookup compares at once.
const COMPARED: usize = 8;

impl TopKSearcher {
    /// Creates a searcher; the contributions of a term are computed when it is first used.
    pub fn for_lexical_ranker(index: &Index, ranker: LexicalRanker) -> TopKSearcher {
        let lengths = || (0..index.n_docs() as DocNo).map(|it| index.document_length(it));
        TopKSearcher {
            ranker,
            totals: index.collection_totals(),
            shortest: lengths().filter(|&it| it > 0).min().unwrap_or(0),
            longest: lengths().max().unwrap_or(0),
            gains: (0..index.vocabulary().len())
                .map(|_| OnceLock::new())
                .collect(),
            n_cached_bytes: AtomicUsize::new(0),
            max_cached_bytes: MIN_CACHED_BYTES.max(index.memory_bytes() / INDEX_PER_CACHED),
        }
    }

    /// Returns the contributions of a term: from the cache, or computed for this search if the
    /// cache is full.
    fn gains_of_term(&self, index: &Index, term: TermNo) -> TermGains<'_> {
        let place = &self.gains[term as usize];
        if place.get().is_none()
            && self.n_cached_bytes.load(Ordering::Relaxed) >= self.max_cached_bytes
        {
            return TermGains::Computed(Box::new(self.measure(index, term)));
        }
        TermGains::Cached(place.get_or_init(|| {
            let gains = Box::new(self.measure(index, term));
            self.n_cached_bytes
                .fetch_add(gains.n_bytes(), Ordering::Relaxed);
            gains
        }))
    }

    /// Returns the best `k` documents among those that contain a query term: higher scores first,
    /// equal scores in the order of document numbers. `index` must be the index given to
    /// [`TopKSearcher::for_lexical_ranker`].
    pub fn search(&self, index: &Index, query: &DistinctQueryTerms, k: usize) -> Vec<Hit> {
        if k == 0 {
            return Vec::new();
        }
        let weighed = self.ranker.prepare_query_scorer(query, &self.totals);
        let lists = query.iter().enumerate().filter_map(|(place, term)| {
            let number = term.term_no?;
            let gains = self.gains_of_term(index, number);
            let weight = self.in_query(term.count) as f32;
            Some(List {
                place,
                term: number,
                weight,
                most: gains.most * weight,
                gains,
            })
        });
        let mut lists: Vec<List<'_>> = lists.collect();
        lists.sort_by(|a, b| a.most.total_cmp(&b.most).then(a.place.cmp(&b.place)));
        let mut best = Best {
            k,
            slack: SLACK * (lists.len() + 8) as f64,
            floor: self.floor(&weighed),
            least: self.least(&weighed),
            reached: f64::NEG_INFINITY,
            cut: f32::NEG_INFINITY,
            keys: Vec::new(),
        };
        let mut found = candidates(&lists, index.n_docs(), &mut best);
        let mut counts = vec![0; query.len()];
        let mut scored = |doc: DocNo| {
            for list in &lists {
                counts[list.place] = list.count(index, doc);
            }
            let score = weighed.score(&counts, index.document_length(doc));
            Hit { doc, score }
        };
        let mut hits = Vec::with_capacity(found.len());
        if found.len() > 2 * k {
            // The scores of the k documents with the highest bounds give a bound that the others
            // must reach.
            found.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1));
            hits.extend(found.drain(..k).map(|it| scored(it.0)));
            let least = hits.iter().map(|it| it.score).fold(f64::INFINITY, f64::min);
            best.reach(least);
            found.retain(|it| !best.beats(it.1));
        }
        hits.extend(found.into_iter().map(|it| scored(it.0)));
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        hits.truncate(k);
        hits
    }

    fn measure(&self, index: &Index, term: TermNo) -> Gains {
        let weighed = self
            .ranker
            .prepare_query_scorer(&vec![unit(index, term)], &self.totals);
        let n_docs = index.df(term) as usize;
        let mut docs = Vec::with_capacity(n_docs + COMPARED);
        let mut adds = Vec::with_capacity(n_docs + 1);
        let mut counts = Vec::with_capacity(n_docs);
        for Posting { doc, count } in index.postings(term) {
            let gain = gain(&weighed, 0, count, index.document_length(doc));
            docs.push(doc);
            // Never 0, so that a sum shows whether any term occurs.
            adds.push(((gain * (1.0 + SLACK)) as f32).max(f32::MIN_POSITIVE));
            counts.push(count.min(u8::MAX.into()) as u8);
        }
        let most = adds.iter().copied().fold(0.0, f32::max);
        let mut dense = None;
        if n_docs * DENSE >= index.n_docs() {
            dense = Some(Dense::new(index.n_docs(), &docs, &counts, &adds, most));
            counts = Vec::new();
        }
        let n_blocks = n_docs.div_ceil(POSTINGS_IN_BLOCK).max(1);
        let shift = index
            .n_docs()
            .div_ceil(n_blocks)
            .next_power_of_two()
            .ilog2();
        let mut blocks = Vec::with_capacity((index.n_docs() >> shift) + 1);
        for (at, &doc) in docs.iter().enumerate() {
            blocks.resize(blocks.len().max((doc >> shift) as usize + 1), at as u32);
        }
        blocks.resize((index.n_docs() >> shift) + 1, docs.len() as u32);
        docs.extend([DocNo::MAX; COMPARED]);
        adds.push(0.0);
        Gains {
            most,
            docs: docs.into(),
            adds: adds.into(),
            counts: counts.into(),
            blocks: blocks.into(),
            shift,
            dense,
        }
    }

    /// Returns the weight of a term that occurs `count` times in the query, relative to once.
    fn in_query(&self, count: u32) -> f64 {
        match self.ranker {
            LexicalRanker::Bm25(it) => it.query_term_frequency_weight(count),
            LexicalRanker::QueryLikelihood(_) => f64::from(count),
        }
    }

    /// Returns the largest score of a document without any query term.
    fn floor(&self, weighed: &LexicalQueryScorer) -> f64 {
        self.without_terms(weighed, self.shortest)
    }

    /// Returns the smallest score of a document with a query term, apart from the contributions of
    /// its terms; `None` if contributions can be negative.
    fn least(&self, weighed: &LexicalQueryScorer) -> Option<f64> {
        match weighed {
            LexicalQueryScorer::Bm25 { weights, .. } if weights.iter().any(|&it| it < 0.0) => None,
            _ => Some(self.without_terms(weighed, self.longest)),
        }
    }

    fn without_terms(&self, weighed: &LexicalQueryScorer, len: u32) -> f64 {
        match weighed {
            LexicalQueryScorer::Bm25 { .. } => 0.0,
            LexicalQueryScorer::Dirichlet { terms, .. }
            | LexicalQueryScorer::JelinekMercer { terms, .. } => {
                weighed.score(&vec![0; terms.len()], len)
            }
        }
    }
}

/// Returns the documents that may be among the best, with upper bounds of their sums.
fn candidates(lists: &[List<'_>], n_docs: usize, best: &mut Best) -> Vec<(DocNo, f32)> {
    // The largest sum of each list and those before it.
    let mut sum = 0.0;
    let reach: Vec<f32> = lists
        .iter()
        .map(|it| {
            sum += it.most;
            sum
        })
        .collect();
    let mut sums = vec![0.0_f32; n_docs];
    let mut touched: Vec<DocNo> = Vec::new();
    let mut n_weak = lists.len();
    while n_weak > 0 && !best.beats(reach[n_weak - 1]) {
        n_weak -= 1;
        lists[n_weak].walk(&mut sums, &mut touched);
        best.raise(touched.iter().map(|&it| sums[it as usize]), 0.0);
    }
    let beside = if n_weak == 0 { 0.0 } else { reach[n_weak - 1] };
    let mut found = vec![(0, 0.0); touched.len()];
    let mut n_found = 0;
    for &doc in &touched {
        let sum = sums[doc as usize];
        found[n_found] = (doc, sum);
        n_found += usize::from(!best.beats(sum + beside));
    }
    found.truncate(n_found);
    let mut loose = 0.0;
    for weak in (0..n_weak).rev() {
        loose += lists[weak].add_to(&mut found);
        let beside = if weak == 0 { 0.0 } else { reach[weak - 1] };
        // With few candidates, raising the bound is only worthwhile just before scoring.
        if weak == 0 || found.len() > 2 * best.k {
            best.raise(found.iter().map(|it| it.1), loose);
        }
        found.retain(|it| !best.beats(it.1 + beside));
    }
    found
}

/// Returns a term that occurs once in a query.
fn unit(index: &Index, term: TermNo) -> QueryTermStatistics {
    QueryTermStatistics {
        term: String::new(),
        term_no: Some(term),
        count: 1,
        positions: Vec::new(),
        df: index.df(term),
        cf: index.cf(term),
    }
}

/// Returns the score of `count` occurrences minus the score of none.
fn gain(weighed: &LexicalQueryScorer, term: usize, count: u32, len: u32) -> f64 {
    match weighed {
        LexicalQueryScorer::Bm25 { .. } => weighed.query_term_score(term, count, len),
        LexicalQueryScorer::Dirichlet { .. } | LexicalQueryScorer::JelinekMercer { .. } => {
            weighed.query_term_score(term, count, len) - weighed.query_term_score(term, 0, len)
        }
    }
}

/// The contributions of a term.
struct Gains {
    /// The largest contribution to a score, if the term occurs once in the query.
    most: f32,
    /// The documents, ascending, followed by [`COMPARED`] sentinels.
    docs: Box<[DocNo]>,
    /// The upper bound of the contribution to each document, above 0, if the term occurs once in
    /// the query; and 0 for the end.
    adds: Box<[f32]>,
    /// The number of occurrences in each document, as in [`Dense::counts`]; empty with `dense`.
    counts: Box<[u8]>,
    /// For each block of `1 << shift` documents, the first posting that is not before it.
    blocks: Box<[u32]>,
    shift: u32,
    /// The same by document, for frequent terms.
    dense: Option<Dense>,
}

/// The contributions of a term to every document, in few bytes that fit into a fast cache.
struct Dense {
    /// The upper bound of each contribution, in steps; 0 for documents without the term.
    adds: Box<[u8]>,
    step: f32,
    /// The number of occurrences; [`u8::MAX`] stands for that many or more.
    counts: Box<[u8]>,
}

impl Gains {
    fn n_bytes(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, |it| 2 * it.adds.len());
        4 * (self.docs.len() + self.adds.len() + self.blocks.len()) + self.counts.len() + dense
    }
}

/// The contributions of a term, from the cache or for one search.
enum TermGains<'a> {
    Cached(&'a Gains),
    Computed(Box<Gains>),
}

impl Deref for TermGains<'_> {
    type Target = Gains;

    fn deref(&self) -> &Gains {
        match self {
            TermGains::Cached(gains) => gains,
            TermGains::Computed(gains) => gains,
        }
    }
}

impl Dense {
    fn new(n_docs: usize, docs: &[DocNo], counts: &[u8], adds: &[f32], most: f32) -> Dense {
        let step = most / 250.0;
        let mut dense = Dense {
            adds: vec![0; n_docs].into(),
            step,
            counts: vec![0; n_docs].into(),
        };
        for ((&doc, add), &count) in docs.iter().zip(adds).zip(counts) {
            let n_steps = (add / step).ceil() as u8;
            dense.adds[doc as usize] = n_steps.saturating_add(1);
            dense.counts[doc as usize] = count;
        }
        dense
    }
}

/// A query term with its postings.
struct List<'a> {
    /// The index among the query terms.
    place: usize,
    term: TermNo,
    /// The weight of its frequency in the query, relative to once.
    weight: f32,
    /// The largest contribution to a score.
    most: f32,
    gains: TermGains<'a>,
}

impl List<'_> {
    /// Adds the contributions of the term to `sums`, and new documents to `touched`.
    fn walk(&self, sums: &mut [f32], touched: &mut Vec<DocNo>) {
        let n_docs = self.gains.adds.len() - 1;
        // Written first and kept conditionally, since a branch would be hard to predict.
        let mut n_touched = touched.len();
        touched.resize(n_touched + n_docs, 0);
        for (&doc, it) in self.gains.docs.iter().zip(&self.gains.adds).take(n_docs) {
            let sum = &mut sums[doc as usize];
            touched[n_touched] = doc;
            n_touched += usize::from(*sum == 0.0);
            *sum += it * self.weight;
        }
        touched.truncate(n_touched);
    }

    /// Adds upper bounds of the contributions to the sums, and returns by how much a bound can be
    /// too high.
    fn add_to(&self, found: &mut [(DocNo, f32)]) -> f32 {
        let Some(dense) = &self.gains.dense else {
            for (doc, sum) in found {
                let nothing = self.gains.adds.len() - 1;
                let at = self.posting(*doc).unwrap_or(nothing);
                *sum += self.gains.adds[at] * self.weight;
            }
            return 0.0;
        };
        let step = dense.step * self.weight;
        for (doc, sum) in found {
            *sum += f32::from(dense.adds[*doc as usize]) * step;
        }
        2.0 * step
    }

    /// Returns the number of occurrences in a document.
    fn count(&self, index: &Index, doc: DocNo) -> u32 {
        let count = match &self.gains.dense {
            Some(dense) => dense.counts[doc as usize],
            None => self.posting(doc).map_or(0, |at| self.gains.counts[at]),
        };
        match count {
            u8::MAX => index.count_occurrences_in_doc(self.term, doc),
            count => count.into(),
        }
    }

    /// Returns the posting of a document; `None` without the term.
    fn posting(&self, doc: DocNo) -> Option<usize> {
        let mut at = self.gains.blocks[(doc >> self.gains.shift) as usize] as usize;
        // Compared without a branch, so that the processor can read ahead for the next document.
        loop {
            let few = &self.gains.docs[at..at + COMPARED];
            let n_before: u32 = few.iter().map(|&it| u32::from(it < doc)).sum();
            at += n_before as usize;
            if n_before < COMPARED as u32 {
                break;
            }
        }
        (self.gains.docs[at] == doc).then_some(at)
    }
}

/// A lower bound of the k-th score, and the documents that it excludes.
struct Best {
    k: usize,
    /// The relative amount by which a bound is widened.
    slack: f64,
    /// The largest score of a document without any query term.
    floor: f64,
    /// The smallest score of a document apart from the contributions of its terms, if it is known.
    least: Option<f64>,
    /// The lower bound of the k-th score.
    reached: f64,
    /// Documents with a smaller sum of contributions cannot reach it.
    cut: f32,
    /// A buffer for the sums that are compared.
    keys: Vec<u32>,
}

impl Best {
    /// Returns whether no document with a sum of at most `sum` can be among the best.
    fn beats(&self, sum: f32) -> bool {
        sum < self.cut
    }

    /// Raises the lower bound of the k-th score. A 32-bit sum over the floor can be off by `slack`
    /// of both: even if the floor cancels a sum, the sum was rounded.
    fn reach(&mut self, score: f64) {
        if score <= self.reached {
            return;
        }
        self.reached = score;
        let above = score - self.floor - 2.0 * self.floor.abs() * self.slack;
        let exact = above / (1.0 + self.slack);
        let near = exact as f32;
        self.cut = if f64::from(near) > exact {
            near.next_down()
        } else {
            near
        };
    }

    /// Raises the bound with the sums of distinct documents, which are at most `loose` too high.
    fn raise(&mut self, sums: impl ExactSizeIterator<Item = f32>, loose: f32) {
        let Some(least) = self.least.filter(|_| sums.len() >= self.k) else {
            return;
        };
        // Sums are above 0, where the bits of floats have the order of the floats. A sum below the
        // cut is not among the best; each is written first and kept conditionally, as in `walk`.
        let mut n_kept = 0;
        self.keys.clear();
        self.keys.resize(sums.len(), 0);
        for sum in sums {
            self.keys[n_kept] = sum.to_bits();
            n_kept += usize::from(sum >= self.cut);
        }
        self.keys.truncate(n_kept);
        if let Some(place) = self.keys.len().checked_sub(self.k) {
            let (_, kth, _) = self.keys.select_nth_unstable(place);
            let kth = f64::from(f32::from_bits(*kth)) - f64::from(loose);
            let off = (kth.abs() + 2.0 * self.floor.abs() + least.abs()) * self.slack;
            self.reach(least + kth - off);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::text::Analyzer;

    /// Returns a random generator for tests: called with a bound, it returns a number below it. The
    /// same seed gives the same numbers.
    pub(crate) fn seeded_random_generator(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        }
    }

    /// A few hundred short texts over forty words, with frequent words first.
    fn texts() -> Vec<String> {
        let mut next = seeded_random_generator(7);
        (0..400)
            .map(|_| {
                let len = 1 + next(30);
                let words: Vec<String> = (0..len)
                    .map(|_| format!("w{}", next(40) * next(40) / 40))
                    .collect();
                words.join(" ")
            })
            .collect()
    }

    /// Scores all documents and sorts them.
    fn all(index: &Index, ranker: LexicalRanker, query: &DistinctQueryTerms, k: usize) -> Vec<Hit> {
        let weighed = ranker.prepare_query_scorer(query, &index.collection_totals());
        let mut hits = Vec::new();
        for doc in 0..index.n_docs() as DocNo {
            let count = |it: &QueryTermStatistics| {
                index
                    .term_sequence_of_doc(doc)
                    .iter()
                    .filter(|&&term| Some(term) == it.term_no)
                    .count() as u32
            };
            let counts: Vec<u32> = query.iter().map(count).collect();
            if counts.iter().any(|&it| it > 0) {
                hits.push(Hit {
                    doc,
                    score: weighed.score(&counts, index.document_length(doc)),
                });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        hits.truncate(k);
        hits
    }

    #[test]
    fn pruning_loses_nothing() {
        let mut texts = texts();
        texts.push("w0 w5 w38 ".repeat(300));
        let index = Index::build(&Analyzer::default(), texts.iter().map(|it| it.as_str())).unwrap();
        let rankers = [
            "bm25",
            "bm25:idf=rsj,k3=1",
            "bm25:k1=0,b=0",
            "ql:mu=10",
            "ql:lambda=0.3",
        ];
        for ranker in rankers.map(|it| it.parse::<LexicalRanker>().unwrap()) {
            let searcher = TopKSearcher::for_lexical_ranker(&index, ranker);
            let without_cache = TopKSearcher {
                max_cached_bytes: 0,
                ..TopKSearcher::for_lexical_ranker(&index, ranker)
            };
            for query in [
                "w0 w1 w2",
                "w0 w38",
                "w5 w5 w9 w17 nothing",
                "nothing",
                "w0",
            ] {
                let query = index.query_term_statistics(query);
                for k in [0, 1, 10, 1000] {
                    let expected = all(&index, ranker, &query, k);
                    for searcher in [&searcher, &without_cache] {
                        let found = searcher.search(&index, &query, k);
                        assert_eq!(found, expected, "{ranker} {query:?} {k}");
                    }
                }
            }
        }
    }
}
