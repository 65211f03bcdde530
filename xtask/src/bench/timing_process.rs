//! A timing program that keeps running and takes commands, so that both sides take turns.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running timing program: a task a line in, a line of JSON out.
pub(super) struct TimingProcess {
    child: Child,
    tasks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl TimingProcess {
    pub(super) fn start(command: &mut Command) -> Result<TimingProcess> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {:?}", command.get_program()))?;
        let tasks = child.stdin.take();
        let answers = child.stdout.take().context("its output was piped")?;
        Ok(TimingProcess {
            child,
            tasks,
            answers: BufReader::new(answers),
        })
    }

    pub(super) fn run_task(&mut self, task: &str) -> Result<Value> {
        let tasks = self.tasks.as_mut().context("it was told to end")?;
        writeln!(tasks, "{task}").context("the program has ended")?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("the program ended at the task `{task}`");
        }
        serde_json::from_str(&line).with_context(|| format!("no answer to `{task}`: {line}"))
    }
}

impl Drop for TimingProcess {
    fn drop(&mut self) {
        // Without further tasks it ends by itself.
        self.tasks = None;
        let _ = self.child.wait();
    }
}

/// A number of an answer.
pub(super) fn number(answer: &Value, name: &str) -> Result<f64> {
    answer[name]
        .as_f64()
        .with_context(|| format!("{answer} has no number `{name}`"))
}
