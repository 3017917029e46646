//! Waiting for sweepers without touching a game: whoever reads one over the service ends it.

#![expect(clippy::disallowed_methods, reason = "deadlines are by a real clock")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};

use crate::support::redis_server::RedisServer;

/// What is due later is no end of a game: that one which has ended is removed some day.
const NO_CLOCK_RUNS_LONGER: Duration = Duration::from_hours(24);

/// Waits until no game is about to end any more, and fails when that takes longer than this.
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

/// How many games are about to end.
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
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let last = (now + NO_CLOCK_RUNS_LONGER).as_millis();
    let mut count = redis::pipe();
    for key in &keys {
        count.cmd("ZCOUNT").arg(key).arg("-inf").arg(last.to_string());
    }
    let counts: Vec<usize> = count.query_async(&mut connection).await.expect("an answer");
    counts.into_iter().sum()
}
