use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::gradients::clip_gradient_norm;
use super::super::schedule::{LearningRateDecay, LearningRateSchedule};
use super::*;

type Numbers = BTreeMap<String, Vec<f32>>;

/// What `optimizers.py` has written.
#[derive(Deserialize)]
struct Fixture {
    shapes: BTreeMap<String, Vec<usize>>,
    start: Numbers,
    gradients: Vec<Numbers>,
    /// The values after each update, for each setting.
    after: BTreeMap<String, Vec<Numbers>>,
}

const ADADELTA: OptimizerConfig = OptimizerConfig::Adadelta {
    learning_rate: 1.0,
    rho: 0.95,
    epsilon: 1e-7,
};
const ADAM: OptimizerConfig = OptimizerConfig::Adam(AdamConfig {
    learning_rate: 0.02,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.0,
});
const ADAMW: OptimizerConfig = OptimizerConfig::Adam(AdamConfig {
    learning_rate: 0.05,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-6,
    weight_decay: 0.1,
});

fn fixture() -> Fixture {
    let text = include_str!("../../../tests/fixtures/training/optimizers.json");
    serde_json::from_str(text).unwrap()
}

fn variables(fixture: &Fixture) -> Vec<(String, Var)> {
    let of_name = |(name, shape): (&String, &Vec<usize>)| {
        let values = fixture.start[name].clone();
        let var = Var::from_vec(values, shape.as_slice(), &Device::Cpu).unwrap();
        (name.clone(), var)
    };
    fixture.shapes.iter().map(of_name).collect()
}

/// Returns gradients with the given values: those of a linear function.
fn gradients(variables: &[(String, Var)], values: &Numbers) -> GradStore {
    let mut sum = Tensor::zeros((), candle_core::DType::F32, &Device::Cpu).unwrap();
    for (name, variable) in variables {
        let slope = Tensor::from_slice(&values[name], variable.shape(), &Device::Cpu).unwrap();
        sum = (sum + (slope * variable.as_tensor()).unwrap().sum_all().unwrap()).unwrap();
    }
    sum.backward().unwrap()
}

fn values(variable: &Var) -> Vec<f32> {
    variable.flatten_all().unwrap().to_vec1().unwrap()
}

/// Compares ten updates with those of PyTorch.
#[track_caller]
fn check(setting: &str, config: OptimizerConfig, clipped: Option<LearningRateSchedule>) {
    let fixture = fixture();
    let variables = variables(&fixture);
    let mut optimizer = Optimizer::new(config, &variables);
    for (step, expected) in fixture.after[setting].iter().enumerate() {
        let mut gradients = gradients(&variables, &fixture.gradients[step]);
        if let Some(schedule) = clipped {
            clip_gradient_norm(&variables, &mut gradients, 1.0).unwrap();
            let factor = schedule.factor(step as u64);
            optimizer.set_learning_rate(config.learning_rate() * factor);
        }
        optimizer.step(&variables, &gradients).unwrap();
        for (name, variable) in &variables {
            for (found, expected) in values(variable).iter().zip(&expected[name]) {
                // 1e-6 of the value and of the change in one update.
                let bound = 1e-6 * (expected.abs() + config.learning_rate() as f32);
                let error = (found - expected).abs();
                assert!(
                    error <= bound,
                    "{setting} {step} {name}: {found} {expected}"
                );
            }
        }
    }
    assert_eq!(optimizer.n_updates(), 10);
}

#[test]
fn ten_updates_of_adadelta_equal_those_of_pytorch() {
    check("adadelta", ADADELTA, None);
}

#[test]
fn ten_updates_of_adam_equal_those_of_pytorch() {
    check("adam", ADAM, None);
}

#[test]
fn ten_updates_of_adamw_equal_those_of_pytorch() {
    check("adamw", ADAMW, None);
}

#[test]
fn ten_clipped_updates_with_warmup_and_decay_equal_those_of_pytorch() {
    let schedule = LearningRateSchedule {
        warmup_fraction: 0.3,
        decay: LearningRateDecay::Linear,
        n_updates: 10,
    };
    check("clipped", ADAMW, Some(schedule));
}

#[test]
fn the_first_update_is_that_computed_by_hand() {
    let first_update = |config: OptimizerConfig| {
        let variable = Var::new(&[1.0_f32], &Device::Cpu).unwrap();
        let variables = [("w".to_owned(), variable)];
        let numbers = BTreeMap::from([("w".to_owned(), vec![2.0])]);
        let mut optimizer = Optimizer::new(config, &variables);
        optimizer
            .step(&variables, &gradients(&variables, &numbers))
            .unwrap();
        values(&variables[0].1)[0]
    };
    // a = .05 · 4 = .2, d = 2 √1e-7 / √.2 = .00141421.
    assert!((first_update(ADADELTA) - (1.0 - 0.001_414_21)).abs() < 1e-6);
    // Both corrected moments are those of the gradient: w − η · 2 / √4.
    assert!((first_update(ADAM) - 0.98).abs() < 1e-6);
    // 1 · (1 − .05 · .1) − .05.
    assert!((first_update(ADAMW) - 0.945).abs() < 1e-6);
}

#[test]
fn a_restored_optimizer_continues_with_the_same_bits() {
    let fixture = fixture();
    for config in [ADADELTA, ADAM, ADAMW] {
        let whole = variables(&fixture);
        let mut optimizer = Optimizer::new(config, &whole);
        let parts = variables(&fixture);
        let mut first = Optimizer::new(config, &parts);
        for step in 0..5 {
            let numbers = &fixture.gradients[step];
            optimizer.step(&whole, &gradients(&whole, numbers)).unwrap();
            first.step(&parts, &gradients(&parts, numbers)).unwrap();
        }
        let tensors = first.named_tensors(&parts).unwrap();
        let mut second = Optimizer::from_named_tensors(config, &parts, &tensors, 5).unwrap();
        for numbers in &fixture.gradients[5..] {
            optimizer.step(&whole, &gradients(&whole, numbers)).unwrap();
            second.step(&parts, &gradients(&parts, numbers)).unwrap();
        }
        for (one, other) in whole.iter().zip(&parts) {
            assert_eq!(values(&one.1), values(&other.1));
        }
        assert_eq!(optimizer.averages, second.averages);
    }
}

#[test]
fn averages_of_another_optimizer_are_refused() {
    let variables = variables(&fixture());
    let tensors = Optimizer::new(ADAM, &variables)
        .named_tensors(&variables)
        .unwrap();
    let names: Vec<&str> = tensors.iter().map(|it| it.0.as_str()).collect();
    let expected = [
        "gate.weight.first_moment",
        "gate.weight.second_moment",
        "hidden.weight.first_moment",
        "hidden.weight.second_moment",
    ];
    assert_eq!(names, expected);
    let restore = |config, tensors: &[(String, Tensor)]| {
        Optimizer::from_named_tensors(config, &variables, tensors, 1).is_ok()
    };
    assert!(restore(ADAM, &tensors));
    assert!(!restore(ADADELTA, &tensors));
    assert!(!restore(ADAM, &tensors[..3]));
    assert!(!restore(
        ADAM,
        &[tensors.clone(), tensors[..1].to_vec()].concat()
    ));
}

#[test]
fn other_variables_are_refused() {
    let variables = variables(&fixture());
    let mut optimizer = Optimizer::new(ADAM, &variables);
    let numbers = &fixture().gradients[0];
    let reversed: Vec<(String, Var)> = variables.iter().rev().cloned().collect();
    let error = optimizer
        .step(&reversed, &gradients(&reversed, numbers))
        .unwrap_err();
    assert!(
        error.to_string().contains("`gate.weight` with 3 elements"),
        "{error}"
    );
    let fewer = &variables[..1];
    let error = optimizer
        .step(fewer, &gradients(fewer, numbers))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the ranker has no other variable"),
        "{error}"
    );
}

#[test]
fn gradients_that_are_not_finite_change_nothing() {
    let variables = variables(&fixture());
    let mut numbers = fixture().gradients[0].clone();
    numbers.get_mut("hidden.weight").unwrap()[2] = f32::NAN;
    let mut optimizer = Optimizer::new(ADAM, &variables);
    let error = optimizer
        .step(&variables, &gradients(&variables, &numbers))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("gradient of `hidden.weight` is not finite"),
        "{error}"
    );
    assert_eq!(values(&variables[0].1), fixture().start["gate.weight"]);
    assert_eq!(optimizer.n_updates(), 0);
}

#[test]
fn the_number_of_threads_does_not_change_bits() {
    let n = 3 * CHUNK + 5;
    let numbers: Vec<f32> = (0..n).map(|it| (it as f32).sin()).collect();
    let with_threads = |n_threads: usize| {
        let variable = Var::from_slice(&numbers, n, &Device::Cpu).unwrap();
        let variables = [("w".to_owned(), variable)];
        let of_name = BTreeMap::from([("w".to_owned(), numbers.clone())]);
        let mut optimizer = Optimizer::new(ADADELTA, &variables);
        let gradients = gradients(&variables, &of_name);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().unwrap();
        pool.install(|| optimizer.step(&variables, &gradients))
            .unwrap();
        values(&variables[0].1)
    };
    assert!(with_threads(1) == with_threads(3));
}
