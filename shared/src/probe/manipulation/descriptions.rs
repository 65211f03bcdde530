//! Descriptions of the manipulations. A row of `about.tsv` has the slug, the name and a statement.

use std::sync::LazyLock;

use super::Manipulation;
use crate::probe::ProbeDescription;

/// The description of each manipulation, by the word of its slug.
static ALL: LazyLock<Vec<(&str, ProbeDescription)>> = LazyLock::new(|| {
    let rows = include_str!("about.tsv").lines();
    let cells = rows.map(|it| {
        let mut cells = it.splitn(3, '\t');
        [(); 3].map(|()| cells.next().unwrap_or_default())
    });
    let about = cells.map(|[word, name, statement]| (word, about(name, statement)));
    about.collect()
});

/// Returns a description with the fields that all manipulations share.
fn about(name: &'static str, statement: &'static str) -> ProbeDescription {
    ProbeDescription {
        name,
        short_title: "manipulation",
        statement,
        formula: "d1 = edited copy of d2: S(d1) − S(d2)",
        source: "Manipulation, MacAvaney et al., ABNIRML, TACL 2022",
        known_issues: "In the published code, the sign is reversed for the tables, tokens are \
             joined by single spaces, and prepositions overwrite other words because character \
             positions are used as token positions.",
        example: &[],
    }
}

impl Manipulation {
    /// Returns the name and the explanations of the manipulation.
    pub fn probe_description(self) -> &'static ProbeDescription {
        let mut all = ALL.iter();
        let found = all.find(|it| it.0 == self.word());
        &found.expect("a test looks for each word").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manipulation_has_a_name_and_a_statement() {
        let all = Manipulation::ALL
            .iter()
            .chain(Manipulation::NEEDING_RESOURCES);
        let n_known = all.clone().count();
        for it in all {
            let about = it.probe_description();
            assert!(
                !about.name.is_empty() && about.statement.ends_with('.'),
                "{it}"
            );
        }
        assert_eq!(ALL.len(), n_known);
    }
}
