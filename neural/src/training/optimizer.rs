//! Optimizers with a state that can be saved: Adadelta, Adam and AdamW.
//!
//! Formulas and the order of their operations follow `torch.optim`. Elements are independent of
//! each other, so results have the same bits with any number of threads.

use std::sync::Mutex;

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Tensor, Var};
use rayon::prelude::*;

use super::error::TrainingError;
use super::gradients::{CHUNK, read_gradient};

/// An optimizer and its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerConfig {
    /// Zeiler 2012, arXiv:1212.5701, with a learning rate. For a gradient g of a variable w:
    /// a ← ρa + (1 − ρ)g², d = g √(u + ε) / √(a + ε), u ← ρu + (1 − ρ)d², w ← w − ηd.
    Adadelta {
        /// The learning rate η.
        learning_rate: f64,
        /// The decay ρ of both averages.
        rho: f64,
        /// The constant ε under the roots.
        epsilon: f64,
    },
    /// Adam (Kingma and Ba, ICLR 2015), with decoupled decay AdamW (Loshchilov and Hutter, ICLR
    /// 2019). For a gradient g of a variable w at update t, from 1: w ← (1 − ηλ)w,
    /// m ← m + (1 − β₁)(g − m), v ← β₂v + (1 − β₂)g²,
    /// w ← w − η / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + ε).
    Adam(AdamConfig),
}

/// The numbers of Adam, named as in [`OptimizerConfig::Adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// The learning rate η.
    pub learning_rate: f64,
    /// The decay β₁ of the first moment.
    pub beta1: f64,
    /// The decay β₂ of the second moment.
    pub beta2: f64,
    /// The constant ε of the denominator.
    pub epsilon: f64,
    /// The decay λ of the weights, which the gradients do not contain; 0 for Adam.
    pub weight_decay: f64,
}

impl OptimizerConfig {
    /// Returns the learning rate η before any schedule.
    pub fn learning_rate(self) -> f64 {
        match self {
            OptimizerConfig::Adadelta { learning_rate, .. } => learning_rate,
            OptimizerConfig::Adam(adam) => adam.learning_rate,
        }
    }

    /// Returns the names of the two averages of each element in a checkpoint.
    fn average_names(self) -> [&'static str; 2] {
        match self {
            OptimizerConfig::Adadelta { .. } => ["square_average", "accumulated_delta"],
            OptimizerConfig::Adam(_) => ["first_moment", "second_moment"],
        }
    }

    /// Returns the numbers of update `t`, from 1, with the given learning rate.
    fn element_update(self, learning_rate: f64, t: u64) -> ElementUpdate {
        match self {
            OptimizerConfig::Adadelta { rho, epsilon, .. } => ElementUpdate::Adadelta {
                learning_rate: learning_rate as f32,
                rho: rho as f32,
                weight: (1.0 - rho) as f32,
                epsilon: epsilon as f32,
            },
            OptimizerConfig::Adam(adam) => {
                let correction = |beta: f64| 1.0 - libm::pow(beta, t as f64);
                ElementUpdate::Adam {
                    kept: (1.0 - learning_rate * adam.weight_decay) as f32,
                    weight1: (1.0 - adam.beta1) as f32,
                    beta2: adam.beta2 as f32,
                    weight2: (1.0 - adam.beta2) as f32,
                    step_size: (learning_rate / correction(adam.beta1)) as f32,
                    root_correction: libm::sqrt(correction(adam.beta2)) as f32,
                    epsilon: adam.epsilon as f32,
                }
            }
        }
    }
}

/// The numbers of one update, in the precision of the variables.
#[derive(Clone, Copy)]
enum ElementUpdate {
    Adadelta {
        learning_rate: f32,
        rho: f32,
        weight: f32,
        epsilon: f32,
    },
    Adam {
        kept: f32,
        weight1: f32,
        beta2: f32,
        weight2: f32,
        step_size: f32,
        root_correction: f32,
        epsilon: f32,
    },
}

impl ElementUpdate {
    /// Changes the elements of a variable and their averages.
    fn apply(self, values: &mut [f32], gradient: &[f32], averages: &mut Averages) {
        values
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(averages.first.par_chunks_mut(CHUNK))
            .zip(averages.second.par_chunks_mut(CHUNK))
            .for_each(|(((values, gradient), first), second)| {
                let averages = first.iter_mut().zip(second);
                let elements = values.iter_mut().zip(gradient).zip(averages);
                // The choice is outside of the loop, so that the loop is vectorized.
                match self {
                    ElementUpdate::Adadelta {
                        learning_rate,
                        rho,
                        weight,
                        epsilon,
                    } => {
                        for ((value, &g), (square, delta_square)) in elements {
                            *square = *square * rho + weight * g * g;
                            let root = (*square + epsilon).sqrt();
                            let delta = (*delta_square + epsilon).sqrt() / root * g;
                            *delta_square = *delta_square * rho + weight * delta * delta;
                            *value -= learning_rate * delta;
                        }
                    }
                    ElementUpdate::Adam {
                        kept,
                        weight1,
                        beta2,
                        weight2,
                        step_size,
                        root_correction,
                        epsilon,
                    } => {
                        for ((value, &g), (first, second)) in elements {
                            *value *= kept;
                            *first += weight1 * (g - *first);
                            *second = *second * beta2 + weight2 * g * g;
                            let denominator = second.sqrt() / root_correction + epsilon;
                            *value -= step_size * *first / denominator;
                        }
                    }
                }
            });
    }
}

/// The two averages of each element of a variable.
#[derive(Clone, Debug, PartialEq)]
struct Averages {
    /// The name of the variable.
    name: String,
    /// The average of squared gradients of Adadelta, or the first moment.
    first: Vec<f32>,
    /// The average of squared changes of Adadelta, or the second moment.
    second: Vec<f32>,
}

/// Changes variables by their gradients, and remembers averages of the gradients.
#[derive(Clone, Debug)]
pub struct Optimizer {
    config: OptimizerConfig,
    learning_rate: f64,
    n_updates: u64,
    averages: Vec<Averages>,
}

impl Optimizer {
    /// Creates an optimizer that has not seen any gradient of the variables.
    pub fn new(config: OptimizerConfig, variables: &[(String, Var)]) -> Optimizer {
        let averages = variables.iter().map(|(name, variable)| Averages {
            name: name.clone(),
            first: vec![0.0; variable.elem_count()],
            second: vec![0.0; variable.elem_count()],
        });
        Optimizer {
            config,
            learning_rate: config.learning_rate(),
            n_updates: 0,
            averages: averages.collect(),
        }
    }

    /// Creates an optimizer that goes on after `n_updates` updates with the averages of
    /// [`Optimizer::named_tensors`]. Returns an error if they do not fit the variables.
    pub fn from_named_tensors(
        config: OptimizerConfig,
        variables: &[(String, Var)],
        tensors: &[(String, Tensor)],
        n_updates: u64,
    ) -> Result<Optimizer, TrainingError> {
        let mut optimizer = Optimizer::new(config, variables);
        optimizer.n_updates = n_updates;
        let names = config.average_names();
        let mut unread = tensors.iter();
        for (averages, (name, variable)) in optimizer.averages.iter_mut().zip(variables) {
            let targets = [&mut averages.first, &mut averages.second];
            for (target, average) in targets.into_iter().zip(names) {
                let name = format!("{name}.{average}");
                let expected = format!("`{name}` of shape {:?}", variable.dims());
                match unread.next() {
                    Some((found, tensor)) if *found == name && tensor.dims() == variable.dims() => {
                        *target = tensor.flatten_all()?.to_vec1()?;
                    }
                    found => return Err(mismatch("the checkpoint", found, expected)),
                }
            }
        }
        match unread.next() {
            None => Ok(optimizer),
            found => Err(mismatch(
                "the checkpoint",
                found,
                "no such tensor".to_owned(),
            )),
        }
    }

    /// Returns the averages of all variables, in their order, for example
    /// `gate.weight.first_moment`; each has the shape of its variable.
    pub fn named_tensors(
        &self,
        variables: &[(String, Var)],
    ) -> Result<Vec<(String, Tensor)>, TrainingError> {
        self.check_variables(variables)?;
        let names = self.config.average_names();
        let mut tensors = Vec::with_capacity(2 * variables.len());
        for (averages, (name, variable)) in self.averages.iter().zip(variables) {
            for (values, average) in [&averages.first, &averages.second].into_iter().zip(names) {
                let tensor = Tensor::from_slice(values, variable.shape(), &Device::Cpu)?;
                tensors.push((format!("{name}.{average}"), tensor));
            }
        }
        Ok(tensors)
    }

    /// Returns the number of updates so far.
    pub fn n_updates(&self) -> u64 {
        self.n_updates
    }

    /// Sets the learning rate η of the following updates.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.learning_rate = learning_rate;
    }

    /// Changes the variables, which must be those of the optimizer in the same order, by one
    /// update. Each needs a finite gradient; otherwise no variable is changed.
    pub fn step(
        &mut self,
        variables: &[(String, Var)],
        gradients: &GradStore,
    ) -> Result<(), TrainingError> {
        self.check_variables(variables)?;
        for variable in variables {
            let is_finite = |values: &[f32]| values.iter().all(|it| it.is_finite());
            if !read_gradient(variable, gradients, is_finite)? {
                return Err(TrainingError::Diverged {
                    quantity: format!("the gradient of `{}`", variable.0),
                    step: self.n_updates,
                });
            }
        }
        self.n_updates += 1;
        let update = self
            .config
            .element_update(self.learning_rate, self.n_updates);
        for (averages, variable) in self.averages.iter_mut().zip(variables) {
            read_gradient(variable, gradients, |gradient| {
                update_variable(update, &variable.1, gradient, averages)
            })??;
        }
        Ok(())
    }

    /// Returns an error unless the variables have the names and sizes of the averages.
    fn check_variables(&self, variables: &[(String, Var)]) -> Result<(), TrainingError> {
        let known = self
            .averages
            .iter()
            .map(|it| (it.name.as_str(), it.first.len()));
        let given = variables
            .iter()
            .map(|it| (it.0.as_str(), it.1.elem_count()));
        if known.clone().eq(given.clone()) {
            return Ok(());
        }
        let show = |it: Option<(&str, usize)>| match it {
            Some((name, n_elements)) => format!("`{name}` with {n_elements} elements"),
            None => "no other variable".to_owned(),
        };
        let n_equal = known
            .clone()
            .zip(given.clone())
            .take_while(|it| it.0 == it.1);
        let at = n_equal.count();
        Err(TrainingError::VariableMismatch {
            what: "the optimizer",
            found: show(known.clone().nth(at)),
            expected: show(given.clone().nth(at)),
        })
    }
}

/// Changes a variable, in place where it is on the CPU.
fn update_variable(
    update: ElementUpdate,
    variable: &Var,
    gradient: &[f32],
    averages: &mut Averages,
) -> Result<(), TrainingError> {
    if !variable.device().is_cpu() {
        let mut values: Vec<f32> = variable.flatten_all()?.to_vec1()?;
        update.apply(&mut values, gradient, averages);
        let changed = Tensor::from_vec(values, variable.shape(), variable.device())?;
        return Ok(variable.set(&changed)?);
    }
    let in_place = UpdateInPlace {
        update,
        gradient,
        averages: Mutex::new(averages),
    };
    Ok(variable.inplace_op1(&in_place)?)
}

/// An update of a variable on the CPU.
struct UpdateInPlace<'a> {
    update: ElementUpdate,
    gradient: &'a [f32],
    averages: Mutex<&'a mut Averages>,
}

impl InplaceOp1 for UpdateInPlace<'_> {
    fn name(&self) -> &'static str {
        "update"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets())
        else {
            candle_core::bail!("a variable is not contiguous f32");
        };
        let mut averages = self.averages.lock().expect("no update panics");
        self.update
            .apply(&mut values[start..end], self.gradient, &mut averages);
        Ok(())
    }
}

/// Returns the error of a tensor that is missing or another one.
pub(super) fn mismatch(
    what: &'static str,
    found: Option<&(String, Tensor)>,
    expected: String,
) -> TrainingError {
    TrainingError::VariableMismatch {
        what,
        found: match found {
            Some((name, tensor)) => format!("`{name}` of shape {:?}", tensor.dims()),
            None => "no such tensor".to_owned(),
        },
        expected,
    }
}

#[cfg(test)]
mod tests;
