//! The book of `docs/`: its pages, its diagrams, and what stands in its blocks. What the guide has its reader
//! type is run by `tests/readme.rs`; that the book can be built and its links hold is for `scripts/book` to say.

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use banqi::rules::{Preset, RuleSet};
use support::document::{Block, blocks, pages, read};
use support::python::ROOT;

/// Pages whose commands are only parsed and have their options checked, with what would be needed to run them.
const PARSED_ONLY: [(&str, &str); 2] = [
    ("operations.md", "containers, a cluster of Kubernetes, certificates, a Redis of one's own"),
    ("fairness.md", "a game that has ended; tests/hosting/verifying.rs verifies such"),
];

/// Pages whose commands `tests/readme.rs` runs.
const RUN: [&str; 6] = [
    "integration.md",
    "guide/first-game.md",
    "guide/hosting.md",
    "guide/clocks-and-offers.md",
    "guide/bots.md",
    "guide/production.md",
];

fn banqi(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_banqi")).args(arguments).output().expect("the command runs")
}

#[test]
fn every_page_is_in_the_book_once() {
    let summary = read("docs/SUMMARY.md");
    let mut named: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    named.sort_unstable();
    assert_eq!(named, pages(), "docs/SUMMARY.md beside the pages that there are");
}

/// The paragraphs of `docs/diagrams/positions.txt`, as what each line names.
fn diagrams() -> Vec<HashMap<String, String>> {
    let table = read("docs/diagrams/positions.txt");
    let fields = |paragraph: &str| -> HashMap<String, String> {
        let lines = paragraph.lines().filter(|line| !line.starts_with('#'));
        let named = lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("`{line}`")));
        named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    table.split("\n\n").map(fields).filter(|fields| !fields.is_empty()).collect()
}

#[test]
fn the_diagrams_are_what_the_program_draws() {
    let update = env::var_os("UPDATE_DOCS").is_some();
    let directory = Path::new(ROOT).join("docs/diagrams");
    let page = read("docs/rule-sets.md");
    let mut files = vec!["positions.txt".to_owned()];
    for mut fields in diagrams() {
        let mut taken = |field: &str| {
            fields.remove(field).unwrap_or_else(|| panic!("a diagram without `{field}`"))
        };
        let (name, position, title) = (taken("name"), taken("position"), taken("title"));
        let mut arguments =
            vec!["draw".to_owned(), position, "--svg".into(), "--title".into(), title.clone()];
        for (option, value) in fields {
            arguments.extend([format!("--{option}"), value]);
        }
        let drawn = banqi(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(drawn.status.success(), "{name}: {}", String::from_utf8_lossy(&drawn.stderr));
        let path = directory.join(format!("{name}.svg"));
        if update {
            fs::write(&path, &drawn.stdout).expect("written");
        }
        assert!(
            fs::read(&path).unwrap_or_default() == drawn.stdout,
            "docs/diagrams/{name}.svg is out of date: run `UPDATE_DOCS=1 cargo test --test book`"
        );
        let shown = format!("![{title}](diagrams/{name}.svg)");
        assert!(page.contains(&shown), "docs/rule-sets.md does not have {shown}");
        files.push(format!("{name}.svg"));
    }
    for entry in fs::read_dir(directory).expect("a directory") {
        let name = entry.expect("an entry").file_name();
        assert!(files.iter().any(|file| **file == *name), "docs/diagrams/{name:?} is no diagram's");
    }
}

#[test]
fn the_tables_of_the_presets_are_what_the_code_has() {
    let page = read("docs/rule-sets.md");
    for preset in Preset::ALL {
        let heading = format!("\n## {preset}\n");
        let (_, rest) = page.split_once(&heading).unwrap_or_else(|| panic!("no section {preset}"));
        let section = rest.split("\n## ").next().unwrap_or_default();
        let mut text = "TAIWANESE".to_owned();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('`').collect();
            text += &format!(" {}={}", cells[1], cells[3]);
            let default: RuleSet =
                format!("TAIWANESE {}={}", cells[1], cells[5]).parse().expect("a rule set");
            assert_eq!(default, RuleSet::TAIWANESE, "{preset}: {row}");
        }
        let told: RuleSet = text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(told, preset.rules(), "the table of {preset} says {text}");
    }
}

/// The subcommand and the options of each call of `banqi` in shell commands.
fn calls(commands: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut calls = Vec::new();
    for line in commands.lines() {
        let line = line.split(" # ").next().unwrap_or_default();
        let Some((before, call)) = line.split_once("banqi ") else { continue };
        // Elsewhere it is the name of something.
        if !(before.trim_end().is_empty() || before.trim_end().ends_with(['|', ';', '&', '('])) {
            continue;
        }
        let call = call.split(['|', '>', '&']).next().unwrap_or_default();
        let words: Vec<&str> = call.split_whitespace().collect();
        let command = words.iter().copied().take(1).collect();
        let options = words.iter().filter(|word| word.starts_with("--")).copied().collect();
        calls.push((command, options));
    }
    calls
}

/// Commands that are not run are at least a shell's, and have options that there are.
fn parse_shell(page: &str, block: &Block) {
    let parsed = Command::new("bash").args(["-n", "-c", &block.text]).output().expect("bash runs");
    let told = String::from_utf8_lossy(&parsed.stderr);
    assert!(parsed.status.success(), "{page}: {}{told}", block.text);
    // A command may go on in the next line.
    let commands =
        block.text.replace("\\\n", " ").replace("cargo run --release --quiet -- ", "banqi ");
    for (command, options) in calls(&commands) {
        let help = banqi(&[&command[..], &["--help"]].concat());
        let known = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(help.status.success(), "{page}: there is no `banqi {}`", command.join(" "));
        for option in options {
            let name = option.split('=').next().unwrap_or_default();
            let named = known.split_whitespace().any(|word| word.trim_end_matches(',') == name);
            assert!(named, "{page}: `banqi {}` has no {option}", command.join(" "));
        }
    }
}

#[test]
fn every_block_is_one_that_some_test_reads() {
    let mut read_blocks = 0;
    for page in pages() {
        let text = read(&format!("docs/{page}"));
        for block in blocks(&text) {
            read_blocks += 1;
            match block.language.as_str() {
                "sh" if PARSED_ONLY.iter().any(|(parsed, _)| *parsed == page) => {
                    parse_shell(&page, &block);
                }
                "sh" | "python" => {
                    assert!(RUN.contains(&page.as_str()), "no test runs what is in docs/{page}");
                }
                "json" => {
                    let value: Result<serde_json::Value, _> = serde_json::from_str(&block.text);
                    assert!(value.is_ok(), "docs/{page}: {value:?}");
                }
                // Compiled with the crate's documentation (src/lib.rs).
                "rust" | "rust,no_run" => assert_eq!(page, "guide/clients.md"),
                "text" => {}
                language => panic!("docs/{page}: no test reads a block of `{language}`"),
            }
        }
    }
    assert!(read_blocks > 30, "the blocks were not found");
    for (page, needed) in PARSED_ONLY {
        println!("docs/{page}: only parsed, since it takes {needed}");
    }
}

#[test]
fn no_page_has_commands_that_stand_in_no_block() {
    for page in pages() {
        let text = read(&format!("docs/{page}"));
        // Inside a block whatever is indented belongs to a program.
        let outside: String = text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
        for line in outside.lines().filter(|line| line.starts_with("    ")) {
            let first = line.split_whitespace().next().unwrap_or_default();
            let command = ["banqi", "cargo", "docker-compose", "kubectl", "openssl", "redis-cli"];
            assert!(!command.contains(&first), "docs/{page}: in no fenced block: {line}");
        }
    }
}
