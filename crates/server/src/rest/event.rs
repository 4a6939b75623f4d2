//! A range of the stored events.

use headroom_api::wsv1::{EventBatch, message};
use headroom_engine::Batch;

use crate::convert::event::event;

use super::refusal::{Answer, Refusal};
use super::request::RestRequest;
use super::respond::{blocking, json};
use super::settings::EventSettings;

pub(crate) async fn get_events(asked: RestRequest) -> Answer {
    let settings = settings(&asked)?;
    let count = match asked.number("count")? {
        Some(0) => return Err(Refusal::bad(message::COUNT_ZERO)),
        Some(count) => count.min(settings.batch),
        None => settings.batch,
    };
    let start = asked.number("start")?.unwrap_or(0);
    let watched = asked.service.engine.watched().clone();
    let instance_uuid = asked.service.about.instance.clone();
    blocking(move || {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let Batch { lowest, highest, records } = watched.query(start, count);
        json(&EventBatch {
            instance_uuid,
            lowest_id: lowest,
            highest_id: highest,
            event_records: records.iter().map(event).collect(),
        })
    })
    .await
}

/// Returns the settings of events. A refusal if events are disabled.
pub(crate) fn settings(asked: &RestRequest) -> Result<EventSettings, Refusal> {
    let settings = EventSettings::of(&asked.service.queue_file.in_force().extra);
    if settings.tracking { Ok(settings) } else { Err(Refusal::failed(message::EVENTS_DISABLED)) }
}
