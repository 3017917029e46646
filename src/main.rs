//! The `banqi` command.

fn main() {}
