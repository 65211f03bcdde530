//! Three queries computed by hand.

use super::*;
use crate::score::{RankerInfo, RankerKind};

fn best(cosine: f32, piece: u32) -> BestTokenMatch {
    BestTokenMatch {
        cosine,
        token_id: piece,
    }
}

fn piece(id: u32, word: u32) -> QuerySubwordToken {
    QuerySubwordToken {
        id,
        token: format!("p{id}"),
        word_index: Some(word),
    }
}

fn matched(
    query: u32,
    words: &[&str],
    pieces: Vec<QuerySubwordToken>,
    best: Vec<BestTokenMatch>,
) -> QueryTokenBestMatches {
    QueryTokenBestMatches {
        query_no: query,
        words: words.iter().map(|&it| it.to_owned()).collect(),
        tokens: pieces,
        best_matches: best,
    }
}

/// "river ferries" over three documents, with `ferries` in two tokens; "river" over two; "mud
/// river" over two documents in which "mud" always matches itself.
fn queries() -> Vec<QueryTokenBestMatches> {
    vec![
        matched(
            0,
            &["river", "ferries"],
            vec![piece(1, 0), piece(2, 1), piece(3, 1)],
            vec![
                // Score 2.25; without river 1.25; without ferries 1.0.
                best(1.0, 1),
                best(0.75, 2),
                best(0.5, 3),
                // Score 1.75; without river 1.5; without ferries .25.
                best(0.25, 9),
                best(1.0, 2),
                best(0.5, 9),
                // Score 1.5; without river 1.0; without ferries .5.
                best(0.5, 2),
                best(0.25, 1),
                best(0.75, 3),
            ],
        ),
        matched(
            1,
            &["river"],
            vec![piece(1, 0)],
            vec![best(0.5, 9), best(0.75, 1)],
        ),
        matched(
            2,
            &["mud", "river"],
            vec![piece(4, 0), piece(1, 1)],
            vec![best(1.0, 4), best(0.25, 4), best(0.5, 4), best(1.0, 1)],
        ),
    ]
}

fn found() -> LateInteractionRankerAnalysis {
    let head = LateInteractionAnalysisMetadata {
        name: "w".to_owned(),
        title: "W".to_owned(),
        collection: "c".to_owned(),
        pool: "all".to_owned(),
        ranker: RankerInfo {
            spec: "m:late".to_owned(),
            label: "m".to_owned(),
            detail: String::new(),
            kind: RankerKind::Neural,
            fingerprint: String::new(),
            note: None,
        },
        created: "2026-11-20".to_owned(),
        queries: Vec::new(),
        n_pairs: 7,
        n_docs: 3,
        min_occurrences: 1,
    };
    let each: Vec<_> = queries()
        .into_iter()
        .map(|it| {
            let of = compute_query_token_match_statistics(&it);
            (it, of)
        })
        .collect();
    let df = |word: &str| match word {
        "river" => 4,
        "ferries" => 1,
        _ => 0,
    };
    let known = DfAndSpectrumLookup {
        n_docs: 8,
        df: &df,
        token_df: &|id| u64::from(id),
        token: &|id| format!("p{id}"),
        spectrum: &|id| (u64::from(10 * id), (id > 1).then(|| 1.0 / f64::from(id))),
        pretrained_spectral_ratio: &|_| None,
    };
    aggregate_into_late_interaction_analysis(head, &each, &known)
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} is not {expected}"
    );
}

#[test]
fn importance_is_tau_ap_of_the_masked_ranking() {
    let found = found();
    let words: Vec<&str> = found.words.iter().map(|it| it.word.as_str()).collect();
    assert_eq!(words, ["ferries", "mud", "river"]);
    let [ferries, mud, river] = &found.words[..] else {
        unreachable!()
    };
    // Ranked 1, 2, 3. Without "ferries" 1, 3, 2: C = 1 of 1 above, then 1 of 2; τ_AP = 2/2 · 1.5 −
    // 1.
    near(ferries.importance, 0.5);
    // With the references exchanged, the same two documents change places.
    near(ferries.importance_reversed, 0.5);
    // Without "river", the first query ranks 2, 1, 3: 0 of 1, then 2 of 2, so 0. The second query
    // has a single word and so no value. In the third, the scores 1.25 and 1.5 become 1.0 and .5
    // without "river": the order is reversed, so −1.
    near(river.importance, (0.0 - 1.0) / 2.0);
    // Without "mud" the scores are .25 and 1.0: the same order as before.
    near(mud.importance, 1.0);
    assert_eq!(river.query_nos, [0, 1, 2]);
}

#[test]
fn exact_matches_are_worth_what_others_are_not() {
    let found = found();
    let piece = |name: &str| found.tokens.iter().find(|it| it.token == name).unwrap();
    // First query: 1.0 minus the mean of .25 and .5; second: .75 minus .5; third: 1.0 minus .25.
    let river = (0.625 + 0.25 + 0.75) / 3.0;
    near(piece("p1").delta_es, river);
    assert_eq!(piece("p1").n_query_positions, 3);
    near(piece("p2").delta_es, 0.875 - 0.25);
    near(piece("p3").delta_es, 0.625 - 0.5);
    // "mud" always matches itself.
    assert_eq!(piece("p4").delta_es, None);
    let [ferries, mud, of_river] = &found.words[..] else {
        unreachable!()
    };
    near(ferries.delta_es, 0.625 + 0.125);
    assert_eq!(mud.delta_es, None);
    near(of_river.delta_es, river);
    assert_eq!(ferries.tokens, ["p2", "p3"]);

    // Seven matches of "river": itself three times, `p2` and `p4` of the query, and `p9` twice.
    assert_eq!(of_river.exact_share, 3.0 / 7.0);
    assert_eq!(of_river.other_query_token_share, 2.0 / 7.0);
    let soft: Vec<(&str, f64)> = of_river
        .soft_matches
        .iter()
        .map(|it| (it.token.as_str(), it.share))
        .collect();
    assert_eq!(
        soft,
        [("p9", 2.0 / 7.0), ("p2", 1.0 / 7.0), ("p4", 1.0 / 7.0)]
    );
    assert_eq!((mud.exact_share, mud.other_query_token_share), (1.0, 0.0));
}

#[test]
fn idf_is_of_the_collection_and_points_with_both_numbers_correlate() {
    let found = found();
    near(found.words[2].idf, std::f64::consts::LN_2);
    assert_eq!(found.words[1].idf, None);
    near(found.tokens[1].idf, 2.0 * std::f64::consts::LN_2);
    assert_eq!(found.tokens[0].spectral_ratio, None);
    // Three points are too few for a correlation.
    assert_eq!(found.idf_spectral_correlation, None);
    assert_eq!(found.idf_importance_correlation, None);
}

#[test]
fn a_query_without_pieces_says_nothing() {
    let none = matched(0, &[], Vec::new(), Vec::new());
    assert_eq!(
        compute_query_token_match_statistics(&none),
        QueryPoolMatchStatistics::default()
    );
}
