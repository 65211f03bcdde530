//! The tables `[loss]` and `[optimizer]` as they are in the file: flat, with the numbers of the
//! chosen function or method and no others.

use serde::{Deserialize, Serialize};

use super::{LossSettings, OptimizerSettings};
use crate::training::losses::LossFunction;
use crate::training::optimizer::{AdamConfig, OptimizerConfig};

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FunctionName {
    Hinge,
    SoftmaxCrossEntropy,
    SoftmaxProbability,
    MarginMse,
    BinaryCrossEntropy,
}

/// The table `[loss]` as in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LossTable {
    function: FunctionName,
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<f64>,
    source: String,
}

impl TryFrom<LossTable> for LossSettings {
    type Error = String;

    fn try_from(table: LossTable) -> Result<LossSettings, String> {
        let function = match table.function {
            FunctionName::Hinge => LossFunction::Hinge {
                margin: table.margin.unwrap_or(1.0),
            },
            FunctionName::SoftmaxCrossEntropy => LossFunction::SoftmaxCrossEntropy,
            FunctionName::SoftmaxProbability => LossFunction::SoftmaxProbability,
            FunctionName::MarginMse => LossFunction::MarginMse,
            FunctionName::BinaryCrossEntropy => LossFunction::BinaryCrossEntropy,
        };
        let has_margin = matches!(function, LossFunction::Hinge { .. });
        if table.margin.is_some() && !has_margin {
            return Err("only the function `hinge` has a `margin`".to_owned());
        }
        Ok(LossSettings {
            function,
            source: table.source,
        })
    }
}

impl From<LossSettings> for LossTable {
    fn from(settings: LossSettings) -> LossTable {
        let (function, margin) = match settings.function {
            LossFunction::Hinge { margin } => (FunctionName::Hinge, Some(margin)),
            LossFunction::SoftmaxCrossEntropy => (FunctionName::SoftmaxCrossEntropy, None),
            LossFunction::SoftmaxProbability => (FunctionName::SoftmaxProbability, None),
            LossFunction::MarginMse => (FunctionName::MarginMse, None),
            LossFunction::BinaryCrossEntropy => (FunctionName::BinaryCrossEntropy, None),
        };
        LossTable {
            function,
            margin,
            source: settings.source,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MethodName {
    Adadelta,
    Adam,
    Adamw,
}

/// The table `[optimizer]` as in the file; missing numbers are the defaults of PyTorch 2.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptimizerTable {
    method: MethodName,
    learning_rate: Option<f64>,
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rho: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_decay: Option<f64>,
    max_gradient_norm: f64,
    source: String,
}

impl TryFrom<OptimizerTable> for OptimizerSettings {
    type Error = String;

    fn try_from(table: OptimizerTable) -> Result<OptimizerSettings, String> {
        let method = table.method;
        let is_adadelta = method == MethodName::Adadelta;
        let unused = [
            ("rho", table.rho, !is_adadelta),
            ("beta1", table.beta1, is_adadelta),
            ("beta2", table.beta2, is_adadelta),
            (
                "weight_decay",
                table.weight_decay,
                method != MethodName::Adamw,
            ),
        ];
        for (key, number, is_unused) in unused {
            if is_unused && number.is_some() {
                return Err(format!("this method has no `{key}`"));
            }
        }
        let config = match method {
            MethodName::Adadelta => OptimizerConfig::Adadelta {
                learning_rate: table.learning_rate.unwrap_or(1.0),
                rho: table.rho.unwrap_or(0.9),
                epsilon: table.epsilon.unwrap_or(1e-6),
            },
            MethodName::Adam | MethodName::Adamw => OptimizerConfig::Adam(AdamConfig {
                learning_rate: table.learning_rate.unwrap_or(1e-3),
                beta1: table.beta1.unwrap_or(0.9),
                beta2: table.beta2.unwrap_or(0.999),
                epsilon: table.epsilon.unwrap_or(1e-8),
                weight_decay: match method {
                    MethodName::Adamw => table.weight_decay.unwrap_or(0.01),
                    MethodName::Adam | MethodName::Adadelta => 0.0,
                },
            }),
        };
        Ok(OptimizerSettings {
            config,
            max_gradient_norm: table.max_gradient_norm,
            source: table.source,
        })
    }
}

impl From<OptimizerSettings> for OptimizerTable {
    fn from(settings: OptimizerSettings) -> OptimizerTable {
        let mut table = OptimizerTable {
            method: MethodName::Adadelta,
            learning_rate: Some(settings.config.learning_rate()),
            epsilon: None,
            rho: None,
            beta1: None,
            beta2: None,
            weight_decay: None,
            max_gradient_norm: settings.max_gradient_norm,
            source: settings.source,
        };
        match settings.config {
            OptimizerConfig::Adadelta { rho, epsilon, .. } => {
                table.rho = Some(rho);
                table.epsilon = Some(epsilon);
            }
            OptimizerConfig::Adam(adam) => {
                (table.beta1, table.beta2) = (Some(adam.beta1), Some(adam.beta2));
                table.epsilon = Some(adam.epsilon);
                table.method = MethodName::Adam;
                if adam.weight_decay != 0.0 {
                    table.method = MethodName::Adamw;
                    table.weight_decay = Some(adam.weight_decay);
                }
            }
        }
        table
    }
}

/// The numbers that a key may have.
#[derive(Clone, Copy)]
pub(super) enum NumberRange {
    Finite,
    NotNegative,
    Positive,
    BelowOne,
}

impl NumberRange {
    pub(super) fn contains(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                NumberRange::Finite => true,
                NumberRange::NotNegative => number >= 0.0,
                NumberRange::Positive => number > 0.0,
                NumberRange::BelowOne => (0.0..1.0).contains(&number),
            }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            NumberRange::Finite => "finite",
            NumberRange::NotNegative => "at least 0 and finite",
            NumberRange::Positive => "above 0 and finite",
            NumberRange::BelowOne => "from 0 to below 1",
        }
    }
}

/// A key, its number and the numbers that it may have.
type NumberWithRange = (&'static str, f64, NumberRange);

/// Returns the numbers of a loss with their ranges.
pub(super) fn loss_ranges(function: LossFunction) -> Vec<NumberWithRange> {
    match function {
        LossFunction::Hinge { margin } => vec![("loss.margin", margin, NumberRange::NotNegative)],
        LossFunction::SoftmaxCrossEntropy
        | LossFunction::SoftmaxProbability
        | LossFunction::MarginMse
        | LossFunction::BinaryCrossEntropy => Vec::new(),
    }
}

/// Returns the numbers of an optimizer with their ranges.
pub(super) fn optimizer_ranges(settings: &OptimizerSettings) -> Vec<NumberWithRange> {
    let learning_rate = settings.config.learning_rate();
    let mut ranges = vec![(
        "optimizer.learning_rate",
        learning_rate,
        NumberRange::Positive,
    )];
    // Infinite: gradients are not clipped.
    if settings.max_gradient_norm != f64::INFINITY {
        let norm = settings.max_gradient_norm;
        ranges.push(("optimizer.max_gradient_norm", norm, NumberRange::Positive));
    }
    match settings.config {
        OptimizerConfig::Adadelta { rho, epsilon, .. } => {
            ranges.push(("optimizer.rho", rho, NumberRange::BelowOne));
            ranges.push(("optimizer.epsilon", epsilon, NumberRange::Positive));
        }
        OptimizerConfig::Adam(adam) => ranges.extend([
            ("optimizer.beta1", adam.beta1, NumberRange::BelowOne),
            ("optimizer.beta2", adam.beta2, NumberRange::BelowOne),
            ("optimizer.epsilon", adam.epsilon, NumberRange::Positive),
            (
                "optimizer.weight_decay",
                adam.weight_decay,
                NumberRange::NotNegative,
            ),
        ]),
    }
    ranges
}
