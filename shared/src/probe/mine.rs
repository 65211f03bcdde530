//! Mining: from the pools of queries to instances in columns.
//!
//! A shard is one query ([`mine_query`]); shards may run in any order and anywhere, and
//! [`Mined::collect`] puts them together in the same way.

use std::collections::BTreeMap;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::axiom::Axiom;
use super::counts::{Case, Counted};
use super::{Instances, Limits, Mode, TextNo};
use crate::collection::hex;
use crate::index::{DocNo, Index};

/// What is scored: a document, or a text made from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Text {
    /// A document as it is.
    Document {
        /// Place among the documents.
        doc: DocNo,
    },
    /// A document's body several times, joined by spaces (LNC2).
    Repeated {
        /// Place among the documents.
        doc: DocNo,
        /// How often.
        times: u32,
    },
}

impl Text {
    /// The document it is or is made from.
    pub fn doc(self) -> DocNo {
        match self {
            Text::Document { doc } | Text::Repeated { doc, .. } => doc,
        }
    }

    /// The same text of another document number.
    pub fn with_doc(self, doc: DocNo) -> Text {
        match self {
            Text::Document { .. } => Text::Document { doc },
            Text::Repeated { times, .. } => Text::Repeated { doc, times },
        }
    }

    /// `421`, or `421#lnc2:3` for a derived text.
    pub fn id(self, doc_id: &str) -> String {
        match self {
            Text::Document { .. } => doc_id.to_owned(),
            Text::Repeated { times, .. } => format!("{doc_id}#lnc2:{times}"),
        }
    }

    /// What an id stands for. A document may have `#lnc2:3` in its own id, so the id of a
    /// document goes before that of a derived text.
    pub fn parse(id: &str, doc_of: impl Fn(&str) -> Option<DocNo>) -> Option<Text> {
        if let Some(doc) = doc_of(id) {
            return Some(Text::Document { doc });
        }
        let (doc, times) = id.rsplit_once("#lnc2:")?;
        let times = times
            .parse()
            .ok()
            .filter(|it| (1..=Limits::MOST_REPEATED_TERMS).contains(it));
        Some(Text::Repeated {
            doc: doc_of(doc)?,
            times: times?,
        })
    }

    /// What is analysed and scored.
    pub fn body(self, doc_body: &str) -> String {
        match self {
            Text::Document { .. } => doc_body.to_owned(),
            Text::Repeated { times, .. } => vec![doc_body; times as usize].join(" "),
        }
    }
}

/// The instances of one query, not yet in columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryMined {
    pool: Vec<DocNo>,
    /// For each axiom and mode the texts of its instances, and how many there were before a
    /// cap.
    found: Vec<(Vec<Text>, u32)>,
}

impl QueryMined {
    /// How many instances there are in all.
    pub fn n_instances(&self, asked: &[(Axiom, Mode)]) -> u64 {
        let each = self.found.iter().zip(asked);
        each.map(|((texts, _), it)| (texts.len() / it.0.claim(it.1).arity()) as u64)
            .sum()
    }
}

/// All instances of a study's axioms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mined {
    /// Documents of the pools in ascending order, then what was derived from them.
    pub texts: Vec<Text>,
    /// For each query its texts, in the order of the pool.
    pub pools: Vec<Vec<TextNo>>,
    /// One for each axiom and mode.
    pub instances: Vec<Instances>,
}

/// Mines one query.
pub fn mine_query(
    index: &Index,
    query: &str,
    pool: &[DocNo],
    asked: &[(Axiom, Mode)],
    limits: &Limits,
) -> QueryMined {
    let terms = index.query_terms(query);
    let count = if asked.iter().any(|it| it.0.needs_others(it.1)) {
        Counted::with_others
    } else {
        Counted::new
    };
    let counted: Vec<Counted> = pool
        .iter()
        .map(|&doc| count(index.terms(doc), &terms))
        .collect();
    let case = Case {
        query: &terms,
        pool: &counted,
        limits,
    };
    let found = asked.iter().map(|&(axiom, mode)| {
        let found = axiom.mine(mode, &case);
        let text = |&place: &u32| match place.checked_sub(pool.len() as u32) {
            None => Text::Document {
                doc: pool[place as usize],
            },
            Some(derived) => {
                let (of, times) = found.derived[derived as usize];
                Text::Repeated {
                    doc: pool[of as usize],
                    times,
                }
            }
        };
        let texts: Vec<Text> = found.places.iter().map(text).collect();
        let arity = axiom.claim(mode).arity();
        let n_found = (texts.len() / arity) as u32;
        let mut order: Vec<u32> = (0..n_found).collect();
        order.sort_unstable_by_key(|&at| {
            let at = at as usize * arity;
            (texts[at], texts[at + 1], texts[at + arity - 1])
        });
        if let Some(most) = limits.per_query {
            sample(&mut order, most, limits.seed, axiom, query);
        }
        let texts = order
            .iter()
            .flat_map(|&at| &texts[at as usize * arity..(at as usize + 1) * arity])
            .copied();
        (texts.collect(), n_found)
    });
    QueryMined {
        pool: pool.to_vec(),
        found: found.collect(),
    }
}

/// Keeps `most` of the places, drawn without replacement and left in order. The draw depends
/// on the seed, the axiom and the query alone, so a shard draws the same wherever it runs.
fn sample(order: &mut Vec<u32>, most: u32, seed: u64, axiom: Axiom, query: &str) {
    let most = most as usize;
    if order.len() <= most {
        return;
    }
    let digest = Sha256::digest(format!("{seed}\n{}\n{query}", axiom.slug()));
    let mut random = Pcg64::from_seed(digest.into());
    for at in 0..most {
        let left = (order.len() - at) as u64;
        let pick = ((u128::from(random.next_u64()) * u128::from(left)) >> 64) as usize;
        order.swap(at, at + pick);
    }
    order.truncate(most);
    order.sort_unstable();
}

impl Mined {
    /// Puts the shards of all queries, in the order of queries, into columns.
    pub fn collect(asked: &[(Axiom, Mode)], shards: Vec<QueryMined>) -> Mined {
        let pooled = shards.iter().flat_map(|it| &it.pool);
        let pooled = pooled.map(|&doc| Text::Document { doc });
        let mined = shards
            .iter()
            .flat_map(|it| &it.found)
            .flat_map(|it| it.0.iter().copied());
        let mut texts: Vec<Text> = pooled.chain(mined).collect();
        texts.sort_unstable();
        texts.dedup();
        let number = |text: &Text| {
            texts
                .binary_search(text)
                .expect("every text of a shard was collected") as TextNo
        };
        let pools = shards.iter().map(|it| {
            it.pool
                .iter()
                .map(|&doc| number(&Text::Document { doc }))
                .collect()
        });
        let pools = pools.collect();
        let instances = asked.iter().enumerate().map(|(at, &(axiom, mode))| {
            let mut all = Instances::new(axiom, mode);
            for shard in &shards {
                let (texts, n_found) = &shard.found[at];
                all.push_query(texts.iter().map(number), *n_found);
            }
            all
        });
        let instances = instances.collect();
        Mined {
            texts,
            pools,
            instances,
        }
    }

    /// SHA-256, in hex, over one line for each instance: axiom, mode, claim, query id and
    /// text ids, parted by tabs. Two results are compared only if their hashes are equal.
    pub fn hash(&self, query_ids: &[&str], doc_id: impl Fn(DocNo) -> String) -> String {
        let ids: Vec<String> = self
            .texts
            .iter()
            .map(|it| it.id(&doc_id(it.doc())))
            .collect();
        let mut hasher = Sha256::new();
        for instances in &self.instances {
            let head = format!(
                "{}\t{}\t{}",
                instances.axiom.slug(),
                instances.mode.name(),
                instances.claim.name()
            );
            for (query, id) in query_ids.iter().enumerate() {
                for claim in instances.of(query) {
                    hasher.update(&head);
                    hasher.update("\t");
                    hasher.update(id);
                    for text in claim.texts() {
                        hasher.update("\t");
                        hasher.update(&ids[text as usize]);
                    }
                    hasher.update("\n");
                }
            }
        }
        hex(&hasher.finalize())
    }

    /// How many instances each axiom has, in the first mode that it was mined in.
    pub fn n_instances(&self) -> BTreeMap<Axiom, u64> {
        let mut counts = BTreeMap::new();
        for it in &self.instances {
            counts.entry(it.axiom).or_insert(it.len() as u64);
        }
        counts
    }
}
