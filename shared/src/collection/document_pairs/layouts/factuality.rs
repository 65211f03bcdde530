//! Factuality pairs: a true passage, and the same passage with the answer of another question. The
//! true passage is preferred.
//!
//! A row is a question, its answers and a passage with the answer, as made from Natural Questions
//! in the version of DPR (Kwiatkowski et al., TACL 2019; Karpukhin et al., EMNLP 2020):
//!
//! ```text
//! {"_id": "17", "question": "…", "answers": ["…"], "type": "PERSON", "passage_id": "3",
//!  "passage": "…"}
//! ```
//!
//! `_id` is the id of the question, which may have several rows; `type` is the entity type of the
//! answer. The answer is found in any case, and every occurrence is replaced by the answer of
//! another question with the same type and number of tokens, drawn with the ids of the question and
//! the passage.
//!
//! Deviations from the published code: an answer must match whole words, where the published code
//! replaced `Ann` within `Annual`; a token is a run without white space that has a letter or a
//! digit, and stop words count; every answer is equally likely, however many questions have it; and
//! an answer that differs only in case is never drawn.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{ConvertedPairDataset, DatasetTransferPair, RowExclusionReason};
use crate::collection::FileInput;
use crate::collection::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, feed_nonblank_lines_to_parser, quote_text,
    validate_record_id,
};
use crate::error::Error;

/// The maximum length of an answer, in bytes; those of Natural Questions have at most five tokens.
const ANSWER_BYTES: usize = 200;

/// The entity type of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Entity {
    /// A person.
    Person,
    /// A geopolitical entity: a country or a city.
    Gpe,
    /// Any other location.
    Loc,
    /// A nationality, a religious or a political group.
    Norp,
    /// An organization: a company or an authority.
    Org,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "_id")]
    id: String,
    question: String,
    answers: Vec<String>,
    #[serde(rename = "type")]
    entity: Entity,
    passage: String,
    passage_id: Option<String>,
}

/// A row with the answer of its question; `None` unless there is exactly one.
struct AnswerRow {
    row: Row,
    answer: Option<String>,
}

/// Answers that can replace each other, by type and number of tokens. Each is a pair of the
/// lower-case form and the answer, in the order of the lower-case form.
type Pools = BTreeMap<(Entity, usize), Vec<(String, String)>>;

/// Reads rows and replaces the answers in their passages. A row that gives no pair is counted by
/// the first reason that applies.
pub fn make_answer_replacement_pairs(
    file: FileInput<'_, impl Read>,
    seed: u64,
) -> Result<ConvertedPairDataset, Error> {
    let mut found = ConvertedPairDataset::default();
    let (mut rows, mut seen) = (Vec::new(), IdFirstOccurrences::default());
    let mut questions: BTreeMap<String, Question> = BTreeMap::new();
    found.reading = feed_nonblank_lines_to_parser(file, |line, text| {
        let asked = parse(text)?;
        let own = Question::of(&asked.row, line);
        let known = questions.entry(asked.row.id.clone()).or_insert(own);
        let mut asked = known.another(asked)?;
        let passage = asked.row.passage_id.take();
        let passage = passage.unwrap_or_else(|| known.n_rows.to_string());
        let id = format!("{}:{passage}", asked.row.id);
        seen.validate_and_insert_id(&id, line)?;
        known.n_rows += 1;
        asked.row.passage_id = Some(passage);
        rows.push(asked);
        Ok(AcceptedRowWarnings::new())
    })?;
    let pools = pools(&rows);
    for asked in &rows {
        match alter(asked, &pools, seed) {
            Ok(pair) => found.pairs.push(pair),
            Err(why) => found.count_excluded_row(why),
        }
    }
    Ok(found)
}

fn parse(text: &str) -> Result<AnswerRow, String> {
    const EXPECTED: &str = concat!(
        r#"a row is one JSON object, as in {"_id": "7", "question": "…", "answers": ["…"], "#,
        r#""type": "PERSON", "passage": "…"}"#
    );
    let row: Row = serde_json::from_str(text).map_err(|it| format!("{it}; {EXPECTED}"))?;
    validate_record_id(&row.id)?;
    for (field, text) in [("question", &row.question), ("passage", &row.passage)] {
        if text.trim().is_empty() {
            return Err(format!("{} is empty", quote_text(field)));
        }
    }
    let answer = match &row.answers[..] {
        [one] if n_tokens(one) == 0 => {
            return Err(format!("the answer {} contains no words", quote_text(one)));
        }
        [one] if one.len() > ANSWER_BYTES => {
            return Err(format!(
                "the answer {} has {} bytes; at most {ANSWER_BYTES} are allowed",
                quote_text(one),
                one.len()
            ));
        }
        [one] => Some(one.split_whitespace().collect::<Vec<_>>().join(" ")),
        _ => None,
    };
    Ok(AnswerRow { row, answer })
}

/// The fields that all rows of one question must share.
struct Question {
    question: String,
    answers: Vec<String>,
    entity: Entity,
    line: u64,
    n_rows: u64,
}

impl Question {
    fn of(row: &Row, line: u64) -> Question {
        Question {
            question: row.question.clone(),
            answers: row.answers.clone(),
            entity: row.entity,
            line,
            n_rows: 0,
        }
    }

    /// Checks a further row of the same question.
    fn another(&self, asked: AnswerRow) -> Result<AnswerRow, String> {
        let row = &asked.row;
        let same = (&self.question, &self.answers, self.entity)
            == (&row.question, &row.answers, row.entity);
        match same {
            true => Ok(asked),
            false => Err(format!(
                "{} has a different question, answers or type than in line {}: rows with the \
                 same `_id` must share them",
                quote_text(&row.id),
                self.line
            )),
        }
    }
}

fn pools(rows: &[AnswerRow]) -> Pools {
    let mut pools: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
    for AnswerRow { row, answer } in rows {
        let Some(answer) = answer else { continue };
        let pool = pools.entry((row.entity, n_tokens(answer))).or_default();
        let kept = pool
            .entry(answer.to_lowercase())
            .or_insert_with(|| answer.clone());
        // The smallest spelling is kept, so that the order of the rows does not matter.
        if *answer < *kept {
            kept.clone_from(answer);
        }
    }
    let pools = pools.into_iter();
    pools
        .map(|(of, it)| (of, it.into_iter().collect()))
        .collect()
}

/// Returns the pair of a row, or the reason why it has none.
fn alter(
    asked: &AnswerRow,
    pools: &Pools,
    seed: u64,
) -> Result<DatasetTransferPair, RowExclusionReason> {
    let row = &asked.row;
    let answer = asked
        .answer
        .as_deref()
        .ok_or(RowExclusionReason::NotOneAnswer)?;
    let pieces: Vec<&str> = answer.split(' ').collect();
    let found = places(&row.passage, &pieces);
    if found.is_empty() {
        return Err(RowExclusionReason::AnswerNotInPassage);
    }
    let asked_for = |it: &&str| has_word(it) && !places(&row.question, &[*it]).is_empty();
    if pieces.iter().any(asked_for) {
        return Err(RowExclusionReason::AnswerInQuestion);
    }
    let passage = row.passage_id.as_deref().unwrap_or_default();
    let other = draw(asked, answer, pools, seed).ok_or(RowExclusionReason::NoOtherAnswer)?;
    let (mut altered, mut from) = (String::new(), 0);
    for place in found {
        altered += &row.passage[from..place.start];
        altered += other;
        from = place.end;
    }
    altered += &row.passage[from..];
    Ok(DatasetTransferPair {
        id: format!("{}:{passage}", row.id),
        query: Some(row.question.clone()),
        a: row.passage.clone(),
        b: altered,
        group: Some(row.id.clone()),
    })
}

/// Draws the answer of another question.
fn draw<'a>(asked: &AnswerRow, answer: &str, pools: &'a Pools, seed: u64) -> Option<&'a str> {
    let row = &asked.row;
    let pool = pools.get(&(row.entity, n_tokens(answer)))?;
    let small = answer.to_lowercase();
    let own = pool.binary_search_by(|it| it.0.cmp(&small)).ok()?;
    let n_others = pool.len() - 1;
    let passage = row.passage_id.as_deref().unwrap_or_default();
    let digest = Sha256::digest(format!("{seed}\n{}\n{passage}", row.id));
    let drawn = u128::from(Pcg64::from_seed(digest.into()).next_u64());
    let place = ((drawn * n_others as u128) >> 64) as usize;
    let other = pool.get(place + usize::from(place >= own))?;
    Some(&other.1)
}

fn has_word(piece: &str) -> bool {
    piece.contains(char::is_alphanumeric)
}

fn n_tokens(text: &str) -> usize {
    text.split_whitespace().filter(|it| has_word(it)).count()
}

/// Returns the byte ranges, without overlaps, where the tokens occur one after another as whole
/// words, in any case and with or without white space between them.
fn places(text: &str, pieces: &[&str]) -> Vec<Range<usize>> {
    let inner = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    let joined = |a: Option<char>, b: Option<char>| inner(a) && inner(b);
    let first = pieces.first().and_then(|it| it.chars().next());
    let (mut found, mut from, mut before) = (Vec::new(), 0, None);
    for (at, letter) in text.char_indices() {
        if at >= from && !joined(before, first) {
            let cut =
                |end: usize| joined(text[..end].chars().next_back(), text[end..].chars().next());
            let end = end_of(&text[at..], pieces).map(|it| at + it);
            if let Some(end) = end.filter(|it| !cut(*it)) {
                found.push(at..end);
                from = end;
            }
        }
        before = Some(letter);
    }
    found
}

/// Returns the end of the tokens if the text begins with them.
fn end_of(text: &str, pieces: &[&str]) -> Option<usize> {
    let mut rest = text;
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            rest = rest.trim_start();
        }
        for wanted in piece.chars() {
            let mut letters = rest.chars();
            let letter = letters.next()?;
            if letter != wanted && !letter.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
            rest = letters.as_str();
        }
    }
    Some(text.len() - rest.len())
}
