//! Looking at a file without changing it.

use std::fs::{File, remove_file};
use std::path::{Path, PathBuf};

use redb::{DatabaseError, ReadOnlyDatabase};
use tokio::task::spawn_blocking;

use super::{DAMAGED, EmbeddedStore, tables, unusable, unusable_because};
use crate::store::{Finding, Misconfiguration, ShardCount, StoreError};

impl EmbeddedStore {
    /// What there is to say of a file, which may be missing.
    pub(in crate::store) async fn examine(path: PathBuf, shards: ShardCount) -> Vec<Finding> {
        let file = path.clone();
        let looked = spawn_blocking(move || look(&file, shards)).await;
        let looked = looked.unwrap_or_else(|_| Err(unusable_because(&path, DAMAGED.into())));
        match looked {
            Ok(shards) => {
                let file = Finding::InFile { path: path.display().to_string() };
                [Finding::Answers, file].into_iter().chain(shards).collect()
            }
            Err(error) => vec![Finding::Failed(error)],
        }
    }
}

/// What is to be said of its shards, if that can be read.
fn look(path: &Path, configured: ShardCount) -> Result<Option<Finding>, StoreError> {
    let unusable = |error| unusable(path, &error);
    if !path.exists() {
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.check", std::process::id()));
        let made = File::create_new(&beside).and_then(|_| remove_file(&beside));
        made.map_err(|error| unusable(DatabaseError::Storage(error.into())))?;
        return Ok(Some(Finding::Shards { new: true }));
    }
    let writable = File::options().append(true).open(path);
    writable.map_err(|error| unusable(DatabaseError::Storage(error.into())))?;
    let database = match ReadOnlyDatabase::open(path) {
        Ok(database) => database,
        // It was not closed; a start reads it through.
        Err(DatabaseError::RepairAborted) => return Ok(None),
        Err(error) => return Err(unusable(error)),
    };
    match tables::recorded_shards(&database).map_err(StoreError::not_applied)? {
        Some(stored) if stored != configured.get() => {
            let stored = stored.to_string();
            Err(Misconfiguration::ShardCountMismatch { stored, configured }.into())
        }
        stored => Ok(Some(Finding::Shards { new: stored.is_none() })),
    }
}
