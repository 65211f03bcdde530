//! A PostgreSQL server for the tests of one run: in its own folder, on a free loopback port, with a
//! password, removed after the run.

use crate::process;
use crate::setup::postgres::PostgresPrograms;
use anyhow::{Context, Result, bail};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const USER: &str = "axioscope";
/// With characters that an address has to spell.
const PASSWORD: (&str, &str) = ("Xa7q/the@tests", "Xa7q%2Fthe%40tests");

/// A machine that is busy may take its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tests run side by side.
const SETTINGS: [&str; 4] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=64MB",
];

const NOT_TO_DISK: [&str; 3] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
];

/// What survives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing has to.
    None,
    /// Everything that was committed, as where people work.
    Commits,
}

/// A server that ends when this is dropped.
pub(crate) struct PostgresServer {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl PostgresServer {
    /// Starts one, and returns when it answers.
    pub(crate) fn start(
        programs: &PostgresPrograms,
        survives: Durability,
    ) -> Result<PostgresServer> {
        let name = format!("axioscope-postgres-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Of an earlier process with the same number.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
        let owner = ServerUser::new();
        let password = folder.join("password");
        fs::write(&password, PASSWORD.0)?;
        for path in [&folder, &password] {
            owner.give(path)?;
        }
        let data = folder.join("data");
        let mut initdb = owner.command(&programs.initdb, &folder);
        initdb
            .arg("--pgdata")
            .arg(&data)
            .args(["--username", USER, "--auth", "scram-sha-256"])
            .args(["--encoding", "UTF8", "--no-locale", "--no-sync"])
            .arg("--pwfile")
            .arg(&password)
            .stdout(Stdio::null());
        let made = process::run(&mut initdb);
        if made.is_err() {
            fs::remove_dir_all(&folder)?;
        }
        made?;

        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = fs::File::create(folder.join("log"))?;
        let mut postgres = owner.command(&programs.postgres, &folder);
        postgres
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string()]);
        let more: &[&str] = match survives {
            Durability::None => &NOT_TO_DISK,
            Durability::Commits => &[],
        };
        for setting in SETTINGS.iter().chain(more) {
            postgres.args(["-c", setting]);
        }
        let child = postgres
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting `{}`", process::command_line(&postgres)))?;
        let mut server = PostgresServer {
            child,
            folder,
            port,
        };
        server.wait()?;
        Ok(server)
    }

    /// Its address, with a user who may do everything.
    pub(crate) fn url(&self) -> String {
        format!(
            "postgres://{USER}:{}@127.0.0.1:{}/postgres",
            PASSWORD.1, self.port
        )
    }

    /// The number of its first process; each connection has one of its own below it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Until it says in its file that it is ready, as `pg_ctl` does.
    fn wait(&mut self) -> Result<()> {
        let file = self.folder.join("data/postmaster.pid");
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if fs::read_to_string(&file).is_ok_and(|it| it.lines().any(|it| it.trim() == "ready")) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                bail!("PostgreSQL ended ({status}): {log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("PostgreSQL was not ready after {} s", PATIENCE.as_secs())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // By SIGINT it sends everybody away and clears up after itself.
        let id = self.child.id().to_string();
        let asked = process::output_of(Command::new("kill").args(["-INT", &id]));
        if asked.is_none() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("{}: {error}", self.folder.display());
        }
    }
}

/// Who runs the server: it refuses to be run by root.
struct ServerUser(Option<(u32, u32)>);

impl ServerUser {
    /// We, unless we are root.
    fn new() -> ServerUser {
        let number = |args: &[&str]| -> Option<u32> {
            process::output_of(Command::new("id").args(args))?
                .parse()
                .ok()
        };
        if number(&["-u"]) != Some(0) {
            return ServerUser(None);
        }
        let users = ["postgres", "nobody"].into_iter();
        let mut known = users.filter_map(|it| Some((number(&["-u", it])?, number(&["-g", it])?)));
        ServerUser(known.next())
    }

    #[cfg(unix)]
    fn give(&self, path: &Path) -> Result<()> {
        if let ServerUser(Some((user, group))) = *self {
            let given = std::os::unix::fs::chown(path, Some(user), Some(group));
            given.with_context(|| format!("giving {} away", path.display()))?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn give(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    /// A program of theirs, in a folder that they may enter.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        #[cfg(unix)]
        if let ServerUser(Some((user, group))) = *self {
            use std::os::unix::process::CommandExt;
            command.uid(user).gid(group);
        }
        command
    }
}
