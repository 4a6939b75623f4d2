//! Pools of devices, and the devices that a node can use.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::object::{Counter, Device, Map, NodeSelector, SliceSpec, Text};
use crate::predicate::label::selects_node;
use crate::predicate::{Devices, NodeFacts};
use crate::quantity::Quantity;

/// Name of a device in the cluster: driver, pool, and device.
pub(super) type DeviceId<'a> = (&'a str, &'a str, &'a str);

/// Slices of the newest generation of each pool, and the devices in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools<'a> {
    all: Vec<Pool<'a>>,
    /// Positions of the pools with devices of one node.
    of_node: HashMap<&'a str, Vec<usize>>,
    /// Positions of the pools with devices for several nodes.
    shared: Vec<usize>,
    in_use: HashSet<DeviceId<'a>>,
}

#[derive(Clone, Debug)]
struct Pool<'a> {
    slices: Vec<&'a SliceSpec>,
    /// Whether all slices of the generation exist.
    is_complete: bool,
}

/// A device that a node can use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) slice: &'a SliceSpec,
    pub(super) device: &'a Device,
    /// Position of its pool among the pools of the node.
    pub(super) pool: usize,
    pub(super) in_use: bool,
}

/// Devices that a node can use.
#[derive(Debug, Default)]
pub(super) struct OnNode<'a> {
    pub(super) candidates: Vec<Candidate<'a>>,
    /// What is left of the counters of each pool, by set and counter.
    pub(super) counters: Vec<BTreeMap<(&'a str, &'a str), Quantity>>,
    /// Whether a pool for this node lacks slices, so that not all of its devices are known.
    pub(super) is_incomplete: bool,
}

impl<'a> Pools<'a> {
    /// Returns all pools, with the devices in use.
    pub(super) fn new(devices: &'a Devices) -> Self {
        let mut pools = Self::unused(devices);
        let results = devices.current_claims().filter_map(|claim| claim.status.allocation.as_ref());
        let results = results.flat_map(|allocation| &allocation.devices.results);
        // Monitoring takes no device away.
        let in_use = results.filter(|result| result.admin_access != Some(true));
        pools.in_use = in_use
            .map(|result| (result.driver.as_str(), result.pool.as_str(), result.device.as_str()))
            .collect();
        pools
    }

    /// Returns all pools as if no device were in use.
    pub(super) fn unused(devices: &'a Devices) -> Self {
        let mut by_name = BTreeMap::<(&str, &str), Pool<'a>>::new();
        for slice in devices.slices.values().map(|slice| &slice.spec) {
            let key = (slice.driver.as_str(), slice.pool.name.as_str());
            let pool = by_name
                .entry(key)
                .or_insert_with(|| Pool { slices: Vec::new(), is_complete: false });
            let newest = pool.slices.first().map_or(i64::MIN, |slice| slice.pool.generation);
            if slice.pool.generation > newest {
                pool.slices.clear();
            }
            if slice.pool.generation >= newest {
                pool.slices.push(slice);
            }
        }
        let mut pools = Self::default();
        // Devices for which a bind must wait are the last choice.
        let waits = |pool: &Pool<'_>| {
            let mut devices = pool.slices.iter().flat_map(|slice| &slice.devices);
            devices.any(|device| !device.binding_conditions.is_empty())
        };
        let (last, first): (Vec<_>, Vec<_>) = by_name.into_values().partition(waits);
        for mut pool in first.into_iter().chain(last) {
            let expected = pool.slices.first().map_or(0, |slice| slice.pool.resource_slice_count);
            pool.is_complete =
                i64::try_from(pool.slices.len()).is_ok_and(|count| count == expected);
            // The order of equal searches must not depend on the order of a hash table.
            pool.slices.sort_by_key(|slice| slice.devices.first().map(|device| &device.name));
            pools.add(pool);
        }
        pools
    }

    fn add(&mut self, pool: Pool<'a>) {
        let position = self.all.len();
        let mut names: Vec<_> =
            pool.slices.iter().filter_map(|slice| slice.node_name.non_empty()).collect();
        if names.len() < pool.slices.len() {
            self.shared.push(position);
        } else {
            names.sort_unstable();
            names.dedup();
            for name in names {
                self.of_node.entry(name).or_default().push(position);
            }
        }
        self.all.push(pool);
    }

    /// Returns the devices that the node can use.
    pub(super) fn on_node(&self, node: &NodeFacts) -> OnNode<'a> {
        let own = self.of_node.get(node.name().as_str()).map_or(&[][..], Vec::as_slice);
        let mut positions: Vec<_> = own.iter().chain(&self.shared).copied().collect();
        positions.sort_unstable();
        let mut on_node = OnNode::default();
        for pool in positions.into_iter().map(|position| &self.all[position]) {
            let mut candidates = self.candidates(pool, node, on_node.counters.len());
            if candidates.is_empty() {
                continue;
            }
            if pool.is_complete {
                on_node.counters.push(self.counters_left(pool));
                on_node.candidates.append(&mut candidates);
            } else {
                on_node.is_incomplete = true;
            }
        }
        on_node
    }

    fn candidates(&self, pool: &Pool<'a>, node: &NodeFacts, position: usize) -> Vec<Candidate<'a>> {
        let devices = pool
            .slices
            .iter()
            .flat_map(|slice| slice.devices.iter().map(move |device| (*slice, device)));
        devices
            .filter(|(slice, device)| is_usable(slice, device, node))
            .map(|(slice, device)| Candidate {
                slice,
                device,
                pool: position,
                in_use: self.is_in_use(slice, device),
            })
            .collect()
    }

    fn is_in_use(&self, slice: &SliceSpec, device: &Device) -> bool {
        let id = (slice.driver.as_str(), slice.pool.name.as_str(), device.name.as_str());
        self.in_use.contains(&id)
    }

    /// Returns the counters of a pool less what its devices in use take.
    fn counters_left(&self, pool: &Pool<'a>) -> BTreeMap<(&'a str, &'a str), Quantity> {
        let mut left = BTreeMap::new();
        for set in pool.slices.iter().flat_map(|slice| &slice.shared_counters) {
            for (name, counter) in set.counters.iter() {
                left.insert((set.name.as_str(), name.as_str()), counter.value);
            }
        }
        for slice in &pool.slices {
            let used = slice.devices.iter().filter(|device| self.is_in_use(slice, device));
            for (key, amount) in used.flat_map(counters_of) {
                if let Some(left) = left.get_mut(&key) {
                    *left = left.saturating_add(amount.negated());
                }
            }
        }
        left
    }
}

/// Returns the counters that a device takes.
pub(super) fn counters_of<'a>(
    device: &'a Device,
) -> impl Iterator<Item = ((&'a str, &'a str), Quantity)> {
    let entries = |counters: &'a Map<Counter>| counters.iter();
    device.consumes_counters.iter().flat_map(move |consumption| {
        let set = consumption.counter_set.as_str();
        entries(&consumption.counters)
            .map(move |(name, counter)| ((set, name.as_str()), counter.value))
    })
}

/// Returns whether the node can use a device of a slice.
fn is_usable(slice: &SliceSpec, device: &Device, node: &NodeFacts) -> bool {
    let allows = |name: &Text, selector: Option<&NodeSelector>, all: bool| {
        all || (!name.is_empty() && name == node.name())
            || selector.is_some_and(|selector| selects_node(selector, node.node()))
    };
    if slice.per_device_node_selection {
        let all = device.all_nodes == Some(true);
        allows(&device.node_name, device.node_selector.as_ref(), all)
    } else {
        allows(&slice.node_name, slice.node_selector.as_ref(), slice.all_nodes)
    }
}
