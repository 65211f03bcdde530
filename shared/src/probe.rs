//! Probes, which find instances, and their names.
//!
//! A probe is anything that yields instances. *Axioms* claim which document scores higher; each
//! has one file in `axiom/`. *Behavioral tests* measure which document is preferred, without
//! saying which should be: measure and match ([`measure_and_match`]), manipulations and dataset
//! transfer, whose documents are added to the collection. Mining sees documents, never scores.

mod claim;
mod decimal;
mod precondition;
pub mod limits;
pub mod features;
pub mod pool;
pub mod axiom;
pub mod measure_and_match;
pub mod manipulation;
pub mod transfer;
pub mod additions;
pub mod mining;
mod instances;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use features::{AxiomInstancesForQuery, QueryPoolFeatures, RequiredDocumentFeatures};

pub use axiom::{Axiom, AxiomCombinationFormula, IrAxiomsAxiom};
pub use claim::{ScoreClaim, ScoreClaimKind, TieAgreementWithClaim};
pub(crate) use instances::are_valid_row_offsets;
pub use instances::{InstancesHeader, ProbeInstances};
pub use limits::{AxiomDefinitionPaper, AxiomVariant, MiningThresholds};
pub use manipulation::Manipulation;
pub use measure_and_match::{DocumentMeasurement, MeasureAndMatchTest};
pub use mining::MiningResult;
pub use pool::CandidatePoolSpec;
pub use precondition::{BoundRelation, MeasuredPrecondition, PreconditionQuantity};
pub use transfer::DatasetTransferTest;

/// The index of a document in [`MiningResult::study_docs`].
pub type StudyDocNo = u32;

/// Finds instances. Serialized as its slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Probe {
    /// A claim about which document of the pool scores higher.
    Axiom(Axiom),
    /// Two documents of the pool that are equal in one measurement and differ in another.
    MeasureAndMatch(MeasureAndMatchTest),
    /// A manipulated document and the original.
    Manipulation(Manipulation),
    /// A pair of documents from a dataset made for another task.
    Transfer(DatasetTransferTest),
}

/// The schema of the serialized form, a string.
impl utoipa::PartialSchema for Probe {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

impl utoipa::ToSchema for Probe {}

impl TryFrom<String> for Probe {
    /// The error for a word that names no probe.
    type Error = Error;

    fn try_from(word: String) -> Result<Probe, Error> {
        word.parse()
    }
}

impl From<Probe> for String {
    fn from(it: Probe) -> String {
        it.slug().into_owned()
    }
}

impl From<Axiom> for Probe {
    fn from(it: Axiom) -> Probe {
        Probe::Axiom(it)
    }
}

/// The name and the explanations of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeDescription {
    /// The name in the literature, for example `M-TDC`.
    pub name: &'static str,
    /// Two or three words for a column header.
    pub short_title: &'static str,
    /// What the probe states, in one sentence.
    pub statement: &'static str,
    /// The preconditions and the claim as a formula.
    pub formula: &'static str,
    /// The paper that first stated it, and the one whose diagnostic version is used.
    pub source: &'static str,
    /// Errors and ambiguities in the papers and their published code.
    pub known_issues: &'static str,
    /// A worked example: the query, then the documents in the order of the claim. Empty for an
    /// axiom that needs word vectors or depends on scores in a collection.
    pub example: &'static [&'static str],
}

impl Probe {
    /// Returns the name in commands, URLs and files, for example `mtdc`.
    pub fn slug(self) -> Cow<'static, str> {
        match self {
            Probe::Axiom(it) => it.slug(),
            Probe::MeasureAndMatch(it) => Cow::Owned(it.to_string()),
            Probe::Manipulation(it) => it.slug(),
            Probe::Transfer(it) => Cow::Owned(it.to_string()),
        }
    }

    /// Returns the display name, for example `M-TDC`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Probe::Axiom(it) => it.name(),
            Probe::MeasureAndMatch(it) => Cow::Borrowed(it.probe_description().name),
            Probe::Manipulation(it) => it.name(),
            Probe::Transfer(it) => Cow::Owned(it.name.as_str().to_owned()),
        }
    }

    /// Returns the name and the explanations of the probe.
    pub fn probe_description(self) -> &'static ProbeDescription {
        match self {
            Probe::Axiom(it) => it.probe_description(),
            Probe::MeasureAndMatch(it) => it.probe_description(),
            Probe::Manipulation(it) => it.probe_description(),
            Probe::Transfer(it) => it.probe_description(),
        }
    }

    /// Returns the kind of claim that every instance makes in a variant.
    pub fn claim_kind(self, mode: AxiomVariant) -> ScoreClaimKind {
        match self {
            Probe::Axiom(it) => it.claim_kind(mode),
            Probe::Transfer(it) if it.is_symmetric => ScoreClaimKind::Different,
            Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => {
                ScoreClaimKind::Higher
            }
        }
    }

    /// Finds all instances among the documents of one query, in no particular order.
    pub fn find_instances_in_pool(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> AxiomInstancesForQuery {
        match self {
            Probe::Axiom(it) => it.find_instances_in_pool(mode, case),
            Probe::MeasureAndMatch(it) => it.find_instances_in_pool(case),
            // Their documents are added to the collection, and their samples are known before
            // mining.
            Probe::Manipulation(_) | Probe::Transfer(_) => AxiomInstancesForQuery::default(),
        }
    }

    /// Measures the preconditions of an axiom or a measurement, see
    /// [`Axiom::measure_preconditions`].
    pub fn measure_preconditions(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> Vec<MeasuredPrecondition> {
        match self {
            Probe::Axiom(it) => it.measure_preconditions(mode, case),
            Probe::MeasureAndMatch(it) => it.measure_preconditions(case.pool),
            Probe::Manipulation(_) | Probe::Transfer(_) => Vec::new(),
        }
    }

    /// Returns the features of documents that mining needs.
    pub(crate) fn required_document_features(self, mode: AxiomVariant) -> RequiredDocumentFeatures {
        match self {
            Probe::Axiom(it) => it.required_document_features(mode),
            Probe::MeasureAndMatch(it) => it.required_document_features(),
            Probe::Manipulation(_) | Probe::Transfer(_) => RequiredDocumentFeatures::default(),
        }
    }

    /// Whether the probe needs word vectors.
    pub fn needs_word_vectors(self) -> bool {
        match self {
            Probe::Axiom(it) => it.needs_word_vectors(),
            Probe::MeasureAndMatch(it) => it.needs_word_vectors(),
            Probe::Manipulation(it) => it.needs_word_vectors(),
            Probe::Transfer(_) => false,
        }
    }

    /// Returns those of [`Axiom::ALL`] that can be mined with or without word vectors.
    pub fn list_minable_paper_axioms(with_vectors: bool) -> Vec<Probe> {
        let all = Axiom::ALL.iter().map(|&it| Probe::Axiom(it));
        all.filter(|it| with_vectors || !it.needs_word_vectors())
            .collect()
    }

    /// Returns those of `ir_axioms` that can be mined with or without word vectors.
    pub fn list_minable_ir_axioms(with_vectors: bool) -> Vec<Probe> {
        let all = Axiom::all_ir_axioms().map(Probe::Axiom);
        all.filter(|it| with_vectors || !it.needs_word_vectors())
            .collect()
    }

    /// Parses a word of a list of probes: a probe, or one of the groups `all` (all of
    /// [`Axiom::ALL`] that can be mined), `ir_axioms` (the further ones), `match` (measure and
    /// match over the paper's measurements), `match:all` (over all measurements) and
    /// `manipulations` (all of [`Manipulation::ALL`]).
    pub fn parse_probe_or_group(word: &str, with_vectors: bool) -> Result<Vec<Probe>, Error> {
        let matching = |measures: &[DocumentMeasurement]| {
            let all = MeasureAndMatchTest::all_combinations_of(measures)
                .into_iter()
                .map(Probe::MeasureAndMatch);
            all.filter(|it| with_vectors || !it.needs_word_vectors())
                .collect()
        };
        Ok(match word.trim() {
            "all" => Probe::list_minable_paper_axioms(with_vectors),
            "ir_axioms" => Probe::list_minable_ir_axioms(with_vectors),
            "match" => matching(DocumentMeasurement::PUBLISHED),
            "match:all" => matching(DocumentMeasurement::ALL),
            "manipulations" => {
                let all = Manipulation::ALL.iter();
                all.map(|&it| Probe::Manipulation(it)).collect()
            }
            word => vec![word.parse()?],
        })
    }

    /// Parses a list as typed: `tfc1,prox1,tfc1&lnc1,match`.
    pub fn parse_list(list: &str, with_vectors: bool) -> Result<Vec<Probe>, Error> {
        let mut probes = Vec::new();
        for word in list.split(',') {
            probes.extend(Probe::parse_probe_or_group(word, with_vectors)?);
        }
        probes.sort_unstable();
        probes.dedup();
        match probes
            .iter()
            .find(|it| it.needs_word_vectors() && !with_vectors)
        {
            Some(probe) => Err(crate::word_vectors::missing_word_vectors_error(
                &probe.slug(),
            )),
            None => Ok(probes),
        }
    }

    /// Whether its documents are added to the collection.
    pub fn adds_docs_to_collection(self) -> bool {
        matches!(self, Probe::Manipulation(_) | Probe::Transfer(_))
    }

    /// Whether its samples are pairs of a transfer set.
    pub fn is_dataset_transfer(self) -> bool {
        matches!(self, Probe::Transfer(_))
    }

    /// Returns the axiom if the probe is one.
    pub fn as_axiom(self) -> Option<Axiom> {
        match self {
            Probe::Axiom(it) => Some(it),
            Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => None,
        }
    }

    /// Returns whether it is an axiom, which claims which document should score higher; otherwise
    /// it is a behavioral test.
    pub fn is_axiom(self) -> bool {
        matches!(self, Probe::Axiom(_))
    }
}

impl std::str::FromStr for Probe {
    type Err = Error;

    fn from_str(word: &str) -> Result<Probe, Error> {
        if let Some(found) = Axiom::from_name_or_slug(word) {
            return Ok(Probe::Axiom(found));
        }
        if word.starts_with("match:") {
            return Ok(Probe::MeasureAndMatch(word.parse()?));
        }
        if word.starts_with("transfer:") || word.starts_with("symmetric:") {
            return Ok(Probe::Transfer(word.parse()?));
        }
        if let Some(found) = Manipulation::parse_slug(word)? {
            return Ok(Probe::Manipulation(found));
        }
        let is_formula = word.contains(['+', '*', '/', '%', '&', '|', '(', ' ', '-']);
        if is_formula && !word.trim().is_empty() {
            return Ok(Probe::Axiom(Axiom::Formula(word.parse()?)));
        }
        let shown: String = word.chars().take(80).collect();
        let others = "all, ir_axioms or one of its axioms, a formula such as tfc1&lnc1, \
             match:CONTROL:VARIABLE, a manipulation, transfer:NAME";
        let known = Axiom::ALL.iter().map(|it| it.slug().into_owned());
        let known = known.chain([others.to_owned()]);
        Err(Error::not_one_of("probes", shown, known))
    }
}

#[cfg(test)]
mod tests;
