//! What each manipulation changes, and that it changes nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::index::Index;
use crate::probe::tests::check_refused;
use crate::text::linguistics::{PartOfSpeech, tag_words_and_noun_phrases};
use crate::word_vectors::WordVectors;

const TEXTS: [&str; 8] = [
    "The old lighthouse stands on a rock in the bay. Its keeper, Dr. Voss, was born in 1854! \
     Nobody had seen a brighter lamp before.",
    "Glaciers move slowly. They are rivers of ice, and in summer they carry stones to the valley \
     below the snow line (about 2,400 m).",
    "One sentence only, without any full stop",
    "Ünïcode çhârs “quoted” — 3.5 km² of ice; ice again: ICE. Is it 007 or 42?",
    "It doesn't move (the glacier, I mean), but Greenland's ice can't stay: 'nothing' does.Why?",
    "   spaces   before, between\n\nand after.  Two  of them.  ",
    "word",
    "",
];

const OTHER: &str = "Bread rises in the oven. Bakers know why.";

struct Bench {
    index: Index,
    tools: ManipulationWordLists,
}

fn bench() -> Bench {
    let texts = TEXTS.iter().copied().chain([OTHER]);
    Bench {
        index: Index::build(&Analyzer::default(), texts).unwrap(),
        tools: ManipulationWordLists::default(),
    }
}

impl Bench {
    fn made(&self, manipulation: Manipulation, text: &str, query: &str) -> Option<String> {
        let (analysis, other) = (
            tag_words_and_noun_phrases(text),
            tag_words_and_noun_phrases(OTHER),
        );
        manipulation.apply(&ManipulationInput {
            id: "d",
            text,
            analysis: &analysis,
            query,
            non_relevant_docs: &[(OTHER, &other), (text, &analysis)],
            lookup_tables: &self.tools,
            vocabulary: self.index.vocabulary(),
            seed: 42,
        })
    }

    /// Returns the manipulated texts, at least one, each with its original.
    fn all(&self, manipulation: Manipulation) -> Vec<(&'static str, String)> {
        let each = TEXTS.iter();
        let made = each.filter_map(|&it| Some((it, self.made(manipulation, it, "ice lamp")?)));
        let made: Vec<_> = made.collect();
        assert!(!made.is_empty(), "{manipulation} makes nothing");
        for (before, after) in &made {
            assert_ne!(before, after);
        }
        made
    }
}

/// Returns the tokens of a text, sorted.
fn bag(text: &str) -> Vec<&str> {
    let analysis = tag_words_and_noun_phrases(text);
    let tokens = analysis.tokens.iter();
    let mut bag: Vec<&str> = tokens.map(|it| &text[it.bytes.clone()]).collect();
    bag.sort_unstable();
    bag
}

/// Returns the characters other than white space, sorted: reordering does not change them, wherever
/// a text is split.
fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|it| !it.is_whitespace()).collect();
    letters.sort_unstable();
    letters
}

/// Returns the terms that a lexical ranker uses.
fn terms(text: &str) -> Vec<String> {
    let terms = Analyzer::default().terms_with_positions(text).into_iter();
    let mut terms: Vec<String> = terms.map(|it| it.0).collect();
    terms.sort_unstable();
    terms
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn what_shuffles_or_reverses_keeps_every_character_and_every_term() {
    let bench = bench();
    let names = ["shuffle-", "reverse-", "swap-"];
    let moves = |it: &&Manipulation| names.iter().any(|name| it.slug().starts_with(name));
    for &manipulation in Manipulation::ALL.iter().filter(moves) {
        for (before, after) in bench.all(manipulation) {
            assert_eq!(letters(before), letters(&after), "{manipulation}: {after}");
            assert_eq!(terms(before), terms(&after), "{manipulation}: {after}");
        }
    }
}

#[test]
fn sentences_stay_whole_where_only_they_move() {
    let bench = bench();
    let shuffled = bench.all(Manipulation::ShuffleSentences);
    let reversed = bench.all(Manipulation::ReverseSentences);
    for (before, after) in shuffled.into_iter().chain(reversed) {
        let analysis = tag_words_and_noun_phrases(before);
        assert!(analysis.sentences.len() > 1);
        for sentence in &analysis.sentences {
            let tokens = &analysis.tokens[sentence.clone()];
            let bytes = tokens[0].bytes.start..tokens[tokens.len() - 1].bytes.end;
            assert!(after.contains(&before[bytes]), "{after}");
        }
    }
    let text = "One goes. Two stays. Three comes.";
    let made = bench.made(Manipulation::ReverseSentences, text, "");
    assert_eq!(made.as_deref(), Some("Three comes. Two stays. One goes."));
}

#[test]
fn in_sentences_every_token_stays_in_its_sentence_and_the_last_in_its_place() {
    let bench = bench();
    for manipulation in [
        Manipulation::ShuffleWordsInSentences,
        Manipulation::ShuffleAroundPhrasesInSentences,
    ] {
        for (before, after) in bench.all(manipulation) {
            let mut rest: Vec<char> = after.chars().filter(|it| !it.is_whitespace()).collect();
            let analysis = tag_words_and_noun_phrases(before);
            for sentence in &analysis.sentences {
                let tokens = &analysis.tokens[sentence.clone()];
                let (first, last) = (&tokens[0].bytes, &tokens[tokens.len() - 1].bytes);
                let was = letters(&before[first.start..last.end]);
                let is: String = rest.drain(..was.len()).collect();
                assert_eq!(was, letters(&is), "{after}");
                assert!(is.ends_with(&before[last.clone()]), "{after}");
            }
            assert!(rest.is_empty());
        }
    }
}

#[test]
fn noun_phrases_are_kept_or_change_places() {
    use Manipulation::*;
    let bench = bench();
    for manipulation in [
        ShuffleAroundPhrases,
        ShuffleAroundPhrasesInSentences,
        ShufflePhrases,
        ReversePhrases,
    ] {
        for (before, after) in bench.all(manipulation) {
            let analysis = tag_words_and_noun_phrases(before);
            for phrase in &analysis.noun_phrases {
                let tokens = &analysis.tokens[phrase.clone()];
                let bytes = tokens[0].bytes.start..tokens[tokens.len() - 1].bytes.end;
                assert!(after.contains(&before[bytes]), "{manipulation}: {after}");
            }
        }
    }
    let text = "The cat saw a dog near the river.";
    let made = bench.made(ReversePhrases, text, "");
    assert_eq!(made.as_deref(), Some("the river saw a dog near The cat."));
}

#[test]
fn prepositions_change_places_and_nothing_else_does() {
    for (before, after) in bench().all(Manipulation::ShufflePrepositions) {
        let analysis = tag_words_and_noun_phrases(before);
        let rest = analysis
            .tokens
            .iter()
            .filter(|it| it.pos != PartOfSpeech::Adposition);
        let rest: Vec<&str> = rest.map(|it| &before[it.bytes.clone()]).collect();
        let mut from = 0;
        for word in rest {
            let found = after[from..].find(word);
            from += found.unwrap_or_else(|| panic!("{word} is not in its order: {after}"));
        }
    }
}

#[test]
fn a_control_moves_as_many_tokens_at_most_as_there_are_phrases() {
    for (before, after) in bench().all(Manipulation::SwapWords) {
        let phrases = tag_words_and_noun_phrases(before).noun_phrases.len();
        // A word in the place of a punctuation mark may be separated by a space.
        let [was, is] = [before, &after].map(|it| tag_words_and_noun_phrases(it).tokens.len());
        if was != is {
            continue;
        }
        let [was, is] = [before, after.as_str()].map(|it| {
            let tokens = tag_words_and_noun_phrases(it).tokens.into_iter();
            tokens
                .map(|token| it[token.bytes].to_owned())
                .collect::<Vec<_>>()
        });
        let moved = was.iter().zip(&is).filter(|it| it.0 != it.1).count();
        assert!((2..=phrases).contains(&moved), "{after}");
    }
}

#[test]
fn what_is_removed_is_what_is_named() {
    let bench = bench();
    for (before, after) in bench.all(Manipulation::RemoveStopWords) {
        // A contraction is removed or kept as a whole; see below.
        if before.contains('\'') {
            continue;
        }
        let stops = |it: &&str| bench.tools.is_stop_word(it);
        let kept: Vec<&str> = bag(before).into_iter().filter(|it| !stops(it)).collect();
        assert_eq!(letters(&kept.concat()), letters(&after), "{after}");
        assert_eq!(
            bag(&after).iter().filter(|it| stops(it)).count(),
            0,
            "{after}"
        );
    }
    for (before, after) in bench.all(Manipulation::RemovePunctuation) {
        assert_eq!(before.chars().count(), after.chars().count());
        for (was, is) in before.chars().zip(after.chars()) {
            assert_eq!(is, if was.is_ascii_punctuation() { ' ' } else { was });
        }
    }
    for (_, after) in bench.all(Manipulation::RemoveStopWordsAndPunctuation) {
        assert!(
            !after.contains(|it: char| it.is_ascii_punctuation()),
            "{after}"
        );
    }
    let text = "The river ran, and ran, into the sea.";
    let made = bench.made(Manipulation::RemoveStopWords, text, "");
    assert_eq!(made.as_deref(), Some("river ran, ran, sea."));
    let made = bench.made(Manipulation::RemoveStopWords, "The ice doesn't move.", "");
    assert_eq!(made.as_deref(), Some("ice doesn't move."));
    for (_, after) in bench.all(Manipulation::DropQueryTerms) {
        let terms = Analyzer::default().terms_with_positions(&after);
        assert!(
            terms.iter().all(|it| it.0 != "ice" && it.0 != "lamp"),
            "{after}"
        );
    }
}

#[test]
fn small_letters_and_base_forms() {
    let bench = bench();
    for (before, after) in bench.all(Manipulation::CaseFold) {
        assert_eq!(before.to_lowercase(), after);
    }
    let text = "The keepers stood on larger rocks.";
    let made = bench.made(Manipulation::Lemmatize, text, "");
    assert_eq!(made.as_deref(), Some("The keeper stand on large rock."));
    for (before, after) in bench.all(Manipulation::Lemmatize) {
        assert_eq!(words(before).len(), words(&after).len());
    }
}

#[test]
fn misspellings_are_those_of_the_list_or_swap_two_letters() {
    let mut bench = bench();
    for (before, after) in bench.all(Manipulation::TyposOutsideStopWords) {
        assert_eq!(letters(before), letters(&after));
        let mut n_changed = 0;
        for (was, is) in words(before).into_iter().zip(words(&after)) {
            n_changed += usize::from(was != is);
            assert!(was == is || !bench.tools.is_stop_word(was));
        }
        let long = bag(before).into_iter().filter(|it| {
            it.chars().count() >= 5
                && it.chars().all(char::is_alphabetic)
                && !bench.tools.is_stop_word(it)
        });
        assert!(
            (1..=long.count().div_ceil(5)).contains(&n_changed),
            "{after}"
        );
    }
    let list = "teh\tthe\nlighthuose\tlighthouse\nlihgthouse\tlighthouse, light house\n";
    bench.tools.set_misspellings("list.tsv", list).unwrap();
    let text = "The lighthouse and the sea.";
    let all = bench.made(Manipulation::Typos, text, "").unwrap();
    assert!(
        all.starts_with("The li") && all.ends_with(" and teh sea."),
        "{all}"
    );
    assert!(
        all.contains("lighthuose") || all.contains("lihgthouse"),
        "{all}"
    );
    let some = bench
        .made(Manipulation::TyposOutsideStopWords, text, "")
        .unwrap();
    assert!(some.ends_with(" and the sea."), "{some}");
    let error = bench
        .tools
        .set_misspellings("list.tsv", "a\tb\nnothing")
        .unwrap_err();
    assert!(error.to_string().contains("2"), "{error}");
}

#[test]
fn one_sentence_goes_or_comes() {
    let bench = bench();
    let text = "One goes. Two stays. Three comes.";
    let made = |manipulation| bench.made(manipulation, text, "").unwrap();
    assert_eq!(
        made(Manipulation::DeleteFirstSentence),
        "Two stays. Three comes."
    );
    assert_eq!(
        made(Manipulation::DeleteLastSentence),
        "One goes. Two stays."
    );
    let middle = [
        "Two stays. Three comes.",
        "One goes. Three comes.",
        "One goes. Two stays.",
    ];
    assert!(middle.contains(&made(Manipulation::DeleteSentence).as_str()));
    for manipulation in [
        Manipulation::DeleteFirstSentence,
        Manipulation::DeleteLastSentence,
        Manipulation::DeleteSentence,
    ] {
        for (before, after) in bench.all(manipulation) {
            let (all, left) = (
                tag_words_and_noun_phrases(before),
                tag_words_and_noun_phrases(&after),
            );
            assert_eq!(all.sentences.len(), left.sentences.len() + 1, "{after}");
        }
        assert_eq!(bench.made(manipulation, "Only one.", ""), None);
    }
    let others = ["Bread rises in the oven.", "Bakers know why."];
    for (before, after) in bench.all(Manipulation::AddSentenceFirst) {
        let added = after.strip_suffix(before).unwrap().trim_end();
        assert!(others.contains(&added), "{after}");
    }
    for (before, after) in bench.all(Manipulation::AddSentenceLast) {
        let added = after.strip_prefix(before).unwrap().trim_start();
        assert!(others.contains(&added), "{after}");
    }
}

#[test]
fn the_query_takes_its_place() {
    let bench = bench();
    for (before, after) in bench.all(Manipulation::PrependQuery) {
        assert_eq!(after, format!("ice lamp {before}"));
    }
    for (before, after) in bench.all(Manipulation::AppendQuery) {
        assert_eq!(after, format!("{before} ice lamp"));
    }
    for (_, after) in bench.all(Manipulation::ReplaceWithQuery) {
        assert_eq!(after, "ice lamp");
    }
    assert_eq!(
        bench.made(Manipulation::ReplaceWithQuery, "ice lamp", "ice lamp"),
        None
    );
}

#[test]
fn a_text_is_repeated_cut_or_mixed_with_noise() {
    let bench = bench();
    for (before, after) in bench.all(Manipulation::Repeat(3)) {
        assert_eq!(after, [before; 3].join(" "));
    }
    for (before, after) in bench.all(Manipulation::Truncate(4)) {
        assert!(before.starts_with(&after));
        assert_eq!(tag_words_and_noun_phrases(&after).tokens.len(), 4);
    }
    for (before, after) in bench.all(Manipulation::InsertNoiseWords(5)) {
        assert_eq!(words(before).len() + 5, words(&after).len(), "{after}");
        let mut rest = words(&after).into_iter();
        for word in words(before) {
            assert!(
                rest.any(|it| it.contains(word) || word.contains(it)),
                "{word}: {after}"
            );
        }
        let asked = |it: &str| {
            let terms = Analyzer::default().terms_with_positions(it);
            terms
                .iter()
                .filter(|it| it.0 == "ice" || it.0 == "lamp")
                .count()
        };
        assert_eq!(asked(before), asked(&after), "{after}");
    }
}

#[test]
fn every_number_is_another_of_as_many_digits() {
    for (before, after) in bench().all(Manipulation::ChangeNumbers) {
        let blank = |it: &str| it.replace(|it: char| it.is_ascii_digit(), "9");
        assert_eq!(blank(before), blank(&after));
        let (was, is) = (
            tag_words_and_noun_phrases(before),
            tag_words_and_noun_phrases(&after),
        );
        for (a, b) in was.tokens.iter().zip(&is.tokens) {
            let (a, b) = (&before[a.bytes.clone()], &after[b.bytes.clone()]);
            let is_number = a.bytes().all(|it| it.is_ascii_digit());
            assert_eq!(a != b, is_number, "{a} {b}");
            assert_eq!(a.starts_with('0'), b.starts_with('0'), "{a} {b}");
        }
    }
}

#[test]
fn a_negation_is_put_in_and_can_be_taken_out() {
    let bench = bench();
    for (before, after) in bench.all(Manipulation::Negate) {
        assert_eq!(after.replace(" not", ""), before.replace(" not", ""));
    }
    for (text, expected) in [
        (
            "It was late. We had left.",
            Some("It was not late. We had not left."),
        ),
        ("It was never late.", None),
        ("Rivers run.", None),
    ] {
        assert_eq!(
            bench.made(Manipulation::Negate, text, "").as_deref(),
            expected
        );
    }
}

#[test]
fn queries_of_a_model_are_appended_to_their_document() {
    let mut bench = bench();
    assert_eq!(bench.made(Manipulation::AppendExpansions, "ice", "q"), None);
    let queries = vec!["what is ice".to_owned(), "cold".to_owned()];
    bench
        .tools
        .set_doc2query_expansions(BTreeMap::from([("d".to_owned(), queries)]));
    let made = bench.made(Manipulation::AppendExpansions, "ice", "q");
    assert_eq!(made.as_deref(), Some("ice what is ice cold"));
}

#[test]
fn synonyms_are_other_words_outside_of_the_query() {
    let mut bench = bench();
    let text = "Slowly they move. The valley is below the snow, and slowly they carry stones.";
    let made = |bench: &Bench, n, query| bench.made(Manipulation::ReplaceSynonyms(n), text, query);
    assert_eq!(made(&bench, 5, "ice"), None);
    let vectors = WordVectors::from_words_and_vectors(&[
        ("valley", [1.0, 0.0, 0.0]),
        ("canyon", [0.9, 0.1, 0.0]),
        ("slowly", [0.0, 1.0, 0.0]),
        ("gradually", [0.0, 1.0, 0.1]),
        ("stones", [0.0, 0.0, 1.0]),
        ("stone", [0.0, 0.0, 1.0]),
    ]);
    bench
        .tools
        .set_synonym_finder(SynonymFinder::new(Arc::new(vectors), Analyzer::default()));
    let all = "Gradually they move. The canyon is below the snow, and gradually they carry stones.";
    assert_eq!(made(&bench, 5, "ice").as_deref(), Some(all));
    let kept =
        "Gradually they move. The valley is below the snow, and gradually they carry stones.";
    for query in ["valleys", "canyon"] {
        assert_eq!(made(&bench, 5, query).as_deref(), Some(kept), "{query}");
    }
    // One of three words.
    let one = made(&bench, 1, "ice").unwrap();
    let pairs = one.split(' ').zip(text.split(' '));
    assert_eq!(pairs.filter(|it| it.0 != it.1).count(), 1, "{one}");
}

#[test]
fn what_is_drawn_depends_on_query_and_text_alone() {
    let bench = bench();
    for &manipulation in Manipulation::ALL {
        for text in TEXTS {
            let once = bench.made(manipulation, text, "ice");
            assert_eq!(once, bench.made(manipulation, text, "ice"));
            if !manipulation.depends_on_query() {
                assert_eq!(
                    once,
                    bench.made(manipulation, text, "other"),
                    "{manipulation}"
                );
            }
        }
    }
    let of = |query| bench.made(Manipulation::ShuffleWords, TEXTS[0], query);
    assert_ne!(of("ice"), of("lamp"));
}

#[test]
fn a_manipulation_is_written_as_it_is_read() {
    let mut names: Vec<&str> = Vec::new();
    for &it in Manipulation::ALL
        .iter()
        .chain(Manipulation::NEEDING_RESOURCES)
    {
        assert_eq!(it.slug().parse::<Manipulation>().unwrap(), it);
        assert!(!it.probe_description().statement.is_empty());
        assert!(!names.contains(&it.probe_description().name));
        names.push(it.probe_description().name);
    }
    assert_eq!(
        "repeat:5".parse::<Manipulation>().unwrap(),
        Manipulation::Repeat(5)
    );
    check_refused::<Manipulation>(&[
        ("repeat:1", "from 2"),
        ("noise:0", "from 1"),
        ("truncate:9999", "to 500"),
        ("typos:3", "no number"),
        ("typo", "not a manipulation"),
    ]);
}
