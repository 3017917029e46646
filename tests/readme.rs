//! What the documents tell people to type works, and what they point to is there.
//!
//! The commands of the README, of the guide and of the integration guide are run in their order, each document in a
//! directory of its own. Only what a test must choose itself is exchanged: the built binary for
//! `cargo run`, free ports for fixed ones.

mod support;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rstest::rstest;
use support::document::{Block, blocks, pages, read};
use support::python::{ROOT, environment};
use support::redis_server::RedisServer;
use support::replica::Replica;
use tempfile::TempDir;

const SERVE: &str = "cargo run --release -- serve";
const BUILD: &str = "cargo build --release --quiet";
const BANQI: &str = "cargo run --release --quiet --";
const DEFAULT_ADDRESS: &str = "127.0.0.1:50051";
const STORE: &str = "redis://127.0.0.1:6379";

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp runs");
    assert!(copied.success(), "{} is copied", from.display());
}

/// What a document has its reader start and make.
struct Reader {
    directory: TempDir,
    store: Option<RedisServer>,
    /// The services, by the address that the document gives them.
    services: HashMap<String, Replica>,
    /// The programs that the document has its reader write, by name.
    programs: HashMap<String, String>,
    /// The one that was written last.
    program: String,
}

impl Reader {
    /// One whose Python is a copy of this environment.
    fn new(environment: &Path) -> Self {
        let directory = TempDir::new().expect("a directory");
        fs::create_dir(directory.path().join("clients")).expect("a directory");
        for name in ["clients/arena", "clients/typescript", "proto", "tests", "tools"] {
            symlink(Path::new(ROOT).join(name), directory.path().join(name)).expect("a link");
        }
        // Building it writes into it.
        copy(&Path::new(ROOT).join("clients/python"), &directory.path().join("clients/python"));
        // The packages are there already, so that pip has nothing to fetch.
        copy(environment, &directory.path().join("venv"));
        Self {
            directory,
            store: None,
            services: HashMap::new(),
            programs: HashMap::new(),
            program: String::new(),
        }
    }

    fn follow(&mut self, block: &Block) {
        let text = included(&block.text);
        let first = text.lines().next().unwrap_or_default();
        match block.language.as_str() {
            "python" => {
                // The first line names a new program; without one, the block goes on with the last.
                if let Some(name) = first.strip_prefix("# ") {
                    self.program = name.to_owned();
                }
                let program = self.programs.entry(self.program.clone()).or_default();
                *program += &text;
                let text = self.programs[&self.program].clone();
                self.write_program(&text);
            }
            // What is to be read only.
            "text" => {}
            "sh" if first == "./test" => {
                let metadata = Path::new(ROOT).join("test").metadata().expect("it is there");
                assert!(metadata.permissions().mode() & 0o111 != 0, "it can be run");
            }
            "sh" if first.starts_with(SERVE) || first.starts_with("redis-server ") => {
                block.text.lines().for_each(|line| self.start(line));
            }
            "sh" => self.run(&block.text),
            language => panic!("no test follows a block of `{language}`: {}", block.text),
        }
    }

    fn write_program(&self, text: &str) {
        let path = self.directory.path().join(&self.program);
        fs::write(path, self.with_real_addresses(text)).expect("written");
    }

    /// Starts what a line of a block starts.
    fn start(&mut self, line: &str) {
        if let Some(options) = line.strip_prefix("redis-server ") {
            self.store = Some(RedisServer::start_with(&options.split(' ').collect::<Vec<_>>()));
            return;
        }
        let options = line.strip_prefix(SERVE).unwrap_or_else(|| panic!("what starts `{line}`?"));
        let mut address = DEFAULT_ADDRESS.to_owned();
        let mut arguments = Vec::new();
        let mut words = options.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--listen" => address = words.next().expect("an address").to_owned(),
                STORE => arguments.push(self.store.as_ref().expect("a store").url()),
                word => arguments.push(self.with_real_path(word)),
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.services.insert(address, Replica::start(&arguments));
    }

    /// Runs a block of commands as a shell would that stops at the first failure.
    fn run(&self, commands: &str) {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &self.with_real_addresses(commands)])
            .current_dir(self.directory.path())
            .env("PATH", format!("{}:{path}", environment().join("bin").display()))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", environment().with_file_name("packages").join("wheels"))
            .output()
            .expect("bash runs");
        let told = String::from_utf8_lossy(&output.stdout);
        println!("$ {commands}{told}");
        assert!(output.status.success(), "{commands}{}", String::from_utf8_lossy(&output.stderr));
        // A call that is answered prints what it was answered.
        assert!(!commands.contains("buf curl") || told.contains('{'), "{commands}{told}");
    }

    /// A file that the reader has made, by its whole path.
    fn with_real_path(&self, word: &str) -> String {
        let path = self.directory.path().join(word);
        if path.is_file() { path.display().to_string() } else { word.to_owned() }
    }

    fn with_real_addresses(&self, text: &str) -> String {
        let store = self.store.as_ref().map_or_else(|| STORE.to_owned(), RedisServer::url);
        let text = text
            .replace(STORE, &store)
            .replace(BUILD, "true")
            .replace(BANQI, env!("CARGO_BIN_EXE_banqi"));
        let text = self
            .services
            .iter()
            .fold(text, |text, (written, service)| text.replace(written, service.address()));
        // What nothing listens on any port is free for.
        text.replace("--listen 127.0.0.1:50051", "--listen 127.0.0.1:0")
    }
}

#[test]
fn what_the_readme_has_one_type_works() {
    let blocks = blocks(&read("README.md"));
    assert!(blocks.len() > 8, "the blocks were not found");
    let mut reader = Reader::new(&environment());
    for block in &blocks {
        reader.follow(block);
    }
}

#[test]
fn what_the_integration_guide_has_one_type_works() {
    let guide = blocks(&read("docs/integration.md"));
    assert!(guide.len() > 12, "the blocks were not found");
    let mut reader = Reader::new(&environment());
    // The guide takes the stubs from the README.
    let stubs = blocks(&read("README.md"))
        .into_iter()
        .find(|block| block.text.contains("grpc_tools.protoc"));
    reader.follow(&stubs.expect("the README makes the stubs"));
    for block in &guide {
        reader.follow(block);
    }
}

/// A block with the file that it includes, as mdBook puts it there; its first line names the program.
fn included(text: &str) -> String {
    match text.strip_prefix("{{#include ../../").and_then(|rest| rest.strip_suffix("}}\n")) {
        Some(path) => format!("# included.py\n{}", read(path)),
        None => text.to_owned(),
    }
}

/// Pages of the guide, each followed from its top.
#[rstest]
#[case::first_game("first-game")]
#[case::hosting("hosting")]
#[case::clocks_and_offers("clocks-and-offers")]
#[case::bots("bots")]
#[case::production("production")]
fn what_the_guide_has_one_type_works(#[case] page: &str) {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../packages/python");
    assert!(packages.is_dir(), "{}: run `./test` once, which makes it", packages.display());
    let mut reader = Reader::new(&packages);
    let guide = blocks(&read(&format!("docs/guide/{page}.md")));
    assert!(!guide.is_empty(), "the blocks were not found");
    // It says that the service of the page before is to be used.
    if page == "clocks-and-offers" {
        reader.start(SERVE);
    }
    for block in &guide {
        reader.follow(block);
    }
}

#[test]
fn what_the_documents_point_to_is_there() {
    let mut checked = 0;
    let outside =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(str::to_owned);
    let pages = pages().into_iter().map(|page| format!("docs/{page}"));
    for name in pages.chain(outside) {
        let text = read(&name);
        let document = Path::new(ROOT).join(&name);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let target = document.parent().expect("a directory").join(link);
            assert!(target.exists(), "{} points to {link}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 10, "the links were not found");
}
