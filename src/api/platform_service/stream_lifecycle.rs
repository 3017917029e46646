//! `StreamLifecycle`.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::stream;

use crate::api::callers::{Caller, Messages, lasting};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::Host;
use crate::api::lifecycle::{Cursor, Lives};
use crate::api::proto::v1;
use crate::api::stream_age::StreamAge;
use crate::game::Milestone;

pub(super) fn call(
    host: &Arc<Host>,
    age: StreamAge,
    caller: Caller,
    request: v1::StreamLifecycleRequest,
) -> Result<Messages<v1::StreamLifecycleResponse>, ApiError> {
    let mut faults = FieldFaults::default();
    let shards = host.store().shards();
    let shard = request.shard.and_then(|number| {
        let shard = u16::try_from(number).ok().and_then(|number| shards.shard(number));
        let last = shards.get() - 1;
        faults.check("shard", shard.ok_or_else(|| format!("is {number}, but must be 0 to {last}")))
    });
    let mut kinds = BTreeSet::new();
    for (index, kind) in request.kinds.into_iter().enumerate() {
        match v1::LifecycleKind::try_from(kind) {
            Ok(v1::LifecycleKind::Created) => kinds.insert(Milestone::Created),
            Ok(v1::LifecycleKind::Started) => kinds.insert(Milestone::Started),
            Ok(v1::LifecycleKind::Ended) => kinds.insert(Milestone::Ended),
            Ok(v1::LifecycleKind::Unspecified) | Err(_) => {
                let values =
                    "LIFECYCLE_KIND_CREATED, LIFECYCLE_KIND_STARTED or LIFECYCLE_KIND_ENDED";
                faults.add(format!("kinds[{index}]"), fields::unknown_value(kind, values));
                false
            }
        };
    }
    let after = match request.after_cursor.as_str() {
        "" => Some(Cursor::beginning(shard, shards)),
        text => faults.check("after_cursor", Cursor::read(text, shard, shards)),
    };
    let (Some(after), 0) = (after, faults.count()) else { return Err(faults.into_error()) };
    let place = caller.count_stream()?;
    let lives = Lives::after(Arc::clone(host), after, kinds)?;
    let messages =
        stream::try_unfold(lives, |mut lives| async { Ok(Some((lives.next().await?, lives))) });
    Ok(lasting(caller, place, age, messages))
}
