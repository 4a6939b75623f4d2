//! Choice of the victims under a strict guarantee, directly from no-starvation NS-32 and NS-40 and decision page 50.
//! Every set and every cost is computed from scratch.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Removal, StopRequest};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::resource::Resources;
use crate::time::Timestamp;

use super::naive_claim::Basis;
use super::naive_preempt::{Finding, Question};

/// Allocations that stop together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Allocations: one, or all of a gang or of a task of several members.
    pub members: Vec<AllocationId>,
    /// Whether its gang does not need it. The rest of the gang is another unit.
    pub is_surplus: bool,
}

impl Unit {
    pub(super) fn of(id: AllocationId) -> Self {
        Self { members: vec![id], is_surplus: false }
    }
}

/// Returns all allocations of these units.
pub(super) fn ids(units: &[Unit]) -> Vec<AllocationId> {
    units.iter().flat_map(|unit| unit.members.clone()).collect()
}

/// Cost of stopping units. The most important component is first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the order")]
pub struct NaiveCost {
    owns: bool,
    pub(super) reluctant: bool,
    pub(super) originator: bool,
    gang: bool,
    priority: i32,
    surplus: i128,
    work: i128,
    count: usize,
    oldest: Option<Reverse<(Timestamp, u64)>>,
}

impl Question<'_> {
    /// Returns the units that can be stopped, in the order without a specific node.
    pub fn units(&self) -> Vec<Unit> {
        let eligible = self.eligible();
        let helps = |ids: &[AllocationId]| {
            let sum = ids.iter().fold(Resources::new(), |sum, id| sum.plus(self.size_of(*id)));
            sum.shares_type(self.size)
        };
        let mut seen: Vec<ApplicationId> = Vec::new();
        let mut units = Vec::new();
        for id in &eligible {
            let application = self.row(*id).application;
            if !self.is_strict() || !self.is_gang(application) {
                if helps(&[*id]) {
                    units.push(Unit::of(*id));
                }
                continue;
            }
            if !seen.contains(&application) {
                seen.push(application);
                self.units_of(application, &eligible, helps, &mut units);
            }
        }
        units.sort_by_key(|unit| self.cost_beyond(core::slice::from_ref(unit), None));
        if !self.is_strict() {
            // The order is by the cost of a single unit, not of a set.
            units.sort_by_key(|unit| {
                let row = self.row(unit.members[0]);
                let newest = (Reverse(row.created), Reverse(row.number.abs()));
                (!self.is_lent(unit.members[0]), !row.preemptable, row.originator, newest)
            });
        }
        units
    }

    fn is_gang(&self, application: ApplicationId) -> bool {
        let row = self.books.application(application);
        let groups = row.gang.iter().flat_map(|gang| &gang.groups);
        let needed: u64 = groups.map(|group| group.count - group.timed_out).sum();
        needed > 0 || self.books.members_of(application) > 1
    }

    fn units_of(
        &self,
        application: ApplicationId,
        eligible: &[AllocationId],
        helps: impl Fn(&[AllocationId]) -> bool,
        units: &mut Vec<Unit>,
    ) {
        let all: Vec<AllocationId> =
            self.books.allocations_of(application).map(|(id, _)| id).collect();
        if all.iter().any(|id| self.row(*id).partner().is_some()) {
            return;
        }
        let is_live = |id: &&AllocationId| {
            self.row(**id).node.is_some() && self.row(**id).mark == StopRequest::None
        };
        let live: Vec<AllocationId> = all.iter().filter(is_live).copied().collect();
        let may_all = live.iter().all(|id| eligible.contains(id)) && helps(&live);
        if may_all {
            units.push(Unit { members: live.clone(), is_surplus: false });
            if live.len() == 1 {
                return;
            }
        }
        for id in &live {
            let can_go = eligible.contains(id) && helps(&[*id]);
            if can_go && self.is_beyond(application, &live, *id) {
                units.push(Unit { members: vec![*id], is_surplus: may_all });
            }
        }
    }

    /// Whether a gang does not need one of these: its task group has enough older ones, or the group is missing.
    fn is_beyond(
        &self,
        application: ApplicationId,
        live: &[AllocationId],
        id: AllocationId,
    ) -> bool {
        let row = self.books.application(application);
        if self.books.members_of(application) > 1 {
            return false;
        }
        let groups = row.gang.iter().flat_map(|gang| &gang.groups);
        let mine = self.row(id).task_group();
        let Some(group) = groups.into_iter().find(|group| Some(&group.name) == mine) else {
            return !self.row(id).originator;
        };
        let age = |id: AllocationId| (self.row(id).created, self.row(id).number.abs());
        let older =
            live.iter().filter(|one| self.row(**one).task_group() == mine && age(**one) < age(id));
        older.count() as u64 >= group.count - group.timed_out
    }

    /// Returns the cost of stopping these units for a node.
    pub fn cost(&self, node: NodeId, units: &[Unit]) -> NaiveCost {
        let strict = self.is_strict();
        let cost = self.cost_beyond(units, strict.then(|| self.need_on(node)).as_ref());
        NaiveCost { oldest: cost.oldest.filter(|_| strict), ..cost }
    }

    /// Returns the amount that the ask lacks on a node and in its queues.
    fn need_on(&self, node: NodeId) -> Resources {
        let free = self.to_come(node);
        let mut need = self.need_in_queues();
        for (resource, wanted) in self.on_node.iter() {
            let lacks = wanted.minus(free.get_or_zero(resource));
            need.set(resource, need.get_or_zero(resource).max(lacks));
        }
        need
    }

    fn need_in_queues(&self) -> Resources {
        let usage = self.imagined(&[]);
        let mut need = Resources::new();
        for (id, queue) in self.books.up(self.leaf) {
            let used = &usage[&super::naive_claim::Who::Queue(id)];
            for (resource, _) in self.size.iter() {
                if let Some(most) = queue.max.as_ref().and_then(|max| max.get(resource)) {
                    let lacks = used.get_or_zero(resource).minus(most);
                    need.set(resource, need.get_or_zero(resource).max(lacks));
                }
            }
        }
        need
    }

    /// Returns the cost for an ask that lacks `need`. The surplus counts only if `need` is known.
    fn cost_beyond(&self, units: &[Unit], need: Option<&Resources>) -> NaiveCost {
        let all = ids(units);
        let strict = self.is_strict();
        let root = self.books.partition(self.books.queue(self.leaf).partition).root;
        let cluster = self.books.queue(root).max.clone().unwrap_or_default();
        let part = |given: &Resources, need: &Resources| {
            let trillionths = given.iter().map(|(resource, amount)| {
                let beyond = i128::from(amount.minus(need.get_or_zero(resource)).get()).max(0);
                let there = i128::from(cluster.get_or_zero(resource).get());
                beyond * 1_000_000_000_000 / if there > 0 { there } else { 1 }
            });
            trillionths.max().unwrap_or(0)
        };
        let sum = all.iter().fold(Resources::new(), |sum, id| sum.plus(self.size_of(*id)));
        let work = |id: &AllocationId| {
            let run = self.now.as_millis().saturating_sub(self.row(*id).placed.as_millis());
            i128::from(run) * part(self.size_of(*id), &Resources::new())
        };
        NaiveCost {
            owns: all.iter().any(|id| !self.is_lent(*id)),
            reluctant: all.iter().any(|id| !self.row(*id).preemptable),
            originator: all.iter().any(|id| self.row(*id).originator),
            gang: units.iter().any(|unit| unit.members.len() > 1),
            priority: all
                .iter()
                .map(|id| if strict { self.row(*id).priority } else { 0 })
                .max()
                .unwrap_or(i32::MIN),
            surplus: need.filter(|_| strict).map_or(0, |need| part(&sum, need)),
            work: if strict { all.iter().map(work).sum() } else { 0 },
            count: units.len(),
            oldest: all
                .iter()
                .map(|id| Reverse((self.row(*id).created, self.row(*id).number.unsigned_abs())))
                .max(),
        }
    }

    /// Returns the cheapest of the sets of decision page 50.
    pub(super) fn cheapest(
        &self,
        units: &[Unit],
        given_up: &[AllocationId],
        nodes_tried: bool,
    ) -> Finding {
        let left = self.remaining(&self.promised(), self.asking());
        let is_promised = left.is_some_and(|left| left.shares_type(self.size));
        if self.basis != Basis::Priority && !is_promised {
            return Finding::Nothing;
        }
        let (mut choices, mut free) = (Vec::new(), 0);
        for node in self.nodes(given_up) {
            if self.fits_node(node, &[]) {
                if !nodes_tried && free < 10 {
                    choices.push((node, Vec::new()));
                    free += 1;
                }
            } else if let Some(victims) = self.best_on(node, units) {
                choices.push((node, victims));
            }
        }
        choices.sort_by_key(|(node, victims)| self.cost(*node, victims));
        let refused = self.asks_rm() && !choices.is_empty();
        let best = if self.asks_rm() {
            let offers: Vec<(Removal, Vec<Unit>)> = choices
                .into_iter()
                .map(|(node, victims)| self.offer(node, victims, units))
                .collect();
            let full = |node, gone: &[Unit]| self.completed(node, gone, units, gone.len());
            match self.ask_in_batches(&offers, full) {
                Ok(best) => best,
                Err(removals) => return Finding::Ask(removals),
            }
        } else {
            choices.truncate(10);
            let mut best: Option<(NodeId, Vec<Unit>)> = None;
            for (node, victims) in choices {
                let cost = best.as_ref().map(|(node, victims)| self.cost(*node, victims));
                if cost.as_ref().is_some_and(|cost| *cost <= self.cost(node, &victims)) {
                    break;
                }
                let full = self.completed(node, &victims, units, 0);
                let full = full.filter(|(node, all)| {
                    cost.as_ref().is_none_or(|cost| self.cost(*node, all) < *cost)
                });
                best = full.or(best);
            }
            best
        };
        match best {
            Some((node, victims)) if !victims.is_empty() => Finding::Stop(node, ids(&victims)),
            Some(_) => Finding::OnItsWay,
            None if refused => Finding::Refused,
            _ => Finding::Nothing,
        }
    }

    /// Returns the removal to ask the RM about for a node, and the units there in order.
    fn offer(&self, node: NodeId, victims: Vec<Unit>, units: &[Unit]) -> (Removal, Vec<Unit>) {
        let (count, mut order) = (victims.len(), victims);
        for unit in units {
            let here = unit.members.iter().any(|id| self.row(*id).node == Some(node));
            if here && !order[..count].contains(unit) && self.may_follow(&order, unit) {
                order.push(unit.clone());
            }
        }
        let full = !self.books.node(node).available.fits(self.on_node);
        let stopping = |id: &AllocationId| {
            let row = self.row(*id);
            row.node == Some(node) && row.mark == StopRequest::Preempted
        };
        let all = self.books.allocations().iter().map(|(id, _)| id);
        let mut victims: Vec<AllocationId> = all.filter(|id| full && stopping(id)).collect();
        let least = victims.len() + self.on(node, &ids(&order[..count])).len();
        victims.extend(self.on(node, &ids(&order)));
        (Removal { node, victims, least }, order)
    }

    /// Whether a unit can follow the units that have been chosen: it shares no allocation with them, and the rules
    /// allow it.
    fn may_follow(&self, gone: &[Unit], unit: &Unit) -> bool {
        let has_part =
            gone.iter().any(|one| one.members.iter().any(|id| unit.members.contains(id)));
        let before = ids(gone);
        let usage = self.imagined(&before);
        let all = [&before[..], &unit.members].concat();
        let is_lent = unit.members.iter().all(|id| self.is_lent(*id));
        !has_part && (is_lent || self.may_lose(&usage, unit.members[0])) && self.is_lawful(&all)
    }

    /// Returns the cheapest of four sets for a node.
    fn best_on(&self, node: NodeId, units: &[Unit]) -> Option<Vec<Unit>> {
        let here = |unit: &&Unit| unit.members.iter().any(|id| self.row(*id).node == Some(node));
        let mut order: Vec<Unit> = units.iter().filter(here).cloned().collect();
        let alone = |unit: &Unit| self.cost(node, core::slice::from_ref(unit));
        let need = self.need_on(node);
        if self.is_strict() {
            order.sort_by_key(|unit| self.cost_beyond(core::slice::from_ref(unit), Some(&need)));
        }
        let first = self.gathered(node, &order).or_else(|| {
            let others: Vec<Unit> = order.iter().filter(|one| !one.is_surplus).cloned().collect();
            self.gathered(node, &others)
        });
        if !self.is_strict() {
            return first;
        }
        let bound = first.as_ref().map(|first| self.cost(node, first));
        if first.as_ref().is_some_and(|first| first.len() == 1)
            && bound.as_ref().is_some_and(|bound| bound.surplus == 0)
        {
            return first;
        }
        order.retain(|unit| {
            let (Some(bound), cost) = (&bound, alone(unit)) else { return true };
            cost.owns <= bound.owns
                && cost.reluctant <= bound.reluctant
                && cost.originator <= bound.originator
                && cost.gang <= bound.gang
                && cost.priority <= bound.priority
        });
        let mut sets: Vec<Vec<Unit>> = first.into_iter().collect();
        let single = order
            .iter()
            .find(|unit| self.fits_node(node, &unit.members) && self.may_follow(&[], unit));
        sets.extend(single.map(|unit| vec![unit.clone()]));
        let part = |unit: &Unit| {
            self.cost_beyond(core::slice::from_ref(unit), Some(&Resources::new())).surplus
        };
        let mut smallest = order.clone();
        smallest.sort_by_key(part);
        sets.extend(self.gathered(node, &smallest));
        let mut largest = order;
        largest.retain(|unit| alone(unit).surplus == 0);
        largest.sort_by_key(|unit| Reverse(part(unit)));
        sets.extend(self.gathered(node, &largest));
        sets.into_iter().min_by_key(|set| self.cost(node, set))
    }

    /// Adds units in this order until the ask fits on a node, then removes the unnecessary ones. `None` if it does not
    /// fit.
    fn gathered(&self, node: NodeId, order: &[Unit]) -> Option<Vec<Unit>> {
        let mut gone: Vec<Unit> = Vec::new();
        for unit in order {
            if self.fits_node(node, &ids(&gone)) {
                break;
            }
            let free = self.on(node, &ids(&gone)).into_iter();
            let free =
                free.fold(self.to_come(node), |sum, id| sum.plus(self.books.node_request(id)));
            let given = self.on(node, &unit.members);
            let nearer = self.on_node.iter().any(|(resource, wanted)| {
                free.get_or_zero(resource) < wanted
                    && given
                        .iter()
                        .any(|id| self.books.node_request(*id).get_or_zero(resource).get() > 0)
            });
            if nearer && self.may_follow(&gone, unit) {
                gone.push(unit.clone());
            }
        }
        let fits = |gone: &[Unit]| self.fits_node(node, &ids(gone));
        fits(&gone).then(|| Self::pruned(gone, 0, fits))
    }

    /// Removes each unnecessary unit, from the end. The first `firm` units remain.
    fn pruned(mut gone: Vec<Unit>, firm: usize, suffices: impl Fn(&[Unit]) -> bool) -> Vec<Unit> {
        for place in (firm..gone.len()).rev() {
            let mut less = gone.clone();
            less.remove(place);
            if suffices(&less) {
                gone = less;
            }
        }
        gone
    }

    /// Returns the victims of a node, and the additional victims for the queues and their guarantees.
    fn completed(
        &self,
        node: NodeId,
        on_node: &[Unit],
        units: &[Unit],
        firm: usize,
    ) -> Option<(NodeId, Vec<Unit>)> {
        let mut order = units.to_vec();
        if self.is_strict() {
            let need = self.need_in_queues();
            order.sort_by_key(|unit| self.cost_beyond(core::slice::from_ref(unit), Some(&need)));
        }
        let others: Vec<Unit> = order.iter().filter(|one| !one.is_surplus).cloned().collect();
        let first = self.completed_in(node, on_node, &order, firm);
        let first = first.or_else(|| self.completed_in(node, on_node, &others, firm));
        if !self.is_strict() {
            return first.map(|victims| (node, victims));
        }
        let is_enough = |all: &Vec<Unit>| {
            all.len() <= on_node.len()
                || all.len() == on_node.len() + 1 && self.cost(node, all).surplus == 0
        };
        if let Some(first) = first.clone().filter(is_enough) {
            return Some((node, first));
        }
        let suffices =
            |gone: &[Unit]| self.fits_node(node, &ids(gone)) && self.fits_queues(&ids(gone));
        let with_one = |victims: &[Unit], firm: usize| {
            let with = |unit: &Unit| [victims, core::slice::from_ref(unit)].concat();
            let others = order.iter().filter(|unit| {
                !victims.contains(unit) && self.may_follow(victims, unit) && suffices(&with(unit))
            });
            let one = others.min_by_key(|unit| self.cost(node, &with(unit)))?;
            Some(Self::pruned(with(one), firm, suffices))
        };
        let alone = if firm == 0 && !on_node.is_empty() { with_one(&[], 0) } else { None };
        let sets = first.into_iter().chain(with_one(on_node, firm)).chain(alone);
        let best = sets.min_by_key(|all| self.cost(node, all));
        best.map(|victims| (node, victims))
    }

    fn completed_in(
        &self,
        node: NodeId,
        on_node: &[Unit],
        order: &[Unit],
        firm: usize,
    ) -> Option<Vec<Unit>> {
        let mut gone = on_node.to_vec();
        for unit in order {
            if self.fits_queues(&ids(&gone)) {
                break;
            }
            if gone.contains(unit) || !self.may_follow(&gone, unit) {
                continue;
            }
            let mut more = gone.clone();
            more.push(unit.clone());
            if self.is_nearer(&ids(&gone), &ids(&more)) {
                gone = more;
            }
        }
        let suffices =
            |gone: &[Unit]| self.fits_node(node, &ids(gone)) && self.fits_queues(&ids(gone));
        suffices(&gone).then(|| Self::pruned(gone, firm, suffices))
    }
}
