//! What the buttons below a text do to it.

use shared::text::stopwords::EN_FUNCTION;

/// A change of a text that keeps something and breaks something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// The text twice, as LNC2 has it.
    Double,
    /// The same words in another order: counts stay, distances do not.
    Shuffle,
    /// The words from the last to the first: counts and distances stay.
    Reverse,
    /// Without English function words: shorter, with the same terms that matter.
    DropStopWords,
    /// Without its last sentence.
    DropLastSentence,
    /// With the query behind it.
    AppendQuery,
}

impl Edit {
    /// Every edit, in the order of the buttons.
    pub(crate) const ALL: [Edit; 6] = [
        Edit::Double,
        Edit::Shuffle,
        Edit::Reverse,
        Edit::DropStopWords,
        Edit::DropLastSentence,
        Edit::AppendQuery,
    ];

    /// On the button.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Edit::Double => "Double",
            Edit::Shuffle => "Shuffle words",
            Edit::Reverse => "Reverse words",
            Edit::DropStopWords => "Drop stop words",
            Edit::DropLastSentence => "Drop last sentence",
            Edit::AppendQuery => "Append query",
        }
    }

    /// The text after it.
    pub(crate) fn apply(self, text: &str, query: &str) -> String {
        match self {
            Edit::Double => joined([text, text]),
            Edit::Shuffle => shuffled(text),
            Edit::Reverse => text.split_whitespace().rev().collect::<Vec<_>>().join(" "),
            Edit::DropStopWords => without_stop_words(text),
            Edit::DropLastSentence => without_last_sentence(text).to_owned(),
            Edit::AppendQuery => joined([text, query]),
        }
    }
}

/// Seed of the order; any would do. A shuffled text shuffled again takes another order.
const SEED: u64 = 42;

fn joined(parts: [&str; 2]) -> String {
    let parts = parts.map(str::trim).into_iter().filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// Fisher and Yates' shuffle with the numbers of SplitMix64.
fn shuffled(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut state = SEED;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = state;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    };
    for at in (1..words.len()).rev() {
        words.swap(at, (next() % (at as u64 + 1)) as usize);
    }
    words.join(" ")
}

fn without_stop_words(text: &str) -> String {
    let mut kept = String::new();
    for word in text.split_whitespace() {
        if is_stop_word(word) {
            // `what it is.` still ends its sentence.
            let end = word.trim_start_matches(char::is_alphanumeric);
            if !kept.is_empty() && kept.ends_with(char::is_alphanumeric) {
                kept.push_str(end.trim_start_matches(|it| !matches!(it, '.' | '!' | '?')));
            }
            continue;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(word);
    }
    kept
}

/// Whether every piece of a word, as the tokeniser `alnum` cuts it, is a function word.
fn is_stop_word(word: &str) -> bool {
    let lower = word.to_lowercase();
    let pieces = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty());
    let mut pieces = pieces.peekable();
    pieces.peek().is_some() && pieces.all(|it| EN_FUNCTION.binary_search(&it).is_ok())
}

/// A sentence ends with `.`, `!` or `?` before a space.
fn without_last_sentence(text: &str) -> &str {
    let text = text.trim_end();
    let mut ends = text.char_indices().filter(|(at, it)| {
        matches!(it, '.' | '!' | '?') && text[at + 1..].starts_with(char::is_whitespace)
    });
    ends.next_back().map_or("", |(at, _)| &text[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edit: Edit, text: &str, expected: &str) {
        assert_eq!(edit.apply(text, "river bank"), expected, "{edit:?}");
    }

    #[test]
    fn a_text_is_doubled_with_one_space() {
        check(Edit::Double, " the tide \n", "the tide the tide");
        check(Edit::Double, "", "");
    }

    #[test]
    fn a_shuffle_keeps_every_word_and_is_the_same_each_time() {
        let text = "one two three four five six seven";
        let once = Edit::Shuffle.apply(text, "");
        assert_eq!(once, Edit::Shuffle.apply(text, ""));
        assert_ne!(once, text);
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(&once), sorted(text));
    }

    #[test]
    fn words_are_reversed_whole() {
        check(Edit::Reverse, "the river,\nits bank", "bank its river, the");
    }

    #[test]
    fn stop_words_go_and_sentences_keep_their_end() {
        check(
            Edit::DropStopWords,
            "The tide is what it is. It turns.",
            "tide. turns.",
        );
        check(
            Edit::DropStopWords,
            "It's the moon's work, don't doubt",
            "moon's work, don't doubt",
        );
        check(Edit::DropStopWords, "of the", "");
    }

    #[test]
    fn the_last_sentence_goes() {
        check(
            Edit::DropLastSentence,
            "A river. A bank! Mud?",
            "A river. A bank!",
        );
        check(Edit::DropLastSentence, "It is 3.14 long", "");
        check(Edit::DropLastSentence, "Été. Où ça ?", "Été.");
    }

    #[test]
    fn the_query_stands_behind_the_text() {
        check(Edit::AppendQuery, "mud", "mud river bank");
        check(Edit::AppendQuery, "", "river bank");
    }
}
