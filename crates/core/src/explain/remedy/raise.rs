//! Remedies that raise limits, each to the usage plus the request. If a limit follows from a setting, such as a
//! fraction of a parent, the smallest sufficient value of the setting is searched.

use alloc::vec::Vec;

use crate::books::Books;
use crate::explain::{Amount, Check};
use crate::id::{LevelId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, ResourceType};
use crate::userlimit::Decimal;
use crate::wait::Compared;

use super::edit::{Edit, Setting};
use super::trial::Trial;
use super::{Remedy, RemedyKind, resume};

/// Returns the failed limits, raised as far as necessary.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let edits = edits(trial)?;
    confirmed(trial, RemedyKind::Raise, edits)
}

/// Returns the edits that lift all failed limits, with settings at their largest values, and that resume suspended
/// tenants. `None` if a failed check cannot be lifted by a number, or if no check fails.
pub(super) fn edits(trial: &Trial) -> Option<Vec<Edit>> {
    let failed: Vec<&Check> = trial.explanation().blocked_by().collect();
    let mut edits = resume::edits(trial);
    for check in failed {
        for amount in &check.amounts {
            edits.extend(lift(trial, check.blocker.compared(), amount));
        }
        for edit in settings(trial, check) {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// Returns these edits as a remedy if the ask starts with them and with nothing less.
pub(super) fn confirmed(
    trial: &mut Trial,
    kind: RemedyKind,
    mut edits: Vec<Edit>,
) -> Option<Remedy> {
    if !trial.starts(&edits) {
        return None;
    }
    // Omit edits that become unnecessary with the others.
    let mut place = 0;
    while place < edits.len() {
        let mut fewer = edits.clone();
        fewer.remove(place);
        if trial.starts(&fewer) { edits = fewer } else { place += 1 }
    }
    lower(trial, &mut edits);
    let remedy = Remedy::of(kind, edits, true);
    let exact = remedy.lessened().iter().all(|less| !trial.starts(less));
    (exact && !trial.ran_out()).then_some(remedy)
}

/// Lowers each setting by bisection as far as the ask still starts.
fn lower(trial: &mut Trial, edits: &mut [Edit]) {
    for place in 0..edits.len() {
        let Edit::Setting { from, to, .. } = edits[place] else { continue };
        let (mut below, mut enough) = (from, to);
        while below.plus(Decimal::SMALLEST) < enough {
            let middle = below.middle(enough);
            set(edits, place, middle);
            if trial.starts(edits) { enough = middle } else { below = middle }
        }
        set(edits, place, enough);
    }
}

fn set(edits: &mut [Edit], place: usize, value: Decimal) {
    if let Edit::Setting { to, .. } = &mut edits[place] {
        *to = value;
    }
}

/// Returns the settings that determine a limit, at their largest values.
fn settings(trial: &Trial, check: &Check) -> Vec<Edit> {
    let books = trial.books();
    let leaf = |partition: PartitionId, level: LevelId| {
        books.partition(partition).trackers.level(level).queue
    };
    let of = |queue: QueueId, all: &[Setting]| {
        let each = all.iter().filter_map(|setting| {
            let (from, to) = (setting.of(&books.queue(queue).settings)?, setting.most());
            (from < to).then(|| Edit::Setting { queue, setting: setting.clone(), from, to })
        });
        each.collect()
    };
    match check.blocker.compared() {
        Compared::Queue(queue) => {
            let short = check.amounts.iter().filter_map(|amount| amount.resource);
            let mut parts: Vec<Setting> = short.map(|one| part(books, one)).collect();
            parts.sort();
            parts.dedup();
            of(queue, &parts)
        }
        Compared::DriversIn(leaf) => of(leaf, &[Setting::Drivers]),
        Compared::DriversOf(partition, level) => of(leaf(partition, level), &[Setting::Drivers]),
        // The setting that is omitted first has to be first. If the factor is sufficient, the floor does not change.
        Compared::Cap(partition, level) | Compared::Share(partition, level) => {
            of(leaf(partition, level), &[Setting::UserFloor, Setting::UserFactor])
        }
        Compared::Nothing
        | Compared::Limit(..)
        | Compared::RunningIn(_)
        | Compared::RunningAt(..)
        | Compared::ActivatedIn(_)
        | Compared::ActivatedOf(..)
        | Compared::LeftByHead(_)
        | Compared::Free(_)
        | Compared::Size(_)
        | Compared::MostFree(_) => Vec::new(),
    }
}

/// Returns the setting for the fraction of a queue in a type.
fn part(books: &Books, resource: ResourceType) -> Setting {
    let types = books.types();
    let label = types.name(resource).split_once('@').filter(|_| types.plain(resource) != resource);
    label.map_or(Setting::PartOfParent, |(_, label)| Setting::PartOfLabel(Name::new(label)))
}

fn lift(trial: &Trial, compared: Compared, amount: &Amount) -> Option<Edit> {
    let books = trial.books();
    let Amount { resource, limit, used, asked } = *amount;
    let others = resource.map_or(Quantity::ZERO, |resource| trial.wanted_by_others(resource));
    let to = used.plus(asked).plus(others);
    let count = |number: Quantity| u64::try_from(number.get()).unwrap_or_default();
    match (compared, resource) {
        (Compared::Queue(queue), Some(resource)) => {
            // Nodes raise the capacity of the cluster, and a setting raises a fraction of a parent.
            books.queue(queue).parent?;
            if part(books, resource).of(&books.queue(queue).settings).is_some() {
                return None;
            }
            Some(Edit::QueueMax { queue, resource, from: limit, to })
        }
        (Compared::Limit(partition, level), Some(resource)) => {
            Some(Edit::Limit { partition, level, resource, from: limit, to })
        }
        (Compared::RunningIn(queue), None) => {
            Some(Edit::QueueApplications { queue, from: count(limit), to: count(to) })
        }
        (Compared::RunningAt(partition, level), None) => {
            let (from, to) = (count(limit), count(to));
            Some(Edit::LimitApplications { partition, level, from, to })
        }
        (Compared::ActivatedIn(queue), None) => {
            Some(Edit::ParallelApplications { queue, from: count(limit), to: count(to) })
        }
        (Compared::ActivatedOf(partition, level), None) => {
            let queue = books.partition(partition).trackers.level(level).queue;
            let user = books.application(books.allocation(trial.ask()).application).user.clone();
            Some(Edit::ParallelOfUser { queue, user, from: count(limit), to: count(to) })
        }
        _ => None,
    }
}
