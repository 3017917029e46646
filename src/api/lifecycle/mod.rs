//! Following the lives of games through the shards' feeds.

mod cursor;
mod lives;

pub(super) use cursor::Cursor;
pub(super) use lives::Lives;
