//! A study whose shards are in an object storage that responds as S3 does.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use test_dependencies::{TestDependency, or_skip};

use crate::create_on_one_machine;
use crate::processes::{ClusterProcesses, RunningProcess, free_port};
use crate::study_files::ensure_equal_studies;

/// Larger than what one request sends.
const SIZE_OF_COLLECTION: usize = 20 << 20;

#[test]
fn a_study_with_shards_in_object_storage_is_that_of_one_machine() {
    let moto = std::env::var_os("AXIOSCOPE_MOTO").filter(|it| !it.is_empty());
    let lacking = "AXIOSCOPE_MOTO does not name the folder of moto";
    let Some(moto) = or_skip(moto, TestDependency::S3, lacking) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut server = Command::new("python3");
    server
        .args([
            "-m",
            "moto.server",
            "-H",
            "127.0.0.1",
            "-p",
            &port.to_string(),
        ])
        .env("PYTHONPATH", moto);
    let log = folder.path().join("moto.log");
    let server = RunningProcess::spawn(&mut server, &log);
    create_bucket(port, &server);

    let file = large_study(folder.path());
    let alone = create_on_one_machine(folder.path(), &file, &[]);
    let environment = [
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AXIOSCOPE_STORAGE", "s3://studies/of/us".to_owned()),
    ];
    let cluster =
        ClusterProcesses::start_in_environment(folder.path(), 2, &[], environment.to_vec());
    let data = folder.path().join("data");
    let told = cluster.run_study(&file, &data, &["--shard-queries", "1"]);
    ensure_equal_studies(&alone, &data, "large");
    assert_eq!(told["stages"]["mine"]["shards"], 4, "{told}");
    assert!(!data.join("cluster").exists(), "shards are on this machine");
    assert!(
        server.log().contains("uploadId="),
        "the collection was stored in one request"
    );
}

/// Waits for the server and creates the bucket `studies`.
fn create_bucket(port: u16, server: &RunningProcess) {
    let since = Instant::now();
    let mut connection = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => break connection,
            Err(error) if since.elapsed() > Duration::from_secs(60) => {
                panic!("{error}: {}", server.log())
            }
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    };
    write!(
        connection,
        "PUT /studies HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

/// Writes a collection of random words and a study of four queries.
fn large_study(folder: &std::path::Path) -> PathBuf {
    let mut random = Pcg64::seed_from_u64(3);
    let mut words = |n: usize| {
        let mut text = String::new();
        for _ in 0..n {
            let word = random.next_u32() % 5000;
            write!(text, "w{word} ").unwrap();
        }
        text
    };
    let collection = folder.join("collection");
    fs::create_dir(&collection).unwrap();
    let mut documents = String::new();
    let mut number = 0;
    while documents.len() < SIZE_OF_COLLECTION {
        number += 1;
        let text = words(1000);
        writeln!(documents, r#"{{"_id": "d{number}", "text": "{text}"}}"#).unwrap();
    }
    fs::write(collection.join("corpus.jsonl"), documents).unwrap();
    let mut queries = String::new();
    for query in 0..4 {
        let text = words(3);
        writeln!(queries, r#"{{"_id": "q{query}", "text": "{text}"}}"#).unwrap();
    }
    fs::write(collection.join("queries.jsonl"), queries).unwrap();
    let file = folder.join("study.toml");
    let text = format!(
        "name = \"large\"\n\
         collection = '{}'\n\
         pool = \"rank:bm25:10\"\n\
         probes = [\"tfc1\", \"lnc1\"]\n\
         rankers = [\"bm25\", \"ql\"]\n",
        collection.display()
    );
    fs::write(&file, text).unwrap();
    file
}
