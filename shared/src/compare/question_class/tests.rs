use super::*;

const SEEN: &str = include_str!("../../../../tests/fixtures/question-classes/seen.tsv");
const UNSEEN: &str = include_str!("../../../../tests/fixtures/question-classes/unseen.tsv");

/// Returns labels and questions.
fn labelled(file: &str) -> Vec<(&str, &str)> {
    let lines = file.lines().filter(|it| !it.starts_with('#'));
    lines.map(|it| it.split_once('\t').unwrap()).collect()
}

/// Returns the number of questions with the labeled class, and the others with the class found.
fn agreeing(file: &str) -> (usize, Vec<String>) {
    let mut others = Vec::new();
    let rows = labelled(file);
    for &(label, question) in &rows {
        let found = classify_question(question).map_or("none", QuestionClass::abbreviation);
        if found != label {
            others.push(format!("{label} {found} {question}"));
        }
    }
    (rows.len() - others.len(), others)
}

#[test]
fn the_half_that_was_in_sight() {
    let (n, others) = agreeing(SEEN);
    assert_eq!((n, n + others.len()), (210, 210), "{others:#?}");
}

/// Counted once, after the rules were final.
#[test]
fn the_half_that_was_not_in_sight() {
    let (n, others) = agreeing(UNSEEN);
    assert_eq!((n, n + others.len()), (208, 210), "{others:#?}");
}

#[test]
fn all_types_are_in_both_halves() {
    for file in [SEEN, UNSEEN] {
        let labels: Vec<&str> = labelled(file).iter().map(|it| it.0).collect();
        assert_eq!(labels.len(), 210);
        for it in QuestionClass::ALL {
            assert!(labels.contains(&it.abbreviation()));
        }
    }
}

#[test]
fn what_is_no_question_has_no_type() {
    for query in [
        "",
        "?",
        "is pluto a planet",
        "can dogs eat grapes",
        "does ice float",
        "tiger shark",
        "what",
        "which?",
        "how",
        "goldfish bowl 40 litres",
    ] {
        assert_eq!(classify_question(query), None, "{query}");
    }
}

#[test]
fn a_query_may_be_anything() {
    let long = "what ".repeat(100_000);
    assert!(classify_question(&long).is_some());
    for query in [
        "'s",
        "what's",
        "İ'S",
        "what is the",
        "what is the name of",
        "what part of",
    ] {
        let _ = classify_question(query);
    }
}
