//! The runtime that calls are served on.

use std::io;
use std::num::NonZeroUsize;

use tokio::runtime::{Builder, Runtime};

/// A runtime of so many threads; `None` for one a core.
///
/// A single thread hands no work over and wakes no other, so it takes the least processor time a
/// call; it serves as many calls as one core can.
///
/// # Errors
/// Where the system gives no threads, or nothing to wait for events with.
pub fn runtime(threads: Option<NonZeroUsize>) -> io::Result<Runtime> {
    let mut builder = match threads {
        Some(NonZeroUsize::MIN) => Builder::new_current_thread(),
        Some(threads) => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads.get());
            builder
        }
        None => Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}

#[cfg(test)]
mod tests {
    use tokio::runtime::RuntimeFlavor;

    use super::*;

    #[test]
    fn a_single_thread_is_the_one_that_runs_it() {
        let of = |threads| runtime(NonZeroUsize::new(threads)).expect("a runtime");
        assert_eq!(of(1).handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
        assert_eq!(of(3).handle().runtime_flavor(), RuntimeFlavor::MultiThread);
        assert_eq!(of(3).metrics().num_workers(), 3);
        assert_eq!(of(0).handle().runtime_flavor(), RuntimeFlavor::MultiThread);
    }
}
