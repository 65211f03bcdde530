//! `cargo xtask dev` on a copy of the checkout: a saved change appears in the browser.
//!
//! Only the step `dev` of `cargo xtask test` runs this test, since it builds the pages twice. The
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

const COLOR: Edit = Edit {
    file: "frontend/style/axioscope.css",
    before: "light-dark(#ffffff,",
    after: "light-dark(#fffaf0,",
};
const SENTENCE: Edit = Edit {
    file: "frontend/src/pages/studies.rs",
    before: "Try your own documents",
    after: "Bring documents of your own",
};

/// Runs with all other tests, since the one below is only run by name.
#[test]
fn the_texts_to_edit_exist() {
    for edit in [COLOR, SENTENCE] {
        edit.apply(&checkout());
    }
}

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
        // `cargo xtask test` sets it, and this command must build incrementally.
        .env_remove("CARGO_INCREMENTAL")
        // The dependencies are already built there.
        .env("CARGO_TARGET_DIR", xtask.ancestors().nth(2).unwrap());
    let _dev = BackgroundProcess::start(&dev, &home.path("unused"), "Axioscope is at");

    with_tab(&format!("http://{address}"), |tab| {
        tab.open("/");
        tab.wait_for_text("1 study");

        COLOR.save(&copy.0);
        let since = Instant::now();
        tab.wait_until(
            "the new color",
            "return getComputedStyle(document.body).backgroundColor === 'rgb(255, 250, 240)'",
        );
        seen("a color", since);

        SENTENCE.save(&copy.0);
        let since = Instant::now();
        tab.wait_for_text(SENTENCE.after);
        seen("a sentence", since);
    });
}

#[track_caller]
fn seen(what: &str, since: Instant) {
    let took = since.elapsed();
    println!("{what} was seen after {:.1} s", took.as_secs_f64());
    assert!(took < LIMIT, "{what} was seen after {took:?}");
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .into()
}

/// A change of a text in a file of the checkout.
struct Edit {
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

impl Edit {
    /// Returns the file with its first occurrence of the text replaced.
    fn apply(&self, checkout: &Path) -> String {
        let text = fs::read_to_string(checkout.join(self.file)).unwrap();
        assert!(
            text.contains(self.before),
            "{} in {}",
            self.before,
            self.file
        );
        text.replacen(self.before, self.after, 1)
    }

    fn save(&self, checkout: &Path) {
        fs::write(checkout.join(self.file), self.apply(checkout)).unwrap();
    }
}

/// A copy of the files that git tracks or would add. It is always in the same place, since cargo
/// identifies packages by it.
struct Copy(PathBuf);

impl Copy {
    fn make() -> Copy {
        let root = checkout();
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
        let list = git.current_dir(&root).output().unwrap().stdout;
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
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
