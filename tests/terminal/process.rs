//! `banqi` on a terminal without one: lines in and lines out, through pipes.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use crate::support::PATIENCE;

/// A `banqi` whose lines are read as they come.
pub(crate) struct Terminal {
    pub(crate) child: Child,
    /// Until it is to end.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Terminal {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(arguments, [])
    }

    pub(crate) fn start_in<const N: usize>(
        arguments: &[&str],
        environment: [(&str, &str); N],
    ) -> Self {
        let mut command = Self::command(arguments);
        Self::launch(command.envs(environment))
    }

    /// One whose errors are read among its other lines.
    pub(crate) fn start_telling(arguments: &[&str]) -> Self {
        Self::launch(Self::command(arguments).stderr(Stdio::piped()))
    }

    pub(crate) fn command(arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    pub(crate) fn launch(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("it starts");
        let (sender, lines) = channel();
        let output = child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
        let errors = child.stderr.take().map(|errors| Box::new(errors) as Box<dyn Read + Send>);
        for output in [output, errors].into_iter().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let input = child.stdin.take();
        Self { child, input, lines, seen: Vec::new() }
    }

    /// The rest of the next line that begins so, after prompts.
    pub(crate) fn told(&mut self, beginning: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no `{beginning}…` in\n{}", self.seen.join("\n"))
            };
            self.seen.push(line.clone());
            let line = line.trim_start_matches("> ").trim_start();
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.to_owned();
            }
        }
    }

    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.input.as_ref().expect("its input"), "{line}").expect("it reads");
    }

    /// Waits for its end; answers everything that it has written since the start.
    pub(crate) fn ends(mut self) -> String {
        drop(self.input.take());
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.seen.push(line);
        }
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}:\n{}", self.seen.join("\n"));
        self.seen.join("\n")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts what the last line tells of how to come back, and names its game.
pub(crate) fn come_back(left: &str) -> (Terminal, String) {
    let back = left.lines().last().expect("how to come back");
    let (token, command) = back.split_once(" banqi ").expect("a variable and a command");
    let (variable, token) = token.split_once('=').expect("a variable");
    let arguments: Vec<&str> = command.split(' ').collect();
    let game_id = arguments.last().expect("a game").to_string();
    (Terminal::start_in(&arguments, [(variable, token)]), game_id)
}
