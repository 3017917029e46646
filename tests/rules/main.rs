//! The rules, against answers that do not come from this crate and against what must always hold.

mod game_checks;
mod illegal_actions;
mod leaving;
mod perft;
mod random_games;
mod rule_sets;
mod shadow_board;
mod text_forms;
mod vector_files;
mod vectors;
