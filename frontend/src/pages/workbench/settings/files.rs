//! The files that a local study uses in addition to its settings.

use shared::probe::transfer::TransferQuerySource;
use shared::study::TransferSetFile;
use shared::text::{Stopwords, WordpieceVocabulary};

/// The files that the definition of a local study uses in addition to the settings in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LocalStudyAuxiliaryFiles {
    /// The uploaded stop list.
    pub(crate) stop_list: Option<Stopwords>,
    /// The uploaded WordPiece vocabulary, or why it could not be read.
    pub(crate) vocabulary: Option<Result<WordpieceVocabulary, String>>,
    /// The name of the file with word vectors; the last one if there are several.
    pub(crate) vectors: Option<String>,
    /// The names of the files with documents.
    pub(crate) corpora: Vec<String>,
    /// The files with document pairs.
    pub(crate) pairs: Vec<UploadedTransferPairsFile>,
}

/// A file with document pairs, which becomes a transfer set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UploadedTransferPairsFile {
    /// The name of the file.
    pub(crate) name: String,
    /// Where the query of a pair comes from.
    pub(crate) query_source: TransferQuerySource,
    /// Whether neither document of a pair is the preferred one.
    pub(crate) is_symmetric: bool,
}

impl LocalStudyAuxiliaryFiles {
    /// Returns the transfer sets, named after their files.
    pub(super) fn to_transfer_sets(&self) -> Vec<TransferSetFile> {
        let mut sets: Vec<TransferSetFile> = Vec::new();
        for file in &self.pairs {
            let plain = set_name(&file.name);
            let numbered = (2..).map(|it| format!("{:.20}-{it}", plain));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            let name = names.find(|it| sets.iter().all(|set| set.name != *it));
            sets.push(TransferSetFile {
                name: name.unwrap_or_default(),
                file: file.name.clone(),
                query_source: file.query_source,
                is_symmetric: file.is_symmetric,
            });
        }
        sets
    }
}

/// Returns the name of a transfer set for a file name: `jfleg-dev` for `JFLEG dev.jsonl.gz`.
fn set_name(file: &str) -> String {
    let stem = file.split('.').next().unwrap_or_default();
    let letters = stem.chars().flat_map(char::to_lowercase);
    let letters = letters.map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
    let name: String = letters.take(24).collect();
    match name.trim_matches('-') {
        "" => "pairs".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LocalStudyFormValues;
    use super::*;

    #[test]
    fn files_with_pairs_are_transfer_sets_of_their_names() {
        let file = |name: &str, symmetric| UploadedTransferPairsFile {
            name: name.to_owned(),
            query_source: TransferQuerySource::NounPhrase,
            is_symmetric: symmetric,
        };
        let files = LocalStudyAuxiliaryFiles {
            pairs: vec![
                file("JFLEG dev.jsonl.gz", false),
                file("jfleg-dev.jsonl", true),
                file("…", false),
            ],
            ..LocalStudyAuxiliaryFiles::default()
        };
        let definition = LocalStudyFormValues::default_settings()
            .to_study_definition(&files)
            .unwrap();
        definition.validate().unwrap();
        let sets = definition.transfers.iter().map(|it| it.name.as_str());
        assert_eq!(
            sets.collect::<Vec<_>>(),
            ["jfleg-dev", "jfleg-dev-2", "pairs"]
        );
        let probes = definition
            .behavioral_tests()
            .map(|it| it.slug().into_owned());
        let expected = [
            "transfer:jfleg-dev",
            "symmetric:jfleg-dev-2",
            "transfer:pairs",
        ];
        assert_eq!(probes.collect::<Vec<_>>(), expected);
    }
}
