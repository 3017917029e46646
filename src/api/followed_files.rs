//! Files that are read again when they change.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Gives what is in the files to `take` at first and whenever it has changed since, for as long as
/// it is polled. The files are read whole each time, so they should be small.
pub(crate) async fn follow(paths: Vec<PathBuf>, mut take: impl FnMut(Vec<io::Result<Vec<u8>>>)) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen = None;
    loop {
        looks.tick().await;
        let paths = paths.clone();
        // Times of change are too coarse on some systems to go by.
        let read = spawn_blocking(|| paths.into_iter().map(fs::read).collect::<Vec<_>>());
        let Ok(contents) = read.await else { continue };
        // Hashes, since what is in the files may be secret.
        let looked: Vec<_> = contents
            .iter()
            .map(|content| match content {
                Ok(bytes) => Ok(Sha256::digest(bytes)),
                Err(error) => Err(error.kind()),
            })
            .collect();
        if seen.as_ref() != Some(&looked) {
            take(contents);
            seen = Some(looked);
        }
    }
}
