//! How a model reads: a text by itself, to be compared, or with the query. One match for each thing
//! that every architecture does in its own way.

use neural::{
    Colbert, CrossEncoder, Encoded, Epic, EpicQuery, EpicText, Model, MonoT5, PairPieces, Pieces,
    Side, Sparse, Splade,
};

/// How it reads: each text by itself, or with the query.
pub(super) enum Reader {
    Alone(Box<Alone>),
    Together(Together),
}

/// What reads a query and a text as one.
pub(super) enum Together {
    Cross(Box<CrossEncoder>),
    Mono(Box<MonoT5>),
}

/// What makes something of a text that can be compared.
pub(super) enum Alone {
    Dense(Model),
    Sparse(Splade),
    Colbert(Colbert),
    Epic(Epic),
}

impl Reader {
    pub(super) fn alone(&self) -> Option<&Alone> {
        match self {
            Reader::Alone(it) => Some(it),
            Reader::Together(_) => None,
        }
    }
}

/// What was made of a text.
pub(super) enum Vectors {
    Dense(Encoded),
    Sparse(Sparse),
    EpicQuery(EpicQuery),
    EpicText(EpicText),
}

impl Alone {
    /// Names the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            Alone::Dense(it) => it.fingerprint(),
            Alone::Sparse(it) => it.fingerprint(),
            Alone::Colbert(it) => it.fingerprint(),
            Alone::Epic(it) => it.fingerprint(),
        }
    }

    pub(super) fn tokenize(&self, side: Side, text: &str) -> Result<Pieces, neural::Error> {
        match self {
            Alone::Dense(it) => it.tokenize(side, text),
            Alone::Sparse(it) => it.tokenize(side, text),
            Alone::Colbert(it) => it.tokenize(side, text),
            Alone::Epic(it) => it.tokenize(side, text),
        }
    }

    /// `pieces` are all of `side`.
    pub(super) fn encode(
        &self,
        side: Side,
        pieces: &[&Pieces],
    ) -> Result<Vec<Vectors>, neural::Error> {
        Ok(match self {
            Alone::Dense(it) => it.encode(pieces)?.into_iter().map(Vectors::Dense).collect(),
            Alone::Sparse(it) => it
                .encode(pieces)?
                .into_iter()
                .map(Vectors::Sparse)
                .collect(),
            Alone::Colbert(it) => it.encode(pieces)?.into_iter().map(Vectors::Dense).collect(),
            Alone::Epic(it) => match side {
                Side::Query => {
                    let queries = it.encode_queries(pieces)?.into_iter();
                    queries.map(Vectors::EpicQuery).collect()
                }
                Side::Text => {
                    let texts = it.encode_texts(pieces)?.into_iter();
                    texts.map(Vectors::EpicText).collect()
                }
            },
        })
    }

    pub(super) fn score(&self, query: &Vectors, text: &Vectors) -> f64 {
        match (self, query, text) {
            (Alone::Dense(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                it.score(query, text)
            }
            (Alone::Sparse(it), Vectors::Sparse(query), Vectors::Sparse(text)) => {
                it.score(query, text)
            }
            (Alone::Colbert(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                it.score(query, text)
            }
            (Alone::Epic(it), Vectors::EpicQuery(query), Vectors::EpicText(text)) => {
                it.score(query, text)
            }
            // Of another model; no score is taken that is none.
            _ => f64::NAN,
        }
    }

    pub(super) fn matches(&self, query: &Vectors, text: &Vectors) -> Option<neural::Matches> {
        match (self, query, text) {
            (Alone::Dense(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                it.matches(query, text)
            }
            (Alone::Colbert(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                Some(it.matches(query, text))
            }
            _ => None,
        }
    }
}

impl Together {
    pub(super) fn tokenize(&self, side: Side, text: &str) -> Result<Pieces, neural::Error> {
        match self {
            Together::Cross(it) => it.tokenize(side, text),
            Together::Mono(it) => it.tokenize(side, text),
        }
    }

    pub(super) fn pair(&self, query: &Pieces, text: &Pieces) -> PairPieces {
        match self {
            Together::Cross(it) => it.pair(query, text),
            Together::Mono(it) => it.pair(query, text),
        }
    }

    pub(super) fn score(&self, pairs: &[&PairPieces]) -> Result<Vec<f64>, neural::Error> {
        match self {
            Together::Cross(it) => it.score(pairs),
            Together::Mono(it) => it.score(pairs),
        }
    }

    /// Names the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            Together::Cross(it) => it.fingerprint(),
            Together::Mono(it) => it.fingerprint(),
        }
    }
}
