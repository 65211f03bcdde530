//! Instances, stored in columns.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AxiomVariant, Probe, ScoreClaim, ScoreClaimKind, StudyDocNo};
use crate::error::{Error, ErrorFieldName};
use crate::integer_column::{OwnedOrSharedIntegers, SharedIntegerColumn};

/// Whether `starts` has the offset of each query's rows, followed by the number of rows.
pub(crate) fn are_valid_row_offsets(starts: &[u32], n_queries: usize, n_rows: usize) -> bool {
    starts.len() == n_queries + 1
        && starts[0] == 0
        && starts.is_sorted()
        && starts[n_queries] as usize == n_rows
}

/// Everything in [`ProbeInstances`] except their documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstancesHeader {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant in which they were found.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// The number of each query before the maximum per query applies, as in
    /// [`ProbeInstances::n_found`].
    #[serde(alias = "found")]
    pub n_found: Vec<u32>,
    /// For each query the offset of its instances, followed by their number.
    pub starts: Vec<u32>,
}

/// All instances of one axiom in one variant, as columns of integers ordered by query and then by
/// documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeInstances {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant in which they were found.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// The kind of claim, which is the same for all instances of an axiom in a variant.
    pub claim: ScoreClaimKind,
    /// The number of instances of each query before the maximum per query applies.
    #[serde(alias = "found")]
    pub n_found: Vec<u32>,
    /// For each query the offset of its instances, followed by their number.
    starts: Vec<u32>,
    /// `arity` documents for each instance.
    #[schema(value_type = Vec<u32>)]
    #[serde(alias = "texts")]
    docs: OwnedOrSharedIntegers,
}

impl ProbeInstances {
    /// Creates the instances of a probe in a variant, without any query yet.
    pub fn new(probe: Probe, mode: AxiomVariant) -> ProbeInstances {
        ProbeInstances {
            probe,
            variant: mode,
            claim: probe.claim_kind(mode),
            n_found: Vec::new(),
            starts: vec![0],
            docs: Vec::new().into(),
        }
    }

    /// Creates instances whose documents come from a source. Returns an error if the column does
    /// not fit the header.
    pub fn from_shared_column(
        head: InstancesHeader,
        texts: Arc<dyn SharedIntegerColumn>,
    ) -> Result<ProbeInstances, Error> {
        let InstancesHeader {
            probe,
            variant: mode,
            n_found: found,
            starts,
        } = head;
        let lent = ProbeInstances {
            probe,
            variant: mode,
            claim: probe.claim_kind(mode),
            n_found: found,
            starts,
            docs: OwnedOrSharedIntegers::Shared(texts),
        };
        match lent.is_valid_for_queries(lent.n_found.len()) {
            true => Ok(lent),
            false => Err(Error::conflicting_value(
                ErrorFieldName::with_display_name("instances", probe.slug()),
                "the column of documents does not match its queries",
            )),
        }
    }

    /// Returns everything but the documents of the instances.
    pub fn header(&self) -> InstancesHeader {
        InstancesHeader {
            probe: self.probe,
            variant: self.variant,
            n_found: self.n_found.clone(),
            starts: self.starts.clone(),
        }
    }

    /// Returns the documents of all instances, one instance after the other.
    pub fn docs(&self) -> &[StudyDocNo] {
        &self.docs
    }

    /// Adds the next query: the documents of its instances one after the other, and the number of
    /// instances before the maximum per query applied.
    pub fn push_query_instances(
        &mut self,
        texts: impl IntoIterator<Item = StudyDocNo>,
        n_found: u32,
    ) {
        self.docs.extend(texts);
        self.starts
            .push((self.docs.len() / self.claim.arity()) as u32);
        self.n_found.push(n_found);
    }

    /// Whether the instances, which may come from an untrusted file, fit this number of queries.
    pub(crate) fn is_valid_for_queries(&self, n_queries: usize) -> bool {
        let arity = self.claim.arity();
        self.claim == self.probe.claim_kind(self.variant)
            && self.n_found.len() == n_queries
            && self.docs.len().is_multiple_of(arity)
            && are_valid_row_offsets(&self.starts, n_queries, self.docs.len() / arity)
    }

    /// Replaces document `t` by `numbers[t]` in every instance.
    pub fn renumber_docs(&mut self, numbers: &[StudyDocNo]) {
        let docs = self.docs.to_mut();
        docs.iter_mut().for_each(|it| *it = numbers[*it as usize]);
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        self.docs.len() / self.claim.arity()
    }

    /// Returns whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Returns the number of queries.
    pub fn n_queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of instances of one query.
    pub fn n_instances_of_query(&self, query: usize) -> usize {
        (self.starts[query + 1] - self.starts[query]) as usize
    }

    /// Returns the documents of one query's instances, one instance after the other.
    pub fn docs_of_query(&self, query: usize) -> &[StudyDocNo] {
        let arity = self.claim.arity();
        &self.docs[self.starts[query] as usize * arity..self.starts[query + 1] as usize * arity]
    }

    /// Iterates over the claims of one query.
    pub fn claims_of_query(
        &self,
        query: usize,
    ) -> impl Iterator<Item = ScoreClaim<StudyDocNo>> + '_ {
        let each = self.docs_of_query(query).chunks_exact(self.claim.arity());
        each.map(|it| self.claim.build_score_claim(it))
    }

    /// Returns the claim of the instance at an index.
    pub fn claim_at(&self, at: usize) -> ScoreClaim<StudyDocNo> {
        let arity = self.claim.arity();
        self.claim
            .build_score_claim(&self.docs[at * arity..(at + 1) * arity])
    }

    /// Returns the documents of the instance at an index.
    pub fn docs_of_instance(&self, at: usize) -> &[StudyDocNo] {
        let arity = self.claim.arity();
        &self.docs[at * arity..(at + 1) * arity]
    }

    /// Returns the index of the first instance of a query.
    pub fn first_instance_of_query(&self, query: usize) -> usize {
        self.starts[query] as usize
    }

    /// Returns the query of the instance at an index.
    pub fn query_of_instance(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= at) - 1
    }

    /// Returns the share of the found instances that the maximum per query kept, from 0 to 1; 1
    /// without a maximum.
    pub fn sampled_fraction(&self) -> f64 {
        let found: u64 = self.n_found.iter().map(|&it| u64::from(it)).sum();
        if found == 0 {
            1.0
        } else {
            self.len() as f64 / found as f64
        }
    }
}
