//! Options of a training: negatives of a ranking, a teacher, a regularizer, and three DRMMs.

use std::fmt::Write;

use serde_json::Value;

use super::{SMALL, curve, home_with_splits};

#[test]
fn negatives_are_drawn_from_a_ranking_or_selected_by_its_scores() {
    let home = home_with_splits();
    home.run("rank --collection demo --ranker bm25 --out bm25.run")
        .expect_success();
    // Relevant documents without a term of the query are not in the ranking; BM25 gives them 0.
    let (mut run, qrels) = (home.read("bm25.run"), home.read("demo/qrels.tsv"));
    for line in qrels.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let (query, doc) = (columns[0], columns[2]);
        let is_relevant = columns[3] != "0";
        if is_relevant && !run.contains(&format!("{query} Q0 {doc} ")) {
            writeln!(run, "{query} Q0 {doc} 9999 0 bm25").unwrap();
        }
    }
    home.write("complete.run", &run);
    let train = |out: &str, args: &str| {
        let line = "train --model drmm --collection demo --set unit=positive --json";
        let line = format!("{line} --set n_negatives=3 {SMALL} --out {out} {args}");
        home.run(&line).json()
    };
    let pool = "--pool rank:bm25:10 --set negative_depth=10";
    let random = train("random", &format!("{pool} --set negatives=random"));
    let hard = "--set negatives=hard --set hard_negative_margin=0.1";
    let of_bm25 = train("hard", &format!("{pool} {hard}"));
    let judged = train("judged", pool);
    assert_ne!(random["sha256"], judged["sha256"]);
    assert_ne!(of_bm25["sha256"], random["sha256"]);
    // The run has the same documents, ranks and scores.
    let pool = "--pool run:complete.run:10 --set negative_depth=10";
    let of_run = train("run", &format!("{pool} {hard}"));
    assert_eq!(of_run["sha256"], of_bm25["sha256"]);

    let line = "train --model drmm --collection demo --out other --set negatives=random";
    let line = format!("{line} --set negative_depth=10");
    home.expect_refused(&line, "need a ranking, which the pool `judged` is not");
    let shallow = format!("{line} --pool rank:bm25:9");
    home.expect_refused(&shallow, "is 10, above the depth of the pool");
    home.expect_refused(
        "train --model drmm --collection demo --out other --set negatives=random",
        "`sampling.negative_depth` is missing",
    );
    // A relevant document of a training query that is not in the run.
    let splits = home.read("demo/splits.tsv");
    let pairs = run.lines().map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (line, columns[0], columns[2])
    });
    let is_relevant_in_training = |(_, query, doc): &(&str, &str, &str)| {
        let has_grade = |grade| qrels.contains(&format!("{query}\t0\t{doc}\t{grade}\n"));
        splits.contains(&format!("{query}\ttrain\n")) && (1..4).any(has_grade)
    };
    let mut relevant = pairs.filter(is_relevant_in_training);
    let (line, query, doc) = relevant.next().unwrap();
    home.write("partial.run", run.replace(&format!("{line}\n"), ""));
    let partial = format!("train --model drmm --collection demo --out other {hard}");
    home.expect_refused(
        &format!("{partial} --pool run:partial.run:10 --set negative_depth=10"),
        &format!("has no score of document `{doc}` for query `{query}`"),
    );
}

#[test]
fn margin_mse_learns_the_margins_of_a_teacher() {
    let home = home_with_splits();
    let mut pairs = "query_id\ttext_id\n".to_owned();
    for line in home.read("demo/qrels.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        writeln!(pairs, "{}\t{}", columns[0], columns[2]).unwrap();
    }
    home.write("pairs.tsv", pairs);
    home.run("score --collection demo --pairs pairs.tsv --ranker bm25 --out teacher.tsv")
        .expect_success();
    let line = "train --model drmm --collection demo --set function=margin-mse --json \
                --set dimensions=16 --set epochs=8 --teacher";
    let learned = home
        .run(&format!("{line} teacher.tsv --out learned"))
        .json();
    assert_eq!(learned["model"], "drmm");
    let losses: Vec<f64> = curve(&home, "learned")
        .iter()
        .map(|it| it["loss"].as_f64().unwrap())
        .collect();
    assert!(losses[7] < 0.9 * losses[0], "{losses:?}");
    let card = home.read("learned/README.md");
    assert!(
        card.contains("scores of the teacher `teacher.tsv`"),
        "{card}"
    );

    // Other scores are another training, even if they only have another scale.
    let scores = home.read("teacher.tsv");
    let doubled = scores.lines().map(|it| {
        let (pair, score) = it.rsplit_once('\t').unwrap();
        format!("{pair}\t{}\n", score.parse::<f64>().unwrap() * 2.0)
    });
    home.write("doubled.tsv", doubled.collect::<String>());
    home.expect_refused(
        &format!("{line} doubled.tsv --out learned"),
        "has the training of another data",
    );

    let splits = home.read("demo/splits.tsv");
    let is_training = |it: &&str| {
        let query = it.split('\t').next().unwrap();
        splits.contains(&format!("{query}\ttrain\n"))
    };
    let left_out = scores.lines().find(is_training).unwrap();
    home.write("partial.tsv", scores.replace(&format!("{left_out}\n"), ""));
    let [query, doc, _] = left_out.split('\t').collect::<Vec<_>>()[..] else {
        panic!("{left_out}")
    };
    home.expect_refused(
        &format!("{line} partial.tsv --out other"),
        &format!("teacher partial.tsv: has no score of document `{doc}` for query `{query}`"),
    );
    home.expect_refused(
        "train --model drmm --collection demo --out other --teacher teacher.tsv",
        "only the loss `margin-mse` compares with",
    );
}

#[test]
fn a_regularizer_teaches_its_axiom_with_the_same_bits_on_any_number_of_threads() {
    let home = home_with_splits();
    let train = |out: &str, args: &str, n_threads: &str| {
        let line = "train --model drmm --collection demo --set epochs=10 --set weights=last";
        let line = format!("--data data {line} --set dimensions=16 --json --out {out} {args}");
        let mut program = home.program();
        program.args(line.split_whitespace());
        let output = program
            .env("RAYON_NUM_THREADS", n_threads)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let last = curve(&home, out).pop().unwrap();
        let lnc1 = last["axioms"]["lnc1"]["fraction"].as_f64().unwrap();
        (told["sha256"].clone(), lnc1)
    };
    let (plain, before) = train("before", "", "2");
    let args = "--set axioms=lnc1 --set noise_terms=3 --set axiom_weight=2";
    let (alone, after) = train("alone", args, "1");
    assert!(after > before + 0.1, "{before} {after}");
    assert_ne!(alone, plain);
    assert_eq!(train("three", args, "3"), (alone, after));
    let card = home.read("alone/README.md");
    assert!(card.contains("regularizer with the axioms lnc1"), "{card}");
    let recipe = home.read("alone/recipe.toml");
    assert!(recipe.contains("[regularizer]") && recipe.contains("noise_terms = 3"));
    home.expect_refused(
        "train --model drmm --collection demo --out other --set axioms=stmc1",
        "unknown variant `stmc1`",
    );
}

#[test]
fn three_networks_are_called_drmm() {
    let home = home_with_splits();
    let mut parameters = Vec::new();
    for variant in ["as-intended", "capreolus", "opennir"] {
        let line = format!("train --model drmm --collection demo --variant {variant} --json");
        let told = home.run(&format!("{line} {SMALL} --out {variant}")).json();
        parameters.push(told["parameters"].as_u64().unwrap());
        let config: Value =
            serde_json::from_str(&home.read(&format!("{variant}/config.json"))).unwrap();
        assert_eq!(config["variant"], variant);
    }
    // 20 (bins + 1) + 21 weights, and that of the gate.
    assert_eq!(parameters, [60, 30, 11].map(|bins| 20 * (bins + 1) + 22));
    home.expect_refused(
        "train --model knrm --collection demo --variant opennir --out other",
        "`opennir` is a variant of DRMM alone",
    );
}
