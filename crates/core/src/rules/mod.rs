//! Rules: decide whether a command is accepted, and return its events.
//!
//! [`decide`] reads the books and returns events or a rejection. It changes nothing, so a rejected command cannot leave
//! a partial change.

pub(crate) mod activation;
mod allocation;
mod application;
mod configure;
mod foreign;
mod gang;
mod labels;
mod lifecycle;
mod node;
mod question;
mod quota;
mod recovery;
mod reservations;
mod size;
mod submit;
mod task;
mod tenant;
mod timer;

pub(crate) use application::{Placement, linked, placed};
pub(crate) use labels::at_label;
pub use size::COMMAND_BYTES_MAX;
pub(crate) use submit::max_of_user;
pub(crate) use tenant::lowered;

use alloc::string::String;
use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::config::Configuration;
use crate::event::Event;
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity, ResourceTypes, Resources};
use crate::schedule::Scheduler;
use crate::time::Timestamp;

/// Returns the events of a command, to be applied in order, or a rejection.
///
/// Costs the objects that the command refers to, regardless of other waiting asks.
///
/// # Errors
///
/// Returns a [`Rejection`] with the failed rule and both sides of the comparison.
pub fn decide(books: &Books, now: Timestamp, command: &Command) -> Result<Vec<Event>, Rejection> {
    size::judge(command)?;
    judge(books, now, command).map(|events| reservations::end_unfit(books, events))
}

/// Decides a queue file like [`decide`]. A plan calls this function to avoid a copy of the file.
///
/// # Errors
///
/// Returns the same errors as [`decide`].
pub(crate) fn decide_queue_file(
    books: &Books,
    now: Timestamp,
    file: &Configuration,
) -> Result<Vec<Event>, Rejection> {
    configure::configure(books, now, file).map(|events| reservations::end_unfit(books, events))
}

fn judge(books: &Books, now: Timestamp, command: &Command) -> Result<Vec<Event>, Rejection> {
    match command {
        Command::Configure(configuration) => configure::configure(books, now, configuration),
        Command::AddNode(add) => node::add(books, add),
        Command::ResizeNode { partition, node, capacity } => {
            node::resize(books, partition, node, capacity)
        }
        Command::SetSchedulable { partition, node, schedulable } => {
            node::set_schedulable(books, partition, node, *schedulable)
        }
        Command::RemoveNode { partition, node } => node::remove(books, now, partition, node),
        Command::Submit(submit) => submit::submit(books, now, submit),
        Command::RejectApplication(rejected) => submit::reject(books, rejected),
        Command::Ask(ask) => allocation::ask(books, now, ask),
        Command::Release { partition, application, key, termination } => {
            allocation::release(books, now, partition, application, key.as_ref(), *termination)
        }
        Command::RemoveApplication { partition, application } => {
            application::remove(books, partition, application)
        }
        Command::SetForeign(foreign) => foreign::set(books, foreign),
        Command::ReleaseForeign { partition, key } => foreign::release(books, partition, key),
        Command::SetManagerAway { partition, away } => {
            question::set_away(books, partition, away.as_ref())
        }
        Command::SetQuestions { partition, questions } => {
            question::set(books, partition, *questions)
        }
        Command::Verdicts(verdicts) => question::answer(books, verdicts),
        Command::VoidVerdicts { partition, node } => question::void(books, partition, node),
        Command::ScanQuotas { partition } => quota::scan(books, now, partition),
        Command::ScanOutstanding { partition } => {
            let partition = partition_named(books, partition)?;
            Ok(Scheduler::new(books).outstanding(books, partition))
        }
        Command::Tick => timer::fire(books, now),
        Command::SubmitTask(submitted) => task::submit(books, now, submitted),
        Command::ChangeTask { partition, task, change } => {
            task::change(books, now, partition, task, change)
        }
        Command::SetTenant(set) => tenant::set(books, now, set),
        Command::RemoveTenant { partition, tenant, drain, expects } => {
            tenant::remove(books, now, (partition, tenant), *drain, *expects)
        }
        Command::SetTenantDefaults { partition, defaults, expects } => {
            tenant::set_defaults(books, now, partition, defaults, *expects)
        }
        Command::Recover { partition } => recovery::begin(books, now, partition),
        Command::ReportDrift { partition, drift } => tenant::report_drift(books, partition, drift),
    }
}

fn partition_named(books: &Books, name: &Name) -> Result<PartitionId, Rejection> {
    books.partition_named(name).ok_or_else(|| {
        let names: Vec<&str> = books.partitions().values().map(|one| one.name.as_str()).collect();
        let known = if names.is_empty() { String::from("none") } else { names.join(", ") };
        Rejection::UnknownPartition { partition: name.clone(), known: known.into() }
    })
}

fn application_named(
    books: &Books,
    partition: PartitionId,
    name: &Name,
) -> Result<ApplicationId, Rejection> {
    let partition = books.partition(partition);
    partition.applications.get(&**name).copied().ok_or_else(|| Rejection::UnknownApplication {
        application: name.clone(),
        partition: partition.name.clone(),
    })
}

/// Largest length in bytes of an ID of an application, node, allocation, or tenant, and of a label name. Kubernetes has
/// the same limit for names of objects.
pub(crate) const ID_BYTES_MAX: usize = 253;

/// Largest length in bytes of other texts of clients. It bounds what Headroom stores for a request.
const TEXT_BYTES_MAX: usize = 4_096;

/// Rejects an ID that is empty or longer than [`ID_BYTES_MAX`].
fn named(what: &'static str, name: &Name) -> Result<(), Rejection> {
    if name.is_empty() {
        return Err(Rejection::EmptyName { what });
    }
    within(what, name, ID_BYTES_MAX)
}

/// Rejects a text longer than [`TEXT_BYTES_MAX`]. The text can be empty.
fn short(what: &'static str, text: &str) -> Result<(), Rejection> {
    within(what, text, TEXT_BYTES_MAX)
}

/// Rejects a text longer than `limit` bytes.
fn within(what: &'static str, text: &str, limit: usize) -> Result<(), Rejection> {
    let bytes = text.len();
    if bytes > limit { Err(Rejection::LongName { what, bytes, limit }) } else { Ok(()) }
}

/// Rejects a list with more than `limit` entries.
fn few(what: &'static str, count: usize, limit: usize) -> Result<(), Rejection> {
    if count > limit { Err(Rejection::TooMany { what, count, limit }) } else { Ok(()) }
}

/// Limits on the resource types that a request other than a queue file can name: the total number, and the number of
/// new types.
struct Naming {
    what: &'static str,
    limit: usize,
    new_at_once: usize,
}

impl Naming {
    const NODE: Self = Self {
        what: "the node",
        limit: ResourceTypes::LIMIT_OF_NODES,
        new_at_once: ResourceTypes::LIMIT,
    };

    const fn of_client(what: &'static str) -> Self {
        let (limit, new_at_once) = (ResourceTypes::LIMIT_OF_CLIENTS, ResourceTypes::NEW_AT_ONCE);
        Self { what, limit, new_at_once }
    }
}

/// Rejects amounts that would add too many resource types.
fn types_fit(books: &Books, naming: &Naming, amounts: &Amounts) -> Result<(), Rejection> {
    let &Naming { what, limit, new_at_once } = naming;
    let (known, added) = (books.types().len(), books.types().count_unknown(amounts));
    if added == 0 {
        return Ok(()); // A command that names only known types takes nothing from others.
    }
    if added > new_at_once {
        return Err(Rejection::ManyNewTypes { what, added, limit: new_at_once });
    }
    if known + added > limit {
        return Err(Rejection::TooManyTypes { what, added, known, limit });
    }
    Ok(())
}

/// Rejects amounts whose sum would overflow.
fn sum_fits(
    books: &Books,
    what: &'static str,
    held: Option<&Resources>,
    added: &Amounts,
) -> Result<(), Rejection> {
    for (resource, amount) in added.iter() {
        let known = books.types().find(resource);
        let held = known.zip(held).map_or(Quantity::ZERO, |(known, held)| held.get_or_zero(known));
        if amount > Quantity::MAX.minus(held) {
            let resource = resource.clone();
            return Err(Rejection::SumTooLarge { what, resource, held, added: amount });
        }
    }
    Ok(())
}
