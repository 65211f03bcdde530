//! What became of a text, word by word.

/// Words in a row with the same fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What became of them.
    pub(crate) fate: Fate,
    /// With single spaces.
    pub(crate) words: String,
    /// How many they are.
    pub(crate) n_words: u64,
}

/// What became of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Added,
    Dropped,
}

/// The most cells of the table that lines two texts up: 4 MB, a few milliseconds.
const MOST_CELLS: usize = 1 << 20;

/// The fewest words to drop and to add that make `after` of `before` (longest common
/// subsequence). None where the changed part is too long to line up.
pub(crate) fn difference(before: &str, after: &str) -> Option<Vec<Piece>> {
    let old: Vec<&str> = before.split_whitespace().collect();
    let new: Vec<&str> = after.split_whitespace().collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    if (old_middle.len() + 1).checked_mul(new_middle.len() + 1)? > MOST_CELLS {
        return None;
    }
    let mut pieces = Vec::new();
    old[..same]
        .iter()
        .for_each(|it| push(&mut pieces, Fate::Kept, it));
    line_up(old_middle, new_middle, |fate, word| {
        push(&mut pieces, fate, word)
    });
    new_rest[new_middle.len()..]
        .iter()
        .for_each(|it| push(&mut pieces, Fate::Kept, it));
    Some(pieces)
}

/// How many words have a fate.
pub(crate) fn n_words(pieces: &[Piece], fate: Fate) -> u64 {
    pieces
        .iter()
        .filter(|it| it.fate == fate)
        .map(|it| it.n_words)
        .sum()
}

fn line_up<'a>(old: &[&'a str], new: &[&'a str], mut take: impl FnMut(Fate, &'a str)) {
    let width = new.len() + 1;
    // longest[i][j]: common words of old[i..] and new[j..], in order.
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            take(Fate::Kept, old[i]);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            take(Fate::Dropped, old[i]);
            i += 1;
        } else {
            take(Fate::Added, new[j]);
            j += 1;
        }
    }
    old[i..].iter().for_each(|it| take(Fate::Dropped, it));
    new[j..].iter().for_each(|it| take(Fate::Added, it));
}

fn push(pieces: &mut Vec<Piece>, fate: Fate, word: &str) {
    match pieces.last_mut() {
        Some(last) if last.fate == fate => {
            last.words.push(' ');
            last.words.push_str(word);
            last.n_words += 1;
        }
        Some(_) | None => pieces.push(Piece {
            fate,
            words: word.to_owned(),
            n_words: 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        let pieces = difference(before, after).unwrap();
        let shown: Vec<String> = pieces
            .iter()
            .map(|it| match it.fate {
                Fate::Kept => it.words.clone(),
                Fate::Added => format!("+[{}]", it.words),
                Fate::Dropped => format!("-[{}]", it.words),
            })
            .collect();
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn words_are_lined_up() {
        check("a b c", "a b c", "a b c");
        check("a b c", "a x c", "a -[b] +[x] c");
        check(
            "the river bank",
            "the steep river bank river",
            "the +[steep] river bank +[river]",
        );
        check("", "a b", "+[a b]");
        check("a b", "", "-[a b]");
        check("a b a b c", "b a c", "-[a] b a -[b] c");
    }

    #[test]
    fn words_are_counted_by_fate() {
        let pieces = difference("a b c d", "a x y d").unwrap();
        let counts = [Fate::Kept, Fate::Added, Fate::Dropped].map(|it| n_words(&pieces, it));
        assert_eq!(counts, [2, 2, 2]);
    }

    #[test]
    fn two_long_texts_with_nothing_in_common_are_not_lined_up() {
        let (a, b) = ("a ".repeat(2000), "b ".repeat(2000));
        assert_eq!(difference(&a, &b), None);
        assert!(difference(&a, &format!("{a} b")).is_some());
    }
}
