use crate::probe::{Axiom, Probe};

#[test]
fn a_formula_is_written_as_it_is_read_with_no_more_parentheses_than_it_needs() {
    for (read, written) in [
        ("TFC1 & LNC1", "tfc1&lnc1"),
        ("prox1 | (tfc1 & tp) | M_TDC", "prox1|tfc1&tp|mtdc"),
        ("(prox1 | tfc1) & tp", "(prox1|tfc1)&tp"),
        ("tfc1 % lnc1 % tp", "tfc1%lnc1%tp"),
        ("-(tfc1 + 2*tp)", "-(tfc1+2*tp)"),
        ("0.5 * tfc1 - tp / 4", "0.5*tfc1-tp/4"),
        ("tfc1 - (tp - lnc1)", "tfc1-(tp-lnc1)"),
        ("tfc1 * tp * lnc1", "tfc1*tp*lnc1"),
        ("(and if len) | div", "(and if len)|div"),
        (
            "tfc1 if undecided(prox1 | prox2)",
            "tfc1 if undecided(prox1|prox2)",
        ),
        ("tfc1@ir_axioms & stmc1", "tfc1@ir_axioms&stmc1"),
        ("+(tfc1 + tp)", "+(tfc1+tp)"),
    ] {
        let formula: Probe = read.parse().unwrap();
        assert!(matches!(formula, Probe::Axiom(Axiom::Formula(_))));
        assert_eq!(formula.slug(), written);
        assert_eq!(written.parse::<Probe>().unwrap(), formula);
    }
}

#[test]
fn a_formula_that_means_nothing_says_where_and_why() {
    let deep = "(".repeat(40);
    for (formula, reason) in [
        ("tfc1 + 1", "they cannot be added"),
        ("tfc1 * tp", "only says whether they agree"),
        ("2 * 3", "prefers no document"),
        ("tfc1 / tp", "must be a number other than 0"),
        ("tfc1 / 0", "must be a number other than 0"),
        ("tfc1 & lnc2", "cannot be combined"),
        (
            "tfc1 & nothing",
            "character 8: expected the name of an axiom",
        ),
        ("tfc1 & (tp", "expected `)`"),
        ("tfc1 tp", "expected an operator"),
        ("tfc1 if near", "`if` must be followed by"),
        ("0.001 * tfc1", "at most two decimal places"),
        ("", "is none of"),
        (&deep, "too many nested parentheses"),
        (&"tfc1&".repeat(60), "expected the name of an axiom"),
        (&["tfc1"; 60].join("&"), "too long"),
    ] {
        let said = formula.parse::<Probe>().unwrap_err().to_string();
        assert!(said.contains(reason), "{formula}: {said}");
    }
}
