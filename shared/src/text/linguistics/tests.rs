use std::fmt::Write as _;

use expect_test::expect;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

mod sample;

/// One sentence per line, tokens with their tags, noun phrases in brackets.
fn show(text: &str) -> String {
    let found = tag_words_and_noun_phrases(text);
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
                token.pos
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
        let found = tag_words_and_noun_phrases(text);
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
    let base = |form: &str, tag: PartOfSpeech| {
        let bytes = 0..form.len();
        TaggedToken { bytes, pos: tag }.lemma(form).into_owned()
    };
    let verbs = "hoped hope, hopped hop, Called call, controlled control, studied study, \
                 dying die, goes go, passes pass, thought think, needed need, changing change, \
                 bring bring, ’ve have, is be, breathing breathe, focuses focus";
    let nouns = "children child, movies movie, cities city, churches church, cases case, \
                 potatoes potato, glass glass, virus virus, series series, policemen policeman, \
                 specimen specimen, mother-in-laws mother-in-law, canvas canvas, 1920s 1920s";
    let compared = "larger large, biggest big, happier happy, best good, proper proper, \
                    other other, honest honest";
    let each = [
        (PartOfSpeech::Verb, verbs),
        (PartOfSpeech::Noun, nouns),
        (PartOfSpeech::Adjective, compared),
    ];
    for (tag, pairs) in each {
        for (form, lemma) in pairs.split(", ").map(|it| it.split_once(' ').unwrap()) {
            assert_eq!(base(form, tag), lemma);
        }
    }
    assert_eq!(base("better", PartOfSpeech::Adverb), "well");
    assert_eq!(base("Paris", PartOfSpeech::ProperNoun), "Paris");
    assert_eq!(base("The", PartOfSpeech::Determiner), "the");
}

/// Checks properties that hold for every text.
fn check_whole(text: &str) {
    let found = tag_words_and_noun_phrases(text);
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
        // Slicing panics if a bound is inside a character.
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
    assert_eq!(tag_words_and_noun_phrases(text), found);
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
        "a", ".", "ab.Cd", "a-", "'s", "n't", "a.", "\"", "é", "the", "@a", "-", "1,", "日", "old",
        "[",
    ] {
        check_whole(&piece.repeat(100_000 / piece.len()));
        check_whole(&format!("{piece} ").repeat(20_000 / piece.len()));
    }
}
