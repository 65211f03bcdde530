//! References to instances, as curators type them.

use shared::annotation::task::StudyInstanceRef;
use shared::error::Error;
use shared::probe::AxiomVariant;

use crate::old_addresses::present_address;
use crate::pages::study::address::variant_from_address;
use crate::routes::{PageRoute, parse_parameters};

/// Parses a reference to an instance: the address of its page, or `tfc1 fixed 12`.
pub(super) fn parse_instance_reference(
    text: &str,
    study: &str,
) -> Result<StudyInstanceRef, String> {
    let help = "enter the address of an instance of this study, or its probe, variant and \
         number, for example: tfc1 fixed 12";
    let text = text.trim();
    let at = ["/studies/", "/study/"].iter().find_map(|it| text.find(it));
    if let Some(at) = at {
        let address = text[at..].split('#').next().unwrap_or_default();
        let (path, search) = address.split_once('?').unwrap_or((address, ""));
        let present = present_address(path, search);
        let (path, search) = match &present {
            Some(present) => present.split_once('?').unwrap_or((present, "")),
            None => (path, search),
        };
        let parameters = parse_parameters(search);
        let get = |key: &str| {
            let found = parameters.iter().find(|it| it.0 == key);
            found.map(|it| it.1.clone())
        };
        return match (PageRoute::parse(path, search), variant_from_address(&get)) {
            (Some(PageRoute::Instance { study: of, .. }), _) if of != study => Err(format!(
                "this instance belongs to study {of}, but the task samples study {study}; choose \
                 an instance of {study}"
            )),
            (Some(PageRoute::Instance { probe, number, .. }), Some(variant)) => {
                Ok(StudyInstanceRef {
                    probe,
                    variant,
                    index: number,
                })
            }
            _ => Err(help.to_owned()),
        };
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [probe, mode, number] = words[..] else {
        return Err(help.to_owned());
    };
    let known = AxiomVariant::ALL.iter().find(|it| it.slug() == mode);
    Ok(StudyInstanceRef {
        probe: probe.parse().map_err(|it: Error| it.to_string())?,
        variant: *known.ok_or_else(|| {
            format!(
                "there is no variant named `{mode}`; use fixed, paper, paper-rennings2019 or code"
            )
        })?,
        index: number.parse().map_err(|_| {
            format!("`{number}` is not an instance number; enter a whole number of at least 0")
        })?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;
    use shared::probe::Probe;

    #[test]
    fn an_instance_is_found_by_its_address() {
        let address =
            "https://example.org/studies/demo/probes/tfc1/instances/12?ranker=ql&variant=fixed#x";
        let found = parse_instance_reference(address, "demo").unwrap();
        assert_eq!((found.probe, found.index), (Probe::Axiom(Axiom::Tfc1), 12));
        let old = "https://example.org/study/demo/tfc1/fixed/instance/12?delta=3#x";
        assert_eq!(parse_instance_reference(old, "demo").unwrap(), found);
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
            "https://example.org/studies/demo/probes/tfc1/instances/12",
            "https://example.org/studies/demo",
            "tfc1 fixed",
            "tfc1 loose 1",
            "nothing fixed 1",
            "tfc1 fixed x",
        ] {
            assert!(parse_instance_reference(none, "demo").is_err(), "{none}");
        }
    }
}
