//! Sentences about asks that wait for other asks, or for the end of a pause.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, format_amounts};
use crate::time::DisplayTime;

use super::{Blocker, Precedence, Wait, figures_of};

/// Returns whether the leaf has strict FIFO order.
pub(super) fn is_strict(books: &Books, leaf: QueueId) -> bool {
    books.queue(leaf).settings.values.application_order == ApplicationOrder::FifoStrict
}

/// Returns the sentence for the head of line of a leaf. Names the head if it is known.
pub(super) fn of_head(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Blocker::BehindHead(leaf, head) = wait.blocker else { return String::new() };
    let path = &books.queue(leaf).path;
    let head = head.and_then(|head| Some((head, books.allocations().get(head)?)));
    let first = head.map_or_else(
        || "the first ask".into(),
        |(_, head)| {
            let name = &books.application(head.application).name;
            format!("ask {} of application {name}", head.key)
        },
    );
    // A tenant sets the strategy through the API and has no queue properties, so the remedy names the API setting.
    let is_tenant = books.queue(leaf).settings.tenant.is_some();
    let cure = match (is_strict(books, leaf), is_tenant) {
        (true, false) => "set `application.sort.policy` to `fifo-backfill`",
        (true, true) => "set `waiting.strategy` of the tenant to `fifo-backfill`",
        (false, false) => "raise `application.sort.maxovertakes` or `application.sort.maxheadwait`",
        (false, true) => {
            "raise `waiting.maxOvertakes` or `waiting.maxHeadWaitSeconds` of the tenant"
        }
    };
    let cure = format!("Wait until the head of line starts, or {cure}.");
    let Some(short) = wait.shortfall else {
        return format!(
            "{first} is the head of line of queue {path}, and this ask needs amounts that the head lacks. {cure}"
        );
    };
    let needed_by_head = head
        .map_or(Quantity::ZERO, |(head, _)| books.total_request(head).get_or_zero(short.resource));
    let amounts = [needed_by_head, short.available.max(Quantity::ZERO), short.needed];
    let (name, [needed_by_head, available, needed]) = figures_of(books, short, amounts);
    let bound = if is_tenant { "quota" } else { "maximum" };
    format!(
        "{first} is the head of line of queue {path} and needs {needed_by_head} {name}. The \
         {bound} leaves {available} for others, but this ask needs {needed}. {cure}"
    )
}

/// Returns the sentence for capacity that a queue holds for another ask.
pub(super) fn of_hold(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Blocker::Held(queue) = wait.blocker else { return String::new() };
    let path = &books.queue(queue).path;
    let cure = "Wait until that ask starts or its hold ends, or raise the maximum of the queue.";
    let held = books.held_for(queue).filter(|held| *held != ask);
    let Some(held) = held else {
        return format!("queue {path} holds capacity for an ask that has waited too long. {cure}");
    };
    let row = books.allocation(held);
    let (since, request) = (row.hold().map(|hold| hold.since), books.total_request(ask));
    let since = since.map_or_else(String::new, |at| format!(" since {}", DisplayTime(at)));
    let Some(short) = books.shortfall_beside(queue, held, &request) else {
        return format!(
            "queue {path} holds capacity{since} for an ask that has waited too long. {cure}"
        );
    };
    let amounts = [short.available.max(Quantity::ZERO), short.needed];
    let (name, [available, needed]) = figures_of(books, short, amounts);
    format!(
        "queue {path} holds capacity{since} for an ask that has waited too long. That leaves {available} {name} for \
         others, but this ask needs {needed}. {cure}"
    )
}

/// Returns the sentence for asks that are checked first at a queue.
pub(super) fn of_order(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Blocker::Order(queue, by) = wait.blocker else { return String::new() };
    let queue = &books.queue(queue).path;
    let (who, cure) = match by {
        Precedence::Priority => {
            ("asks with a higher priority", ", or raise the priority of the ask")
        }
        Precedence::Share => (
            "applications below their share",
            ", or raise the guarantee of the queue of the application",
        ),
        Precedence::Order => ("earlier asks", ""),
    };
    format!("the ask can start, but queue {queue} serves {who} first. Wait{cure}.")
}

/// Returns the sentence for an application with placeholders left in the task group of the ask.
pub(super) fn of_placeholders(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Blocker::Placeholders(application, group) = wait.blocker else { return String::new() };
    let subject = wait.blocker.subject(books);
    let gang = books.application(application).gang.as_ref();
    let group = gang.and_then(|gang| gang.groups.get(group as usize));
    let group = group.map_or("", |group| group.name.as_str());
    format!(
        "{subject} has placeholders for task group {group}, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released."
    )
}

/// Returns the sentence for a gang that reserves capacity until it is complete.
pub(super) fn of_gang(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let gang = wait.blocker.subject(books);
    format!(
        "{gang} reserves capacity until it is complete, and there is not enough capacity for all \
         placeholders of this gang at once. Wait until {gang} is complete or its timeout ends, or add nodes."
    )
}

/// Returns the sentence for a gang with missing placeholders.
pub(super) fn of_gang_asks(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Blocker::GangAsks(application) = wait.blocker else { return String::new() };
    let subject = wait.blocker.subject(books);
    let gang = books.application(application).gang.as_ref();
    let needs = gang.map(|gang| books.types().amounts(&gang.ask)).unwrap_or_default();
    let [needs] = format_amounts(&needs, [&needs]);
    format!(
        "{subject} has not requested all placeholders of its gang yet, which need {needs} in all. \
         Request the missing placeholders, or submit the application with a smaller gang."
    )
}

/// Returns the sentence for a backed-off application.
pub(super) fn of_back_off(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Blocker::BackOff(application) = wait.blocker else { return String::new() };
    let subject = wait.blocker.subject(books);
    let until = DisplayTime(books.application(application).backed_off.unwrap_or_default());
    format!(
        "too many asks of {subject} found no node, so the asks of {subject} are not checked until \
         {until}. Wait, or request less."
    )
}
