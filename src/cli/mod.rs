//! The command line.

mod bench;
mod board;
mod key;
mod manual;
mod play;
mod remote;
mod replay;
mod screen;
mod serve;
mod tls;
mod traces;
mod verify;
mod watch;

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

/// Referees and hosts games of Banqi (Chinese dark chess).
#[derive(Debug, Parser)]
#[command(name = "banqi", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Serve>),
    Play(Box<play::Play>),
    Watch(watch::Watch),
    Key(key::NewKey),
    Replay(replay::Replay),
    Verify(verify::Verify),
    Bench(bench::Bench),
    Completions(manual::Completions),
    Man(manual::Man),
}

/// Runs the command that the process was started with.
///
/// The exit code is 0 for success, 1 for a failure told on standard error, 2 for a command line
/// that cannot be read; `verify` says what its own mean.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Serve(serve) => done(serve.run()),
        Command::Play(play) => done(play.run()),
        Command::Watch(watch) => done(watch.run()),
        Command::Key(key) => done(key.run()),
        Command::Replay(replay) => done(replay.run()),
        Command::Verify(verify) => verify.run().map_err(Into::into),
        Command::Bench(bench) => done(bench.run()),
        Command::Completions(completions) => done(completions.run(Arguments::command())),
        Command::Man(man) => done(man.run(Arguments::command())),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where it cannot be written there is nobody to be told.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The exit code of a command that does what it is asked to, or fails.
fn done<E: Error + 'static>(result: Result<(), E>) -> Result<ExitCode, Box<dyn Error>> {
    result.map(|()| ExitCode::SUCCESS).map_err(Into::into)
}

/// Whether the reader of the output has seen enough, as `head` has.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::BrokenPipe;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn the_command_line_makes_sense() {
        Arguments::command().debug_assert();
    }

    /// A row of the table in docs/operations.md.
    fn row(option: &clap::Arg) -> String {
        let name = option.get_long().expect("options of `serve` are long ones");
        let variable = option.get_env().and_then(OsStr::to_str).expect("a variable each");
        let default = option.get_default_values().join(OsStr::new(","));
        let default = match default.to_str().expect("text") {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let help = option.get_help().expect("help");
        format!("| `--{name}` | `{variable}` | {default} | {help} |")
    }

    #[test]
    fn every_option_of_serve_stands_in_the_documentation() {
        let page = include_str!("../../docs/operations.md");
        let told: Vec<&str> = page.lines().filter(|line| line.starts_with("| `--")).collect();
        let mut command = Arguments::command();
        command.build();
        let serve = command.find_subcommand("serve").expect("a subcommand");
        let options = serve.get_arguments().filter(|option| option.get_id() != "help");
        let expected: Vec<String> = options.map(row).collect();
        let whole = expected.join("\n");
        assert_eq!(told, expected, "the table in docs/operations.md should be\n\n{whole}\n");
    }
}
