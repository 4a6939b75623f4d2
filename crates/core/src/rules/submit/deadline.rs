//! Deadlines in the tags of applications. Source: tenants §8.

use crate::books::{Books, Deadline};
use crate::command::Submit;
use crate::event::{ApplicationEvent, Event};
use crate::name::Name;
use crate::time::{Millis, Timestamp};

/// Tag with the deadline of the application, in seconds since the epoch.
const DEADLINE: &str = "headroom/deadline";
/// Tag with the estimated run time of the application, in seconds.
const ESTIMATE: &str = "headroom/estimate";

/// Error for a tag with another value.
#[derive(Debug, thiserror::Error)]
#[error(
    "the tag {tag} is {text:?}, but it must be a whole number of seconds{since} from 1 to {most}. \
     Write the tag in digits only.",
    most = u32::MAX
)]
pub(super) struct NoTime {
    tag: &'static str,
    text: Name,
    since: &'static str,
}

/// Returns the deadline and the estimate from the tags. Without a deadline, the estimate has no effect, but it is
/// stored.
pub(super) fn read(tags: &[(Name, Name)]) -> Result<Deadline, NoTime> {
    let read =
        |tag, since| seconds(tags, tag).map_err(|text| NoTime { tag, text: text.clone(), since });
    let (at, estimate) = (read(DEADLINE, " since the epoch")?, read(ESTIMATE, "")?);
    Ok(Deadline {
        at: at.map(|seconds| Timestamp::from_millis(seconds * 1_000)),
        estimate: Millis::from_secs(estimate.unwrap_or(0)),
    })
}

/// Returns the event that sets the deadline, if the tags have a deadline or an estimate.
pub(super) fn event(books: &Books, submit: &Submit) -> Option<Event> {
    let read = read(&submit.tags).ok().filter(|read| *read != Deadline::default())?;
    Some(Event::Application(ApplicationEvent::DeadlineSet {
        application: books.applications().next_id(),
        deadline: read.at,
        estimate: read.estimate,
    }))
}

/// Returns the seconds of a tag, at least one, or the text of the tag if it is invalid.
pub(super) fn seconds<'tags>(
    tags: &'tags [(Name, Name)],
    tag: &str,
) -> Result<Option<u64>, &'tags Name> {
    let found = tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(tag));
    found.map_or(Ok(None), |(_, text)| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = text.parse::<u32>().ok().filter(|seconds| is_plain && *seconds > 0);
        seconds.map(|seconds| Some(seconds.into())).ok_or(text)
    })
}
