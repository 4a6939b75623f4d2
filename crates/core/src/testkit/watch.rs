//! Records of a story and of a random history.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::name::Name;
use crate::record::{Change, Detail, Edges, Record, RecordSequencer, records, records_of_refusal};
use crate::resource::Amounts;
use crate::time::Timestamp;
use crate::view::SummaryView;

use super::World;

/// Watcher of a story.
#[derive(Default)]
pub(super) struct Watch {
    telling: RecordSequencer,
    edges: Edges,
    lines: Vec<String>,
}

impl Watch {
    pub(super) fn hear(&mut self, books: &Books, now: Timestamp, event: &Event) {
        let lines = &mut self.lines;
        let mut heard = |record| lines.push(line(&record));
        self.edges.hear(books, now, event, &mut heard);
        self.telling.hear(books, now, event, &mut heard);
        if let Some(summary) = SummaryView::before(books, now, event) {
            self.lines.push(of_summary(&summary));
        }
    }

    pub(super) fn refused(&mut self, books: &Books, now: Timestamp, command: &Command) {
        records_of_refusal(books, now, command, &mut |record| self.lines.push(line(&record)));
    }

    /// Ends a command or a step of the scheduler.
    pub(super) fn pause(&mut self, world: &mut World) {
        let notes = world.scheduler.take_notes();
        let lines = &mut self.lines;
        let mut heard = |record| lines.push(line(&record));
        self.telling.finish(&mut heard);
        self.edges.take(&world.books, &world.scheduler, world.now, &notes, &mut heard);
    }

    /// Returns the records since the last call.
    pub(super) fn take(&mut self) -> String {
        self.lines.drain(..).collect()
    }
}

fn line(record: &Record) -> String {
    let Record { kind, change, detail, object, reference, message, resources, .. } = record;
    let reference = reference.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    let amounts = if resources.is_empty() { String::new() } else { format!(" {resources}") };
    let message = message.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    let (kind, change, detail) = (kind.word(), change.word(), detail.word());
    format!("  {kind} {change} {detail} {object}{reference}{amounts}{message}\n")
}

fn of_summary(summary: &SummaryView) -> String {
    let SummaryView { application, submitted, started, finished, state, spent, .. } = summary;
    let list = |spent: &[(Name, Amounts)]| -> String {
        let words = spent.iter().map(|(instance, amounts)| format!(" {instance} {amounts}"));
        words.collect::<Vec<_>>().concat()
    };
    format!(
        "  summary of {application}: {state}, submitted {submitted}, started {started}, finished {finished}, used{}, placeholders{}, preempted{}\n",
        list(&spent.used),
        list(&spent.placeholders),
        list(&spent.preempted)
    )
}

/// Creates the records of all events of a world, and checks that each object that was added is also removed.
///
/// # Panics
/// Panics if an object was added without a removal, or removed without an addition.
pub(super) fn check_balance(world: &World) {
    let mut books = Books::default();
    let mut balance = Balance::default();
    for (at, event) in &world.journal {
        records(&books, *at, event, &mut |record| balance.add(&record));
        books.apply(*at, event);
    }
    let left: Vec<_> = balance.0.iter().filter(|(_, count)| **count != 0).collect();
    assert!(left.is_empty(), "records that came and did not go, or the other way round: {left:?}");
}

/// Number of additions minus removals, by detail, object, reference, and type.
#[derive(Default)]
struct Balance(BTreeMap<(Detail, Name, Option<Name>, Name), i128>);

impl Balance {
    fn add(&mut self, record: &Record) {
        let sign = match record.change {
            Change::None => return,
            Change::Add | Change::Set => 1,
            Change::Remove => -1,
        };
        let detail = match record.detail {
            Detail::AllocCancel
            | Detail::AllocPreempt
            | Detail::AllocTimeout
            | Detail::AllocReplaced
            | Detail::AllocNodeRemoved => Detail::AppAlloc,
            same => same,
        };
        let key = |name| (detail, record.object.clone(), record.reference.clone(), name);
        match detail {
            Detail::UserResource | Detail::GroupResource => {
                for (name, amount) in record.resources.iter() {
                    let sum = self.0.entry(key(name.clone())).or_default();
                    *sum += sign * i128::from(amount.get());
                }
            }
            // A member that replaces a placeholder on its node has another reference when it is removed.
            Detail::NodeAlloc => {
                let key = (detail, record.object.clone(), None, Name::default());
                *self.0.entry(key).or_default() += sign;
            }
            Detail::AppAlloc | Detail::AppLink | Detail::NodeReservation | Detail::QueueApp => {
                *self.0.entry(key(Name::default())).or_default() += sign;
            }
            _ => {}
        }
    }
}
