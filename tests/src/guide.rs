//! Every command of the README and the guide is run, page by page and in the order of the page.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::annotation::person::PersonClient;
use crate::annotation::server_address::ServerAddress;
use crate::harness::{CommandOutput, TestHome, tiny_collection, tiny_model};

/// What stands in the guide for something of the reader's, and what the test has there.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("$(date +%F)", "today"),
    ("/usr/local/bin/", ""),
    ("/var/lib/axioscope", "axioscope-data"),
    ("/var/backups", "."),
    ("md|csv|tex|json|html", "html"),
    ("sentence-transformers/all-MiniLM-L6-v2", "tiny"),
    ("all-MiniLM-L6-v2/", "tiny"),
    ("import FOLDER --to NAME", "import my-folder --to imported"),
    // A training of the server has the files of the command.
    ("axioscope-data/trainings/my-drmm", "my-drmm"),
    ("jfleg FOLDER", "jfleg jfleg"),
    ("LAYOUT FROM", "jfleg jfleg"),
    ("--person NAME", "--person Ada"),
    ("revoke NAME", "revoke Ada"),
    ("people delete NAME", "people delete Ada"),
    ("backup FILE", "backup own.tar.gz"),
    (
        "restore FILE --data EMPTY_FOLDER",
        "restore made.tar.gz --data restored",
    ),
    ("restore FILE", "restore made.tar.gz --data restored-too"),
    (
        "study compare NAME OTHER",
        "study compare my-collection my-collection",
    ),
    ("study run FILE", "study run study.toml"),
    ("--baseline FILE", "--baseline base.json"),
    ("--stopwords FILE", "--stopwords stops.txt"),
    (
        "transfer jfleg jfleg --to FILE",
        "transfer jfleg jfleg --to own.jsonl",
    ),
    (
        "vectors --out FILE",
        "vectors --collection DIR --out own.txt",
    ),
    (
        "expand --out FOLDER",
        "expand --collection DIR --model DOC2QUERY_T5 --out own",
    ),
    (
        "score --dry-run",
        "score --collection DIR --pairs pairs.jsonl --ranker http://127.0.0.1:9/rerank --out own.tsv --dry-run",
    ),
    (
        "mine … --vectors",
        "mine --collection DIR --out own.parquet --vectors",
    ),
    ("COMMAND", "mine"),
    ("DOC2QUERY_T5", "t5"),
    ("FOLDER", "exported"),
    ("MODEL", "tiny"),
    ("STUDY", "my-collection"),
    ("NAME", "my-collection"),
    ("DIR", "my-collection"),
    (" qrels.tsv", " my-folder/qrels.tsv"),
];

/// A command of a page.
struct GuideCommand {
    /// The line as a reader copies it, without its comment.
    line: String,
    /// Whether it stands in a block of its own; others stand in a sentence.
    is_in_block: bool,
}

/// Returns the commands of a page: lines of the blocks without a language, and code in sentences.
fn commands_of_page(text: &str) -> Vec<GuideCommand> {
    let mut commands = Vec::new();
    let is_command = |it: &&str| it.starts_with("axioscope ") || it.starts_with("curl ");
    let joined = text.replace("\\\n", " ");
    let mut language = None;
    for line in joined.lines() {
        match (line.trim().strip_prefix("```"), language) {
            (Some(_), Some(_)) => language = None,
            (Some(opened), None) => language = Some(opened),
            (None, Some("")) => {
                let line = line.split("  #").next().unwrap_or(line);
                let parts = line.split(" && ").map(str::trim).filter(is_command);
                commands.extend(parts.map(|it| GuideCommand {
                    line: it.to_owned(),
                    is_in_block: true,
                }));
            }
            (None, Some("ini")) => {
                let started = line.strip_prefix("ExecStart=");
                commands.extend(started.map(|it| GuideCommand {
                    line: it.replace("/usr/local/bin/", ""),
                    is_in_block: true,
                }));
            }
            (None, Some(_)) => {}
            (None, None) => {
                let code = line.split('`').skip(1).step_by(2).filter(is_command);
                commands.extend(code.map(|it| GuideCommand {
                    line: it.to_owned(),
                    is_in_block: false,
                }));
            }
        }
    }
    commands
}

/// Returns the README and the pages of the guide: the tutorial first, since its files are used by
/// the commands of the others.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let guide = fs::read_dir(root.join("docs/guide")).unwrap();
    let mut files: Vec<PathBuf> = guide.map(|it| it.unwrap().path()).collect();
    files.extend([root.join("README.md"), root.join("docs/glossary.md")]);
    files.sort_by_key(|it| (!it.ends_with("tutorial.md"), it.clone()));
    let read = files.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).unwrap())
    });
    read.collect()
}

/// Returns the words of a shell command.
fn shell_words(line: &str) -> Vec<String> {
    let script = format!("show() {{ for it; do printf '%s\\n' \"$it\"; done; }}\nshow {line}");
    let words = CommandOutput::run(Command::new("sh").args(["-c", &script])).expect_success();
    words.lines().map(str::to_owned).collect()
}

/// Creates the folder of a reader: a collection, a model and what commands of the guide name.
fn home_of_reader() -> TestHome {
    let home = TestHome::new();
    let copy = |from: &Path, to: &str| {
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_string_lossy();
                home.write(&format!("{to}/{name}"), fs::read(&path).unwrap());
            }
        }
    };
    copy(Path::new(tiny_collection()), "my-folder");
    home.write("my-folder/splits.tsv", "q1\ttrain\nq2\tdev\nq3\ttest\n");
    copy(&tiny_model(), "tiny");
    copy(&tiny_model().with_file_name("t5"), "t5");
    for ending in ["src", "ref0", "ref1", "ref2", "ref3"] {
        home.write(
            &format!("jfleg/dev/dev.{ending}"),
            format!("A text {ending}.\n"),
        );
    }
    home.write("stops.txt", "the\n");
    // Tests have their data in `data`, readers in the default folder.
    fs::create_dir(home.path("data")).unwrap();
    symlink("data", home.path("axioscope-data")).unwrap();
    home
}

/// The reader of the guide, who follows it command by command.
struct GuideReader {
    home: TestHome,
    token: String,
}

impl GuideReader {
    fn new() -> GuideReader {
        let home = home_of_reader();
        // Somebody who can be invited again and revoked.
        let server = home.serve_with_auth(home.program(), &[]);
        let token = server.token.clone().expect("the first start prints it");
        let printed = home.run("people invite --role annotator").expect_success();
        let invitation = printed.split('#').nth(1).unwrap();
        let invitation = invitation.split_whitespace().next().unwrap();
        let site = ServerAddress::new(&server);
        PersonClient::join(&site, Some(invitation.to_owned()), "Ada");
        drop(server);
        // Files that a command of the tutorial uses before another one writes it.
        let reader = GuideReader { home, token };
        for line in [
            "import my-folder --to my-collection",
            "rank --collection my-collection --ranker bm25 --out BM25.run",
            "rank --collection my-collection --ranker ql --out OTHER.run",
            "backup made.tar.gz",
        ] {
            reader.home.run(line).expect_success();
        }
        reader
    }

    /// Runs a command of a page.
    fn run(&mut self, command: &GuideCommand) -> Result<(), String> {
        let mut line = command.line.clone();
        for (placeholder, own) in PLACEHOLDERS {
            line = line.replace(placeholder, own);
        }
        let words = shell_words(&line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if line.contains(" study init ") {
            // Each page has its reader.
            fs::remove_file(self.home.path("study.toml")).ok();
        }
        match words[..] {
            ["axioscope", "serve", ref args @ ..] => self.serve(args),
            ["axioscope", ref args @ ..] => {
                // A command whose name alone is in a sentence has no arguments to run it with.
                let is_name = line == command.line
                    && args
                        .iter()
                        .all(|it| it.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'));
                let is_name = is_name && !args.iter().any(|it| it.starts_with("--"));
                let help: &[&str] = match is_name && !command.is_in_block {
                    true => &["--help"],
                    false => &[],
                };
                let ran = CommandOutput::run(self.home.program().args(args).args(help));
                match ran.code {
                    Some(0) => Ok(()),
                    _ => Err(ran.err),
                }
            }
            ["curl", ref args @ ..] => self.curl(args),
            _ => unreachable!("commands begin so"),
        }?;
        if line.contains(" study init ") {
            self.edit_study_file();
        }
        if line.contains(" study run ") {
            let baseline = "study check my-collection --write-baseline base.json";
            self.home.run(baseline).expect_success();
        }
        Ok(())
    }

    /// Starts a server as the guide does, on a free port.
    fn serve(&mut self, args: &[&str]) -> Result<(), String> {
        let at = args.iter().position(|it| *it == "--data");
        // The harness names the same folder.
        let args = match at {
            Some(at) => [&args[..at], &args[at + 2..]].concat(),
            None => args.to_vec(),
        };
        let server = self.home.serve_with_auth(self.home.program(), &args);
        if let Some(token) = &server.token {
            self.token.clone_from(token);
        }
        match server.get("/ready").status().as_u16() {
            200 => Ok(()),
            status => Err(format!("/ready answers {status}: {}", server.log())),
        }
    }

    /// Sends the request of a curl command to a server with the demo study and a model.
    fn curl(&self, args: &[&str]) -> Result<(), String> {
        let server = self
            .home
            .serve_with_auth(self.home.program(), &["--demo=lexical", "--model", "tiny"]);
        let (mut headers, mut body, mut path) = (Vec::new(), None, None);
        let mut method = None;
        let mut args = args.iter();
        while let Some(&arg) = args.next() {
            match arg {
                "-H" => headers.extend(args.next().and_then(|it| it.split_once(": "))),
                "-d" => body = args.next().copied(),
                "-X" => method = args.next().copied(),
                url => path = url.strip_prefix("http://127.0.0.1:8017"),
            }
        }
        let path = path.ok_or("no address of the local server")?;
        let usual = if body.is_some() { "POST" } else { "GET" };
        let mut request = server.request(method.unwrap_or(usual), path);
        for (name, value) in headers {
            request = request.header(name, value.replace("TOKEN", &self.token));
        }
        let response = match body {
            Some(body) => request.body(body.to_owned()).send(),
            None => request.send(),
        };
        let response = response.map_err(|it| it.to_string())?;
        match response.status().as_u16() {
            200 => Ok(()),
            status => Err(format!("{status}: {}", response.text().unwrap_or_default())),
        }
    }

    /// Edits the study file as the tutorial and the commands after it suggest: two neural rankers
    /// and all variants.
    fn edit_study_file(&self) {
        let text = self.home.read("study.toml");
        let text = text
            .replace("rankers = [", "rankers = [\n  \"tiny:bi\", \"tiny:late\",")
            .replace(
                "variants = [\"fixed\"]",
                "variants = [\"fixed\", \"paper\", \"code\"]",
            );
        self.home.write("study.toml", text);
    }
}

#[test]
fn every_command_of_the_guide_runs() {
    let mut reader = GuideReader::new();
    let (mut failures, mut n_run) = (Vec::new(), 0);
    for (page, text) in pages() {
        for command in commands_of_page(&text) {
            n_run += 1;
            if let Err(error) = reader.run(&command) {
                failures.push(format!("{page}: {}\n  {}", command.line, error.trim()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_run > 60, "only {n_run} commands were found");
}
