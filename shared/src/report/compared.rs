//! Two rankers, or a study and its baseline, as tables; and as a report of tests.

use std::fmt::Write;

use super::markup::escape;
use super::{Column, Kind, Table, Value, columns_of, format};
use crate::study::baseline::Compared;
use crate::study::diff::{Diff, LISTED, Moved};
use crate::verdict::Outcome;

/// What moved, by axiom, by query, and the instances that moved farthest.
pub fn of_diff(diff: &Diff) -> Vec<Table> {
    let notes = vec![format!("From {} to {}.", diff.first, diff.second)];
    let text = |it: &str| Value::Text(it.to_owned());
    let table = |name: &str, title: &str, columns: Vec<Column>, rows| Table {
        name: name.to_owned(),
        title: title.to_owned(),
        columns,
        rows,
        notes: notes.clone(),
    };
    let axioms = diff.axioms.iter().map(|it| {
        vec![
            text(&it.probe.name()),
            text(it.mode.name()),
            Value::Count(it.n_judged),
            Value::Count(it.n_gained),
            Value::Count(it.n_lost),
        ]
    });
    let queries = diff.queries.iter().map(|it| {
        vec![
            text(&it.query_id),
            text(&it.query),
            Value::Count(it.n_gained),
            Value::Count(it.n_lost),
        ]
    });
    let margin = |it: f64| Value::Score {
        value: it,
        digits: 4,
    };
    let instances = diff.instances.iter().map(|it: &Moved| {
        vec![
            text(&it.probe.name()),
            text(it.mode.name()),
            text(&it.query_id),
            text(&it.text_ids.join(" ")),
            text(outcome(it.first.outcome)),
            margin(it.first.margin),
            text(outcome(it.second.outcome)),
            margin(it.second.margin),
        ]
    });
    vec![
        table(
            "moves",
            "What moved, by axiom",
            [
                columns_of(Kind::Text, "axiom | mode"),
                columns_of(Kind::Number, "judged by both | gained | lost"),
            ]
            .concat(),
            axioms.collect(),
        ),
        table(
            "queries",
            "What moved, by query",
            [
                columns_of(Kind::Text, "query id | query"),
                columns_of(Kind::Number, "gained | lost"),
            ]
            .concat(),
            queries.collect(),
        ),
        table(
            "moved",
            &format!("Instances that changed side, the farthest {LISTED}"),
            [
                columns_of(Kind::Text, "axiom | mode | query id | texts | first"),
                columns_of(Kind::Number, "margin"),
                columns_of(Kind::Text, "second"),
                columns_of(Kind::Number, "margin"),
            ]
            .concat(),
            instances.collect(),
        ),
    ]
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Satisfied => "satisfied",
        Outcome::Tied => "tied",
        Outcome::Violated => "violated",
    }
}

/// Every cell beside its baseline.
pub fn of_baseline(study: &str, compared: &[Compared]) -> Table {
    let fallen = compared.iter().filter(|it| !it.holds).count();
    let columns = [
        columns_of(Kind::Text, "ranker | axiom | mode"),
        columns_of(Kind::Number, "baseline | now | change"),
        columns_of(Kind::Text, ""),
    ]
    .concat();
    let rows = compared.iter().map(|it| {
        let before = it.expected.fraction;
        vec![
            Value::Text(it.expected.ranker.clone()),
            Value::Text(it.expected.probe.name().into_owned()),
            Value::Text(it.expected.mode.name().to_owned()),
            Value::Fraction(before),
            it.found.map_or(Value::Missing, Value::Fraction),
            it.found
                .map_or(Value::Missing, |now| Value::Signed(now - before)),
            Value::Text(if it.holds { "holds" } else { "FALLEN" }.to_owned()),
        ]
    });
    Table {
        name: "baseline".to_owned(),
        title: format!(
            "{study}: {fallen} of {} cells below the baseline",
            compared.len()
        ),
        columns,
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The same in the format of JUnit, which programs that run tests read.
pub fn to_junit(study: &str, compared: &[Compared]) -> String {
    let fallen = compared.iter().filter(|it| !it.holds).count();
    let name = escape(study);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"{name}\" tests=\"{}\" failures=\"{fallen}\">",
        compared.len()
    );
    for it in compared {
        let ranker = escape(&it.expected.ranker);
        let case = format!("{} {}", it.expected.probe.slug(), it.expected.mode.name());
        let _ = write!(out, "  <testcase classname=\"{ranker}\" name=\"{case}\"");
        if it.holds {
            out.push_str("/>\n");
            continue;
        }
        let before = format::fraction(it.expected.fraction);
        let now = it.found.map_or("nothing".to_owned(), format::fraction);
        let said = escape(&format!("{now} where the baseline has {before}"));
        let _ = writeln!(out, ">\n    <failure message=\"{said}\"/>\n  </testcase>");
    }
    out.push_str("</testsuite>\n");
    out
}
