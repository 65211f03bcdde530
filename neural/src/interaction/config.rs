//! The configuration of an interaction ranker, `config.json` in the folder of the model.

use serde::{Deserialize, Serialize};

use crate::error::{Error, unsupported_value};
use crate::training::{TrainingError, TrainingRecipe};

/// A network that scores the interactions of query terms with document terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InteractionRankerKind {
    /// Deep Relevance Matching Model (Guo et al., CIKM 2016).
    Drmm,
    /// Attention-based Neural Matching Model (Yang et al., CIKM 2016).
    Anmm,
    /// Duet of a local and a distributed model (Mitra et al., WWW 2017).
    Duet,
    /// Convolutions over a matrix of similarities (Pang et al., AAAI 2016).
    #[serde(rename = "matchpyramid")]
    MatchPyramid,
    /// Kernel-based Neural Ranking Model (Xiong et al., SIGIR 2017).
    Knrm,
    /// KNRM over word n-grams (Dai et al., WSDM 2018).
    ConvKnrm,
}

impl InteractionRankerKind {
    /// Every network, in the order of their appearance in [`InteractionRankerKind`].
    pub const ALL: [InteractionRankerKind; 6] = [
        InteractionRankerKind::Drmm,
        InteractionRankerKind::Anmm,
        InteractionRankerKind::Duet,
        InteractionRankerKind::MatchPyramid,
        InteractionRankerKind::Knrm,
        InteractionRankerKind::ConvKnrm,
    ];

    /// Returns the name in files and on the command line, for example `conv-knrm`.
    pub fn name(self) -> &'static str {
        match self {
            InteractionRankerKind::Drmm => "drmm",
            InteractionRankerKind::Anmm => "anmm",
            InteractionRankerKind::Duet => "duet",
            InteractionRankerKind::MatchPyramid => "matchpyramid",
            InteractionRankerKind::Knrm => "knrm",
            InteractionRankerKind::ConvKnrm => "conv-knrm",
        }
    }
}

/// Writes the name, for example `conv-knrm`.
impl std::fmt::Display for InteractionRankerKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Which of the networks of a name it is: with or without a defect of the published code, or the
/// DRMM of another library. All defects concern padding.
///
/// | network | as published | as intended |
/// |---|---|---|
/// | DRMM, aNMM | padding takes part in the softmax of the term gate | query terms only |
/// | Duet | padding of the query equals padding of the document: a match | no match |
/// | KNRM, Conv-KNRM | the kernels count padding of the document with cosine 0 | masked |
/// | MatchPyramid | no difference | no difference |
///
/// The published code is that of `MatchZoo` 1.0 (DRMM, aNMM, Duet, MatchPyramid), as used by
/// Rennings, Moraes and Hauff (ECIR 2019), and of `OpenNIR` (KNRM, Conv-KNRM), as used by MacAvaney
/// et al. (TACL 2022).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkVariant {
    /// With the defect of the published code.
    AsPublished,
    /// As the papers describe the network.
    AsIntended,
    /// DRMM with the histogram of Capreolus: 29 bins and one for exact matches, with `ln(1 +
    /// count)`. The rest is as intended.
    Capreolus,
    /// DRMM with 11 bins and rectified hidden units, as in `OpenNIR`. The rest is as intended.
    #[serde(rename = "opennir")]
    OpenNir,
}

impl NetworkVariant {
    /// Returns the name in recipes and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            NetworkVariant::AsPublished => "as-published",
            NetworkVariant::AsIntended => "as-intended",
            NetworkVariant::Capreolus => "capreolus",
            NetworkVariant::OpenNir => "opennir",
        }
    }

    /// Whether a kind of network has this variant.
    fn is_of(self, kind: InteractionRankerKind) -> bool {
        match self {
            NetworkVariant::AsPublished | NetworkVariant::AsIntended => true,
            NetworkVariant::Capreolus | NetworkVariant::OpenNir => {
                kind == InteractionRankerKind::Drmm
            }
        }
    }
}

/// The configuration of an interaction ranker, as in `config.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InteractionConfig {
    /// Which of the networks of this name it is.
    pub variant: NetworkVariant,
    /// The number of query terms that are used; later ones are cut off.
    pub max_query_terms: usize,
    /// The number of document terms that are used; histograms use all.
    pub max_document_terms: usize,
    /// Whether a document is its title and its body, or its body alone.
    pub reads_titles: bool,
    /// The number of dimensions of a word vector.
    pub dimensions: usize,
    /// The network with its sizes.
    pub network: InteractionNetworkConfig,
}

/// A network with its sizes. The defaults are those of the publications, see the variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum InteractionNetworkConfig {
    /// `MatchZoo`: 60 bins, 20 hidden units; see [`NetworkVariant`] for other numbers of bins.
    Drmm(HistogramNetworkConfig),
    /// `MatchZoo`: 20 bins, 20 hidden units.
    Anmm(HistogramNetworkConfig),
    /// `MatchZoo`: 32 filters, windows of 3, 30 hidden units, dropout .5.
    Duet(DuetConfig),
    /// `MatchZoo`: 64 filters, pooled to 3 × 10, dropout .95.
    #[serde(rename = "matchpyramid")]
    MatchPyramid(MatchPyramidConfig),
    /// `OpenNIR`: 11 kernels.
    Knrm(KernelPoolingConfig),
    /// `OpenNIR`: 11 kernels, 128 filters, n-grams of 1 to 3 terms.
    ConvKnrm(ConvKernelPoolingConfig),
}

/// The sizes of DRMM and aNMM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramNetworkConfig {
    /// The number of bins between the cosines -1 and 1. The last bin is for the cosine 1 alone.
    pub bins: usize,
    /// The number of hidden units.
    pub hidden_units: usize,
}

/// The sizes of both models of Duet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuetConfig {
    /// The number of filters of each convolution.
    pub filters: usize,
    /// The number of adjacent terms of a filter of the distributed model; odd.
    pub window_terms: usize,
    /// The number of adjacent document terms that are pooled.
    pub pooled_terms: usize,
    /// The number of hidden units of both models.
    pub hidden_units: usize,
    /// The probability that an element is dropped during training.
    pub dropout: f32,
}

/// The sizes of MatchPyramid. The filters are 3 × 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchPyramidConfig {
    /// The number of filters.
    pub filters: usize,
    /// The number of rows after pooling, over query terms.
    pub pooled_rows: usize,
    /// The number of columns after pooling, over document terms.
    pub pooled_columns: usize,
    /// The probability that an element is dropped during training.
    pub dropout: f32,
}

/// The initial kernels of KNRM. Means and widths are trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPoolingConfig {
    /// The means μ of the kernels.
    pub kernel_means: Vec<f32>,
    /// The widths σ of the kernels.
    pub kernel_widths: Vec<f32>,
}

/// The initial kernels of Conv-KNRM, which are trained, and its convolutions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvKernelPoolingConfig {
    /// The means μ of the kernels.
    pub kernel_means: Vec<f32>,
    /// The widths σ of the kernels.
    pub kernel_widths: Vec<f32>,
    /// The number of filters of each convolution.
    pub filters: usize,
    /// The length of the longest n-gram; there is a convolution for each length from 1.
    pub max_ngram_terms: usize,
}

impl Default for KernelPoolingConfig {
    /// Returns 11 kernels: μ = -.9, -.7, … .9 with σ = .1, and μ = 1 with σ = .001 for exact
    /// matches.
    fn default() -> KernelPoolingConfig {
        let means = [-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
        let mut widths = vec![0.1; means.len()];
        widths[means.len() - 1] = 0.001;
        KernelPoolingConfig {
            kernel_means: means.to_vec(),
            kernel_widths: widths,
        }
    }
}

impl InteractionNetworkConfig {
    /// Returns the sizes of the publication.
    pub fn published(kind: InteractionRankerKind) -> InteractionNetworkConfig {
        let histogram = |bins| HistogramNetworkConfig {
            bins,
            hidden_units: 20,
        };
        let kernels = KernelPoolingConfig::default();
        match kind {
            InteractionRankerKind::Drmm => InteractionNetworkConfig::Drmm(histogram(60)),
            InteractionRankerKind::Anmm => InteractionNetworkConfig::Anmm(histogram(20)),
            InteractionRankerKind::Duet => InteractionNetworkConfig::Duet(DuetConfig {
                filters: 32,
                window_terms: 3,
                pooled_terms: 3,
                hidden_units: 30,
                dropout: 0.5,
            }),
            InteractionRankerKind::MatchPyramid => {
                InteractionNetworkConfig::MatchPyramid(MatchPyramidConfig {
                    filters: 64,
                    pooled_rows: 3,
                    pooled_columns: 10,
                    dropout: 0.95,
                })
            }
            InteractionRankerKind::Knrm => InteractionNetworkConfig::Knrm(kernels),
            InteractionRankerKind::ConvKnrm => {
                InteractionNetworkConfig::ConvKnrm(ConvKernelPoolingConfig {
                    kernel_means: kernels.kernel_means,
                    kernel_widths: kernels.kernel_widths,
                    filters: 128,
                    max_ngram_terms: 3,
                })
            }
        }
    }

    /// Returns the kind of the network.
    pub fn kind(&self) -> InteractionRankerKind {
        match self {
            InteractionNetworkConfig::Drmm(_) => InteractionRankerKind::Drmm,
            InteractionNetworkConfig::Anmm(_) => InteractionRankerKind::Anmm,
            InteractionNetworkConfig::Duet(_) => InteractionRankerKind::Duet,
            InteractionNetworkConfig::MatchPyramid(_) => InteractionRankerKind::MatchPyramid,
            InteractionNetworkConfig::Knrm(_) => InteractionRankerKind::Knrm,
            InteractionNetworkConfig::ConvKnrm(_) => InteractionRankerKind::ConvKnrm,
        }
    }
}

impl InteractionConfig {
    /// Returns the configuration of a network that is trained by a recipe, with word vectors of
    /// `dimensions` numbers. Returns an error for settings that the network does not have.
    pub fn from_recipe(
        kind: InteractionRankerKind,
        recipe: &TrainingRecipe,
        dimensions: usize,
    ) -> Result<InteractionConfig, TrainingError> {
        let check = |key: &str, is_right: bool, reason: &str| match is_right {
            true => Ok(()),
            false => Err(TrainingError::InvalidRecipe {
                recipe: key.to_owned(),
                reason: reason.to_owned(),
            }),
        };
        let (words, of_network) = recipe.words_and_network()?;
        let variant = of_network.variant;
        let reason = format!("`{}` is a variant of DRMM alone", variant.name());
        check("network.variant", variant.is_of(kind), &reason)?;
        let mut network = InteractionNetworkConfig::published(kind);
        if let InteractionNetworkConfig::Drmm(it) = &mut network {
            it.bins = match variant {
                NetworkVariant::AsPublished | NetworkVariant::AsIntended => it.bins,
                NetworkVariant::Capreolus => 30,
                NetworkVariant::OpenNir => 11,
            };
        }
        let dropout = of_network.dropout as f32;
        match &mut network {
            InteractionNetworkConfig::Duet(it) => it.dropout = dropout,
            InteractionNetworkConfig::MatchPyramid(it) => it.dropout = dropout,
            InteractionNetworkConfig::Drmm(_)
            | InteractionNetworkConfig::Anmm(_)
            | InteractionNetworkConfig::Knrm(_)
            | InteractionNetworkConfig::ConvKnrm(_) => {
                check("network.dropout", dropout == 0.0, "this network has none")?;
            }
        }
        let trains_vectors = kind == InteractionRankerKind::MatchPyramid;
        let reason = match trains_vectors {
            true => "MatchPyramid trains its word vectors",
            false => "this network does not train its word vectors",
        };
        let is_right = of_network.train_vectors == trains_vectors;
        check("network.train_vectors", is_right, reason)?;
        Ok(InteractionConfig {
            variant,
            max_query_terms: words.max_query_terms,
            max_document_terms: words.max_document_terms,
            reads_titles: words.read_titles,
            dimensions,
            network,
        })
    }

    /// Returns the kind of the network.
    pub fn kind(&self) -> InteractionRankerKind {
        self.network.kind()
    }

    /// Reads and checks the contents of `config.json`.
    pub fn parse(config: &[u8]) -> Result<InteractionConfig, Error> {
        let config: InteractionConfig =
            serde_json::from_slice(config).map_err(Error::InteractionConfig)?;
        config.check()?;
        Ok(config)
    }

    /// Returns the contents of `config.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a configuration has no maps with other keys")
    }

    /// Returns an error for sizes of which no network can be made.
    pub fn check(&self) -> Result<(), Error> {
        at_least("max_query_terms", self.max_query_terms, 1)?;
        at_least("max_document_terms", self.max_document_terms, 1)?;
        at_least("dimensions", self.dimensions, 1)?;
        if !self.variant.is_of(self.kind()) {
            let expected = "`as-published` or `as-intended`";
            return Err(unsupported_value("variant", &self.variant.name(), expected));
        }
        match &self.network {
            InteractionNetworkConfig::Drmm(it) | InteractionNetworkConfig::Anmm(it) => {
                at_least("bins", it.bins, 2)?;
                at_least("hidden_units", it.hidden_units, 1)
            }
            InteractionNetworkConfig::Duet(it) => {
                at_least("filters", it.filters, 1)?;
                at_least("hidden_units", it.hidden_units, 1)?;
                at_least("pooled_terms", it.pooled_terms, 1)?;
                at_least(
                    "max_document_terms",
                    self.max_document_terms,
                    it.pooled_terms,
                )?;
                if it.window_terms.is_multiple_of(2) {
                    return Err(unsupported_value("window_terms", &it.window_terms, "odd"));
                }
                check_dropout(it.dropout)
            }
            InteractionNetworkConfig::MatchPyramid(it) => {
                at_least("filters", it.filters, 1)?;
                at_least("pooled_rows", it.pooled_rows, 1)?;
                at_least("pooled_columns", it.pooled_columns, 1)?;
                at_least("max_query_terms", self.max_query_terms, it.pooled_rows)?;
                at_least(
                    "max_document_terms",
                    self.max_document_terms,
                    it.pooled_columns,
                )?;
                check_dropout(it.dropout)
            }
            InteractionNetworkConfig::Knrm(it) => {
                check_kernels(&it.kernel_means, &it.kernel_widths)
            }
            InteractionNetworkConfig::ConvKnrm(it) => {
                at_least("filters", it.filters, 1)?;
                at_least("max_ngram_terms", it.max_ngram_terms, 1)?;
                check_kernels(&it.kernel_means, &it.kernel_widths)
            }
        }
    }
}

fn at_least(field: &'static str, found: usize, least: usize) -> Result<(), Error> {
    if found < least {
        return Err(unsupported_value(
            field,
            &found,
            &format!("at least {least}"),
        ));
    }
    Ok(())
}

fn check_dropout(found: f32) -> Result<(), Error> {
    if !(0.0..1.0).contains(&found) {
        return Err(unsupported_value("dropout", &found, "from 0 to below 1"));
    }
    Ok(())
}

fn check_kernels(means: &[f32], widths: &[f32]) -> Result<(), Error> {
    at_least("kernel_means", means.len(), 1)?;
    if widths.len() != means.len() {
        let found = format!("of length {}", widths.len());
        let expected = format!("of length {}, as `kernel_means`", means.len());
        return Err(unsupported_value("kernel_widths", &found, &expected));
    }
    if let Some(mean) = means.iter().find(|it| !it.is_finite()) {
        return Err(unsupported_value("kernel_means", mean, "finite"));
    }
    if let Some(width) = widths.iter().find(|it| !it.is_finite() || **it <= 0.0) {
        return Err(unsupported_value("kernel_widths", width, "above 0"));
    }
    Ok(())
}
