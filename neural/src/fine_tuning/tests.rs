use candle_core::backprop::GradStore;

use super::*;
use crate::training::LossFunction;

macro_rules! fixture {
    ($name:literal, $file:literal) => {
        include_bytes!(concat!("../../tests/fixtures/", $name, "/", $file)).to_vec()
    };
}

macro_rules! encoder {
    ($name:literal) => {
        (
            $name,
            ModelFileContents {
                config: fixture!($name, "config.json"),
                tokenizer: fixture!($name, "tokenizer.json"),
                weights: fixture!($name, "model.safetensors"),
                ..ModelFileContents::default()
            },
        )
    };
}

/// Two queries with a positive and a negative of each: positives first.
const PAIRS: [(&str, &str); 4] = [
    ("where do rivers end", "A river flows into the sea."),
    (
        "what is bread",
        "Bread is baked from dough, which is flour and water.",
    ),
    ("where do rivers end", "Snow."),
    ("what is bread", "A river flows into the sea."),
];

const STEP: ForwardMode = ForwardMode::Training { seed: 3, step: 5 };

fn settings(dropout: f64, n_labels: usize) -> EncoderSettings {
    EncoderSettings {
        max_query_tokens: 40,
        max_document_tokens: 64,
        n_labels,
        vector_dimension: 6,
        dropout,
        read_titles: false,
        source: "test".to_owned(),
    }
}

fn ranker(
    kind: FineTunedRankerKind,
    files: &ModelFileContents,
    settings: EncoderSettings,
) -> FineTunedRanker {
    FineTunedRanker::from_encoder(kind, settings, files, crate::Device::Cpu, 1).unwrap()
}

fn pairs(ranker: &FineTunedRanker) -> Vec<TokenizedPair> {
    let tokenize = |it: (&str, &str)| ranker.tokenize_pair(it.0, it.1).unwrap();
    PAIRS.map(tokenize).into_iter().collect()
}

fn loss(scores: &Tensor) -> Tensor {
    let scores = scores.reshape((2, 2)).unwrap();
    LossFunction::SoftmaxCrossEntropy
        .compute(&scores, None)
        .unwrap()
}

fn loss_and_gradients(ranker: &FineTunedRanker) -> (f32, GradStore) {
    let pairs = pairs(ranker);
    let pairs: Vec<&TokenizedPair> = pairs.iter().collect();
    let scores = ranker.forward(&pairs, STEP).unwrap();
    let loss = loss(&scores.rows);
    let mut gradients = loss.backward().unwrap();
    scores.add_gradients.unwrap()(&mut gradients).unwrap();
    (loss.to_scalar().unwrap(), gradients)
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn both_passes_have_the_same_gradients() {
    for (name, files) in [
        encoder!("tiny"),
        encoder!("roberta"),
        encoder!("electra"),
        encoder!("distilbert"),
    ] {
        for (kind, n_labels) in [
            (FineTunedRankerKind::CrossEncoder, 1),
            (FineTunedRankerKind::CrossEncoder, 2),
            (FineTunedRankerKind::Colbert, 1),
        ] {
            let ranker = ranker(kind, &files, settings(0.0, n_labels));
            let (found_loss, found) = loss_and_gradients(&ranker);
            let pairs = pairs(&ranker);
            let (inputs, rows) = ranker.inputs(&pairs.iter().collect::<Vec<_>>()).unwrap();
            let hidden = ranker.graph_states(&inputs, STEP).unwrap();
            let expected = loss(&ranker.head_scores(&hidden, &rows, None).unwrap());
            let apart = found_loss - expected.to_scalar::<f32>().unwrap();
            assert!(apart.abs() < 1e-5, "{name} {kind:?}: {apart}");
            let expected = expected.backward().unwrap();
            for (variable_name, variable) in ranker.variables() {
                // Nothing depends on the pooler of ColBERT's encoder, which is no variable.
                let of = |it: &GradStore| numbers(it.get(variable).unwrap());
                let (found, expected) = (of(&found), of(&expected));
                // The keys' biases change no attention weight, so that theirs are rounding errors.
                let largest = expected.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
                let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                let apart = apart.fold(0.0, f32::max);
                assert!(
                    apart <= 1e-6 + 2e-4 * largest,
                    "{name} {kind:?} {variable_name}: {apart} of {largest}"
                );
            }
        }
    }
}

#[test]
fn gradients_with_dropout_are_the_slope_of_the_loss() {
    let (_, files) = encoder!("tiny");
    for kind in FineTunedRankerKind::ALL {
        let ranker = ranker(kind, &files, settings(0.3, 1));
        let (_, gradients) = loss_and_gradients(&ranker);
        let of_variables: Vec<Vec<f32>> = ranker
            .variables()
            .iter()
            .map(|it| numbers(gradients.get(&it.1).unwrap()))
            .collect();
        let squares = of_variables
            .iter()
            .flatten()
            .map(|it| f64::from(*it).powi(2));
        let norm = squares.sum::<f64>().sqrt();
        let before: Vec<Vec<f32>> = ranker.variables().iter().map(|it| numbers(&it.1)).collect();
        let loss_at = |distance: f64| {
            let each = ranker
                .variables()
                .iter()
                .zip(before.iter().zip(&of_variables));
            for ((_, variable), (before, gradient)) in each {
                let step = (distance / norm) as f32;
                let moved = before
                    .iter()
                    .zip(gradient)
                    .map(|(it, slope)| it + step * slope);
                let moved = Tensor::from_vec(moved.collect(), variable.shape(), variable.device());
                variable.set(&moved.unwrap()).unwrap();
            }
            f64::from(loss_and_gradients(&ranker).0)
        };
        let slope = (loss_at(2e-3) - loss_at(-2e-3)) / 4e-3;
        assert!(
            (slope / norm - 1.0).abs() < 0.01,
            "{kind:?}: {slope} {norm}"
        );
    }
}

#[test]
fn the_folder_of_a_ranker_has_its_scores() {
    for (name, files) in [
        encoder!("tiny"),
        encoder!("roberta"),
        encoder!("electra"),
        encoder!("distilbert"),
    ] {
        for kind in FineTunedRankerKind::ALL {
            let ranker = ranker(kind, &files, settings(0.5, 1));
            let pairs = pairs(&ranker);
            let pairs: Vec<&TokenizedPair> = pairs.iter().collect();
            let scores = ranker.forward(&pairs, ForwardMode::Inference).unwrap();
            let of_folder = ranker.score(&pairs).unwrap();
            for (one, other) in numbers(&scores.rows).into_iter().zip(of_folder) {
                let apart = (f64::from(one) - other).abs();
                assert!(apart < 1e-5, "{name} {kind:?}: {one} {other}");
            }
        }
    }
}

#[test]
fn gradients_have_the_same_bits_with_any_number_of_threads() {
    let (_, files) = encoder!("tiny");
    let with_threads = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().unwrap().install(|| {
            let ranker = ranker(FineTunedRankerKind::Colbert, &files, settings(0.1, 1));
            let (_, gradients) = loss_and_gradients(&ranker);
            let of = |it: &(String, Var)| numbers(gradients.get(&it.1).unwrap());
            let all: Vec<Vec<f32>> = ranker.variables().iter().map(of).collect();
            all.into_iter()
                .flatten()
                .map(f32::to_bits)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(with_threads(1), with_threads(3));
}

#[test]
fn what_cannot_be_fine_tuned_is_an_error() {
    let (_, files) = encoder!("modernbert");
    let kind = FineTunedRankerKind::Colbert;
    let device = crate::Device::Cpu;
    let made = FineTunedRanker::from_encoder(kind, settings(0.1, 1), &files, device, 1);
    let error = made.err().unwrap().to_string();
    assert!(error.contains("cannot be fine-tuned"), "{error}");
}

/// The numbers of `tests/fixtures/fine_tuning.py`, which computes them with PyTorch.
#[test]
fn losses_and_gradients_are_those_of_pytorch() {
    #[derive(Deserialize)]
    struct Expected {
        n_labels: Option<usize>,
        vector_dimension: Option<usize>,
        loss: f32,
        scores: Vec<f32>,
        /// The norm, and the index and value of the largest element.
        gradients: HashMap<String, (f32, usize, f32)>,
    }
    let json = include_bytes!("../../tests/fixtures/fine-tuning.json");
    let expected: HashMap<String, Expected> = serde_json::from_slice(json).unwrap();
    for (kind, (name, files)) in [
        (FineTunedRankerKind::CrossEncoder, encoder!("cross-tiny")),
        (FineTunedRankerKind::Colbert, encoder!("colbert-tiny")),
    ] {
        let expected = &expected[name];
        let mut settings = settings(0.0, expected.n_labels.unwrap_or(1));
        settings.vector_dimension = expected.vector_dimension.unwrap_or(1);
        let ranker = ranker(kind, &files, settings);
        let pairs = pairs(&ranker);
        let scores = ranker
            .forward(&pairs.iter().collect::<Vec<_>>(), STEP)
            .unwrap();
        for (found, expected) in numbers(&scores.rows).iter().zip(&expected.scores) {
            assert!(
                (found - expected).abs() < 2e-5,
                "{name}: {found} {expected}"
            );
        }
        let (loss, gradients) = loss_and_gradients(&ranker);
        assert!((loss - expected.loss).abs() < 1e-5, "{name}: {loss}");
        let with_expected = ranker.variables().iter();
        assert_eq!(with_expected.len(), expected.gradients.len(), "{name}");
        for (variable_name, variable) in with_expected {
            let found = numbers(gradients.get(variable).unwrap());
            let (norm, at, value) = expected.gradients[variable_name];
            let found_norm = found.iter().map(|it| it * it).sum::<f32>().sqrt();
            let bound = 2e-6 + 1e-3 * norm;
            let apart = (found_norm - norm).abs().max((found[at] - value).abs());
            assert!(apart < bound, "{name} {variable_name}: {apart} of {norm}");
        }
    }
}
