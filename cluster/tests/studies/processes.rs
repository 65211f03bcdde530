//! The processes of a cluster on this machine.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest time that a run may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1500);

/// Returns the program `axioscope` that was built with the cluster.
pub(crate) fn axioscope() -> Command {
    let cluster = Path::new(env!("CARGO_BIN_EXE_axioscope-cluster"));
    let program = cluster.with_file_name("axioscope");
    assert!(
        program.is_file(),
        "{} is missing: run `cargo xtask test cluster`",
        program.display()
    );
    quiet(&program)
}

/// Returns the program `axioscope-cluster`.
pub(crate) fn cluster_program() -> Command {
    quiet(Path::new(env!("CARGO_BIN_EXE_axioscope-cluster")))
}

/// Returns a program whose log has errors and the commits of shards.
pub(crate) fn quiet(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("AXIOSCOPE_LOG", "error,axioscope_cluster=info")
        .env_remove("AXIOSCOPE_STORAGE")
        .env_remove("AXIOSCOPE_TLS_CA")
        .env_remove("AXIOSCOPE_TLS_CERT")
        .env_remove("AXIOSCOPE_TLS_KEY");
    command
}

/// Runs a command to its end; it must succeed.
pub(crate) fn finish(command: &mut Command) {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {told}");
}

/// A scheduler and its executors, which end when this is dropped.
pub(crate) struct ClusterProcesses {
    folder: PathBuf,
    address: String,
    /// Variables of the processes that are started from now on.
    pub(crate) environment: Vec<(&'static str, String)>,
    models: Vec<String>,
    scheduler: RunningProcess,
    executors: Vec<RunningProcess>,
}

impl ClusterProcesses {
    /// Starts a scheduler and executors of one core each.
    pub(crate) fn start(folder: &Path, n_executors: usize, models: &[String]) -> ClusterProcesses {
        ClusterProcesses::start_in_environment(folder, n_executors, models, Vec::new())
    }

    /// Starts them, and later the driver, with variables in their environment.
    pub(crate) fn start_in_environment(
        folder: &Path,
        n_executors: usize,
        models: &[String],
        environment: Vec<(&'static str, String)>,
    ) -> ClusterProcesses {
        fs::create_dir_all(folder).unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let mut cluster = ClusterProcesses {
            scheduler: start_scheduler(folder, &address, &environment),
            folder: folder.to_owned(),
            address,
            environment,
            models: models.to_vec(),
            executors: Vec::new(),
        };
        for _ in 0..n_executors {
            let executor = cluster.start_executor();
            cluster.executors.push(executor);
        }
        cluster
    }

    /// Starts an executor of one core.
    pub(crate) fn start_executor(&self) -> RunningProcess {
        let mut executor = cluster_program();
        executor
            .args(["executor", "--scheduler", &self.address, "--cores", "1"])
            .args(&self.models)
            .envs(self.environment.iter().cloned());
        RunningProcess::spawn(&mut executor, &self.folder.join("executor.log"))
    }

    /// Kills an executor and starts another one.
    pub(crate) fn kill_and_replace_executor(&mut self, which: usize) {
        let place = which % self.executors.len();
        self.executors[place].kill();
        self.executors[place] = self.start_executor();
    }

    /// Kills the scheduler and starts another one at its address.
    pub(crate) fn kill_and_replace_scheduler(&mut self) {
        self.scheduler.kill();
        self.scheduler = start_scheduler(&self.folder, &self.address, &self.environment);
    }

    /// Starts a driver.
    pub(crate) fn start_driver(
        &self,
        file: &Path,
        data: &Path,
        options: &[&str],
    ) -> RunningProcess {
        let mut driver = cluster_program();
        driver
            .arg("run")
            .arg(file)
            .args(["--scheduler", &self.address, "--json", "--data"])
            .arg(data)
            .args(options)
            .args(&self.models)
            .envs(self.environment.iter().cloned());
        RunningProcess::spawn(&mut driver, &self.folder.join("driver.log"))
    }

    /// Returns the address of the scheduler.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns how often each shard was committed by executors, by its name, in all runs.
    pub(crate) fn commits(&self) -> BTreeMap<String, usize> {
        let log = fs::read_to_string(self.folder.join("executor.log")).unwrap();
        let mut commits = BTreeMap::new();
        for line in log.lines() {
            if let Some((_, rest)) = line.split_once("committed ") {
                let shard = rest.split(' ').next().unwrap();
                *commits.entry(shard.to_owned()).or_insert(0) += 1;
            }
        }
        commits
    }

    /// Creates a study and returns the summary of the run.
    pub(crate) fn run_study(&self, file: &Path, data: &Path, options: &[&str]) -> Value {
        let mut driver = self.start_driver(file, data, options);
        assert!(
            driver.has_ended_within(PATIENCE),
            "the driver has not ended"
        );
        driver.summary()
    }
}

/// Returns a port of this machine that was free just now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn start_scheduler(
    folder: &Path,
    address: &str,
    environment: &[(&'static str, String)],
) -> RunningProcess {
    let mut scheduler = cluster_program();
    scheduler
        .args(["scheduler", "--listen", address, "--executor-timeout", "8"])
        .envs(environment.iter().cloned());
    RunningProcess::spawn(&mut scheduler, &folder.join("scheduler.log"))
}

/// A process, which is killed when this is dropped.
pub(crate) struct RunningProcess {
    process: Child,
    output: PathBuf,
    log: PathBuf,
}

impl RunningProcess {
    /// Starts a process whose standard error is added to a log.
    pub(crate) fn spawn(command: &mut Command, log: &Path) -> RunningProcess {
        let output = log.with_extension("out");
        let errors = File::options().create(true).append(true).open(log).unwrap();
        let process = command
            .stdout(Stdio::from(File::create(&output).unwrap()))
            .stderr(Stdio::from(errors))
            .spawn();
        RunningProcess {
            process: process.unwrap(),
            output,
            log: log.to_owned(),
        }
    }

    /// Kills the process, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Waits for the end of the process for some time, and returns whether it has come.
    pub(crate) fn has_ended_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.process.try_wait().unwrap().is_some() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// Returns what processes of this kind have written to standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the summary that a driver has printed.
    pub(crate) fn summary(&mut self) -> Value {
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{}", self.log());
        serde_json::from_str(&fs::read_to_string(&self.output).unwrap()).unwrap()
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
