use candle_core::{DType, Device};

use super::*;

const DIMENSIONS: usize = 6;
const N_ROWS: usize = 40;

/// A linear ranker: s = x · w + b tanh(x · v), over fixed features of rows.
struct LinearRanker {
    features: Tensor,
    variables: Vec<(String, Var)>,
}

impl LinearRanker {
    fn new() -> LinearRanker {
        let numbers = |n: usize, scale: f32| -> Vec<f32> {
            (0..n)
                .map(|it| (it as f32 * 1.7 + scale).sin() * scale)
                .collect()
        };
        let var = |name: &str, n: usize, scale: f32| {
            let var = Var::from_vec(numbers(n, scale), (n, 1), &Device::Cpu).unwrap();
            (name.to_owned(), var)
        };
        let features = numbers(N_ROWS * DIMENSIONS, 1.0);
        LinearRanker {
            features: Tensor::from_vec(features, (N_ROWS, DIMENSIONS), &Device::Cpu).unwrap(),
            variables: vec![
                var("w", DIMENSIONS, 0.3),
                var("v", DIMENSIONS, 0.2),
                var("b", 1, 0.5),
            ],
        }
    }

    fn forward(&self, rows: &[usize], step: u64) -> Result<UpdateScores, Error> {
        Ok(self.score(rows, step)?.into())
    }

    fn score(&self, rows: &[usize], step: u64) -> Result<Tensor, Error> {
        let rows: Vec<u32> = rows.iter().map(|it| *it as u32).collect();
        let rows = Tensor::new(rows, &Device::Cpu)?;
        let x = self.features.index_select(&rows, 0)?; // [r, d]
        let linear = x.matmul(&self.variables[0].1)?;
        let curved = x.matmul(&self.variables[1].1)?.tanh()?;
        let scores = (linear + curved.matmul(&self.variables[2].1)?)?;
        // Stands for dropout: it depends on the step.
        let noise = 1.0 + 0.1 * ((step % 7) as f64);
        Ok(scores.affine(noise, 0.0)?.squeeze(1)?)
    }

    fn train(&self, run: &mut TrainingRun, n_updates: u64) -> Vec<f64> {
        (0..n_updates)
            .map(|_| run.advance(&|rows, step| self.forward(rows, step)).unwrap())
            .collect()
    }
}

fn input(changes: &[(&str, &str)]) -> TrainingInput {
    let mut recipe = TrainingRecipe::built_in("wikiqa-reference", "drmm").unwrap();
    recipe.set("batch_size", "8").unwrap();
    recipe.set("epochs", "10").unwrap();
    for (key, value) in changes {
        recipe.set(key, value).unwrap();
    }
    let queries: Vec<Vec<(usize, i32)>> = (0..N_ROWS)
        .step_by(5)
        .map(|first| {
            (first..first + 5)
                .map(|row| (row, i32::from(row % 5 < 2)))
                .collect()
        })
        .collect();
    TrainingInput {
        examples: recipe.examples_from_grades(&queries),
        recipe,
        teacher_scores: Some((0..N_ROWS).map(|it| (it as f32).cos()).collect()),
        data_sha256: "data".to_owned(),
        seed: 5,
    }
}

/// Settings for each optimizer, loss and sampler.
const SETTINGS: [&[(&str, &str)]; 4] = [
    &[],
    &[
        ("method", "adam"),
        ("learning_rate", "0.05"),
        ("order", "shuffled"),
        ("function", "softmax-probability"),
    ],
    &[
        ("method", "adamw"),
        ("learning_rate", "0.05"),
        ("max_gradient_norm", "0.1"),
        ("warmup_fraction", "0.1"),
        ("decay", "linear"),
        ("unit", "query"),
        ("n_negatives", "2"),
        ("function", "softmax-cross-entropy"),
    ],
    &[
        ("method", "adamw"),
        ("learning_rate", "0.05"),
        ("unit", "positive"),
        ("n_negatives", "4"),
        ("order", "shuffled"),
        ("function", "margin-mse"),
    ],
];

#[test]
fn an_interrupted_run_ends_with_the_bits_of_an_uninterrupted_one() {
    for changes in SETTINGS {
        let ranker = LinearRanker::new();
        let mut run = TrainingRun::start(input(changes), &ranker.variables).unwrap();
        let n_updates = run.n_updates().min(60);
        let losses = ranker.train(&mut run, n_updates);
        let expected = run.checkpoint().unwrap().to_bytes().unwrap();
        for stop in [0, 1, 7, n_updates - 1] {
            let ranker = LinearRanker::new();
            let mut first = TrainingRun::start(input(changes), &ranker.variables).unwrap();
            let mut found = ranker.train(&mut first, stop);
            let bytes = first.checkpoint().unwrap().to_bytes().unwrap();
            drop(first);

            let ranker = LinearRanker::new();
            let checkpoint = TrainingCheckpoint::from_bytes(&bytes).unwrap();
            let mut second =
                TrainingRun::resume(input(changes), &ranker.variables, &checkpoint).unwrap();
            assert_eq!(second.progress().step, stop);
            found.extend(ranker.train(&mut second, n_updates - stop));
            assert_eq!(found, losses, "{changes:?} {stop}");
            assert_eq!(
                second.weights_sha256().unwrap(),
                run.weights_sha256().unwrap()
            );
            assert!(second.checkpoint().unwrap().to_bytes().unwrap() == expected);
        }
    }
}

#[test]
fn a_checkpoint_does_not_change_with_later_updates() {
    let ranker = LinearRanker::new();
    let mut run = TrainingRun::start(input(&[]), &ranker.variables).unwrap();
    ranker.train(&mut run, 3);
    let checkpoint = run.checkpoint().unwrap();
    let before = checkpoint.to_bytes().unwrap();
    ranker.train(&mut run, 3);
    assert!(checkpoint.to_bytes().unwrap() == before);
    // Nor does resuming tie the variables to the checkpoint.
    let mut run = TrainingRun::resume(input(&[]), &ranker.variables, &checkpoint).unwrap();
    ranker.train(&mut run, 3);
    assert!(checkpoint.to_bytes().unwrap() == before);
}

#[test]
fn training_changes_every_variable_and_lowers_the_loss() {
    for changes in SETTINGS {
        let ranker = LinearRanker::new();
        let mut run = TrainingRun::start(input(changes), &ranker.variables).unwrap();
        let values = |at: usize| -> Vec<f32> {
            let variable = ranker.variables[at].1.flatten_all().unwrap();
            variable.to_vec1().unwrap()
        };
        let before = [values(0), values(1), values(2)];
        let mut losses = ranker.train(&mut run, 1);
        for (at, before) in before.iter().enumerate() {
            let changed = values(at)
                .iter()
                .zip(before)
                .all(|(one, other)| one != other);
            assert!(changed, "{changes:?} {at}");
        }
        let n_left = run.n_updates() - 1;
        losses.extend(ranker.train(&mut run, n_left));
        let (first, last) = losses.split_at(losses.len() / 2);
        let [first, last] = [first, last].map(|it| it.iter().sum::<f64>() / it.len() as f64);
        assert!(last < first, "{changes:?}: {first} {last}");
    }
}

#[test]
fn epochs_are_evaluated_and_the_run_stops_after_the_patience() {
    let ranker = LinearRanker::new();
    let changes = [("updates_per_epoch", "4"), ("patience_epochs", "2")];
    let mut run = TrainingRun::start(input(&changes), &ranker.variables).unwrap();
    assert_eq!((run.updates_per_epoch(), run.n_updates()), (4, 40));
    assert!(!run.is_evaluation_due() && run.mean_loss().is_none());
    let mut outcomes = Vec::new();
    // The third value is not above the second one.
    for value in [0.5, 0.7, 0.7, 0.6] {
        assert!(!run.is_finished());
        ranker.train(&mut run, 3);
        assert!(!run.is_evaluation_due());
        let losses = ranker.train(&mut run, 1);
        assert!(run.is_evaluation_due());
        assert!(run.mean_loss().unwrap() > 0.0 && losses[0] > 0.0);
        outcomes.push(run.record_evaluation(value).unwrap());
        assert!(!run.is_evaluation_due());
    }
    let (best, not) = (EvaluationOutcome::Best, EvaluationOutcome::NotBest);
    assert_eq!(outcomes, [best, best, not, not]);
    let expected = BestEvaluation {
        step: 8,
        value: 0.7,
    };
    assert_eq!(run.progress().best, Some(expected));
    assert!(run.is_finished());
    let error = run
        .advance(&|rows, step| ranker.forward(rows, step))
        .unwrap_err();
    assert!(
        matches!(error, TrainingError::Finished { step: 16 }),
        "{error}"
    );
}

#[test]
fn a_run_ends_after_its_updates() {
    let ranker = LinearRanker::new();
    let changes = [("updates_per_epoch", "3"), ("epochs", "2")];
    let mut run = TrainingRun::start(input(&changes), &ranker.variables).unwrap();
    ranker.train(&mut run, 6);
    assert!(run.is_finished());
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let ranker = LinearRanker::new();
    let run = TrainingRun::start(input(&[]), &ranker.variables).unwrap();
    let checkpoint = run.checkpoint().unwrap();
    let resume = |input: TrainingInput, variables: &[(String, Var)]| match TrainingRun::resume(
        input,
        variables,
        &checkpoint,
    ) {
        Ok(_) => "resumed".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(resume(input(&[]), &ranker.variables), "resumed");
    let other_recipe = resume(input(&[("epochs", "11")]), &ranker.variables);
    assert!(other_recipe.contains("another recipe"), "{other_recipe}");
    let mut other = input(&[]);
    other.data_sha256 = "other".to_owned();
    let other_data = resume(other, &ranker.variables);
    assert!(
        other_data.contains("another data: data, not other"),
        "{other_data}"
    );
    let mut other = input(&[]);
    other.seed = 6;
    let other_seed = resume(other, &ranker.variables);
    assert!(
        other_seed.contains("another seed: 5, not 6"),
        "{other_seed}"
    );
    let fewer = resume(input(&[]), &ranker.variables[..2]);
    assert!(
        fewer.contains("`b` of shape [1, 1], where the ranker has no such"),
        "{fewer}"
    );
    let swapped: Vec<(String, Var)> = ranker.variables.iter().rev().cloned().collect();
    let swapped = resume(input(&[]), &swapped);
    assert!(swapped.contains("`w` of shape [6, 1]"), "{swapped}");
}

#[test]
fn wrong_scores_are_errors_and_change_nothing() {
    let ranker = LinearRanker::new();
    let mut run = TrainingRun::start(input(&[]), &ranker.variables).unwrap();
    let before = run.weights_sha256().unwrap();
    let zeros = |n: usize| -> Result<UpdateScores, Error> {
        Ok(Tensor::zeros(n, DType::F32, &Device::Cpu)?.into())
    };
    let error = run.advance(&|_, _| zeros(3)).unwrap_err();
    assert!(
        error.to_string().contains("shape [3]; expected are 16"),
        "{error}"
    );
    let error = run.advance(&|rows, _| zeros(rows.len())).unwrap_err();
    assert!(error.to_string().contains("`w` has no gradient"), "{error}");
    for (factor, quantity) in [(f64::NAN, "a score"), (1e38, "the loss")] {
        let scaled = |rows: &[usize], step: u64| {
            let scores = ranker.score(rows, step)?;
            Ok(scores.affine(factor, 0.0)?.into())
        };
        let error = run.advance(&scaled).unwrap_err();
        let expected = format!("{quantity} is not finite after 0 updates");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    let error = run.advance(&|_, _| Err(Error::NotFinite)).unwrap_err();
    assert!(matches!(error, TrainingError::Ranker(Error::NotFinite)));
    assert_eq!(
        (run.progress().step, run.weights_sha256().unwrap()),
        (0, before)
    );
    assert!(run.record_evaluation(f64::NAN).is_err());
}

#[test]
fn margin_mse_needs_a_teacher_score_for_each_row() {
    let ranker = LinearRanker::new();
    let mut without = input(&[("function", "margin-mse")]);
    without.teacher_scores = None;
    assert!(TrainingRun::start(without, &ranker.variables).is_err());
    let mut fewer = input(&[("function", "margin-mse")]);
    fewer.teacher_scores = Some(vec![0.0; N_ROWS - 1]);
    assert!(TrainingRun::start(fewer, &ranker.variables).is_err());
}

#[test]
fn the_regularizer_adds_its_term_to_loss_and_gradient() {
    // The preference is for row 1 above row 0, with a margin that it always lacks.
    let changes = [("axioms", "tfc1"), ("axiom_margin", "50")];
    let update = |weight: &str| {
        let ranker = LinearRanker::new();
        let mut input = input(&changes);
        input.recipe.set("axiom_weight", weight).unwrap();
        let mut run = TrainingRun::start(input, &ranker.variables).unwrap();
        let forward = |rows: &[usize], step: u64| {
            let with_both = [rows, &[1, 0]].concat();
            let scores = ranker.score(&with_both, step)?;
            let n = rows.len() as u32;
            UpdateScores::select(&scores, rows.len(), &[[n, n + 1]])
        };
        let loss = run.advance(&forward).unwrap();
        (loss, run.weights_sha256().unwrap())
    };
    let ranker = LinearRanker::new();
    let both = ranker.score(&[1, 0], 0).unwrap().to_vec1::<f32>().unwrap();
    let mut plain = TrainingRun::start(input(&[]), &ranker.variables).unwrap();
    let plain = ranker.train(&mut plain, 1)[0];
    let expected = |weight: f64| plain + weight * (50.0 - f64::from(both[0] - both[1]));
    let ((half, of_half), (double, of_double)) = (update("0.5"), update("2"));
    assert!((half - expected(0.5)).abs() < 1e-4, "{half} {plain}");
    assert!((double - expected(2.0)).abs() < 1e-4, "{double} {plain}");
    assert_ne!(of_half, of_double);

    let ranker = LinearRanker::new();
    let mut run = TrainingRun::start(input(&changes), &ranker.variables).unwrap();
    let error = run.advance(&|rows, step| {
        Ok(UpdateScores {
            rows: ranker.score(rows, step)?,
            preferences: Some(Tensor::new(&[[f32::NAN], [0.0]], &Device::Cpu)?),
            add_gradients: None,
        })
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a score is not finite after 0"), "{error}");
}
