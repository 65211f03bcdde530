//! Each axiom and operator on documents that can be checked by eye.

use expect_test::expect;

use super::*;

#[test]
fn more_query_terms_win() {
    check(
        Axiom::Tfc1,
        AxiomVariant::Fixed,
        &EXACT,
        "query  river bank
         d1     river bank river
         d2     river bank mud
         d3     bank mud mud",
        expect![[r#"
            d1 > d2
            d1 > d3
            d2 > d3
        "#]],
    );
}

#[test]
fn a_term_that_is_rarer_in_the_winner_spoils_tfc1() {
    check_none(
        Axiom::Tfc1,
        AxiomVariant::Fixed,
        "query  river bank
         d1     river river mud
         d2     bank mud mud",
    );
}

#[test]
fn a_text_without_query_terms_loses_only_where_no_least_is_asked() {
    let fixture = "query river
                   d1 river mud
                   d2 mud mud";
    check_none(Axiom::Tfc1, AxiomVariant::Fixed, fixture);
    let none = MiningThresholds {
        min_query_term_occurrences: 0,
        ..EXACT
    };
    check(
        Axiom::Tfc1,
        AxiomVariant::Fixed,
        &none,
        fixture,
        expect![[r#"
        d1 > d2
    "#]],
    );
}

#[test]
fn a_longer_winner_spoils_tfc1_and_a_longer_loser_only_without_the_papers_slip() {
    let fixture = "query river
                   long river river mud mud mud mud
                   short river mud";
    check_none(Axiom::Tfc1, AxiomVariant::PaperCamara2020, fixture);
    let fixture = "query river
                   short river river mud
                   long river mud mud mud mud mud";
    check_none(Axiom::Tfc1, AxiomVariant::Fixed, fixture);
    check(
        Axiom::Tfc1,
        AxiomVariant::PaperCamara2020,
        &EXACT,
        fixture,
        expect![[r#"
        short > long
    "#]],
    );
}

#[test]
fn equal_steps_make_a_triple() {
    check(
        Axiom::Tfc2,
        AxiomVariant::Fixed,
        &EXACT,
        "query river bank
         none  mud mud mud
         one   river mud mud
         two   river river mud
         three river river river
         other bank river bank",
        expect![[r#"
            one .. two .. three
        "#]],
    );
}

#[test]
fn the_rarer_term_wins() {
    let fixture = "query glacier valley
                   d1 glacier glacier valley
                   d2 glacier valley valley
                   d3 valley mud mud";
    check(
        Axiom::Mtdc,
        AxiomVariant::Fixed,
        &EXACT,
        fixture,
        expect![[r#"
        d1 >= d2
    "#]],
    );
    check(
        Axiom::Mtdc,
        AxiomVariant::Code,
        &EXACT,
        fixture,
        expect![[r#"
        d1 > d2
    "#]],
    );
}

#[test]
fn equally_frequent_terms_make_both_orders_instances_in_the_papers_only() {
    let fixture = "query glacier valley
                   d1 glacier glacier valley
                   d2 glacier valley valley";
    check_none(Axiom::Mtdc, AxiomVariant::Fixed, fixture);
    check(
        Axiom::Mtdc,
        AxiomVariant::PaperRennings2019,
        &EXACT,
        fixture,
        expect![[r#"
        d1 >= d2
        d2 >= d1
    "#]],
    );
}

#[test]
fn a_term_asked_for_twice_cannot_be_traded_for_one_asked_for_once() {
    check_none(
        Axiom::Mtdc,
        AxiomVariant::Fixed,
        "query glacier valley valley
         d1 glacier glacier valley
         d2 glacier valley valley
         d3 valley mud mud",
    );
}

#[test]
fn extra_words_do_not_help() {
    check(
        Axiom::Lnc1,
        AxiomVariant::Fixed,
        &EXACT,
        "query river bank
         d1 river bank
         d2 river bank of mud
         d3 river of mud
         d4 mud",
        expect![[r#"
            d1 >= d2
        "#]],
    );
}

#[test]
fn lnc1_of_the_published_code_forgets_the_query_terms() {
    let fixture = "query river
                   d1 river mud stone
                   d2 river river mud mud";
    check_none(Axiom::Lnc1, AxiomVariant::Fixed, fixture);
    check_none(Axiom::Lnc1, AxiomVariant::PaperCamara2020, fixture);
    check(
        Axiom::Lnc1,
        AxiomVariant::Code,
        &EXACT,
        fixture,
        expect![[r#"
        d1 >= d2
    "#]],
    );
}

#[test]
fn a_repeated_text_does_not_lose() {
    let short = MiningThresholds {
        max_repeated_doc_terms: 7,
        ..MiningThresholds::STANDARD
    };
    check(
        Axiom::Lnc2,
        AxiomVariant::Fixed,
        &short,
        "query river bank
         d1 river mud
         d2 mud mud
         d3 river bank mud mud",
        expect![[r#"
            d1#lnc2:2 >= d1
            d1#lnc2:3 >= d1
        "#]],
    );
}

#[test]
fn a_text_is_filled_up_in_the_reading_of_camara_and_hauff() {
    let short = MiningThresholds {
        fill_length_terms: 7,
        max_fillable_doc_terms: 2,
        ..MiningThresholds::STANDARD
    };
    let fixture = "query river
                   d1 river mud
                   d2 mud mud mud
                   d3 mud mud mud mud
                   d4";
    check(
        Axiom::Lnc2,
        AxiomVariant::PaperCamara2020,
        &short,
        fixture,
        expect![[r#"
        d1#lnc2:3 >= d1
        d2#lnc2:2 >= d2
    "#]],
    );
    check(
        Axiom::Lnc2,
        AxiomVariant::Code,
        &short,
        fixture,
        expect![[r#"
        d1#lnc2:3 > d1
    "#]],
    );
}

#[test]
fn closer_terms_win_and_the_published_code_has_it_the_wrong_way_round() {
    let fixture = "query river bank
                   near the river bank
                   far the river has a bank
                   one the river";
    check(
        Axiom::Tp,
        AxiomVariant::Fixed,
        &EXACT,
        fixture,
        expect![[r#"
        near > far
    "#]],
    );
    check(
        Axiom::Tp,
        AxiomVariant::Code,
        &EXACT,
        fixture,
        expect![[r#"
        far > near
    "#]],
    );
}

#[test]
fn the_worked_examples_are_instances() {
    // Whether LB1 applies depends on the whole collection.
    let lb1 = Axiom::IrAxioms(IrAxiomsAxiom::Lb1);
    let all = Axiom::ALL.iter().copied().chain(Axiom::all_ir_axioms());
    for axiom in all.filter(|it| *it != lb1 && !it.needs_word_vectors()) {
        let [query, texts @ ..] = axiom.probe_description().example else {
            panic!("{axiom:?}")
        };
        // Another document next to the example makes the second term of M-TDC the more common one,
        // and that of TFC3 as common as the first.
        let beside = if axiom == Axiom::IrAxioms(IrAxiomsAxiom::Tfc3) {
            "bank"
        } else {
            "valley"
        };
        let docs = texts.iter().copied().chain([beside]);
        let index = Index::build(&Analyzer::default(), docs).unwrap();
        let terms = index.query_term_statistics(query);
        let count = |at: usize| {
            let mut counted = DocumentFeatures::from_terms_including_non_query(
                &index.term_sequence_of_doc(at as u32),
                &terms,
            );
            counted.record_query_term_positions(&index.term_sequence_of_doc(at as u32), &terms);
            counted
        };
        let counted: Vec<DocumentFeatures> = (0..texts.len()).map(count).collect();
        let case = QueryPoolFeatures::without_word_vectors(
            &terms,
            &counted,
            &MiningThresholds::STANDARD,
            index.collection_totals(),
        );
        let preconditions = axiom.measure_preconditions(AxiomVariant::Fixed, &case);
        assert!(
            preconditions.iter().all(MeasuredPrecondition::holds),
            "{axiom:?} {preconditions:?}"
        );
    }
}

#[test]
fn the_operators_are_those_of_the_package() {
    // d1 has more terms and is longer; d3 is like d2, with the terms closer together.
    let fixture = "query  river bank
         d1     river bank river mud
         d2     river mud bank
         d3     river bank mud";
    for (formula, expected) in [
        (
            "tfc1",
            expect![[r#"
            d1 > d2
            d1 > d3
        "#]],
        ),
        (
            "tp",
            expect![[r#"
            d1 > d2
            d3 > d2
        "#]],
        ),
        (
            "tfc1 & tp",
            expect![[r#"
            d1 > d2
        "#]],
        ),
        (
            "tfc1 | tp",
            expect![[r#"
            d1 > d2
            d1 > d3
            d3 > d2
        "#]],
        ),
        (
            "tfc1 % tp",
            expect![[r#"
            d1 > d2
            d1 > d3
            d3 > d2
        "#]],
        ),
        (
            "tp - 2 * tfc1",
            expect![[r#"
            d2 > d1
            d3 > d1
            d3 > d2
        "#]],
        ),
        (
            "tp if undecided(tfc1)",
            expect![[r#"
            d3 > d2
        "#]],
        ),
        (
            "tp * tfc1 * tp",
            expect![[r#"
            d1 > d2
        "#]],
        ),
        (
            "tp if len",
            expect![[r#"
            d3 > d2
        "#]],
        ),
    ] {
        let axiom = match formula {
            "tfc1" => Axiom::Tfc1,
            "tp" => Axiom::Tp,
            formula => Axiom::Formula(formula.parse().unwrap()),
        };
        check(axiom, AxiomVariant::Fixed, &ANY_LENGTH, fixture, expected);
    }
}

/// The sums of each pair differ by a tenth of the larger one except for rounding. The last value is
/// what Python 3.11 returns for `math.isclose(sum(a), sum(b), rel_tol=0.1)`, where `a` and `b` are
/// the counts of the query's tokens, in their order, each divided by the length of the document.
#[test]
fn sums_that_differ_by_a_tenth_are_close_where_python_says_so() {
    // Query, then "river", "bank" and all terms of both documents, then the result in Python.
    let pairs = [
        ("river", [11, 0, 27], [11, 0, 30], true),
        ("river", [22, 0, 27], [11, 0, 15], true),
        ("river", [22, 0, 27], [22, 0, 30], true),
        ("river bank river", [1, 4, 6], [3, 3, 10], true),
        ("river bank river", [2, 3, 7], [3, 3, 10], true),
        ("river bank river", [3, 4, 7], [3, 3, 7], false),
        ("river bank river", [3, 4, 7], [4, 1, 7], false),
        ("river bank river", [1, 4, 9], [1, 4, 10], false),
    ];
    let text = |[river, bank, all]: [usize; 3]| {
        "river ".repeat(river) + &"bank ".repeat(bank) + &"mud ".repeat(all - river - bank)
    };
    for (query, first, second, is_close) in pairs {
        let fixture = format!("query {query}\nd1 {}\nd2 {}", text(first), text(second));
        let axiom = Axiom::IrAxioms(IrAxiomsAxiom::Tfc1IrAxioms);
        let expected = match is_close {
            true => expect![""],
            false => expect![[r#"
                d1 > d2
            "#]],
        };
        check(axiom, AxiomVariant::Code, &ANY_LENGTH, &fixture, expected);
    }
}
