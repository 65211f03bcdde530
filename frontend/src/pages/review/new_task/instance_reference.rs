//! References to instances, as curators type them.

use shared::annotation::task::StudyInstanceRef;
use shared::error::Error;
use shared::probe::AxiomVariant;

use crate::routes::PageRoute;

/// Parses a reference to an instance: the address of its page, or `tfc1 fixed 12`.
pub(super) fn parse_instance_reference(
    text: &str,
    study: &str,
) -> Result<StudyInstanceRef, String> {
    let help = "enter the address of an instance of this study, or its probe, variant and \
         number, for example: tfc1 fixed 12";
    let text = text.trim();
    if let Some(at) = text.find("/study/") {
        let path = text[at..].split(['?', '#']).next().unwrap_or_default();
        return match PageRoute::parse(path) {
            Some(PageRoute::Instance {
                study: of,
                probe,
                mode,
                number,
            }) if of == study => Ok(StudyInstanceRef {
                probe,
                variant: mode,
                index: number,
            }),
            Some(PageRoute::Instance { study: of, .. }) => Err(format!(
                "this instance belongs to {of}, but the task to {study}"
            )),
            _ => Err(help.to_owned()),
        };
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [probe, mode, number] = words[..] else {
        return Err(help.to_owned());
    };
    let known = AxiomVariant::ALL.iter().find(|it| it.name() == mode);
    Ok(StudyInstanceRef {
        probe: probe.parse().map_err(|it: Error| it.to_string())?,
        variant: *known.ok_or_else(|| format!("there is no variant named `{mode}`"))?,
        index: number
            .parse()
            .map_err(|_| format!("`{number}` is not an instance number"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;
    use shared::probe::Probe;

    #[test]
    fn an_instance_is_found_by_its_address() {
        let address = "https://example.org/study/demo/tfc1/fixed/instance/12?delta=3#x";
        let found = parse_instance_reference(address, "demo").unwrap();
        assert_eq!((found.probe, found.index), (Probe::Axiom(Axiom::Tfc1), 12));
        assert_eq!(
            parse_instance_reference("TFC1 fixed 12", "demo").unwrap(),
            found
        );
        assert!(
            parse_instance_reference(address, "other")
                .unwrap_err()
                .contains("demo")
        );
        for none in [
            "",
            "tfc1 fixed",
            "tfc1 loose 1",
            "nothing fixed 1",
            "tfc1 fixed x",
        ] {
            assert!(parse_instance_reference(none, "demo").is_err(), "{none}");
        }
    }
}
