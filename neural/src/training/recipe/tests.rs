use super::*;
use crate::interaction::NetworkVariant;
use crate::training::{AdamConfig, LossFunction, OptimizerConfig, RegularizerAxiom};

const SIX: [&str; 6] = ["drmm", "anmm", "duet", "matchpyramid", "knrm", "conv-knrm"];

fn knrm() -> TrainingRecipe {
    TrainingRecipe::built_in("wikiqa-reference", "knrm").unwrap()
}

#[test]
fn built_in_recipes_are_valid_for_their_models() {
    for name in TrainingRecipe::built_in_names("knrm").chain(["rennings2019"]) {
        let is_for = |it: &&&str| TrainingRecipe::built_in(name, it).is_ok();
        let models: Vec<&&str> = SIX.iter().filter(is_for).collect();
        let n_models = match name {
            "rennings2019" => 4,
            "macavaney2022" => 2,
            _ => 6,
        };
        assert_eq!(models.len(), n_models, "{name}");
        for model in models {
            let recipe = TrainingRecipe::built_in(name, model).unwrap();
            assert_eq!(recipe.name, name);
            for value in recipe.to_table().values() {
                if let Value::Table(table) = value {
                    let source = table["source"].as_str().unwrap();
                    assert!(source.len() > 5, "{name} {model}");
                }
            }
        }
    }
}

#[test]
fn the_reference_recipe_has_the_numbers_of_the_reference_runs() {
    let adadelta = OptimizerConfig::Adadelta {
        learning_rate: 1.0,
        rho: 0.95,
        epsilon: 1e-7,
    };
    let adam = OptimizerConfig::Adam(AdamConfig {
        learning_rate: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.0,
    });
    let expected = [
        ("drmm", adadelta, 100, 46, 90, 0.0),
        ("anmm", adadelta, 100, 46, 90, 0.0),
        ("duet", adam, 100, 15, 90, 0.5),
        ("matchpyramid", adadelta, 100, 6, 90, 0.95),
        ("knrm", adam, 16, 20, 563, 0.0),
        ("conv-knrm", adam, 16, 5, 563, 0.0),
    ];
    for (model, config, batch_size, epochs, updates, dropout) in expected {
        let recipe = TrainingRecipe::built_in("wikiqa-reference", model).unwrap();
        assert_eq!(recipe.optimizer.config, config, "{model}");
        assert_eq!(recipe.sampling.batch_size, batch_size);
        assert_eq!(recipe.schedule.epochs, epochs);
        // WikiQA has 8,995 training pairs.
        assert_eq!(recipe.updates_per_epoch(8995), updates);
        let n_updates = recipe.learning_rate_schedule(8995).n_updates;
        assert_eq!(n_updates, epochs * updates);
        assert_eq!(recipe.network.as_ref().unwrap().dropout, dropout);
        assert_eq!(
            recipe.network.as_ref().unwrap().train_vectors,
            model == "matchpyramid"
        );
        assert_eq!(recipe.loss.function, LossFunction::Hinge { margin: 1.0 });
    }
}

#[test]
fn a_recipe_survives_its_own_toml() {
    for name in TrainingRecipe::built_in_names("knrm") {
        let recipe = TrainingRecipe::built_in(name, "knrm");
        for recipe in recipe.into_iter() {
            let text = format!("{}\n[models.knrm]\n", recipe.to_toml());
            assert_eq!(TrainingRecipe::parse(&text, "knrm").unwrap(), recipe);
        }
    }
}

#[test]
fn values_are_set_by_key() {
    let mut recipe = knrm();
    recipe.set("learning_rate", "0.5").unwrap();
    recipe.set("schedule.epochs", "7").unwrap();
    recipe.set("variant", "as-published").unwrap();
    recipe.set("vectors", "840").unwrap();
    recipe.set("max_gradient_norm", "1").unwrap();
    recipe.set("patience_epochs", "3").unwrap();
    assert_eq!(recipe.optimizer.config.learning_rate(), 0.5);
    assert_eq!(recipe.schedule.epochs, 7);
    assert_eq!(
        recipe.network.as_ref().unwrap().variant,
        NetworkVariant::AsPublished
    );
    assert_eq!(
        recipe.words.as_ref().unwrap().vectors.as_deref(),
        Some("840")
    );
    assert_eq!(recipe.optimizer.max_gradient_norm, 1.0);
    assert_eq!(recipe.selection.patience_epochs, Some(3));
    let source = &recipe.schedule.source;
    assert_eq!(source, "reference runs; `epochs` was set to 7");
    recipe.set("patience_epochs", "none").unwrap();
    assert_eq!(recipe.selection.patience_epochs, None);
}

#[test]
fn another_method_brings_its_default_numbers() {
    let mut recipe = knrm();
    recipe.set("method", "adamw").unwrap();
    recipe.set("weight_decay", "0").unwrap();
    let expected = OptimizerConfig::Adam(AdamConfig {
        learning_rate: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.0,
    });
    assert_eq!(recipe.optimizer.config, expected);
    recipe.set("optimizer.method", "adadelta").unwrap();
    assert!(recipe.set("beta1", "0.5").is_err());
    recipe.set("function", "softmax-cross-entropy").unwrap();
    assert_eq!(recipe.loss.function, LossFunction::SoftmaxCrossEntropy);
    assert!(recipe.set("margin", "2").is_err());
}

#[test]
fn an_unknown_key_is_named_and_all_keys_are_listed() {
    let error = knrm().set("learning-rate", "1").unwrap_err().to_string();
    assert!(
        error.starts_with("a recipe has no key `learning-rate`"),
        "{error}"
    );
    for key in [
        "optimizer.learning_rate",
        "words.vectors",
        "schedule.epochs",
    ] {
        assert!(error.contains(key), "{error}");
    }
    assert!(knrm().set("source", "x").is_err());
    assert!(knrm().set("name", "x").is_err());
}

#[test]
fn a_key_has_one_table() {
    for name in ["wikiqa-reference", "default"] {
        for model in SIX {
            let recipe = TrainingRecipe::built_in(name, model).unwrap();
            let keys = recipe.keys();
            let mut leaves: Vec<&str> = keys.iter().filter_map(|it| it.split('.').nth(1)).collect();
            leaves.sort_unstable();
            leaves.dedup();
            assert_eq!(leaves.len(), keys.len());
        }
    }
}

#[test]
fn invalid_values_are_errors_that_name_the_key() {
    let invalid = [
        ("learning_rate", "fast"),
        ("learning_rate", "-1"),
        ("learning_rate", "nan"),
        ("max_gradient_norm", "0"),
        ("beta1", "1.0"),
        ("dropout", "1.0"),
        ("batch_size", "0"),
        ("batch_size", "1.5"),
        ("warmup_fraction", "1.1"),
        ("epochs", "0"),
        ("epochs", "none"),
        ("variant", "as-wished"),
        ("measure", "MAP"),
    ];
    for (key, value) in invalid {
        let mut recipe = knrm();
        let error = recipe.set(key, value).unwrap_err();
        let TrainingError::InvalidRecipeValue { key: found, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(found.split('.').nth(1), Some(key), "{error}");
        assert_eq!(recipe, knrm());
    }
}

#[test]
fn values_that_do_not_go_together_are_errors() {
    let mut recipe = knrm();
    recipe.set("n_negatives", "3").unwrap();
    assert!(recipe.check().is_err());
    recipe.set("unit", "positive").unwrap();
    recipe.check().unwrap();
    recipe.set("negatives", "hard").unwrap();
    recipe.set("negative_depth", "100").unwrap();
    assert!(
        recipe
            .check()
            .unwrap_err()
            .to_string()
            .contains("hard_negative_margin")
    );
    recipe.set("hard_negative_margin", "0.5").unwrap();
    recipe.check().unwrap();
}

#[test]
fn a_regularizer_is_added_by_its_axioms() {
    let mut recipe = knrm();
    assert!(recipe.set("axiom_weight", "0.5").is_err());
    recipe.set("axioms", "tfc1, lnc2").unwrap();
    recipe.set("axiom_weight", "0.5").unwrap();
    recipe.check().unwrap();
    let expected = RegularizerSettings {
        axioms: vec![RegularizerAxiom::Tfc1, RegularizerAxiom::Lnc2],
        axiom_weight: 0.5,
        ..RegularizerSettings::default()
    };
    let mut found = recipe.regularizer.clone().unwrap();
    assert!(found.source.ends_with("; `axiom_weight` was set to 0.5"));
    found.source.clone_from(&expected.source);
    assert_eq!(found, expected);
    assert_ne!(recipe.sha256(), knrm().sha256());
    let text = format!("{}\n[models.knrm]\n", recipe.to_toml());
    assert_eq!(TrainingRecipe::parse(&text, "knrm").unwrap(), recipe);
    for (key, value) in [
        ("axioms", "tfc3"),
        ("axiom_weight", "0"),
        ("axiom_margin", "-1"),
        ("noise_terms", "0"),
    ] {
        assert!(recipe.set(key, value).is_err(), "{key}");
    }
    recipe.set("axioms", "lnc2,lnc2").unwrap();
    let error = recipe.check().unwrap_err().to_string();
    assert!(error.contains("is [lnc2, lnc2], not one or more of tfc1"));
    recipe.set("axioms", "none").unwrap();
    assert_eq!(recipe, knrm());
}

#[test]
fn only_values_count_for_the_hash() {
    let mut recipe = knrm();
    let hash = recipe.sha256();
    assert_eq!(hash.len(), 64);
    recipe.description.clear();
    recipe.loss.source.clear();
    recipe.set("vectors", "elsewhere.txt").unwrap();
    assert_eq!(recipe.sha256(), hash);
    recipe.set("epochs", "21").unwrap();
    assert_ne!(recipe.sha256(), hash);
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = TrainingRecipe::parse(text, "knrm").unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn damaged_recipes_are_errors() {
    let text = format!("{}\n[models.knrm]\n", knrm().to_toml());
    check_error("name = ", "recipe `file`: ");
    check_error("name = \"x\"", "recipe `x`: there is no table `[models]`");
    check_error(
        &text.replace("models.knrm", "models.drmm"),
        "but for `drmm`",
    );
    check_error(
        &text.replace("epochs =", "epoch ="),
        "unknown field `epoch`",
    );
    check_error(
        &text.replace("beta1 =", "rho ="),
        "this method has no `rho`",
    );
    check_error(
        &format!("{text}[models.knrm.words]\ndimensions = 9\n"),
        "has no `source`",
    );
    let unknown = format!("{text}[models.knrm.wrds]\nsource = \"x\"\n");
    check_error(&unknown, "[models.knrm.wrds] changes no table");
    let error = TrainingRecipe::built_in("wikiqa", "knrm").unwrap_err();
    assert!(error.to_string().contains("`wikiqa-reference`"));
}
