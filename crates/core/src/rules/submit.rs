//! Submitting an application: it finds a queue, which is made where it is missing.
//!
//! A command that lacks something is refused. An application that cannot be taken in is
//! rejected: that is a fact, remembered with its reason. Scheduling §3.6.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{
    ApplicationState, Books, GangSettings, PLACEHOLDER_TIMEOUT, Partition, Queue, QueueSettings,
    QueueState,
};
use crate::command::Submit;
use crate::config::legal::{RECOVERY_QUEUE, is_queue_name};
use crate::config::property::SORT_POLICY;
use crate::config::{ApplicationOrder, CapacityConfig, PropertyValues, TemplateConfig};
use crate::event::Event;
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::placement::{Placed, QueueTags, Refused, Request, is_forced, is_recovery, place};
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity, unit_of};
use crate::time::{Millis, Timestamp};
use crate::userlimit::{Decimal, max_applications};

use super::configure::{application_limits_below, granting, user_limits_below};
use super::{Naming, named, partition_named, short, types_fit};

/// The tag that says when an application was made.
const CREATED: &str = "yunikorn.apache.org/creationTime";
/// The tag that says how long the application may live, in seconds.
const LIFETIME: &str = "headroom/lifetime";

pub(super) fn submit(
    books: &Books,
    now: Timestamp,
    submit: &Submit,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &submit.partition)?;
    named("application id", &submit.application)?;
    named("user name", &submit.user)?;
    short("queue", &submit.queue)?;
    for group in &submit.groups {
        short("group name", group)?;
    }
    let mut events = Vec::new();
    let (application, user) = (submit.application.clone(), submit.user.clone());
    let groups = submit.groups.clone();
    let rejected = match accept(books, partition, submit, &mut events) {
        Ok(queue) => {
            let gang = gang(now, submit);
            events.push(Event::ApplicationAdded {
                partition,
                queue,
                application,
                user,
                groups,
                gang,
            });
            events.extend(lifetime(books, now, submit));
            return Ok(events);
        }
        Err(declined) => Event::ApplicationRejected {
            partition,
            queue: submit.queue.clone(),
            application,
            user,
            groups,
            code: Name::new(declined.code()),
            message: Name::from(alloc::format!("{declined}")),
        },
    };
    events.push(rejected);
    Ok(events)
}

/// Remember an application as rejected that is not submitted at all.
pub(super) fn reject(
    books: &Books,
    partition: &Name,
    application: &Name,
    queue: &Name,
    (code, message): (&Name, &Name),
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    named("application id", application)?;
    short("queue", queue)?;
    short("code", code)?;
    short("message", message)?;
    Ok(vec![Event::ApplicationRejected {
        partition,
        queue: queue.clone(),
        application: application.clone(),
        user: Name::default(),
        groups: Vec::new(),
        code: code.clone(),
        message: message.clone(),
    }])
}

/// How the application waits for its gang. One that was made earlier, before a restart say,
/// has waited since. Source: scheduling §3.5.
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

/// When the application was made, as its tags say: in whole seconds.
fn created(tags: &[(Name, Name)]) -> Option<Timestamp> {
    let (_, seconds) = tags.iter().find(|(key, _)| *key == CREATED)?;
    let seconds: u64 = seconds.parse().ok()?;
    Some(Timestamp::from_millis(seconds.saturating_mul(1_000)))
}

/// What its tags say of its lifetime, if anything. One that was made earlier, before a restart
/// say, has lived since.
fn lifetime(books: &Books, now: Timestamp, submit: &Submit) -> Option<Event> {
    let asked = asked_lifetime(&submit.tags).ok().flatten();
    let since = created(&submit.tags).filter(|created| *created < now);
    (asked.is_some() || since.is_some()).then(|| Event::LifetimeSet {
        application: books.applications().next_id(),
        since: since.unwrap_or(now),
        asked,
    })
}

/// How long the application is to live, as its tags say; what is said where that is no time.
fn asked_lifetime(tags: &[(Name, Name)]) -> Result<Option<Millis>, &Name> {
    let said = tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(LIFETIME));
    said.map_or(Ok(None), |(_, text)| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = text.parse::<u32>().ok().filter(|seconds| is_plain && *seconds > 0);
        seconds.map(|seconds| Some(Millis::from_secs(seconds.into()))).ok_or(text)
    })
}

/// Why an application is rejected.
#[derive(Debug, thiserror::Error)]
enum Declined {
    #[error(
        "application {application} exists already in partition {partition} in state {state}; an id is free again when its application has ended"
    )]
    Duplicate { application: Name, partition: Name, state: ApplicationState },
    #[error("{0}")]
    NotPlaced(#[from] Refused),
    #[error(
        "queue {path} cannot be made, since {above} is a leaf; leaves hold applications and no queues"
    )]
    BelowLeaf { path: Name, above: Name },
    #[error(
        "queue {path} cannot be made, since {above} is {state}; queues are made below Active ones only"
    )]
    BelowPassing { path: Name, above: Name, state: QueueState },
    #[error(
        "queue {path} cannot be made, since {level:?} is no name that a queue can take; a name is 1 to 64 of A-Z a-z 0-9 _ : # / @ - and not {RECOVERY_QUEUE}"
    )]
    Level { path: Name, level: Name },
    #[error(
        "queue {path} cannot be made: it takes {missing} new queues, placement rules have made {made} in partition {partition} already, and no more than {limit} can be at once; empty ones go within ten seconds",
        limit = Partition::QUEUES_MADE_MAX
    )]
    ManyQueues { path: Name, partition: Name, missing: usize, made: u32 },
    #[error(
        "queue {path} orders applications by fair share, where gangs cannot run; submit to a queue of another application.sort.policy"
    )]
    GangOrder { path: Name },
    #[error(
        "the gang of {amount}{} {resource} can never run in queue {path}, whose configured maximum is {max}{}; make the gang smaller, or raise the maximum",
        unit_of(resource),
        unit_of(resource)
    )]
    GangSize { path: Name, resource: Name, amount: Quantity, max: Quantity },
    #[error(
        "queue {path} has {count} applications that have not ended and takes in {max} (maximumapplications); wait for one to end, or raise the number"
    )]
    QueueFull { path: Name, count: u64, max: u64 },
    #[error(
        "user {user} has {count} applications in queue {path} that have not ended and may have {max} there ({key}); wait for one to end, or raise the number"
    )]
    UserFull { path: Name, user: Name, count: u64, max: u64, key: &'static str },
    #[error(
        "the tag {LIFETIME} is {text:?}; it is a whole number of seconds from 1 to {most}, in digits only",
        most = u32::MAX
    )]
    Lifetime { text: Name },
    #[error("{0}")]
    Types(Rejection),
}

impl Declined {
    const fn code(&self) -> &'static str {
        match self {
            Self::Duplicate { .. } => "DUPLICATE_APPLICATION",
            Self::NotPlaced(refused) => refused.code(),
            Self::BelowLeaf { .. } | Self::BelowPassing { .. } | Self::Level { .. } => "PL-CREATE",
            Self::ManyQueues { .. } => "TOO_MANY_QUEUES",
            Self::GangOrder { .. } => "GANG_ORDER",
            Self::GangSize { .. } => "GANG_SIZE",
            Self::QueueFull { .. } => "MAX_APPS_QUEUE",
            Self::UserFull { .. } => "MAX_APPS_USER",
            Self::Lifetime { .. } => "LIFETIME",
            Self::Types(rejection) => rejection.code(),
        }
    }
}

/// Find the application its queue, and make or change that where need be. What was made on
/// the way stays even if the application is declined, and is cleaned away when it is empty.
fn accept(
    books: &Books,
    partition: PartitionId,
    submit: &Submit,
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
    let request = Request {
        queue: &submit.queue,
        user: &submit.user,
        groups: &submit.groups,
        tags: &submit.tags,
        forced: is_forced(&submit.tags),
    };
    let placed = place(books, partition, &request)?;
    let tags = QueueTags::read(&request);
    let leaf = if placed.exists {
        change(books, partition, placed.nearest, tags, events)?
    } else {
        create(books, partition, &placed, tags, events)?
    };
    if !request.forced {
        are_few(books, &placed, &leaf, &submit.user)?;
    }
    fits_gang(books, &placed, &leaf, &submit.placeholder_ask)?;
    // Only what must not be lost comes below a queue that is stopped; that has something again.
    for (_, above) in books.up(placed.nearest).filter(|(_, row)| row.state == QueueState::Stopped) {
        let (queue, state) = (above.path.clone(), QueueState::Draining);
        events.push(Event::QueueMoved { partition, queue, state });
    }
    Ok(placed.path)
}

/// Whether the leaf, those above it and the user may have one more application: the leaf is looked at
/// first, then its user, then every queue above. User headroom §5.1.
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
    // One that is made for the application takes in its first.
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

/// How many applications one user may have in a leaf, and what says so: where nothing does, as many
/// as his part of the leaf lets him have. `derived` is what the leaf takes in by its own part.
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
    // What nobody wrote refuses nobody his first.
    let least = u64::from(written.is_none());
    Some((max.max(least), "maximumapplications by his part of the queue"))
}

/// The settings of a leaf, after the tags have changed it if it was made by a rule.
fn change(
    books: &Books,
    partition: PartitionId,
    leaf: QueueId,
    tags: QueueTags,
    events: &mut Vec<Event>,
) -> Result<Arc<QueueSettings>, Declined> {
    let row = books.queue(leaf);
    if row.managed || is_recovery(books, leaf) {
        return Ok(row.settings.clone());
    }
    let mut settings = QueueSettings::clone(&row.settings);
    tags.change(&mut settings);
    if settings == *row.settings {
        return Ok(row.settings.clone());
    }
    types_are_few(books, &settings)?;
    events.push(Event::QueueChanged {
        partition,
        queue: row.path.clone(),
        leaf: row.leaf,
        managed: row.managed,
        settings: settings.clone(),
    });
    Ok(Arc::new(settings))
}

/// The levels that a leaf to be made lacks, if it may be made.
fn may_create<'placed>(
    books: &Books,
    partition: PartitionId,
    placed: &'placed Placed,
) -> Result<&'placed str, Declined> {
    let above = books.queue(placed.nearest);
    let path = || placed.path.clone();
    if above.leaf {
        return Err(Declined::BelowLeaf { path: path(), above: above.path.clone() });
    }
    let missing = &placed.path[above.path.len() + 1..];
    // What must not be lost always has its queue, wherever it was stopped.
    let recovery = above.parent.is_none() && missing == RECOVERY_QUEUE;
    if above.state != QueueState::Active && !recovery {
        let (above, state) = (above.path.clone(), above.state);
        return Err(Declined::BelowPassing { path: path(), above, state });
    }
    if recovery {
        return Ok(missing);
    }
    let illegal = |level: &&str| !is_queue_name(level) || *level == RECOVERY_QUEUE;
    if let Some(level) = missing.split('.').find(illegal) {
        return Err(Declined::Level { path: path(), level: Name::new(level) });
    }
    queues_are_few(books, partition, placed, missing.split('.').count())?;
    Ok(missing)
}

/// Make a leaf and the parents that it lacks; the settings of the leaf.
fn create(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
    tags: QueueTags,
    events: &mut Vec<Event>,
) -> Result<Arc<QueueSettings>, Declined> {
    let above = books.queue(placed.nearest);
    let missing = may_create(books, partition, placed)?;
    let recovery = above.parent.is_none() && missing == RECOVERY_QUEUE;
    let template = above.settings.template.clone();
    let user_limits = above.settings.user_limits.clone();
    let counts = above.settings.application_limits.clone();
    let part = part_below(books, placed.nearest).filter(|_| !recovery);
    let preemption = above.settings.preemption;
    // What must not be lost is not held back by its user either.
    let mut leaf = QueueSettings::default();
    if !recovery {
        leaf = settings_of_leaf(template.as_deref(), sort_policy(books, placed.nearest));
        leaf.preemption = preemption;
        let own = template.as_ref().and_then(|template| template.user_limits.as_ref());
        leaf.user_limits = user_limits_below(own, user_limits.as_ref());
        let own = template.as_ref().and_then(|template| template.application_limits.as_ref());
        leaf.application_limits = application_limits_below(own, counts.as_ref());
        leaf.capacity = part;
        leaf.node_labels.clone_from(&above.settings.node_labels);
        tags.change(&mut leaf);
        types_are_few(books, &leaf)?;
    }
    let mut parent = above.path.clone();
    let mut levels = missing.split('.').peekable();
    while let Some(name) = levels.next() {
        let is_leaf = levels.peek().is_none();
        let settings = if is_leaf {
            leaf.clone()
        } else {
            let (template, user_limits) = (template.clone(), user_limits.clone());
            let application_limits = application_limits_below(None, counts.as_ref());
            QueueSettings {
                template,
                user_limits,
                application_limits,
                capacity: part.map(|_| CapacityConfig::ONE),
                preemption,
                node_labels: above.settings.node_labels.clone(),
                ..QueueSettings::default()
            }
        };
        let next = Name::from(alloc::format!("{parent}.{name}"));
        events.push(Event::QueueAdded {
            partition,
            parent: core::mem::replace(&mut parent, next),
            name: Name::new(name),
            leaf: is_leaf,
            managed: false,
            settings,
        });
    }
    Ok(Arc::new(leaf))
}

/// The part of what its parent has of a leaf that a rule makes, directly below a queue or further
/// down: one by weight, as the template says, where the queues of the file do the same there, or
/// there are none and the queue above has a part itself. Elsewhere it has none.
fn part_below(books: &Books, above: QueueId) -> Option<CapacityConfig> {
    let row = books.queue(above);
    let template = row.settings.template.as_deref();
    let said = template.and_then(|template| template.capacity);
    if said.is_none() && !books.divides(row.partition) {
        return None;
    }
    if said.is_none() && template.is_some_and(|one| granting(&one.guaranteed).is_some()) {
        return None; // It has its amount.
    }
    let by_weight =
        |row: &Queue| row.settings.capacity.as_ref().is_some_and(CapacityConfig::is_weight);
    let mut of_file = books.children(above).map(|(_, row)| row).filter(|row| row.managed);
    let shares = match of_file.next() {
        Some(first) => by_weight(first) && of_file.all(by_weight),
        None => said.is_some() || row.settings.capacity.is_some(),
    };
    shares.then(|| said.unwrap_or(CapacityConfig::ONE))
}

/// Decline more queues made by rules than there can be.
fn queues_are_few(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
    missing: usize,
) -> Result<(), Declined> {
    let row = books.partition(partition);
    if row.queues_made as usize + missing <= Partition::QUEUES_MADE_MAX as usize {
        return Ok(());
    }
    let (path, partition, made) = (placed.path.clone(), row.name.clone(), row.queues_made);
    Err(Declined::ManyQueues { path, partition, missing, made })
}

/// What a leaf starts with that a rule makes.
fn settings_of_leaf(template: Option<&TemplateConfig>, policy: Option<&Name>) -> QueueSettings {
    let mut settings = QueueSettings::default();
    if let Some(template) = template {
        settings.max = granting(&template.max);
        settings.guaranteed = granting(&template.guaranteed);
        settings.max_applications = template.max_applications;
        settings.properties = template.properties.clone();
    }
    // Children made by rules are sorted as their parent says. Source: decision L-3.
    if let Some(policy) = policy {
        let properties = &mut settings.properties;
        properties.entry(Name::new(SORT_POLICY)).or_insert_with(|| policy.clone());
    }
    settings.values = PropertyValues::read(&settings.properties);
    settings
}

/// How the queue file wants applications sorted here: by the nearest queue that it has, which
/// has inherited from those above.
fn sort_policy(books: &Books, queue: QueueId) -> Option<&Name> {
    let (_, configured) = books.up(queue).find(|(_, row)| row.managed)?;
    configured.settings.properties.get(SORT_POLICY)
}

fn types_are_few(books: &Books, settings: &QueueSettings) -> Result<(), Declined> {
    let user_limits = settings.user_limits.iter().flat_map(|limits| limits.amounts());
    let all = settings.max.iter().chain(&settings.guaranteed).chain(user_limits);
    let amounts: Amounts =
        all.flat_map(Amounts::iter).map(|(name, amount)| (name.clone(), amount)).collect();
    types_fit(books, &Naming::of_client("the queue of the application"), &amounts)
        .map_err(Declined::Types)
}

/// Decline a gang that could never run in a leaf, be the cluster as large as it may. Source:
/// scheduling §10.1.
fn fits_gang(
    books: &Books,
    placed: &Placed,
    leaf: &QueueSettings,
    gang: &Amounts,
) -> Result<(), Declined> {
    let mut wanted = gang.iter().filter(|(_, amount)| *amount > Quantity::ZERO).peekable();
    if wanted.peek().is_none() {
        return Ok(());
    }
    if leaf.values.application_order == ApplicationOrder::Fair {
        return Err(Declined::GangOrder { path: placed.path.clone() });
    }
    for (resource, amount) in wanted {
        let above = books.up(placed.nearest).filter(|(_, row)| row.parent.is_some());
        let maxima = above
            .filter(|(_, row)| row.path != placed.path)
            .filter_map(|(_, row)| row.settings.max.as_ref())
            .chain(&leaf.max);
        let lowest = maxima.filter_map(|max| max.get(resource)).min();
        if let Some(max) = lowest.filter(|max| amount > *max) {
            let (path, resource) = (placed.path.clone(), resource.clone());
            return Err(Declined::GangSize { path, resource, amount, max });
        }
    }
    Ok(())
}
