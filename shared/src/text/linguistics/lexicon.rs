//! The dictionary of harper-brill: the most frequent tag of each word form.

use std::sync::LazyLock;

use harper_brill::UPOS;
use serde::{Deserialize, Deserializer, de};

use super::PartOfSpeech;
use crate::interner::StringInterner;

/// Returns the most frequent tag of a form in lower case.
pub(super) fn most_frequent_tag(form: &str) -> Option<PartOfSpeech> {
    let lexicon = &*LEXICON;
    lexicon
        .forms
        .find_number_of_string(form)
        .map(|it| lexicon.tags[it as usize])
}

/// Returns a form as the tables spell it: in lower case, with straight apostrophes.
pub(super) fn normalize_word_form(form: &str) -> String {
    let lower = form.to_lowercase();
    if lower.contains('’') {
        return lower.replace('’', "'");
    }
    lower
}

/// Word forms in lower case, with their tags.
struct Lexicon {
    forms: StringInterner,
    /// The tag of each form, by its number.
    tags: Vec<PartOfSpeech>,
}

/// Returns the library's tables in their serialized form. The library exposes neither its
/// dictionary nor a way to apply its rules to another one, but it can serialize and deserialize
/// both. The order does not matter, since forms are only looked up.
pub(super) fn serialize_lexicon_to_json() -> String {
    let written = serde_json::to_string(&*harper_brill::brill_tagger());
    written.expect("maps of strings are JSON")
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Whole {
        base: Mapping,
    }
    #[derive(Deserialize)]
    struct Mapping {
        mapping: Lexicon,
    }
    let whole: Whole =
        serde_json::from_str(&serialize_lexicon_to_json()).expect("the library wrote it");
    whole.base.mapping
});

impl<'de> Deserialize<'de> for Lexicon {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Lexicon, D::Error> {
        struct Entries;
        impl<'de> de::Visitor<'de> for Entries {
            type Value = Lexicon;

            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("forms with their classes")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Lexicon, A::Error> {
                let mut forms = StringInterner::default();
                let mut tags = Vec::new();
                while let Some((form, tag)) = map.next_entry::<String, UPOS>()? {
                    // The keys of a map are distinct.
                    forms.insert(&form);
                    tags.push(PartOfSpeech::from(tag));
                }
                Ok(Lexicon { forms, tags })
            }
        }
        from.deserialize_map(Entries)
    }
}

impl From<UPOS> for PartOfSpeech {
    fn from(tag: UPOS) -> PartOfSpeech {
        match tag {
            UPOS::ADJ => PartOfSpeech::Adjective,
            UPOS::ADP => PartOfSpeech::Adposition,
            UPOS::ADV => PartOfSpeech::Adverb,
            UPOS::AUX => PartOfSpeech::Auxiliary,
            UPOS::CCONJ => PartOfSpeech::Conjunction,
            UPOS::DET => PartOfSpeech::Determiner,
            UPOS::INTJ => PartOfSpeech::Interjection,
            UPOS::NOUN => PartOfSpeech::Noun,
            UPOS::NUM => PartOfSpeech::Numeral,
            UPOS::PART => PartOfSpeech::Particle,
            UPOS::PRON => PartOfSpeech::Pronoun,
            UPOS::PROPN => PartOfSpeech::ProperNoun,
            UPOS::PUNCT => PartOfSpeech::Punctuation,
            UPOS::SCONJ => PartOfSpeech::Subordinator,
            UPOS::SYM => PartOfSpeech::Symbol,
            UPOS::VERB => PartOfSpeech::Verb,
        }
    }
}

impl TryFrom<PartOfSpeech> for UPOS {
    /// The tag has no counterpart in the other tag set.
    type Error = ();

    fn try_from(tag: PartOfSpeech) -> Result<UPOS, ()> {
        match tag {
            PartOfSpeech::Adjective => Ok(UPOS::ADJ),
            PartOfSpeech::Adposition => Ok(UPOS::ADP),
            PartOfSpeech::Adverb => Ok(UPOS::ADV),
            PartOfSpeech::Auxiliary => Ok(UPOS::AUX),
            PartOfSpeech::Conjunction => Ok(UPOS::CCONJ),
            PartOfSpeech::Determiner => Ok(UPOS::DET),
            PartOfSpeech::Interjection => Ok(UPOS::INTJ),
            PartOfSpeech::Noun => Ok(UPOS::NOUN),
            PartOfSpeech::Numeral => Ok(UPOS::NUM),
            PartOfSpeech::Particle => Ok(UPOS::PART),
            PartOfSpeech::Pronoun => Ok(UPOS::PRON),
            PartOfSpeech::ProperNoun => Ok(UPOS::PROPN),
            PartOfSpeech::Punctuation => Ok(UPOS::PUNCT),
            PartOfSpeech::Subordinator => Ok(UPOS::SCONJ),
            PartOfSpeech::Symbol => Ok(UPOS::SYM),
            PartOfSpeech::Verb => Ok(UPOS::VERB),
            PartOfSpeech::Other => Err(()),
        }
    }
}
