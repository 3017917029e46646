//! The command line.

mod bench;
mod board;
mod doctor;
mod draw;
mod key;
mod manual;
mod play;
mod reasons;
mod refusal;
mod remote;
mod replay;
mod screen;
mod serve;
mod tls;
mod traces;
mod values;
mod verify;
mod watch;

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

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
    Doctor(Box<doctor::Doctor>),
    Key(key::NewKey),
    Replay(replay::Replay),
    Draw(draw::Draw),
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
    let arguments = Arguments::from_arg_matches(&command().get_matches());
    let result = match arguments.unwrap_or_else(|error| error.exit()).command {
        Command::Serve(serve) => done(serve.run()),
        Command::Play(play) => done(play.run()),
        Command::Watch(watch) => done(watch.run()),
        Command::Doctor(doctor) => doctor.run(&variables(&command())).map_err(Into::into),
        Command::Key(key) => done(key.run()),
        Command::Replay(replay) => done(replay.run()),
        Command::Draw(draw) => done(draw.run()),
        Command::Verify(verify) => verify.run().map_err(Into::into),
        Command::Bench(bench) => done(bench.run()),
        Command::Completions(completions) => done(completions.run(command())),
        Command::Man(man) => done(man.run(command())),
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

/// The command line. What begins with a minus after an option is its value, so that a negative
/// number is told by the name of its option.
fn command() -> clap::Command {
    let takes_value = |arg: clap::Arg| {
        let takes = arg.get_action().takes_values() && !arg.is_positional();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    Arguments::command().mut_subcommands(|subcommand| subcommand.mut_args(takes_value))
}

/// The variables that options of any command have.
fn variables(command: &clap::Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|arg| arg.get_env()?.to_str().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(variables)).collect()
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
        command().debug_assert();
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
        let mut command = command();
        command.build();
        let serve = command.find_subcommand("serve").expect("a subcommand");
        let options = serve.get_arguments().filter(|option| option.get_id() != "help");
        let expected: Vec<String> = options.map(row).collect();
        let whole = expected.join("\n");
        assert_eq!(told, expected, "the table in docs/operations.md should be\n\n{whole}\n");
    }
}
