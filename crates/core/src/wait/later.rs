//! Who waits until others are served, or until later: behind the head of a line, for an RM that is busy,
//! or for the end of a pause.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::resource::Quantity;
use crate::time::Told;

use super::{Precedence, Wait, figures_of};

/// The sentence about the head of the line of a leaf, if it is known who that is.
pub(super) fn sentence(
    wait: &Wait,
    books: &Books,
    (leaf, head): (QueueId, Option<AllocationId>),
) -> String {
    let row = books.queue(leaf);
    let path = &row.path;
    let head = head.and_then(|head| Some((head, books.allocations().get(head)?)));
    let first = head.map_or_else(
        || format!("the first in line of queue {path}"),
        |(_, head)| {
            let name = &books.application(head.application).name;
            format!("ask {} of application {name}, the first in line of queue {path},", head.key)
        },
    );
    let cure = match row.settings.values.application_order {
        ApplicationOrder::FifoStrict => {
            "wait until it has started, or choose fifo-backfill as the queue's application.sort.policy"
        }
        _ => "wait until it has started, or raise application.sort.maxovertakes or .maxheadwait",
    };
    let Some(short) = wait.shortfall else {
        return format!("{first} goes before the ask; {cure}");
    };
    let kept =
        head.map_or(Quantity::ZERO, |(head, _)| books.whole_of(head).get_or_zero(short.resource));
    let amounts = [kept, short.available.max(Quantity::ZERO), short.needed];
    let (name, [kept, available, needed]) = figures_of(books, short, amounts);
    format!(
        "{first} goes before the ask and needs {kept} {name}; beside that {available} are left of the maximum, the ask needs {needed}; {cure}"
    )
}

/// About those that are looked at first, at a queue.
pub(super) fn of_order(queue: &str, by: Precedence) -> String {
    let (who, cure) = match by {
        Precedence::Priority => ("more urgent ones go first", "or raise its priority"),
        Precedence::Share => (
            "those go first that use less of their share",
            "or use less, or raise the guarantee that shares are measured by",
        ),
        Precedence::Order => {
            ("those go first that come first in its order", "it is their turn now")
        }
    };
    format!("nothing holds the ask back but its turn: at queue {queue} {who}; wait, {cure}")
}

/// The nodes of a partition that are to report.
pub(super) fn its_nodes(books: &Books, partition: PartitionId) -> String {
    format!("nodes of partition {}", books.partition(partition).name)
}

/// How many questions the RM has to answer, and how many it may.
pub(super) fn of_open_questions(books: &Books, partition: PartitionId) -> String {
    let row = books.partition(partition);
    if let Some(recovery) = &row.recovery
        && let Some(until) = recovery.until
    {
        let missing = recovery.missing().len();
        let (has, they) = if missing == 1 { ("has", "it has") } else { ("have", "they have") };
        return format!(
            "{missing} of {} nodes {has} not reported since the start; nothing starts before {they}, or before {}; wait, or see to the RM",
            row.nodes.len(),
            Told(until)
        );
    }
    let most = row.questions.map_or(0, |one| one.at_once.get());
    format!(
        "the RM has {} to answer, at most {most} at once, and is asked more once it has answered half of them; wait, or see to the RM",
        questions(row.open_questions.count)
    )
}

/// So many questions, in words.
pub(crate) fn questions(count: u32) -> String {
    match count {
        1 => "1 question".into(),
        count => format!("{count} questions"),
    }
}

/// About an application with placeholders left of a task group, at this position.
pub(super) fn of_placeholders(
    books: &Books,
    subject: &str,
    (application, group): (ApplicationId, u32),
) -> String {
    let gang = books.application(application).gang.as_ref();
    let group = gang.and_then(|gang| gang.groups.get(group as usize));
    let group = group.map_or("", |group| group.name.as_str());
    format!(
        "{subject} has placeholders for task group {group}, and the ask can take the place of none now; wait until one is placed or stopped"
    )
}

/// About an application whose asks found no node too often.
pub(super) fn of_back_off(books: &Books, subject: &str, application: ApplicationId) -> String {
    let until = books.application(application).backed_off;
    let until = Told(until.unwrap_or_default());
    format!(
        "too many asks of {subject} found no node; it is tried again at {until}; wait, or ask for less"
    )
}
