//! Releases in random histories, and the counts of gangs.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, Partition, StopRequest};
use crate::command::Command;
use crate::event::{AllocationEvent, ApplicationEvent, Event, Termination};
use crate::name::Name;

use super::{Player, pick};

impl Player<'_> {
    /// Confirms some of the stop requests to the RM. Some confirmations are sent twice.
    pub(super) fn confirm(&mut self, number: u8) {
        let books = &self.world.books;
        let marked = books.allocations().iter().filter(|(_, row)| row.mark != StopRequest::None);
        let some = marked.enumerate().filter(|(place, _)| number < 128 || place % 2 == 0);
        let commands: Vec<Command> = some
            .map(|(_, (_, row))| {
                let application = books.application(row.application);
                Command::Release {
                    partition: books.partition(application.partition).name.clone(),
                    application: application.name.clone(),
                    key: Some(row.key.clone()),
                    termination: match (row.mark, row.partner()) {
                        (StopRequest::Preempted, _) => Termination::Preempted,
                        (_, Some(_)) => Termination::PlaceholderReplaced,
                        (_, None) => Termination::Timeout,
                    },
                }
            })
            .collect();
        for command in commands {
            self.obey(&command);
            if number.is_multiple_of(4) {
                self.obey(&command);
                self.count("confirmed twice");
            }
        }
    }

    /// Counts the events of gangs, before they are applied.
    pub(super) fn count_swap(&mut self, event: &Event) {
        let books = &self.world.books;
        let what = match event {
            Event::Allocation(AllocationEvent::SwapStarted { placeholder, node, .. }) => {
                let same = books.allocation(*placeholder).node == Some(*node);
                if same { "swap on the same node" } else { "swap on another node" }
            }
            Event::Application(ApplicationEvent::Moved {
                application,
                state: ApplicationState::Running,
                ..
            }) if books
                .application(*application)
                .gang
                .as_ref()
                .is_some_and(|g| g.is_complete()) =>
            {
                "gang complete"
            }
            Event::Allocation(AllocationEvent::SwapConfirmed { .. }) if self.losing => {
                "swap confirmed by the loss of a node"
            }
            Event::Allocation(AllocationEvent::SwapDropped { .. }) if self.losing => {
                "swap dropped by the loss of a node"
            }
            _ => return,
        };
        self.count(what);
    }
}

/// For even numbers, returns the node of a placeholder that is being replaced. `None` if there is none.
pub(super) fn under_swap(books: &Books, here: &Partition, number: u8) -> Option<Name> {
    let mut held = here.allocations.iter().map(|(_, id)| books.allocation(*id));
    let swapped = held.find(|row| row.placeholder && row.partner().is_some())?;
    let node = swapped.node.filter(|_| number.is_multiple_of(2))?;
    Some(books.node(node).name.clone())
}

/// Releases a live ask or allocation, in some cases with the name of another application.
pub(super) fn release(books: &Books, partition: Name, here: &Partition, number: u8) -> Command {
    let key = pick(number, &here.allocations, "k-nowhere");
    let held = here.allocations.get(&*key).map(|one| books.allocation(*one).application);
    let holder =
        held.filter(|_| !number.is_multiple_of(16)).map(|id| books.application(id).name.clone());
    let application = holder.unwrap_or_else(|| pick(number / 2, &here.applications, "app-nowhere"));
    Command::Release {
        partition,
        application,
        key: Some(key),
        termination: match number % 32 {
            1 => Termination::Timeout,
            2 => Termination::Preempted,
            3 => Termination::PlaceholderReplaced,
            _ => Termination::StoppedByRm,
        },
    }
}
