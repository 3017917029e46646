//! What a store in a file promises about crashes and other processes.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use banqi::game::Span;
use banqi::store::{EntryId, Misconfiguration, Options, Outcome, ShardCount, StoreError, open};
use bytes::Bytes;
use tempfile::TempDir;

use crate::fixture::{commit_of, eventually, game, now, put, record, version};

const FILE: &str = "BANQI_TEST_STORE_FILE";

/// Not a test: the process that [`what_was_acknowledged_survives_kill_9`] kills. It commits one
/// revision after another and prints each that was acknowledged.
#[tokio::test]
#[ignore = "is run, and killed, by another test"]
async fn child_that_commits_until_it_is_killed() {
    let path = std::env::var(FILE).expect("the parent says which file");
    let store = open(&format!("file:{path}"), Options::default()).await.expect("a store");
    let id = game("g");
    let standing = store.load(&id).await.expect("an answer");
    let mut expected = standing.map(|record| record.version);
    loop {
        let revision = expected.map_or(1, |version| version.revision.0 + 1);
        let commit = commit_of(&*store, put(&id, expected, record(revision, b"historic")))
            .await
            .with_outbox_entry(Bytes::copy_from_slice(&revision.to_be_bytes()));
        match store.commit(&commit).await.expect("an answer") {
            Outcome::Applied { .. } => {
                expected = Some(version(revision, b"historic"));
                println!("\nacknowledged {revision}");
                std::io::stdout().flush().expect("the parent reads");
            }
            Outcome::ClockOff { .. } => {}
            outcome => panic!("nobody else writes: {outcome:?}"),
        }
    }
}

fn start_child(path: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program)
        .args(["--exact", "crash::child_that_commits_until_it_is_killed"])
        .args(["--ignored", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("this program can be started again")
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("games");
    let mut last = 0_u64;
    for round in 1..=3 {
        let mut child = start_child(&path);
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let acknowledged = output.lines().filter_map(|line| {
            line.expect("text").strip_prefix("acknowledged ")?.parse::<u64>().ok()
        });
        let mut acknowledged = acknowledged.peekable();
        let first = *acknowledged.peek().expect("the child commits");
        assert!(first > last, "round {round} begins with {first} after {last}");
        // In the midst of commits: the child never waits between them.
        acknowledged.by_ref().take(50).for_each(|revision| last = revision);
        child.kill().expect("a child can be killed");
        // What it still said before it died counts as well.
        acknowledged.for_each(|revision| last = revision);
        child.wait().expect("a killed child ends");

        let store =
            open(&format!("file:{}", path.display()), Options::default()).await.expect("a store");
        let id = game("g");
        let standing = store.load(&id).await.expect("an answer").expect("a game");
        let revision = standing.version.revision.0;
        // The last commit may have been written and not yet acknowledged.
        assert!(revision == last || revision == last + 1, "{revision} after {last}");
        assert_eq!(standing, record(revision, b"historic"), "and it is whole");
        let outbox = store.outbox(store.shards().shard_of(&id), u32::MAX).await.expect("entries");
        let noted: Vec<u64> = outbox
            .iter()
            .map(|entry| u64::from_be_bytes(entry.content[..].try_into().expect("eight bytes")))
            .collect();
        assert!(noted.iter().copied().eq(1..=revision), "the outbox went with the record");
        last = revision;
    }
}

#[tokio::test]
async fn a_file_is_found_again_with_all_that_is_in_it() {
    let directory = TempDir::new().expect("a directory");
    let address = format!("file:{}", directory.path().join("games").display());
    let id = game("g");
    let time = {
        let store = open(&address, Options::default()).await.expect("a store");
        let commit = commit_of(&*store, put(&id, None, record(1, b"historic")))
            .await
            .with_feed_entry(Bytes::from_static(b"feed"));
        let outcome = store.commit(&commit).await.expect("an answer");
        assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
        now(&*store, &id).await
    };
    let store = open(&address, Options::default()).await.expect("the store again");
    assert_eq!(store.load(&id).await.expect("an answer"), Some(record(1, b"historic")));
    let shard = store.shards().shard_of(&id);
    let feed = store.feed(shard, EntryId::default(), 10).await.expect("entries");
    assert_eq!(feed.len(), 1);
    let later = now(&*store, &id).await;
    assert!(later + Span(1_000) >= time, "the shard's time went back from {time:?} to {later:?}");
}

#[tokio::test]
async fn a_file_serves_one_process_at_a_time() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("games");
    let mut child = start_child(&path);
    eventually("made", async || path.exists(), |made| *made).await;
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    output
        .lines()
        .find(|line| line.as_ref().is_ok_and(|line| line.starts_with("acknowledged")))
        .expect("the child commits")
        .expect("text");
    let refused = open(&format!("file:{}", path.display()), Options::default()).await;
    child.kill().expect("a child can be killed");
    child.wait().expect("a killed child ends");
    let error = refused.expect_err("another process has it");
    assert!(error.to_string().contains("another process"), "{error}");
}

#[tokio::test]
async fn a_file_keeps_its_number_of_shards() {
    let directory = TempDir::new().expect("a directory");
    let address = format!("file:{}", directory.path().join("games").display());
    let options = |count| Options {
        shards: ShardCount::new(count).expect("a number of shards"),
        ..Options::default()
    };
    drop(open(&address, options(16)).await.expect("a store"));
    let error = open(&address, options(32)).await.expect_err("another number");
    assert!(matches!(
        error,
        StoreError::Misconfigured(Misconfiguration::ShardCountMismatch { .. })
    ));
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("letter");
    let letter = "Dear reader, this is no database. ".repeat(1_000);
    std::fs::write(&path, &letter).expect("a file");
    let error = open(&format!("file:{}", path.display()), Options::default())
        .await
        .expect_err("no database");
    assert!(
        matches!(error, StoreError::Misconfigured(Misconfiguration::UnusableFile { .. })),
        "{error:?}"
    );
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), letter);
}
