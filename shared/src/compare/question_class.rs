//! The question class of a query, by rules over question words and head nouns.
//!
//! The six classes are the coarse classes of Li and Roth (Learning Question Classifiers, COLING
//! 2002). Padigela, Zamani and Croft (2019, table 6) took the rules of a JavaScript package for
//! them; ours are different and may classify other questions. They were developed on one half of
//! 420 questions of our own. The other half was labeled before and counted afterwards; the test
//! below states how often the rules agree with its labels. A query that is not such a question,
//! for example a name alone or a yes-no question, has no class.

mod head_nouns;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use head_nouns::{is_superlative, question_class_of_noun, word_list_contains};

/// The question class: the kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionClass {
    /// An abbreviation or its long form.
    Abbreviation,
    /// A place.
    Location,
    /// A definition, a manner or a reason.
    Description,
    /// A person or a group of people.
    Human,
    /// A count, a date, a measure or a code.
    Numeric,
    /// Any other thing.
    Entity,
}

impl QuestionClass {
    /// All classes, in the order of the paper's table 6.
    pub const ALL: &[QuestionClass] = &[
        QuestionClass::Abbreviation,
        QuestionClass::Location,
        QuestionClass::Description,
        QuestionClass::Human,
        QuestionClass::Numeric,
        QuestionClass::Entity,
    ];

    /// Returns the abbreviation of Li and Roth.
    pub fn abbreviation(self) -> &'static str {
        match self {
            QuestionClass::Abbreviation => "ABBR",
            QuestionClass::Location => "LOC",
            QuestionClass::Description => "DESC",
            QuestionClass::Human => "HUM",
            QuestionClass::Numeric => "NUM",
            QuestionClass::Entity => "ENTY",
        }
    }
}

/// The number of words of a query, from the first, that are read.
const MOST_WORDS: usize = 64;

/// Returns the class of a query, if a rule finds one.
pub fn classify_question(query: &str) -> Option<QuestionClass> {
    let words = words(query);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if is_abbreviation(&words) {
        return Some(QuestionClass::Abbreviation);
    }
    let asks = |it: &&str| word_list_contains(QUESTION_WORDS, it);
    let at = words.iter().position(asks);
    // Elsewhere such a word may only be a conjunction: `what to do when`, `the man who`.
    let at = at.filter(|&at| at == 0 || word_list_contains(PREPOSITIONS, words[at - 1]));
    let Some(at) = at else {
        return of_phrase(&words);
    };
    let rest = &words[at + 1..];
    match words[at] {
        "who" | "whom" | "whose" => Some(QuestionClass::Human),
        "where" => Some(QuestionClass::Location),
        "when" => Some(QuestionClass::Numeric),
        "why" => Some(QuestionClass::Description),
        "how"
            if rest
                .first()
                .is_some_and(|it| word_list_contains(MEASURES, it)) =>
        {
            Some(QuestionClass::Numeric)
        }
        "how" => (!rest.is_empty()).then_some(QuestionClass::Description),
        _ => of_what(rest),
    }
}

/// Returns the words in lowercase, without punctuation around them; `what's` is two words.
fn words(query: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in query.split_whitespace().take(MOST_WORDS) {
        let word = word.trim_matches(|it: char| !it.is_alphanumeric());
        let word = word.to_lowercase().replace('’', "'");
        match word.split_once("'s") {
            Some((asks, "")) if word_list_contains(QUESTION_WORDS, asks) => {
                words.extend([asks.to_owned(), "is".to_owned()]);
            }
            _ if word.is_empty() => (),
            _ => words.push(word),
        }
    }
    words
}

const QUESTION_WORDS: &str = "who whom whose where when why how what which";

const PREPOSITIONS: &str = "\
    about after as at before below between by during for from in into like near of on over \
    per since than through to under until with without";

/// Words after `how` that ask for a degree, which is a number.
const MEASURES: &str = "\
    big bright close cold deep early expensive far fast few frequently heavy high hot large \
    late little long loud low many much near often old quick quickly rich short slow small \
    soon strong tall thick thin warm wide young";

const BE: &str = "is are was were be been am";

/// Auxiliary verbs.
const AUXILIARIES: &str =
    "do does did can could should would will shall may might must has have had";

const PRONOUNS: &str = "i you we they it he she";

fn has_pair(words: &[&str], pair: [&str; 2]) -> bool {
    words.windows(2).any(|it| it == pair)
}

/// Returns whether the words contain one of the pairs of a list such as `stands for, full form`.
fn has_any_pair(words: &[&str], pairs: &str) -> bool {
    let mut pairs = pairs.split(", ").filter_map(|it| it.split_once(' '));
    pairs.any(|(first, second)| has_pair(words, [first, second]))
}

fn is_abbreviation(words: &[&str]) -> bool {
    let named = "abbreviation abbreviations abbreviated acronym acronyms initials";
    let pairs = "stand for, stands for, stood for, short for, full form, short form, in full";
    words.iter().any(|it| word_list_contains(named, it)) || has_any_pair(words, pairs)
}

/// Classifies the words after `what` or `which`.
fn of_what(rest: &[&str]) -> Option<QuestionClass> {
    let first = *rest.first()?;
    if word_list_contains(BE, first) {
        return of_being(&rest[1..]);
    }
    if word_list_contains(AUXILIARIES, first) {
        return Some(of_doing(&rest[1..]));
    }
    let tells = "to if makes make made keeps about else";
    let is_event = ["caus", "happen", "occur", "trigger", "prevent"]
        .iter()
        .any(|it| first.starts_with(it));
    if is_event || word_list_contains(tells, first) {
        return Some(QuestionClass::Description);
    }
    if let [part, "of", whole @ ..] = rest {
        if [
            "kind", "kinds", "type", "types", "sort", "sorts", "breed", "brand",
        ]
        .contains(part)
        {
            let found = first_class(whole);
            let found = found.filter(|it| *it == QuestionClass::Human);
            return Some(found.unwrap_or(QuestionClass::Entity));
        }
        if [
            "part", "parts", "side", "region", "section", "area", "areas", "end",
        ]
        .contains(part)
        {
            return Some(QuestionClass::Location);
        }
    }
    Some(first_class(rest).unwrap_or(QuestionClass::Entity))
}

/// Returns the class of the first known noun, or of the last of several adjacent nouns: in `film
/// actor`, that of `actor`. Words after a verb or a preposition are not considered.
fn first_class(words: &[&str]) -> Option<QuestionClass> {
    let phrase = phrase(words);
    let from = phrase
        .iter()
        .position(|it| question_class_of_noun(it).is_some())?;
    let known = phrase[from..]
        .iter()
        .map_while(|it| question_class_of_noun(it));
    known.last()
}

/// Returns the words up to the first one that ends a noun phrase.
fn phrase<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let ends = |it: &&str| {
        let verbs = "called used located found known made named";
        word_list_contains(PREPOSITIONS, it)
            || word_list_contains(BE, it)
            || word_list_contains(AUXILIARIES, it)
            || word_list_contains(verbs, it)
            || ["that", "who", "which", "where", "when", "and", "or"].contains(it)
    };
    &words[..words.iter().position(ends).unwrap_or(words.len())]
}

/// Classifies the words after `what does`, `what can`, …: what somebody does, or what it is done
/// to.
fn of_doing(rest: &[&str]) -> QuestionClass {
    let says = "mean do happen look feel smell taste sound";
    let ends = rest.last().is_some_and(|it| *it == "for");
    match ends
        || rest.iter().any(|it| word_list_contains(says, it)) && !has_pair(rest, ["you", "call"])
    {
        true => QuestionClass::Description,
        false => QuestionClass::Entity,
    }
}

/// Classifies the words after `what is`.
fn of_being(rest: &[&str]) -> Option<QuestionClass> {
    let first = *rest.first()?;
    let last = rest.last().copied().unwrap_or_default();
    let tells = "considered meant included needed required wrong happening";
    let told = word_list_contains(tells, first)
        || word_list_contains(PRONOUNS, first)
        || last == "like"
        || last == "mean"
        || has_any_pair(rest, "used for, meant by, like to, good for");
    if told {
        return Some(QuestionClass::Description);
    }
    if last == "called" {
        return Some(QuestionClass::Entity);
    }
    let usual = "average common good healthy ideal normal safe typical";
    match first {
        "a" | "an" => match rest.get(1).filter(|it| word_list_contains(usual, it)) {
            Some(_) => Some(of_definite(&rest[1..])),
            None => Some(QuestionClass::Description),
        },
        "the" | "some" | "another" | "your" | "my" | "our" | "their" | "his" | "her" => {
            Some(of_definite(&rest[1..]))
        }
        _ if phrase(rest).iter().any(|it| it.ends_with("'s")) => Some(of_definite(rest)),
        // `what is gluten`, but `what is average rainfall in` and `what is capital of`.
        _ => {
            let (phrase, class) = (phrase(rest), head_class(rest));
            let is_of = phrase.len() < rest.len();
            let stands = matches!(
                class,
                Some(QuestionClass::Numeric | QuestionClass::Location)
            );
            match class.filter(|_| is_of && stands) {
                Some(class) => Some(class),
                None => Some(QuestionClass::Description),
            }
        }
    }
}

/// Returns the class of the last known noun of the phrase; in `name of …`, that of what is named.
fn head_class(words: &[&str]) -> Option<QuestionClass> {
    let phrase = phrase(words);
    let head = *phrase.last()?;
    let behind = &words[phrase.len()..];
    if matches!(head, "name" | "names" | "title") && behind.first() == Some(&"of") {
        let named = behind[1..].iter().skip_while(|it| **it == "the");
        let named: Vec<&str> = named.copied().collect();
        return Some(head_class(&named).unwrap_or(QuestionClass::Entity));
    }
    if head == "point" {
        let measured = "boiling melting freezing dew flash smoke";
        let measured = phrase.iter().any(|it| word_list_contains(measured, it));
        return Some(match measured {
            true => QuestionClass::Numeric,
            false => QuestionClass::Description,
        });
    }
    phrase
        .iter()
        .rev()
        .find_map(|it| question_class_of_noun(it))
}

/// Classifies the words after `what is the`.
fn of_definite(rest: &[&str]) -> QuestionClass {
    let superlative = phrase(rest).iter().any(|it| is_superlative(it));
    head_class(rest).unwrap_or(match superlative {
        true => QuestionClass::Entity,
        false => QuestionClass::Description,
    })
}

/// Classifies a query without a question word.
fn of_phrase(words: &[&str]) -> Option<QuestionClass> {
    let (first, last) = (*words.first()?, *words.last()?);
    if word_list_contains(BE, first) || word_list_contains(AUXILIARIES, first) {
        return None;
    }
    let tells = "define explain describe describing explaining";
    let told = "definition definitions meaning explained define symptoms";
    let says = word_list_contains(tells, first)
        || word_list_contains(told, last)
        || words.starts_with(&["tell", "me"]);
    if says {
        return Some(QuestionClass::Description);
    }
    if first == "name" && words.get(1) == Some(&"the") {
        return Some(of_definite(&words[2..]));
    }
    let phrase = phrase(words);
    let goes_on = phrase.len() < words.len();
    match head_class(words) {
        Some(class) if goes_on => Some(class),
        _ if is_superlative(first) && words.len() > 2 => Some(QuestionClass::Entity),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
