//! The best k documents of a query, exactly, without scoring them all.
//!
//! MaxScore (Turtle & Flood, IPM 1995): terms are kept in the order of the most they can add
//! to any score. Once k documents are known, terms whose sum cannot lift a document above the
//! k-th score are no longer walked, only looked up in documents that another term brought.
//! Documents are taken in windows: what the walked terms can add is summed into an array over
//! a window, and only what can still enter is looked at and scored. What an occurrence can add
//! is measured once for a formula ([`Searcher::new`]), in 32 bits and rounded up; the k-th most
//! that one term adds already bounds the k-th score from below, before any document is scored.

use super::{Ranker, Weighed};
use crate::index::stats::{QueryTerm, QueryTerms};
use crate::index::{DocNo, Index, Postings, Totals};
use crate::text::vocabulary::TermNo;

/// What one formula needs to know of an index to search it.
pub struct Searcher {
    ranker: Ranker,
    totals: Totals,
    /// Length of the shortest text that is not empty: formulas with a part that depends on
    /// the length alone give it the most.
    shortest: u32,
    /// Length of the longest text, which has the least of that part.
    longest: u32,
    /// For each term the most that one occurrence in the query can add to a score.
    most: Vec<f32>,
    /// For each posting what it adds at the most for one occurrence in the query, above 0;
    /// term after term.
    adds: Vec<f32>,
    /// Where each term begins in `adds`.
    begins: Vec<u32>,
}

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which.
    pub doc: DocNo,
    /// Its score.
    pub score: f64,
}

/// Bounds are widened by this share for each term, since they are rounded and summed in
/// another order than scores.
const SLACK: f64 = 2.5e-7;

/// Documents in a window: its sums stay in the nearest cache.
const WINDOW: usize = 4096;

/// Documents that are passed over together.
const STRIDE: usize = 16;

impl Searcher {
    /// Measures what each posting can add.
    pub fn new(index: &Index, ranker: Ranker) -> Searcher {
        let totals = index.totals();
        let lengths: Vec<u32> = (0..index.n_docs() as DocNo)
            .map(|it| index.len_of(it))
            .collect();
        let shortest = lengths
            .iter()
            .copied()
            .filter(|&it| it > 0)
            .min()
            .unwrap_or(0);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let n_terms = index.vocabulary().len();
        let (mut most, mut adds, mut begins) = (Vec::with_capacity(n_terms), Vec::new(), vec![0]);
        for term in 0..n_terms as TermNo {
            let weighed = ranker.weigh(&vec![unit(index, term)], &totals);
            let Postings { docs, counts } = index.postings(term);
            let gains = docs.iter().zip(counts);
            let gains = gains.map(|(&doc, &count)| {
                let gain = gain(&weighed, 0, count, lengths[doc as usize]);
                // Never 0, so that a sum says whether any term was there.
                ((gain * (1.0 + SLACK)) as f32).max(f32::MIN_POSITIVE)
            });
            let from = adds.len();
            adds.extend(gains);
            most.push(adds[from..].iter().copied().fold(0.0, f32::max));
            begins.push(adds.len() as u32);
        }
        Searcher {
            ranker,
            totals,
            shortest,
            longest,
            most,
            adds,
            begins,
        }
    }

    /// The best `k` documents among those that hold a term of the query: higher scores
    /// first, equal scores in the order of documents. `index` is the one that was measured.
    pub fn top(&self, index: &Index, query: &QueryTerms, k: usize) -> Vec<Hit> {
        let weighed = self.ranker.weigh(query, &self.totals);
        let floor = self.floor(&weighed);
        let lists = query.iter().enumerate().filter_map(|(place, term)| {
            let number = term.number? as usize;
            let weight = in_query(&weighed, place, term).max(1.0) as f32;
            Some(List {
                place,
                weight,
                most: self.most[number] * weight,
                postings: index.postings(number as TermNo),
                adds: &self.adds[self.begins[number] as usize..self.begins[number + 1] as usize],
                window: 0,
                at: 0,
            })
        });
        let mut lists: Vec<List<'_>> = lists.collect();
        lists.sort_by(|a, b| a.most.total_cmp(&b.most).then(a.place.cmp(&b.place)));
        let reached = self
            .least(&weighed)
            .map_or(f64::NEG_INFINITY, |it| it + kth_gain(&lists, k));
        let best = Best::new(k, SLACK * (lists.len() + 8) as f64, floor, reached);
        walk(index, &weighed, lists, best)
    }

    /// The least that a text with a query term can score but for what that term adds; none
    /// where terms may take away.
    fn least(&self, weighed: &Weighed) -> Option<f64> {
        match weighed {
            Weighed::Bm25 { weights, .. } => weights.iter().all(|&it| it >= 0.0).then_some(0.0),
            Weighed::Dirichlet { terms, .. } | Weighed::JelinekMercer { terms, .. } => {
                Some(weighed.score(&vec![0; terms.len()], self.longest))
            }
        }
    }

    /// The most that a text without any query term can score.
    fn floor(&self, weighed: &Weighed) -> f64 {
        match weighed {
            Weighed::Bm25 { .. } => 0.0,
            Weighed::Dirichlet { terms, .. } | Weighed::JelinekMercer { terms, .. } => {
                weighed.score(&vec![0; terms.len()], self.shortest)
            }
        }
    }
}

/// Walks the lists of terms that can still decide, from the first `needed` on, window by
/// window.
fn walk(index: &Index, weighed: &Weighed, mut lists: Vec<List<'_>>, mut best: Best) -> Vec<Hit> {
    let floor = best.floor;
    // The most that each list and those before it can add together.
    let mut sum = 0.0;
    let reach: Vec<f64> = lists
        .iter()
        .map(|it| {
            sum += f64::from(it.most);
            sum
        })
        .collect();
    let mut counts = vec![0; lists.iter().map(|it| it.place + 1).max().unwrap_or(0)];
    let mut sums = vec![0.0_f32; WINDOW];
    let mut needed = 0;
    let n_docs = if best.k == 0 { 0 } else { index.n_docs() };
    for first in (0..n_docs).step_by(WINDOW) {
        while needed < lists.len() && best.beats(floor + reach[needed]) {
            needed += 1;
        }
        if needed == lists.len() {
            break;
        }
        sums.fill(0.0);
        for list in &mut lists[needed..] {
            list.add(first, &mut sums);
        }
        let beside = floor + if needed == 0 { 0.0 } else { reach[needed - 1] };
        for (stride, few) in sums.chunks(STRIDE).enumerate() {
            let most = most_of(few);
            if most == 0.0 || best.beats(beside + f64::from(most)) {
                continue;
            }
            for (place, &sum) in few.iter().enumerate() {
                let mut bound = f64::from(sum);
                if sum == 0.0 || best.beats(beside + bound) {
                    continue;
                }
                let doc = (first + stride * STRIDE + place) as DocNo;
                let hopeless = (0..needed).rev().any(|at| {
                    let hopeless = best.beats(floor + bound + reach[at]);
                    if !hopeless {
                        bound += lists[at].look_up(doc);
                    }
                    hopeless
                });
                if hopeless || best.beats(floor + bound) {
                    continue;
                }
                for (at, list) in lists.iter().enumerate() {
                    counts[list.place] = if at < needed {
                        list.count_here(doc)
                    } else {
                        list.count_behind(doc)
                    };
                }
                best.offer(Hit {
                    doc,
                    score: weighed.score(&counts, index.len_of(doc)),
                });
            }
        }
    }
    best.hits()
}

/// The greatest of some sums, none below 0: lane by lane, as a processor compares them.
fn most_of(sums: &[f32]) -> f32 {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let (fours, rest) = sums.as_chunks::<4>();
    let mut most = [0.0_f32; 4];
    for four in fours {
        for (most, &it) in most.iter_mut().zip(four) {
            *most = greater(it, *most);
        }
    }
    most.iter().chain(rest).copied().fold(0.0, greater)
}

/// What at least `k` documents gain by a single term: by the one that can add the most of those
/// with so many.
fn kth_gain(lists: &[List<'_>], k: usize) -> f64 {
    let Some(place) = k.checked_sub(1) else {
        return 0.0;
    };
    let long = lists.iter().rev().find(|it| it.adds.len() >= k);
    long.map_or(0.0, |it| {
        let mut adds = it.adds.to_vec();
        let (_, kth, _) = adds.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        f64::from(*kth) * (1.0 - 4.0 * SLACK)
    })
}

/// A term as it weighs once in a query.
fn unit(index: &Index, term: TermNo) -> QueryTerm {
    QueryTerm {
        term: String::new(),
        number: Some(term),
        count: 1,
        df: index.df(term),
        cf: index.cf(term),
    }
}

/// What `count` occurrences add over none.
fn gain(weighed: &Weighed, term: usize, count: u32, len: u32) -> f64 {
    match weighed {
        Weighed::Bm25 { .. } => weighed.contribution(term, count, len),
        Weighed::Dirichlet { .. } | Weighed::JelinekMercer { .. } => {
            weighed.contribution(term, count, len) - weighed.contribution(term, 0, len)
        }
    }
}

/// The weight of a term for its repetition in the query, against a single occurrence.
fn in_query(weighed: &Weighed, place: usize, term: &QueryTerm) -> f64 {
    match weighed {
        // At most c(w, Q): the first factor of BM25 is c(w, Q) for k3 = ∞ and below else.
        Weighed::Bm25 { .. } => f64::from(term.count),
        Weighed::Dirichlet { terms, .. } | Weighed::JelinekMercer { terms, .. } => {
            terms[place].map_or(0.0, |it| it.0)
        }
    }
}

/// The postings of one query term with a cursor.
struct List<'a> {
    /// Place among the query terms.
    place: usize,
    /// At least the weight for its repetition in the query.
    weight: f32,
    /// The most that it adds to a score.
    most: f32,
    postings: Postings<'a>,
    /// What each posting adds at the most, to be weighed.
    adds: &'a [f32],
    /// Where the cursor stood when the window began.
    window: usize,
    at: usize,
}

impl List<'_> {
    /// Adds what the documents of a window can gain and moves behind it.
    fn add(&mut self, first: usize, sums: &mut [f32]) {
        self.seek(first as DocNo);
        self.window = self.at;
        let docs = &self.postings.docs[self.at..];
        let adds = &self.adds[self.at..];
        let mut n_here = 0;
        for (&doc, &add) in docs.iter().zip(adds) {
            let Some(sum) = sums.get_mut(doc as usize - first) else {
                break;
            };
            *sum += add * self.weight;
            n_here += 1;
        }
        self.at += n_here;
    }

    /// Moves to a document and says what it gains at the most.
    fn look_up(&mut self, doc: DocNo) -> f64 {
        self.seek(doc);
        let here = self.postings.docs.get(self.at) == Some(&doc);
        if here {
            f64::from(self.adds[self.at] * self.weight)
        } else {
            0.0
        }
    }

    /// Occurrences in the document that was sought last.
    fn count_here(&self, doc: DocNo) -> u32 {
        let here = self.postings.docs.get(self.at) == Some(&doc);
        if here {
            self.postings.counts[self.at]
        } else {
            0
        }
    }

    /// Occurrences in a document of the window.
    fn count_behind(&self, doc: DocNo) -> u32 {
        let found = self.postings.docs[self.window..self.at].binary_search(&doc);
        found.map_or(0, |it| self.postings.counts[self.window + it])
    }

    /// Moves to the first document that is not before `doc`, by steps that double.
    fn seek(&mut self, doc: DocNo) {
        let rest = &self.postings.docs[self.at..];
        let mut step = 1;
        while step < rest.len() && rest[step] < doc {
            step *= 2;
        }
        let from = step / 2;
        let to = rest.len().min(step + 1);
        self.at += from + rest[from..to].partition_point(|&it| it < doc);
    }
}

/// The best hits so far; the worst of them is the root of a heap.
struct Best {
    k: usize,
    /// By what share a bound is widened.
    slack: f64,
    /// The part that bounds share: where it cancels a sum, the sum was still rounded.
    floor: f64,
    /// What the k-th score is at least.
    reached: f64,
    heap: std::collections::BinaryHeap<Worst>,
}

/// A hit ordered so that the one to drop first is the greatest.
#[derive(Clone, Copy)]
struct Worst(Hit);

impl Best {
    fn new(k: usize, slack: f64, floor: f64, reached: f64) -> Best {
        Best {
            k,
            slack,
            floor,
            reached,
            heap: std::collections::BinaryHeap::new(),
        }
    }

    /// Whether no document that scores at most `bound` can enter. Documents come in
    /// ascending order, so an equal score comes too late.
    fn beats(&self, bound: f64) -> bool {
        bound + (bound.abs() + self.floor.abs()) * self.slack < self.reached
    }

    /// Takes a hit that is good enough.
    fn offer(&mut self, hit: Hit) {
        if self.heap.len() < self.k {
            self.heap.push(Worst(hit));
        } else if self.heap.peek().is_some_and(|it| hit.score > it.0.score) {
            self.heap.pop();
            self.heap.push(Worst(hit));
        }
        if let Some(worst) = self.heap.peek().filter(|_| self.heap.len() == self.k) {
            self.reached = self.reached.max(worst.0.score);
        }
    }

    fn hits(self) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|it| it.0)
            .collect()
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Worst) -> std::cmp::Ordering {
        other
            .0
            .score
            .total_cmp(&self.0.score)
            .then(self.0.doc.cmp(&other.0.doc))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Worst) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Worst) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Worst {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Analyzer;

    /// A few hundred short texts over forty words, frequent ones first, without a file.
    fn texts() -> Vec<String> {
        let mut state = 7_u64;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
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

    /// Scores every document and sorts.
    fn all(index: &Index, ranker: Ranker, query: &QueryTerms, k: usize) -> Vec<Hit> {
        let weighed = ranker.weigh(query, &index.totals());
        let mut hits = Vec::new();
        for doc in 0..index.n_docs() as DocNo {
            let count = |it: &QueryTerm| {
                index
                    .terms(doc)
                    .iter()
                    .filter(|&&term| Some(term) == it.number)
                    .count() as u32
            };
            let counts: Vec<u32> = query.iter().map(count).collect();
            if counts.iter().any(|&it| it > 0) {
                hits.push(Hit {
                    doc,
                    score: weighed.score(&counts, index.len_of(doc)),
                });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        hits.truncate(k);
        hits
    }

    #[test]
    fn pruning_loses_nothing() {
        let texts = texts();
        let index = Index::build(&Analyzer::default(), texts.iter().map(|it| it.as_str())).unwrap();
        let rankers = [
            "bm25",
            "bm25:idf=rsj,k3=1",
            "bm25:k1=0,b=0",
            "ql:mu=10",
            "ql:lambda=0.3",
        ];
        for ranker in rankers.map(|it| it.parse::<Ranker>().unwrap()) {
            let searcher = Searcher::new(&index, ranker);
            for query in [
                "w0 w1 w2",
                "w0 w38",
                "w5 w5 w9 w17 nothing",
                "nothing",
                "w0",
            ] {
                let query = index.query_terms(query);
                for k in [0, 1, 10, 1000] {
                    assert_eq!(
                        searcher.top(&index, &query, k),
                        all(&index, ranker, &query, k),
                        "{ranker} {query:?} {k}"
                    );
                }
            }
        }
    }
}
