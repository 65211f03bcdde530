//! The best k documents of a query, exactly, without scoring them all.
//!
//! MaxScore (Turtle & Flood, IPM 1995): terms are kept in the order of the most they can add
//! to any score. Once k documents are known, terms whose sum cannot lift a document above the
//! k-th score are no longer walked, only looked up in documents that another term brought.
//! What a term can add is measured once for a formula ([`Searcher::new`]), over its postings.

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
    /// For each term the most that one occurrence in the query can add to a score.
    most: Vec<f64>,
}

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which.
    pub doc: DocNo,
    /// Its score.
    pub score: f64,
}

/// Bounds are widened by this share, since they are summed in another order than scores.
const SLACK: f64 = 1e-9;

impl Searcher {
    /// Measures what each term can add.
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
        let mut searcher = Searcher {
            ranker,
            totals,
            shortest,
            most: Vec::new(),
        };
        let n_terms = index.vocabulary().len() as TermNo;
        let most = (0..n_terms)
            .map(|it| searcher.most_of(index, it, &lengths))
            .collect();
        searcher.most = most;
        searcher
    }

    /// The best `k` documents among those that hold a term of the query: higher scores
    /// first, equal scores in the order of documents. `index` is the one that was measured.
    pub fn top(&self, index: &Index, query: &QueryTerms, k: usize) -> Vec<Hit> {
        let weighed = self.ranker.weigh(query, &self.totals);
        let floor = self.floor(&weighed);
        let mut lists: Vec<List<'_>> = query
            .iter()
            .enumerate()
            .filter_map(|(place, term)| {
                let number = term.number?;
                let postings = index.postings(number);
                let most = self.most[number as usize] * in_query(&weighed, place, term);
                Some(List {
                    place,
                    most: most.max(0.0),
                    postings,
                    at: 0,
                })
            })
            .collect();
        lists.sort_by(|a, b| a.most.total_cmp(&b.most).then(a.place.cmp(&b.place)));
        walk(index, &weighed, lists, floor, k)
    }

    /// The most that one occurrence of a term in the query adds over a text without it.
    fn most_of(&self, index: &Index, term: TermNo, lengths: &[u32]) -> f64 {
        let unit = QueryTerm {
            term: String::new(),
            number: Some(term),
            count: 1,
            df: index.df(term),
            cf: index.cf(term),
        };
        let weighed = self.ranker.weigh(&vec![unit], &self.totals);
        let Postings { docs, counts } = index.postings(term);
        let gains = docs.iter().zip(counts);
        gains
            .map(|(&doc, &count)| gain(&weighed, 0, count, lengths[doc as usize]))
            .fold(f64::NEG_INFINITY, f64::max)
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

/// Walks the lists of terms that can still decide, from the first `needed` on.
fn walk(
    index: &Index,
    weighed: &Weighed,
    mut lists: Vec<List<'_>>,
    floor: f64,
    k: usize,
) -> Vec<Hit> {
    // The most that each list and those before it can add together.
    let mut sum = 0.0;
    let adds: Vec<f64> = lists
        .iter()
        .map(|it| {
            sum += it.most;
            sum
        })
        .collect();
    let mut best = Best::new(k);
    let mut counts = vec![0; lists.iter().map(|it| it.place + 1).max().unwrap_or(0)];
    let mut needed = 0;
    while k > 0 && needed < lists.len() {
        let next = lists[needed..].iter().filter_map(List::doc).min();
        let Some(doc) = next else { break };
        let len = index.len_of(doc);
        counts.fill(0);
        let mut bound = floor;
        for list in &mut lists[needed..] {
            if list.doc() == Some(doc) {
                let count = list.postings.counts[list.at];
                counts[list.place] = count;
                bound += gain(weighed, list.place, count, len);
                list.at += 1;
            }
        }
        let mut hopeless = false;
        for at in (0..needed).rev() {
            if best.beats(bound + adds[at]) {
                hopeless = true;
                break;
            }
            let list = &mut lists[at];
            list.seek(doc);
            if list.doc() == Some(doc) {
                let count = list.postings.counts[list.at];
                counts[list.place] = count;
                bound += gain(weighed, list.place, count, len);
            }
        }
        if hopeless || best.beats(bound) {
            continue;
        }
        if best.offer(Hit {
            doc,
            score: weighed.score(&counts, len),
        }) {
            while needed < lists.len() && best.beats(floor + adds[needed]) {
                needed += 1;
            }
        }
    }
    best.hits()
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
    most: f64,
    postings: Postings<'a>,
    at: usize,
}

impl List<'_> {
    fn doc(&self) -> Option<DocNo> {
        self.postings.docs.get(self.at).copied()
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
    heap: std::collections::BinaryHeap<Worst>,
}

/// A hit ordered so that the one to drop first is the greatest.
#[derive(Clone, Copy)]
struct Worst(Hit);

impl Best {
    fn new(k: usize) -> Best {
        Best {
            k,
            heap: std::collections::BinaryHeap::new(),
        }
    }

    /// Whether no document that scores at most `bound` can enter. Documents come in
    /// ascending order, so an equal score comes too late.
    fn beats(&self, bound: f64) -> bool {
        self.heap.len() == self.k
            && self
                .heap
                .peek()
                .is_some_and(|it| bound + bound.abs() * SLACK < it.0.score)
    }

    /// Takes a hit that is good enough; whether the list is full after it.
    fn offer(&mut self, hit: Hit) -> bool {
        if self.heap.len() < self.k {
            self.heap.push(Worst(hit));
        } else if self.heap.peek().is_some_and(|it| hit.score > it.0.score) {
            self.heap.pop();
            self.heap.push(Worst(hit));
        }
        self.heap.len() == self.k
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
