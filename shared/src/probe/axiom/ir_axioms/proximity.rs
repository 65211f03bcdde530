//! PROX1 to PROX5: the positions of query terms. They need [`DocumentFeatures::positions`].

use super::super::ProbeDescription;
use crate::index::term_statistics::DistinctQueryTerms;
use crate::probe::features::DocumentFeatures;

const SOURCE: &str = "Hagen et al., CIKM 2016, after Tao & Zhai, SIGIR 2007; as in ir_axioms";

pub(super) const PROX1: ProbeDescription = ProbeDescription {
    name: "PROX1",
    short_title: "first terms closer",
    statement: "Of two documents with the same query terms, the one whose terms first occur \
         closer together scores higher.",
    formula: "same w ∈ Q in both, at least two, mean words between the first occurrences of two \
              terms smaller in d1 ⇒ S(d1) > S(d2)",
    source: SOURCE,
    known_issues: "Only the first occurrence of each term counts.",
    example: &[
        "river bank",
        "the river bank is steep",
        "the river has a bank",
    ],
};

pub(super) const PROX2: ProbeDescription = ProbeDescription {
    name: "PROX2",
    short_title: "terms earlier",
    statement: "Of two documents with the same query terms, the one in which they first occur \
         earlier scores higher.",
    formula: "same w ∈ Q in both, at least two, Σ of first positions smaller in d1 ⇒ \
              S(d1) > S(d2)",
    source: SOURCE,
    known_issues: "Releases of the package before 1.2 give two opposite answers for the same \
         pair.",
    example: &["river bank", "river bank of mud", "mud of the river bank"],
};

pub(super) const PROX3: ProbeDescription = ProbeDescription {
    name: "PROX3",
    short_title: "phrase earlier",
    statement: "Of two documents with the same query terms, the one that contains the whole \
         query as a phrase, or contains it earlier, scores higher.",
    formula: "same w ∈ Q in both, at least two, the query as a phrase in d1, and in d2 later or \
              never ⇒ S(d1) > S(d2)",
    source: SOURCE,
    known_issues: "With stop words removed, a phrase may contain other words.",
    example: &[
        "river bank",
        "the river bank is steep",
        "the bank of the river",
    ],
};

pub(super) const PROX4: ProbeDescription = ProbeDescription {
    name: "PROX4",
    short_title: "closest grouping",
    statement: "Of two documents with all query terms, the one with fewer other words in its \
         closest grouping of them scores higher; if equal, the one with more such groupings.",
    formula: "all w ∈ Q in both, at least two, (other words in the closest grouping, − number of \
              such groupings) smaller in d1 ⇒ S(d1) > S(d2)",
    source: SOURCE,
    known_issues: "A grouping is an occurrence of a term with the nearest occurrence of each \
         other term, the earlier one if two are equally near.",
    example: PROX1.example,
};

pub(super) const PROX5: ProbeDescription = ProbeDescription {
    name: "PROX5",
    short_title: "smaller spans",
    statement: "Of two documents with all query terms, the one with the smaller mean span \
         around their occurrences scores higher.",
    formula: "all w ∈ Q in both, at least two, mean of max − min over all groupings smaller in \
              d1 ⇒ S(d1) > S(d2)",
    source: SOURCE,
    known_issues: "Groupings are defined as in PROX4.",
    example: PROX1.example,
};

/// Returns the first positions of the query terms that a document contains.
fn first_positions(text: &DocumentFeatures) -> Vec<f64> {
    let firsts = text.positions.iter().filter_map(|it| it.first());
    firsts.map(|&it| f64::from(it)).collect()
}

/// Returns the mean number of words between the first occurrences of two terms; 0 for fewer than
/// two.
pub(crate) fn mean_first_occurrence_distance(text: &DocumentFeatures) -> f64 {
    let firsts = first_positions(text);
    let pairs = firsts
        .iter()
        .enumerate()
        .flat_map(|(at, a)| firsts[at + 1..].iter().map(move |b| (a - b).abs() - 1.0));
    let (n, sum) = pairs.fold((0, 0.0), |(n, sum), it| (n + 1, sum + it));
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}

/// Returns the sum of the first positions, counted from 0.
pub(super) fn sum_of_first_term_positions(text: &DocumentFeatures) -> f64 {
    first_positions(text).iter().sum()
}

/// The position of a phrase that does not occur.
pub(super) const PHRASE_ABSENT: f64 = u32::MAX as f64;

/// Returns the position of the whole query as a phrase, or [`PHRASE_ABSENT`].
pub(super) fn query_phrase_position(text: &DocumentFeatures, query: &DistinctQueryTerms) -> f64 {
    let mut order: Vec<(u32, usize)> = Vec::new();
    for (term, it) in query.iter().enumerate() {
        order.extend(it.positions.iter().map(|&place| (place, term)));
    }
    order.sort_unstable();
    let Some(&(_, first)) = order.first() else {
        return PHRASE_ABSENT;
    };
    let found = text.positions[first].iter().find(|&&start| {
        let mut rest = order.iter();
        rest.all(|&(place, term)| text.positions[term].binary_search(&(start + place)).is_ok())
    });
    found.map_or(PHRASE_ABSENT, |&it| f64::from(it))
}

/// Iterates over groups, one for each occurrence of a query term with the nearest occurrence of
/// each other term, as first and last position.
fn groupings(text: &DocumentFeatures) -> impl Iterator<Item = (u32, u32)> + '_ {
    let terms = text.positions.iter().enumerate();
    terms.flat_map(move |(term, positions)| {
        positions.iter().map(move |&here| {
            let others = text.positions.iter().enumerate();
            let others = others.filter(move |it| it.0 != term && !it.1.is_empty());
            others.fold((here, here), |(first, last), (_, positions)| {
                let there = nearest(positions, here);
                (first.min(there), last.max(there))
            })
        })
    })
}

/// Returns the position nearest to `here`, the earlier one of two.
fn nearest(positions: &[u32], here: u32) -> u32 {
    let after = positions.partition_point(|&it| it < here);
    match (
        after.checked_sub(1).map(|it| positions[it]),
        positions.get(after),
    ) {
        (Some(before), Some(&after)) if after - here < here - before => after,
        (Some(before), _) => before,
        (None, Some(&after)) => after,
        (None, None) => here,
    }
}

/// Returns the fewest other words in a group, and the number of groups with so few.
pub(super) fn min_gap_words_and_tied_groups(text: &DocumentFeatures) -> Option<(u32, u32)> {
    let mut asked: Vec<u32> = text.positions.iter().flatten().copied().collect();
    asked.sort_unstable();
    let n_others = |(first, last): (u32, u32)| {
        let inside =
            asked.partition_point(|&it| it <= last) - asked.partition_point(|&it| it < first);
        last - first + 1 - inside as u32
    };
    let mut best: Option<(u32, u32)> = None;
    for n in groupings(text).map(n_others) {
        best = Some(match best {
            Some((least, count)) if least == n => (least, count + 1),
            Some(it) if it.0 < n => it,
            _ => (n, 1),
        });
    }
    best
}

/// Returns the mean of last − first position over all groups; 0 without a group.
pub(crate) fn mean_query_term_group_span(text: &DocumentFeatures) -> f64 {
    let spans = groupings(text).map(|it| f64::from(it.1 - it.0));
    let (n, sum) = spans.fold((0_u32, 0.0), |(n, sum), it| (n + 1, sum + it));
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}
