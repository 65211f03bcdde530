use super::*;
use crate::collection::FileInput;

fn row(id: &str, question: &str, answers: &str, rest: (&str, &str)) -> String {
    format!(
        "{{\"_id\": \"{id}\", \"question\": \"{question}\", \"answers\": {answers}, \
         \"type\": \"{}\", \"passage\": \"{}\"}}\n",
        rest.0, rest.1
    )
}

fn convert(file: &str) -> ConvertedPairDataset {
    make_answer_replacement_pairs(FileInput::without_progress("f.jsonl", file.as_bytes()), 42)
        .unwrap()
}

#[test]
fn an_answer_is_replaced_by_one_of_its_type_and_length() {
    let file = [
        row(
            "1",
            "who wrote it",
            r#"["Ada Byrd"]"#,
            ("PERSON", "By ada byrd. ADA  BYRD, not Ada Byrds."),
        ),
        row(
            "2",
            "who sang it",
            r#"["Bo Carr"]"#,
            ("PERSON", "Bo Carr sang."),
        ),
        row("3", "who danced", r#"["Cy"]"#, ("PERSON", "Cy danced.")),
        row(
            "4",
            "where is it",
            r#"["Oslo Fjord"]"#,
            ("LOC", "In Oslo Fjord."),
        ),
    ];
    let found = convert(&file.concat());
    let pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|it| (it.id.as_str(), it.b.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("1:0", "By Bo Carr. Bo Carr, not Ada Byrds."),
            ("2:0", "Ada Byrd sang."),
        ]
    );
    let pair = &found.pairs[1];
    assert_eq!(
        (pair.query.as_deref(), pair.a.as_str()),
        (Some("who sang it"), "Bo Carr sang.")
    );
    assert_eq!(pair.group.as_deref(), Some("2"));
    assert_eq!(
        found.left_out,
        BTreeMap::from([(RowExclusionReason::NoOtherAnswer, 2)])
    );
    assert_eq!((found.reading.n_rows, found.reading.n_refused), (4, 0));
}

#[test]
fn each_reason_for_no_pair_is_counted() {
    let person = |id: &str, question: &str, answers: &str, passage: &str| {
        row(id, question, answers, ("PERSON", passage))
    };
    let file = [
        person("1", "who is it", r#"["Ann"]"#, "It is Ann."),
        person("2", "who was it", r#"["Bo"]"#, "It was Bo."),
        person("3", "who is it", r#"["Cy", "Cyril"]"#, "It is Cy."),
        person("4", "who is it", r#"[]"#, "Nobody."),
        person("5", "who is it", r#"["Ann"]"#, "The annual Anna."),
        person("6", "is it dee or eve", r#"["Dee"]"#, "It is Dee."),
        person("7", "is it a deed", r#"["Dee"]"#, "It is Dee."),
    ];
    let found = convert(&file.concat());
    let ids: Vec<&str> = found.pairs.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["1:0", "2:0", "7:0"]);
    let expected = [
        (RowExclusionReason::NotOneAnswer, 2),
        (RowExclusionReason::AnswerNotInPassage, 1),
        (RowExclusionReason::AnswerInQuestion, 1),
    ];
    assert_eq!(found.left_out, BTreeMap::from(expected));
}

#[test]
fn a_draw_depends_on_the_seed_the_question_and_the_passage_alone() {
    let rows: Vec<String> = (0..40)
        .map(|it| {
            row(
                &it.to_string(),
                "who",
                &format!(r#"["P{it}"]"#),
                ("ORG", &format!("P{it}!")),
            )
        })
        .collect();
    let by_id = |found: ConvertedPairDataset| {
        let pairs = found.pairs.into_iter();
        pairs.map(|it| (it.id, it.b)).collect::<BTreeMap<_, _>>()
    };
    let forward = by_id(convert(&rows.concat()));
    assert_eq!(forward.len(), 40);
    let drawn: std::collections::BTreeSet<&String> = forward.values().collect();
    assert!(drawn.len() > 15, "{drawn:?}");
    let backward: Vec<String> = rows.iter().rev().cloned().collect();
    assert_eq!(by_id(convert(&backward.concat())), forward);
    let other = make_answer_replacement_pairs(
        FileInput::without_progress("f", rows.concat().as_bytes()),
        7,
    )
    .unwrap();
    assert_ne!(by_id(other), forward);
}

#[test]
fn rows_that_cannot_be_used_are_refused() {
    let good = row("1", "who", r#"["Ann"]"#, ("PERSON", "Ann."));
    let file = [
        good.clone(),
        good.clone(),
        good.replace("who", "what"),
        good.replace("PERSON", "DATE"),
        good.replace("Ann.", " "),
        good.replace(r#"["Ann"]"#, r#"["?"]"#),
        good.replace(r#"["Ann"]"#, &format!("[\"{}\"]", "a".repeat(201))),
        "{\n".to_owned(),
    ];
    let found = convert(&file.concat());
    // The second row is another passage of the same question.
    assert_eq!((found.reading.n_rows, found.reading.n_refused), (2, 6));
    let refused = found.reading.refused.iter();
    let said: Vec<String> = refused.map(|it| it.to_string()).collect();
    for (line, part) in [
        (3, "in line 1"),
        (4, "`PERSON`, `GPE`, `LOC`, `NORP`, `ORG`"),
        (5, "`passage` is empty"),
        (6, "contains no words"),
        (7, "201 bytes"),
        (8, "EOF"),
    ] {
        let told = &said[line - 3];
        assert!(
            told.contains(&format!("line {line}: ")) && told.contains(part),
            "{told}"
        );
    }
}

#[test]
fn words_are_found_whole_in_any_case() {
    let found = |text: &str, answer: &str| {
        let pieces: Vec<&str> = answer.split(' ').collect();
        let places = places(text, &pieces);
        places
            .iter()
            .map(|it| &text[it.clone()])
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(
        found("St. John, st.john and St.  Johns", "St. John"),
        "St. John|st.john"
    );
    assert_eq!(found("İzmir ÉTÉ été", "été"), "ÉTÉ|été");
    assert_eq!(found("aaaa aa", "aa"), "aa");
    assert_eq!(found("the (U.S.) of", "U.S."), "U.S.");
    assert_eq!(found("", "a"), "");
}
