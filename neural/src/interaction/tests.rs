//! Networks against PyTorch, gradients against differences, and what must not change a score.

use std::collections::BTreeMap;

use super::*;
use crate::training::TrainingRecipe;

/// A file of PyTorch for each network and variant; see
/// neural/tests/fixtures/interaction/interaction.py.
const FIXTURES: [&str; 14] = [
    include_str!("../../tests/fixtures/interaction/drmm.as-published.json"),
    include_str!("../../tests/fixtures/interaction/drmm.as-intended.json"),
    include_str!("../../tests/fixtures/interaction/drmm.capreolus.json"),
    include_str!("../../tests/fixtures/interaction/drmm.opennir.json"),
    include_str!("../../tests/fixtures/interaction/anmm.as-published.json"),
    include_str!("../../tests/fixtures/interaction/anmm.as-intended.json"),
    include_str!("../../tests/fixtures/interaction/duet.as-published.json"),
    include_str!("../../tests/fixtures/interaction/duet.as-intended.json"),
    include_str!("../../tests/fixtures/interaction/matchpyramid.as-published.json"),
    include_str!("../../tests/fixtures/interaction/matchpyramid.as-intended.json"),
    include_str!("../../tests/fixtures/interaction/knrm.as-published.json"),
    include_str!("../../tests/fixtures/interaction/knrm.as-intended.json"),
    include_str!("../../tests/fixtures/interaction/conv-knrm.as-published.json"),
    include_str!("../../tests/fixtures/interaction/conv-knrm.as-intended.json"),
];

#[derive(serde::Deserialize)]
struct Fixture {
    config: InteractionConfig,
    idf: Vec<f32>,
    vectors: Vec<f32>,
    pairs: Vec<[Vec<u32>; 2]>,
    coefficients: Vec<f32>,
    scores: Vec<f32>,
    weights: BTreeMap<String, FixtureTensor>,
    gradients: BTreeMap<String, FixtureTensor>,
}

#[derive(serde::Deserialize)]
struct FixtureTensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Fixture {
    fn read_all() -> Vec<Fixture> {
        let read = |it: &str| serde_json::from_str(it).unwrap();
        FIXTURES.map(read).into_iter().collect()
    }

    fn ranker(&self) -> InteractionNetwork {
        let words = (0..self.idf.len()).map(|it| format!("w{it}")).collect();
        let vocabulary = InteractionVocabulary::new(words, &self.idf, &self.vectors, 5).unwrap();
        let network =
            InteractionNetwork::with_random_weights(self.config.clone(), vocabulary, 0).unwrap();
        let known: Vec<&String> = network.variables().iter().map(|it| &it.0).collect();
        let mut given: Vec<&String> = self.weights.keys().collect();
        given.sort_by_key(|name| known.iter().position(|it| it == name));
        assert_eq!(given, known);
        for (name, variable) in network.variables() {
            let FixtureTensor { shape, values } = &self.weights[name];
            let tensor = Tensor::from_vec(values.clone(), &shape[..], &Device::Cpu);
            variable.set(&tensor.unwrap()).unwrap();
        }
        network
    }

    fn prepare(&self, ranker: &InteractionNetwork) -> Vec<PreparedPair> {
        let pairs = self.pairs.iter();
        pairs
            .map(|[query, document]| ranker.prepare(query, document))
            .collect()
    }

    fn name(&self) -> String {
        format!("{} {:?}", self.config.kind(), self.config.variant)
    }
}

/// Returns `sum(coefficients * scores)`, of which gradients are compared.
fn weighted_sum(
    ranker: &InteractionNetwork,
    pairs: &[PreparedPair],
    coefficients: &[f32],
    mode: ForwardMode,
) -> Tensor {
    let scores = ranker
        .forward(&pairs.iter().collect::<Vec<_>>(), mode)
        .unwrap();
    let coefficients = Tensor::new(coefficients, &Device::Cpu).unwrap();
    (scores * coefficients).unwrap().sum_all().unwrap()
}

const TRAINING: ForwardMode = ForwardMode::Training { seed: 1, step: 2 };

fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

#[track_caller]
fn check_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let most = expected.iter().fold(1.0_f32, |most, it| most.max(it.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance * most,
            "{what} [{at}]: {found}, expected {expected}"
        );
    }
}

#[test]
fn scores_and_gradients_are_those_of_pytorch() {
    for fixture in Fixture::read_all() {
        let (name, ranker) = (fixture.name(), fixture.ranker());
        let pairs = fixture.prepare(&ranker);
        let scores = ranker.score(&pairs.iter().collect::<Vec<_>>()).unwrap();
        check_close(&scores, &fixture.scores, 1e-5, &name);
        let sum = weighted_sum(&ranker, &pairs, &fixture.coefficients, TRAINING);
        let gradients = sum.backward().unwrap();
        assert_eq!(ranker.variables().len(), fixture.gradients.len());
        for (variable, it) in ranker.variables() {
            let found = numbers(gradients.get(it).unwrap());
            let expected = &fixture.gradients[variable];
            assert_eq!(it.dims(), expected.shape);
            check_close(
                &found,
                &expected.values,
                2e-5,
                &format!("{name} {variable}"),
            );
        }
    }
}

/// Dropout of a network, which the fixtures do not have.
fn set_dropout(config: &mut InteractionConfig, dropout: f32) {
    match &mut config.network {
        InteractionNetworkConfig::Duet(it) => it.dropout = dropout,
        InteractionNetworkConfig::MatchPyramid(it) => it.dropout = dropout,
        _ => {}
    }
}

#[test]
fn gradients_are_central_differences_also_with_dropout() {
    for fixture in Fixture::read_all() {
        let mut ranker = fixture.ranker();
        set_dropout(&mut ranker.config, 0.4);
        let pairs = fixture.prepare(&ranker);
        let sum = || weighted_sum(&ranker, &pairs, &fixture.coefficients, TRAINING);
        let gradients = sum().backward().unwrap();
        for (name, variable) in ranker.variables() {
            let expected = numbers(gradients.get(variable).unwrap());
            let values = numbers(variable);
            let most = expected.iter().fold(1.0_f32, |most, it| most.max(it.abs()));
            let stride = values.len().div_ceil(23);
            let mut n_far = 0;
            for at in (0..values.len()).step_by(stride) {
                if name == "vectors.weight" && at < fixture.config.dimensions {
                    continue; // padding has no gradient
                }
                let value_with = |difference: f32| {
                    let mut values = values.clone();
                    values[at] += difference;
                    let tensor = Tensor::from_vec(values, variable.dims(), &Device::Cpu);
                    variable.set(&tensor.unwrap()).unwrap();
                    let sum = sum().to_scalar::<f32>().unwrap();
                    (f64::from(sum), f64::from(numbers(variable)[at]))
                };
                let step = 2e-3;
                let ((more, above), (less, below)) = (value_with(step), value_with(-step));
                value_with(0.0);
                let difference = ((more - less) / (above - below)) as f32;
                n_far += usize::from((difference - expected[at]).abs() > 0.02 * most);
            }
            // A maximum may pass from one place to another within the difference.
            assert!(n_far <= 1, "{} {name}: {n_far} differ", fixture.name());
        }
    }
}

#[test]
fn every_variable_changes_in_one_step() {
    for fixture in Fixture::read_all() {
        let ranker = fixture.ranker();
        let pairs = fixture.prepare(&ranker);
        let sum = weighted_sum(&ranker, &pairs, &fixture.coefficients, TRAINING);
        let gradients = sum.backward().unwrap();
        for (name, variable) in ranker.variables() {
            let before = numbers(variable);
            let step = (gradients.get(variable).unwrap() * 0.1).unwrap();
            variable
                .set(&(variable.as_tensor() - step).unwrap())
                .unwrap();
            assert_ne!(numbers(variable), before, "{} {name}", fixture.name());
        }
    }
}

#[test]
fn a_score_does_not_depend_on_the_other_pairs() {
    for fixture in Fixture::read_all() {
        let ranker = fixture.ranker();
        let pairs = fixture.prepare(&ranker);
        let together = ranker.score(&pairs.iter().collect::<Vec<_>>()).unwrap();
        for (pair, score) in pairs.iter().zip(&together) {
            assert_eq!(
                ranker.score(&[pair]).unwrap(),
                [*score],
                "{}",
                fixture.name()
            );
        }
        let many: Vec<&PreparedPair> = pairs.iter().cycle().take(600).collect();
        let many = ranker.score(&many).unwrap();
        assert!(
            many.iter()
                .zip(together.iter().cycle())
                .all(|(a, b)| a == b)
        );
        assert!(ranker.score(&[]).unwrap().is_empty());
    }
}

#[test]
fn one_thread_and_many_have_the_same_bits() {
    for fixture in Fixture::read_all() {
        let compute = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            pool.build().unwrap().install(|| {
                let ranker = random_ranker(fixture.config.clone(), 3);
                let pairs = fixture.prepare(&ranker);
                let pairs: Vec<PreparedPair> = pairs.into_iter().cycle().take(70).collect();
                let factors: Vec<f32> = (0..70).map(|it| (it as f32).sin()).collect();
                let sum = weighted_sum(&ranker, &pairs, &factors, TRAINING);
                let gradients = sum.backward().unwrap();
                let variables = ranker.variables().iter();
                variables
                    .map(|(_, it)| numbers(gradients.get(it).unwrap()))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(compute(1), compute(4), "{}", fixture.name());
    }
}

/// The configuration of the recipe `wikiqa-reference`.
fn reference(kind: InteractionRankerKind) -> InteractionConfig {
    let recipe = TrainingRecipe::built_in("wikiqa-reference", kind.name()).unwrap();
    InteractionConfig::from_recipe(kind, &recipe, 50).unwrap()
}

/// A ranker with other vectors than the fixtures, and dropout.
fn random_ranker(mut config: InteractionConfig, seed: u64) -> InteractionNetwork {
    set_dropout(&mut config, 0.5);
    let n_words = 15;
    let words = (0..n_words).map(|it| format!("w{it}")).collect();
    let d = config.dimensions;
    let vectors = RandomStream::select(9, &[]).uniform_numbers(n_words * d, 1.0);
    let idf: Vec<f32> = (1..=n_words).map(|it| 1.0 + it as f32 / 5.0).collect();
    let vocabulary = InteractionVocabulary::new(words, &idf, &vectors, d).unwrap();
    InteractionNetwork::with_random_weights(config, vocabulary, seed).unwrap()
}

#[test]
fn dropout_depends_on_seed_and_step_and_random_weights_on_the_seed() {
    for kind in [
        InteractionRankerKind::Duet,
        InteractionRankerKind::MatchPyramid,
    ] {
        let config = reference(kind);
        let ranker = random_ranker(config.clone(), 3);
        let pair = ranker.prepare(&[1, 2, 3], &[3, 4, 5, 6, 1]);
        let score = |mode| numbers(&ranker.forward(&[&pair], mode).unwrap());
        let training = |seed, step| score(ForwardMode::Training { seed, step });
        assert_eq!(training(1, 2), training(1, 2));
        assert_ne!(training(1, 2), training(1, 3));
        assert_ne!(training(1, 2), training(2, 2));
        assert_ne!(training(1, 2), score(ForwardMode::Inference));
        let weights = |seed| {
            random_ranker(config.clone(), seed)
                .to_safetensors()
                .unwrap()
        };
        assert_eq!(weights(3), weights(3));
        assert_ne!(weights(3), weights(4));
    }
}

#[test]
fn a_ranker_comes_back_from_its_files() {
    for kind in InteractionRankerKind::ALL {
        let config = reference(kind);
        let ranker = random_ranker(config.clone(), 3);
        assert_eq!(ranker.config().kind(), kind);
        let weights = ranker.to_safetensors().unwrap();
        let json = ranker.config().to_json();
        assert!(json.contains(&format!("\"{kind}\"")), "{json}");
        let words = ranker.vocabulary().words();
        let load =
            |weights: &[u8]| InteractionNetwork::load(json.as_bytes(), weights, words.to_vec());
        let again = load(&weights).unwrap();
        assert_eq!(again.to_safetensors().unwrap(), weights);
        let pair = ranker.prepare(&[1, 2, 3], &[3, 4, 5, 6, 1]);
        assert_eq!(
            again.score(&[&pair]).unwrap(),
            ranker.score(&[&pair]).unwrap()
        );
        for broken in [&weights[..weights.len() - 1], &weights[..40], b""] {
            assert!(load(broken).is_err());
        }
    }
}

#[test]
fn the_numbers_of_weights_are_those_of_the_reference() {
    let count = |kind| random_ranker(reference(kind), 3).n_parameters();
    assert_eq!(count(InteractionRankerKind::Drmm), 1_242);
    assert_eq!(count(InteractionRankerKind::Anmm), 442);
    assert_eq!(count(InteractionRankerKind::Knrm), 34);
    assert_eq!(count(InteractionRankerKind::ConvKnrm), 38_906);
    assert_eq!(count(InteractionRankerKind::Duet), 94_810);
    // 16 vectors of 50, 9 · 64 + 64 in the filters, 1,920 + 1 after pooling.
    assert_eq!(
        count(InteractionRankerKind::MatchPyramid),
        800 + 640 + 1_921
    );
}

#[test]
fn sizes_that_make_no_network_are_errors_that_name_the_field() {
    let check = |config: InteractionConfig, field: &str| {
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    };
    check(
        InteractionConfig {
            max_query_terms: 2,
            ..reference(InteractionRankerKind::MatchPyramid)
        },
        "max_query_terms",
    );
    let mut config = reference(InteractionRankerKind::Duet);
    set_dropout(&mut config, 1.0);
    check(config, "dropout");
    let mut config = reference(InteractionRankerKind::Knrm);
    config.network = InteractionNetworkConfig::Knrm(KernelPoolingConfig {
        kernel_means: vec![0.5],
        kernel_widths: vec![0.0],
    });
    check(config, "kernel_widths");
    let json = reference(InteractionRankerKind::Drmm).to_json();
    let other = json.replace("bins", "boxes");
    assert!(InteractionConfig::parse(other.as_bytes()).is_err());
    assert_eq!(
        InteractionConfig::parse(json.as_bytes()).unwrap(),
        reference(InteractionRankerKind::Drmm)
    );
}

/// Returns a vocabulary of four words in the plane: east, north, west, and 60° north of east.
fn compass() -> InteractionVocabulary {
    let words = ["east", "north", "west", "between"]
        .map(str::to_owned)
        .to_vec();
    let vectors = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.5, 0.75_f32.sqrt()];
    InteractionVocabulary::new(words, &[1.0; 4], &vectors, 2).unwrap()
}

#[test]
fn histograms_count_or_sum_cosines() {
    let compute = |bins, content| {
        term_histogram::compute_histograms(&compass(), &[1], &[1, 2, 3, 4, 1], bins, content)
    };
    // Cosines 1, 0, -1, .5, 1; with 6 bins ⌊(c + 1) / 2 · 5⌋ = 5, 2, 0, 3, 5.
    let (one, two) = (2.0_f32.log10(), 3.0_f32.log10());
    let counts = compute(6, BinContent::LogCount);
    check_close(&counts, &[one, 0.0, one, one, 0.0, two], 1e-6, "log counts");
    let (one, two) = (2.0_f32.ln(), 3.0_f32.ln());
    let counts = compute(6, BinContent::NaturalLogCount);
    check_close(&counts, &[one, 0.0, one, one, 0.0, two], 1e-6, "ln counts");
    let sums = compute(6, BinContent::CosineSum);
    check_close(&sums, &[-1.0, 0.0, 0.0, 0.5, 0.0, 2.0], 1e-6, "sums");
}

#[test]
fn only_drmm_has_the_variants_of_other_libraries() {
    let configure = |kind: InteractionRankerKind, variant: &str| {
        let mut recipe = TrainingRecipe::built_in("wikiqa-reference", kind.name()).unwrap();
        recipe.set("variant", variant).unwrap();
        InteractionConfig::from_recipe(kind, &recipe, 50)
    };
    for (variant, bins) in [
        ("as-published", 60),
        ("as-intended", 60),
        ("capreolus", 30),
        ("opennir", 11),
    ] {
        let config = configure(InteractionRankerKind::Drmm, variant).unwrap();
        assert_eq!(config.variant.name(), variant);
        let (json, hidden_units) = (config.to_json(), 20);
        assert!(
            json.contains(&format!("\"variant\": \"{variant}\"")),
            "{json}"
        );
        let expected = HistogramNetworkConfig { bins, hidden_units };
        assert_eq!(config.network, InteractionNetworkConfig::Drmm(expected));
    }
    let error = configure(InteractionRankerKind::Anmm, "capreolus").unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("`capreolus` is a variant of DRMM alone"),
        "{error}"
    );
    let mut config = reference(InteractionRankerKind::Knrm);
    config.variant = NetworkVariant::OpenNir;
    let error = config.check().unwrap_err().to_string();
    assert!(
        error.contains("variant") && error.contains("opennir"),
        "{error}"
    );
}

#[test]
fn an_exact_match_is_in_the_last_bin_whatever_its_rounded_cosine() {
    let ranker = random_ranker(reference(InteractionRankerKind::Drmm), 3);
    for id in 1..=15 {
        let pair = ranker.prepare(&[id], &[id]);
        let (last, others) = pair.histograms.split_last().unwrap();
        assert!(*last > 0.0 && others.iter().all(|it| *it == 0.0), "{id}");
    }
}

#[test]
fn unknown_ids_and_padding_are_left_out_and_histograms_see_the_whole_document() {
    let mut config = reference(InteractionRankerKind::Anmm);
    (config.max_query_terms, config.max_document_terms) = (2, 3);
    let ranker = random_ranker(config, 3);
    let pair = ranker.prepare(&[0, 1, 99, 2, 3], &[4, 5, 0, 6, 1, 16]);
    assert_eq!(
        (&pair.query[..], &pair.document[..]),
        (&[1, 2][..], &[4, 5, 6][..])
    );
    assert!(
        pair.histograms[19] >= 1.0,
        "the fourth term is an exact match"
    );
}

#[test]
fn the_order_of_document_terms_matters_to_no_bag_of_terms() {
    for kind in [
        InteractionRankerKind::Drmm,
        InteractionRankerKind::Anmm,
        InteractionRankerKind::Knrm,
    ] {
        let ranker = random_ranker(reference(kind), 3);
        let score = |query: &[u32], document: &[u32]| {
            ranker.score(&[&ranker.prepare(query, document)]).unwrap()
        };
        let sorted = score(&[1, 2, 3], &[1, 2, 4, 5, 6, 7]);
        check_close(
            &score(&[1, 2, 3], &[7, 1, 6, 2, 5, 4]),
            &sorted,
            1e-5,
            kind.name(),
        );
        check_close(
            &score(&[3, 1, 2], &[1, 2, 4, 5, 6, 7]),
            &sorted,
            1e-5,
            kind.name(),
        );
    }
}

#[test]
fn room_for_more_terms_changes_scores_only_as_published() {
    for kind in [
        InteractionRankerKind::Drmm,
        InteractionRankerKind::Anmm,
        InteractionRankerKind::Knrm,
        InteractionRankerKind::ConvKnrm,
    ] {
        let score = |variant, query, document| {
            let mut config = reference(kind);
            config.variant = variant;
            (config.max_query_terms, config.max_document_terms) = (query, document);
            let ranker = random_ranker(config, 3);
            // Untrained, the gate hardly differs between terms, and the hidden bias is 0.
            for (name, variable) in ranker.variables() {
                if name == "hidden.bias" || name == "output.bias" {
                    let ones = variable.ones_like().unwrap();
                    variable.set(&ones).unwrap();
                }
            }
            ranker
                .score(&[&ranker.prepare(&[1, 2, 3], &[3, 4, 5, 6, 1])])
                .unwrap()[0]
        };
        let difference = |variant| (score(variant, 20, 40) - score(variant, 5, 8)).abs();
        let intended = difference(NetworkVariant::AsIntended);
        assert!(intended < 1e-5, "{kind}: {intended}");
        let published = difference(NetworkVariant::AsPublished);
        assert!(published > 1e-4, "{kind}: {published}");
    }
}

#[test]
fn the_local_model_of_duet_sees_padding_only_as_published() {
    let local_part = |variant| {
        let mut config = reference(InteractionRankerKind::Duet);
        config.variant = variant;
        let ranker = random_ranker(config, 3);
        for (name, variable) in ranker.variables() {
            if name == "distributed.output.weight" {
                variable.set(&variable.zeros_like().unwrap()).unwrap();
            }
        }
        let score = |document: &[u32]| {
            ranker
                .score(&[&ranker.prepare(&[1, 2, 3], document)])
                .unwrap()[0]
        };
        (score(&[4, 5]), score(&[4, 5, 6, 7]))
    };
    let (short, long) = local_part(NetworkVariant::AsPublished);
    assert_ne!(short, long);
    let (short, long) = local_part(NetworkVariant::AsIntended);
    assert_eq!(short, long);
}
