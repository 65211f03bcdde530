//! Instances in columns.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::doc_column::{DocColumn, DocColumnSource};
use super::{AxiomVariant, Claim, ClaimKind, Probe, StudyDocNo};
use crate::error::{Error, InvalidField};

/// Whether `starts` say for each query where its rows begin, and at last their number.
pub(crate) fn are_valid_starts(starts: &[u32], n_queries: usize, n_rows: usize) -> bool {
    starts.len() == n_queries + 1
        && starts[0] == 0
        && starts.is_sorted()
        && starts[n_queries] as usize == n_rows
}

/// What [`Instances`] hold beside their texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstancesHeader {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The mode in which they were found.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// How many each query had before a cap, as in [`Instances::n_found`].
    #[serde(alias = "found")]
    pub n_found: Vec<u32>,
    /// For each query where its instances begin, and at last their number.
    pub starts: Vec<u32>,
}

/// All instances of one axiom in one mode: integers in columns, ordered by query and then by
/// texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Instances {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The mode in which they were found.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// Every instance of an axiom in a mode makes the same kind of claim.
    pub claim: ClaimKind,
    /// How many each query had before a cap; equal to what is kept without one.
    #[serde(alias = "found")]
    pub n_found: Vec<u32>,
    /// For each query where its instances begin, and at last their number.
    starts: Vec<u32>,
    /// `arity` texts for each instance.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>))]
    #[serde(alias = "texts")]
    docs: DocColumn,
}

impl Instances {
    /// Makes the instances of a probe in a mode, without any query yet.
    pub fn new(probe: Probe, mode: AxiomVariant) -> Instances {
        Instances {
            probe,
            variant: mode,
            claim: probe.claim(mode),
            n_found: Vec::new(),
            starts: vec![0],
            docs: DocColumn::Owned(Vec::new()),
        }
    }

    /// The same instances with their texts from a lender, which has to have the same.
    pub fn from_column_source(
        head: InstancesHeader,
        texts: Arc<dyn DocColumnSource>,
    ) -> Result<Instances, Error> {
        let InstancesHeader {
            probe,
            variant: mode,
            n_found: found,
            starts,
        } = head;
        let lent = Instances {
            probe,
            variant: mode,
            claim: probe.claim(mode),
            n_found: found,
            starts,
            docs: DocColumn::Shared(texts),
        };
        match lent.is_valid(lent.n_found.len()) {
            true => Ok(lent),
            false => Err(Error::conflict(
                InvalidField::with_display("instances", probe.slug()),
                "the column of documents does not match its queries",
            )),
        }
    }

    /// Returns everything but the texts of the instances.
    pub fn header(&self) -> InstancesHeader {
        InstancesHeader {
            probe: self.probe,
            variant: self.variant,
            n_found: self.n_found.clone(),
            starts: self.starts.clone(),
        }
    }

    /// The texts of all instances, one instance after the other.
    pub fn docs(&self) -> &[StudyDocNo] {
        &self.docs
    }

    /// Adds the next query: the texts of its instances one after the other, and how many
    /// instances there were before a cap.
    pub fn push_query(&mut self, texts: impl IntoIterator<Item = StudyDocNo>, n_found: u32) {
        self.docs.extend(texts);
        self.starts
            .push((self.docs.len() / self.claim.arity()) as u32);
        self.n_found.push(n_found);
    }

    /// Whether these are instances of so many queries: what was read may be anything.
    pub(crate) fn is_valid(&self, n_queries: usize) -> bool {
        let arity = self.claim.arity();
        self.claim == self.probe.claim(self.variant)
            && self.n_found.len() == n_queries
            && self.docs.len().is_multiple_of(arity)
            && are_valid_starts(&self.starts, n_queries, self.docs.len() / arity)
    }

    /// The same instances where text `t` is called `numbers[t]`, in the same order.
    pub fn renumbered(&self, numbers: &[StudyDocNo]) -> Instances {
        let texts = self.docs.iter().map(|&it| numbers[it as usize]);
        Instances {
            docs: DocColumn::Owned(texts.collect()),
            n_found: self.n_found.clone(),
            starts: self.starts.clone(),
            ..*self
        }
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.docs.len() / self.claim.arity()
    }

    /// Returns whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// How many queries were mined.
    pub fn n_queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many instances one query has.
    pub fn len_of(&self, query: usize) -> usize {
        (self.starts[query + 1] - self.starts[query]) as usize
    }

    /// The texts of one query's instances, one instance after the other.
    pub fn docs_of(&self, query: usize) -> &[StudyDocNo] {
        let arity = self.claim.arity();
        &self.docs[self.starts[query] as usize * arity..self.starts[query + 1] as usize * arity]
    }

    /// The claims of one query.
    pub fn claims_of(&self, query: usize) -> impl Iterator<Item = Claim<StudyDocNo>> + '_ {
        let each = self.docs_of(query).chunks_exact(self.claim.arity());
        each.map(|it| self.claim.claim_for(it))
    }

    /// The claim at a place.
    pub fn claim(&self, at: usize) -> Claim<StudyDocNo> {
        let arity = self.claim.arity();
        self.claim
            .claim_for(&self.docs[at * arity..(at + 1) * arity])
    }

    /// The texts of the instance at a place.
    pub fn docs_at(&self, at: usize) -> &[StudyDocNo] {
        let arity = self.claim.arity();
        &self.docs[at * arity..(at + 1) * arity]
    }

    /// Where the instances of a query begin.
    pub fn first_of(&self, query: usize) -> usize {
        self.starts[query] as usize
    }

    /// The query of the instance at a place.
    pub fn query(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= at) - 1
    }

    /// The share of what was found that a cap has kept; 1 without a cap.
    pub fn sampled_fraction(&self) -> f64 {
        let found: u64 = self.n_found.iter().map(|&it| u64::from(it)).sum();
        if found == 0 {
            1.0
        } else {
            self.len() as f64 / found as f64
        }
    }
}
