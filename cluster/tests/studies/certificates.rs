//! Connections with certificates on both sides.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::processes::{ClusterProcesses, PATIENCE, cluster_program};
use crate::study_files::{count_committed_shards, ensure_equal_studies};
use crate::{create_on_one_machine, demo_study, tiny_models};

/// Makes a certificate authority and a certificate of a process, and writes them to
/// `AUTHORITY.ca`, `AUTHORITY.cert` and `AUTHORITY.key`.
fn make_certificates(folder: &Path, authority: &str) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, authority);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["axioscope-cluster".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let write = |name: &str, pem: String| {
        fs::write(folder.join(authority).with_extension(name), pem).unwrap();
    };
    write("ca", issuer.pem());
    write("cert", certificate.pem());
    write("key", key.serialize_pem());
}

/// Variables that name the files of a process.
const VARIABLES: [&str; 3] = [
    "AXIOSCOPE_TLS_CA",
    "AXIOSCOPE_TLS_CERT",
    "AXIOSCOPE_TLS_KEY",
];

/// Returns the variables of a process that trusts one authority and has a certificate of another.
fn variables(folder: &Path, trusted: &str, own: &str) -> Vec<(&'static str, String)> {
    let files = [
        format!("{trusted}.ca"),
        format!("{own}.cert"),
        format!("{own}.key"),
    ];
    let files = files.map(|it| folder.join(it).display().to_string());
    VARIABLES.into_iter().zip(files).collect()
}

#[test]
fn processes_without_a_certificate_of_the_cluster_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_certificates(folder, "own");
    make_certificates(folder, "foreign");
    let file = demo_study(folder, &["bm25", "tiny-epic:epic"], 2);
    let models = tiny_models();
    let alone = create_on_one_machine(folder, &file, &models);
    let own = variables(folder, "own", "own");
    let mut cluster = ClusterProcesses::start_in_environment(folder, 2, &models, own);
    let data = folder.join("together");
    cluster.run_study(&file, &data, &["--shard-queries", "1"]);
    ensure_equal_studies(&alone, &data, "demo");

    cluster.environment = Vec::new();
    let mut executor = cluster.start_executor();
    let before = cluster.commits();
    assert!(!before.is_empty());
    let refused = [
        (Vec::new(), "without TLS (see --tls-ca)"),
        (
            variables(folder, "own", "foreign"),
            "over TLS (see --tls-ca and --tls-cert)",
        ),
        (
            variables(folder, "foreign", "own"),
            "invalid peer certificate",
        ),
    ];
    for (number, (environment, reason)) in refused.into_iter().enumerate() {
        cluster.environment = environment;
        let data = folder.join(format!("refused-{number}"));
        let mut driver = cluster.start_driver(&file, &data, &["--scheduler-timeout", "1"]);
        assert!(
            driver.has_ended_within(PATIENCE),
            "the driver has not ended"
        );
        let log = driver.log();
        let error = log.lines().rfind(|it| it.starts_with("error: ")).unwrap();
        assert!(error.contains(reason), "{log}");
        assert!(!error.contains("Connection refused"), "{log}");
        assert_eq!(count_committed_shards(&data.join("cluster")), 0);
    }
    assert_eq!(cluster.commits(), before);
    assert!(
        executor.has_ended_within(Duration::from_secs(90)),
        "the executor has not ended"
    );
    let log = executor.log();
    assert!(log.contains("error: scheduler"), "{log}");
    assert!(log.contains("without TLS (see --tls-ca)"), "{log}");
}

#[test]
fn files_that_are_not_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_certificates(folder, "own");
    make_certificates(folder, "foreign");
    let error_of = |files: &[(&str, &str)]| {
        let mut driver = cluster_program();
        driver.args(["run", "study.toml", "--scheduler", "127.0.0.1:1"]);
        for (variable, file) in files {
            driver.env(variable, folder.join(file));
        }
        let output = driver.output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let [ca, cert, key] = VARIABLES;
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[(ca, "own.ca")], "--tls-cert"),
        (
            &[(ca, "own.key"), (cert, "own.cert"), (key, "own.key")],
            "own.key: no CERTIFICATE in PEM format",
        ),
        (
            &[(ca, "own.ca"), (cert, "own.cert"), (key, "missing.key")],
            "missing.key: No such file",
        ),
        (
            &[(ca, "own.ca"), (cert, "own.cert"), (key, "foreign.key")],
            "foreign.key: keys may not be consistent",
        ),
    ];
    for (files, expected) in cases {
        let error = error_of(files);
        assert!(error.contains(expected), "{error}");
    }
}
