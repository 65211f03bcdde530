//! The path of a site on its host.

use std::str::FromStr;

/// A path that begins with a slash and ends before one, as in `/some/path`; empty for the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BasePath(String);

impl BasePath {
    /// Returns the path without a slash at its end.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BasePath {
    type Err = String;

    fn from_str(text: &str) -> Result<BasePath, String> {
        let path = text.strip_suffix('/').unwrap_or(text);
        // The path is written into pages and scripts, so that nothing in it may need escaping.
        let is_plain = |part: &str| {
            let is_known = |it: char| it.is_ascii_alphanumeric() || "-_.~".contains(it);
            !part.is_empty() && part != "." && part != ".." && part.chars().all(is_known)
        };
        let is_valid = match path.strip_prefix('/') {
            Some(parts) => parts.split('/').all(is_plain),
            None => text == "/",
        };
        match is_valid {
            true => Ok(BasePath(path.to_owned())),
            false => Err(
                "write a path such as /some/path/, of letters, digits and -_.~, or / for \
                          the root of the host"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_needs_no_escaping() {
        for (text, path) in [
            ("/", ""),
            ("/a/", "/a"),
            ("/some/path-1.0", "/some/path-1.0"),
        ] {
            assert_eq!(text.parse(), Ok(BasePath(path.to_owned())), "{text}");
        }
        for text in [
            "",
            "a/",
            "//",
            "/a//b/",
            "/../",
            "/a b/",
            "/\"/",
            "/a'/",
            "https://x/",
        ] {
            assert!(text.parse::<BasePath>().is_err(), "{text}");
        }
    }
}
