//! What every store promises.

mod presence;
mod telling;
mod time;
mod writing;

/// Makes of each promise one test a store.
macro_rules! on_every_store {
    ($($room:ident::{$($promise:ident),+ $(,)?}),+ $(,)?) => {
        on_every_store!(@store memory $($($room $promise)+)+);
        on_every_store!(@store file $($($room $promise)+)+);
        on_every_store!(@store redis $($($room $promise)+)+);
    };
    (@store $store:ident $($room:ident $promise:ident)+) => {
        mod $store {
            use crate::fixture::Fixture;
            $(
                #[tokio::test]
                async fn $promise() {
                    super::$room::$promise(Fixture::$store().await).await;
                }
            )+
        }
    };
}

on_every_store![
    writing::{
        what_was_written_is_read_back,
        a_game_is_created_once,
        a_write_needs_the_revision_that_stands,
        a_write_needs_the_history_that_stands,
        a_write_on_nothing_is_refused,
        a_conflict_tells_what_stands_whole,
        of_concurrent_commits_exactly_one_wins,
        no_update_is_lost,
        a_game_deleted_and_created_anew_is_not_overwritten_by_what_was_known_before,
        a_commit_of_several_games_is_written_whole_or_not_at_all,
        a_commit_refuses_games_that_it_cannot_write_at_once,
        a_refused_commit_leaves_nothing,
        many_games_are_read_at_once,
    },
    time::{
        games_are_due_when_their_deadline_has_passed,
        a_write_moves_or_removes_the_deadline,
        the_first_deadline_of_each_shard_is_told,
        what_is_due_can_be_postponed,
        records_expire,
        a_write_postpones_expiry,
        a_shard_without_deadlines_has_its_sources_time,
        the_clock_never_goes_back,
        an_outage_costs_three_seconds_at_most,
        a_commit_with_a_wrong_present_is_refused_and_then_told_the_right_one,
    },
    presence::{
        a_slot_is_present_for_the_lifetime_of_its_mark,
        a_slot_is_present_until_the_last_of_its_streams_is_cleared,
        only_a_change_of_presence_is_hinted_at_and_as_such,
        many_games_are_marked_read_and_cleared_at_once,
    },
    telling::{
        the_outbox_keeps_entries_until_they_are_acknowledged,
        the_feed_is_read_on_from_an_entry,
        a_write_is_hinted_at,
        a_hint_concerns_one_game,
        a_players_games_come_newest_first_in_pages,
        a_players_games_are_added_and_removed_once,
        all_games_come_newest_first_in_pages,
        a_game_is_listed_and_unlisted_with_its_commit_only,
        replicas_live_as_long_as_their_heart_beats,
    },
];
