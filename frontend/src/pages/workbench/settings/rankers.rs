//! The lexical rankers of the settings, with their parameters as typed.

/// A lexical ranker with its parameters as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LexicalRankerFormValues {
    /// The kind of ranker that the parameters belong to.
    pub(crate) kind: LexicalRankerKind,
    /// The values as typed, in the order of [`LexicalRankerKind::parameter_names_and_defaults`].
    pub(crate) values: Vec<String>,
}

/// A kind of lexical ranker that the form offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexicalRankerKind {
    /// BM25 as Okapi defines it, with a choice of idf.
    Bm25,
    /// Query likelihood with a Dirichlet prior.
    Dirichlet,
    /// Query likelihood with linear interpolation.
    JelinekMercer,
}

impl LexicalRankerKind {
    /// All kinds, in the order of the form.
    pub(crate) const ALL: [LexicalRankerKind; 3] = [
        LexicalRankerKind::Bm25,
        LexicalRankerKind::Dirichlet,
        LexicalRankerKind::JelinekMercer,
    ];

    /// Returns the display name of the ranker.
    pub(crate) fn display_name(self) -> &'static str {
        match self {
            LexicalRankerKind::Bm25 => "BM25",
            LexicalRankerKind::Dirichlet => "QL, Dirichlet",
            LexicalRankerKind::JelinekMercer => "QL, Jelinek-Mercer",
        }
    }

    /// Returns the parameters: name in a specification, display name, and default value.
    pub(crate) fn parameter_names_and_defaults(
        self,
    ) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            LexicalRankerKind::Bm25 => &[
                ("k1", "k1", "1.2"),
                ("b", "b", "0.75"),
                ("k3", "k3", "inf"),
                ("idf", "idf", "lucene"),
            ],
            LexicalRankerKind::Dirichlet => &[("mu", "μ", "2500")],
            LexicalRankerKind::JelinekMercer => &[("lambda", "λ", "0.1")],
        }
    }

    fn spec_name(self) -> &'static str {
        match self {
            LexicalRankerKind::Bm25 => "bm25",
            LexicalRankerKind::Dirichlet | LexicalRankerKind::JelinekMercer => "ql",
        }
    }
}

impl LexicalRankerFormValues {
    /// Returns a lexical ranker with its default parameters.
    pub(crate) fn with_defaults(formula: LexicalRankerKind) -> LexicalRankerFormValues {
        let values = formula
            .parameter_names_and_defaults()
            .iter()
            .map(|it| it.2.to_owned())
            .collect();
        LexicalRankerFormValues {
            kind: formula,
            values,
        }
    }

    /// Returns the specification of the ranker, as on the command line; it may be invalid.
    pub(crate) fn to_ranker_spec_string(&self) -> String {
        let keys = self
            .kind
            .parameter_names_and_defaults()
            .iter()
            .map(|it| it.0);
        let pairs: Vec<String> = keys
            .zip(&self.values)
            .map(|(key, value)| format!("{key}={}", value.trim()))
            .collect();
        format!("{}:{}", self.kind.spec_name(), pairs.join(","))
    }

    /// Parses a specification from an address; unknown parameters are ignored.
    pub(super) fn parse_ranker_spec(spec: &str) -> Option<LexicalRankerFormValues> {
        let (word, list) = spec.split_once(':').unwrap_or((spec, ""));
        let given: Vec<(&str, &str)> = list
            .split(',')
            .filter_map(|it| it.split_once('='))
            .collect();
        let formula = match word {
            "bm25" => LexicalRankerKind::Bm25,
            "ql" if given.iter().any(|it| it.0 == "lambda") => LexicalRankerKind::JelinekMercer,
            "ql" => LexicalRankerKind::Dirichlet,
            _ => return None,
        };
        let value = |&(key, _, usual): &(&str, &str, &str)| {
            given
                .iter()
                .find(|it| it.0 == key)
                .map_or(usual, |it| it.1)
                .to_owned()
        };
        Some(LexicalRankerFormValues {
            kind: formula,
            values: formula
                .parameter_names_and_defaults()
                .iter()
                .map(value)
                .collect(),
        })
    }
}
