//! Parses model specs: the name, the use, and how long documents are read.

use neural::{Architecture, EmbeddingKind};

use crate::models::passages::PassageStrategy;

/// How a model is used as a ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelUse {
    Dense(EmbeddingKind),
    Splade,
    CrossEncoder,
    Colbert,
    Epic,
    MonoT5,
}

impl ModelUse {
    pub(super) const ALL: [ModelUse; 7] = [
        ModelUse::Dense(EmbeddingKind::BiEncoder),
        ModelUse::Dense(EmbeddingKind::LateInteraction),
        ModelUse::Splade,
        ModelUse::CrossEncoder,
        ModelUse::Colbert,
        ModelUse::Epic,
        ModelUse::MonoT5,
    ];

    /// The uses of every encoder.
    pub(super) const ENCODER: &'static [ModelUse] = &[
        ModelUse::Dense(EmbeddingKind::BiEncoder),
        ModelUse::Dense(EmbeddingKind::LateInteraction),
    ];

    /// Returns the use that `ranker.toml` declares.
    pub(super) fn from_architecture(architecture: Architecture) -> &'static [ModelUse] {
        match architecture {
            Architecture::BiEncoder => &[ModelUse::Dense(EmbeddingKind::BiEncoder)],
            Architecture::LateInteraction => &[ModelUse::Dense(EmbeddingKind::LateInteraction)],
            Architecture::Splade => &[ModelUse::Splade],
            Architecture::CrossEncoder => &[ModelUse::CrossEncoder],
            Architecture::Colbert => &[ModelUse::Colbert],
            Architecture::Epic => &[ModelUse::Epic],
            Architecture::MonoT5 => &[ModelUse::MonoT5],
        }
    }

    pub(super) fn suffix(self) -> &'static str {
        match self {
            ModelUse::Dense(EmbeddingKind::BiEncoder) => ":bi",
            ModelUse::Dense(EmbeddingKind::LateInteraction) => ":late",
            ModelUse::Splade => ":splade",
            ModelUse::CrossEncoder => ":cross",
            ModelUse::Colbert => ":colbert",
            ModelUse::Epic => ":epic",
            ModelUse::MonoT5 => ":monot5",
        }
    }
}

/// The parts of a spec. An unknown suffix is part of the name.
pub(super) struct ModelSpec<'a> {
    pub(super) name: &'a str,
    pub(super) model_use: Option<ModelUse>,
    pub(super) passages: PassageStrategy,
}

impl ModelSpec<'_> {
    pub(super) fn parse(spec: &str) -> ModelSpec<'_> {
        let (spec, reading) = PassageStrategy::parse_suffix(spec);
        let ended = ModelUse::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.suffix())?;
            Some((name, it))
        });
        ModelSpec {
            name: ended.map_or(spec, |it| it.0),
            model_use: ended.map(|it| it.1),
            passages: reading,
        }
    }
}

/// Formats a spec from its parts.
pub(super) fn spec(name: &str, used: ModelUse, reading: PassageStrategy) -> String {
    format!("{name}{}{reading}", used.suffix())
}
