//! The processes of a cluster on this machine, with the CPU time that each takes.

use super::super::process_stat::{ProcessStat, peak_memory_mib};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The release builds of both programs, and the folder of their data and logs.
pub(super) struct ClusterPrograms {
    pub(super) axioscope: PathBuf,
    pub(super) cluster: PathBuf,
    pub(super) folder: PathBuf,
}

impl ClusterPrograms {
    /// Returns a command that logs errors only and computes batches with the given number of
    /// threads.
    pub(super) fn command(program: &Path, n_threads: usize) -> Command {
        let mut command = Command::new(program);
        command
            .env("AXIOSCOPE_LOG", "error")
            .env("RAYON_NUM_THREADS", n_threads.to_string())
            .env_remove("AXIOSCOPE_STORAGE");
        command
    }
}

/// A process whose CPU time is measured. It is killed when this is dropped.
pub(super) struct MeasuredProcess {
    child: Child,
    since: Instant,
    output: PathBuf,
    log: PathBuf,
}

/// What a process took from its start to its end.
pub(super) struct EndedProcess {
    pub(super) wall_seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) peak_mib: f64,
    /// What it has written to standard output.
    pub(super) output: String,
}

impl MeasuredProcess {
    /// Starts a process that writes to files in a folder.
    pub(super) fn start(command: &mut Command, folder: &Path, name: &str) -> Result<Self> {
        let output = folder.join(format!("{name}.out"));
        let log = folder.join(format!("{name}.log"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&log)?);
        let since = Instant::now();
        let child = command.spawn();
        let child = child.with_context(|| format!("starting {:?}", command.get_program()))?;
        Ok(MeasuredProcess {
            child,
            since,
            output,
            log,
        })
    }

    /// Returns the CPU time so far, in seconds.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        Ok(ProcessStat::read(self.child.id())?.cpu_seconds)
    }

    /// Waits for the end of the process. Returns an error if it fails.
    pub(super) fn finish(mut self) -> Result<EndedProcess> {
        // The system reports the CPU time of a process that has ended until it is waited for.
        let mut peak_mib: f64 = 0.0;
        let stat = loop {
            peak_mib = peak_mib.max(peak_memory_mib(self.child.id()));
            let stat = ProcessStat::read(self.child.id())?;
            if stat.has_ended {
                break stat;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let wall_seconds = self.since.elapsed().as_secs_f64();
        let status = self.child.wait()?;
        if !status.success() {
            let log = fs::read_to_string(&self.log)?;
            bail!("{} ended with {status}: {log}", self.log.display());
        }
        Ok(EndedProcess {
            wall_seconds,
            cpu_seconds: stat.cpu_seconds,
            peak_mib,
            output: fs::read_to_string(&self.output)?,
        })
    }
}

impl Drop for MeasuredProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scheduler and executors of one core each.
pub(super) struct BenchCluster {
    pub(super) address: String,
    scheduler: MeasuredProcess,
    executors: Vec<MeasuredProcess>,
}

impl BenchCluster {
    pub(super) fn start(
        programs: &ClusterPrograms,
        n_executors: usize,
        models: &[String],
    ) -> Result<BenchCluster> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let mut scheduler = ClusterPrograms::command(&programs.cluster, 1);
        scheduler.args(["scheduler", "--listen", &address]);
        let scheduler = MeasuredProcess::start(&mut scheduler, &programs.folder, "scheduler")?;
        let executor = |number: usize| {
            let mut executor = ClusterPrograms::command(&programs.cluster, 1);
            executor
                .args(["executor", "--scheduler", &address, "--cores", "1"])
                .args(models);
            let name = format!("executor-{number}");
            MeasuredProcess::start(&mut executor, &programs.folder, &name)
        };
        let executors = (0..n_executors).map(executor).collect::<Result<_>>()?;
        Ok(BenchCluster {
            address,
            scheduler,
            executors,
        })
    }

    /// Returns the most memory that an executor has used so far, in MiB.
    pub(super) fn peak_mib_of_executor(&self) -> f64 {
        let each = self
            .executors
            .iter()
            .map(|it| peak_memory_mib(it.child.id()));
        each.fold(0.0, f64::max)
    }

    /// Returns the CPU time so far of the scheduler and of all executors, in seconds.
    pub(super) fn cpu_seconds(&self) -> Result<[f64; 2]> {
        let executors = self.executors.iter().map(MeasuredProcess::cpu_seconds);
        Ok([
            self.scheduler.cpu_seconds()?,
            executors.sum::<Result<f64>>()?,
        ])
    }
}
