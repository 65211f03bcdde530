//! Models by name, from a server that stands in for the Hugging Face hub.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{CommandOutput, TestHome, tiny_model};
use crate::mock_server::{MockReply, MockServer, RecordedRequest, answer};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Serves the fixtures by name as `someone/tiny`: for `main`, for a commit, and for the tag `v1`.
fn file(asked: &RecordedRequest) -> MockReply {
    let gone = |code: &str| MockReply::Answer(404, format!("x-error-code: {code}\r\n"), Vec::new());
    let path = asked.line.split_once("/someone/");
    let Some((model, rest)) = path.and_then(|it| it.1.split_once("/resolve/")) else {
        return gone("RepoNotFound");
    };
    let folder = tiny_model().with_file_name(model);
    if !folder.is_dir() {
        return gone("RepoNotFound");
    }
    let (revision, name) = rest.split_once('/').unwrap();
    if !["main", "v1", COMMIT].contains(&revision) {
        return gone("RevisionNotFound");
    }
    let Ok(bytes) = std::fs::read(folder.join(name)) else {
        return gone("EntryNotFound");
    };
    let range = asked
        .header("range")
        .unwrap()
        .strip_prefix("bytes=")
        .unwrap();
    let (from, to) = range.split_once('-').unwrap();
    let (from, n) = (from.parse().unwrap(), bytes.len());
    let to = to.parse().map_or(n, |it: usize| it + 1);
    let headers = format!(
        "etag: \"{}-1\"\r\nx-repo-commit: {COMMIT}\r\ncontent-range: bytes {from}-{}/{n}\r\n",
        name.replace('/', "-"),
        to - 1
    );
    MockReply::Answer(206, headers, bytes[from..to].to_vec())
}

/// Returns the program with this hub and a cache of its own.
fn program(home: &TestHome, endpoint: &str) -> Command {
    let mut program = home.program();
    for variable in [
        "HF_HUB_OFFLINE",
        "HF_TOKEN",
        "http_proxy",
        "HTTP_PROXY",
        "ALL_PROXY",
    ] {
        program.env_remove(variable);
    }
    program
        .env("HF_HOME", home.path("hf"))
        .env("HF_ENDPOINT", endpoint)
        .env("HF_HUB_ETAG_TIMEOUT", "2")
        .env("HF_HUB_DOWNLOAD_TIMEOUT", "2")
        .args(["--data", "data"]);
    program
}

fn inspect(home: &TestHome, endpoint: &str, name: &str) -> CommandOutput {
    CommandOutput::run(program(home, endpoint).args(["models", "inspect", name]))
}

#[test]
fn a_model_is_fetched_once_and_then_read_without_a_network() {
    let (home, hub) = (TestHome::new(), MockServer::new(file));
    let told = inspect(&home, &hub.address, "someone/tiny").expect_success();
    assert!(told.starts_with("spec\ttiny:bi\n"), "{told}");
    // The output of sha256sum for the model.safetensors of the fixture.
    let sum = "88186e660894af13012212176ca5266aca0e2720b0c830952693e5e6c1c84d2c";
    assert!(told.contains(&format!("weights sha256\t{sum}\n")), "{told}");
    // The folder itself gives the same ranker.
    let folder = tiny_model().to_string_lossy().into_owned();
    assert_eq!(
        home.run_with(&["models", "inspect", &folder])
            .expect_success(),
        told
    );

    let n_asked = hub.asked().len();
    let nobody = "http://127.0.0.1:9";
    assert_eq!(
        inspect(&home, nobody, "someone/tiny").expect_success(),
        told,
        "without a network"
    );
    let mut offline = program(&home, &hub.address);
    offline
        .env("HF_HUB_OFFLINE", "1")
        .args(["models", "inspect", "someone/tiny"]);
    assert_eq!(CommandOutput::run(&mut offline).expect_success(), told);
    // A commit is found in the cache without the hub.
    let pinned = format!("someone/tiny@{COMMIT}");
    assert!(
        inspect(&home, nobody, &pinned)
            .expect_success()
            .contains(&format!("spec\ttiny@{COMMIT}:bi"))
    );
    assert_eq!(hub.asked().len(), n_asked);

    let mut offline = program(&home, &hub.address);
    offline
        .env("HF_HUB_OFFLINE", "1")
        .args(["models", "inspect", "someone/other"]);
    let error = CommandOutput::run(&mut offline).expect_failure();
    assert!(
        error.contains("HF_HUB_OFFLINE") && error.contains("config.json"),
        "{error}"
    );
    assert_eq!(hub.asked().len(), n_asked);
}

#[test]
fn a_revision_is_asked_for_by_its_name() {
    let (home, hub) = (TestHome::new(), MockServer::new(file));
    let told = inspect(&home, &hub.address, "someone/tiny@v1").expect_success();
    assert!(told.starts_with("spec\ttiny@v1:bi\n"), "{told}");
    assert!(
        hub.asked()
            .iter()
            .all(|it| it.line.contains("/resolve/v1/"))
    );
    inspect(&home, &hub.address, "someone/tiny@v2")
        .expect_failure_with("no such revision of someone/tiny");
}

#[test]
fn a_hub_that_has_nothing_or_says_nothing_is_told_soon() {
    let home = TestHome::new();
    let refused = |hub: &MockServer, name: &str| {
        let since = Instant::now();
        let error = inspect(&home, &hub.address, name).expect_failure();
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{:?}: {error}",
            since.elapsed()
        );
        assert!(
            error.contains(&hub.address) && error.contains(name),
            "{error}"
        );
        error
    };
    let hub = MockServer::new(file);
    let error = refused(&hub, "someone/nothing");
    assert!(
        error.contains("there is no config.json of someone/nothing"),
        "{error}"
    );
    let private = MockServer::new(|_| MockReply::Answer(401, String::new(), Vec::new()));
    assert!(refused(&private, "someone/tiny").contains("needs a token"));
    let silent = MockServer::new(|_| MockReply::NoResponse);
    assert!(refused(&silent, "someone/tiny").contains("says nothing for 2 s"));
    // The hub says that there is a file, but does not send it.
    let stalls = MockServer::new(|asked| match asked.number {
        0 => file(asked),
        _ => MockReply::NoResponse,
    });
    assert!(refused(&stalls, "someone/tiny").contains("no byte came for 2 s"));
    let broken = MockServer::new(|_| MockReply::Answer(500, String::new(), Vec::new()));
    assert!(refused(&broken, "someone/tiny").contains("answers 500"));
}

#[test]
fn what_a_model_is_for_is_said_by_its_files() {
    let (home, hub) = (TestHome::new(), MockServer::new(file));
    inspect(&home, &hub.address, "someone/cross-tiny:bi")
        .expect_failure_with("no model named `cross-tiny:bi` among `cross-tiny:cross`");
    let small = |asked: &RecordedRequest| !asked.line.contains("safetensors");
    assert!(hub.asked().iter().all(small), "no weights for nothing");
    let told = inspect(&home, &hub.address, "someone/cross-tiny").expect_success();
    assert!(told.starts_with("spec\tcross-tiny:cross\n"), "{told}");
    // The cache gives the same.
    let nobody = "http://127.0.0.1:9";
    assert_eq!(
        inspect(&home, nobody, "someone/cross-tiny").expect_success(),
        told
    );
}

#[test]
fn a_fault_of_the_network_makes_no_other_model() {
    const NAME: &str = "someone/dense-tiny";
    const POOLING: &str = "1_Pooling/config.json";
    let home = TestHome::new();
    // The reply of the hub to the nth request of this file; none means that the file is sent.
    type Fault = fn(usize) -> Option<MockReply>;
    let faulty = |fault: Fault| {
        let n_asked = AtomicUsize::new(0);
        MockServer::new(move |asked| {
            let of_file = asked.line.ends_with(POOLING);
            let fault = of_file.then(|| fault(n_asked.fetch_add(1, Ordering::Relaxed)));
            fault.flatten().unwrap_or_else(|| file(asked))
        })
    };
    let faults: [(Fault, &str); 4] = [
        (|_| Some(answer(500, "")), "answers 500"),
        (|_| Some(answer(429, "")), "answers 429"),
        (|_| Some(MockReply::NoResponse), "says nothing for 2 s"),
        // The hub says that there is a file, but does not send it.
        (
            |n| (n > 0).then_some(MockReply::NoResponse),
            "no byte came for 2 s",
        ),
    ];
    // From the second hub on, the weights are in the cache.
    for (fault, said) in faults {
        let error = inspect(&home, &faulty(fault).address, NAME).expect_failure();
        assert!(error.contains(POOLING) && error.contains(said), "{error}");
    }
    let hub = MockServer::new(file);
    let told = inspect(&home, &hub.address, NAME).expect_success();
    let folder = tiny_model().with_file_name("dense-tiny");
    let folder = folder.to_string_lossy().into_owned();
    assert_eq!(
        home.run_with(&["models", "inspect", &folder])
            .expect_success(),
        told
    );
}

/// A dishonest reply of a hub, and the error message about it.
struct Trick {
    /// The file whose request is answered like this.
    file: &'static str,
    /// The replies, each of which is tried.
    replies: &'static [fn(&RecordedRequest) -> MockReply],
    told: &'static str,
}

/// Returns an honest reply in which one header is added or replaced.
fn with_header(asked: &RecordedRequest, name: &str, value: &str) -> MockReply {
    let MockReply::Answer(status, headers, body) = file(asked) else {
        panic!("the hub has {}", asked.line)
    };
    let others = headers
        .lines()
        .filter(|it| !it.starts_with(&format!("{name}:")));
    let headers: String = others.map(|it| format!("{it}\r\n")).collect();
    MockReply::Answer(status, format!("{headers}{name}: {value}\r\n"), body)
}

fn redirect(location: &str) -> MockReply {
    MockReply::Answer(302, format!("location: {location}\r\n"), Vec::new())
}

/// Returns the headers of an honest reply, for a file of this size.
fn promise(n_bytes: u64) -> String {
    format!(
        "etag: \"made-up\"\r\nx-repo-commit: {COMMIT}\r\n\
         content-range: bytes 0-0/{n_bytes}\r\n"
    )
}

/// Returns whether a request asks for the size of a file, which comes before its bytes.
fn is_size_asked(asked: &RecordedRequest) -> bool {
    asked.header("range") == Some("bytes=0-0")
}

const TRICKS: &[Trick] = &[
    Trick {
        file: "config.json",
        replies: &[
            |asked| with_header(asked, "x-repo-commit", "../../../../../evil"),
            |asked| with_header(asked, "x-repo-commit", "/tmp/axioscope-evil"),
            |_| answer(206, "[1]"),
        ],
        told: "of which commit",
    },
    Trick {
        file: "config.json",
        replies: &[
            |asked| with_header(asked, "etag", "\"../../../../../evil\""),
            |asked| with_header(asked, "x-linked-etag", "\"/tmp/axioscope-evil\""),
        ],
        told: "no etag, or one that cannot be the name of a file",
    },
    Trick {
        file: "config.json",
        replies: &[|_| MockReply::Answer(206, promise(100_000_000_000_000), vec![b' '])],
        told: "config.json has 100000000000000 bytes there, at most",
    },
    Trick {
        file: "model.safetensors",
        replies: &[|_| MockReply::Answer(206, promise(100_000_000_000_000), vec![b' '])],
        told: "model.safetensors has 100000000000000 bytes there, at most",
    },
    Trick {
        file: "config.json",
        replies: &[|_| MockReply::Endless(206, promise(1_000))],
        told: "it sends more than the 1000 bytes it promised",
    },
    Trick {
        file: "config.json",
        replies: &[|asked| match is_size_asked(asked) {
            true => MockReply::Answer(206, promise(1_000), vec![b' ']),
            false => MockReply::Answer(206, promise(1_000), vec![b' '; 10]),
        }],
        told: "it sent 10 of the 1000 bytes it promised",
    },
    Trick {
        file: "config.json",
        replies: &[|_| MockReply::Answer(206, promise(10), b"<html> </html>"[..10].to_vec())],
        told: "what it sends is not JSON",
    },
    Trick {
        file: "config.json",
        replies: &[|_| {
            let headers = promise(9) + "content-type: text/html; charset=utf-8\r\n";
            MockReply::Answer(206, headers, b"<p>no</p>".to_vec())
        }],
        told: "it sends a page of HTML",
    },
    Trick {
        file: "config.json",
        replies: &[|_| redirect("file:///etc/passwd")],
        told: "it redirects to `file:///etc/passwd`",
    },
    Trick {
        file: "config.json",
        replies: &[|_| redirect("http://127.0.0.1:9/config.json")],
        told: "it redirects to `http://127.0.0.1:9/config.json`",
    },
    Trick {
        file: "config.json",
        replies: &[|_| redirect("//evil.example/config.json")],
        told: "it redirects to `//evil.example/config.json`",
    },
    Trick {
        file: "config.json",
        replies: &[|_| redirect("/again")],
        told: "it redirects more than 5 times",
    },
    Trick {
        file: "config.json",
        replies: &[|_| MockReply::Answer(302, String::new(), Vec::new())],
        told: "it redirects to nowhere",
    },
    Trick {
        file: "modules.json",
        replies: &[|_| {
            let modules =
                r#"[{"path": "../../evil", "type": "sentence_transformers.models.Dense"}]"#;
            MockReply::Answer(206, promise(modules.len() as u64), modules.into())
        }],
        told: "modules.json names `../../evil`, which is no folder inside the model's",
    },
];

#[test]
fn a_malicious_hub_is_an_error_and_writes_nothing_outside_of_the_cache() {
    let tricks = TRICKS.iter();
    for (trick, reply) in tricks.flat_map(|trick| trick.replies.iter().map(move |it| (trick, it))) {
        let home = TestHome::new();
        let hub = MockServer::new(move |asked| match asked.line.ends_with(trick.file) {
            true => reply(asked),
            // The target of the endless redirect.
            false if asked.line.ends_with("/again") => redirect("/again"),
            false => file(asked),
        });
        let since = Instant::now();
        let error = inspect(&home, &hub.address, "someone/dense-tiny").expect_failure();
        assert!(error.contains(trick.told), "{}: {error}", trick.told);
        assert!(since.elapsed() < Duration::from_secs(30), "{}", trick.told);
        for path in home.files() {
            assert!(path.starts_with("hf/hub/"), "{}: {path}", trick.told);
            let n_bytes = std::fs::metadata(home.path(&path)).unwrap().len();
            assert!(n_bytes < 1 << 20, "{}: {path} has {n_bytes}", trick.told);
        }
        let evil = std::path::Path::new("/tmp/axioscope-evil");
        assert!(!evil.exists(), "{}", trick.told);
    }
}

#[test]
fn the_token_goes_to_no_other_host() {
    let home = TestHome::new();
    let other = MockServer::new(|_| answer(206, "{}"));
    let there = other.address.clone();
    let hub = MockServer::new(move |_| redirect(&format!("{there}/config.json")));
    home.write("hf/token", "hush");
    inspect(&home, &hub.address, "someone/tiny").expect_failure_with("it redirects to");
    assert_eq!(hub.asked()[0].header("authorization"), Some("Bearer hush"));
    assert_eq!(other.asked().len(), 0);
}

#[test]
fn a_download_that_was_cut_off_goes_on_where_it_ended() {
    let home = TestHome::new();
    let weights =
        |asked: &RecordedRequest| asked.line.ends_with("safetensors") && !is_size_asked(asked);
    let cut = MockServer::new(move |asked| match (weights(asked), file(asked)) {
        (true, MockReply::Answer(status, headers, body)) => {
            MockReply::Answer(status, headers, body[..1_000].to_vec())
        }
        (_, reply) => reply,
    });
    inspect(&home, &cut.address, "someone/tiny").expect_failure_with("it sent 1000 of the");
    let hub = MockServer::new(file);
    inspect(&home, &hub.address, "someone/tiny").expect_success();
    let asked = hub.asked();
    let range = asked
        .iter()
        .rfind(|it| weights(it))
        .unwrap()
        .header("range");
    assert_eq!(range, Some("bytes=1000-"));
}
