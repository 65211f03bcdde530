//! Which parts of a Rust file are code: everything but comments and string literals.

/// A file with its comments and the contents of its literals blanked.
pub(super) struct MaskedSource {
    /// Line for line as in the file.
    pub(super) lines: Vec<String>,
    /// For each line, whether it begins inside a string: a fixture or a snapshot, which cannot
    /// be broken where one likes.
    pub(super) continues_string: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LexerState {
    Code,
    LineComment,
    /// Block comments nest.
    BlockComment {
        depth: usize,
    },
    Text,
    RawText {
        n_hashes: usize,
    },
}

/// Reads a file as the compiler's lexer would, as far as that matters here.
pub(super) fn mask_source(text: &str) -> MaskedSource {
    let chars: Vec<char> = text.chars().collect();
    let starts_with = |at: usize, what: &str| {
        what.chars()
            .enumerate()
            .all(|(offset, c)| chars.get(at + offset) == Some(&c))
    };
    let mut code = MaskedSource {
        lines: vec![String::new()],
        continues_string: vec![false],
    };
    let mut inside = LexerState::Code;
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let mut n_taken = 1;
        let mut shown = false;
        match inside {
            LexerState::Code => {
                shown = true;
                if starts_with(at, "//") {
                    inside = LexerState::LineComment;
                    shown = false;
                } else if starts_with(at, "/*") {
                    inside = LexerState::BlockComment { depth: 1 };
                    n_taken = 2;
                    shown = false;
                } else if let Some(n_hashes) = raw_text(&chars, at) {
                    inside = LexerState::RawText { n_hashes };
                    n_taken = n_hashes + 2;
                } else if c == '"' {
                    inside = LexerState::Text;
                } else if c == '\'' {
                    n_taken = character(&chars, at);
                    shown = n_taken == 1;
                }
            }
            LexerState::LineComment if c == '\n' => inside = LexerState::Code,
            LexerState::LineComment => {}
            LexerState::BlockComment { depth } => {
                if starts_with(at, "*/") {
                    n_taken = 2;
                    inside = match depth {
                        1 => LexerState::Code,
                        _ => LexerState::BlockComment { depth: depth - 1 },
                    };
                } else if starts_with(at, "/*") {
                    n_taken = 2;
                    inside = LexerState::BlockComment { depth: depth + 1 };
                }
            }
            LexerState::Text if c == '\\' && chars.get(at + 1) != Some(&'\n') => n_taken = 2,
            LexerState::Text => {
                if c == '"' {
                    inside = LexerState::Code;
                    shown = true;
                }
            }
            LexerState::RawText { n_hashes } => {
                if c == '"' && starts_with(at + 1, &"#".repeat(n_hashes)) {
                    n_taken = n_hashes + 1;
                    inside = LexerState::Code;
                    shown = true;
                }
            }
        }
        for &c in chars.iter().skip(at).take(n_taken) {
            if c == '\n' {
                code.lines.push(String::new());
                code.continues_string.push(matches!(
                    inside,
                    LexerState::Text | LexerState::RawText { .. }
                ));
            } else if let Some(line) = code.lines.last_mut() {
                line.push(if shown { c } else { ' ' });
            }
        }
        at += n_taken;
    }
    code
}

/// How many `#` the raw string has that opens at `at`, if one does: `r#"` has one.
fn raw_text(chars: &[char], at: usize) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = at.checked_sub(1).map(|it| chars[it]);
    if chars[at] != 'r' || before.is_some_and(|c| is_part(c) && !"bc".contains(c)) {
        return None;
    }
    let n_hashes = chars[at + 1..].iter().take_while(|it| **it == '#').count();
    (chars.get(at + 1 + n_hashes) == Some(&'"')).then_some(n_hashes)
}

/// How many characters the character literal has that opens at `at`; 1 if it is a lifetime.
fn character(chars: &[char], at: usize) -> usize {
    let closes = |from: usize| {
        let rest = chars.get(from..).unwrap_or_default();
        rest.iter()
            .position(|it| *it == '\'')
            .map(|it| from + it + 1 - at)
    };
    match chars.get(at + 1) {
        Some('\\') => closes(at + 3).unwrap_or(1),
        Some(_) if chars.get(at + 2) == Some(&'\'') => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lines = mask_source(text).lines;
        let shown: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        assert_eq!(shown.join("\n"), expected);
    }

    #[test]
    fn comments_are_blank() {
        check("a // b\nc", "a\nc");
        check("a /* b /* c */ d\n e */ f", "a\n      f");
        check("\"//\" a", "\"  \" a");
    }

    #[test]
    fn contents_of_strings_are_blank() {
        check(r#"f("a \" b", c)"#, r#"f("      ", c)"#);
        check("r#\"a \" b\"# c", "r#\"     \"# c");
        check("r#type \"a\"", "r#type \" \"");
    }

    #[test]
    fn characters_are_no_strings_and_lifetimes_no_characters() {
        check("'\"' a '\\'' b '\\u{1f}' c", "    a      b          c");
        check("f::<'a, 'b>(\"c\")", "f::<'a, 'b>(\" \")");
    }

    #[test]
    fn lines_that_begin_inside_a_string_are_known() {
        assert_eq!(
            mask_source("f(\"\na\n\")\nb").continues_string,
            [false, true, true, false]
        );
        assert_eq!(
            mask_source("f(r\"\na\")\n// \"\nb").continues_string,
            [false, true, false, false]
        );
        assert_eq!(
            mask_source("f(\"a \\\n b\")").continues_string,
            [false, true]
        );
    }
}
