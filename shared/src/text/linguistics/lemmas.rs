//! Lemmatization: tables of irregular forms, and removal of endings by the rules of English
//! spelling, where the dictionary of word forms decides between two results (`hoped`: `hope`, not
//! `hop`). Modeled after Morphy, the lemmatizer of WordNet (Fellbaum 1998).

mod irregular;

use std::borrow::Cow;

use super::{PartOfSpeech, lexicon};

/// Returns the lemma, in lower case; a proper noun is not changed.
pub(super) fn lemma_of_word(form: &str, tag: PartOfSpeech) -> Cow<'_, str> {
    if matches!(tag, PartOfSpeech::ProperNoun | PartOfSpeech::Other) {
        return Cow::Borrowed(form);
    }
    let spelt = lexicon::normalize_word_form(form);
    let base = match tag {
        PartOfSpeech::Noun => noun_lemma(&spelt),
        PartOfSpeech::Verb | PartOfSpeech::Auxiliary => verb_lemma(&spelt),
        PartOfSpeech::Adjective => {
            of_degree(&spelt, irregular::positive_of_irregular_adjective(&spelt))
        }
        PartOfSpeech::Adverb => of_degree(&spelt, irregular::positive_of_irregular_adverb(&spelt)),
        PartOfSpeech::Particle if spelt == "n't" => Cow::Borrowed("not"),
        PartOfSpeech::Adposition
        | PartOfSpeech::Conjunction
        | PartOfSpeech::Determiner
        | PartOfSpeech::Interjection
        | PartOfSpeech::Numeral
        | PartOfSpeech::Particle
        | PartOfSpeech::Pronoun
        | PartOfSpeech::ProperNoun
        | PartOfSpeech::Punctuation
        | PartOfSpeech::Subordinator
        | PartOfSpeech::Symbol
        | PartOfSpeech::Other => Cow::Borrowed(spelt.as_str()),
    };
    if *base == *form {
        return Cow::Borrowed(form);
    }
    Cow::Owned(base.into_owned())
}

/// Returns the singular of a noun in lower case.
pub(super) fn noun_lemma(form: &str) -> Cow<'_, str> {
    if let Some(base) = irregular::singular_of_irregular_noun(form) {
        return Cow::Borrowed(base);
    }
    if let Some((head, last)) = form.rsplit_once('-')
        && let base = noun_lemma(last)
        && *base != *last
    {
        return Cow::Owned(format!("{head}-{base}"));
    }
    if let Some(stem) = form.strip_suffix("men")
        && is_known(&format!("{stem}man"))
    {
        return Cow::Owned(format!("{stem}man"));
    }
    let Some(singular) = form.strip_suffix('s') else {
        return Cow::Borrowed(form);
    };
    // Only letters, with something before the final `s`.
    let is_plural = singular.len() > 1
        && !singular.ends_with(['s', '\''])
        && !form.starts_with(|it: char| it.is_ascii_digit());
    // As in `circus`, `basis`, `canvas`, `chaos`.
    let unsure = singular.ends_with(['u', 'i'])
        || is_known(form) && singular.ends_with(['a', 'o'])
        || form.len() < 5 && is_known(form);
    if !is_plural || unsure && !is_known(singular) {
        return Cow::Borrowed(form);
    }
    without_es(form, singular)
}

/// Returns the infinitive of a verb in lower case.
pub(super) fn verb_lemma(form: &str) -> Cow<'_, str> {
    if let Some(base) = irregular::infinitive_of_irregular_verb(form) {
        return Cow::Borrowed(base);
    }
    if let Some(stem) = form.strip_suffix("ied") {
        return Cow::Owned(format!("{stem}y"));
    }
    if !form.ends_with("eed")
        && let Some(stem) = form.strip_suffix("ed").or_else(|| form.strip_suffix("ing"))
        && stem.len() > 1
        && stem.contains(is_vowel)
    {
        return without_ending(stem);
    }
    match form.strip_suffix('s') {
        Some(base) if base.len() > 1 && !base.ends_with(['s', 'u', 'i', '\'']) => {
            without_es(form, base)
        }
        _ => Cow::Borrowed(form),
    }
}

/// Returns whether a form in lower case can be an infinitive: its most frequent tag is verb, or
/// that of the form with `ed` or `ing` is.
pub(super) fn can_be_infinitive(form: &str) -> bool {
    let Some(last) = form.chars().next_back().filter(|_| form.len() > 1) else {
        return false;
    };
    let stem = form.strip_suffix('e').unwrap_or(form);
    is_verb(form)
        || ["ed", "ing"]
            .iter()
            .any(|it| is_verb(&format!("{stem}{it}")) || is_verb(&format!("{form}{last}{it}")))
}

/// Returns the positive of a comparative or superlative, if the result is an adjective or adverb.
fn of_degree<'a>(form: &'a str, irregular: Option<&'static str>) -> Cow<'a, str> {
    if let Some(base) = irregular {
        return Cow::Borrowed(base);
    }
    let Some(stem) = form.strip_suffix("er").or_else(|| form.strip_suffix("est")) else {
        return Cow::Borrowed(form);
    };
    let is_base = |it: &str| {
        it.len() > 2
            && matches!(
                lexicon::most_frequent_tag(it),
                Some(PartOfSpeech::Adjective | PartOfSpeech::Adverb)
            )
    };
    if let Some(stem) = stem.strip_suffix('i')
        && let base = format!("{stem}y")
        && is_base(&base)
    {
        return Cow::Owned(base);
    }
    if is_base(stem) {
        return Cow::Owned(stem.to_owned());
    }
    let with_e = format!("{stem}e");
    if is_base(&with_e) {
        return Cow::Owned(with_e);
    }
    match single(stem) {
        Some(base) if is_base(base) => Cow::Owned(base.to_owned()),
        _ => Cow::Borrowed(form),
    }
}

/// Returns `form` without its ending `s` or `es`; `base` is `form` without `s`.
fn without_es<'a>(form: &'a str, base: &'a str) -> Cow<'a, str> {
    if let Some(stem) = form.strip_suffix("ies") {
        // As in `movies`, `pies`.
        if stem.len() < 2 || is_known(base) && !is_known(&format!("{stem}y")) {
            return Cow::Borrowed(base);
        }
        return Cow::Owned(format!("{stem}y"));
    }
    let Some(stem) = form.strip_suffix("es") else {
        return Cow::Borrowed(base);
    };
    let hisses = ["ss", "x", "z", "ch", "sh", "o"];
    if hisses.iter().any(|it| stem.ends_with(it)) && (!is_known(base) || is_known(stem)) {
        return Cow::Borrowed(stem);
    }
    if stem.ends_with('s') && !is_known(base) && is_known(stem) {
        return Cow::Borrowed(stem);
    }
    Cow::Borrowed(base)
}

/// Returns the form of a verb before `ed` or `ing` was added.
fn without_ending(stem: &str) -> Cow<'_, str> {
    let with_e = format!("{stem}e");
    if let Some(base) = single(stem) {
        // As in `called`, but not in `controlled`.
        let stays = match stem.ends_with(['l', 's', 'z', 'f']) {
            true => is_known(stem) || !is_known(base),
            false => is_verb(stem),
        };
        return Cow::Borrowed(if stays { stem } else { base });
    }
    let e = match (is_verb(stem), is_verb(&with_e)) {
        (true, false) => false,
        (false, true) => true,
        _ => match (is_known(stem), is_known(&with_e)) {
            (true, false) => false,
            (false, true) => true,
            _ => asks_for_e(stem),
        },
    };
    if e {
        Cow::Owned(with_e)
    } else {
        Cow::Borrowed(stem)
    }
}

/// Removes the second of two equal consonants at the end.
fn single(stem: &str) -> Option<&str> {
    let mut letters = stem.chars().rev();
    let last = letters.next()?;
    let doubled = letters.next() == Some(last) && !is_vowel(last);
    doubled.then(|| &stem[..stem.len() - last.len_utf8()])
}

/// Returns whether English spelling requires an `e` after a stem: `bak`, `handl`, `chang`, `plac`,
/// `lov`.
fn asks_for_e(stem: &str) -> bool {
    let mut letters = stem.chars().rev();
    let (Some(last), Some(before)) = (letters.next(), letters.next()) else {
        return false;
    };
    let third = letters.next();
    if "cvuz".contains(last) || last == 's' && before != 's' {
        return true;
    }
    if last == 'l' && !is_vowel(before) && !"lrw".contains(before)
        || last == 'g' && matches!(before, 'd' | 'r' | 'n')
        || last == 't' && before == 'a'
    {
        return true;
    }
    // A single vowel between consonants, in a word of one syllable.
    let n_vowels = stem.chars().filter(|&it| is_vowel(it)).count();
    let closed = !is_vowel(last) && !"wxy".contains(last) && is_vowel(before);
    closed && n_vowels == 1 && third.is_none_or(|it| !is_vowel(it))
}

fn is_verb(form: &str) -> bool {
    lexicon::most_frequent_tag(form) == Some(PartOfSpeech::Verb)
}

fn is_known(form: &str) -> bool {
    lexicon::most_frequent_tag(form)
        .is_some_and(|it| !matches!(it, PartOfSpeech::ProperNoun | PartOfSpeech::Other))
}

fn is_vowel(letter: char) -> bool {
    "aeiouy".contains(letter)
}
