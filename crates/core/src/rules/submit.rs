//! Submission of applications: selects the queue, and creates it if it is missing.
//!
//! An incomplete command is refused. An application that cannot be accepted is rejected: an event stores it with the
//! reason. Source: scheduling §3.6.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{
    ApplicationState, Books, GangSettings, PLACEHOLDER_TIMEOUT, Partition, QueueSettings,
    QueueState,
};
use crate::command::{Command, RejectApplication, Submit};
use crate::config::ApplicationOrder;
use crate::config::legal::RECOVERY_QUEUE;
use crate::event::{ApplicationEvent, Event, QueueEvent};
use crate::id::PartitionId;
use crate::name::Name;
use crate::placement::{Placed, QueueTags, Refused, Request, is_forced, place};
use crate::rejection::{RefusalCode, Rejection};
use crate::resource::{Amounts, Quantity, format_quantities};
use crate::time::{Millis, Timestamp};
use crate::userlimit::{Decimal, max_applications};

mod deadline;
mod queues;
mod tenant;

use super::{few, labels, named, partition_named, short};

/// Tag with the creation time of the application.
const CREATED: &str = "yunikorn.apache.org/creationTime";
/// Largest number of groups of one user: the limit of Linux for a process.
const GROUPS_MAX: usize = 65_536;
/// Largest number of tags of an application.
const TAGS_MAX: usize = 1_024;
/// Largest total size in bytes of the tags of an application: the limit of Kubernetes for annotations.
const TAG_BYTES_MAX: usize = 256 << 10;
/// Tag with the lifetime of the application in seconds.
const LIFETIME: &str = "headroom/lifetime";

pub(super) fn submit(
    books: &Books,
    now: Timestamp,
    submit: &Submit,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &submit.partition)?;
    named("application ID", &submit.application)?;
    if submit.user.is_empty() {
        return Err(Rejection::EmptyName { what: "user name" });
    }
    short("user name", &submit.user)?;
    short("queue", &submit.queue)?;
    short("tenant", &submit.tenant)?;
    if submit.tenant.is_empty() {
        super::tenant::are_named(books, partition, "the gang", &submit.placeholder_ask)?;
    }
    few("groups of the user", submit.groups.len(), GROUPS_MAX)?;
    for group in &submit.groups {
        short("group name", group)?;
    }
    few("tags of the application", submit.tags.len(), TAGS_MAX)?;
    let tags = submit.tags.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
    if tags > TAG_BYTES_MAX {
        let (what, bytes, limit) = ("list of tags", tags, TAG_BYTES_MAX);
        return Err(Rejection::LongName { what, bytes, limit });
    }
    let mut events = Vec::new();
    let (application, user) = (submit.application.clone(), submit.user.clone());
    let (groups, mut chosen) = (submit.groups.clone(), submit.queue.clone());
    let rejected = match accept(books, partition, submit, &mut chosen, &mut events) {
        Ok(queue) => {
            let gang = gang(now, submit);
            events.push(Event::Application(ApplicationEvent::Added {
                partition,
                queue,
                application,
                user,
                groups,
                gang,
            }));
            events.extend(lifetime(books, now, submit));
            events.extend(deadline::event(books, submit));
            return Ok(events);
        }
        Err(declined) => {
            let message = alloc::format!("{declined}");
            rejected(partition, submit, &chosen, (declined.code(), &message))
        }
    };
    events.push(rejected);
    Ok(events)
}

/// Largest number of stored bytes of each part of a rejection, together at most 2 KiB.
const KEPT_MESSAGE_BYTES: usize = 768;
const KEPT_NAME_BYTES: usize = 253;
const KEPT_GROUPS_BYTES: usize = 253;

/// Returns the event of a rejected application. Truncates long texts and long lists of groups, because a rejection must
/// be cheap for any submission.
pub(in crate::rules) fn rejected(
    partition: PartitionId,
    submit: &Submit,
    queue: &Name,
    (code, message): (RefusalCode, &str),
) -> Event {
    let mut room = KEPT_GROUPS_BYTES;
    let groups = submit.groups.iter().take_while(|group| {
        let fits = group.len() <= room;
        room = room.saturating_sub(group.len() + 1);
        fits
    });
    Event::Application(ApplicationEvent::Rejected {
        partition,
        queue: beginning(queue, KEPT_NAME_BYTES),
        application: submit.application.clone(),
        user: beginning(&submit.user, KEPT_NAME_BYTES),
        groups: groups.cloned().collect(),
        code: Name::new(code.as_str()),
        message: beginning(&Name::new(message), KEPT_MESSAGE_BYTES),
    })
}

/// Returns a text, or its beginning and `…` if it has more than `most` bytes.
fn beginning(text: &Name, most: usize) -> Name {
    if text.len() <= most {
        return text.clone();
    }
    let end = text.floor_char_boundary(most - '…'.len_utf8());
    Name::from(alloc::format!("{}…", &text[..end]))
}

impl Command {
    /// Returns the command to record if this one led to `events`. A rejected submission is recorded as its rejection,
    /// without its other fields, so that rejections do not fill the journal.
    #[must_use]
    pub fn recorded(self, events: &[Event]) -> Self {
        let [
            Event::Application(ApplicationEvent::Rejected {
                application,
                queue,
                user,
                groups,
                code,
                message,
                ..
            }),
        ] = events
        else {
            return self;
        };
        let (submit, of_task) = if let Self::SubmitTask(task) = &self {
            (&task.submit, true)
        } else if let Self::Submit(submit) = &self {
            (submit, false)
        } else {
            return self;
        };
        Self::RejectApplication(Box::new(RejectApplication {
            partition: submit.partition.clone(),
            application: application.clone(),
            queue: queue.clone(),
            code: code.clone(),
            message: message.clone(),
            user: user.clone(),
            groups: groups.clone(),
            tenant: submit.tenant.clone(),
            of_task,
        }))
    }
}

/// Records an application as rejected without a submission.
pub(super) fn reject(books: &Books, one: &RejectApplication) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &one.partition)?;
    named("application ID", &one.application)?;
    let texts = [("queue", &one.queue), ("code", &one.code), ("message", &one.message)];
    for (what, text) in texts.into_iter().chain([("user name", &one.user)]) {
        short(what, text)?;
    }
    Ok(vec![Event::Application(ApplicationEvent::Rejected {
        partition,
        queue: one.queue.clone(),
        application: one.application.clone(),
        user: one.user.clone(),
        groups: one.groups.clone(),
        code: one.code.clone(),
        message: one.message.clone(),
    })])
}

/// Returns the gang settings of the application. The timeout of an application that was created before, such as before
/// a restart, counts from its creation. Source: scheduling §3.5.
fn gang(now: Timestamp, submit: &Submit) -> GangSettings {
    let given = Some(submit.placeholder_timeout).filter(|timeout| *timeout > Millis::ZERO);
    let mut timeout = given.unwrap_or(PLACEHOLDER_TIMEOUT);
    if let Some(created) = created(&submit.tags) {
        let end = (created + timeout).as_millis();
        timeout = Millis::new(end.saturating_sub(now.as_millis()).max(1));
    }
    let ask = submit.placeholder_ask.clone();
    GangSettings { ask, style: submit.gang_style, timeout }
}

/// Returns the creation time from the tags, in whole seconds.
fn created(tags: &[(Name, Name)]) -> Option<Timestamp> {
    let (_, seconds) = tags.iter().find(|(key, _)| *key == CREATED)?;
    let seconds: u64 = seconds.parse().ok()?;
    Some(Timestamp::from_millis(seconds.saturating_mul(1_000)))
}

/// Returns the event for the lifetime in the tags. `None` if the tags set no lifetime and no earlier creation time. The
/// lifetime counts from the creation.
fn lifetime(books: &Books, now: Timestamp, submit: &Submit) -> Option<Event> {
    let asked = asked_lifetime(&submit.tags).ok().flatten();
    let since = created(&submit.tags).filter(|created| *created < now);
    (asked.is_some() || since.is_some()).then(|| {
        Event::Application(ApplicationEvent::LifetimeSet {
            application: books.applications().next_id(),
            since: since.unwrap_or(now),
            asked,
        })
    })
}

/// Returns the requested lifetime from the tags, or the text of the tag if it is not a valid time.
fn asked_lifetime(tags: &[(Name, Name)]) -> Result<Option<Millis>, &Name> {
    Ok(deadline::seconds(tags, LIFETIME)?.map(Millis::from_secs))
}

/// Reason why an application is rejected.
#[derive(Debug, thiserror::Error)]
enum Declined {
    #[error(
        "application {application} already exists in partition {partition} in state {state}. Choose another ID, or wait until the application ends."
    )]
    Duplicate { application: Name, partition: Name, state: ApplicationState },
    #[error("{0}")]
    NotPlaced(#[from] Refused),
    #[error(
        "queue {path} cannot be created because {above} is a leaf, and leaves have no child queues. Choose a path below a parent queue."
    )]
    BelowLeaf { path: Name, above: Name },
    #[error(
        "queue {path} cannot be created because {above} is {state}. Queues can be created only below an Active queue."
    )]
    BelowPassing { path: Name, above: Name, state: QueueState },
    #[error(
        "queue {path} cannot be created because {level:?} is not a valid queue name. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -, but not {RECOVERY_QUEUE}."
    )]
    Level { path: Name, level: Name },
    #[error(
        "queue {path} cannot be created: the path needs {missing} new queues, but placement rules \
         already created {made} of at most {limit} in partition {partition}. Wait for ten seconds, \
         until empty queues are removed.",
        limit = Partition::QUEUES_MADE_MAX
    )]
    ManyQueues { path: Name, partition: Name, missing: usize, made: u32 },
    #[error(
        "queue {path} sorts applications by fair share, which does not support gangs. Submit to a queue with another application.sort.policy."
    )]
    GangOrder { path: Name },
    #[error(
        "the gang needs {amount} {resource} together, but the configured maximum of queue {path} is {max}. Make the gang smaller, or raise the maximum.",
        amount = format_quantities(resource, [*amount, *max])[0],
        max = format_quantities(resource, [*amount, *max])[1]
    )]
    GangSize { path: Name, resource: Name, amount: Quantity, max: Quantity },
    #[error(
        "queue {path} has {count} of at most {max} applications. Wait for one to end, or raise \
         `maximumapplications`."
    )]
    QueueFull { path: Name, count: u64, max: u64 },
    #[error(
        "user {user} has {count} of at most {max} applications in queue {path}. Wait for one to \
         end, or raise {key}."
    )]
    UserFull { path: Name, user: Name, count: u64, max: u64, key: &'static str },
    #[error(
        "the tag {LIFETIME} is {text:?}, but it must be a whole number of seconds from 1 to \
         {most}. Write the tag in digits only.",
        most = u32::MAX
    )]
    Lifetime { text: Name },
    #[error("{0}")]
    Deadline(#[from] deadline::NoTime),
    #[error(
        "the gang needs {amount} {resource} together, but the quota of tenant {tenant} is {max}. Make the gang smaller, raise the quota, or set `oversized: park` for the tenant.",
        amount = format_quantities(resource, [*amount, *max])[0],
        max = format_quantities(resource, [*amount, *max])[1]
    )]
    GangQuota { tenant: Name, resource: Name, amount: Quantity, max: Quantity },
    #[error("{0}")]
    Types(Rejection),
    #[error("tenant {tenant} does not exist in partition {partition}. Create the tenant first.")]
    NoTenant { tenant: Name, partition: Name },
    #[error(
        "tenant {tenant} is draining and accepts no tasks. Submit for another tenant, or create \
         the tenant again after it is deleted."
    )]
    TenantDraining { tenant: Name },
    #[error(
        "tenant {tenant} accepts no tasks because queue {path} is {state}: the queue file sets `state: stopped` for {by}. Start {by} in the file."
    )]
    TenantClosed { tenant: Name, path: Name, state: QueueState, by: Name },
    #[error(
        "tenant {tenant} is the limit of {who}, but the task is from user {user}. Submit as {who}, or for another tenant."
    )]
    NotOfTenant { tenant: Name, user: Name, who: Name },
    #[error(
        "tenant {tenant} has {count} of at most {max} waiting tasks. Wait for one to start, or \
         raise `maxWaiting`."
    )]
    WaitingListFull { tenant: Name, count: u64, max: u64 },
    #[error(
        "queue {path} belongs to tenants and accepts only their tasks. Submit for a tenant, or to another queue."
    )]
    TenantQueue { path: Name },
}

impl Declined {
    const fn code(&self) -> RefusalCode {
        match self {
            Self::Duplicate { .. } => RefusalCode::DuplicateApplication,
            Self::NotPlaced(refused) => refused.code(),
            Self::BelowLeaf { .. } | Self::BelowPassing { .. } | Self::Level { .. } => {
                RefusalCode::PlCreate
            }
            Self::ManyQueues { .. } => RefusalCode::TooManyQueues,
            Self::GangOrder { .. } => RefusalCode::GangOrder,
            Self::GangSize { .. } => RefusalCode::GangSize,
            Self::GangQuota { .. } => RefusalCode::ExceedsQuotaAlways,
            Self::QueueFull { .. } => RefusalCode::MaxAppsQueue,
            Self::UserFull { .. } => RefusalCode::MaxAppsUser,
            Self::Lifetime { .. } => RefusalCode::Lifetime,
            Self::Deadline(_) => RefusalCode::Deadline,
            Self::Types(rejection) => rejection.code(),
            Self::NoTenant { .. } => RefusalCode::UnknownTenant,
            Self::TenantDraining { .. } => RefusalCode::TenantDraining,
            Self::TenantClosed { .. } => RefusalCode::TenantClosed,
            Self::NotOfTenant { .. } => RefusalCode::TenantUser,
            Self::WaitingListFull { .. } => RefusalCode::WaitingListFull,
            Self::TenantQueue { .. } => RefusalCode::TenantQueueClosed,
        }
    }
}

/// Selects the queue of an application, and creates or changes it if necessary.
///
/// A created queue remains even if the application is declined, and is removed later because it is empty. If a rule
/// selects a queue, `chosen` is set to it, as the rule spells it.
fn accept(
    books: &Books,
    partition: PartitionId,
    submit: &Submit,
    chosen: &mut Name,
    events: &mut Vec<Event>,
) -> Result<Name, Declined> {
    let row = books.partition(partition);
    if let Some(known) = row.applications.get(&*submit.application) {
        return Err(Declined::Duplicate {
            application: submit.application.clone(),
            partition: row.name.clone(),
            state: books.application(*known).state,
        });
    }
    if let Err(text) = asked_lifetime(&submit.tags) {
        return Err(Declined::Lifetime { text: text.clone() });
    }
    deadline::read(&submit.tags)?;
    let request = Request {
        queue: &submit.queue,
        user: &submit.user,
        groups: &submit.groups,
        tags: &submit.tags,
        forced: is_forced(&submit.tags),
    };
    let placed = if submit.tenant.is_empty() {
        let placed = place(books, partition, &request)?;
        chosen.clone_from(&placed.spelled);
        tenant::is_of_none(books, partition, &placed)?;
        placed
    } else {
        tenant::of_tenant(books, partition, submit, &request)?
    };
    tenant::fits_limit(books, partition, submit)?;
    let tags = QueueTags::read(&request);
    let leaf = if placed.exists {
        queues::change(books, partition, placed.nearest, tags, events)?
    } else {
        queues::create(books, partition, &placed, tags, events)?
    };
    if !request.forced {
        are_few(books, &placed, &leaf, &submit.user)?;
    }
    fits_gang(books, partition, &placed, &leaf, &submit.placeholder_ask)?;
    // Among the descendants of a stopped queue, only the recovery queue is used. The stopped ancestors drain again,
    // because they have an application again.
    for (_, above) in books.up(placed.nearest).filter(|(_, row)| row.state == QueueState::Stopped) {
        let (queue, state) = (above.path.clone(), QueueState::Draining);
        events.push(Event::Queue(QueueEvent::Moved { partition, queue, state }));
    }
    Ok(placed.path)
}

/// Rejects the application if a limit on the number of applications is reached: of the leaf, then of the user, and then
/// of every ancestor. Source: user-headroom §5.1.
fn are_few(
    books: &Books,
    placed: &Placed,
    leaf: &QueueSettings,
    user: &Name,
) -> Result<(), Declined> {
    let max_of = |settings: &QueueSettings| settings.application_limits.as_ref()?.max;
    let full = |path: &Name, count: u64, max: Option<u64>| match max {
        Some(max) if count >= max => Err(Declined::QueueFull { path: path.clone(), count, max }),
        _ => Ok(()),
    };
    let own = placed.exists.then(|| books.queue(placed.nearest));
    // A leaf that is created for the application always accepts that application.
    let derived = own.and_then(|queue| queue.derived_applications);
    let max = max_of(leaf).or(derived);
    full(&placed.path, own.map_or(0, |queue| queue.applications), max)?;
    let drivers = own.and_then(|_| books.drivers_of(placed.nearest));
    let count = drivers.and_then(|drivers| drivers.user(user)).map_or(0, |user| user.applications);
    if let Some((max, key)) = max_of_user(leaf, derived).filter(|(max, _)| count >= *max) {
        let (path, user) = (placed.path.clone(), user.clone());
        return Err(Declined::UserFull { path, user, count, max, key });
    }
    for (_, queue) in books.up(placed.nearest).skip(usize::from(placed.exists)) {
        full(&queue.path, queue.applications, max_of(&queue.settings))?;
    }
    Ok(())
}

/// Returns the limit on applications of one user in a leaf, and the setting that defines it. Without a setting, the
/// limit is the share of the user in the limit of the leaf. `derived` is the limit of the leaf that its own capacity
/// implies.
pub(crate) fn max_of_user(
    leaf: &QueueSettings,
    derived: Option<u64>,
) -> Option<(u64, &'static str)> {
    let limits = leaf.application_limits.as_ref();
    if let Some(max) = limits.and_then(|limits| limits.max_per_user) {
        return Some((max, "maximumapplicationsperuser"));
    }
    let written = limits.and_then(|limits| limits.max);
    let shares = leaf.user_limits.as_ref()?;
    let floor = shares.floor.unwrap_or(Decimal::HUNDRED);
    let max = max_applications(written.or(derived)?, floor, shares.times());
    // A derived limit always allows the first application of a user.
    let least = u64::from(written.is_none());
    Some((max.max(least), "maximumapplications, of which each user has a share"))
}

/// Rejects a gang that can never run in a leaf, however large the cluster is. Source: scheduling §10.1.
fn fits_gang(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
    leaf: &QueueSettings,
    gang: &Amounts,
) -> Result<(), Declined> {
    let label = labels::of_gang(books, partition, leaf);
    let gang = labels::counted(gang, label.as_ref());
    let mut wanted = gang.iter().filter(|(_, amount)| *amount > Quantity::ZERO).peekable();
    if wanted.peek().is_none() {
        return Ok(());
    }
    if leaf.values.application_order == ApplicationOrder::Fair {
        return Err(Declined::GangOrder { path: placed.path.clone() });
    }
    if label.is_none() && labels::may_name_another(books, partition, leaf) {
        return Ok(()); // Its placeholders may be counted in other types.
    }
    let parks = tenant::parks(books, partition, leaf);
    let above = books.up(placed.nearest).filter(|(_, row)| row.parent.is_some());
    let above = above.filter(|(_, row)| row.path != placed.path).map(|(_, row)| &*row.settings);
    let bounds: Vec<&QueueSettings> = core::iter::once(leaf)
        .chain(above)
        .filter(|settings| settings.tenant.is_none() || !parks)
        .collect();
    for (resource, amount) in wanted {
        let maxima = bounds.iter().filter_map(|settings| {
            Some((settings.max.as_ref()?.get(resource)?, settings.tenant.as_ref()))
        });
        let Some((max, of)) = maxima.min_by_key(|(max, _)| *max).filter(|(max, _)| amount > *max)
        else {
            continue;
        };
        let (path, resource) = (placed.path.clone(), resource.clone());
        return Err(match of {
            Some(of) => Declined::GangQuota { tenant: of.tenant.clone(), resource, amount, max },
            None => Declined::GangSize { path, resource, amount, max },
        });
    }
    Ok(())
}
