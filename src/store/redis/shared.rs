//! What many ask for at the same moment, found out once for all of them.

use tokio::sync::Mutex;
use tokio::time::Instant;

/// What was found out last, and when that was begun.
#[derive(Debug)]
pub(super) struct Shared<T> {
    last: Mutex<Option<(Instant, T)>>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { last: Mutex::default() }
    }
}

impl<T: Clone> Shared<T> {
    /// What `find` finds, or what another caller has found who began at this moment or later.
    /// Those who ask meanwhile wait: nothing is looked for twice at the same time.
    ///
    /// # Errors
    /// Those of `find`, of which no other caller is told.
    pub(super) async fn since<E>(
        &self,
        moment: Instant,
        find: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut last = self.last.lock().await;
        if let Some((begun, found)) = &*last
            && *begun >= moment
        {
            return Ok(found.clone());
        }
        let begun = Instant::now();
        let found = find.await?;
        *last = Some((begun, found.clone()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_begun_before_somebody_asked_is_not_for_him() {
        let shared = Shared::default();
        let moment = Instant::now();
        let find = |found| async move { Ok::<u32, ()>(found) };
        assert_eq!(shared.since(moment, find(1)).await, Ok(1));
        assert_eq!(shared.since(moment, find(2)).await, Ok(1));
        let later = moment + Duration::from_millis(1);
        tokio::time::sleep_until(later).await;
        assert_eq!(shared.since(later, async { Err("trouble") }).await, Err("trouble"));
        assert_eq!(shared.since(later, find(3)).await, Ok(3));
    }
}
