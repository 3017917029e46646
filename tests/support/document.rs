//! The documents that people read, and the fenced blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::python::ROOT;

/// A fenced block of a document.
pub(crate) struct Block {
    /// What stands behind the fence.
    pub(crate) language: String,
    pub(crate) text: String,
}

/// A file, by its path from the top of the repository.
pub(crate) fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The fenced blocks of a document, in their order.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut parts = document.split("\n```");
    parts.next();
    let mut blocks = Vec::new();
    while let Some(part) = parts.next() {
        let (language, text) = part.split_once('\n').expect("a block has lines");
        blocks.push(Block { language: language.to_owned(), text: format!("{text}\n") });
        parts.next().expect("a block is closed");
    }
    blocks
}

/// Every page of the book, by its path below `docs`, in alphabetical order.
pub(crate) fn pages() -> Vec<String> {
    let docs = Path::new(ROOT).join("docs");
    let mut pages = Vec::new();
    let mut directories = vec![docs.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let page = path.strip_prefix(&docs).expect("below it");
                pages.push(page.to_str().expect("text").to_owned());
            }
        }
    }
    pages.retain(|page| page != "SUMMARY.md");
    pages.sort();
    pages
}
