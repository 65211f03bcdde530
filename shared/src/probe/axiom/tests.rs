//! The axioms against fixtures one can check by eye, and mining against its own premises.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::*;
use crate::index::{Index, IndexBuilder};
use crate::probe::counts::Meaning;
use crate::probe::mine::{Miner, Pooled};
use crate::probe::{Mined, Source};
use crate::rank::top::tests::dice;
use crate::text::Analyzer;
use crate::vectors::{Known, Vectors};

const EXACT: Limits = Limits {
    length_gap_terms: Some(0),
    ..Limits::STANDARD
};
const ANY_LENGTH: Limits = Limits {
    length_gap_terms: None,
    ..Limits::STANDARD
};

/// Lines `query …`, then `name …` for each document; all instances with their premises.
fn check(axiom: Axiom, mode: Mode, limits: &Limits, fixture: &str, expected: Expect) {
    let mut lines = fixture.trim().lines().map(str::trim);
    let query = lines.next().unwrap().strip_prefix("query").unwrap().trim();
    let docs: Vec<(&str, &str)> = lines
        .map(|it| it.split_once(' ').unwrap_or((it, "")))
        .collect();
    let index = Index::build(&Analyzer::default(), docs.iter().map(|it| it.1)).unwrap();
    let pool: Vec<u32> = (0..docs.len() as u32).collect();
    let miner = Miner {
        index: &index,
        known: None,
        asked: &[(Probe::Axiom(axiom), mode)],
        limits,
    };
    let shard = miner.mine(&Pooled::unjudged(query, &pool));
    let mined = Mined::collect(&[(Probe::Axiom(axiom), mode)], vec![shard]);
    let terms = index.query_terms(query);
    let mut out = String::new();
    for claim in mined.instances[0].of(0) {
        let texts: Vec<_> = claim
            .texts()
            .iter()
            .map(|&it| mined.texts[it as usize])
            .collect();
        let ids: Vec<String> = texts
            .iter()
            .map(|it| it.id(docs[it.doc() as usize].0))
            .collect();
        let counted: Vec<Counted> = texts
            .iter()
            .map(|it| {
                let times = match it {
                    crate::probe::mine::Text::Document { .. } => 1,
                    crate::probe::mine::Text::Repeated { times, .. } => *times,
                };
                let body = index.terms(it.doc()).repeat(times as usize);
                let mut counted = Counted::with_others(&body, &terms);
                counted.place_terms(&body, &terms);
                counted
            })
            .collect();
        let case = Case::new(&terms, &counted, limits, index.totals());
        let premises = axiom.premises(mode, &case);
        assert!(premises.iter().all(Measured::holds), "{premises:?}");
        let sign = match claim.kind() {
            ClaimKind::Above => " > ",
            ClaimKind::NotBelow => " >= ",
            ClaimKind::Apart => " <> ",
            ClaimKind::ShrinkingGain => " .. ",
        };
        out += &format!("{}\n", ids.join(sign));
    }
    expected.assert_eq(&out);
}

#[test]
fn more_query_terms_win() {
    check(
        Axiom::Tfc1,
        Mode::Fixed,
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
    check(
        Axiom::Tfc1,
        Mode::Fixed,
        &EXACT,
        "query  river bank
         d1     river river mud
         d2     bank mud mud",
        expect![""],
    );
}

#[test]
fn a_text_without_query_terms_loses_only_where_no_least_is_asked() {
    let fixture = "query river
                   d1 river mud
                   d2 mud mud";
    check(Axiom::Tfc1, Mode::Fixed, &EXACT, fixture, expect![""]);
    let none = Limits {
        min_terms: 0,
        ..EXACT
    };
    check(
        Axiom::Tfc1,
        Mode::Fixed,
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
    check(
        Axiom::Tfc1,
        Mode::PaperCamara2020,
        &EXACT,
        fixture,
        expect![""],
    );
    let fixture = "query river
                   short river river mud
                   long river mud mud mud mud mud";
    check(Axiom::Tfc1, Mode::Fixed, &EXACT, fixture, expect![""]);
    check(
        Axiom::Tfc1,
        Mode::PaperCamara2020,
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
        Mode::Fixed,
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
        Mode::Fixed,
        &EXACT,
        fixture,
        expect![[r#"
        d1 >= d2
    "#]],
    );
    check(
        Axiom::Mtdc,
        Mode::CodeCamara2020,
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
    check(Axiom::Mtdc, Mode::Fixed, &EXACT, fixture, expect![""]);
    check(
        Axiom::Mtdc,
        Mode::PaperRennings2019,
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
    check(
        Axiom::Mtdc,
        Mode::Fixed,
        &EXACT,
        "query glacier valley valley
         d1 glacier glacier valley
         d2 glacier valley valley
         d3 valley mud mud",
        expect![""],
    );
}

#[test]
fn extra_words_do_not_help() {
    check(
        Axiom::Lnc1,
        Mode::Fixed,
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
    check(Axiom::Lnc1, Mode::Fixed, &EXACT, fixture, expect![""]);
    check(
        Axiom::Lnc1,
        Mode::PaperCamara2020,
        &EXACT,
        fixture,
        expect![""],
    );
    check(
        Axiom::Lnc1,
        Mode::CodeCamara2020,
        &EXACT,
        fixture,
        expect![[r#"
        d1 >= d2
    "#]],
    );
}

#[test]
fn a_repeated_text_does_not_lose() {
    let short = Limits {
        repeated_terms: 7,
        ..Limits::STANDARD
    };
    check(
        Axiom::Lnc2,
        Mode::Fixed,
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
    let short = Limits {
        filled_terms: 7,
        fillable_terms: 2,
        ..Limits::STANDARD
    };
    let fixture = "query river
                   d1 river mud
                   d2 mud mud mud
                   d3 mud mud mud mud
                   d4";
    check(
        Axiom::Lnc2,
        Mode::PaperCamara2020,
        &short,
        fixture,
        expect![[r#"
        d1#lnc2:3 >= d1
        d2#lnc2:2 >= d2
    "#]],
    );
    check(
        Axiom::Lnc2,
        Mode::CodeCamara2020,
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
        Mode::Fixed,
        &EXACT,
        fixture,
        expect![[r#"
        near > far
    "#]],
    );
    check(
        Axiom::Tp,
        Mode::CodeCamara2020,
        &EXACT,
        fixture,
        expect![[r#"
        far > near
    "#]],
    );
}

#[test]
fn the_worked_examples_are_instances() {
    // Whether LB1 applies hangs on the whole collection.
    let lb1 = Axiom::Further(Further::Lb1);
    let all = Axiom::ALL.iter().copied().chain(Axiom::further());
    for axiom in all.filter(|it| *it != lb1 && !it.needs_vectors()) {
        let [query, texts @ ..] = axiom.about().example else {
            panic!("{axiom:?}")
        };
        // Beside the example a document that makes the second term of M-TDC the more common, and
        // that of TFC3 as common as the first.
        let beside = if axiom == Axiom::Further(Further::Tfc3) {
            "bank"
        } else {
            "valley"
        };
        let docs = texts.iter().copied().chain([beside]);
        let index = Index::build(&Analyzer::default(), docs).unwrap();
        let terms = index.query_terms(query);
        let count = |at: usize| {
            let mut counted = Counted::with_others(index.terms(at as u32), &terms);
            counted.place_terms(index.terms(at as u32), &terms);
            counted
        };
        let counted: Vec<Counted> = (0..texts.len()).map(count).collect();
        let case = Case::new(&terms, &counted, &Limits::STANDARD, index.totals());
        let premises = axiom.premises(Mode::Fixed, &case);
        assert!(
            premises.iter().all(Measured::holds),
            "{axiom:?} {premises:?}"
        );
    }
}

/// Texts over a handful of words, so that every axiom fires often.
fn texts(n: usize) -> Vec<String> {
    let mut next = dice(11);
    let words = ["river", "bank", "tide", "mud", "stone", "sand"];
    (0..n)
        .map(|_| {
            let len = next(9);
            let text: Vec<&str> = (0..len).map(|_| words[next(6) as usize]).collect();
            text.join(" ")
        })
        .collect()
}

#[test]
fn an_instance_is_mined_iff_all_its_premises_hold() {
    let texts = texts(40);
    let mut builder = IndexBuilder::new(Analyzer::default()).keeping_tokens();
    texts.iter().for_each(|it| builder.add(it));
    let index = builder.finish().unwrap();
    let vectors = vectors();
    let rows = vectors.rows_of(&index);
    let known = Known::new(&vectors, &index, &rows);
    let pool: Vec<u32> = (0..texts.len() as u32).collect();
    let mut n_mined: BTreeMap<(Axiom, Mode), usize> = BTreeMap::new();
    for query in ["river bank tide", "river river bank", "river unseen"] {
        let terms = index.query_terms(query);
        let asked = known.query(query);
        let words = known.words_of_query(query, &terms);
        let alike = known.alike_in_query(&words);
        let counted: Vec<Counted> = pool
            .iter()
            .map(|&it| {
                let mut counted = Counted::with_others(index.terms(it), &terms);
                counted.place_terms(index.terms(it), &terms);
                let mut meaning = Meaning::new(known.rest(it, &terms), &asked);
                meaning.words = Some(known.alike(it, &terms, &words));
                counted.meaning = Some(meaning);
                counted
            })
            .collect();
        for limits in [
            EXACT,
            Limits::STANDARD,
            ANY_LENGTH,
            Limits {
                min_terms: 2,
                share: 0.8,
                ..EXACT
            },
        ] {
            for &mode in Mode::ALL {
                let formulas = ["tfc1 & m_and", "prox1 | -tp % m_and % div if len"];
                let formulas = formulas.map(|it| Axiom::Combined(it.parse().unwrap()));
                for axiom in formula::leaves().chain(formulas).chain([Axiom::Tfc2]) {
                    let arity = axiom.claim(mode).arity();
                    let case = Case {
                        query: &terms,
                        pool: &counted,
                        limits: &limits,
                        totals: index.totals(),
                        alike: &alike,
                    };
                    let mined = axiom.mine(mode, &case).places;
                    let mut mined: Vec<&[u32]> = mined.chunks(arity).filter(tried).collect();
                    mined.sort_unstable();
                    let tuples = tuples(pool.len() as u32, arity);
                    let holds = |places: &&[u32]| {
                        let texts: Vec<Counted> = places
                            .iter()
                            .map(|&it| counted[it as usize].clone())
                            .collect();
                        let premises = axiom.premises(mode, &case.with_pool(&texts));
                        premises.iter().all(Measured::holds)
                    };
                    *n_mined.entry((axiom, mode)).or_default() += mined.len();
                    let expected: Vec<&[u32]> = tuples.chunks(arity).filter(holds).collect();
                    assert_eq!(mined, expected, "{axiom:?} {mode:?} {query} {limits:?}");
                }
            }
        }
    }
    // Nothing is compared where nothing is found.
    let empty: Vec<_> = n_mined.iter().filter(|it| *it.1 == 0).collect();
    assert!(empty.is_empty(), "{empty:?}");
}

/// Vectors of all words but one, so that no two texts are quite alike.
fn vectors() -> Vectors {
    Vectors::of(&[
        ("river", [1.0, 0.2, 0.0]),
        ("bank", [0.1, 1.0, 0.1]),
        ("tide", [0.9, 0.1, 0.3]),
        ("mud", [-0.5, 0.4, 0.8]),
        ("stone", [0.2, -0.9, 0.4]),
    ])
}

#[test]
fn likeness_is_looked_up_by_tokens_before_stemming_and_without_the_query() {
    let vectors = Vectors::of(&[
        ("river", [1.0, 0.0]),
        ("rivers", [0.0, 1.0]),
        ("streams", [0.9, 0.1]),
        ("money", [0.1, 0.9]),
    ]);
    let docs = ["rivers streams", "river money"];
    let mut builder = IndexBuilder::new(Analyzer::default()).keeping_tokens();
    docs.iter().for_each(|it| builder.add(it));
    let index = builder.finish().unwrap();
    let rows = vectors.rows_of(&index);
    let known = Known::new(&vectors, &index, &rows);
    let mine = |mode| {
        let asked = [(Probe::Axiom(Axiom::Stmc1), mode)];
        let miner = Miner {
            index: &index,
            known: Some(&known),
            asked: &asked,
            limits: &EXACT,
        };
        let shard = miner.mine(&Pooled::unjudged("river", &[0, 1]));
        let mined = Mined::collect(&asked, vec![shard]);
        mined.instances[0]
            .of(0)
            .map(|it| it.texts())
            .collect::<Vec<_>>()
    };
    // `rivers` has the term of the query, so that only `streams` and `money` count.
    assert_eq!(mine(Mode::Fixed), [[0, 1]]);
    assert_eq!(mine(Mode::CodeCamara2020), [[1, 0]]);
}

/// A third of the triples that share a pair is enough to find a slip.
fn tried(places: &&[u32]) -> bool {
    places.len() == 2 || places.iter().sum::<u32>() % 3 == 0
}

/// All ordered tuples of distinct numbers below `n`, one after the other, ascending.
fn tuples(n: u32, arity: usize) -> Vec<u32> {
    let mut all = Vec::new();
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            match arity {
                2 => all.extend([a, b]),
                _ => (0..n)
                    .filter(|&c| c != a && c != b && tried(&&[a, b, c][..]))
                    .for_each(|c| all.extend([a, b, c])),
            }
        }
    }
    all
}

#[test]
fn a_cap_draws_the_same_instances_every_time_and_says_how_many_there_were() {
    let texts = texts(40);
    let index = Index::build(&Analyzer::default(), texts.iter().map(|it| it.as_str())).unwrap();
    let pool: Vec<u32> = (0..texts.len() as u32).collect();
    let asked = [(Probe::Axiom(Axiom::Tfc1), Mode::Fixed)];
    let mine = |limits: &Limits| {
        let miner = Miner {
            index: &index,
            known: None,
            asked: &asked,
            limits,
        };
        let shard = miner.mine(&Pooled::unjudged("river bank", &pool));
        Mined::collect(&asked, vec![shard]).instances.remove(0)
    };
    let all = mine(&Limits::STANDARD);
    let capped = mine(&Limits {
        per_query: Some(20),
        ..Limits::STANDARD
    });
    assert_eq!((capped.len(), &capped.found), (20, &all.found));
    assert!((capped.sampled() - 20.0 / all.len() as f64).abs() < 1e-12);
    assert_eq!(
        capped,
        mine(&Limits {
            per_query: Some(20),
            ..Limits::STANDARD
        })
    );
    let other_seed = Limits {
        per_query: Some(20),
        seed: 43,
        ..Limits::STANDARD
    };
    assert_ne!(capped, mine(&other_seed));
}

#[test]
fn modes_are_words_of_a_source() {
    assert_eq!(
        Mode::parse("paper", Source::Rennings2019),
        Ok(Mode::PaperRennings2019)
    );
    assert_eq!(
        Mode::parse("code", Source::Camara2020),
        Ok(Mode::CodeCamara2020)
    );
    let refused = Mode::parse("code", Source::Rennings2019).unwrap_err();
    assert!(
        refused.to_string().contains("were not published"),
        "{refused}"
    );
}

#[test]
fn the_operators_are_those_of_the_package() {
    // d1 has more terms and is longer; d3 is as d2, nearer to each other.
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
            formula => Axiom::Combined(formula.parse().unwrap()),
        };
        check(axiom, Mode::Fixed, &ANY_LENGTH, fixture, expected);
    }
}
