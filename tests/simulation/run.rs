//! One run: a few games on one simulated store, from its seed to its verdict.

use std::cell::RefCell;
use std::fmt;

use banqi::api::proto::v1;
use banqi::api::proto::v1::time_control::{Clock, SuddenDeath};
use futures_util::future::{join, join_all};
use rand::RngExt as _;
use tokio::runtime::Builder;
use tokio::time::sleep;

use crate::call::Games;
use crate::coverage::Coverage;
use crate::history::{History, LEFT, Outcome};
use crate::losses::{Loss, check_with};
use crate::planted::Planted;
use crate::random::random_for;
use crate::table::{Table, play};
use crate::trouble::Troubles;
use crate::watcher::{Gallery, Seen, Watcher, check_watcher};
use crate::weather::DEADLINE;
use crate::world::World;

/// How many clients a game has, and how many watchers.
const CLIENTS: usize = 3;
const WATCHERS: usize = 2;

/// How many moments before a fault are shown with it.
const SHOWN: u64 = 60;

/// What happened in a run.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) games: Vec<Played>,
    pub(crate) coverage: Coverage,
}

/// What happened to one game.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) history: History,
    pub(crate) loss: Option<Loss>,
    pub(crate) watched: Vec<Vec<Seen>>,
}

/// What a game's calls and watchers were told, to compare.
impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.history.excerpt(0, u64::MAX))?;
        self.watched.iter().flatten().try_for_each(|seen| writeln!(f, "  {seen:?}"))
    }
}

/// Runs the simulation of a seed, and checks what happened.
pub(crate) fn run(seed: u64, planted: Option<Planted>) -> Result<Course, String> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let mut course = runtime.expect("a runtime").block_on(take_course(seed, planted))?;
    for played in &course.games {
        course.coverage.merge(check(played)?);
    }
    Ok(course)
}

async fn take_course(seed: u64, planted: Option<Planted>) -> Result<Course, String> {
    let world = World::start(seed, planted);
    let mut random = random_for(seed, "tables");
    let tables: Vec<Table> = (0..random.random_range(1..=2))
        .map(|number| {
            let mut table = Table::draw(&mut random, format!("game-{number}"));
            if random.random_ratio(1, 3) {
                // So long that nobody runs out of it unless the clock does.
                let main_time = Some(prost_types::Duration { seconds: 900, nanos: 0 });
                let clock = Some(Clock::SuddenDeath(SuddenDeath { main_time }));
                table.plan.time_control = Some(v1::TimeControl { clock, first_turn_limit: None });
            }
            table
        })
        .collect();
    let losses = RefCell::new(vec![None; tables.len()]);
    let galleries: Vec<Gallery> = tables.iter().map(|_| Gallery::default()).collect();
    let playing = async {
        join_all(tables.iter().enumerate().map(async |(number, table)| {
            let mut random = random_for(seed, ("clients", number));
            let ways = || world.replicas.clone();
            let mut lanes: Vec<Vec<Games>> = (0..CLIENTS).map(|_| ways()).collect();
            play(table, &mut random, &mut lanes, 5..=10).await;
        }))
        .await;
        world.backend.calm_down();
        // Whatever still is under way arrives.
        sleep(DEADLINE * 3).await;
        let mut histories = Vec::new();
        for (table, gallery) in tables.iter().zip(&galleries) {
            let history = table.close(&mut world.replicas.clone()).await;
            gallery.close(&history);
            histories.push(history);
        }
        histories
    };
    let watching = join_all((0..tables.len() * WATCHERS).map(|number| {
        let table = number / WATCHERS;
        let random = random_for(seed, ("watcher", number));
        let (table, gallery, replicas) = (&tables[table], &galleries[table], &world.replicas[..]);
        Watcher { table, gallery, replicas, random, seen: Vec::new() }.watch()
    }));
    let mut random = random_for(seed, "troubles");
    let troubles = Troubles::draw(&mut random);
    let (histories, watched) = tokio::select! {
        biased;
        done = join(playing, watching) => done,
        () = troubles.make(&mut random, &world.backend, &tables, &losses) => {
            unreachable!("trouble has no end")
        }
    };
    if !world.goes_on() {
        return Err("a replica does not sweep any more".to_owned());
    }
    let mut watched = watched.into_iter();
    let mut games = Vec::new();
    for ((history, table), loss) in histories.into_iter().zip(&tables).zip(losses.take()) {
        let id = table.known().game_id.parse().expect("the id of a game");
        world.backend.ledger().check_forfeits(&id, &history.log)?;
        let watched = watched.by_ref().take(WATCHERS).collect::<Result<_, _>>()?;
        games.push(Played { history, loss, watched });
    }
    let coverage = world.backend.coverage().clone();
    Ok(Course { games, coverage })
}

/// Checks what happened to one game.
fn check(played: &Played) -> Result<Coverage, String> {
    let Played { history, loss, watched } = played;
    for operation in &history.operations {
        if let Outcome::Unknown(why) = &operation.outcome
            && ![LEFT, "STORE_UNAVAILABLE"].contains(&why.as_str())
        {
            return Err(format!("{operation}: that is no answer"));
        }
    }
    let mut coverage = check_with(history, loss.as_ref()).map_err(|fault| {
        let (from, until) = fault.during;
        format!("{fault}\n\n{}", history.excerpt(from.saturating_sub(SHOWN), until))
    })?;
    for seen in watched {
        check_watcher(seen, history, loss.as_ref())?;
        for seen in seen {
            coverage.count(match seen {
                Seen::Began { after, .. } if after.is_empty() => "watcher: began".to_owned(),
                Seen::Began { .. } => "watcher: went on".to_owned(),
                Seen::Snapshot { history_lost: true, .. } => "watcher: told of a loss".to_owned(),
                Seen::Snapshot { .. } => "watcher: snapshot".to_owned(),
                Seen::Event { .. } => "watcher: event".to_owned(),
                Seen::KeepAlive { .. } => "watcher: keep-alive".to_owned(),
            });
        }
    }
    Ok(coverage)
}
