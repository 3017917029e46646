//! A reader of the lives of all games, which breaks off again and again and goes on elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::stream_lifecycle_response::Message;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use crate::replicas::{COUNT, Replicas, another, in_time, is_a_break};
use crate::support::PATIENCE;

/// What was told of each game: kinds in the order of their first coming.
type Lives = BTreeMap<String, Vec<v1::LifecycleKind>>;

/// A reader that goes on until it is dropped.
pub(crate) struct Feed {
    told: watch::Receiver<Lives>,
    reading: AbortOnDropHandle<()>,
}

/// Begins to read.
pub(crate) fn read(replicas: Arc<Replicas>, mut random: Xoshiro256PlusPlus) -> Feed {
    let (tell, told) = watch::channel(Lives::new());
    let reading = tokio::spawn(async move {
        let mut after = String::new();
        let mut replica = random.random_range(0..COUNT);
        loop {
            visit(&replicas, replica, &mut after, &tell, &mut random).await;
            replica = another(replica, &mut random);
        }
    });
    Feed { told, reading: AbortOnDropHandle::new(reading) }
}

/// Reads one stream for a while.
async fn visit(
    replicas: &Replicas,
    replica: usize,
    after: &mut String,
    tell: &watch::Sender<Lives>,
    random: &mut Xoshiro256PlusPlus,
) {
    let request = v1::StreamLifecycleRequest { after_cursor: after.clone(), ..Default::default() };
    let mut platform = replicas.platform(replica);
    let mut stream = match in_time(platform.stream_lifecycle(request)).await {
        Ok(stream) => stream.into_inner(),
        Err(status) => {
            assert!(is_a_break(&status), "{status:?}");
            return sleep(Duration::from_millis(50)).await;
        }
    };
    let end = Instant::now() + Duration::from_millis(random.random_range(100..2_000));
    for _ in 0..random.random_range(1..20) {
        let Ok(message) = timeout_at(end, stream.message()).await else { return };
        let message = match message {
            Ok(message) => message.expect("the stream has no end of its own"),
            Err(status) => {
                assert!(is_a_break(&status), "{status:?}");
                return;
            }
        };
        if let Some(Message::Event(event)) = &message.message {
            let kind = event.kind();
            tell.send_modify(|lives| {
                let life = lives.entry(event.game_id.clone()).or_default();
                if !life.contains(&kind) {
                    life.push(kind);
                }
            });
        }
        if !message.cursor.is_empty() {
            *after = message.cursor;
        }
    }
}

impl Feed {
    /// Waits until the end of every game was told, and checks that each life was told in order.
    pub(crate) async fn check(mut self, games: &BTreeMap<String, v1::Game>) {
        let ended = |lives: &Lives| {
            let has_ended = |life: &Vec<_>| life.contains(&v1::LifecycleKind::Ended);
            games.keys().all(|id| lives.get(id).is_some_and(has_ended))
        };
        let lives = tokio::time::timeout(PATIENCE, self.told.wait_for(ended)).await;
        let lives = lives.expect("all ends are told in time").expect("the reader reads on").clone();
        drop(self.reading);
        for (id, game) in games {
            let mut life = vec![v1::LifecycleKind::Created];
            if game.start_time.is_some() {
                life.push(v1::LifecycleKind::Started);
            }
            life.push(v1::LifecycleKind::Ended);
            assert_eq!(lives[id], life, "the life of {id}");
        }
    }
}
