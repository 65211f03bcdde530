//! The part of speech of each word of a sentence.
//!
//! First each word is tagged alone, by the dictionary or by its form; then the library's rules are
//! applied; then frequent errors are corrected that depend on the whole sentence: `to`, `have`,
//! `do`, and verbs that look like nouns.

mod corrections;

use std::sync::LazyLock;

use harper_brill::{BrillTagger, Tagger, UPOS};
use serde::{Deserialize, Deserializer, de};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{PartOfSpeech, lemmas, lexicon};

/// The initial tagger for the rules of harper-brill, instead of the library's dictionary, which
/// does not handle unknown forms and capitals.
struct Base;

/// The rules, which correct the tags of single words by their neighbors.
static RULES: LazyLock<BrillTagger<Base>> = LazyLock::new(|| {
    serde_json::from_str(&lexicon::serialize_lexicon_to_json()).expect("the library wrote it")
});

impl Tagger for Base {
    fn tag_sentence(&self, sentence: &[String]) -> Vec<Option<UPOS>> {
        let first = alone(sentence);
        first
            .into_iter()
            .map(UPOS::try_from)
            .map(Result::ok)
            .collect()
    }
}

impl<'de> Deserialize<'de> for Base {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Base, D::Error> {
        de::IgnoredAny::deserialize(from).map(|_| Base)
    }
}

/// Returns the tags of the words of a sentence.
pub(super) fn tag_parts_of_speech(forms: &[&str]) -> Vec<PartOfSpeech> {
    let spelt: Vec<String> = forms.iter().map(|it| it.replace('’', "'")).collect();
    let found = RULES.tag_sentence(&spelt);
    let found = found
        .into_iter()
        .map(|it| it.map_or(PartOfSpeech::Other, PartOfSpeech::from));
    let mut tags: Vec<PartOfSpeech> = found.collect();
    for (at, form) in spelt.iter().enumerate() {
        if let Some(fixed) = by_characters(form) {
            tags[at] = fixed;
        }
    }
    let lower = spelt.iter().map(|it| it.to_lowercase()).collect();
    corrections::correct_part_of_speech_tags(lower, tags)
}

/// Returns the tag of each word of a sentence without its neighbors.
fn alone(sentence: &[String]) -> Vec<PartOfSpeech> {
    let is_capital = |it: &String| it.starts_with(char::is_uppercase);
    let n_capitals = sentence.iter().filter(|it| is_capital(it)).count();
    let n_words = sentence
        .iter()
        .filter(|it| it.starts_with(char::is_alphabetic))
        .count();
    // Capitals are no evidence if most words have them.
    let capitals_name = n_capitals * 2 <= n_words.max(2);
    let lower_is_common = n_capitals > 0;
    let mut begins = true;
    let mut tags = Vec::with_capacity(sentence.len());
    for (at, form) in sentence.iter().enumerate() {
        let tag = by_characters(form).unwrap_or_else(|| {
            let lower = form.to_lowercase();
            let found = lexicon::most_frequent_tag(&lower);
            if !is_capital(form) {
                return match found {
                    Some(PartOfSpeech::ProperNoun) if lower_is_common => by_ending(&lower),
                    Some(tag) => tag,
                    None => by_ending(&lower),
                };
            }
            let next_is_capital = sentence.get(at + 1).is_some_and(is_capital);
            match found {
                Some(PartOfSpeech::Noun | PartOfSpeech::Verb) if capitals_name && !begins => {
                    PartOfSpeech::ProperNoun
                }
                Some(PartOfSpeech::Auxiliary) if capitals_name && !begins && lower == "may" => {
                    PartOfSpeech::ProperNoun
                }
                Some(PartOfSpeech::Pronoun) if begins && matches!(&*lower, "which" | "what") => {
                    let next = sentence.get(at + 1).map(|it| it.to_lowercase());
                    if next.is_some_and(|it| asks_for(&lower, &it)) {
                        PartOfSpeech::Determiner
                    } else {
                        PartOfSpeech::Pronoun
                    }
                }
                Some(tag) => tag,
                None if begins && !next_is_capital => first_unknown(&lower),
                None => PartOfSpeech::ProperNoun,
            }
        });
        begins = tag == PartOfSpeech::Punctuation && form != "," && (begins || form != "-");
        tags.push(tag);
    }
    tags
}

/// Returns whether `which` or `what` belongs to the noun after it: `which countries`, but not `what
/// causes`.
fn asks_for(word: &str, next: &str) -> bool {
    let is_noun = lexicon::most_frequent_tag(next) == Some(PartOfSpeech::Noun);
    let may_be_verb = next.ends_with('s') && lemmas::can_be_infinitive(&lemmas::verb_lemma(next));
    is_noun && (word == "which" || !may_be_verb)
}

/// Returns the tag of a token that is not a word, or of the particle `n't`.
fn by_characters(form: &str) -> Option<PartOfSpeech> {
    let first = form.chars().next()?;
    if form.contains("://") || form.starts_with("www.") || form.len() > 3 && form.contains('@') {
        return Some(PartOfSpeech::Other);
    }
    if first.is_ascii_digit() {
        let rest = form.trim_start_matches(|it: char| it.is_ascii_digit() || ".,:/".contains(it));
        return Some(match rest {
            "" => PartOfSpeech::Numeral,
            "st" | "nd" | "rd" | "th" => PartOfSpeech::Adjective,
            "s" | "'s" => PartOfSpeech::Noun,
            _ if rest.starts_with(['-', '–']) => {
                let is_number = rest
                    .chars()
                    .all(|it| it.is_ascii_digit() || "-–.,".contains(it));
                if is_number {
                    PartOfSpeech::Numeral
                } else {
                    PartOfSpeech::Adjective
                }
            }
            _ => PartOfSpeech::Noun,
        });
    }
    if form == "n't" {
        return Some(PartOfSpeech::Particle);
    }
    if form.contains(char::is_alphanumeric) {
        return None;
    }
    match first.general_category_group() {
        GeneralCategoryGroup::Symbol => Some(PartOfSpeech::Symbol),
        GeneralCategoryGroup::Punctuation if matches!(first, '%' | '#' | '@' | '&' | '§') => {
            Some(if first == '&' {
                PartOfSpeech::Conjunction
            } else {
                PartOfSpeech::Symbol
            })
        }
        GeneralCategoryGroup::Punctuation => Some(PartOfSpeech::Punctuation),
        GeneralCategoryGroup::Letter
        | GeneralCategoryGroup::Mark
        | GeneralCategoryGroup::Number
        | GeneralCategoryGroup::Separator
        | GeneralCategoryGroup::Other => Some(PartOfSpeech::Other),
    }
}

/// Returns the tag of a form in lower case that the dictionary does not have, or only as a name.
fn by_ending(lower: &str) -> PartOfSpeech {
    if let Some((head, last)) = lower.rsplit_once(['-', '\u{2010}', '\u{2011}']) {
        let number = lexicon::most_frequent_tag(head) == Some(PartOfSpeech::Numeral);
        return match lexicon::most_frequent_tag(last).unwrap_or_else(|| by_ending(last)) {
            PartOfSpeech::Noun if number => PartOfSpeech::Adjective,
            PartOfSpeech::Verb if last.ends_with("ed") || last.ends_with("ing") => {
                PartOfSpeech::Adjective
            }
            PartOfSpeech::Verb | PartOfSpeech::Noun => PartOfSpeech::Noun,
            PartOfSpeech::Numeral => PartOfSpeech::Numeral,
            PartOfSpeech::Adverb => PartOfSpeech::Adverb,
            _ => PartOfSpeech::Adjective,
        };
    }
    let is_verb = |form: &str| lexicon::most_frequent_tag(form) == Some(PartOfSpeech::Verb);
    if lower.len() > 3 && lower.ends_with('s') && !lower.ends_with("ss") {
        let base = lemmas::verb_lemma(lower);
        return if is_verb(&base) {
            PartOfSpeech::Verb
        } else {
            PartOfSpeech::Noun
        };
    }
    let ends = |endings: &[&str]| {
        endings
            .iter()
            .any(|it| lower.len() > it.len() + 2 && lower.ends_with(it))
    };
    if ends(&["ly"]) {
        return PartOfSpeech::Adverb;
    }
    if ends(&["ed", "ing", "ize", "ise", "ify"]) {
        return PartOfSpeech::Verb;
    }
    if ends(&[
        "ous", "ful", "less", "able", "ible", "ive", "ish", "ic", "ical", "ial", "ary",
    ]) {
        return PartOfSpeech::Adjective;
    }
    for prefix in ["un", "re", "over", "under", "mis", "out", "dis", "pre"] {
        if let Some(base) = lower.strip_prefix(prefix).filter(|it| it.len() > 2)
            && let Some(tag @ (PartOfSpeech::Verb | PartOfSpeech::Adjective)) =
                lexicon::most_frequent_tag(base)
        {
            return tag;
        }
    }
    PartOfSpeech::Noun
}

/// Returns the tag of an unknown capitalized word at the start of a sentence: a name, unless its
/// form is that of another part of speech.
fn first_unknown(lower: &str) -> PartOfSpeech {
    let singular = lemmas::noun_lemma(lower);
    if *singular != *lower {
        return PartOfSpeech::Noun;
    }
    let is_noun = [
        "tion", "sion", "ness", "ity", "ism", "ment", "sis", "logy", "ure", "ance",
    ]
    .iter()
    .any(|it| lower.len() > it.len() + 2 && lower.ends_with(it));
    match by_ending(lower) {
        PartOfSpeech::Noun if is_noun => PartOfSpeech::Noun,
        PartOfSpeech::Noun => PartOfSpeech::ProperNoun,
        other => other,
    }
}

/// Returns whether a pronoun is a possessive determiner, such as `my` and `their`.
pub(super) fn is_possessive_determiner(lower: &str) -> bool {
    matches!(
        lower,
        "my" | "your" | "his" | "her" | "its" | "our" | "their" | "whose"
    )
}
