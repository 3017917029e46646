//! The `banqi` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    banqi::cli::main()
}
