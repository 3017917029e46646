//! `banqi completions` and `banqi man`: made of the same definitions as the command line.

use std::io;

use clap::{Args, Command};
use clap_complete::Shell;

/// Write completions for a shell to standard output
#[derive(Args, Debug)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command) -> io::Result<()> {
        let mut written = Vec::new();
        clap_complete::generate(self.shell, &mut command, "banqi", &mut written);
        io::Write::write_all(&mut io::stdout(), &written)
    }
}

/// Write the manual, of one command or of all, to standard output (`banqi man serve | man -l -`)
#[derive(Args, Debug)]
pub(super) struct Man {
    /// The command; none for all of them together
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Why there is no manual.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManError {
    #[error("`{command}` is no command: there are {}", known.join(", "))]
    NoSuchCommand { command: String, known: Vec<String> },
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
}

impl Man {
    pub(super) fn run(self, mut command: Command) -> Result<(), ManError> {
        command.build();
        let wanted = match &self.command {
            None => command,
            Some(name) => match command.find_subcommand(name) {
                Some(found) => found.clone(),
                None => {
                    let known =
                        command.get_subcommands().map(|command| command.get_name().to_owned());
                    return Err(ManError::NoSuchCommand {
                        command: name.clone(),
                        known: known.collect(),
                    });
                }
            },
        };
        let mut written = Vec::new();
        clap_mangen::Man::new(wanted).render(&mut written)?;
        Ok(io::Write::write_all(&mut io::stdout(), &written)?)
    }
}
