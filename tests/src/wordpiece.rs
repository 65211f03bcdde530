//! WordPiece tokens: compared with the reference tokenizer, and on the command line.

use std::path::Path;

use serde_json::json;
use shared::text::{Analyzer, Stemmer, Tokenizer, WordpieceVocabulary};

use crate::harness::{TestHome, demo_folder, model, study_file, study_lines, tiny_collection};

/// Texts on which different readings of the algorithm differ.
const HARD: &[&str] = &[
    "",
    " \t\r\n",
    "Unaffable embeddings, re-ranked: who's first?",
    "naïve café ÅNGSTRÖM İstanbul Straße ΑΣ ﬁne ½ x² 3.14 1,000,000",
    "東京都 is 首都。ひらがな カタカナ 한국어 ไทย हिन्दी العربية",
    "zero\u{200b}width soft\u{ad}hyphen nul\u{0}byte bell\u{7} \u{fffd} \u{feff}bom",
    "emoji 🙂👩‍👩‍👧 and ™ © € £ ± ≠ – — … “quotes” ‘single’ «guillemets» ¿qué?",
    "a\u{301}\u{323} combining, \u{1F1E9}\u{1F1EA} flag, \u{2028}line\u{2029}paragraph\u{3000}wide",
    "pneumonoultramicroscopicsilicovolcanoconiosis $5.00 @user #tag a_b c^d `x` ~y~ |z|",
];

/// Tokens without their `##`, and the bytes that they cover.
type Cut = Vec<(String, (usize, usize))>;

fn ours(analyzer: &Analyzer, text: &str) -> Cut {
    let terms = analyzer.terms_with_positions(text).into_iter();
    let place = |it: shared::text::ByteSpan| (it.start as usize, it.end as usize);
    terms.map(|(term, span)| (term, place(span))).collect()
}

fn theirs(reference: &tokenizers::Tokenizer, text: &str) -> Cut {
    let read = reference.encode(text, false).unwrap();
    let bare = |it: &String| match it.strip_prefix("##") {
        Some(bare) if !bare.is_empty() => bare.to_owned(),
        _ => it.clone(),
    };
    let tokens = read.get_tokens().iter().map(bare);
    tokens.zip(read.get_offsets().iter().copied()).collect()
}

#[test]
fn pieces_are_those_of_the_reference_tokenizer() {
    let Some(folder) = model() else {
        return;
    };
    let file = folder.join("tokenizer.json");
    let mut reference = tokenizers::Tokenizer::from_file(&file).unwrap();
    reference.with_truncation(None).unwrap();
    reference.with_padding(None);
    let text = std::fs::read_to_string(&file).unwrap();
    let analyzer = Analyzer {
        tokenizer: Tokenizer::Wordpiece(
            WordpieceVocabulary::parse_file("tokenizer.json", &text).unwrap(),
        ),
        stemmer: Stemmer::None,
        ..Analyzer::default()
    };
    for hard in HARD {
        assert_eq!(ours(&analyzer, hard), theirs(&reference, hard), "{hard:?}");
    }
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo/corpus.jsonl");
    let demo = std::fs::read_to_string(demo).unwrap();
    for line in demo.lines() {
        assert_eq!(ours(&analyzer, line), theirs(&reference, line), "{line}");
    }
}

const VOCABULARY: &str = "[UNK]\nriver\nriv\n##er\nbank\n##s\nthe\nof\na\nmud\n.\n";

#[test]
fn a_study_can_be_about_pieces_of_words() {
    let home = TestHome::new();
    home.write("vocab.txt", VOCABULARY);
    let mine = format!(
        "mine --collection {} --preset camara2020 --mode code --pool all \
         --tokenizer wordpiece:vocab.txt --out mined.parquet --json",
        tiny_collection()
    );
    let pieces = home.run(&mine).json();
    assert!(pieces["instances"]["tp"].as_u64().unwrap() > 0, "{pieces}");
    let words = home
        .run(&mine.replace("wordpiece:vocab.txt", "alnum"))
        .json();
    assert_ne!(pieces["hash"], words["hash"]);
    // The vocabulary is stored with the instances, so the file is not needed again.
    std::fs::remove_file(home.path("vocab.txt")).unwrap();
    let judge = format!(
        "judge --collection {} --instances mined.parquet --ranker bm25 --json",
        tiny_collection()
    );
    let judged = home.run(&judge).json();
    assert_eq!(judged["tp"]["unscored"], json!(0));
}

#[test]
fn a_study_file_names_its_vocabulary_and_the_report_says_it() {
    let home = TestHome::new();
    home.write("vocab.txt", VOCABULARY);
    let rest = study_lines("all", &["tfc1"], &["bm25"])
        + r#"
[analyzer]
first_tokens = 500
[analyzer.tokenizer.wordpiece]
file = "vocab.txt""#;
    home.make_study(study_file("pieces", "Pieces", tiny_collection(), &rest));
    let report = home.run("report pieces --format md").expect_success();
    let said = "WordPiece of vocab.txt (11 tokens), stop words kept, no stemmer, first 500 tokens \
                of a document";
    assert!(report.contains(said), "{report}");
    assert_eq!(
        home.run("study check pieces")
            .expect_success()
            .lines()
            .count(),
        1
    );
}

#[test]
fn what_is_no_vocabulary_is_refused_with_a_way_out() {
    let home = TestHome::new();
    home.write("words.txt", "river\nbank\n");
    for (named, said) in [
        ("words.txt", "vocab.txt of a BERT model"),
        ("none.txt", "vocab.txt"),
    ] {
        let tiny = tiny_collection();
        let mine =
            format!("mine --collection {tiny} --tokenizer wordpiece:{named} --out x.parquet");
        let refused = home.run(&mine).expect_failure();
        assert!(
            refused.contains(named) && refused.contains(said),
            "{refused}"
        );
    }
}

#[test]
fn a_study_says_how_many_instances_hold_under_other_terms() {
    let home = TestHome::new();
    let rest = study_lines("rank:bm25:20", &["tfc1", "lnc2"], &["bm25"])
        + r#"
audit = [{ stemmer = "none" }, { stemmer = "porter" }]"#;
    home.make_study(study_file("audited", "Audited", demo_folder(), &rest));
    let report = home.run("report audited --format json").json();
    let tables = report.as_array().unwrap();
    let audit = tables
        .iter()
        .find(|it| it["name"] == "tokenization")
        .unwrap();
    let share = |row: usize, column: usize| audit["rows"][row][column]["fraction"].as_f64();
    // With stems, the study's own terms, all instances hold. With words, fewer do.
    assert_eq!((share(2, 1), share(2, 2)), (Some(1.0), Some(1.0)));
    assert!(share(1, 1).unwrap() < 1.0, "{audit}");
}
