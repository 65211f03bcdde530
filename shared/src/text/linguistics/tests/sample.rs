//! Accuracy on texts that were tagged by hand.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::text::linguistics::*;

/// A text of a fixture, with its gold annotation.
#[derive(Default)]
struct Gold {
    text: String,
    words: Vec<Word>,
    sentences: Vec<Range<usize>>,
    noun_phrases: Vec<Range<usize>>,
}

struct Word {
    bytes: Range<usize>,
    tags: Vec<PartOfSpeech>,
    lemmas: Vec<String>,
}

fn read(fixture: &str) -> Vec<Gold> {
    let mut texts = Vec::new();
    let mut gold = Gold::default();
    for line in fixture.lines().filter(|it| !it.starts_with('#')) {
        if line.is_empty() {
            texts.push(std::mem::take(&mut gold));
            continue;
        }
        let first = gold.words.len();
        let mut open = None;
        for word in line.split(' ') {
            match word {
                "[" => open = Some(gold.words.len()),
                "]" => {
                    let start = open
                        .take()
                        .unwrap_or_else(|| panic!("nothing to close: {line}"));
                    gold.noun_phrases.push(start..gold.words.len());
                }
                _ => gold.read_word(word),
            }
        }
        assert_eq!(open, None, "left open: {line}");
        gold.sentences.push(first..gold.words.len());
    }
    texts.push(gold);
    texts.retain(|it| !it.words.is_empty());
    texts
}

impl Gold {
    fn read_word(&mut self, word: &str) {
        let glued = word.strip_prefix('~').filter(|it| !it.is_empty());
        if glued.is_none() && !self.text.is_empty() {
            self.text.push(' ');
        }
        let mut fields = glued.unwrap_or(word).splitn(3, '/');
        let form = fields.next().expect("a form");
        let tags = fields.next().unwrap_or_else(|| panic!("no tag: {word}"));
        let tags: Vec<PartOfSpeech> = tags.split('|').map(tag).collect();
        let lemmas = match fields.next() {
            Some(given) => given.split('|').map(str::to_owned).collect(),
            None if tags[0] == PartOfSpeech::ProperNoun => vec![form.to_owned()],
            None => vec![form.to_lowercase()],
        };
        let start = self.text.len();
        self.text.push_str(form);
        let bytes = start..self.text.len();
        self.words.push(Word {
            bytes,
            tags,
            lemmas,
        });
    }
}

fn tag(name: &str) -> PartOfSpeech {
    match name {
        "ADJ" => PartOfSpeech::Adjective,
        "ADP" => PartOfSpeech::Adposition,
        "ADV" => PartOfSpeech::Adverb,
        "AUX" => PartOfSpeech::Auxiliary,
        "CCONJ" => PartOfSpeech::Conjunction,
        "DET" => PartOfSpeech::Determiner,
        "INTJ" => PartOfSpeech::Interjection,
        "NOUN" => PartOfSpeech::Noun,
        "NUM" => PartOfSpeech::Numeral,
        "PART" => PartOfSpeech::Particle,
        "PRON" => PartOfSpeech::Pronoun,
        "PROPN" => PartOfSpeech::ProperNoun,
        "PUNCT" => PartOfSpeech::Punctuation,
        "SCONJ" => PartOfSpeech::Subordinator,
        "SYM" => PartOfSpeech::Symbol,
        "VERB" => PartOfSpeech::Verb,
        "X" => PartOfSpeech::Other,
        _ => panic!("no tag: {name}"),
    }
}

/// The numbers of units that were found, that exist, and that are in both.
#[derive(Default)]
struct Tally {
    right: usize,
    gold: usize,
    found: usize,
}

impl Tally {
    fn count(&mut self, gold: &[Range<usize>], found: &[Range<usize>]) {
        self.right += gold.iter().filter(|it| found.contains(it)).count();
        self.gold += gold.len();
        self.found += found.len();
    }
}

/// Counts the correct units of a fixture. Boundaries are compared as bytes of the text.
fn check(fixture: &str, expect: Expect) {
    let mut words = Tally::default();
    let mut sentences = Tally::default();
    let mut phrases = Tally::default();
    let (mut n_tags, mut n_lemmas, mut n_with_lemma) = (0, 0, 0);
    let mut faults = String::new();
    for gold in read(fixture) {
        let found = tag_words_and_noun_phrases(&gold.text);
        let gold_bytes: Vec<_> = gold.words.iter().map(|it| it.bytes.clone()).collect();
        let found_bytes: Vec<_> = found.tokens.iter().map(|it| it.bytes.clone()).collect();
        words.count(&gold_bytes, &found_bytes);
        let in_bytes = |ranges: &[Range<usize>], words: &[Range<usize>]| -> Vec<_> {
            let bytes = |it: &Range<usize>| words[it.start].start..words[it.end - 1].end;
            ranges.iter().map(bytes).collect()
        };
        let both = |a: &[Range<usize>], b: &[Range<usize>]| {
            (in_bytes(a, &gold_bytes), in_bytes(b, &found_bytes))
        };
        let (a, b) = both(&gold.sentences, &found.sentences);
        sentences.count(&a, &b);
        let (a, b) = both(&gold.noun_phrases, &found.noun_phrases);
        phrases.count(&a, &b);
        for it in a.iter().filter(|it| !b.contains(it)) {
            let _ = writeln!(faults, "missed [{}]", &gold.text[it.clone()]);
        }
        for it in b.iter().filter(|it| !a.contains(it)) {
            let _ = writeln!(faults, "wrong [{}]", &gold.text[it.clone()]);
        }
        for word in &gold.words {
            let form = &gold.text[word.bytes.clone()];
            let has_lemma = matches!(
                word.tags[0],
                PartOfSpeech::Noun
                    | PartOfSpeech::Verb
                    | PartOfSpeech::Adjective
                    | PartOfSpeech::Adverb
            );
            n_with_lemma += usize::from(has_lemma);
            let Some(token) = found.tokens.iter().find(|it| it.bytes == word.bytes) else {
                let _ = writeln!(faults, "not cut out: {form}");
                continue;
            };
            if word.tags.contains(&token.pos) {
                n_tags += 1;
            } else {
                let _ = writeln!(faults, "{form}: {:?}, not {:?}", token.pos, word.tags[0]);
            }
            let lemma = token.lemma(&gold.text);
            if has_lemma && word.lemmas.iter().any(|it| *it == *lemma) {
                n_lemmas += 1;
            } else if has_lemma {
                let _ = writeln!(faults, "{form}: {lemma}, not {}", word.lemmas[0]);
            }
        }
    }
    let tally = |it: &Tally| format!("{} of {}, {} found", it.right, it.gold, it.found);
    // Printed when the counts are not the expected ones.
    println!("{faults}");
    expect.assert_eq(&format!(
        "tokens {}\nsentences {}\nnoun phrases {}\ntags {n_tags} of {}\nlemmas {n_lemmas} of \
         {n_with_lemma}\n",
        tally(&words),
        tally(&sentences),
        tally(&phrases),
        words.gold,
    ));
}

#[test]
fn what_is_right_in_the_sample_the_rules_were_written_with() {
    check(
        include_str!("../../../../../tests/fixtures/linguistics/seen.txt"),
        expect![[r#"
            tokens 1017 of 1017, 1017 found
            sentences 74 of 74, 74 found
            noun phrases 245 of 259, 258 found
            tags 983 of 1017
            lemmas 470 of 478
        "#]],
    );
}

#[test]
fn what_is_right_in_a_sample_that_no_rule_has_seen() {
    check(
        include_str!("../../../../../tests/fixtures/linguistics/unseen.txt"),
        expect![[r#"
            tokens 477 of 477, 477 found
            sentences 38 of 38, 38 found
            noun phrases 126 of 133, 134 found
            tags 468 of 477
            lemmas 223 of 227
        "#]],
    );
}
