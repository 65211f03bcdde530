//! Manipulations: a document compared with the same document changed in one way.
//!
//! A sample is `(d1, d2)`, where `d1` is the manipulated document and `d2` the original, so a
//! positive effect means that the manipulated document is preferred. There is no sample if a
//! manipulation leaves the text unchanged or empty. MacAvaney, Feldman, Goharian, Downey & Cohan,
//! ABNIRML (TACL 2022), section 3.2, and its first version of 2020; the paper has the original
//! first, and reverses the sign in its tables. The paper joins tokens by single spaces; Axioscope
//! keeps the characters between tokens, so that nothing else changes.
//!
//! Random choices come from a generator seeded with the study's seed, the manipulation, the query
//! and the document, so they are the same in whatever order and place documents are made.

mod descriptions;
mod surface;
mod order;
mod sentences;
mod terms;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorFieldName, serialize_as_text};
use crate::text::linguistics::{LinguisticAnalysis, LinguisticUnit};
use crate::text::stopwords::{self, EN_FUNCTION};
use crate::text::{Analyzer, Stopwords, Vocabulary};
use crate::word_vectors::SynonymFinder;

/// A way to change a document. Serialized as its slug: `shuffle-words`, `repeat:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Manipulation {
    /// Removes stop words.
    RemoveStopWords,
    /// Replaces every ASCII punctuation character by a space.
    RemovePunctuation,
    /// Removes stop words, then replaces every ASCII punctuation character by a space.
    RemoveStopWordsAndPunctuation,
    /// Replaces words by their lemmas; stop words stay.
    Lemmatize,
    /// Changes every letter to lower case.
    CaseFold,
    /// Puts tokens in random order.
    ShuffleWords,
    /// Puts sentences in random order.
    ShuffleSentences,
    /// Puts the tokens of each sentence in random order, except the last token.
    ShuffleWordsInSentences,
    /// Puts tokens in random order, with noun phrases kept together.
    ShuffleAroundPhrases,
    /// Puts the tokens of each sentence in random order, with noun phrases kept together, except
    /// the last token.
    ShuffleAroundPhrasesInSentences,
    /// Swaps noun phrases at random.
    ShufflePhrases,
    /// Swaps prepositions at random.
    ShufflePrepositions,
    /// Reverses the order of tokens.
    ReverseWords,
    /// Reverses the order of sentences.
    ReverseSentences,
    /// Reverses the order of noun phrases, which take each other's places.
    ReversePhrases,
    /// Swaps as many random tokens as there are noun phrases: a control for
    /// [`Manipulation::ShufflePhrases`].
    SwapWords,
    /// Replaces words by common misspellings.
    Typos,
    /// Replaces words other than stop words by common misspellings.
    TyposOutsideStopWords,
    /// Removes the first sentence.
    DeleteFirstSentence,
    /// Removes the last sentence.
    DeleteLastSentence,
    /// Removes a random sentence.
    DeleteSentence,
    /// Adds a sentence of a non-relevant document before the text.
    AddSentenceFirst,
    /// Adds a sentence of a non-relevant document after the text.
    AddSentenceLast,
    /// Replaces the text by the query.
    ReplaceWithQuery,
    /// Adds the query before the text.
    PrependQuery,
    /// Adds the query after the text.
    AppendQuery,
    /// Adds queries that a model generated for the document after the text.
    AppendExpansions,
    /// Repeats the text this many times, joined by spaces.
    Repeat(u16),
    /// Inserts this many words of the collection that are not in the query, at random positions.
    InsertNoiseWords(u16),
    /// Replaces this many words that are not in the query by words of nearly the same meaning.
    ReplaceSynonyms(u16),
    /// Removes the query terms.
    DropQueryTerms,
    /// Keeps only the first tokens, this many.
    Truncate(u16),
    /// Replaces every number by another with the same number of digits.
    ChangeNumbers,
    /// Inserts `not` after the first auxiliary verb of each sentence without a negation.
    Negate,
}

/// The word lists of manipulations.
#[derive(Debug, Clone, Default)]
pub struct ManipulationWordLists {
    /// The stop words, lower case, sorted; `None` for [`EN_FUNCTION`].
    stop_words: Option<Vec<String>>,
    /// The misspellings of each word; `None` for the rule of [`surface`].
    misspellings: Option<BTreeMap<String, Vec<String>>>,
    /// The generated queries of each document, by document id.
    expansions: BTreeMap<String, Vec<String>>,
    synonyms: Option<SynonymFinder>,
}

impl ManipulationWordLists {
    /// Sets the stop list, given as one word per line.
    pub fn set_stop_words(&mut self, text: &str) {
        if let Stopwords::List(words) = stopwords::parse_stop_list(text) {
            self.stop_words = Some(words);
        }
    }

    /// Sets the misspellings. Each line has the wrong word, a tab, and the right one, or several
    /// separated by commas; entries of more than one word are skipped.
    pub fn set_misspellings(&mut self, file: &str, text: &str) -> Result<(), Error> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (line, row) in text.lines().enumerate() {
            if row.trim().is_empty() {
                continue;
            }
            let Some((wrong, right)) = row.split_once('\t') else {
                let reason = "lacks a tab between a misspelled word and its correct spelling";
                return Err(Error::Line {
                    file: file.to_owned(),
                    line: line as u64 + 1,
                    reason: reason.to_owned(),
                });
            };
            let is_word = |it: &&str| !it.is_empty() && !it.contains(char::is_whitespace);
            for right in right.split(',').map(str::trim).filter(is_word) {
                if is_word(&wrong.trim()) {
                    let known = found.entry(right.to_owned()).or_default();
                    known.push(wrong.trim().to_owned());
                }
            }
        }
        self.misspellings = Some(found);
        Ok(())
    }

    /// Sets the queries that a model generated for documents, by document id.
    pub fn set_doc2query_expansions(&mut self, expansions: BTreeMap<String, Vec<String>>) {
        self.expansions = expansions;
    }

    /// Sets the finder of synonyms.
    pub fn set_synonym_finder(&mut self, synonyms: SynonymFinder) {
        self.synonyms = Some(synonyms);
    }

    fn is_stop_word(&self, token: &str) -> bool {
        let token = token.to_lowercase();
        match &self.stop_words {
            Some(words) => words.binary_search(&token).is_ok(),
            None => EN_FUNCTION.binary_search(&token.as_str()).is_ok(),
        }
    }
}

/// A document in the pool of a query, before the manipulation.
#[derive(Clone, Copy)]
pub struct ManipulationInput<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// The body of the document.
    pub text: &'a str,
    /// The linguistic analysis of the same body.
    pub analysis: &'a LinguisticAnalysis,
    /// The text of the query, as written.
    pub query: &'a str,
    /// The bodies of the documents that are not relevant to the query, in the order of the pool.
    pub non_relevant_docs: &'a [(&'a str, &'a LinguisticAnalysis)],
    /// The word lists of manipulations.
    pub lookup_tables: &'a ManipulationWordLists,
    /// The vocabulary of the collection.
    pub vocabulary: &'a Vocabulary,
    /// The seed of the study.
    pub seed: u64,
}

impl Manipulation {
    /// All manipulations that need only documents, with their usual parameters.
    pub const ALL: &[Manipulation] = &[
        Manipulation::RemoveStopWords,
        Manipulation::RemovePunctuation,
        Manipulation::RemoveStopWordsAndPunctuation,
        Manipulation::Lemmatize,
        Manipulation::CaseFold,
        Manipulation::ShuffleWords,
        Manipulation::ShuffleSentences,
        Manipulation::ShuffleWordsInSentences,
        Manipulation::ShuffleAroundPhrases,
        Manipulation::ShuffleAroundPhrasesInSentences,
        Manipulation::ShufflePhrases,
        Manipulation::ShufflePrepositions,
        Manipulation::ReverseWords,
        Manipulation::ReverseSentences,
        Manipulation::ReversePhrases,
        Manipulation::SwapWords,
        Manipulation::Typos,
        Manipulation::TyposOutsideStopWords,
        Manipulation::DeleteFirstSentence,
        Manipulation::DeleteLastSentence,
        Manipulation::DeleteSentence,
        Manipulation::AddSentenceFirst,
        Manipulation::AddSentenceLast,
        Manipulation::ReplaceWithQuery,
        Manipulation::PrependQuery,
        Manipulation::AppendQuery,
        Manipulation::Repeat(2),
        Manipulation::InsertNoiseWords(5),
        Manipulation::DropQueryTerms,
        Manipulation::Truncate(20),
        Manipulation::ChangeNumbers,
        Manipulation::Negate,
    ];

    /// The manipulations that need more: generated queries or word vectors.
    pub const NEEDING_RESOURCES: &[Manipulation] = &[
        Manipulation::AppendExpansions,
        Manipulation::ReplaceSynonyms(5),
    ];

    /// The largest parameter of a manipulation.
    pub const MAX_PARAMETER: u16 = 500;

    /// Returns the name without the parameter.
    fn word(self) -> &'static str {
        match self {
            Manipulation::RemoveStopWords => "remove-stops",
            Manipulation::RemovePunctuation => "remove-punctuation",
            Manipulation::RemoveStopWordsAndPunctuation => "remove-stops-punctuation",
            Manipulation::Lemmatize => "lemmatize",
            Manipulation::CaseFold => "case-fold",
            Manipulation::ShuffleWords => "shuffle-words",
            Manipulation::ShuffleSentences => "shuffle-sentences",
            Manipulation::ShuffleWordsInSentences => "shuffle-words-in-sentences",
            Manipulation::ShuffleAroundPhrases => "shuffle-around-phrases",
            Manipulation::ShuffleAroundPhrasesInSentences => "shuffle-around-phrases-in-sentences",
            Manipulation::ShufflePhrases => "shuffle-phrases",
            Manipulation::ShufflePrepositions => "shuffle-prepositions",
            Manipulation::ReverseWords => "reverse-words",
            Manipulation::ReverseSentences => "reverse-sentences",
            Manipulation::ReversePhrases => "reverse-phrases",
            Manipulation::SwapWords => "swap-words",
            Manipulation::Typos => "typos",
            Manipulation::TyposOutsideStopWords => "typos-outside-stops",
            Manipulation::DeleteFirstSentence => "delete-first-sentence",
            Manipulation::DeleteLastSentence => "delete-last-sentence",
            Manipulation::DeleteSentence => "delete-sentence",
            Manipulation::AddSentenceFirst => "add-sentence-first",
            Manipulation::AddSentenceLast => "add-sentence-last",
            Manipulation::ReplaceWithQuery => "query",
            Manipulation::PrependQuery => "prepend-query",
            Manipulation::AppendQuery => "append-query",
            Manipulation::AppendExpansions => "doc2query",
            Manipulation::Repeat(_) => "repeat",
            Manipulation::InsertNoiseWords(_) => "noise",
            Manipulation::ReplaceSynonyms(_) => "synonyms",
            Manipulation::DropQueryTerms => "drop-query-terms",
            Manipulation::Truncate(_) => "truncate",
            Manipulation::ChangeNumbers => "change-numbers",
            Manipulation::Negate => "negate",
        }
    }

    /// Returns the parameter, if there is one.
    fn number(self) -> Option<u16> {
        match self {
            Manipulation::Repeat(n)
            | Manipulation::InsertNoiseWords(n)
            | Manipulation::ReplaceSynonyms(n)
            | Manipulation::Truncate(n) => Some(n),
            _ => None,
        }
    }

    /// Returns the name in commands, URLs and files, for example `shuffle-words`, `repeat:3`.
    pub fn slug(self) -> Cow<'static, str> {
        match self.number() {
            Some(n) => Cow::Owned(format!("{}:{n}", self.word())),
            None => Cow::Borrowed(self.word()),
        }
    }

    /// Returns the display name, with the parameter.
    pub fn name(self) -> Cow<'static, str> {
        match self.number() {
            Some(n) => Cow::Owned(format!("{}, {n}", self.probe_description().name)),
            None => Cow::Borrowed(self.probe_description().name),
        }
    }

    /// Whether the manipulated document depends on the query, by its words or by the random
    /// choices.
    pub fn depends_on_query(self) -> bool {
        !matches!(
            self,
            Manipulation::RemoveStopWords
                | Manipulation::RemovePunctuation
                | Manipulation::RemoveStopWordsAndPunctuation
                | Manipulation::Lemmatize
                | Manipulation::CaseFold
                | Manipulation::ReverseWords
                | Manipulation::ReverseSentences
                | Manipulation::ReversePhrases
                | Manipulation::DeleteFirstSentence
                | Manipulation::DeleteLastSentence
                | Manipulation::AppendExpansions
                | Manipulation::Repeat(_)
                | Manipulation::Truncate(_)
                | Manipulation::Negate
        )
    }

    /// Whether the manipulation needs only a document and a query: no other documents, and no
    /// model.
    pub fn needs_only_doc_and_query(self) -> bool {
        let is_of_more = Manipulation::NEEDING_RESOURCES
            .iter()
            .any(|it| it.word() == self.word());
        !is_of_more
            && !matches!(self, Manipulation::InsertNoiseWords(_))
            && !self.needs_other_docs()
    }

    /// Whether the manipulation needs word vectors.
    pub fn needs_word_vectors(self) -> bool {
        matches!(self, Manipulation::ReplaceSynonyms(_))
    }

    /// Whether the manipulation uses sentences of other documents.
    pub(super) fn needs_other_docs(self) -> bool {
        matches!(
            self,
            Manipulation::AddSentenceFirst | Manipulation::AddSentenceLast
        )
    }

    /// Returns the linguistic units that the manipulation moves, removes or keeps together.
    pub fn linguistic_units(self) -> &'static [LinguisticUnit] {
        match self {
            Manipulation::ShuffleSentences
            | Manipulation::ShuffleWordsInSentences
            | Manipulation::ReverseSentences
            | Manipulation::DeleteFirstSentence
            | Manipulation::DeleteLastSentence
            | Manipulation::DeleteSentence => &[LinguisticUnit::Sentence],
            Manipulation::ShuffleAroundPhrases
            | Manipulation::ShufflePhrases
            | Manipulation::ReversePhrases
            | Manipulation::SwapWords => &[LinguisticUnit::NounPhrase],
            Manipulation::ShuffleAroundPhrasesInSentences => {
                &[LinguisticUnit::Sentence, LinguisticUnit::NounPhrase]
            }
            Manipulation::ShufflePrepositions => &[LinguisticUnit::Preposition],
            Manipulation::Negate => &[LinguisticUnit::Sentence, LinguisticUnit::Auxiliary],
            Manipulation::RemoveStopWords
            | Manipulation::RemovePunctuation
            | Manipulation::RemoveStopWordsAndPunctuation
            | Manipulation::Lemmatize
            | Manipulation::CaseFold
            | Manipulation::ShuffleWords
            | Manipulation::ReverseWords
            | Manipulation::Typos
            | Manipulation::TyposOutsideStopWords
            | Manipulation::AddSentenceFirst
            | Manipulation::AddSentenceLast
            | Manipulation::ReplaceWithQuery
            | Manipulation::PrependQuery
            | Manipulation::AppendQuery
            | Manipulation::AppendExpansions
            | Manipulation::Repeat(_)
            | Manipulation::InsertNoiseWords(_)
            | Manipulation::ReplaceSynonyms(_)
            | Manipulation::DropQueryTerms
            | Manipulation::Truncate(_)
            | Manipulation::ChangeNumbers => &[],
        }
    }

    /// Returns the manipulated text; `None` if it would be empty or unchanged.
    pub fn apply(self, source: &ManipulationInput<'_>) -> Option<String> {
        let mut draw = SeededDraw::new(self, source);
        let made = match self {
            Manipulation::RemoveStopWords => surface::remove_stop_words(source),
            Manipulation::RemovePunctuation => surface::remove_punctuation(source.text),
            Manipulation::RemoveStopWordsAndPunctuation => {
                surface::remove_punctuation(&surface::remove_stop_words(source))
            }
            Manipulation::Lemmatize => surface::lemmatize_document(source),
            Manipulation::CaseFold => source.text.to_lowercase(),
            Manipulation::ShuffleWords => order::shuffle(source, order::all_words, &mut draw),
            Manipulation::ShuffleSentences => {
                order::shuffle(source, order::sentence_spans, &mut draw)
            }
            Manipulation::ShuffleWordsInSentences => {
                order::shuffle_words_within_sentences(source, false, &mut draw)
            }
            Manipulation::ShuffleAroundPhrases => {
                order::shuffle(source, order::words_and_noun_phrases, &mut draw)
            }
            Manipulation::ShuffleAroundPhrasesInSentences => {
                order::shuffle_words_within_sentences(source, true, &mut draw)
            }
            Manipulation::ShufflePhrases => order::shuffle(source, order::phrase_spans, &mut draw),
            Manipulation::ShufflePrepositions => {
                order::shuffle(source, order::preposition_spans, &mut draw)
            }
            Manipulation::ReverseWords => order::reverse(source, order::all_words),
            Manipulation::ReverseSentences => order::reverse(source, order::sentence_spans),
            Manipulation::ReversePhrases => order::reverse(source, order::phrase_spans),
            Manipulation::SwapWords => order::swap_random_words(source, &mut draw),
            Manipulation::Typos => surface::misspell_words(source, false, &mut draw),
            Manipulation::TyposOutsideStopWords => surface::misspell_words(source, true, &mut draw),
            Manipulation::DeleteFirstSentence => sentences::delete_picked_sentence(source, |_| 0)?,
            Manipulation::DeleteLastSentence => {
                sentences::delete_picked_sentence(source, |n| n - 1)?
            }
            Manipulation::DeleteSentence => {
                sentences::delete_picked_sentence(source, |n| draw.below(n))?
            }
            Manipulation::AddSentenceFirst => {
                let other = sentences::draw_irrelevant_sentence(source, &mut draw)?;
                format!("{other} {}", source.text)
            }
            Manipulation::AddSentenceLast => {
                let other = sentences::draw_irrelevant_sentence(source, &mut draw)?;
                format!("{} {other}", source.text)
            }
            Manipulation::ReplaceWithQuery => source.query.to_owned(),
            Manipulation::PrependQuery => format!("{} {}", source.query, source.text),
            Manipulation::AppendQuery => format!("{} {}", source.text, source.query),
            Manipulation::AppendExpansions => {
                let queries = source.lookup_tables.expansions.get(source.id)?;
                format!("{} {}", source.text, queries.join(" "))
            }
            Manipulation::Repeat(times) => vec![source.text; usize::from(times)].join(" "),
            Manipulation::InsertNoiseWords(n) => terms::insert_noise_words(source, n, &mut draw)?,
            Manipulation::ReplaceSynonyms(n) => {
                terms::synonymize_random_non_query_words(source, n, &mut draw)?
            }
            Manipulation::DropQueryTerms => terms::drop_query_terms(source),
            Manipulation::Truncate(n) => terms::keep_first_tokens(source, n),
            Manipulation::ChangeNumbers => surface::replace_numbers_randomly(source, &mut draw),
            Manipulation::Negate => sentences::negate_sentences(source),
        };
        (!made.trim().is_empty() && made != source.text).then_some(made)
    }
}

/// The random generator of one manipulated document.
struct SeededDraw(Pcg64);

impl SeededDraw {
    fn new(manipulation: Manipulation, source: &ManipulationInput<'_>) -> SeededDraw {
        let ManipulationInput {
            seed, query, text, ..
        } = source;
        let slug = manipulation.slug();
        let digest = Sha256::digest(format!("{seed}\n{slug}\n{query}\n{text}"));
        SeededDraw(Pcg64::from_seed(digest.into()))
    }

    /// Returns a random number below `n`, which must be above 0.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Returns `0..n` in random order (Fisher and Yates).
    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for left in (1..n).rev() {
            let other = self.below(left + 1);
            order.swap(left, other);
        }
        order
    }

    /// Returns at most `most` random numbers of `0..n` without repetition, ascending.
    fn some(&mut self, n: usize, most: usize) -> Vec<usize> {
        let mut some = self.order(n);
        some.truncate(most);
        some.sort_unstable();
        some
    }
}

/// Returns the terms of a query from the analyzer of the collection.
fn query_terms(analyzer: &Analyzer, query: &str) -> BTreeSet<String> {
    analyzer
        .terms_with_positions(query)
        .into_iter()
        .map(|it| it.0)
        .collect()
}

impl fmt::Display for Manipulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.slug())
    }
}

serialize_as_text!(Manipulation);

impl FromStr for Manipulation {
    type Err = Error;

    fn from_str(word: &str) -> Result<Manipulation, Error> {
        let shown: String = word.chars().take(80).collect();
        let none = || {
            Error::malformed_value(
                ErrorFieldName::with_display_name("probes", format!("probe `{shown}`")),
                "is not a manipulation",
            )
        };
        Manipulation::parse_slug(word)?.ok_or_else(none)
    }
}

impl Manipulation {
    /// Parses the name of a manipulation; `None` if no manipulation has it.
    pub(super) fn parse_slug(word: &str) -> Result<Option<Manipulation>, Error> {
        let (name, number) = match word.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (word, None),
        };
        let all = Manipulation::ALL
            .iter()
            .chain(Manipulation::NEEDING_RESOURCES);
        let found = all.copied().find(|it| it.word() == name);
        let Some(found) = found else {
            return Ok(None);
        };
        let Some(number) = number else {
            return Ok(Some(found));
        };
        let shown: String = word.chars().take(80).collect();
        let refuse = |reason: String| {
            Error::out_of_range(
                ErrorFieldName::with_display_name("probes", format!("probe `{shown}`")),
                reason,
            )
        };
        let least = if name == "repeat" { 2 } else { 1 };
        let fine = number.parse::<u16>().ok();
        let fine = fine.filter(|it| (least..=Manipulation::MAX_PARAMETER).contains(it));
        match (found, fine) {
            (Manipulation::Repeat(_), Some(n)) => Ok(Some(Manipulation::Repeat(n))),
            (Manipulation::InsertNoiseWords(_), Some(n)) => {
                Ok(Some(Manipulation::InsertNoiseWords(n)))
            }
            (Manipulation::ReplaceSynonyms(_), Some(n)) => {
                Ok(Some(Manipulation::ReplaceSynonyms(n)))
            }
            (Manipulation::Truncate(_), Some(n)) => Ok(Some(Manipulation::Truncate(n))),
            (_, Some(_)) => Err(refuse("takes no number".to_owned())),
            (_, None) => {
                let most = Manipulation::MAX_PARAMETER;
                Err(refuse(format!("takes a number from {least} to {most}")))
            }
        }
    }
}
