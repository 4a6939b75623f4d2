//! How many devices of each class a node has.
//!
//! The core counts extended resources as numbers. A node that has devices instead offers as many of the resource as it has
//! devices of the class.

use std::collections::BTreeMap;

use crate::object::DeviceClass;
use crate::predicate::snapshot::BY_CLASS;
use crate::predicate::{Devices, NodeFacts};

use super::pool::Pools;
use super::request::Alternative;

/// All devices, and the resources that classes back with them.
#[derive(Debug)]
pub struct DeviceOffers<'a> {
    /// One device of the class of each resource, by the name of the resource.
    resources: BTreeMap<String, Alternative<'a>>,
    pools: Pools<'a>,
}

impl<'a> DeviceOffers<'a> {
    /// Returns all offers. The cost is in proportion to the number of slices, classes, and claims.
    pub fn new(devices: &'a Devices) -> Self {
        let mut classes: Vec<&DeviceClass> = devices.classes().collect();
        classes.sort_by_key(|class| &class.metadata.name);
        let mut resources = BTreeMap::new();
        for class in classes {
            // A class whose conditions are unreadable has no devices.
            let Ok(one) = Alternative::of_class(class) else { continue };
            if let Some(name) = class.spec.extended_resource_name.non_empty() {
                resources.entry(name.to_owned()).or_insert_with(|| one.clone());
            }
            resources.insert(format!("{BY_CLASS}{}", class.metadata.name), one);
        }
        let pools = if resources.is_empty() { Pools::default() } else { Pools::new(devices) };
        Self { resources, pools }
    }

    /// Returns how many devices the node can use for each resource, in use or not. Resources without devices are absent.
    pub fn on_node(&self, node: &NodeFacts) -> Vec<(&str, i64)> {
        let on_node = self.pools.on_node(node);
        let number = |one: &Alternative<'a>| {
            let devices = on_node.candidates.iter();
            devices.filter(|device| one.matches(device).unwrap_or(false)).count()
        };
        let numbers = self.resources.iter().map(|(name, one)| (name.as_str(), number(one)));
        let numbers = numbers.filter(|(_, number)| *number > 0);
        numbers.map(|(name, number)| (name, i64::try_from(number).unwrap_or(i64::MAX))).collect()
    }
}
