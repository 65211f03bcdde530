//! Corrections of tags that depend on the whole sentence.

use super::is_possessive_determiner;
use crate::text::linguistics::{PartOfSpeech, lemmas, lexicon};

/// Corrects the tags of words in lower case, with straight apostrophes.
pub(super) fn correct_part_of_speech_tags(
    forms: Vec<String>,
    tags: Vec<PartOfSpeech>,
) -> Vec<PartOfSpeech> {
    let mut sentence = Sentence { forms, tags };
    let n_words = sentence.tags.len();
    for at in 0..n_words {
        sentence.mend_clitic(at);
        sentence.mend_ordinal(at);
        sentence.mend_both(at);
        sentence.mend_singular_verb(at);
        sentence.mend_infinitive(at);
    }
    sentence.find_missing_verb();
    for at in 0..n_words {
        sentence.mend_to(at);
        sentence.mend_auxiliary(at);
    }
    for at in 0..n_words {
        sentence.mend_preposition(at);
    }
    sentence.tags
}

struct Sentence {
    forms: Vec<String>,
    tags: Vec<PartOfSpeech>,
}

impl Sentence {
    fn form(&self, at: usize) -> &str {
        self.forms.get(at).map_or("", String::as_str)
    }

    fn tag(&self, at: usize) -> Option<PartOfSpeech> {
        self.tags.get(at).copied()
    }

    fn form_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |it| self.form(it))
    }

    fn before(&self, at: usize) -> Option<PartOfSpeech> {
        at.checked_sub(1).and_then(|it| self.tag(it))
    }

    /// `'s` is `is` or `has` after a pronoun, otherwise the possessive.
    fn mend_clitic(&mut self, at: usize) {
        match self.form(at) {
            "'s" if at > 0 => {
                let is_verb = match self.tags[at - 1] {
                    PartOfSpeech::Pronoun => true,
                    PartOfSpeech::Adverb => {
                        matches!(self.form(at - 1), "here" | "where" | "how" | "when")
                    }
                    _ => false,
                };
                self.tags[at] = match self.form(at - 1) {
                    "let" => PartOfSpeech::Pronoun,
                    "one" | "someone" | "everyone" | "anyone" | "nobody" => PartOfSpeech::Particle,
                    _ if is_verb => PartOfSpeech::Auxiliary,
                    _ => PartOfSpeech::Particle,
                };
            }
            "'re" | "'ve" | "'ll" | "'d" | "'m" => self.tags[at] = PartOfSpeech::Auxiliary,
            // The possessive of a plural.
            "'" if self.before(at) == Some(PartOfSpeech::Noun)
                && self.form_before(at).ends_with('s')
                && self.tag(at + 1) == Some(PartOfSpeech::Noun) =>
            {
                self.tags[at] = PartOfSpeech::Particle;
            }
            _ => {}
        }
    }

    /// `moves` between a singular noun and the object of a verb is a verb, if its base form can be
    /// one.
    fn mend_singular_verb(&mut self, at: usize) {
        let form = self.form(at);
        if self.tags[at] != PartOfSpeech::Noun || at == 0 || !form.ends_with('s') {
            return;
        }
        let base = lemmas::verb_lemma(form);
        let is_verb =
            *base != *form && lexicon::most_frequent_tag(&base) == Some(PartOfSpeech::Verb);
        let can_be = *base != *form && lemmas::can_be_infinitive(&base);
        let previous = self.form(at - 1);
        let subject = match self.tags[at - 1] {
            PartOfSpeech::Noun | PartOfSpeech::ProperNoun => !previous.ends_with('s'),
            PartOfSpeech::Pronoun => {
                matches!(
                    previous,
                    "he" | "she" | "it" | "who" | "which" | "that" | "what"
                )
            }
            _ => false,
        };
        let takes = match self.tag(at + 1) {
            Some(PartOfSpeech::Adposition) => self.form(at + 1) != "of",
            Some(
                PartOfSpeech::Determiner
                | PartOfSpeech::Pronoun
                | PartOfSpeech::Subordinator
                | PartOfSpeech::Adverb
                | PartOfSpeech::Numeral
                | PartOfSpeech::Adjective
                | PartOfSpeech::Particle,
            ) => true,
            _ => false,
        };
        let takes_object = self.takes_object(at) || self.form(at + 1) == "that";
        let follows_pronoun = self.tags[at - 1] == PartOfSpeech::Pronoun;
        if subject && (is_verb && takes || can_be && (takes_object || follows_pronoun)) {
            self.tags[at] = PartOfSpeech::Verb;
        }
    }

    /// Returns whether a determiner or another start of an object follows.
    fn takes_object(&self, at: usize) -> bool {
        match self.tag(at + 1) {
            Some(PartOfSpeech::Determiner) => true,
            Some(PartOfSpeech::Pronoun) => {
                self.form(at + 1) != "that" && self.form(at + 1) != "which"
            }
            _ => false,
        }
    }

    /// Corrects infinitives, such as `open` and `rest` in `do n't open`, `may rest`, `to open the`,
    /// `birds rest their`.
    fn mend_infinitive(&mut self, at: usize) {
        let can_be = matches!(self.tags[at], PartOfSpeech::Noun | PartOfSpeech::Adjective)
            && !self.form(at).ends_with('s')
            && lemmas::can_be_infinitive(self.form(at));
        if at == 0 || !can_be {
            return;
        }
        let mut before = at - 1;
        while before > 0
            && matches!(
                self.tags[before],
                PartOfSpeech::Adverb | PartOfSpeech::Particle
            )
            && self.form(before) != "to"
        {
            before -= 1;
        }
        let negated = matches!(self.form(at - 1), "n't" | "not");
        let asked = match self.form(before) {
            "can" | "ca" | "could" | "will" | "'ll" | "wo" | "would" | "shall" | "should"
            | "might" | "must" => true,
            "may" => self.tags[before] == PartOfSpeech::Auxiliary,
            "do" | "does" | "did" => negated,
            "to" => self.takes_object(at) || self.tag(at + 1) == Some(PartOfSpeech::Numeral),
            "i" | "you" | "we" | "they" => self.takes_object(at),
            form => {
                self.tags[before] == PartOfSpeech::Noun
                    && form.ends_with('s')
                    && self.takes_object(at)
            }
        };
        if asked {
            self.tags[at] = PartOfSpeech::Verb;
        }
    }

    /// Corrects ordinals that are used as nouns, as in `one third of`, `per second`.
    fn mend_ordinal(&mut self, at: usize) {
        let is_ordinal = matches!(
            self.form(at),
            "second" | "third" | "thirds" | "fourth" | "fifth" | "quarter" | "quarters" | "tenth"
        );
        let counts =
            matches!(self.before(at), Some(PartOfSpeech::Numeral)) || self.form_before(at) == "per";
        let has_noun = matches!(
            self.tag(at + 1),
            Some(PartOfSpeech::Noun | PartOfSpeech::ProperNoun | PartOfSpeech::Adjective)
        );
        if is_ordinal && counts && !has_noun {
            self.tags[at] = PartOfSpeech::Noun;
        }
    }

    /// `both`, `either` and `neither` are determiners unless a conjunction follows.
    fn mend_both(&mut self, at: usize) {
        if !matches!(self.form(at), "both" | "either" | "neither") {
            return;
        }
        let links = self.forms[at..]
            .iter()
            .take(4)
            .any(|it| matches!(it.as_str(), "and" | "or" | "nor"));
        let before_noun = matches!(
            self.tag(at + 1),
            Some(PartOfSpeech::Noun | PartOfSpeech::Adjective)
        );
        if before_noun && !links {
            self.tags[at] = PartOfSpeech::Determiner;
        }
    }

    /// `as`, `before` and similar words are prepositions unless a clause follows, that is, a
    /// subject and a verb before the next punctuation mark.
    fn mend_preposition(&mut self, at: usize) {
        let either = matches!(
            self.form(at),
            "as" | "before" | "after" | "since" | "until" | "till"
        );
        if !either
            || !matches!(
                self.tags[at],
                PartOfSpeech::Adposition | PartOfSpeech::Subordinator
            )
        {
            return;
        }
        let clause = (at + 2..self.tags.len())
            .take_while(|&it| {
                !matches!(
                    self.tags[it],
                    PartOfSpeech::Punctuation
                        | PartOfSpeech::Conjunction
                        | PartOfSpeech::Subordinator
                ) && !matches!(self.form(it), "who" | "which" | "that")
            })
            .any(|it| {
                let finite = match self.tags[it] {
                    PartOfSpeech::Auxiliary => true,
                    PartOfSpeech::Verb => {
                        !self.form(it).ends_with("ing") && self.form(it - 1) != "to"
                    }
                    _ => false,
                };
                let has_subject = matches!(
                    self.tags[it - 1],
                    PartOfSpeech::Noun
                        | PartOfSpeech::ProperNoun
                        | PartOfSpeech::Pronoun
                        | PartOfSpeech::Adverb
                );
                finite && has_subject
            });
        self.tags[at] = match clause {
            true => PartOfSpeech::Subordinator,
            false => PartOfSpeech::Adposition,
        };
    }

    /// A sentence has a verb. If none was found, it is the first word that can be one.
    fn find_missing_verb(&mut self) {
        let closed = matches!(self.forms.last().map(String::as_str), Some("." | "?" | "!"));
        let has_verb = self
            .tags
            .iter()
            .any(|it| matches!(it, PartOfSpeech::Verb | PartOfSpeech::Auxiliary));
        if !closed || has_verb || self.tags.len() < 4 {
            return;
        }
        let found = (1..self.tags.len() - 1).find(|&at| {
            let before = self.form(at - 1);
            let subject = match self.tags[at - 1] {
                PartOfSpeech::Noun => before.ends_with('s') != self.form(at).ends_with('s'),
                PartOfSpeech::Pronoun => !is_possessive_determiner(before),
                PartOfSpeech::ProperNoun => {
                    self.form(at).ends_with('s') || self.form(at).ends_with("ed")
                }
                _ => false,
            };
            let takes = !matches!(
                self.tags[at + 1],
                PartOfSpeech::Punctuation | PartOfSpeech::Conjunction | PartOfSpeech::Particle
            ) && self.form(at + 1) != "of";
            matches!(self.tags[at], PartOfSpeech::Noun | PartOfSpeech::Adjective)
                && subject
                && takes
        });
        if let Some(at) = found {
            self.tags[at] = PartOfSpeech::Verb;
        }
    }

    /// Finds the verb that belongs to the `do` of a question.
    fn find_verb_of_question(&mut self, at: usize) {
        let found = (at + 2..self.tags.len()).find(|&it| {
            matches!(self.tags[it], PartOfSpeech::Noun | PartOfSpeech::Adjective)
                && matches!(
                    self.tags[it - 1],
                    PartOfSpeech::Noun | PartOfSpeech::ProperNoun | PartOfSpeech::Pronoun
                )
                && lemmas::can_be_infinitive(self.form(it))
        });
        if let Some(verb) = found {
            self.tags[verb] = PartOfSpeech::Verb;
        }
    }

    /// `to` is a particle before a verb and a preposition elsewhere.
    fn mend_to(&mut self, at: usize) {
        if self.form(at) != "to" {
            return;
        }
        let next = (at + 1..self.tags.len()).find(|&it| self.tags[it] != PartOfSpeech::Adverb);
        self.tags[at] = match next.and_then(|it| self.tag(it)) {
            Some(PartOfSpeech::Verb | PartOfSpeech::Auxiliary) => PartOfSpeech::Particle,
            Some(_) => PartOfSpeech::Adposition,
            None => PartOfSpeech::Particle,
        };
    }

    /// `have` and `do` are auxiliaries if they have another verb; `be` always is.
    fn mend_auxiliary(&mut self, at: usize) {
        let form = self.form(at);
        let is_have = matches!(form, "have" | "has" | "had");
        let is_do = matches!(form, "do" | "does" | "did");
        if matches!(form, "be" | "is" | "are" | "was" | "were" | "been" | "am") {
            self.tags[at] = PartOfSpeech::Auxiliary;
            return;
        }
        if !is_have && !is_do {
            return;
        }
        // The words between the auxiliary and the verb: `had already seen`, `did he see`.
        let mut next = at + 1;
        while let Some(PartOfSpeech::Adverb | PartOfSpeech::Particle) = self.tag(next)
            && self.form(next) != "to"
        {
            next += 1;
        }
        let asks = at == 0
            || matches!(self.before(at), Some(PartOfSpeech::Punctuation))
            || matches!(
                self.form_before(at),
                "how" | "why" | "where" | "when" | "what" | "who"
            );
        let is_participle = |at: usize| {
            self.form(at) == "been"
                || matches!(self.tag(at), Some(PartOfSpeech::Verb))
                    && !self.form(at).ends_with("ing")
        };
        let asks_with_do = is_do && asks && at + 2 < self.tags.len();
        let beside_verb = match is_have {
            true => is_participle(next),
            false => {
                next > at + 1 && self.tag(at + 1) == Some(PartOfSpeech::Particle)
                    || matches!(
                        self.tag(next),
                        Some(PartOfSpeech::Verb | PartOfSpeech::Auxiliary)
                    )
                    || asks_with_do
            }
        };
        if asks_with_do && !self.tags[at + 1..].contains(&PartOfSpeech::Verb) {
            self.find_verb_of_question(at);
        }
        let asks_with_have = is_have && asks && self.tags[at + 1..].contains(&PartOfSpeech::Verb);
        self.tags[at] = match beside_verb || asks_with_have {
            true => PartOfSpeech::Auxiliary,
            false => PartOfSpeech::Verb,
        };
    }
}
