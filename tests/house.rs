//! The house itself: rooms whose dependencies point down only, small files, documents that keep up.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The rooms, the lowest first (`docs/decisions/0001-one-crate-five-rooms.md`).
const ROOMS: [&str; 7] = ["rules", "game", "store", "api", "client", "server", "cli"];

/// What a pure room has no use for.
const IMPURE: [&str; 12] = [
    "async fn",
    "tokio::",
    "tonic",
    "rand::",
    "redis::",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "Instant::now",
    "SystemTime::now",
    "thread::",
];

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()))
    {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The lines of a file that are code, with their numbers; comments are free to name anything.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let mut faults = Vec::new();
    for (height, room) in ROOMS.iter().enumerate() {
        for path in rust_files(&Path::new(ROOT).join("src").join(room)) {
            for (number, line) in code(&read(&path)) {
                for above in &ROOMS[height + 1..] {
                    let names = [format!("crate::{above}::"), format!("crate::{above};")];
                    if names.iter().any(|name| line.contains(name)) {
                        faults.push(format!("{}:{number}: {room} uses {above}", path.display()));
                    }
                }
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn rules_and_game_are_pure() {
    let mut faults = Vec::new();
    for room in &ROOMS[..2] {
        for path in rust_files(&Path::new(ROOT).join("src").join(room)) {
            // The tests of a room may be impure.
            let text = read(&path);
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in code(text) {
                for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                    faults.push(format!("{}:{number}: {room} uses {word}", path.display()));
                }
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn files_are_small() {
    let directories = ["src", "tests", "benches"].map(|directory| Path::new(ROOT).join(directory));
    let faults: Vec<String> = directories
        .iter()
        .flat_map(|directory| rust_files(directory))
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > 500)
        .map(|(lines, path)| format!("{}: {lines} lines; at most 500", path.display()))
        .collect();
    assert_none(&faults);
}

/// The names in the dependency tables of `Cargo.toml`.
fn dependencies() -> Vec<String> {
    let manifest = read(&Path::new(ROOT).join("Cargo.toml"));
    let mut names = Vec::new();
    let mut in_table = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_table = line.ends_with("dependencies]");
        } else if in_table && let Some((name, _)) = line.split_once(" = ") {
            names.push(name.to_owned());
        }
    }
    assert!(names.len() > 20, "the tables were not found: {names:?}");
    names
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let page = read(&Path::new(ROOT).join("docs/dependencies.md"));
    let told: Vec<&str> = page
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let faults: Vec<String> = dependencies()
        .into_iter()
        .filter(|name| !told.contains(&name.as_str()))
        .map(|name| format!("docs/dependencies.md has no line about {name}"))
        .collect();
    assert_none(&faults);
}

#[test]
fn the_image_is_built_by_the_oldest_rust_that_will_do() {
    let manifest = read(&Path::new(ROOT).join("Cargo.toml"));
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'))
        .expect("a rust-version in Cargo.toml");
    let image = format!("FROM rust:{version}-bookworm AS dependencies");
    let file = read(&Path::new(ROOT).join("Dockerfile"));
    assert!(file.lines().any(|line| line == image), "Dockerfile has no line `{image}`");
    let check = read(&Path::new(ROOT).join("deploy/check-compose"));
    let stand_in = format!("stand_in rust:{version}-bookworm rust");
    assert!(check.contains(&stand_in), "deploy/check-compose has no `{stand_in}`");
}
