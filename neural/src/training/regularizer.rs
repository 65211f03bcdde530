//! Axiomatic regularization: documents that are perturbed such that an axiom prefers one of the
//! two, and the preference as a term of the loss.
//!
//! Rosset, Mitra, Xiong, Craswell, Song and Tiwary, "An axiomatic approach to regularizing neural
//! ranking models", SIGIR 2019, arXiv:1904.06808. The term here is
//!
//! `weight · mean max(0, margin − (s(preferred) − s(other)))`
//!
//! over each document of a batch and its perturbation for each axiom. What a perturbation adds is a
//! function of seed, update, axiom, query and document.

use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::losses::hinge_loss;
use crate::error::Error;
use crate::random::RandomStream;

/// How often LNC2 repeats a document: as in LNC2-All of Rennings, Moraes and Hauff (ECIR 2019).
const REPETITIONS: [usize; 3] = [2, 3, 4];

/// The table `[regularizer]`: preferences of axioms as a term of the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegularizerSettings {
    /// The axioms; each has a perturbation of each document of a batch.
    pub axioms: Vec<RegularizerAxiom>,
    /// The factor of the term beside the loss.
    pub axiom_weight: f64,
    /// The difference of scores above which a preference costs nothing.
    pub axiom_margin: f64,
    /// The number of terms that LNC1 adds.
    pub noise_terms: usize,
    /// Where the numbers are from.
    pub source: String,
}

impl Default for RegularizerSettings {
    /// Returns the numbers of a regularizer of which only some are given; it has no axioms yet.
    fn default() -> RegularizerSettings {
        RegularizerSettings {
            axioms: Vec::new(),
            axiom_weight: 1.0,
            axiom_margin: 1.0,
            noise_terms: 1,
            source: "our choice: weight and margin as those of the hinge loss; LNC1 of Fang et \
                     al. (SIGIR 2004) adds one term"
                .to_owned(),
        }
    }
}

impl RegularizerSettings {
    /// Computes the term of the loss, a scalar. `preferences` is `[2, m]`: the scores of the
    /// documents that the axioms prefer, and of the others.
    pub fn compute_loss(&self, preferences: &Tensor) -> candle_core::Result<Tensor> {
        hinge_loss(preferences, self.axiom_margin)?.affine(self.axiom_weight, 0.0)
    }
}

/// An axiom with a perturbation that makes a document better or worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegularizerAxiom {
    /// A document is worse than itself with one more occurrence of a query term (Fang et al. 2004).
    Tfc1,
    /// A document is better than itself with terms that are not in the query (Fang et al. 2004).
    Lnc1,
    /// A document is not better than itself repeated 2, 3 or 4 times (Fang et al. 2004).
    Lnc2,
}

/// A query and a document as ids of words, which begin with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerturbationSource<'a> {
    /// The terms of the query.
    pub query: &'a [u32],
    /// The terms of the document.
    pub document: &'a [u32],
    /// The number of words, of which terms are drawn.
    pub n_words: usize,
    /// The number of document terms that the network reads; added terms are among these.
    pub max_document_terms: usize,
    /// The number of terms that LNC1 adds.
    pub noise_terms: usize,
}

/// What makes the random choices of a perturbation, together with the axiom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerturbationSeed {
    /// The seed of the training.
    pub seed: u64,
    /// The number of updates before this one.
    pub step: u64,
    /// The row of the query and the document.
    pub row: usize,
}

impl RegularizerAxiom {
    /// Returns the name in recipes, which is the slug of the axiom.
    pub fn name(self) -> &'static str {
        match self {
            RegularizerAxiom::Tfc1 => "tfc1",
            RegularizerAxiom::Lnc1 => "lnc1",
            RegularizerAxiom::Lnc2 => "lnc2",
        }
    }

    /// Whether the perturbed document should have the higher score.
    pub fn prefers_perturbed(self) -> bool {
        match self {
            RegularizerAxiom::Tfc1 | RegularizerAxiom::Lnc2 => true,
            RegularizerAxiom::Lnc1 => false,
        }
    }

    /// Returns the perturbed document, or `None` if nothing can be added: TFC1 needs a query term,
    /// LNC1 a word that is not in the query, LNC2 a document that is not empty.
    pub fn perturb(
        self,
        source: &PerturbationSource<'_>,
        seed: PerturbationSeed,
    ) -> Option<Vec<u32>> {
        let PerturbationSeed { seed, step, row } = seed;
        // No other stream has as long a path.
        let path = [u64::MAX, u64::MAX, step, self as u64, row as u64];
        let stream = RandomStream::select(seed, &path);
        let mut document = source.document.to_vec();
        match self {
            RegularizerAxiom::Tfc1 if source.query.is_empty() => return None,
            RegularizerAxiom::Tfc1 => {
                let term = source.query[stream.index_below(0, source.query.len())];
                document.insert(source.place(document.len(), stream, 1), term);
            }
            RegularizerAxiom::Lnc1 => {
                for at in 0..source.noise_terms as u64 {
                    let term = source.draw_noise_term(stream, 2 * at)?;
                    document.insert(source.place(document.len(), stream, 2 * at + 1), term);
                }
            }
            RegularizerAxiom::Lnc2 if document.is_empty() => return None,
            RegularizerAxiom::Lnc2 => {
                let times = REPETITIONS[stream.index_below(0, REPETITIONS.len())];
                document = document.repeat(times);
            }
        }
        Some(document)
    }
}

impl PerturbationSource<'_> {
    /// Draws the place of a new term among the terms that the network reads.
    fn place(&self, n_terms: usize, stream: RandomStream, position: u64) -> usize {
        let last = n_terms.min(self.max_document_terms.saturating_sub(1));
        stream.index_below(position, last + 1)
    }

    /// Draws a word that is not in the query, each with the same probability.
    fn draw_noise_term(&self, stream: RandomStream, position: u64) -> Option<u32> {
        let mut query = self.query.to_vec();
        query.sort_unstable();
        query.dedup();
        let n_others = self.n_words.checked_sub(query.len()).filter(|it| *it > 0)?;
        let mut term = 1 + stream.index_below(position, n_others) as u32;
        for known in query {
            term += u32::from(known <= term);
        }
        Some(term)
    }
}

/// The scores of an update, from which the gradients are computed.
pub struct UpdateScores {
    /// `[rows]`.
    pub rows: Tensor,
    /// `[2, m]`: the scores of the documents that axioms prefer, and of the others; for recipes
    /// with a regularizer.
    pub preferences: Option<Tensor>,
    /// Adds the gradients of variables that the graph of the scores does not reach; called after
    /// the backward pass of the loss.
    pub add_gradients: Option<Box<AddGradients>>,
}

/// Adds gradients of variables to those of a backward pass.
pub type AddGradients = dyn FnOnce(&mut GradStore) -> Result<(), Error>;

impl From<Tensor> for UpdateScores {
    fn from(rows: Tensor) -> UpdateScores {
        UpdateScores {
            rows,
            preferences: None,
            add_gradients: None,
        }
    }
}

impl UpdateScores {
    /// Selects from `scores`, of which the first `n_rows` are those of the rows, the two of each
    /// preference: that of the preferred document and of the other one.
    pub fn select(
        scores: &Tensor,
        n_rows: usize,
        preferences: &[[u32; 2]],
    ) -> Result<UpdateScores, Error> {
        let m = preferences.len();
        let select = |which: usize| -> Result<Tensor, Error> {
            let places: Vec<u32> = preferences.iter().map(|it| it[which]).collect();
            let places = Tensor::from_vec(places, m, &Device::Cpu)?;
            Ok(scores.index_select(&places, 0)?)
        };
        Ok(UpdateScores {
            rows: scores.narrow(0, 0, n_rows)?,
            preferences: match m {
                0 => None,
                _ => Some(Tensor::stack(&[select(0)?, select(1)?], 0)?),
            },
            add_gradients: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

    const SOURCE: PerturbationSource<'static> = PerturbationSource {
        query: &[3, 5, 3],
        document: &[1, 3, 2, 8],
        n_words: 8,
        max_document_terms: 40,
        noise_terms: 2,
    };

    fn perturb(axiom: RegularizerAxiom, row: usize) -> Vec<u32> {
        let (seed, step) = (7, 11);
        let seed = PerturbationSeed { seed, step, row };
        axiom.perturb(&SOURCE, seed).unwrap()
    }

    /// Returns the terms of `document` without those of the original, which are in their order.
    fn added_terms(document: &[u32]) -> Vec<(usize, u32)> {
        let mut original = SOURCE.document.iter().peekable();
        let terms = document.iter().enumerate();
        let added = terms.filter(|(_, term)| original.next_if_eq(term).is_none());
        let added = added.map(|(place, term)| (place, *term)).collect();
        assert_eq!(original.next(), None, "{document:?}");
        added
    }

    #[test]
    fn tfc1_adds_one_query_term_anywhere() {
        let mut counts = [[0_u32; 9]; 5];
        for row in 0..3000 {
            let document = perturb(RegularizerAxiom::Tfc1, row);
            let [(place, term)] = added_terms(&document)[..] else {
                panic!("{document:?}")
            };
            counts[place][term as usize] += 1;
        }
        // The term 3 is twice as likely as 5. It is found at place 2 if it was added at 1 or 2.
        for (place, expected) in [400, 0, 800, 400, 400].into_iter().enumerate() {
            assert!(counts[place][3].abs_diff(expected) < 80, "{counts:?}");
            assert!(counts[place][5].abs_diff(200) < 60, "{counts:?}");
        }
        assert!(RegularizerAxiom::Tfc1.prefers_perturbed());
    }

    #[test]
    fn lnc1_adds_words_that_are_not_in_the_query() {
        let mut counts = [0_u32; 9];
        for row in 0..3000 {
            let mut document = perturb(RegularizerAxiom::Lnc1, row);
            assert_eq!(document.len(), 6);
            for term in SOURCE.document {
                let place = document.iter().position(|it| it == term).unwrap();
                document.remove(place);
            }
            document.iter().for_each(|it| counts[*it as usize] += 1);
        }
        for (term, count) in counts.into_iter().enumerate() {
            match term {
                0 | 3 | 5 => assert_eq!(count, 0),
                _ => assert!(count.abs_diff(1000) < 120, "{counts:?}"),
            }
        }
        assert!(!RegularizerAxiom::Lnc1.prefers_perturbed());
    }

    #[test]
    fn lnc2_repeats_the_document_two_to_four_times() {
        let mut counts = [0_u32; 5];
        for row in 0..3000 {
            let document = perturb(RegularizerAxiom::Lnc2, row);
            let times = document.len() / 4;
            assert_eq!(document, SOURCE.document.repeat(times));
            counts[times] += 1;
        }
        assert_eq!(counts[..2], [0, 0]);
        assert!(counts[2..].iter().all(|it| it.abs_diff(1000) < 120));
        assert!(RegularizerAxiom::Lnc2.prefers_perturbed());
    }

    #[test]
    fn a_perturbation_depends_on_seed_step_row_and_axiom_alone() {
        let source = PerturbationSource {
            n_words: 100_000,
            ..SOURCE
        };
        let perturb = |seed, step, row| {
            let seed = PerturbationSeed { seed, step, row };
            RegularizerAxiom::Lnc1.perturb(&source, seed)
        };
        assert_eq!(perturb(1, 2, 3), perturb(1, 2, 3));
        for other in [perturb(2, 2, 3), perturb(1, 3, 3), perturb(1, 2, 4)] {
            assert_ne!(other, perturb(1, 2, 3));
        }
    }

    #[test]
    fn terms_are_added_where_the_network_reads_them() {
        let source = PerturbationSource {
            max_document_terms: 2,
            ..SOURCE
        };
        for row in 0..50 {
            let (seed, step) = (1, 1);
            let seed = PerturbationSeed { seed, step, row };
            let document = RegularizerAxiom::Tfc1.perturb(&source, seed).unwrap();
            assert_eq!(document[2..], SOURCE.document[1..]);
        }
    }

    #[test]
    fn nothing_is_perturbed_without_the_terms_for_it() {
        let seed = PerturbationSeed {
            seed: 1,
            step: 1,
            row: 1,
        };
        let empty_query = PerturbationSource {
            query: &[],
            ..SOURCE
        };
        assert_eq!(RegularizerAxiom::Tfc1.perturb(&empty_query, seed), None);
        let query_only = PerturbationSource {
            query: &[1, 2],
            n_words: 2,
            ..SOURCE
        };
        assert_eq!(RegularizerAxiom::Lnc1.perturb(&query_only, seed), None);
        let empty_document = PerturbationSource {
            document: &[],
            ..SOURCE
        };
        assert_eq!(RegularizerAxiom::Lnc2.perturb(&empty_document, seed), None);
    }

    #[test]
    fn preferences_cost_what_they_lack_of_the_margin() {
        // Rows 0 and 1 with the scores 2 and 1; perturbed documents with 2.5 and .2. Preferences:
        // 2.5 above 2 lacks .5 of a margin of 1, 1 above .2 lacks .2, and 1 above 2.5 lacks 2.5.
        let scores = Var::new(&[2.0_f32, 1.0, 2.5, 0.2], &Device::Cpu).unwrap();
        let preferences = [[2, 0], [1, 3], [1, 2]];
        let selected = UpdateScores::select(&scores, 2, &preferences).unwrap();
        assert_eq!(selected.rows.to_vec1::<f32>().unwrap(), [2.0, 1.0]);
        let settings = RegularizerSettings {
            axiom_weight: 0.6,
            ..RegularizerSettings::default()
        };
        let preferences = selected.preferences.unwrap();
        let loss = settings.compute_loss(&preferences).unwrap();
        assert!((loss.to_scalar::<f32>().unwrap() - 0.64).abs() < 1e-6);
        // Each preference has a share of .2.
        let gradients = loss.backward().unwrap();
        let gradient = gradients.get(&scores).unwrap().to_vec1::<f32>().unwrap();
        for (found, expected) in gradient.iter().zip([0.2, -0.4, 0.0, 0.2]) {
            assert!((found - expected).abs() < 1e-6, "{gradient:?}");
        }
        let none = UpdateScores::select(&scores, 4, &[]).unwrap();
        assert!(none.preferences.is_none());
    }
}
