//! Instructions that the rules' core and a call's own work take, held to limits.
//!
//! `cargo bench --bench instructions` runs each subject under `valgrind --tool=callgrind`, which
//! counts alike on a busy machine and an idle one. A run that does it many times less one that does
//! it once leaves what it takes; preparing it falls out. The limits stand in `limits.txt`.

mod limits;
mod subjects;
#[path = "../support/turn_200.rs"]
mod turn_200;

use std::process::{Command, ExitCode};

use clap::Parser;

use self::limits::{Count, Limits};
use self::subjects::{SUBJECTS, Subject};

/// How many times a subject is done beyond the first one.
const TIMES: u64 = 64;

/// Counts instructions and compares them with the limits.
#[derive(Parser)]
struct Arguments {
    /// Make what is counted the new limits
    #[arg(long)]
    write: bool,
    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
    /// Do one subject so many times: what this program starts itself for
    #[arg(long, hide = true, num_args = 2, value_names = ["PLACE", "TIMES"])]
    repeat: Option<Vec<u64>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some([place, times]) = arguments.repeat.as_deref() {
        repeat(&SUBJECTS[*place as usize], *times);
        return ExitCode::SUCCESS;
    }
    let counts: Vec<Count> = (0..SUBJECTS.len()).map(count).collect();
    if arguments.write {
        limits::write(&counts);
        return ExitCode::SUCCESS;
    }
    let limits = Limits::read();
    let exceeded = counts.iter().filter(|count| !limits.allow(count)).count();
    if exceeded == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("{exceeded} of the counts are above their limits. {}", limits::HOW_TO_RAISE);
    ExitCode::FAILURE
}

fn repeat(subject: &Subject, times: u64) {
    let mut once = (subject.prepare)();
    (0..times).for_each(|_| once());
}

/// What a subject takes each time.
fn count(place: usize) -> Count {
    // The first time may do what is done once only, such as finding out what the processor can do.
    let (once, often) = (instructions(place, 1), instructions(place, 1 + TIMES));
    let count =
        Count { name: SUBJECTS[place].name.to_owned(), instructions: (often - once) / TIMES };
    println!("{count}");
    count
}

/// The instructions of a run that does a subject so many times.
fn instructions(place: usize, times: u64) -> u64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--repeat", &place.to_string(), &times.to_string()])
        .output()
        .expect("valgrind runs: install it (Debian: valgrind)");
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = said.lines().find_map(|line| line.split_once("Collected : "));
    let counted = counted.and_then(|(_, number)| number.trim().parse().ok());
    counted.unwrap_or_else(|| panic!("valgrind says what it counted, not:\n{said}"))
}
