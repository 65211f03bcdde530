//! Escaping of text in HTML and SVG.

/// Returns `text` escaped for HTML, SVG and XML, in content and in quoted attributes. Characters
/// that are invalid in XML become `�`, as do those that change the direction of the following text
/// (Unicode Bidirectional Algorithm, UAX 9), since they could make a row misleading.
pub fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(shown(char)),
        }
    }
    out
}

/// Returns `text` on one line, for formats in which a line is a row: line breaks and tabs become
/// spaces, and characters are replaced as in [`escape_markup`].
pub(crate) fn collapse_to_one_line(text: &str) -> String {
    let space = |char| {
        matches!(
            char,
            '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    text.chars()
        .map(|it| if space(it) { ' ' } else { shown(it) })
        .collect()
}

fn shown(char: char) -> char {
    match char {
        '\n' | '\r' | '\t' => char,
        '\u{200e}' | '\u{200f}' | '\u{61c}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ if char.is_control() => '\u{fffd}',
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_users_is_never_markup() {
        let escaped = escape_markup("<script a='b' c=\"d\">&amp;\u{0}\u{202e}</script>\n");
        let expected = "&lt;script a=&#39;b&#39; c=&quot;d&quot;&gt;&amp;amp;��&lt;/script&gt;\n";
        assert_eq!(escaped, expected);
    }

    #[test]
    fn a_text_of_many_lines_stays_in_its_row() {
        assert_eq!(
            collapse_to_one_line("a\r\nb\tc\u{2028}d\u{1b}"),
            "a  b c d�"
        );
    }
}
