//! `cargo xtask dev` on a copy of the checkout: a saved change appears in the browser.
//!
//! The step `dev` of `cargo xtask test` runs this test alone, since it builds the pages twice. The
//! variable `AXIOSCOPE_XTASK` names the program of that step.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::background_process::BackgroundProcess;
use super::tab::with_tab;
use crate::harness::{TestDependency, TestHome, or_skip, path_from_environment};

/// The maximum time from saving a file to seeing the change.
const LIMIT: Duration = Duration::from_secs(15);

#[test]
fn a_color_and_a_sentence_are_seen_within_seconds() {
    let xtask = path_from_environment("AXIOSCOPE_XTASK");
    let Some(xtask) = or_skip(xtask, TestDependency::SystemProgram, "no `cargo xtask`") else {
        return;
    };
    let copy = Copy::make();
    let home = TestHome::new();
    let server = home.serve(&["--demo=lexical"]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let mut dev = Command::new(&xtask);
    dev.args(["dev", "--listen", &address, "--server", &server.address])
        .current_dir(&copy.0)
        .env("CARGO_MANIFEST_DIR", copy.0.join("xtask"))
        // The dependencies are already built there.
        .env("CARGO_TARGET_DIR", xtask.ancestors().nth(2).unwrap());
    let _dev = BackgroundProcess::start(&dev, &home.path("unused"), "Axioscope is at");

    with_tab(&format!("http://{address}"), |tab| {
        tab.open("/");
        tab.wait_for_text("1 study");

        copy.edit(
            "frontend/style/axioscope.css",
            "light-dark(#ffffff,",
            "light-dark(#fffaf0,",
        );
        let since = Instant::now();
        tab.wait_until(
            "the new color",
            "return getComputedStyle(document.body).backgroundColor === 'rgb(255, 250, 240)'",
        );
        seen("a color", since);

        let sentence = "Why does this ranker rank as it does?";
        copy.edit(
            "frontend/src/pages/studies.rs",
            "Why does a ranker rank the way it does?",
            sentence,
        );
        let since = Instant::now();
        tab.wait_for_text(sentence);
        seen("a sentence", since);
    });
}

#[track_caller]
fn seen(what: &str, since: Instant) {
    let took = since.elapsed();
    println!("{what} was seen after {:.1} s", took.as_secs_f64());
    assert!(took < LIMIT, "{what} was seen after {took:?}");
}

/// A copy of the files that git tracks or would add. It is always in the same place, since cargo
/// identifies packages by it.
struct Copy(PathBuf);

impl Copy {
    fn make() -> Copy {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let copy = Copy(std::env::temp_dir().join("axioscope-development"));
        let _ = fs::remove_dir_all(&copy.0);
        let mut git = Command::new("git");
        git.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let list = git.current_dir(root).output().unwrap().stdout;
        for file in String::from_utf8(list).unwrap().split_terminator('\0') {
            let target = copy.0.join(file);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            // A deleted file may still be tracked by git.
            if root.join(file).is_file() {
                fs::copy(root.join(file), target).unwrap();
            }
        }
        copy
    }

    /// Replaces the only occurrence of `before` in a file.
    fn edit(&self, file: &str, before: &str, after: &str) {
        let file = self.0.join(file);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(before), "{} in {}", before, file.display());
        fs::write(&file, text.replacen(before, after, 1)).unwrap();
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
