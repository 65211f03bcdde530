//! Mining: from the pools of queries to instances in columns.
//!
//! Each query is mined separately ([`InstanceMiner::mine_pooled_query`]), in any order and on any
//! thread, and [`MiningResult::from_query_results`] combines the results in the order of queries.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::features::{
    AxiomInstancesForQuery, DocumentFeatureExtractor, DocumentFeatures, QueryPoolFeatures,
    RequiredDocumentFeatures,
};
use super::{AxiomVariant, MiningThresholds, Probe, ProbeInstances, StudyDocNo};
use crate::collection::encode_hex;
use crate::index::{DocNo, Index};
use crate::word_vectors::IndexedWordVectors;

/// A document to score: one of the collection, or one derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum OriginalOrDerivedDocument {
    /// A document of the collection.
    #[serde(alias = "document")]
    Original {
        /// The number of the document in the collection.
        doc: DocNo,
    },
    /// The body of a document several times, joined by spaces (LNC2).
    Repeated {
        /// The number of the document in the collection.
        doc: DocNo,
        /// How many times the body is repeated.
        times: u32,
    },
}

impl OriginalOrDerivedDocument {
    /// Returns the number of the document, or of the one that it is derived from.
    pub fn source_doc(self) -> DocNo {
        match self {
            OriginalOrDerivedDocument::Original { doc }
            | OriginalOrDerivedDocument::Repeated { doc, .. } => doc,
        }
    }

    /// Returns the same with another document number.
    pub fn with_source_doc(self, doc: DocNo) -> OriginalOrDerivedDocument {
        match self {
            OriginalOrDerivedDocument::Original { .. } => {
                OriginalOrDerivedDocument::Original { doc }
            }
            OriginalOrDerivedDocument::Repeated { times, .. } => {
                OriginalOrDerivedDocument::Repeated { doc, times }
            }
        }
    }

    /// Returns the id: `421`, or `421#lnc2:3` for a derived document.
    pub fn id(self, doc_id: &str) -> String {
        match self {
            OriginalOrDerivedDocument::Original { .. } => doc_id.to_owned(),
            OriginalOrDerivedDocument::Repeated { times, .. } => format!("{doc_id}#lnc2:{times}"),
        }
    }

    /// Parses an id. The id of a document of the collection may contain `#lnc2:3` itself, so it
    /// takes precedence over that of a derived document.
    pub fn parse_id(
        id: &str,
        doc_of: impl Fn(&str) -> Option<DocNo>,
    ) -> Option<OriginalOrDerivedDocument> {
        if let Some(doc) = doc_of(id) {
            return Some(OriginalOrDerivedDocument::Original { doc });
        }
        let (doc, times) = id.rsplit_once("#lnc2:")?;
        let times = times
            .parse()
            .ok()
            .filter(|it| (1..=MiningThresholds::MAX_REPEATED_DOC_TERMS).contains(it));
        Some(OriginalOrDerivedDocument::Repeated {
            doc: doc_of(doc)?,
            times: times?,
        })
    }

    /// Returns the text to analyze and score.
    pub fn text_to_score(self, doc_body: &str) -> String {
        match self {
            OriginalOrDerivedDocument::Original { .. } => doc_body.to_owned(),
            OriginalOrDerivedDocument::Repeated { times, .. } => {
                vec![doc_body; times as usize].join(" ")
            }
        }
    }
}

/// The instances of one query, before they are combined into columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryMiningResult {
    pool: Vec<DocNo>,
    /// The documents of the pool and those derived from them, ascending.
    #[serde(with = "untagged_documents")]
    study_docs: Vec<OriginalOrDerivedDocument>,
    /// For each axiom and variant the indexes in `study_docs` of its instances, and the number of
    /// instances before the maximum per query applied.
    found: Vec<(Vec<u32>, u32)>,
}

impl QueryMiningResult {
    /// Returns for each document whether it is one of the pool or of an instance that is kept.
    fn are_docs_kept(&self) -> Vec<bool> {
        let is_original = |it: &OriginalOrDerivedDocument| {
            matches!(it, OriginalOrDerivedDocument::Original { .. })
        };
        let mut kept: Vec<bool> = self.study_docs.iter().map(is_original).collect();
        let instances = self.found.iter().flat_map(|it| &it.0);
        instances.for_each(|&it| kept[it as usize] = true);
        kept
    }

    /// Returns the documents that have to be scored, ascending: those of the pool and of the
    /// instances.
    pub fn docs_to_score(&self) -> impl Iterator<Item = OriginalOrDerivedDocument> + '_ {
        let pooled = self.pool.iter();
        let pooled = pooled.map(|&doc| OriginalOrDerivedDocument::Original { doc });
        let mut is_needed = vec![false; self.study_docs.len()];
        for doc in pooled {
            if let Ok(at) = self.study_docs.binary_search(&doc) {
                is_needed[at] = true;
            }
        }
        let instances = self.found.iter().flat_map(|it| &it.0);
        instances.for_each(|&it| is_needed[it as usize] = true);
        let docs = self.study_docs.iter().zip(is_needed);
        docs.filter(|it| it.1).map(|it| *it.0)
    }

    /// Whether these documents are an instance of the axiom and variant at an index, if no maximum
    /// per query applies.
    pub(crate) fn contains_instance(
        &self,
        which: usize,
        texts: &[OriginalOrDerivedDocument],
    ) -> bool {
        let place =
            |it: &OriginalOrDerivedDocument| self.study_docs.binary_search(it).map(|it| it as u32);
        let Ok(wanted) = texts.iter().map(place).collect::<Result<Vec<u32>, _>>() else {
            return false;
        };
        let places = &self.found[which].0;
        let at = |n: usize| &places[n * wanted.len()..(n + 1) * wanted.len()];
        let (mut from, mut to) = (0, places.len() / wanted.len());
        while from < to {
            let middle = from.midpoint(to);
            match at(middle).cmp(&wanted) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return true,
                Ordering::Greater => to = middle,
            }
        }
        false
    }

    /// Returns the number of all instances.
    pub fn n_instances(&self, asked: &[(Probe, AxiomVariant)]) -> u64 {
        let each = self.found.iter().zip(asked);
        each.map(|((texts, _), it)| (texts.len() / it.0.claim_kind(it.1).arity()) as u64)
            .sum()
    }
}

/// Documents in a format without field names, which cannot tell kinds by a tag: the number of the
/// document, and how many times its body is repeated in a derived one.
mod untagged_documents {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::OriginalOrDerivedDocument;
    use crate::index::DocNo;

    pub(super) fn serialize<S: Serializer>(
        docs: &[OriginalOrDerivedDocument],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(docs.iter().map(|it| match *it {
            OriginalOrDerivedDocument::Original { doc } => (doc, None),
            OriginalOrDerivedDocument::Repeated { doc, times } => (doc, Some(times)),
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OriginalOrDerivedDocument>, D::Error> {
        let docs = Vec::<(DocNo, Option<u32>)>::deserialize(deserializer)?;
        let docs = docs.into_iter().map(|(doc, times)| match times {
            None => OriginalOrDerivedDocument::Original { doc },
            Some(times) => OriginalOrDerivedDocument::Repeated { doc, times },
        });
        Ok(docs.collect())
    }
}

/// All instances of a study's probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MiningResult {
    /// The documents of the pools in ascending order, then those derived from them.
    pub study_docs: Vec<OriginalOrDerivedDocument>,
    /// For each query its documents, in the order of the pool.
    pub pools: Vec<Vec<StudyDocNo>>,
    /// One entry for each axiom and variant.
    pub instances: Vec<ProbeInstances>,
}

/// Mines the instances of some probes in the pool of any query.
#[derive(Clone, Copy)]
pub struct InstanceMiner<'a> {
    /// The index of the whole collection.
    pub index: &'a Index,
    /// Word vectors; without them, axioms that need them find nothing.
    pub word_vectors: Option<&'a IndexedWordVectors<'a>>,
    /// The probes and their variants.
    pub probes: &'a [(Probe, AxiomVariant)],
    /// The limits that preconditions are compared with.
    pub limits: &'a MiningThresholds,
}

impl InstanceMiner<'_> {
    /// Finds the instances of one query in its pool.
    pub fn mine_pooled_query(&self, pooled: &PooledQuery<'_>) -> QueryMiningResult {
        mine_query(self, pooled)
    }
}

/// A query with the documents of its pool.
#[derive(Debug, Clone, Copy)]
pub struct PooledQuery<'a> {
    /// The text of the query, as written.
    pub query: &'a str,
    /// The documents that are compared.
    pub docs: &'a [DocNo],
    /// The grades of the documents; empty if no probe needs them.
    pub grades: &'a [Option<i32>],
    /// Samples with added documents, each with the index of its probe among the requested ones.
    pub added_samples: &'a [(u32, [DocNo; 2])],
}

impl<'a> PooledQuery<'a> {
    /// Creates a pool without grades and added samples.
    pub fn from_ungraded_docs(query: &'a str, docs: &'a [DocNo]) -> PooledQuery<'a> {
        PooledQuery {
            query,
            docs,
            grades: &[],
            added_samples: &[],
        }
    }
}

fn mine_query(miner: &InstanceMiner<'_>, pooled: &PooledQuery<'_>) -> QueryMiningResult {
    let PooledQuery {
        query,
        docs: pool,
        grades,
        added_samples: beside,
    } = *pooled;
    let InstanceMiner {
        index,
        word_vectors: known,
        probes: asked,
        limits,
    } = *miner;
    let terms = index.query_term_statistics(query);
    let needs = RequiredDocumentFeatures::union(
        asked
            .iter()
            .map(|&(probe, mode)| probe.required_document_features(mode)),
    );
    let compares = asked
        .iter()
        .any(|(probe, _)| probe.needs_word_vectors() && !probe.adds_docs_to_collection());
    let known = known.filter(|_| compares);
    let counting = DocumentFeatureExtractor::for_query(index, known, query, &terms, needs);
    let counted = pool
        .iter()
        .enumerate()
        .map(|(place, &doc)| DocumentFeatures {
            grade: grades.get(place).copied().flatten(),
            ..counting.extract(doc)
        });
    let counted: Vec<DocumentFeatures> = counted.collect();
    let alike = counting.pairwise_query_term_similarities();
    let case = QueryPoolFeatures {
        query: &terms,
        pool: &counted,
        limits,
        totals: index.collection_totals(),
        term_similarities: &alike,
    };
    let found: Vec<AxiomInstancesForQuery> = asked
        .iter()
        .map(|&(probe, mode)| probe.find_instances_in_pool(mode, &case))
        .collect();

    let derived = |&(of, times): &(u32, u32)| OriginalOrDerivedDocument::Repeated {
        doc: pool[of as usize],
        times,
    };
    let document = |&doc: &DocNo| OriginalOrDerivedDocument::Original { doc };
    let made = found.iter().flat_map(|it| &it.derived).map(derived);
    let others = beside.iter().flat_map(|it| &it.1).map(document);
    let mut texts: Vec<OriginalOrDerivedDocument> = pool
        .iter()
        .map(document)
        .chain(made)
        .chain(others)
        .collect();
    texts.sort_unstable();
    texts.dedup();
    let place = |text: OriginalOrDerivedDocument| {
        texts.binary_search(&text).expect("it is a pooled document") as u32
    };

    let in_pool: Vec<u32> = pool.iter().map(|it| place(document(it))).collect();
    let found = found.iter().zip(asked).zip(0..);
    let found = found.map(|((found, &(probe, mode)), which)| {
        let made = found.derived.iter().map(|it| place(derived(it)));
        let places: Vec<u32> = in_pool.iter().copied().chain(made).collect();
        let own = beside.iter().filter(|it| it.0 == which);
        let own = own.flat_map(|it| &it.1).map(|it| place(document(it)));
        let texts = found
            .positions
            .iter()
            .map(|&it| places[it as usize])
            .chain(own);
        let draw = |n: usize| match limits.max_per_query {
            Some(most) => sample(n, most, limits.seed, probe, query),
            None => (0..n).collect(),
        };
        let texts: Vec<u32> = texts.collect();
        match probe.claim_kind(mode).arity() {
            2 => in_order::<2>(&texts, draw),
            _ => in_order::<3>(&texts, draw),
        }
    });
    let found = found.collect();
    QueryMiningResult {
        pool: pool.to_vec(),
        study_docs: texts,
        found,
    }
}

/// Returns the instances of `N` documents each that `draw` picks, ascending, with the number of
/// instances before.
fn in_order<const N: usize>(texts: &[u32], draw: impl Fn(usize) -> Vec<usize>) -> (Vec<u32>, u32) {
    let mut all: Vec<[u32; N]> = texts.as_chunks::<N>().0.to_vec();
    all.sort_unstable();
    let drawn = draw(all.len());
    (
        drawn.iter().flat_map(|&at| all[at]).collect(),
        all.len() as u32,
    )
}

/// Returns at most `most` of the first `n` numbers, drawn without replacement, ascending. The draw
/// depends only on the seed, the probe and the query, so it is the same on any thread.
fn sample(n: usize, most: u32, seed: u64, probe: Probe, query: &str) -> Vec<usize> {
    draw_random_indices(n, most, seed, &format!("{}\n{query}", probe.slug()))
}

/// Draws like [`sample`]; `what` identifies the population and is part of the seed.
pub(super) fn draw_random_indices(n: usize, most: u32, seed: u64, what: &str) -> Vec<usize> {
    let most = most as usize;
    let mut drawn: Vec<usize> = (0..n).collect();
    if n <= most {
        return drawn;
    }
    let digest = Sha256::digest(format!("{seed}\n{what}"));
    let mut random = Pcg64::from_seed(digest.into());
    for at in 0..most {
        let left = (n - at) as u64;
        let pick = ((u128::from(random.next_u64()) * u128::from(left)) >> 64) as usize;
        drawn.swap(at, at + pick);
    }
    drawn.truncate(most);
    drawn.sort_unstable();
    drawn
}

/// Computes the SHA-256 of instances that are added a few queries at a time.
///
/// Each axiom and variant has a digest over one line per instance: axiom, variant, claim, query id
/// and document ids, separated by tabs. The result is the digest over these digests, each in hex on
/// a line.
pub struct InstanceHasher {
    digests: Vec<(Probe, AxiomVariant, Sha256)>,
    line: String,
}

impl InstanceHasher {
    /// Creates a hasher for some probes and variants, without instances yet.
    pub fn with_probes_and_variants(
        asked: impl IntoIterator<Item = (Probe, AxiomVariant)>,
    ) -> InstanceHasher {
        let parts = asked.into_iter().map(|it| (it.0, it.1, Sha256::new()));
        InstanceHasher {
            digests: parts.collect(),
            line: String::new(),
        }
    }

    /// Adds the instances of the next queries, in the order of probes and variants.
    pub fn add_query_instances(
        &mut self,
        mined: &MiningResult,
        query_ids: &[&str],
        doc_id: impl Fn(DocNo) -> String,
    ) {
        let ids: Vec<String> = mined
            .study_docs
            .iter()
            .map(|it| it.id(&doc_id(it.source_doc())))
            .collect();
        for (part, instances) in mined.instances.iter().enumerate() {
            for (query, id) in query_ids.iter().enumerate() {
                let texts = instances
                    .docs_of_query(query)
                    .chunks(instances.claim.arity());
                for texts in texts {
                    let texts = texts.iter().map(|&it| ids[it as usize].as_str());
                    self.add_instance(part, id, texts);
                }
            }
        }
    }

    /// Adds the next instance of the probe and variant at an index.
    pub fn add_instance<'a>(
        &mut self,
        part: usize,
        query_id: &'a str,
        text_ids: impl Iterator<Item = &'a str>,
    ) {
        let InstanceHasher {
            digests: parts,
            line,
        } = self;
        let (probe, mode, hash) = &mut parts[part];
        line.clear();
        line.push_str(&probe.slug());
        for field in [mode.slug(), probe.claim_kind(*mode).slug(), query_id]
            .into_iter()
            .chain(text_ids)
        {
            line.push('\t');
            line.push_str(field);
        }
        line.push('\n');
        hash.update(line.as_bytes());
    }

    /// Returns the digest over all parts, in hexadecimal digits.
    pub fn finish(self) -> String {
        let mut whole = Sha256::new();
        for (_, _, part) in self.digests {
            whole.update(encode_hex(&part.finalize()));
            whole.update("\n");
        }
        encode_hex(&whole.finalize())
    }
}

/// Combines the results of queries into columns while they are mined: instances are in memory once.
pub struct MiningResultBuilder {
    /// The documents, each with its number until all queries are there.
    numbers: BTreeMap<OriginalOrDerivedDocument, StudyDocNo>,
    pools: Vec<Vec<StudyDocNo>>,
    instances: Vec<ProbeInstances>,
}

impl MiningResultBuilder {
    /// Creates a builder for the instances of some probes and variants.
    pub fn with_probes_and_variants(asked: &[(Probe, AxiomVariant)]) -> MiningResultBuilder {
        let columns = asked
            .iter()
            .map(|&(probe, mode)| ProbeInstances::new(probe, mode));
        MiningResultBuilder {
            numbers: BTreeMap::new(),
            pools: Vec::new(),
            instances: columns.collect(),
        }
    }

    /// Adds the result of the next query.
    pub fn add_query(&mut self, mined: QueryMiningResult) {
        let docs = mined.study_docs.iter().zip(mined.are_docs_kept());
        let numbers = docs.map(|(&doc, is_kept)| {
            let next = self.numbers.len() as StudyDocNo;
            match is_kept {
                true => *self.numbers.entry(doc).or_insert(next),
                // A derived document of an instance that was not kept has no number, and is never
                // used.
                false => StudyDocNo::MAX,
            }
        });
        let numbers: Vec<StudyDocNo> = numbers.collect();
        let pool = mined.pool.iter();
        let pool = pool.map(|&doc| self.numbers[&OriginalOrDerivedDocument::Original { doc }]);
        self.pools.push(pool.collect());
        for (all, (found, n_found)) in self.instances.iter_mut().zip(&mined.found) {
            all.push_query_instances(found.iter().map(|&it| numbers[it as usize]), *n_found);
        }
    }

    /// Returns the combined result, with the documents in order.
    pub fn finish(self) -> MiningResult {
        let MiningResultBuilder {
            numbers,
            mut pools,
            mut instances,
        } = self;
        let mut place = vec![0; numbers.len()];
        for (at, &number) in (0..).zip(numbers.values()) {
            place[number as usize] = at;
        }
        for number in pools.iter_mut().flatten() {
            *number = place[*number as usize];
        }
        for it in &mut instances {
            it.renumber_docs(&place);
        }
        MiningResult {
            study_docs: numbers.into_keys().collect(),
            pools,
            instances,
        }
    }
}

impl MiningResult {
    /// Combines the results of all queries, in the order of queries, into columns.
    pub fn from_query_results(
        asked: &[(Probe, AxiomVariant)],
        shards: Vec<QueryMiningResult>,
    ) -> MiningResult {
        let mut builder = MiningResultBuilder::with_probes_and_variants(asked);
        shards.into_iter().for_each(|it| builder.add_query(it));
        builder.finish()
    }

    /// Computes the [`InstanceHasher`] digest of all instances. Two results are compared only if
    /// their hashes are equal.
    pub fn digest_instances(&self, query_ids: &[&str], doc_id: impl Fn(DocNo) -> String) -> String {
        let mut hashing = InstanceHasher::with_probes_and_variants(
            self.instances.iter().map(|it| (it.probe, it.variant)),
        );
        hashing.add_query_instances(self, query_ids, doc_id);
        hashing.finish()
    }

    /// Returns the number of instances of each probe, in the first variant that was mined.
    pub fn first_variant_counts_by_probe(&self) -> BTreeMap<Probe, u64> {
        let mut counts = BTreeMap::new();
        for it in &self.instances {
            counts.entry(it.probe).or_insert(it.len() as u64);
        }
        counts
    }
}
