//! Tokenization: words of Unicode Standard Annex 29, joined and split where English differs.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::lexicon;

/// Abbreviations that end a sentence only if a capitalized closed-class word follows; in lower
/// case, without the last period. The list is our own, based on dictionaries.
const SHORT: &[&str] = &[
    "a.d", "a.k.a", "a.m", "al", "apr", "aug", "b.c", "blvd", "c.e", "co", "corp", "d.c", "d.sc",
    "dec", "dept", "e.u", "esq", "etc", "feb", "ft", "hr", "hrs", "hwy", "inc", "jan", "jr", "kg",
    "km", "lb", "lbs", "ltd", "m.d", "nov", "oct", "oz", "p.m", "ph.d", "rd", "sept", "sq", "sr",
    "u.k", "u.n", "u.s", "u.s.a", "univ", "yr", "yrs",
];

/// Abbreviations that are always followed by another word.
const LEADING: &[&str] = &[
    "adm", "approx", "assoc", "brig", "ca", "capt", "cf", "cmdr", "col", "cpl", "dr", "e.g", "eg",
    "gen", "gov", "i.e", "ie", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt",
    "prof", "rev", "sen", "sgt", "st", "supt", "viz", "vs",
];

/// Words that are abbreviations only before a number.
const NUMBERED: &[&str] = &[
    "art", "c", "ch", "eq", "fig", "figs", "no", "nos", "p", "pp", "sec", "v", "vol", "vols",
];

/// What can follow the period of an abbreviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AbbreviationPeriodKind {
    /// Another word always follows.
    BeforeWord,
    /// A number always follows.
    BeforeNumber,
    /// A sentence can end here.
    MayEnd,
}

/// Returns the kind of abbreviation if a token ends in the period of one.
pub(super) fn abbreviation_kind_of_token(form: &str) -> Option<AbbreviationPeriodKind> {
    let body = form.strip_suffix('.').filter(|it| !it.is_empty())?;
    let lower = body.to_lowercase();
    if is_initial(body) || has_single_letters(body) && !LEADING.contains(&lower.as_str()) {
        return Some(AbbreviationPeriodKind::MayEnd);
    }
    let is_in = |list: &[&str]| list.contains(&lower.as_str());
    match (is_in(LEADING), is_in(NUMBERED), is_in(SHORT)) {
        (true, _, _) => Some(AbbreviationPeriodKind::BeforeWord),
        (_, true, _) => Some(AbbreviationPeriodKind::BeforeNumber),
        (_, _, true) => Some(AbbreviationPeriodKind::MayEnd),
        (false, false, false) => None,
    }
}

/// Returns the byte ranges of the tokens of a text. They cover everything that is not white space.
pub(super) fn token_byte_ranges(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (start, letter.is_whitespace()) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                cut_run(text, from..at, &mut tokens);
                start = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    if let Some(from) = start {
        cut_run(text, from..text.len(), &mut tokens);
    }
    tokens
}

/// Splits a run of characters without white space.
fn cut_run(text: &str, run: Range<usize>, tokens: &mut Vec<Range<usize>>) {
    match address(&text[run.clone()]) {
        Some(found) => {
            let found = run.start + found.start..run.start + found.end;
            cut_words(text, run.start..found.start, tokens);
            tokens.push(found.clone());
            cut_words(text, found.end..run.end, tokens);
        }
        None => cut_words(text, run, tokens),
    }
}

/// Returns a URL or an email address, without punctuation marks around it.
fn address(run: &str) -> Option<Range<usize>> {
    const MARKS: &str = ".,;:!?()[]{}<>\"'“”‘’«»";
    let end = run.trim_end_matches(|it| MARKS.contains(it)).len();
    let inner = run[..end].trim_start_matches(|it| MARKS.contains(it));
    let is_host = |it: &str| it.contains('.') && it.starts_with(char::is_alphanumeric);
    let is_address = inner.contains("://")
        || inner.starts_with("www.")
        || inner
            .split_once('@')
            .is_some_and(|(person, host)| !person.is_empty() && is_host(host));
    (is_address && inner.starts_with(char::is_alphanumeric)).then(|| end - inner.len()..end)
}

fn cut_words(text: &str, run: Range<usize>, tokens: &mut Vec<Range<usize>>) {
    let first = tokens.len();
    for (at, piece) in text[run.clone()].split_word_bound_indices() {
        let mut bytes = run.start + at..run.start + at + piece.len();
        // The token directly before it, in the same run.
        let before = tokens[first..].last().cloned();
        match before {
            Some(before) if joins(text, &before, &bytes, run.end) => {
                tokens.pop();
                bytes.start = before.start;
                tokens.push(bytes);
            }
            _ => push_word(text, bytes, tokens),
        }
    }
}

/// Returns whether two neighbors are one token, in a run that ends at byte `end`.
fn joins(text: &str, before: &Range<usize>, after: &Range<usize>, end: usize) -> bool {
    const HYPHENS: [char; 3] = ['-', '\u{2010}', '\u{2011}'];
    /// A repetition of one of these is a single mark.
    const REPEATED: &str = ".-_=*!?~#+";
    let left = &text[before.clone()];
    let right = &text[after.clone()];
    let rest = &text[after.end..end];
    let is_mark = right.chars().nth(1).is_none();
    if left.ends_with(char::is_alphanumeric) {
        if right == "." {
            // A period that is directly followed by a letter is not the end of an abbreviation.
            let is_inside = rest.starts_with(char::is_alphabetic);
            let next = text[after.end..].trim_start().chars().next();
            return match abbreviation_kind_of_token(&format!("{left}.")) {
                Some(AbbreviationPeriodKind::BeforeNumber) => next.is_some_and(char::is_numeric),
                Some(AbbreviationPeriodKind::BeforeWord | AbbreviationPeriodKind::MayEnd) => {
                    !is_inside
                }
                None => false,
            };
        }
        return is_mark && right.starts_with(HYPHENS) && rest.starts_with(char::is_alphanumeric);
    }
    if left.starts_with(char::is_alphanumeric) {
        return left.ends_with(HYPHENS) && right.starts_with(char::is_alphanumeric);
    }
    REPEATED.contains(right) && left.starts_with(right) && left.ends_with(right)
}

/// Adds a word, split at contractions and missing spaces.
fn push_word(text: &str, mut bytes: Range<usize>, tokens: &mut Vec<Range<usize>>) {
    while let Some(at) = forgotten_space(&text[bytes.clone()]) {
        let period = bytes.start + at;
        tokens.push(bytes.start..period);
        tokens.push(period..period + 1);
        bytes.start = period + 1;
    }
    match start_of_clitic(&text[bytes.clone()]) {
        Some(at) => {
            tokens.push(bytes.start..bytes.start + at);
            tokens.push(bytes.start + at..bytes.end);
        }
        None => tokens.push(bytes),
    }
}

/// Returns the byte of a period between the last word of a sentence and the first of the next.
fn forgotten_space(form: &str) -> Option<usize> {
    form.match_indices('.').map(|it| it.0).find(|&at| {
        let left = form[..at].chars().rev();
        let mut right = form[at + 1..].chars();
        left.take(2).filter(|it| it.is_lowercase()).count() == 2
            && right.next().is_some_and(char::is_uppercase)
            && right.next().is_some_and(char::is_lowercase)
    })
}

/// Returns the byte where the second part of a contraction starts: `do|n't`, `it|'s`.
fn start_of_clitic(form: &str) -> Option<usize> {
    if !form.contains(['\'', '’']) {
        return None;
    }
    let spelt = lexicon::normalize_word_form(form);
    let n_letters = form.chars().count();
    if spelt.chars().count() != n_letters {
        return None;
    }
    let clitic = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"];
    let n_tail = clitic
        .iter()
        .find(|it| spelt.ends_with(**it))
        .map(|it| it.len())?;
    let at = form.char_indices().nth_back(n_tail - 1)?.0;
    (at > 0 && form[..at].ends_with(char::is_alphanumeric)).then_some(at)
}

/// Returns whether it is one capital letter, the initial of a name; `I` is a pronoun.
fn is_initial(body: &str) -> bool {
    let mut letters = body.chars();
    let first = letters.next();
    first.is_some_and(|it| it.is_uppercase() && it != 'I') && letters.next().is_none()
}

/// Returns whether it consists of single letters with periods between them: `n.b`, `U.S.S.R`.
fn has_single_letters(body: &str) -> bool {
    body.contains('.')
        && body.split('.').all(|it| {
            let mut letters = it.chars();
            letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
        })
}
