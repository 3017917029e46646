//! Waiting for sweepers without touching a game: whoever reads one over the service ends it.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::support::redis_server::RedisServer;

/// Waits until no game has a deadline any more, and fails when that takes longer than this.
pub(crate) async fn until_all_have_ended(store: &RedisServer, limit: Duration) {
    let limit = Instant::now() + limit;
    loop {
        let awaited = deadlines(store).await;
        if awaited == 0 {
            return;
        }
        assert!(Instant::now() < limit, "{awaited} games are never ended");
        sleep(Duration::from_millis(50)).await;
    }
}

/// How many games have deadlines.
async fn deadlines(store: &RedisServer) -> usize {
    let mut connection = store.connection().await;
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("banqi:*:deadlines")
        .query_async(&mut connection)
        .await
        .expect("an answer");
    if keys.is_empty() {
        return 0;
    }
    let mut count = redis::pipe();
    for key in &keys {
        count.cmd("ZCARD").arg(key);
    }
    let counts: Vec<usize> = count.query_async(&mut connection).await.expect("an answer");
    counts.into_iter().sum()
}
