//! What must hold for any bytes whatever. Each function here is one fuzz target; it panics where
//! something does not hold.

mod games;
mod random;
mod stored_records;
mod texts;

pub use games::games;
pub use stored_records::stored_records;
pub use texts::{game_records, texts};
