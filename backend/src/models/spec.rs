//! What is named: a model, what it is used for, and how it reads long texts.

use neural::{Architecture, EmbeddingKind};

use crate::models::passages::PassageStrategy;

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelUse {
    Matching(EmbeddingKind),
    Splade,
    Cross,
    Colbert,
    Epic,
    MonoT5,
}

impl ModelUse {
    pub(super) const ALL: [ModelUse; 7] = [
        ModelUse::Matching(EmbeddingKind::BiEncoder),
        ModelUse::Matching(EmbeddingKind::LateInteraction),
        ModelUse::Splade,
        ModelUse::Cross,
        ModelUse::Colbert,
        ModelUse::Epic,
        ModelUse::MonoT5,
    ];

    /// What every encoder can be used for.
    pub(super) const ENCODER: &'static [ModelUse] = &[
        ModelUse::Matching(EmbeddingKind::BiEncoder),
        ModelUse::Matching(EmbeddingKind::LateInteraction),
    ];

    /// What a folder is that says what it is.
    pub(super) fn declared(architecture: Architecture) -> &'static [ModelUse] {
        match architecture {
            Architecture::BiEncoder => &[ModelUse::Matching(EmbeddingKind::BiEncoder)],
            Architecture::LateInteraction => &[ModelUse::Matching(EmbeddingKind::LateInteraction)],
            Architecture::Splade => &[ModelUse::Splade],
            Architecture::CrossEncoder => &[ModelUse::Cross],
            Architecture::Colbert => &[ModelUse::Colbert],
            Architecture::Epic => &[ModelUse::Epic],
            Architecture::MonoT5 => &[ModelUse::MonoT5],
        }
    }

    pub(super) fn ending(self) -> &'static str {
        match self {
            ModelUse::Matching(EmbeddingKind::BiEncoder) => ":bi",
            ModelUse::Matching(EmbeddingKind::LateInteraction) => ":late",
            ModelUse::Splade => ":splade",
            ModelUse::Cross => ":cross",
            ModelUse::Colbert => ":colbert",
            ModelUse::Epic => ":epic",
            ModelUse::MonoT5 => ":monot5",
        }
    }
}

/// What a spec says; anything that is no ending belongs to the name.
pub(super) struct ModelSpec<'a> {
    pub(super) name: &'a str,
    pub(super) used: Option<ModelUse>,
    pub(super) reading: PassageStrategy,
}

impl ModelSpec<'_> {
    pub(super) fn of(spec: &str) -> ModelSpec<'_> {
        let (spec, reading) = PassageStrategy::split(spec);
        let ended = ModelUse::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.ending())?;
            Some((name, it))
        });
        ModelSpec {
            name: ended.map_or(spec, |it| it.0),
            used: ended.map(|it| it.1),
            reading,
        }
    }
}

/// A model with its endings.
pub(super) fn spec(name: &str, used: ModelUse, reading: PassageStrategy) -> String {
    format!("{name}{}{reading}", used.ending())
}
