//! The class of each word of a sentence.
//!
//! First each word for itself, by the dictionary or by its form; then the library's rules; then
//! what these leave wrong often, because their sources take it from the tree of the sentence:
//! `to`, `have`, `do`, and verbs that look like nouns.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Tag, lemmas, lexicon};

/// Classes of the words of a sentence.
pub(super) fn of(forms: &[&str]) -> Vec<Tag> {
    let spelt: Vec<String> = forms.iter().map(|it| it.replace('’', "'")).collect();
    let mut tags = lexicon::tag(&spelt);
    for (at, form) in spelt.iter().enumerate() {
        if let Some(fixed) = by_characters(form) {
            tags[at] = fixed;
        }
    }
    let lower: Vec<String> = spelt.iter().map(|it| it.to_lowercase()).collect();
    let mut sentence = Sentence { forms: lower, tags };
    for at in 0..forms.len() {
        sentence.mend_clitic(at);
        sentence.mend_ordinal(at);
        sentence.mend_both(at);
        sentence.mend_singular_verb(at);
        sentence.mend_infinitive(at);
    }
    sentence.find_missing_verb();
    for at in 0..forms.len() {
        sentence.mend_to(at);
        sentence.mend_auxiliary(at);
    }
    for at in 0..forms.len() {
        sentence.mend_preposition(at);
    }
    sentence.tags
}

/// The class of each word of a sentence before its neighbours are seen.
pub(super) fn alone(sentence: &[String]) -> Vec<Tag> {
    let is_capital = |it: &String| it.starts_with(char::is_uppercase);
    let n_capitals = sentence.iter().filter(|it| is_capital(it)).count();
    let n_words = sentence
        .iter()
        .filter(|it| it.starts_with(char::is_alphabetic))
        .count();
    // Where all is in capitals, or nothing, they say nothing.
    let capitals_name = n_capitals * 2 <= n_words.max(2);
    let lower_is_common = n_capitals > 0;
    let mut begins = true;
    let mut tags = Vec::with_capacity(sentence.len());
    for (at, form) in sentence.iter().enumerate() {
        let tag = by_characters(form).unwrap_or_else(|| {
            let lower = form.to_lowercase();
            let found = lexicon::commonest(&lower);
            if !is_capital(form) {
                return match found {
                    Some(Tag::ProperNoun) if lower_is_common => by_ending(&lower),
                    Some(tag) => tag,
                    None => by_ending(&lower),
                };
            }
            let next_is_capital = sentence.get(at + 1).is_some_and(is_capital);
            match found {
                Some(Tag::Noun | Tag::Verb) if capitals_name && !begins => Tag::ProperNoun,
                Some(Tag::Auxiliary) if capitals_name && !begins && lower == "may" => {
                    Tag::ProperNoun
                }
                Some(Tag::Pronoun) if begins && matches!(&*lower, "which" | "what") => {
                    let next = sentence.get(at + 1).map(|it| it.to_lowercase());
                    if next.is_some_and(|it| asks_for(&lower, &it)) {
                        Tag::Determiner
                    } else {
                        Tag::Pronoun
                    }
                }
                Some(tag) => tag,
                None if begins && !next_is_capital => first_unknown(&lower),
                None => Tag::ProperNoun,
            }
        });
        begins = tag == Tag::Punctuation && form != "," && (begins || form != "-");
        tags.push(tag);
    }
    tags
}

/// Whether `which` or `what` belongs to the noun after it: `which countries`, but `what causes`.
fn asks_for(word: &str, next: &str) -> bool {
    let is_noun = lexicon::commonest(next) == Some(Tag::Noun);
    let may_be_verb = next.ends_with('s') && lemmas::can_be_verb(&lemmas::of_verb(next));
    is_noun && (word == "which" || !may_be_verb)
}

/// The class of what is no word, or the particle `n't`.
fn by_characters(form: &str) -> Option<Tag> {
    let first = form.chars().next()?;
    if form.contains("://") || form.starts_with("www.") || form.len() > 3 && form.contains('@') {
        return Some(Tag::Other);
    }
    if first.is_ascii_digit() {
        let rest = form.trim_start_matches(|it: char| it.is_ascii_digit() || ".,:/".contains(it));
        return Some(match rest {
            "" => Tag::Numeral,
            "st" | "nd" | "rd" | "th" => Tag::Adjective,
            "s" | "'s" => Tag::Noun,
            _ if rest.starts_with(['-', '–']) => {
                let is_number = rest
                    .chars()
                    .all(|it| it.is_ascii_digit() || "-–.,".contains(it));
                if is_number {
                    Tag::Numeral
                } else {
                    Tag::Adjective
                }
            }
            _ => Tag::Noun,
        });
    }
    if form == "n't" {
        return Some(Tag::Particle);
    }
    if form.contains(char::is_alphanumeric) {
        return None;
    }
    match first.general_category_group() {
        GeneralCategoryGroup::Symbol => Some(Tag::Symbol),
        GeneralCategoryGroup::Punctuation if matches!(first, '%' | '#' | '@' | '&' | '§') => {
            Some(if first == '&' {
                Tag::Conjunction
            } else {
                Tag::Symbol
            })
        }
        GeneralCategoryGroup::Punctuation => Some(Tag::Punctuation),
        GeneralCategoryGroup::Letter
        | GeneralCategoryGroup::Mark
        | GeneralCategoryGroup::Number
        | GeneralCategoryGroup::Separator
        | GeneralCategoryGroup::Other => Some(Tag::Other),
    }
}

/// The class of a form in lower case that the dictionary does not have, or has as a name only.
fn by_ending(lower: &str) -> Tag {
    if let Some((head, last)) = lower.rsplit_once(['-', '\u{2010}', '\u{2011}']) {
        let number = lexicon::commonest(head) == Some(Tag::Numeral);
        return match lexicon::commonest(last).unwrap_or_else(|| by_ending(last)) {
            Tag::Noun if number => Tag::Adjective,
            Tag::Verb if last.ends_with("ed") || last.ends_with("ing") => Tag::Adjective,
            Tag::Verb | Tag::Noun => Tag::Noun,
            Tag::Numeral => Tag::Numeral,
            Tag::Adverb => Tag::Adverb,
            _ => Tag::Adjective,
        };
    }
    let is_verb = |form: &str| lexicon::commonest(form) == Some(Tag::Verb);
    if lower.len() > 3 && lower.ends_with('s') && !lower.ends_with("ss") {
        let base = lemmas::of_verb(lower);
        return if is_verb(&base) { Tag::Verb } else { Tag::Noun };
    }
    let ends = |endings: &[&str]| {
        endings
            .iter()
            .any(|it| lower.len() > it.len() + 2 && lower.ends_with(it))
    };
    if ends(&["ly"]) {
        return Tag::Adverb;
    }
    if ends(&["ed", "ing", "ize", "ise", "ify"]) {
        return Tag::Verb;
    }
    if ends(&[
        "ous", "ful", "less", "able", "ible", "ive", "ish", "ic", "ical", "ial", "ary",
    ]) {
        return Tag::Adjective;
    }
    for prefix in ["un", "re", "over", "under", "mis", "out", "dis", "pre"] {
        if let Some(base) = lower.strip_prefix(prefix).filter(|it| it.len() > 2)
            && let Some(tag @ (Tag::Verb | Tag::Adjective)) = lexicon::commonest(base)
        {
            return tag;
        }
    }
    Tag::Noun
}

/// An unknown word in capitals, at the start of a sentence: a name, unless it is formed like
/// another word.
fn first_unknown(lower: &str) -> Tag {
    let singular = lemmas::of_noun(lower);
    if *singular != *lower {
        return Tag::Noun;
    }
    let is_noun = [
        "tion", "sion", "ness", "ity", "ism", "ment", "sis", "logy", "ure", "ance",
    ]
    .iter()
    .any(|it| lower.len() > it.len() + 2 && lower.ends_with(it));
    match by_ending(lower) {
        Tag::Noun if is_noun => Tag::Noun,
        Tag::Noun => Tag::ProperNoun,
        other => other,
    }
}

struct Sentence {
    /// In lower case, with straight apostrophes.
    forms: Vec<String>,
    tags: Vec<Tag>,
}

impl Sentence {
    fn form(&self, at: usize) -> &str {
        self.forms.get(at).map_or("", String::as_str)
    }

    fn tag(&self, at: usize) -> Option<Tag> {
        self.tags.get(at).copied()
    }

    fn form_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |it| self.form(it))
    }

    fn before(&self, at: usize) -> Option<Tag> {
        at.checked_sub(1).and_then(|it| self.tag(it))
    }

    /// `'s` is `is` or `has` after a pronoun, otherwise the genitive.
    fn mend_clitic(&mut self, at: usize) {
        match self.form(at) {
            "'s" if at > 0 => {
                let is_verb = match self.tags[at - 1] {
                    Tag::Pronoun => true,
                    Tag::Adverb => matches!(self.form(at - 1), "here" | "where" | "how" | "when"),
                    _ => false,
                };
                self.tags[at] = match self.form(at - 1) {
                    "let" => Tag::Pronoun,
                    "one" | "someone" | "everyone" | "anyone" | "nobody" => Tag::Particle,
                    _ if is_verb => Tag::Auxiliary,
                    _ => Tag::Particle,
                };
            }
            "'re" | "'ve" | "'ll" | "'d" | "'m" => self.tags[at] = Tag::Auxiliary,
            // The genitive of a plural.
            "'" if self.before(at) == Some(Tag::Noun)
                && self.form_before(at).ends_with('s')
                && self.tag(at + 1) == Some(Tag::Noun) =>
            {
                self.tags[at] = Tag::Particle;
            }
            _ => {}
        }
    }

    /// `moves` between a noun in the singular and what a verb takes: the base is a verb.
    fn mend_singular_verb(&mut self, at: usize) {
        let form = self.form(at);
        if self.tags[at] != Tag::Noun || at == 0 || !form.ends_with('s') {
            return;
        }
        let base = lemmas::of_verb(form);
        let is_verb = *base != *form && lexicon::commonest(&base) == Some(Tag::Verb);
        let can_be = *base != *form && lemmas::can_be_verb(&base);
        let previous = self.form(at - 1);
        let subject = match self.tags[at - 1] {
            Tag::Noun | Tag::ProperNoun => !previous.ends_with('s'),
            Tag::Pronoun => {
                matches!(
                    previous,
                    "he" | "she" | "it" | "who" | "which" | "that" | "what"
                )
            }
            _ => false,
        };
        let takes = match self.tag(at + 1) {
            Some(Tag::Adposition) => self.form(at + 1) != "of",
            Some(
                Tag::Determiner
                | Tag::Pronoun
                | Tag::Subordinator
                | Tag::Adverb
                | Tag::Numeral
                | Tag::Adjective
                | Tag::Particle,
            ) => true,
            _ => false,
        };
        let takes_object = self.takes_object(at) || self.form(at + 1) == "that";
        let follows_pronoun = self.tags[at - 1] == Tag::Pronoun;
        if subject && (is_verb && takes || can_be && (takes_object || follows_pronoun)) {
            self.tags[at] = Tag::Verb;
        }
    }

    /// An article or the like follows.
    fn takes_object(&self, at: usize) -> bool {
        match self.tag(at + 1) {
            Some(Tag::Determiner) => true,
            Some(Tag::Pronoun) => self.form(at + 1) != "that" && self.form(at + 1) != "which",
            _ => false,
        }
    }

    /// `open` and `rest` in `do n't open`, `may rest`, `to open the`, `birds rest their`.
    fn mend_infinitive(&mut self, at: usize) {
        let can_be = matches!(self.tags[at], Tag::Noun | Tag::Adjective)
            && !self.form(at).ends_with('s')
            && lemmas::can_be_verb(self.form(at));
        if at == 0 || !can_be {
            return;
        }
        let mut before = at - 1;
        while before > 0
            && matches!(self.tags[before], Tag::Adverb | Tag::Particle)
            && self.form(before) != "to"
        {
            before -= 1;
        }
        let negated = matches!(self.form(at - 1), "n't" | "not");
        let asked = match self.form(before) {
            "can" | "ca" | "could" | "will" | "'ll" | "wo" | "would" | "shall" | "should"
            | "might" | "must" => true,
            "may" => self.tags[before] == Tag::Auxiliary,
            "do" | "does" | "did" => negated,
            "to" => self.takes_object(at) || self.tag(at + 1) == Some(Tag::Numeral),
            "i" | "you" | "we" | "they" => self.takes_object(at),
            form => self.tags[before] == Tag::Noun && form.ends_with('s') && self.takes_object(at),
        };
        if asked {
            self.tags[at] = Tag::Verb;
        }
    }

    /// `one third of`, `per second`: ordinals without a noun of their own.
    fn mend_ordinal(&mut self, at: usize) {
        let is_ordinal = matches!(
            self.form(at),
            "second" | "third" | "thirds" | "fourth" | "fifth" | "quarter" | "quarters" | "tenth"
        );
        let counts = matches!(self.before(at), Some(Tag::Numeral)) || self.form_before(at) == "per";
        let has_noun = matches!(
            self.tag(at + 1),
            Some(Tag::Noun | Tag::ProperNoun | Tag::Adjective)
        );
        if is_ordinal && counts && !has_noun {
            self.tags[at] = Tag::Noun;
        }
    }

    /// `both` and the like are articles where no `and` follows.
    fn mend_both(&mut self, at: usize) {
        if !matches!(self.form(at), "both" | "either" | "neither") {
            return;
        }
        let links = self.forms[at..]
            .iter()
            .take(4)
            .any(|it| matches!(it.as_str(), "and" | "or" | "nor"));
        let before_noun = matches!(self.tag(at + 1), Some(Tag::Noun | Tag::Adjective));
        if before_noun && !links {
            self.tags[at] = Tag::Determiner;
        }
    }

    /// `as`, `before` and the like are prepositions unless a clause follows: before the next mark
    /// a verb comes after its subject.
    fn mend_preposition(&mut self, at: usize) {
        let either = matches!(
            self.form(at),
            "as" | "before" | "after" | "since" | "until" | "till"
        );
        if !either || !matches!(self.tags[at], Tag::Adposition | Tag::Subordinator) {
            return;
        }
        let clause = (at + 2..self.tags.len())
            .take_while(|&it| {
                !matches!(
                    self.tags[it],
                    Tag::Punctuation | Tag::Conjunction | Tag::Subordinator
                ) && !matches!(self.form(it), "who" | "which" | "that")
            })
            .any(|it| {
                let finite = match self.tags[it] {
                    Tag::Auxiliary => true,
                    Tag::Verb => !self.form(it).ends_with("ing") && self.form(it - 1) != "to",
                    _ => false,
                };
                let has_subject = matches!(
                    self.tags[it - 1],
                    Tag::Noun | Tag::ProperNoun | Tag::Pronoun | Tag::Adverb
                );
                finite && has_subject
            });
        self.tags[at] = match clause {
            true => Tag::Subordinator,
            false => Tag::Adposition,
        };
    }

    /// A sentence has a verb. If none was found, it is the first word that can be one.
    fn find_missing_verb(&mut self) {
        let closed = matches!(self.forms.last().map(String::as_str), Some("." | "?" | "!"));
        let has_verb = self
            .tags
            .iter()
            .any(|it| matches!(it, Tag::Verb | Tag::Auxiliary));
        if !closed || has_verb || self.tags.len() < 4 {
            return;
        }
        let found = (1..self.tags.len() - 1).find(|&at| {
            let before = self.form(at - 1);
            let subject = match self.tags[at - 1] {
                Tag::Noun => before.ends_with('s') != self.form(at).ends_with('s'),
                Tag::Pronoun => !is_possessive(before),
                Tag::ProperNoun => self.form(at).ends_with('s') || self.form(at).ends_with("ed"),
                _ => false,
            };
            let takes = !matches!(
                self.tags[at + 1],
                Tag::Punctuation | Tag::Conjunction | Tag::Particle
            ) && self.form(at + 1) != "of";
            matches!(self.tags[at], Tag::Noun | Tag::Adjective) && subject && takes
        });
        if let Some(at) = found {
            self.tags[at] = Tag::Verb;
        }
    }

    /// The verb that belongs to the `do` of a question.
    fn find_verb_of_question(&mut self, at: usize) {
        let found = (at + 2..self.tags.len()).find(|&it| {
            matches!(self.tags[it], Tag::Noun | Tag::Adjective)
                && matches!(
                    self.tags[it - 1],
                    Tag::Noun | Tag::ProperNoun | Tag::Pronoun
                )
                && lemmas::can_be_verb(self.form(it))
        });
        if let Some(verb) = found {
            self.tags[verb] = Tag::Verb;
        }
    }

    /// `to` is a particle before a verb and a preposition elsewhere.
    fn mend_to(&mut self, at: usize) {
        if self.form(at) != "to" {
            return;
        }
        let next = (at + 1..self.tags.len()).find(|&it| self.tags[it] != Tag::Adverb);
        self.tags[at] = match next.and_then(|it| self.tag(it)) {
            Some(Tag::Verb | Tag::Auxiliary) => Tag::Particle,
            Some(_) => Tag::Adposition,
            None => Tag::Particle,
        };
    }

    /// `have` and `do` are auxiliaries beside a verb; `be` always is.
    fn mend_auxiliary(&mut self, at: usize) {
        let form = self.form(at);
        let is_have = matches!(form, "have" | "has" | "had");
        let is_do = matches!(form, "do" | "does" | "did");
        if matches!(form, "be" | "is" | "are" | "was" | "were" | "been" | "am") {
            self.tags[at] = Tag::Auxiliary;
            return;
        }
        if !is_have && !is_do {
            return;
        }
        // What stands between it and the verb: `had already seen`, `did he see`.
        let mut next = at + 1;
        while let Some(Tag::Adverb | Tag::Particle) = self.tag(next)
            && self.form(next) != "to"
        {
            next += 1;
        }
        let asks = at == 0
            || matches!(self.before(at), Some(Tag::Punctuation))
            || matches!(
                self.form_before(at),
                "how" | "why" | "where" | "when" | "what" | "who"
            );
        let is_participle = |at: usize| {
            self.form(at) == "been"
                || matches!(self.tag(at), Some(Tag::Verb)) && !self.form(at).ends_with("ing")
        };
        let asks_with_do = is_do && asks && at + 2 < self.tags.len();
        let beside_verb = match is_have {
            true => is_participle(next),
            false => {
                next > at + 1 && self.tag(at + 1) == Some(Tag::Particle)
                    || matches!(self.tag(next), Some(Tag::Verb | Tag::Auxiliary))
                    || asks_with_do
            }
        };
        if asks_with_do && !self.tags[at + 1..].contains(&Tag::Verb) {
            self.find_verb_of_question(at);
        }
        let asks_with_have = is_have && asks && self.tags[at + 1..].contains(&Tag::Verb);
        self.tags[at] = match beside_verb || asks_with_have {
            true => Tag::Auxiliary,
            false => Tag::Verb,
        };
    }
}

/// `my`, `their`: pronouns that stand like an article.
pub(super) fn is_possessive(lower: &str) -> bool {
    matches!(
        lower,
        "my" | "your" | "his" | "her" | "its" | "our" | "their" | "whose"
    )
}
