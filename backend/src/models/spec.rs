//! Parses model specs: the name, the use, and how long documents are read.

use neural::{EmbeddingRankerKind, InteractionRankerKind, RankerArchitecture};

use crate::models::passages::LongDocumentStrategy;

/// How a model is used as a ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeuralRankerKind {
    Dense(EmbeddingRankerKind),
    Splade,
    CrossEncoder,
    Colbert,
    Epic,
    MonoT5,
    Interaction(InteractionRankerKind),
}

impl NeuralRankerKind {
    pub(super) const ALL: [NeuralRankerKind; 13] = [
        NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder),
        NeuralRankerKind::Dense(EmbeddingRankerKind::LateInteraction),
        NeuralRankerKind::Splade,
        NeuralRankerKind::CrossEncoder,
        NeuralRankerKind::Colbert,
        NeuralRankerKind::Epic,
        NeuralRankerKind::MonoT5,
        NeuralRankerKind::Interaction(InteractionRankerKind::Drmm),
        NeuralRankerKind::Interaction(InteractionRankerKind::Anmm),
        NeuralRankerKind::Interaction(InteractionRankerKind::Duet),
        NeuralRankerKind::Interaction(InteractionRankerKind::MatchPyramid),
        NeuralRankerKind::Interaction(InteractionRankerKind::Knrm),
        NeuralRankerKind::Interaction(InteractionRankerKind::ConvKnrm),
    ];

    /// The uses of every encoder.
    pub(super) const ENCODER: &'static [NeuralRankerKind] = &[
        NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder),
        NeuralRankerKind::Dense(EmbeddingRankerKind::LateInteraction),
    ];

    /// Returns the kinds of rankers that an architecture in `ranker.toml` allows.
    pub(super) fn kinds_of_architecture(
        architecture: RankerArchitecture,
    ) -> &'static [NeuralRankerKind] {
        match architecture {
            RankerArchitecture::BiEncoder => {
                &[NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder)]
            }
            RankerArchitecture::LateInteraction => &[NeuralRankerKind::Dense(
                EmbeddingRankerKind::LateInteraction,
            )],
            RankerArchitecture::Splade => &[NeuralRankerKind::Splade],
            RankerArchitecture::CrossEncoder => &[NeuralRankerKind::CrossEncoder],
            RankerArchitecture::Colbert => &[NeuralRankerKind::Colbert],
            RankerArchitecture::Epic => &[NeuralRankerKind::Epic],
            RankerArchitecture::MonoT5 => &[NeuralRankerKind::MonoT5],
        }
    }

    pub(super) fn spec_suffix(self) -> &'static str {
        match self {
            NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder) => ":bi",
            NeuralRankerKind::Dense(EmbeddingRankerKind::LateInteraction) => ":late",
            NeuralRankerKind::Splade => ":splade",
            NeuralRankerKind::CrossEncoder => ":cross",
            NeuralRankerKind::Colbert => ":colbert",
            NeuralRankerKind::Epic => ":epic",
            NeuralRankerKind::MonoT5 => ":monot5",
            NeuralRankerKind::Interaction(InteractionRankerKind::Drmm) => ":drmm",
            NeuralRankerKind::Interaction(InteractionRankerKind::Anmm) => ":anmm",
            NeuralRankerKind::Interaction(InteractionRankerKind::Duet) => ":duet",
            NeuralRankerKind::Interaction(InteractionRankerKind::MatchPyramid) => ":matchpyramid",
            NeuralRankerKind::Interaction(InteractionRankerKind::Knrm) => ":knrm",
            NeuralRankerKind::Interaction(InteractionRankerKind::ConvKnrm) => ":conv-knrm",
        }
    }
}

/// The parts of a spec. An unknown suffix is part of the name.
pub(super) struct ParsedModelSpec<'a> {
    pub(super) name: &'a str,
    pub(super) model_use: Option<NeuralRankerKind>,
    pub(super) passages: LongDocumentStrategy,
}

impl ParsedModelSpec<'_> {
    pub(super) fn parse(spec: &str) -> ParsedModelSpec<'_> {
        let (spec, reading) = LongDocumentStrategy::split_off_suffix(spec);
        let ended = NeuralRankerKind::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.spec_suffix())?;
            Some((name, it))
        });
        ParsedModelSpec {
            name: ended.map_or(spec, |it| it.0),
            model_use: ended.map(|it| it.1),
            passages: reading,
        }
    }
}

/// Formats a spec from its parts.
pub(super) fn format_model_spec(
    name: &str,
    used: NeuralRankerKind,
    reading: LongDocumentStrategy,
) -> String {
    format!("{name}{}{reading}", used.spec_suffix())
}
