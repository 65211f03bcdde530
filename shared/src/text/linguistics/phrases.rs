//! Noun phrases of a sentence, from the tags of its words.
//!
//! A phrase consists, from left to right, of quantifying words before a number (`about`, `more
//! than`), determiners, modifiers and nouns. A possessive joins two phrases (`the dog's tail`).

use std::ops::Range;

use super::{PartOfSpeech, tagger};

/// Returns the range of words of each phrase, in order.
pub(super) fn find_noun_phrases(forms: &[&str], tags: &[PartOfSpeech]) -> Vec<Range<usize>> {
    let sentence = Sentence {
        forms: forms.iter().map(|it| it.to_lowercase()).collect(),
        tags,
    };
    let mut phrases = Vec::new();
    let mut at = 0;
    // No phrase with a noun starts before this word: a long run of articles or adjectives without
    // a noun is read once.
    let mut no_noun_before = 0;
    while at < tags.len() {
        let mut end = None;
        if at >= no_noun_before {
            match sentence.phrase_with_noun(at) {
                Ok(found) => end = Some(found),
                // A phrase may start with two words that quantify the word where this one stopped.
                Err(stopped) => no_noun_before = stopped.saturating_sub(2),
            }
        }
        match end.or_else(|| sentence.pronoun(at)) {
            Some(end) => {
                phrases.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    phrases
}

struct Sentence<'a> {
    /// The forms in lower case.
    forms: Vec<String>,
    tags: &'a [PartOfSpeech],
}

impl Sentence<'_> {
    fn form(&self, at: usize) -> &str {
        self.forms.get(at).map_or("", String::as_str)
    }

    fn tag(&self, at: usize) -> Option<PartOfSpeech> {
        self.tags.get(at).copied()
    }

    /// Returns the end of the phrase that starts with a word. The error is the word at which the
    /// search for a noun stopped.
    fn phrase_with_noun(&self, start: usize) -> Result<usize, usize> {
        let measured = self.after_measure(start);
        let determined = self.after_determiners(measured);
        self.nouns(determined, determined > measured)
    }

    /// Returns the end of a pronoun that replaces a noun.
    fn pronoun(&self, at: usize) -> Option<usize> {
        let stands_alone = match self.form(at) {
            "there" | "who" | "whom" | "which" | "what" | "that" | "whoever" | "whatever" => false,
            // A possessive before a noun would already be part of a phrase.
            form => !tagger::is_possessive_determiner(form) || matches!(form, "his" | "her"),
        };
        (self.tag(at) == Some(PartOfSpeech::Pronoun) && stands_alone).then_some(at + 1)
    }

    /// Returns the index after `about`, `more than` or `up to` before a number.
    fn after_measure(&self, at: usize) -> usize {
        let end = match (self.form(at), self.form(at + 1)) {
            ("more" | "less" | "fewer" | "greater" | "other", "than") => at + 2,
            ("at", "least" | "most") | ("up", "to") => at + 2,
            (
                "about" | "around" | "over" | "nearly" | "almost" | "roughly" | "approximately"
                | "approx." | "only" | "exactly" | "under" | "some" | "every" | "c." | "ca.",
                _,
            ) => at + 1,
            _ => at,
        };
        let is_number = self.tag(end) == Some(PartOfSpeech::Numeral)
            || self.tag(end) == Some(PartOfSpeech::Symbol)
                && self.tag(end + 1) == Some(PartOfSpeech::Numeral);
        if is_number { end } else { at }
    }

    fn after_determiners(&self, start: usize) -> usize {
        let mut at = start;
        let is_article = |at: usize| match self.tag(at) {
            Some(PartOfSpeech::Determiner) => true,
            Some(PartOfSpeech::Pronoun) => tagger::is_possessive_determiner(self.form(at)),
            _ => false,
        };
        if matches!(
            self.form(at),
            "all" | "both" | "half" | "such" | "twice" | "quite" | "many"
        ) && is_article(at + 1)
        {
            at += 1;
        }
        while is_article(at) {
            at += 1;
        }
        at
    }

    /// Returns the end of modifiers and nouns, or where the search for a noun stopped.
    fn nouns(&self, start: usize, determined: bool) -> Result<usize, usize> {
        let mut at = start;
        let mut end = None;
        while let Some(tag) = self.tag(at) {
            match tag {
                PartOfSpeech::Noun | PartOfSpeech::ProperNoun => {
                    at += 1;
                    end = Some(at);
                    if self.tag(at) == Some(PartOfSpeech::Numeral) {
                        at += 1;
                        end = Some(at);
                    }
                }
                PartOfSpeech::Symbol => {
                    // `7 %` is a phrase; `$` is one with its number.
                    let is_unit = at > start && self.tags[at - 1] == PartOfSpeech::Numeral;
                    let is_money = self.tag(at + 1) == Some(PartOfSpeech::Numeral);
                    if !is_unit && !is_money {
                        break;
                    }
                    at += 1;
                    while is_money && self.tag(at) == Some(PartOfSpeech::Numeral) {
                        at += 1;
                    }
                    end = Some(at);
                }
                PartOfSpeech::Particle
                    if end == Some(at) && self.form(at).starts_with(['\'', '’']) =>
                {
                    at += 1;
                }
                // After the noun, a modifier would start another phrase.
                _ if end == Some(at) => break,
                PartOfSpeech::Adjective | PartOfSpeech::Numeral => at += 1,
                PartOfSpeech::Adverb if self.is_degree(at, determined) => at += 1,
                PartOfSpeech::Verb if self.is_participle(at, at > start || determined) => at += 1,
                PartOfSpeech::Conjunction | PartOfSpeech::Punctuation
                    if self.joins_modifiers(start, at) =>
                {
                    at += 1
                }
                _ => break,
            }
        }
        // `the poor`: after an article, an adjective can be used as a noun.
        let is_adjective = at > start && self.tags[at - 1] == PartOfSpeech::Adjective;
        let end = end.or_else(|| (determined && is_adjective).then_some(at));
        end.ok_or(at)
    }

    /// Returns whether a word is an adverb before an adjective, inside the phrase.
    fn is_degree(&self, at: usize, determined: bool) -> bool {
        const DEGREES: &[&str] = &[
            "very",
            "too",
            "so",
            "quite",
            "rather",
            "more",
            "most",
            "less",
            "least",
            "much",
            "highly",
            "extremely",
            "fairly",
            "relatively",
            "increasingly",
            "particularly",
        ];
        let before_modifier = match self.tag(at + 1) {
            Some(PartOfSpeech::Adjective) => true,
            Some(PartOfSpeech::Verb | PartOfSpeech::Adverb) => determined,
            _ => false,
        };
        before_modifier && (determined || DEGREES.contains(&self.form(at)))
    }

    /// Returns whether a word is a participle such as `rising` in `rising water`: after an article
    /// or a modifier, before a noun.
    fn is_participle(&self, at: usize, inside: bool) -> bool {
        let form = self.form(at);
        let before_noun = matches!(
            self.tag(at + 1),
            Some(PartOfSpeech::Noun | PartOfSpeech::ProperNoun | PartOfSpeech::Adjective)
        );
        inside
            && before_noun
            && (form.ends_with("ing") || form.ends_with("ed") || form.ends_with("en"))
    }

    /// Returns whether a word joins modifiers, as in `small and large cities` or `a long, dark
    /// corridor`.
    fn joins_modifiers(&self, start: usize, at: usize) -> bool {
        let is_link = matches!(self.form(at), "," | "and" | "or");
        let is_modifier = |at: usize| self.tag(at) == Some(PartOfSpeech::Adjective);
        is_link
            && at > start
            && is_modifier(at - 1)
            && is_modifier(at + 1)
            && matches!(
                self.tag(at + 2),
                Some(PartOfSpeech::Noun | PartOfSpeech::ProperNoun | PartOfSpeech::Adjective)
            )
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{RngCore, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Looks for a phrase at each word.
    fn find_at_each_word(sentence: &Sentence<'_>) -> Vec<Range<usize>> {
        let mut phrases: Vec<Range<usize>> = Vec::new();
        for at in 0..sentence.tags.len() {
            let found = sentence.phrase_with_noun(at).ok();
            let found = found.or_else(|| sentence.pronoun(at));
            if let Some(end) = found.filter(|_| phrases.last().is_none_or(|it| it.end <= at)) {
                phrases.push(at..end);
            }
        }
        phrases
    }

    #[test]
    fn words_that_are_skipped_start_no_phrase() {
        const WORDS: &[(&str, PartOfSpeech)] = &[
            ("more", PartOfSpeech::Adverb),
            ("more", PartOfSpeech::Adjective),
            ("than", PartOfSpeech::Conjunction),
            ("about", PartOfSpeech::Adverb),
            ("at", PartOfSpeech::Adjective),
            ("least", PartOfSpeech::Adjective),
            ("such", PartOfSpeech::Adjective),
            ("all", PartOfSpeech::Determiner),
            ("the", PartOfSpeech::Determiner),
            ("his", PartOfSpeech::Pronoun),
            ("it", PartOfSpeech::Pronoun),
            ("five", PartOfSpeech::Numeral),
            ("%", PartOfSpeech::Symbol),
            ("old", PartOfSpeech::Adjective),
            ("very", PartOfSpeech::Adverb),
            ("rising", PartOfSpeech::Verb),
            (",", PartOfSpeech::Punctuation),
            ("and", PartOfSpeech::Conjunction),
            ("'s", PartOfSpeech::Particle),
            ("tide", PartOfSpeech::Noun),
            ("of", PartOfSpeech::Adposition),
        ];
        let mut random = Pcg64Mcg::seed_from_u64(21);
        for _ in 0..20_000 {
            let n_words = random.next_u32() % 12;
            let words: Vec<_> = (0..n_words)
                .map(|_| WORDS[random.next_u32() as usize % WORDS.len()])
                .collect();
            let forms: Vec<&str> = words.iter().map(|it| it.0).collect();
            let tags: Vec<PartOfSpeech> = words.iter().map(|it| it.1).collect();
            let sentence = Sentence {
                forms: forms.iter().map(|&it| it.to_owned()).collect(),
                tags: &tags,
            };
            let expected = find_at_each_word(&sentence);
            assert_eq!(find_noun_phrases(&forms, &tags), expected, "{words:?}");
        }
    }
}
