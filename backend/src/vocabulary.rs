//! Loads the vocabularies of WordPiece tokenizers.

use std::fs;
use std::path::{Path, PathBuf};

use shared::error::Error as InputError;
use shared::text::{Analyzer, Tokenizer, WordpieceVocabulary};

use crate::error::Error;
use crate::models;

/// Files of a model folder that contain a vocabulary, the more detailed one first.
const FILES: [&str; 2] = ["tokenizer.json", "vocab.txt"];

const WAY_OUT: &str = "give a model's folder, its tokenizer.json, or a text file with one token \
                       a line, as in wordpiece:models/bert/vocab.txt";

/// Loads the vocabulary that an analyzer names, if any.
pub(crate) fn load_vocabulary_into_analyzer(analyzer: &mut Analyzer) -> Result<(), Error> {
    if let Tokenizer::Wordpiece(tokens) = &mut analyzer.tokenizer
        && tokens.is_empty()
    {
        *tokens = read(tokens.file_name())?;
    }
    Ok(analyzer.validate()?)
}

/// Returns the vocabulary of the default model.
pub(crate) fn read_default_model_vocabulary() -> Result<WordpieceVocabulary, Error> {
    let model = models::default_model_path_or_name().map(PathBuf::from);
    match model.as_deref().and_then(Path::file_name) {
        Some(name) => read(&name.to_string_lossy()),
        None => Err(InputError::missing_field(
            "tokenizer",
            "preset camara2020 reads texts as WordPiece tokens, and there is no model whose \
             vocabulary could be taken; give --tokenizer wordpiece:FOLDER, or another tokenizer",
        )
        .into()),
    }
}

fn read(named: &str) -> Result<WordpieceVocabulary, Error> {
    let path = file_of(named);
    let text = fs::read_to_string(&path).map_err(Error::io_error_converter(&path, WAY_OUT))?;
    Ok(WordpieceVocabulary::parse_file(named, &text)?)
}

/// Returns the file to read for a folder, a file, or the name of the default model.
fn file_of(named: &str) -> PathBuf {
    let given = PathBuf::from(named);
    let default = models::default_model_path_or_name().map(PathBuf::from);
    let default = default.filter(|it| it.file_name() == Some(given.as_os_str()));
    let place = match default {
        Some(folder) if !given.exists() => folder,
        _ => given,
    };
    if place.is_dir() {
        let found = FILES
            .iter()
            .map(|it| place.join(it))
            .find(|it| it.is_file());
        return found.unwrap_or_else(|| place.join(FILES[1]));
    }
    place
}
