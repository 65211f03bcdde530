//! What is named: a model, what it is used for, and how it reads long texts.

use neural::{Architecture, Matching};

use crate::models::passages::Reading;

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Matching(Matching),
    Splade,
    Cross,
    Colbert,
    Epic,
    MonoT5,
}

impl Use {
    pub(super) const ALL: [Use; 7] = [
        Use::Matching(Matching::BiEncoder),
        Use::Matching(Matching::LateInteraction),
        Use::Splade,
        Use::Cross,
        Use::Colbert,
        Use::Epic,
        Use::MonoT5,
    ];

    /// What every encoder can be used for.
    pub(super) const ENCODER: &'static [Use] = &[
        Use::Matching(Matching::BiEncoder),
        Use::Matching(Matching::LateInteraction),
    ];

    /// What a folder is that says what it is.
    pub(super) fn declared(architecture: Architecture) -> &'static [Use] {
        match architecture {
            Architecture::BiEncoder => &[Use::Matching(Matching::BiEncoder)],
            Architecture::LateInteraction => &[Use::Matching(Matching::LateInteraction)],
            Architecture::Splade => &[Use::Splade],
            Architecture::CrossEncoder => &[Use::Cross],
            Architecture::Colbert => &[Use::Colbert],
            Architecture::Epic => &[Use::Epic],
            Architecture::MonoT5 => &[Use::MonoT5],
        }
    }

    pub(super) fn ending(self) -> &'static str {
        match self {
            Use::Matching(Matching::BiEncoder) => ":bi",
            Use::Matching(Matching::LateInteraction) => ":late",
            Use::Splade => ":splade",
            Use::Cross => ":cross",
            Use::Colbert => ":colbert",
            Use::Epic => ":epic",
            Use::MonoT5 => ":monot5",
        }
    }
}

/// What a spec says; anything that is no ending belongs to the name.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) used: Option<Use>,
    pub(super) reading: Reading,
}

impl Named<'_> {
    pub(super) fn of(spec: &str) -> Named<'_> {
        let (spec, reading) = Reading::split(spec);
        let ended = Use::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.ending())?;
            Some((name, it))
        });
        Named {
            name: ended.map_or(spec, |it| it.0),
            used: ended.map(|it| it.1),
            reading,
        }
    }
}

/// A model with its endings.
pub(super) fn spec(name: &str, used: Use, reading: Reading) -> String {
    format!("{name}{}{reading}", used.ending())
}
