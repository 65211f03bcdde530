//! The scores of an update with a regularizer: those of its rows and of their perturbed documents.

use std::collections::BTreeMap;

use neural::training::{
    PerturbationSeed, PerturbationSource, RegularizerAxiom, RegularizerSettings, UpdateScores,
};
use neural::{ForwardMode, InteractionNetwork, PreparedPair};
use rayon::prelude::*;
use shared::collection::Collection;

use super::examples::{CandidateRow, SplitCandidates};
use super::words;

/// The texts of the training queries and their candidates, to be perturbed for a regularizer.
pub(super) struct PerturbedTexts {
    settings: RegularizerSettings,
    rows: Vec<CandidateRow>,
    /// The words of each query that the network reads.
    queries: Vec<Vec<u32>>,
    /// The words of each candidate, by its number in the collection.
    docs: BTreeMap<usize, Vec<u32>>,
}

/// A perturbed document, its row, and whether it should score higher.
struct PerturbedPair {
    row_in_batch: usize,
    is_preferred: bool,
    pair: PreparedPair,
}

impl PerturbedTexts {
    pub(super) fn prepare(
        settings: &RegularizerSettings,
        collection: &Collection,
        candidates: &SplitCandidates,
        network: &InteractionNetwork,
    ) -> PerturbedTexts {
        let (vocabulary, config) = (network.vocabulary(), network.config());
        let queries = candidates.queries.iter().map(|&query| {
            let mut ids = words::ids(vocabulary, &collection.queries[query].text);
            ids.truncate(config.max_query_terms);
            ids
        });
        let mut docs: Vec<usize> = candidates.rows.iter().map(|it| it.doc).collect();
        docs.sort_unstable();
        docs.dedup();
        let docs = docs.into_par_iter().map(|doc| {
            let text = collection.docs[doc].text_with_optional_title(config.reads_titles);
            (doc, words::ids(vocabulary, text))
        });
        PerturbedTexts {
            settings: settings.clone(),
            rows: candidates.rows.clone(),
            queries: queries.collect(),
            docs: docs.collect(),
        }
    }

    /// Computes the scores of the rows of an update, which are indices of `pairs`, and of their
    /// perturbations.
    pub(super) fn forward(
        &self,
        network: &InteractionNetwork,
        pairs: &[PreparedPair],
        rows: &[usize],
        (seed, step): (u64, u64),
    ) -> Result<UpdateScores, neural::Error> {
        let places = (0..rows.len()).into_par_iter();
        let of_row = |place: usize| {
            let seed = PerturbationSeed {
                seed,
                step,
                row: rows[place],
            };
            let axioms = self.settings.axioms.iter();
            axioms.filter_map(move |axiom| self.perturb(network, *axiom, place, seed))
        };
        let perturbed: Vec<PerturbedPair> = places.flat_map_iter(of_row).collect();
        let preference = |(it, at): (&PerturbedPair, usize)| {
            let both = [rows.len() + at, it.row_in_batch].map(|it| it as u32);
            match it.is_preferred {
                true => both,
                false => [both[1], both[0]],
            }
        };
        let preferences: Vec<[u32; 2]> = perturbed.iter().zip(0..).map(preference).collect();
        let pairs = rows.iter().map(|it| &pairs[*it]);
        let pairs: Vec<_> = pairs.chain(perturbed.iter().map(|it| &it.pair)).collect();
        let scores = network.forward(&pairs, ForwardMode::Training { seed, step })?;
        UpdateScores::select(&scores, rows.len(), &preferences)
    }

    fn perturb(
        &self,
        network: &InteractionNetwork,
        axiom: RegularizerAxiom,
        row_in_batch: usize,
        seed: PerturbationSeed,
    ) -> Option<PerturbedPair> {
        let CandidateRow {
            query, doc, times, ..
        } = self.rows[seed.row];
        let query = &self.queries[query];
        let source = PerturbationSource {
            query,
            document: &self.docs[&doc].repeat(times),
            n_words: network.vocabulary().words().len(),
            max_document_terms: network.config().max_document_terms,
            noise_terms: self.settings.noise_terms,
        };
        let document = axiom.perturb(&source, seed)?;
        Some(PerturbedPair {
            row_in_batch,
            is_preferred: axiom.prefers_perturbed(),
            pair: network.prepare(query, &document),
        })
    }
}
