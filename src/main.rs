//! The `banqi` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;

// What a call allocates is short-lived and often longer than a kilobyte, for which the system's
// allocators have no fast way (docs/performance.md has the figures).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    banqi::cli::main()
}
