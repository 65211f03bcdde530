use std::fmt::Write as _;

use expect_test::{Expect, expect};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

/// A text of a fixture, with what is right about it.
#[derive(Default)]
struct Gold {
    text: String,
    words: Vec<Word>,
    sentences: Vec<Range<usize>>,
    noun_phrases: Vec<Range<usize>>,
}

struct Word {
    bytes: Range<usize>,
    tags: Vec<Tag>,
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
        let tags: Vec<Tag> = tags.split('|').map(tag).collect();
        let lemmas = match fields.next() {
            Some(given) => given.split('|').map(str::to_owned).collect(),
            None if tags[0] == Tag::ProperNoun => vec![form.to_owned()],
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

fn tag(name: &str) -> Tag {
    match name {
        "ADJ" => Tag::Adjective,
        "ADP" => Tag::Adposition,
        "ADV" => Tag::Adverb,
        "AUX" => Tag::Auxiliary,
        "CCONJ" => Tag::Conjunction,
        "DET" => Tag::Determiner,
        "INTJ" => Tag::Interjection,
        "NOUN" => Tag::Noun,
        "NUM" => Tag::Numeral,
        "PART" => Tag::Particle,
        "PRON" => Tag::Pronoun,
        "PROPN" => Tag::ProperNoun,
        "PUNCT" => Tag::Punctuation,
        "SCONJ" => Tag::Subordinator,
        "SYM" => Tag::Symbol,
        "VERB" => Tag::Verb,
        "X" => Tag::Other,
        _ => panic!("no tag: {name}"),
    }
}

/// How many were found, how many there are, how many of both are the same.
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

/// What is right, counted over a fixture. Bounds are compared as bytes of the text.
fn check(fixture: &str, expect: Expect) {
    let mut words = Tally::default();
    let mut sentences = Tally::default();
    let mut phrases = Tally::default();
    let (mut n_tags, mut n_lemmas, mut n_with_lemma) = (0, 0, 0);
    let mut faults = String::new();
    for gold in read(fixture) {
        let found = analyze(&gold.text);
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
                Tag::Noun | Tag::Verb | Tag::Adjective | Tag::Adverb
            );
            n_with_lemma += usize::from(has_lemma);
            let Some(token) = found.tokens.iter().find(|it| it.bytes == word.bytes) else {
                let _ = writeln!(faults, "not cut out: {form}");
                continue;
            };
            if word.tags.contains(&token.tag) {
                n_tags += 1;
            } else {
                let _ = writeln!(faults, "{form}: {:?}, not {:?}", token.tag, word.tags[0]);
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
    // Shown when the counts are not as written.
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
        include_str!("../../../../tests/fixtures/linguistics/seen.txt"),
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
        include_str!("../../../../tests/fixtures/linguistics/unseen.txt"),
        expect![[r#"
            tokens 477 of 477, 477 found
            sentences 38 of 38, 38 found
            noun phrases 126 of 133, 134 found
            tags 468 of 477
            lemmas 223 of 227
        "#]],
    );
}

/// Sentences a line, tokens with their tags, noun phrases in brackets.
fn show(text: &str) -> String {
    let found = analyze(text);
    let mut shown = String::new();
    for sentence in &found.sentences {
        for at in sentence.clone() {
            let starts = found.noun_phrases.iter().any(|it| it.start == at);
            let ends = found.noun_phrases.iter().any(|it| it.end == at + 1);
            let token = &found.tokens[at];
            let _ = write!(
                shown,
                "{}{}{}{}/{:?}",
                if at > sentence.start { " " } else { "" },
                if starts { "[" } else { "" },
                &text[token.bytes.clone()],
                if ends { "]" } else { "" },
                token.tag
            );
        }
        shown.push('\n');
    }
    shown
}

#[test]
fn contractions_are_cut_and_abbreviations_are_not() {
    expect![[r#"
        [Dr./ProperNoun Lee/ProperNoun 's/Particle dog]/Noun ca/Auxiliary n’t/Particle swim/Verb ,/Punctuation e.g./Adverb in/Adposition [the/Determiner U.S.]/ProperNoun
        [It]/Pronoun 's/Auxiliary [3.5/Numeral km]/Noun away/Adverb ./Punctuation
    "#]]
    .assert_eq(&show(
        "Dr. Lee's dog can’t swim, e.g. in the U.S. It's 3.5 km away.",
    ));
}

#[test]
fn a_sentence_may_lack_its_space_its_capital_or_its_end() {
    let sentences = |text: &str| -> Vec<String> {
        let found = analyze(text);
        let of = |it: &Range<usize>| {
            text[found.tokens[it.start].bytes.start..found.tokens[it.end - 1].bytes.end].to_owned()
        };
        found.sentences.iter().map(of).collect()
    };
    assert_eq!(
        sentences("The tide turned.Boats left"),
        ["The tide turned.", "Boats left"]
    );
    assert_eq!(
        sentences("all is low. so is this"),
        ["all is low.", "so is this"]
    );
    assert_eq!(
        sentences("One line\nis broken. Not\ntwo."),
        ["One line\nis broken.", "Not\ntwo."]
    );
    assert_eq!(sentences("A heading\n\nA text."), ["A heading", "A text."]);
    assert_eq!(
        sentences("\"Go!\" she said. (He did.) Ok?"),
        ["\"Go!\" she said.", "(He did.)", "Ok?"]
    );
    assert_eq!(
        sentences("1. Boil it... then wait."),
        ["1. Boil it... then wait."]
    );
    assert_eq!(
        sentences("Eat vitamin C. It helps."),
        ["Eat vitamin C.", "It helps."]
    );
    assert_eq!(
        sentences("Node.js v1.2 is on www.a.org. Try it."),
        ["Node.js v1.2 is on www.a.org.", "Try it."]
    );
}

#[test]
fn base_forms() {
    let base = |form: &str, tag: Tag| {
        let bytes = 0..form.len();
        Token { bytes, tag }.lemma(form).into_owned()
    };
    let verbs = [
        ("hoped", "hope"),
        ("hopped", "hop"),
        ("Called", "call"),
        ("controlled", "control"),
        ("studied", "study"),
        ("dying", "die"),
        ("goes", "go"),
        ("passes", "pass"),
        ("thought", "think"),
        ("needed", "need"),
        ("changing", "change"),
        ("bring", "bring"),
        ("’ve", "have"),
        ("is", "be"),
        ("breathing", "breathe"),
        ("focuses", "focus"),
    ];
    for (form, lemma) in verbs {
        assert_eq!(base(form, Tag::Verb), lemma);
    }
    let nouns = [
        ("children", "child"),
        ("movies", "movie"),
        ("cities", "city"),
        ("churches", "church"),
        ("cases", "case"),
        ("potatoes", "potato"),
        ("glass", "glass"),
        ("virus", "virus"),
        ("series", "series"),
        ("policemen", "policeman"),
        ("specimen", "specimen"),
        ("mother-in-laws", "mother-in-law"),
        ("canvas", "canvas"),
        ("1920s", "1920s"),
    ];
    for (form, lemma) in nouns {
        assert_eq!(base(form, Tag::Noun), lemma);
    }
    let compared = [
        ("larger", "large"),
        ("biggest", "big"),
        ("happier", "happy"),
        ("best", "good"),
        ("proper", "proper"),
        ("other", "other"),
        ("honest", "honest"),
    ];
    for (form, lemma) in compared {
        assert_eq!(base(form, Tag::Adjective), lemma);
    }
    assert_eq!(base("better", Tag::Adverb), "well");
    assert_eq!(base("Paris", Tag::ProperNoun), "Paris");
    assert_eq!(base("The", Tag::Determiner), "the");
}

/// What holds for every text.
fn check_whole(text: &str) {
    let found = analyze(text);
    let mut at = 0;
    for token in &found.tokens {
        assert!(
            token.bytes.start >= at && token.bytes.end > token.bytes.start,
            "{text:?}"
        );
        assert!(
            text[at..token.bytes.start].chars().all(char::is_whitespace),
            "{text:?}"
        );
        // Slicing panics off the bounds of a character.
        assert!(
            !text[token.bytes.clone()].contains(char::is_whitespace),
            "{text:?}"
        );
        assert!(!token.lemma(text).is_empty(), "{text:?}");
        at = token.bytes.end;
    }
    assert!(text[at..].chars().all(char::is_whitespace), "{text:?}");
    let mut at = 0;
    for sentence in &found.sentences {
        assert!(sentence.start == at && sentence.end > at, "{text:?}");
        at = sentence.end;
    }
    assert_eq!(at, found.tokens.len(), "{text:?}");
    let mut at = 0;
    for phrase in &found.noun_phrases {
        assert!(phrase.start >= at && phrase.end > phrase.start, "{text:?}");
        let inside = |it: &Range<usize>| it.start <= phrase.start && phrase.end <= it.end;
        assert!(found.sentences.iter().any(inside), "{text:?}");
        at = phrase.end;
    }
    assert_eq!(analyze(text), found);
}

#[test]
fn whatever_is_written_is_cut_whole() {
    for text in [
        "",
        " \n\t",
        "...",
        "?!",
        "'",
        "’s",
        "-",
        "a",
        "\u{301}",
        "\u{feff}",
        "日本語。中文！",
    ] {
        check_whole(text);
    }
    const ODD: &[&str] = &[
        "a",
        "I",
        "The",
        "the",
        "dogs",
        "moves",
        "to",
        "do",
        "have",
        "which",
        "second",
        "both",
        "U.S.",
        "Dr.",
        "e.g.",
        "n't",
        "can't",
        "'s",
        "’",
        "'",
        "\"",
        "“",
        "”",
        ".",
        "..",
        "…",
        "!",
        "?",
        ",",
        ";",
        ":",
        "-",
        "--",
        "–",
        "—",
        "(",
        ")",
        "[",
        "]",
        "$",
        "%",
        "&",
        "@",
        "#",
        "_",
        "/",
        "\\",
        "://",
        "www.",
        "3",
        "1.5",
        "1,000",
        "20th",
        "1990s",
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\r",
        "\0",
        "\u{a0}",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}",
        "\u{2028}",
        "\u{301}",
        "é",
        "İ",
        "ß",
        "ﬁ",
        "K",
        "ǅ",
        "日",
        "。",
        "ا",
        "ה",
        "क्ष",
        "👩‍👩‍👧",
        "🇩🇪",
        "\u{10ffff}",
        "ing",
        "ed",
        "ies",
        "s",
        "es",
        "men",
        "er",
        "est",
        "B.",
        "x.y",
        "ab.Cd",
        "twenty-one",
        "‑",
        "½",
        "²",
    ];
    let mut random = Pcg64Mcg::seed_from_u64(20);
    for _ in 0..4000 {
        let n_pieces = random.next_u32() % 40;
        let text: String = (0..n_pieces)
            .map(|_| ODD[random.next_u32() as usize % ODD.len()])
            .collect();
        check_whole(&text);
    }
}

#[test]
fn a_long_text_without_spaces_is_no_trap() {
    for piece in [
        "a", ".", "ab.Cd", "a-", "'s", "n't", "a.", "\"", "é", "the", "@a", "-", "1,", "日",
    ] {
        check_whole(&piece.repeat(100_000 / piece.len()));
        check_whole(&format!("{piece} ").repeat(20_000 / piece.len()));
    }
}
