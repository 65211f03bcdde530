//! Parses model specs: the name, the use, and how long documents are read.

use neural::{EmbeddingRankerKind, InteractionRankerKind, RankerArchitecture};
use shared::score::RankerKind;

use crate::models::passages::LongDocumentStrategy;

/// The largest number of generated queries per document.
const MAX_QUERIES: usize = 100;

/// How a model is used as a ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeuralRankerKind {
    Dense(EmbeddingRankerKind),
    Splade,
    CrossEncoder,
    Colbert,
    Epic,
    MonoT5,
    Doc2Query,
    Interaction(InteractionRankerKind),
    LambdaMart,
}

impl NeuralRankerKind {
    pub(super) const ALL: [NeuralRankerKind; 15] = [
        NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder),
        NeuralRankerKind::Dense(EmbeddingRankerKind::LateInteraction),
        NeuralRankerKind::Splade,
        NeuralRankerKind::CrossEncoder,
        NeuralRankerKind::Colbert,
        NeuralRankerKind::Epic,
        NeuralRankerKind::MonoT5,
        NeuralRankerKind::Doc2Query,
        NeuralRankerKind::Interaction(InteractionRankerKind::Drmm),
        NeuralRankerKind::Interaction(InteractionRankerKind::Anmm),
        NeuralRankerKind::Interaction(InteractionRankerKind::Duet),
        NeuralRankerKind::Interaction(InteractionRankerKind::MatchPyramid),
        NeuralRankerKind::Interaction(InteractionRankerKind::Knrm),
        NeuralRankerKind::Interaction(InteractionRankerKind::ConvKnrm),
        NeuralRankerKind::LambdaMart,
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
            RankerArchitecture::Doc2Query => &[NeuralRankerKind::Doc2Query],
        }
    }

    /// Returns what the scores of the ranker are computed with.
    pub(super) fn ranker_kind(self) -> RankerKind {
        match self {
            NeuralRankerKind::LambdaMart => RankerKind::FeatureBased,
            _ => RankerKind::Neural,
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
            NeuralRankerKind::Doc2Query => ":doc2query",
            NeuralRankerKind::Interaction(InteractionRankerKind::Drmm) => ":drmm",
            NeuralRankerKind::Interaction(InteractionRankerKind::Anmm) => ":anmm",
            NeuralRankerKind::Interaction(InteractionRankerKind::Duet) => ":duet",
            NeuralRankerKind::Interaction(InteractionRankerKind::MatchPyramid) => ":matchpyramid",
            NeuralRankerKind::Interaction(InteractionRankerKind::Knrm) => ":knrm",
            NeuralRankerKind::Interaction(InteractionRankerKind::ConvKnrm) => ":conv-knrm",
            NeuralRankerKind::LambdaMart => ":lambdamart",
        }
    }
}

/// The parts of a spec. An unknown suffix is part of the name.
pub(super) struct ParsedModelSpec<'a> {
    pub(super) name: &'a str,
    pub(super) model_use: Option<NeuralRankerKind>,
    /// The number of generated queries, if the spec has one (`:doc2query=10`).
    pub(super) n_queries: Option<usize>,
    pub(super) passages: LongDocumentStrategy,
}

impl ParsedModelSpec<'_> {
    pub(super) fn parse(spec: &str) -> ParsedModelSpec<'_> {
        let (spec, reading) = LongDocumentStrategy::split_off_suffix(spec);
        let (spec, n_queries) = split_off_n_queries(spec);
        let ended = NeuralRankerKind::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.spec_suffix())?;
            Some((name, it))
        });
        ParsedModelSpec {
            name: ended.map_or(spec, |it| it.0),
            model_use: ended.map(|it| it.1),
            n_queries,
            passages: reading,
        }
    }
}

/// Returns what the scores of a model are computed with, by its spec.
pub(crate) fn ranker_kind_of_spec(spec: &str) -> RankerKind {
    let model_use = ParsedModelSpec::parse(spec).model_use;
    model_use.map_or(RankerKind::Neural, NeuralRankerKind::ranker_kind)
}

/// Splits `NAME:doc2query=N` into `NAME:doc2query` and the number.
fn split_off_n_queries(spec: &str) -> (&str, Option<usize>) {
    let suffix = NeuralRankerKind::Doc2Query.spec_suffix();
    let found = spec.rsplit_once('=').and_then(|(rest, n)| {
        let n = n.parse().ok().filter(|it| (1..=MAX_QUERIES).contains(it))?;
        rest.ends_with(suffix).then_some((rest, Some(n)))
    });
    found.unwrap_or((spec, None))
}

/// Formats a spec from its parts.
pub(super) fn format_model_spec(
    name: &str,
    used: NeuralRankerKind,
    reading: LongDocumentStrategy,
) -> String {
    format!("{name}{}{reading}", used.spec_suffix())
}
