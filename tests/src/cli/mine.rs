//! `mine` and `rank`: the instances of every axiom and variant, pools, limits and sampling.

use std::fs;
use std::io::Write;

use expect_test::expect;

use super::check;
use crate::harness::{TestHome, tiny_collection};

#[test]
fn every_axiom_has_instances_in_every_mode() {
    let home = TestHome::new();
    let mine = "mine --collection TINY --pool all --out mined.parquet";
    check(
        &home,
        mine,
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	4
            lnc1	3
            lnc2	45
            tp	4
            hash	659dc691d0a672457ae36feb3f9d60cf6c1b0250a27c0b48ca76b54e2e85e5a5
        "#]],
    );
    check(
        &home,
        &format!("{mine} --mode paper"),
        expect![[r#"
            tfc1	125
            tfc2	4
            mtdc	6
            lnc1	106
            lnc2	36
            tp	4
            hash	98777587aa0c8af18348f45100f84de687f41f045a2b4e1e8aa4bb6da7b599aa
        "#]],
    );
    check(
        &home,
        &format!("{mine} --mode code"),
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	8
            lnc1	32
            lnc2	36
            tp	4
            hash	660ad6d8a71933883d099f44b97bb21e45525aad6e14cb25560e35062228b0e6
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset rennings2019 --out mined.parquet",
        expect![[r#"
            tfc1	40
            tfc2	4
            mtdc	4
            lnc1	3
            lnc2	45
            tp	4
            hash	705db3da649bf284f81b41e8c4c3a4a876d94fa283dac5d709b35324968e3165
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset rennings2019 --mode paper --out mined.parquet",
        expect![[r#"
            tfc1	40
            tfc2	4
            mtdc	6
            lnc1	7
            lnc2	57
            tp	4
            hash	e429c06259d253c3f8fad8d30c369ba50776a41e1afc6c12913335dce36e1fc8
        "#]],
    );
    check(
        &home,
        "mine --collection TINY --preset camara2020 --tokenizer alnum --mode code \
         --out mined.parquet",
        expect![[r#"
            tfc1	22
            tfc2	4
            mtdc	8
            lnc1	8
            lnc2	15
            tp	4
            hash	112e78a5585601cb1b299f46c6715d70334b9c3e6d58a4acc41d4a59a156f58a
        "#]],
    );
}

#[test]
fn a_run_is_found_where_it_may_lie() {
    let home = TestHome::new();
    let pool = |file: &str| {
        let pool = format!("--pool run:{file}:3 --probes tfc1 --json");
        let mine = format!(
            "mine --collection {} --out mined.parquet {pool}",
            tiny_collection()
        );
        home.run(&mine).json()["hash"].clone()
    };
    let expected = pool("tiny.run");

    let run = fs::read(format!("{}/runs/tiny.run", tiny_collection())).unwrap();
    home.write("here/plain.run", &run);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&run).unwrap();
    home.write("gzip.run.gz", packer.finish().unwrap());
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    home.write(
        "zstd.run.zst",
        ruzstd::encoding::compress_to_vec(&run[..], fastest),
    );
    let absolute = home.path("here/plain.run");
    for file in [
        "here/plain.run",
        "gzip.run.gz",
        "gzip.run",
        "zstd.run.zst",
        "zstd.run",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(pool(file), expected, "{file}");
    }
}

#[test]
fn only_the_first_queries_count() {
    let home = TestHome::new();
    let mine = "mine --collection TINY --probes tfc1,tp --pool all --out mined.parquet";
    let some = expect![[r#"
        tfc1	11
        tp	2
        hash	81e8c4ec00c4288e802ef2e1eaf4a4362dfde8f27ad7229482deb9d45d76552f
    "#]];
    let none = expect![[r#"
        tfc1	0
        tp	0
        hash	27163ab962d0833a026fc2af5143528164484f2fbec3a7d90e53a82a960a839c
    "#]];
    let all = expect![[r#"
        tfc1	22
        tp	4
        hash	cf5173d7d1a5673d5775bc77cf310fe75e7ea86e35311e5af87bfcfc4b236490
    "#]];
    for (n_queries, expected) in [(1, some), (0, none), (99, all)] {
        check(&home, &format!("{mine} --queries {n_queries}"), expected);
    }
    check(
        &home,
        "rank --collection TINY --ranker BM25:K1=1.2 --top 2 --queries 1 --metadata --out a.run",
        expect![[r#""#]],
    );
    expect![[r##"
        # ir_metadata.start
        # platform:
        #   software:
        #     axioscope: "0.1.0"
        # implementation:
        #   source:
        #     lang: ["rust"]
        # method:
        #   automatic: true
        #   indexing:
        #     analyzer: "a–z and digits, stop words kept, Porter stemmer"
        #   retrieval:
        #     - name: "BM25"
        #       parameters: "k1 1.2, b 0.75"
        #       spec: "bm25:k1=1.2,b=0.75,k3=inf,idf=lucene"
        # data:
        #   test_collection:
        #     name: "tiny"
        #     sha256: "6c8e6f5af92ab26ab5085f563333ac9e638ff73e066781d8edbfe650f5ace61e"
        #     documents: 12
        #     queries: 1
        # ir_metadata.end
        q1 Q0 w3 1 2.1347724383100837e0 bm25:k1=1.2,b=0.75,k3=inf,idf=lucene
        q1 Q0 w2 2 1.9633462308794627e0 bm25:k1=1.2,b=0.75,k3=inf,idf=lucene
    "##]]
    .assert_eq(&home.read("a.run"));
}

#[test]
fn an_index_on_disk_gives_the_same_files() {
    let home = TestHome::new();
    home.run(
        "vectors --collection TINY --dims 4 --out words.txt"
            .replace("TINY", tiny_collection())
            .as_str(),
    )
    .expect_success();
    let commands = [
        (
            "instances",
            "mine --collection TINY --pool all --probes all --vectors words.txt",
        ),
        ("run", "rank --collection TINY --ranker bm25"),
        ("words", "vectors --collection TINY --dims 4"),
    ];
    // At first there is no data folder, so that the index is in the system's temporary folder.
    for has_data_folder in [false, true] {
        for (name, command) in commands {
            let command = command.replace("TINY", tiny_collection());
            home.run(&format!("{command} --out memory.{name}"))
                .expect_success();
            home.run(&format!("{command} --index-on-disk --out disk.{name}"))
                .expect_success();
            let bytes = |file: &str| fs::read(home.path(&format!("{file}.{name}"))).unwrap();
            assert_eq!(
                bytes("disk"),
                bytes("memory"),
                "{command}, {has_data_folder}"
            );
        }
        home.run("study list").expect_success();
    }
}

#[test]
fn a_preset_without_published_code_has_no_mode_code() {
    let home = TestHome::new();
    let mine = format!(
        "mine --collection {} --out mined.parquet",
        tiny_collection()
    );
    let refused = home
        .run(&format!("{mine} --mode code --preset rennings2019"))
        .expect_failure()
        + "\n";
    expect![[r#"
        mode: `rennings2019` has no variant `code`, because its extraction scripts were not published; use `fixed` or `paper`
    "#]].assert_eq(&refused);
    assert!(home.files().is_empty());
}

#[test]
fn a_draw_is_the_same_each_time_and_says_its_share() {
    let home = TestHome::new();
    let mine = "mine --collection TINY --pool all --out mined.parquet --per-query 3";
    for _ in 0..2 {
        check(
            &home,
            mine,
            expect![[r#"
            tfc1	9	sampled 0.4091
            tfc2	3	sampled 0.7500
            mtdc	4
            lnc1	3
            lnc2	9	sampled 0.2000
            tp	4
            hash	3fb1632bc03525d0ae5a8223dfcb135fcbcb52d02dec1eb1f1f6ca4a33630470
            "#]],
        );
    }
    check(
        &home,
        &format!("{mine} --seed 7 --probes tfc1"),
        expect![[r#"
            tfc1	9	sampled 0.4091
            hash	e7953a25a955fe6c507fbdd11ca221ebdb82f27cf3e63122d68a53666582a356
        "#]],
    );
    let line = format!(
        "{} --json --probes tfc1",
        mine.replace("TINY", tiny_collection())
    );
    expect![[r#"{"tfc1":0.4090909090909091}"#]]
        .assert_eq(&home.run(&line).json()["sampled"].to_string());
}
