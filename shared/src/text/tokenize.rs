//! Tokens of a text with their positions.

use unicode_segmentation::UnicodeSegmentation;

use super::{ByteSpan, Tokenizer};

/// Calls `take` with each token, in lower case, and its position in the original text.
pub(super) fn for_each_lowercase_token(
    tokenizer: &Tokenizer,
    text: &str,
    take: impl FnMut(&str, ByteSpan),
) {
    match tokenizer {
        Tokenizer::Alnum => alnum(text, take),
        Tokenizer::Unicode => words(text, take),
        Tokenizer::Wordpiece(pieces) => pieces.for_each_token(text, take),
    }
}

/// Maps a byte to its ASCII lower-case letter or digit, or to 0 where a token can end.
const LOWER: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

fn alnum(text: &str, mut take: impl FnMut(&str, ByteSpan)) {
    let bytes = text.as_bytes();
    let mut token = String::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let run = &bytes[at..];
        let run = &run[..run
            .iter()
            .position(|&it| LOWER[it as usize] == 0)
            .unwrap_or(run.len())];
        let stop = at + run.len();
        let next = bytes.get(stop).copied();
        if !run.is_empty() {
            if token.is_empty() {
                start = at;
            }
            // Most tokens are lower case in the text already and need no copy.
            let whole = token.is_empty() && next.is_none_or(|it| it.is_ascii());
            if whole && run.iter().all(|&it| LOWER[it as usize] == it) {
                take(
                    &text[at..stop],
                    ByteSpan {
                        start: at as u32,
                        end: stop as u32,
                    },
                );
            } else {
                token.push_str(&text[at..stop]);
                token.make_ascii_lowercase();
            }
        }
        at = stop;
        let Some(next) = next else { break };
        if next.is_ascii() {
            end(&mut token, start, at, &mut take);
            at += 1;
            continue;
        }
        // The lower-case form of a non-ASCII letter can contain an ASCII letter.
        let letter = text[at..]
            .chars()
            .next()
            .expect("`at` stands on a character");
        let after = at + letter.len_utf8();
        for lower in letter.to_lowercase() {
            if lower.is_ascii_alphanumeric() {
                if token.is_empty() {
                    start = at;
                }
                token.push(lower);
            } else {
                // The token ends after this character if it started in it, otherwise before it.
                let stop = if start == at && !token.is_empty() {
                    after
                } else {
                    at
                };
                end(&mut token, start, stop, &mut take);
            }
        }
        at = after;
    }
    end(&mut token, start, bytes.len(), &mut take);
}

fn end(token: &mut String, start: usize, stop: usize, take: &mut impl FnMut(&str, ByteSpan)) {
    if !token.is_empty() {
        take(
            token,
            ByteSpan {
                start: start as u32,
                end: stop as u32,
            },
        );
        token.clear();
    }
}

fn words(text: &str, mut take: impl FnMut(&str, ByteSpan)) {
    for (start, word) in text.unicode_word_indices() {
        let span = ByteSpan {
            start: start as u32,
            end: (start + word.len()) as u32,
        };
        take(&word.to_lowercase(), span);
    }
}
