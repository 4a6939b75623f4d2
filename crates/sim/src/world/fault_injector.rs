//! Injects faults. See [`crate::fault`].

use headroom_core::books::Books;
use headroom_core::{
    AddNode, Ask, Command, Event, Name, Note, Scheduler, Termination, Timestamp, decide,
};

use crate::fault::{Fault, FaultKind, Manner};
use crate::outcome::NodeRecord;
use crate::workload::generate::random::Random;

use super::calendar::Entry;
use super::play::Play;
use super::{RunError, Setup};

/// Number of events after which the books are stored as a whole, and these events are dropped.
const EVENTS_A_SNAPSHOT: usize = 50_000;

/// Faults of a run.
#[derive(Debug)]
pub(super) struct FaultInjector {
    pub(super) list: Vec<Fault>,
    pub(super) manner: Manner,
    pub(super) random: Random,
    /// Number of planned faults, and ends of faults.
    pub(super) ahead: usize,
    /// Records from which the core recovers. `None` if the core is never lost.
    journal: Option<Journal>,
}

/// Records of the core.
#[derive(Debug)]
struct Journal {
    snapshot: Books,
    events: Vec<(Timestamp, Event)>,
}

impl FaultInjector {
    pub(super) fn of(setup: &Setup, books: &Books) -> Self {
        let names: Vec<Name> = setup.nodes.iter().map(|node| node.name.clone()).collect();
        let jobs = setup.workload.jobs.iter();
        let ends = jobs.map(|job| job.submit_ms.saturating_add(job.longest_ms()));
        let length_ms = ends.max().unwrap_or(0).min(setup.until_ms.unwrap_or(u64::MAX));
        let faults = setup.faults.as_ref().map(|source| source.faults(&names, length_ms));
        let (list, manner) =
            faults.map_or((Vec::new(), Manner::Reliable), |faults| (faults.list, faults.manner));
        let recovers = list.iter().any(|fault| fault.kind == FaultKind::Recover);
        Self {
            ahead: list.len(),
            list,
            manner,
            random: Random::new(setup.seed ^ 0x6661_756c_7473),
            journal: recovers.then(|| Journal { snapshot: books.clone(), events: Vec::new() }),
        }
    }

    /// Records an event that was applied to these books.
    pub(super) fn keep(&mut self, books: &Books, at: Timestamp, event: &Event) {
        let Some(journal) = &mut self.journal else { return };
        journal.events.push((at, event.clone()));
        if journal.events.len() >= EVENTS_A_SNAPSHOT {
            journal.snapshot = books.clone();
            journal.events.clear();
        }
    }
}

impl Play<'_> {
    /// Begins a fault.
    pub(super) fn strike(&mut self, position: usize) -> Result<(), RunError> {
        self.trouble.ahead -= 1;
        let Fault { at_ms, kind } = self.trouble.list[position].clone();
        match kind {
            FaultKind::Lose { node, for_ms } => {
                if self.has_node(&node) {
                    self.count_fault(|faults| &mut faults.nodes_lost);
                    self.over_at(at_ms.saturating_add(for_ms), position);
                    self.lose(&node)?;
                }
                Ok(())
            }
            FaultKind::Drain { node, for_ms } => {
                if self.set_schedulable(&node, false)? {
                    self.count_fault(|faults| &mut faults.nodes_drained);
                    self.over_at(at_ms.saturating_add(for_ms), position);
                }
                Ok(())
            }
            FaultKind::Reconnect => self.reconnect(),
            FaultKind::Recover => self.recover(),
            FaultKind::ReleaseUnknown => self.release_unknown(),
            FaultKind::Late { for_ms, after_ms } => {
                self.rm.late = (at_ms.saturating_add(for_ms), after_ms);
                Ok(())
            }
            FaultKind::Twice { for_ms } => {
                self.rm.twice_until_ms = at_ms.saturating_add(for_ms);
                Ok(())
            }
        }
    }

    fn over_at(&mut self, at_ms: u64, position: usize) {
        self.trouble.ahead += 1;
        self.calendar.add(at_ms, Entry::Over(position));
    }

    /// Ends a fault: a node returns or accepts work again, unless the node file has removed the node.
    pub(super) fn make_good(&mut self, position: usize) -> Result<(), RunError> {
        self.trouble.ahead -= 1;
        match self.trouble.list[position].kind.clone() {
            FaultKind::Lose { node, .. } => self.come_back(&node),
            FaultKind::Drain { node, .. } => self.set_schedulable(&node, true).map(|_| ()),
            FaultKind::Reconnect
            | FaultKind::Recover
            | FaultKind::ReleaseUnknown
            | FaultKind::Late { .. }
            | FaultKind::Twice { .. } => Ok(()),
        }
    }

    fn come_back(&mut self, name: &Name) -> Result<(), RunError> {
        let now_ms = self.now.as_millis();
        let known = self.setup.nodes.iter().position(|node| node.name == *name);
        let Some(position) = known.filter(|_| !self.has_node(name)) else { return Ok(()) };
        let node = &self.setup.nodes[position];
        if node.to_ms.is_some_and(|to_ms| to_ms <= now_ms) {
            return Ok(());
        }
        self.count_fault(|faults| &mut faults.nodes_back);
        self.node_positions.insert(name.clone(), self.outcome.nodes.len());
        self.outcome.nodes.push(NodeRecord {
            name: name.clone(),
            from_ms: now_ms,
            to_ms: node.to_ms,
            resources: node.resources.clone(),
        });
        self.join(position)
    }

    /// Drains a node, or ends that. Returns whether this changed anything.
    fn set_schedulable(&mut self, node: &Name, schedulable: bool) -> Result<bool, RunError> {
        if !self.has_node(node) {
            return Ok(false);
        }
        let (partition, node) = (self.partition.clone(), node.clone());
        let before = self.outcome.decisions;
        self.command(&Command::SetSchedulable { partition, node, schedulable })?;
        Ok(self.outcome.decisions > before)
    }

    /// Lets the RM send its whole state again. This must not change anything.
    fn reconnect(&mut self) -> Result<(), RunError> {
        self.count_fault(|faults| &mut faults.reconnects);
        for command in self.all_that_is_known() {
            match decide(&self.books, self.now, &command) {
                Err(_) => self.count_fault(|faults| &mut faults.refused),
                Ok(events) if events.is_empty() => {}
                Ok(events) => {
                    let what = format!("{command:?}, sent again, caused {events:?}");
                    return Err(self.unaccounted(what));
                }
            }
        }
        Ok(())
    }

    fn all_that_is_known(&self) -> Vec<Command> {
        let books = &self.books;
        let partition = &self.partition;
        let id = books.partition_named(partition).expect("it was configured");
        let nodes =
            books.nodes().iter().filter(|(_, node)| node.partition == id).map(|(_, node)| {
                Command::AddNode(AddNode {
                    partition: partition.clone(),
                    node: node.name.clone(),
                    capacity: books.plain(id, &node.capacity),
                    schedulable: node.schedulable,
                    attributes: node.attributes.clone(),
                })
            });
        let asks = books.allocations().iter().map(|(one, row)| {
            let node = row.node.filter(|_| row.is_allocated());
            Command::Ask(Ask {
                partition: partition.clone(),
                application: books.application(row.application).name.clone(),
                key: row.key.clone(),
                resources: books.plain_size_of(one),
                node: node.map(|node| books.node(node).name.clone()),
                priority: row.priority,
                placeholder: row.placeholder,
                task_group: row.task_group().cloned().unwrap_or_default(),
                may_preempt: row.may_preempt,
                preemptable: row.preemptable,
                node_label: books
                    .node_selector_of(one)
                    .and_then(|wish| wish.label.clone())
                    .unwrap_or_default(),
                ..Ask::default()
            })
        });
        nodes.chain(asks).collect()
    }

    /// Lets the core recover from its records, and checks that the state is the same.
    fn recover(&mut self) -> Result<(), RunError> {
        self.count_fault(|faults| &mut faults.recoveries);
        let Some(journal) = &self.trouble.journal else { return Ok(()) };
        let mut books = journal.snapshot.clone();
        for (at, event) in &journal.events {
            books.apply(*at, event);
        }
        if books != self.books {
            return Err(self.unaccounted("the scheduler state differs after recovery".to_owned()));
        }
        self.books = books;
        self.take_notes()?;
        self.scheduler = Scheduler::watching(&self.books);
        self.blame.take(&self.books, self.now.as_millis(), vec![Note::Renewed]);
        self.take_notes()
    }

    fn release_unknown(&mut self) -> Result<(), RunError> {
        self.count_fault(|faults| &mut faults.unknown_releases);
        let live = self.books.applications().iter().next();
        let application = live.map_or_else(|| "nobody".into(), |(_, row)| row.name.clone());
        for application in [application, Name::new("an-application-that-nobody-knows")] {
            self.tell(&Command::Release {
                partition: self.partition.clone(),
                application,
                key: Some(Name::new("a-key-that-nobody-knows")),
                termination: Termination::StoppedByRm,
            })?;
        }
        Ok(())
    }
}
