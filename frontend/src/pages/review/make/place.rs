//! An instance as a curator names it.

use shared::error::Error;
use shared::probe::Mode;
use shared::review::task::Place;

use crate::page::Page;

/// The instance that is meant: by the address of its page, or as `tfc1 fixed 12`.
pub(super) fn place(text: &str, study: &str) -> Result<Place, String> {
    let help = "paste the address of an instance of this study, or write probe, reading and \
                number: tfc1 fixed 12";
    let text = text.trim();
    let parts = match text.find("/study/") {
        Some(at) => {
            let path = text[at..].split(['?', '#']).next().unwrap_or_default();
            let [of, probe, mode, number] = Page::instance_at(path).ok_or(help)?;
            if of != study {
                return Err(format!(
                    "it is an instance of {of}, and the task is of {study}"
                ));
            }
            [unescaped(probe), mode.to_owned(), number.to_owned()]
        }
        None => {
            let words: Vec<&str> = text.split_whitespace().collect();
            match words[..] {
                [probe, mode, number] => [probe, mode, number].map(str::to_owned),
                _ => return Err(help.to_owned()),
            }
        }
    };
    let [probe, mode, number] = parts;
    let known = Mode::ALL.iter().find(|it| it.name() == mode);
    Ok(Place {
        probe: probe.parse().map_err(|it: Error| it.to_string())?,
        mode: *known.ok_or_else(|| format!("there is no reading named `{mode}`"))?,
        number: number
            .parse()
            .map_err(|_| format!("`{number}` is no number of an instance"))?,
    })
}

/// Reads `%3A` as it is meant; what is no such sequence stays.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = hex.and_then(|it| u8::from_str_radix(it, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Probe;

    #[test]
    fn an_instance_is_found_by_its_address() {
        let address = "https://example.org/study/demo/tfc1/fixed/instance/12?delta=3#x";
        let found = place(address, "demo").unwrap();
        assert_eq!((found.probe, found.number), (Probe::Tfc1, 12));
        assert_eq!(place("TFC1 fixed 12", "demo").unwrap(), found);
        assert!(place(address, "other").unwrap_err().contains("demo"));
        for none in [
            "",
            "tfc1 fixed",
            "tfc1 loose 1",
            "nothing fixed 1",
            "tfc1 fixed x",
        ] {
            assert!(place(none, "demo").is_err(), "{none}");
        }
        assert_eq!(unescaped("match%3Alength"), "match:length");
        assert_eq!(unescaped("100%"), "100%");
    }
}
