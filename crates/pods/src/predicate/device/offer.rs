//! How many devices of each class a node has.
//!
//! The core counts extended resources as numbers. A node that has devices instead offers as many of the resource as it has
//! devices of the class.

use std::collections::BTreeSet;

use crate::object::Text;
use crate::predicate::snapshot::BY_CLASS;
use crate::predicate::{Devices, NodeFacts};

use super::pool::Pools;
use super::request::Alternative;

/// Most resources that classes back. The core keeps each resource that it ever saw, and knows a limited number.
const RESOURCES_MAX: usize = 128;

/// All devices, and the resources that classes back with them.
#[derive(Debug)]
pub struct DeviceOffers<'a> {
    /// One device of a class, and the resources that the class backs.
    classes: Vec<(Alternative<'a>, Vec<&'a str>)>,
    pools: Pools<'a>,
}

impl<'a> DeviceOffers<'a> {
    /// Returns all offers. `by_class` are the resources with the names of classes that pods request: each class backs such
    /// a resource, but most of them are never requested. The cost is in proportion to the number of slices and classes.
    pub fn new(devices: &'a Devices, by_class: &'a BTreeSet<Text>) -> Self {
        let (mut seen, mut classes) = (BTreeSet::new(), Vec::new());
        for class in devices.classes_in_order() {
            // A class whose conditions are unreadable has no devices.
            let Ok(one) = Alternative::of_class(class) else { continue };
            let own = by_class
                .iter()
                .map(Text::as_str)
                .filter(|name| name.strip_prefix(BY_CLASS) == Some(class.metadata.name.as_str()));
            let named = class.spec.extended_resource_name.non_empty().into_iter();
            let names: Vec<&str> = named
                .chain(own)
                .filter(|name| seen.len() < RESOURCES_MAX && seen.insert(*name))
                .collect();
            if !names.is_empty() {
                classes.push((one, names));
            }
        }
        let pools = if classes.is_empty() { Pools::default() } else { Pools::unused(devices) };
        Self { classes, pools }
    }

    /// Returns how many devices the node can use for each resource, in use or not. Resources without devices are absent.
    pub fn on_node(&self, node: &NodeFacts) -> Vec<(&'a str, i64)> {
        let on_node = self.pools.on_node(node);
        let mut offers = Vec::new();
        for (one, names) in &self.classes {
            let devices = on_node.candidates.iter();
            let number = devices.filter(|device| one.matches(device).unwrap_or(false)).count();
            if number > 0 {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                offers.extend(names.iter().map(|name| (*name, number)));
            }
        }
        offers
    }
}

/// Returns whether a resource has the name of a class that backs it.
pub fn is_by_class(resource: &str) -> bool {
    resource.starts_with(BY_CLASS)
}
