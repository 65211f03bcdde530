//! The dictionary of harper-brill: which class a word form has most often.

use std::sync::LazyLock;

use harper_brill::UPOS;
use serde::{Deserialize, Deserializer, de};

use super::Tag;
use crate::text::names::Names;

/// The commonest class of a form in lower case.
pub(super) fn commonest(form: &str) -> Option<Tag> {
    let lexicon = &*LEXICON;
    lexicon.forms.find(form).map(|it| lexicon.tags[it as usize])
}

/// A form as the tables spell it: in lower case, with straight apostrophes.
pub(super) fn spelt(form: &str) -> String {
    let lower = form.to_lowercase();
    if lower.contains('’') {
        return lower.replace('’', "'");
    }
    lower
}

/// Forms in lower case.
struct Lexicon {
    forms: Names,
    /// By number of the form.
    tags: Vec<Tag>,
}

/// Returns the library's tables as it writes them. It shows neither its dictionary nor a way to put
/// its rules on another one, but it writes and reads both. It writes in any order, which decides
/// nothing: forms are only looked up.
pub(super) fn written() -> String {
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
    let whole: Whole = serde_json::from_str(&written()).expect("the library wrote it");
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
                let mut forms = Names::default();
                let mut tags = Vec::new();
                while let Some((form, tag)) = map.next_entry::<String, UPOS>()? {
                    // Keys of a map: each comes once.
                    forms.insert(&form);
                    tags.push(Tag::from(tag));
                }
                Ok(Lexicon { forms, tags })
            }
        }
        from.deserialize_map(Entries)
    }
}

impl From<UPOS> for Tag {
    fn from(tag: UPOS) -> Tag {
        match tag {
            UPOS::ADJ => Tag::Adjective,
            UPOS::ADP => Tag::Adposition,
            UPOS::ADV => Tag::Adverb,
            UPOS::AUX => Tag::Auxiliary,
            UPOS::CCONJ => Tag::Conjunction,
            UPOS::DET => Tag::Determiner,
            UPOS::INTJ => Tag::Interjection,
            UPOS::NOUN => Tag::Noun,
            UPOS::NUM => Tag::Numeral,
            UPOS::PART => Tag::Particle,
            UPOS::PRON => Tag::Pronoun,
            UPOS::PROPN => Tag::ProperNoun,
            UPOS::PUNCT => Tag::Punctuation,
            UPOS::SCONJ => Tag::Subordinator,
            UPOS::SYM => Tag::Symbol,
            UPOS::VERB => Tag::Verb,
        }
    }
}

impl TryFrom<Tag> for UPOS {
    type Error = ();

    fn try_from(tag: Tag) -> Result<UPOS, ()> {
        match tag {
            Tag::Adjective => Ok(UPOS::ADJ),
            Tag::Adposition => Ok(UPOS::ADP),
            Tag::Adverb => Ok(UPOS::ADV),
            Tag::Auxiliary => Ok(UPOS::AUX),
            Tag::Conjunction => Ok(UPOS::CCONJ),
            Tag::Determiner => Ok(UPOS::DET),
            Tag::Interjection => Ok(UPOS::INTJ),
            Tag::Noun => Ok(UPOS::NOUN),
            Tag::Numeral => Ok(UPOS::NUM),
            Tag::Particle => Ok(UPOS::PART),
            Tag::Pronoun => Ok(UPOS::PRON),
            Tag::ProperNoun => Ok(UPOS::PROPN),
            Tag::Punctuation => Ok(UPOS::PUNCT),
            Tag::Subordinator => Ok(UPOS::SCONJ),
            Tag::Symbol => Ok(UPOS::SYM),
            Tag::Verb => Ok(UPOS::VERB),
            Tag::Other => Err(()),
        }
    }
}
