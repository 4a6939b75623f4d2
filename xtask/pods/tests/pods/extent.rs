//! How much of a history pods can express. The steps before the first other one are played.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use conformance_sockets::messages;
use headroom_api::si::v1;
use headroom_api::si::v1::node_info::ActionFromRm;
use serde_json::Value;
use xtask::conformance::scenario::History;

use super::objects::{Annotations, Class, annotations, is_label, is_subdomain};

/// Why a step cannot be expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beyond {
    Gang,
    Removal,
    Again,
    Change,
    Namespace,
    NamespaceChange,
    Tag,
    Created,
    Type,
    Name,
    User,
    Partition,
    Stray,
    Refused,
    Release,
    Originator,
}

impl Beyond {
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Gang => "the resource manager sends placeholders, but the shim makes its own",
            Self::Removal => {
                "an application with asks is removed, but Kubernetes only deletes its pods"
            }
            Self::Again => {
                "the ID of an application or node comes again, and the shim gives no sign that it forgot the first"
            }
            Self::Change => "an ask changes in a way that the API server refuses for a pod",
            Self::Namespace => {
                "a placement rule reads the namespace of an application without one, but each pod has one"
            }
            Self::NamespaceChange => {
                "the quota of a namespace changes, and the shim gives no sign that it read the change"
            }
            Self::Tag => "an application has a tag that the shim never sends",
            Self::Created => "an ask has a creation time, but the API server sets it",
            Self::Type => {
                "a resource type is neither memory nor vcore, or an amount is negative or missing"
            }
            Self::Name => "the API server refuses the name of a node or of a namespace",
            Self::User => "an application has no user, but the shim then sends `nobody`",
            Self::Partition => "there is a second partition, but the shim has one",
            Self::Stray => {
                "a request names an application or node that is not there, but its pods or node would be"
            }
            Self::Refused => "the core refuses an ask or a node, and its object stays",
            Self::Release => "a release is not that of one pod that ends",
            Self::Originator => {
                "an application has several originators, or one that already runs, but the shim has one"
            }
        }
    }
}

/// What pods can express of a history, and what must be known from the start.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Number of steps.
    pub(crate) end: usize,
    /// Why the next step cannot be expressed. `None` if all steps can.
    pub(crate) beyond: Option<Beyond>,
    /// Number of recorded placements in these steps.
    pub(crate) placements: usize,
    /// Annotations of each namespace.
    pub(crate) namespaces: BTreeMap<String, Annotations>,
    /// The ask that started each application with an originator.
    pub(crate) originators: BTreeMap<String, v1::Allocation>,
    /// Priority classes of the asks.
    pub(crate) classes: BTreeSet<Class>,
}

impl Extent {
    /// Reads a history up to the first step that cannot be expressed.
    ///
    /// # Errors
    /// If a step is unreadable.
    pub(crate) fn of(history: &History) -> Result<Self> {
        let mut reading = Reading::default();
        reading.reads_namespaces(history.config());
        let end = history.compared();
        for (number, step) in history.steps().iter().enumerate().take(end) {
            if let Some(beyond) = reading.beyond(step)? {
                return Ok(Self { end: number, beyond: Some(beyond), ..reading.extent });
            }
            reading.follow(step);
        }
        Ok(Self { end, ..reading.extent })
    }
}

/// A live ask or allocation.
#[derive(Debug)]
struct Live {
    application: String,
    node: String,
    types: Vec<String>,
    priority: i32,
}

/// A live application.
#[derive(Debug, Default)]
struct Application {
    has_asked: bool,
}

#[derive(Debug, Default)]
struct Reading {
    extent: Extent,
    /// Whether a placement rule of a queue file reads the namespace.
    rules_read_namespace: bool,
    applications: BTreeMap<String, Application>,
    applications_seen: BTreeSet<String>,
    nodes: BTreeSet<String>,
    nodes_seen: BTreeSet<String>,
    live: BTreeMap<String, Live>,
    /// Keys that the core wants to be stopped.
    to_confirm: BTreeSet<String>,
}

/// Returns the elements of a list of recorded answers.
fn answers<'a>(step: &'a Value, name: &str) -> &'a [Value] {
    step["responses"][name].as_array().map_or(&[], Vec::as_slice)
}

fn is_own_partition(name: &str) -> bool {
    matches!(name.rsplit(']').next(), None | Some("" | "default"))
}

/// Returns the types of a size that pods can have.
fn types_of(size: Option<&v1::Resource>) -> Option<Vec<String>> {
    let amounts = &size?.resources;
    let can_be = |(name, one): (&String, &v1::Quantity)| {
        matches!(&**name, "memory" | "vcore") && one.value >= 0
    };
    let all = !amounts.is_empty() && amounts.iter().all(can_be);
    all.then(|| amounts.keys().cloned().collect())
}

impl Reading {
    fn reads_namespaces(&mut self, config: &str) {
        self.rules_read_namespace |= config.contains("value: namespace");
    }

    fn beyond(&mut self, step: &Value) -> Result<Option<Beyond>> {
        if !step["error"].is_null()
            || !answers(step, "rejectedNodes").is_empty()
            || !answers(step, "rejectedAllocations").is_empty()
        {
            return Ok(Some(Beyond::Refused));
        }
        let found = if let Some(request) = step.get("applications") {
            self.applications(&messages::applications(request)?)
        } else if let Some(request) = step.get("nodes") {
            self.nodes(&messages::nodes(request)?)
        } else if let Some(request) = step.get("allocations") {
            self.allocations(&messages::allocations(request)?)
        } else {
            if let Some(config) = step["config"].as_str() {
                self.reads_namespaces(config);
            }
            Ok(())
        };
        Ok(found.err())
    }

    fn applications(&mut self, request: &v1::ApplicationRequest) -> Result<(), Beyond> {
        for new in &request.new {
            self.application(new)?;
        }
        for gone in &request.remove {
            if self.applications.get(&gone.application_id).is_some_and(|one| one.has_asked) {
                return Err(Beyond::Removal);
            }
            self.applications.remove(&gone.application_id);
        }
        Ok(())
    }

    fn application(&mut self, new: &v1::AddApplicationRequest) -> Result<(), Beyond> {
        if new.placeholder_ask.is_some() {
            return Err(Beyond::Gang);
        }
        if !is_own_partition(&new.partition_name) {
            return Err(Beyond::Partition);
        }
        if new.ugi.as_ref().is_none_or(|ugi| ugi.user.is_empty()) {
            return Err(Beyond::User);
        }
        if !self.applications_seen.insert(new.application_id.clone()) {
            return Err(Beyond::Again);
        }
        let annotations = annotations(&new.tags).ok_or(Beyond::Tag)?;
        match new.tags.get("namespace") {
            None if self.rules_read_namespace => return Err(Beyond::Namespace),
            // The annotations would count for the other applications without a namespace, too.
            None if !annotations.is_empty() => return Err(Beyond::Tag),
            None => {}
            Some(name) if !is_label(name) => return Err(Beyond::Name),
            Some(name) => {
                let known = self.extent.namespaces.entry(name.clone());
                if *known.or_insert_with(|| annotations.clone()) != annotations {
                    return Err(Beyond::NamespaceChange);
                }
            }
        }
        self.applications.insert(new.application_id.clone(), Application::default());
        Ok(())
    }

    fn nodes(&mut self, request: &v1::NodeRequest) -> Result<(), Beyond> {
        for node in &request.nodes {
            let is_there = self.nodes.contains(&node.node_id);
            if !is_own_partition(node.attributes.get("si/node-partition").map_or("", |one| one)) {
                return Err(Beyond::Partition);
            }
            let has_types = || types_of(node.schedulable_resource.as_ref()).is_some();
            let creates = matches!(node.action(), ActionFromRm::Create | ActionFromRm::CreateDrain);
            if !creates && !is_there {
                return Err(Beyond::Stray);
            }
            match node.action() {
                ActionFromRm::Create | ActionFromRm::CreateDrain => {
                    if !has_types() {
                        return Err(Beyond::Type);
                    }
                    if !is_subdomain(&node.node_id) {
                        return Err(Beyond::Name);
                    }
                    if !self.nodes_seen.insert(node.node_id.clone()) {
                        return Err(Beyond::Again);
                    }
                    self.nodes.insert(node.node_id.clone());
                }
                ActionFromRm::Update if node.schedulable_resource.is_none() => {}
                ActionFromRm::Update if !has_types() => return Err(Beyond::Type),
                ActionFromRm::Decomission => {
                    self.nodes.remove(&node.node_id);
                    self.live.retain(|_, one| one.node != node.node_id);
                }
                ActionFromRm::Update
                | ActionFromRm::DrainNode
                | ActionFromRm::DrainToSchedulable => {}
                ActionFromRm::UnknownActionFromRm => return Err(Beyond::Stray),
            }
        }
        Ok(())
    }

    fn allocations(&mut self, request: &v1::AllocationRequest) -> Result<(), Beyond> {
        for one in &request.allocations {
            self.allocation(one)?;
        }
        let releases = request.releases.iter().flat_map(|all| &all.allocations_to_release);
        for one in releases {
            let is_end = matches!(
                one.termination_type(),
                v1::TerminationType::StoppedByRm | v1::TerminationType::UnknownTerminationType
            );
            if one.allocation_key.is_empty() || !is_end {
                return Err(Beyond::Release);
            }
            self.live.remove(&one.allocation_key);
        }
        Ok(())
    }

    fn allocation(&mut self, one: &v1::Allocation) -> Result<(), Beyond> {
        if one.placeholder || !one.task_group_name.is_empty() {
            return Err(Beyond::Gang);
        }
        if !is_own_partition(&one.partition_name) {
            return Err(Beyond::Partition);
        }
        if one.allocation_tags.contains_key("creationTime") {
            return Err(Beyond::Created);
        }
        let types = types_of(one.resource_per_alloc.as_ref()).ok_or(Beyond::Type)?;
        if !one.node_id.is_empty() && !self.nodes.contains(&one.node_id) {
            return Err(Beyond::Stray);
        }
        let is_foreign = one.allocation_tags.contains_key("foreign");
        if let Some(live) = self.live.get(&one.allocation_key) {
            let is_resize = !is_foreign
                && live.node == one.node_id
                && live.application == one.application_id
                && live.types == types
                && live.priority == one.priority;
            return if is_resize { Ok(()) } else { Err(Beyond::Change) };
        }
        if !is_foreign {
            self.ask(one)?;
        }
        let live = Live {
            application: one.application_id.clone(),
            node: one.node_id.clone(),
            types,
            priority: one.priority,
        };
        self.live.insert(one.allocation_key.clone(), live);
        Ok(())
    }

    fn ask(&mut self, one: &v1::Allocation) -> Result<(), Beyond> {
        let id = &one.application_id;
        self.applications.get_mut(id).ok_or(Beyond::Stray)?.has_asked = true;
        self.extent.classes.insert(Class::of(one));
        if one.originator {
            let is_second = self.extent.originators.contains_key(id);
            if is_second || !one.node_id.is_empty() {
                return Err(Beyond::Originator);
            }
            self.extent.originators.insert(id.clone(), one.clone());
        }
        Ok(())
    }

    /// Follows what the reference answered.
    fn follow(&mut self, step: &Value) {
        let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        for one in answers(step, "rejectedApplications") {
            self.applications.remove(&text(one, "applicationID"));
        }
        for one in answers(step, "updatedApplications") {
            if matches!(&*text(one, "state"), "Completed" | "Failed" | "Expired") {
                self.applications.remove(&text(one, "applicationID"));
            }
        }
        for one in answers(step, "newAllocations") {
            self.extent.placements += 1;
            if let Some(live) = self.live.get_mut(&text(one, "allocationKey")) {
                live.node = text(one, "nodeID");
            }
        }
        if step.get("confirm").is_some() {
            for key in std::mem::take(&mut self.to_confirm) {
                self.live.remove(&key);
            }
        }
        for one in answers(step, "releasedAllocations") {
            let key = text(one, "allocationKey");
            if one["terminationType"] == "STOPPED_BY_RM" {
                self.live.remove(&key);
            } else if step.get("confirm").is_none() {
                self.to_confirm.insert(key);
            }
        }
    }
}
