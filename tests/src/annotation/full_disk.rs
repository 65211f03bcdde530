//! Nothing is lost when the disk is full for a while.
//!
//! The data are in a small file system in memory that only the server sees, in namespaces of its
//! own, which needs no root. Where these are not allowed, a limit on file sizes is used instead.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::crashes::{self, CrashPlan, StopGuard};
use super::server_address::ServerAddress;
use super::{make_study, scripted_annotator::ScriptedAnnotator};
use crate::harness::{TestDependency, TestHome, TestServer, or_skip};

/// Space for the data of the study and some thousand decisions.
const N_MIB: u32 = 48;

/// How long the disk is full.
const FULL: Duration = Duration::from_secs(5);

/// A server whose disk space can be taken away.
struct SpaceLimitedServer {
    server: TestServer,
    way: SpaceLimit,
}

/// How the disk space is taken away.
enum SpaceLimit {
    /// A file that fills the disk; its path as seen from outside the server.
    Filler(PathBuf),
    /// A limit on the size of files.
    Limit,
}

#[test]
fn decisions_wait_while_the_disk_is_full_and_none_is_lost() {
    let home = TestHome::new();
    make_study(&home);
    let reason = "neither namespaces nor prlimit can be used here";
    let Some(narrow) = or_skip(start(&home), TestDependency::SystemProgram, reason) else {
        return;
    };
    let plan = CrashPlan {
        n_people: 6,
        seconds: 8,
        n_kills: 0,
        seed: 2,
    };
    let site = ServerAddress::new(&narrow.server);
    let (task, curator, mut people) = crashes::begin(&narrow.server, &site, plan);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = StopGuard(&stop);
        for person in &mut people {
            scope.spawn(|| person.work(&stop));
        }
        std::thread::sleep(Duration::from_secs(1));
        narrow.fill();
        std::thread::sleep(FULL);
        stop.store(true, Ordering::Relaxed);
    });
    let n_unsent: usize = people.iter().map(n_unsent).sum();
    let n_refused: u32 = people.iter().map(|it| it.seen.n_unavailable).sum();
    let n_lost: u32 = people.iter().map(|it| it.seen.n_lost).sum();
    assert!(n_refused > 0, "there was room all the time");
    assert_eq!(n_lost, 0, "the server went away");
    assert!(n_unsent > 0, "everything was taken without room for it");
    // Reading needs no disk space.
    crashes::expect_acknowledged(&curator.rows(task), &people);

    narrow.make_room();
    crashes::finish(&mut people);
    let rows = curator.rows(task);
    crashes::expect_same(&rows, &people);
    crashes::tell(&home, plan, &people, n_unsent);
}

fn n_unsent(it: &ScriptedAnnotator) -> usize {
    it.made.len() - it.n_acknowledged
}

/// Starts the server in the way that this machine allows; none if there is no way.
fn start(home: &TestHome) -> Option<SpaceLimitedServer> {
    if works(
        Command::new("unshare")
            .args(NAMESPACES)
            .args(["sh", "-c", MOUNT, "sh", "/mnt"]),
    ) {
        return Some(start_in_memory(home));
    }
    works(Command::new("prlimit").arg("--version")).then(|| start_limited(home))
}

const NAMESPACES: [&str; 3] = ["--user", "--map-root-user", "--mount"];
const MOUNT: &str = "mount -t tmpfs tmpfs \"$1\"";

fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = quiet.stderr(Stdio::null()).status();
    status.is_ok_and(|it| it.success())
}

fn start_in_memory(home: &TestHome) -> SpaceLimitedServer {
    let full = home.path("full");
    fs::create_dir(&full).unwrap();
    // The first two arguments are `--data data`.
    let script = format!(
        "mount -t tmpfs -o size={N_MIB}m tmpfs full && cp -R data/. full/ && \
         shift 2 && exec \"$0\" --data full \"$@\""
    );
    let server = serve_by(home, |program| {
        let mut unshare = Command::new("unshare");
        unshare
            .args(NAMESPACES)
            .args(["sh", "-c", &script])
            .arg(program);
        unshare
    });
    let inside = format!("/proc/{}/root{}", server.id(), full.display());
    let way = SpaceLimit::Filler(PathBuf::from(inside).join("filler"));
    SpaceLimitedServer { server, way }
}

fn start_limited(home: &TestHome) -> SpaceLimitedServer {
    // An ignored signal stays ignored in the server, which gets an error instead.
    let script = "trap '' XFSZ; exec \"$0\" \"$@\"";
    let server = serve_by(home, |program| {
        let mut sh = Command::new("sh");
        sh.args(["-c", script]).arg(program);
        sh
    });
    let way = SpaceLimit::Limit;
    SpaceLimitedServer { server, way }
}

/// Starts a server with a command that runs the program, with its environment and folder.
fn serve_by(home: &TestHome, command: impl FnOnce(&str) -> Command) -> TestServer {
    let program = home.program();
    let mut command = command(&program.get_program().to_string_lossy());
    command.current_dir(program.get_current_dir().unwrap());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    home.serve_by(command, &[])
}

impl SpaceLimitedServer {
    /// Takes the disk space away.
    fn fill(&self) {
        match &self.way {
            SpaceLimit::Filler(path) => {
                let mut file = File::create(path).unwrap();
                for size in [1 << 20, 1 << 12, 1] {
                    let bytes = vec![7; size];
                    let error = loop {
                        if let Err(error) = file.write_all(&bytes) {
                            break error;
                        }
                    };
                    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                }
            }
            SpaceLimit::Limit => self.limit("1:"),
        }
    }

    /// Gives the disk space back.
    fn make_room(&self) {
        match &self.way {
            SpaceLimit::Filler(path) => fs::remove_file(path).unwrap(),
            SpaceLimit::Limit => self.limit("unlimited:"),
        }
    }

    /// Sets the soft limit on the size of files, in bytes.
    fn limit(&self, bytes: &str) {
        let mut prlimit = Command::new("prlimit");
        prlimit.arg(format!("--pid={}", self.server.id()));
        assert!(works(prlimit.arg(format!("--fsize={bytes}"))));
    }
}
