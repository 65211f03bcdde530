//! Models by name, from a server that stands in for the hub.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{Home, Ran, tiny_model};
use crate::peer::{Asked, Peer, Reply, answer};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The fixtures by their names, as `someone/tiny`: of `main`, of a commit and of the tag `v1`.
fn file(asked: &Asked) -> Reply {
    let gone = |code: &str| Reply::Answer(404, format!("x-error-code: {code}\r\n"), Vec::new());
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
    Reply::Answer(206, headers, bytes[from..to].to_vec())
}

/// The program with this hub and a cache of its own.
fn program(home: &Home, endpoint: &str) -> Command {
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

fn inspect(home: &Home, endpoint: &str, name: &str) -> Ran {
    Ran::of(program(home, endpoint).args(["models", "inspect", name]))
}

#[test]
fn a_model_is_fetched_once_and_then_read_without_a_network() {
    let (home, hub) = (Home::new(), Peer::new(file));
    let told = inspect(&home, &hub.address, "someone/tiny").done();
    assert!(told.starts_with("spec\ttiny:bi\n"), "{told}");
    // As sha256sum says of the fixture's model.safetensors.
    let sum = "88186e660894af13012212176ca5266aca0e2720b0c830952693e5e6c1c84d2c";
    assert!(told.contains(&format!("weights sha256\t{sum}\n")), "{told}");
    // The folder itself gives the same ranker.
    let folder = tiny_model().to_string_lossy().into_owned();
    assert_eq!(home.run_with(&["models", "inspect", &folder]).done(), told);

    let n_asked = hub.asked().len();
    let nobody = "http://127.0.0.1:9";
    assert_eq!(
        inspect(&home, nobody, "someone/tiny").done(),
        told,
        "without a network"
    );
    let mut offline = program(&home, &hub.address);
    offline
        .env("HF_HUB_OFFLINE", "1")
        .args(["models", "inspect", "someone/tiny"]);
    assert_eq!(Ran::of(&mut offline).done(), told);
    // A commit is found in the cache by itself.
    let pinned = format!("someone/tiny@{COMMIT}");
    assert!(
        inspect(&home, nobody, &pinned)
            .done()
            .contains(&format!("spec\ttiny@{COMMIT}:bi"))
    );
    assert_eq!(hub.asked().len(), n_asked);

    let mut offline = program(&home, &hub.address);
    offline
        .env("HF_HUB_OFFLINE", "1")
        .args(["models", "inspect", "someone/other"]);
    let error = Ran::of(&mut offline).refused();
    assert!(
        error.contains("HF_HUB_OFFLINE") && error.contains("config.json"),
        "{error}"
    );
    assert_eq!(hub.asked().len(), n_asked);
}

#[test]
fn a_revision_is_asked_for_by_its_name() {
    let (home, hub) = (Home::new(), Peer::new(file));
    let told = inspect(&home, &hub.address, "someone/tiny@v1").done();
    assert!(told.starts_with("spec\ttiny@v1:bi\n"), "{told}");
    assert!(
        hub.asked()
            .iter()
            .all(|it| it.line.contains("/resolve/v1/"))
    );
    inspect(&home, &hub.address, "someone/tiny@v2")
        .refused_with("no such revision of someone/tiny");
}

#[test]
fn a_hub_that_has_nothing_or_says_nothing_is_told_soon() {
    let home = Home::new();
    let refused = |hub: &Peer, name: &str| {
        let since = Instant::now();
        let error = inspect(&home, &hub.address, name).refused();
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
    let hub = Peer::new(file);
    let error = refused(&hub, "someone/nothing");
    assert!(
        error.contains("there is no config.json of someone/nothing"),
        "{error}"
    );
    let private = Peer::new(|_| Reply::Answer(401, String::new(), Vec::new()));
    assert!(refused(&private, "someone/tiny").contains("needs a token"));
    let silent = Peer::new(|_| Reply::Silence);
    assert!(refused(&silent, "someone/tiny").contains("says nothing for 2 s"));
    // It says that there is a file, and then it does not send it.
    let stalls = Peer::new(|asked| match asked.number {
        0 => file(asked),
        _ => Reply::Silence,
    });
    assert!(refused(&stalls, "someone/tiny").contains("no byte came for 2 s"));
    let broken = Peer::new(|_| Reply::Answer(500, String::new(), Vec::new()));
    assert!(refused(&broken, "someone/tiny").contains("answers 500"));
}

#[test]
fn what_a_model_is_for_is_said_by_its_files() {
    let (home, hub) = (Home::new(), Peer::new(file));
    inspect(&home, &hub.address, "someone/cross-tiny:bi")
        .refused_with("no model named `cross-tiny:bi` among `cross-tiny:cross`");
    let small = |asked: &Asked| !asked.line.contains("safetensors");
    assert!(hub.asked().iter().all(small), "no weights for nothing");
    let told = inspect(&home, &hub.address, "someone/cross-tiny").done();
    assert!(told.starts_with("spec\tcross-tiny:cross\n"), "{told}");
    // From the cache as well.
    let nobody = "http://127.0.0.1:9";
    assert_eq!(inspect(&home, nobody, "someone/cross-tiny").done(), told);
}

#[test]
fn a_fault_of_the_network_makes_no_other_model() {
    const NAME: &str = "someone/dense-tiny";
    const POOLING: &str = "1_Pooling/config.json";
    let home = Home::new();
    // What the hub does when it is asked for this file for the nth time; none sends it.
    type Fault = fn(usize) -> Option<Reply>;
    let faulty = |fault: Fault| {
        let n_asked = AtomicUsize::new(0);
        Peer::new(move |asked| {
            let of_file = asked.line.ends_with(POOLING);
            let fault = of_file.then(|| fault(n_asked.fetch_add(1, Ordering::Relaxed)));
            fault.flatten().unwrap_or_else(|| file(asked))
        })
    };
    let faults: [(Fault, &str); 4] = [
        (|_| Some(answer(500, "")), "answers 500"),
        (|_| Some(answer(429, "")), "answers 429"),
        (|_| Some(Reply::Silence), "says nothing for 2 s"),
        // It says that there is one and does not send it.
        (
            |n| (n > 0).then_some(Reply::Silence),
            "no byte came for 2 s",
        ),
    ];
    // From the second on, the weights are in the cache.
    for (fault, said) in faults {
        let error = inspect(&home, &faulty(fault).address, NAME).refused();
        assert!(error.contains(POOLING) && error.contains(said), "{error}");
    }
    let hub = Peer::new(file);
    let told = inspect(&home, &hub.address, NAME).done();
    let folder = tiny_model().with_file_name("dense-tiny");
    let folder = folder.to_string_lossy().into_owned();
    assert_eq!(home.run_with(&["models", "inspect", &folder]).done(), told);
}
