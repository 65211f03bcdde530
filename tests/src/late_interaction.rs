//! The late-interaction analysis, on the command line and over HTTP.

use shared::api::{
    GetAttentionRequest, GetLateInteractionTopDocumentsRequest, GetReproductionRequest,
    ListLateInteractionAnalysesRequest,
};
use shared::reproduce::{PaperTable, ReproduciblePaper};

use crate::harness::{TestHome, study_file, study_lines, tiny_collection, tiny_model};

/// Returns a folder with a published study of BM25 on the tiny collection.
pub(crate) fn published(name: &str, title: &str) -> TestHome {
    let home = TestHome::new();
    let rest = study_lines("all", &["tfc1"], &["bm25"]);
    home.make_study(study_file(name, title, tiny_collection(), &rest));
    home.run(&format!("study publish {name}")).expect_success();
    home
}

#[test]
fn a_model_in_late_interaction_is_looked_into_beside_its_study() {
    let home = published("tiny", "Tiny");
    let model = tiny_model();
    let model = model.display();
    let look = format!(
        "late-interaction --study tiny --ranker {model}:late --pool all --min-vectors 2 --json"
    );
    let tables = home.run(&look).json();
    let rows = |name: &str| {
        let mut tables = tables.as_array().unwrap().iter();
        let table = tables.find(|it| it["name"] == name).unwrap();
        table["rows"].as_array().unwrap().clone()
    };
    let words = rows("terms");
    assert!(!words.is_empty());
    assert_eq!(rows("correlations").len(), 3);
    for row in &words {
        // Exact matches and matches with other query terms are both shares of all matches of a
        // term.
        let share = |at: usize| row[at]["fraction"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&(share(8) + share(9))), "{row}");
        if let Some(tau) = row[4]["score"]["value"].as_f64() {
            assert!((-1.0..=1.0).contains(&tau), "{row}");
        }
    }
    for row in rows("tokens") {
        if let Some(ratio) = row[5]["score"]["value"].as_f64() {
            assert!(ratio > 0.0 && ratio <= 1.0, "{row}");
        }
    }

    // The column of the encoder before fine-tuning has the values of its own analysis.
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    let compared = home.run(&format!(
        "late-interaction --collection {} --ranker {fixtures}/colbert-tiny:colbert \
         --base-model {model}:late --pool all --min-vectors 2 --json",
        tiny_collection()
    ));
    let compared = compared.json();
    let mut found = compared.as_array().unwrap().iter();
    let compared = found.find(|it| it["name"] == "fine-tuning").unwrap();
    let correlations = rows("correlations");
    for at in 0..3 {
        assert_eq!(
            compared["rows"][at][1]["estimate"]["value"], correlations[at][1]["difference"],
            "{compared}"
        );
    }
    assert_eq!(compared["rows"].as_array().unwrap().len(), 7);
    let means = words.iter().map(|it| it[8]["fraction"].as_f64().unwrap());
    let mean = means.sum::<f64>() / words.len() as f64;
    let before = compared["rows"][5][1]["score"]["value"].as_f64().unwrap();
    assert!((before - mean).abs() < 1e-12, "{compared}");

    // Next to the paper, the study has what was found; the encoder before was not analyzed.
    let reproduced = home
        .run("reproduce formal2021 --table 1 --study tiny --json")
        .json();
    let reproduced = reproduced[0]["rows"].as_array().unwrap();
    assert_eq!(reproduced.len(), 7 + 3);
    for (row, correlation) in reproduced.iter().step_by(2).zip(&correlations) {
        // The published value is that after fine-tuning, in a row of its own.
        assert_eq!(row[1]["text"], "before fine-tuning");
        assert_eq!(
            row[4]["estimate"]["value"], correlation[1]["difference"],
            "{row}"
        );
    }

    let server = home.serve(&[]);
    let table = PaperTable {
        paper: ReproduciblePaper::Formal2021,
        table: 1,
    };
    let study = "tiny".to_owned();
    let of_server = server.call(&GetReproductionRequest { study, table });
    assert_eq!(of_server[0].rows.len(), reproduced.len());
    assert!(
        of_server[0].columns[4]
            .name
            .ends_with("tiny late interaction")
    );
    let study = "tiny".to_owned();
    let found = server.call(&ListLateInteractionAnalysesRequest { study });
    assert_eq!(found.len(), 1);
    let (slug, analysis) = (&found[0].slug, &found[0].analysis);
    assert_eq!(analysis.words.len(), words.len());
    assert!(analysis.header.ranker.spec.ends_with(":late"));
    assert_eq!(slug, "tiny-late-interaction");
    assert_eq!(analysis.header.n_pairs, 3 * 12);
    let of_ranker = |ranker: &str, query| GetLateInteractionTopDocumentsRequest {
        study: "tiny".to_owned(),
        ranker: ranker.to_owned(),
        query,
    };
    let of_query = |query| of_ranker(slug, query);
    let firsts = server.call(&of_query(0));
    assert_eq!(server.call(&of_ranker("0", 0)), firsts);
    let (status, unknown) = server.try_call(&of_ranker("bm25", 0)).unwrap_err();
    assert_eq!(status, 404);
    assert!(unknown.error.ends_with(slug), "{}", unknown.error);
    assert_eq!(firsts.query, analysis.header.queries[0]);
    assert_eq!((firsts.n_docs, firsts.docs.len()), (12, 10));
    // The study has no scores of this ranker.
    assert!(!firsts.is_scored && firsts.docs.iter().all(|it| it.score.is_none()));
    assert_eq!(firsts.docs[0].text.as_deref(), Some("river mud"));
    let (status, _) = server.try_call(&of_query(3)).unwrap_err();
    assert_eq!(status, 404);
    drop(server);

    // A second analysis replaces the first, and is equal in every bit.
    assert_eq!(home.run(&look).json(), tables);
    let files = home.files().into_iter();
    assert_eq!(files.filter(|it| it.contains("whitebox-")).count(), 1);

    home.expect_refused(
        &format!("late-interaction --study tiny --ranker {model}:bi"),
        ":late",
    );
}

#[test]
fn a_cross_encoder_shows_where_it_looks() {
    let home = TestHome::new();
    let model = tiny_model().parent().unwrap().join("cross-tiny");
    let server = home.serve(&["--model", &model.to_string_lossy()]);
    let asked = GetAttentionRequest {
        model: "cross-tiny:cross".to_owned(),
        query: "where do rivers end".to_owned(),
        document: "A river flows into the sea.".to_owned(),
        layer: None,
        head: Some(1),
    };
    let found = server.call(&asked);
    assert_eq!((found.n_layers, found.n_heads, found.layer), (2, 4, 1));
    assert_eq!(found.weights.len(), found.tokens.len());
    assert_eq!(found.tokens[found.document_start as usize - 1], "[SEP]");
    for row in &found.weights {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    }
    let refused = |asked: &GetAttentionRequest| server.try_call(asked).unwrap_err().1.error;
    let far = GetAttentionRequest {
        layer: Some(2),
        ..asked.clone()
    };
    assert!(refused(&far).contains("layer"), "{}", refused(&far));
}
