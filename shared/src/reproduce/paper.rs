//! The papers whose tables can be reproduced: names, citations, variants and data.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;
use crate::probe::AxiomVariant;

/// A paper whose tables can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReproduciblePaper {
    /// Rennings, Moraes & Hauff, ECIR 2019.
    Rennings2019,
    /// Câmara & Hauff, ECIR 2020.
    Camara2020,
    /// MacAvaney, Feldman, Goharian, Downey & Cohan, 2020 and TACL 2022.
    Abnirml,
    /// Padigela, Zamani & Croft, 2019.
    Padigela2019,
    /// Formal, Piwowarski & Clinchant, ECIR 2021.
    Formal2021,
}

impl ReproduciblePaper {
    /// Lists all papers whose tables can be reproduced.
    pub const ALL: &[ReproduciblePaper] = &[
        ReproduciblePaper::Rennings2019,
        ReproduciblePaper::Camara2020,
        ReproduciblePaper::Abnirml,
        ReproduciblePaper::Padigela2019,
        ReproduciblePaper::Formal2021,
    ];

    /// Returns the short name of the paper, as used on the command line and in addresses.
    pub fn short_name(self) -> &'static str {
        match self {
            ReproduciblePaper::Rennings2019 => "rennings2019",
            ReproduciblePaper::Camara2020 => "camara2020",
            ReproduciblePaper::Abnirml => "abnirml",
            ReproduciblePaper::Padigela2019 => "padigela2019",
            ReproduciblePaper::Formal2021 => "formal2021",
        }
    }

    /// Returns the citation of the paper: authors, title, venue and year.
    pub fn citation(self) -> &'static str {
        match self {
            ReproduciblePaper::Rennings2019 => {
                "Rennings, Moraes & Hauff, An Axiomatic Approach to Diagnosing Neural IR Models, \
                 ECIR 2019"
            }
            ReproduciblePaper::Camara2020 => {
                "Câmara & Hauff, Diagnosing BERT with Retrieval Heuristics, ECIR 2020"
            }
            ReproduciblePaper::Abnirml => {
                "MacAvaney, Feldman, Goharian, Downey & Cohan, ABNIRML: Analyzing the Behavior of \
                 Neural IR Models, arXiv:2011.00696v1, 2020"
            }
            ReproduciblePaper::Padigela2019 => {
                "Padigela, Zamani & Croft, Investigating the Successes and Failures of BERT for \
                 Passage Re-Ranking, 2019"
            }
            ReproduciblePaper::Formal2021 => {
                "Formal, Piwowarski & Clinchant, A White Box Analysis of ColBERT, ECIR 2021"
            }
        }
    }

    /// Returns the numbers of the tables that can be reproduced.
    pub fn reproducible_table_numbers(self) -> &'static [u8] {
        match self {
            ReproduciblePaper::Rennings2019 => &[1, 2],
            ReproduciblePaper::Camara2020 => &[2, 3],
            ReproduciblePaper::Abnirml => &[1, 2, 3],
            ReproduciblePaper::Padigela2019 => &[1, 2, 3, 4, 5, 6],
            ReproduciblePaper::Formal2021 => &[1],
        }
    }

    /// Returns the variants in which a study of the paper is mined, ours first. Behavioral tests
    /// and comparisons have one.
    pub fn axiom_variants(self) -> Vec<AxiomVariant> {
        match self {
            ReproduciblePaper::Rennings2019 => {
                vec![AxiomVariant::Fixed, AxiomVariant::PaperRennings2019]
            }
            ReproduciblePaper::Camara2020 => vec![
                AxiomVariant::Fixed,
                AxiomVariant::PaperCamara2020,
                AxiomVariant::Code,
            ],
            ReproduciblePaper::Abnirml
            | ReproduciblePaper::Padigela2019
            | ReproduciblePaper::Formal2021 => vec![AxiomVariant::Fixed],
        }
    }

    /// Returns which data the paper's numbers were computed on, and how to obtain it.
    pub fn data_requirements(self) -> &'static str {
        match self {
            ReproduciblePaper::Rennings2019 => {
                "Published for WikiPassageQA, whose passages are not included. With your own \
                 copy: axioscope import FOLDER --to wikipassageqa; axioscope reproduce \
                 rennings2019 --table 2 --collection wikipassageqa."
            }
            ReproduciblePaper::Camara2020 => {
                "Published for 1,558 development queries of MS MARCO documents, whose sampling \
                 cannot be repeated. With your own copy of documents, queries and qrels: \
                 axioscope import FOLDER --to msmarco-doc; axioscope reproduce camara2020 \
                 --table 3 --collection msmarco-doc --vectors FILE."
            }
            ReproduciblePaper::Abnirml => {
                "The tables are not available; values come from the paper's text and the \
                 published code and are shown under the numbers of the tables they belong to. \
                 Tables 1 and 2 use the judged passages of TREC DL 2019; table 3 uses pairs \
                 from other datasets. With your own copies: axioscope import FOLDER --to \
                 trecdl-2019; axioscope reproduce abnirml --table 3 --collection trecdl-2019 \
                 --stopwords FILE --transfer jfleg=FILE."
            }
            ReproduciblePaper::Padigela2019 => {
                "Published for the 6,980 queries of the small development set of MS MARCO \
                 passages with the official 1,000 candidates each. With your own copy of \
                 passages, queries, qrels and the candidates as a run: axioscope import FOLDER \
                 --to msmarco; axioscope reproduce padigela2019 --table 2 --collection msmarco \
                 --pool run:FILE:1000 --ranker MODEL. BM25 is compared with every other ranker \
                 of the study."
            }
            ReproduciblePaper::Formal2021 => {
                "Published for 400 queries of TREC DL 2019 and 2020 with up to 1,000 candidates \
                 of BM25 each, and a ColBERT made of BERT. With your own copy and a ColBERT: \
                 axioscope late-interaction --study NAME --ranker MODEL:colbert --base-model \
                 ENCODER:late; axioscope reproduce formal2021 --table 1 --study NAME."
            }
        }
    }
}

impl std::str::FromStr for ReproduciblePaper {
    type Err = Error;

    fn from_str(word: &str) -> Result<ReproduciblePaper, Error> {
        let found = ReproduciblePaper::ALL
            .iter()
            .find(|it| it.short_name() == word)
            .copied();
        found.ok_or_else(|| {
            let known = ReproduciblePaper::ALL.iter().map(|it| it.short_name());
            Error::not_one_of("paper", word, known)
        })
    }
}
