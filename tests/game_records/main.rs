//! Games written as text: every form is read as it was written, and a record that the rules
//! contradict is refused.

mod cdc;
mod faults;
mod leaving;
#[path = "../support/vector_games.rs"]
mod vector_games;
mod vectors;
