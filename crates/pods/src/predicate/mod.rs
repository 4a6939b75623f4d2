//! Predicates: which node takes which pod.
//!
//! A predicate follows one filter plugin of kube-scheduler, with its default arguments. [`Prepared`] asks the question
//! in two steps: each plugin prepares its state once for the pod, and then checks nodes, one at a time. A plugin can
//! refuse the pod in the first step, or have nothing to check.
//!
//! Everything is a pure function of a [`Snapshot`]. The preparation costs at most one walk over the pods of the
//! cluster, for pods with affinity or spread constraints, or if any pod has anti-affinity. A check of a node costs
//! microseconds. The state can serve all pods of a class: those with the same labels, namespace, and specification, if
//! none of them has claims.

mod affinity;
mod amounts;
mod binding;
mod claim;
mod declared;
mod device;
mod domains;
mod fit;
mod interpod;
mod label;
mod limits;
mod migration;
mod name;
mod plugin;
mod ports;
mod refusal;
mod restrictions;
mod snapshot;
mod spread;
mod survey;
mod taint;
mod unschedulable;
mod zone;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

pub use amounts::{Amounts, Resource, can_be_devices};
pub use plugin::{Mode, Plugin, PluginSet};
pub use refusal::{
    BindingRefusal, ClaimFault, Code, DeviceRefusal, InterPodRefusal, LimitRefusal, Refusal,
    RestrictionRefusal, Shortage, SpreadRefusal, ZoneRefusal,
};
pub use snapshot::{
    ClassId, Devices, HostPort, NamespacedTable, NodeFacts, PodFacts, Snapshot, Storage,
};

pub use survey::{RefusedNodes, Survey};

pub use binding::{BIND_COMPLETED, SELECTED_NODE, VolumeStep};
pub use device::{
    DeviceChoice, DeviceNodes, DeviceOffers, DeviceReadiness, DeviceTarget, EXTENDED_CLAIM,
    ExtendedClaim, is_by_class, readiness,
};

use crate::object::{Claim, Text};

/// Settings that change the rules of predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether tolerations can compare integers with `Gt` and `Lt`. Kubernetes has this as an alpha feature.
    pub compares_taints: bool,
}

/// What every predicate reads.
#[derive(Clone, Copy, Debug)]
struct Context<'a> {
    snapshot: &'a Snapshot,
    pod: &'a PodFacts,
    options: Options,
}

/// Result of the first step of a predicate.
#[derive(Clone, Debug)]
enum Preparation<S> {
    /// The predicate has nothing to check, so every node passes.
    Skip,
    /// The state for the checks of nodes.
    Check(Arc<S>),
    /// No node can take the pod.
    Refuse(Refusal),
}

impl<S> Preparation<S> {
    fn check(state: S) -> Self {
        Self::Check(Arc::new(state))
    }
}

/// A predicate.
trait Predicate<'a>: Clone {
    /// Whether a removed pod changes the state.
    const CHANGES: bool = false;

    /// Computes what the checks of nodes need.
    fn prepare(context: Context<'a>) -> Preparation<Self>;

    /// Checks a node.
    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal>;

    /// Updates the state after `victim` was removed from `node`.
    fn remove(&mut self, _context: Context<'a>, _node: &NodeFacts, _victim: &PodFacts) {}
}

/// A pod for which all predicates are prepared.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    context: Context<'a>,
    mode: Mode,
    states: States<'a>,
}

/// Defines the state of each predicate, and the functions that find it by the plugin.
macro_rules! states {
    ($($plugin:ident $field:ident: $state:ty,)*) => {
        #[derive(Clone, Debug)]
        struct States<'a> {
            $($field: Preparation<$state>,)*
        }

        impl<'a> States<'a> {
            fn prepare(context: Context<'a>, mode: Mode) -> Self {
                Self {
                    $($field: if Plugin::$plugin.runs_in(mode) {
                        Predicate::prepare(context)
                    } else {
                        Preparation::Skip
                    },)*
                }
            }

            fn refusal(&self, plugin: Plugin) -> Option<&Refusal> {
                match plugin {
                    $(Plugin::$plugin => match &self.$field {
                        Preparation::Skip | Preparation::Check(_) => None,
                        Preparation::Refuse(refusal) => Some(refusal),
                    },)*
                }
            }

            fn check(
                &self,
                plugin: Plugin,
                context: Context<'a>,
                node: &NodeFacts,
            ) -> Result<(), Refusal> {
                match plugin {
                    $(Plugin::$plugin => match &self.$field {
                        Preparation::Skip => Ok(()),
                        Preparation::Check(state) => state.check(context, node),
                        Preparation::Refuse(refusal) => Err(refusal.clone()),
                    },)*
                }
            }

            fn remove(&mut self, context: Context<'a>, node: &NodeFacts, victim: &PodFacts) {
                $(if let Preparation::Check(state) = &mut self.$field
                    && <$state as Predicate<'a>>::CHANGES
                {
                    Arc::make_mut(state).remove(context, node, victim);
                })*
            }
        }
    };
}

states! {
    NodeUnschedulable unschedulable: unschedulable::NodeUnschedulable,
    NodeName name: name::NodeName,
    TaintToleration taint: taint::TaintToleration,
    NodeAffinity affinity: affinity::NodeAffinity<'a>,
    NodePorts ports: ports::NodePorts,
    NodeResourcesFit fit: fit::NodeResourcesFit,
    VolumeRestrictions restrictions: restrictions::VolumeRestrictions<'a>,
    NodeVolumeLimits limits: limits::NodeVolumeLimits,
    VolumeBinding binding: binding::VolumeBinding<'a>,
    VolumeZone zone: zone::VolumeZone<'a>,
    PodTopologySpread spread: spread::PodTopologySpread<'a>,
    InterPodAffinity interpod: interpod::InterPodAffinity<'a>,
    DynamicResources device: device::DynamicResources<'a>,
    NodeDeclaredFeatures declared: declared::NodeDeclaredFeatures,
}

impl<'a> Prepared<'a> {
    /// Prepares all predicates of a mode for a pod.
    pub fn new(snapshot: &'a Snapshot, pod: &'a PodFacts, mode: Mode, options: Options) -> Self {
        let context = Context { snapshot, pod, options };
        Self { context, mode, states: States::prepare(context, mode) }
    }

    /// Returns the refusal of one plugin that no node can cure.
    pub fn plugin_refusal(&self, plugin: Plugin) -> Option<&Refusal> {
        self.states.refusal(plugin)
    }

    /// Returns the first refusal that no node can cure.
    pub fn refusal(&self) -> Option<&Refusal> {
        Plugin::ALL.iter().find_map(|plugin| self.states.refusal(*plugin))
    }

    /// Returns the names of the only nodes that can pass, or nothing if every node can.
    ///
    /// The names can include unknown nodes.
    pub fn eligible_nodes(&self) -> Option<&[&'a Text]> {
        match &self.states.affinity {
            Preparation::Check(state) => state.names(),
            Preparation::Skip | Preparation::Refuse(_) => None,
        }
    }

    /// Checks a node with one plugin.
    ///
    /// # Errors
    ///
    /// Returns why the plugin refuses the node.
    pub fn check_plugin(&self, plugin: Plugin, node: &NodeFacts) -> Result<(), Refusal> {
        self.states.check(plugin, self.context, node)
    }

    /// Checks a node with all plugins, in the order of [`Plugin::ALL`].
    ///
    /// # Errors
    ///
    /// Returns the first refusal. Refusals that no node can cure come first.
    pub fn check(&self, node: &NodeFacts) -> Result<(), Refusal> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal.clone());
        }
        if let Some(names) = self.eligible_nodes()
            && !names.contains(&node.name())
        {
            return Err(Refusal::NodeNotEligible);
        }
        let plugins = Plugin::ALL.iter().filter(|plugin| plugin.runs_in(self.mode));
        plugins.copied().try_for_each(|plugin| self.check_plugin(plugin, node))
    }

    /// Returns the nodes that can take the pod, in no particular order. Checks a node when it is asked for.
    pub fn fitting(&self) -> impl Iterator<Item = &'a NodeFacts> {
        let nodes = self.refusal().is_none().then(|| self.context.snapshot.nodes());
        nodes.into_iter().flatten().filter(|node| self.check(node).is_ok())
    }

    /// Returns what must be done for volumes before the pod is bound to a node.
    ///
    /// # Errors
    ///
    /// Returns why the volumes cannot be had on the node.
    pub fn volume_steps(&self, node: &NodeFacts) -> Result<Vec<VolumeStep<'a>>, Refusal> {
        match &self.states.binding {
            Preparation::Skip => Ok(Vec::new()),
            Preparation::Check(state) => state.steps(self.context, node),
            Preparation::Refuse(refusal) => Err(refusal.clone()),
        }
    }

    /// Returns the devices that the pod gets on a node, besides those that its claims have already.
    ///
    /// # Errors
    ///
    /// Returns why the devices cannot be had on the node.
    pub fn device_choices(&self, node: &NodeFacts) -> Result<Vec<DeviceChoice<'a>>, Refusal> {
        match &self.states.device {
            Preparation::Skip => Ok(Vec::new()),
            Preparation::Check(state) => state.choices(node),
            Preparation::Refuse(refusal) => Err(refusal.clone()),
        }
    }

    /// Returns the claims for devices of the pod, in its order. Empty if one of them prevents the pod from running.
    pub fn device_claims(&self) -> &[&'a Claim] {
        match &self.states.device {
            Preparation::Check(state) => state.claims(),
            Preparation::Skip | Preparation::Refuse(_) => &[],
        }
    }

    /// Returns what the claim asks for that a bind to a node creates for extended resources. `None` if the node needs no
    /// such claim.
    pub fn extended_claim(&self, node: &NodeFacts) -> Option<ExtendedClaim> {
        match &self.states.device {
            Preparation::Check(state) => state.extended_claim(node),
            Preparation::Skip | Preparation::Refuse(_) => None,
        }
    }

    /// Returns a claim whose devices keep the pod from some nodes, and that no other pod uses. If the claim loses the
    /// devices, these nodes can take the pod. A claim that an earlier bind created for extended resources comes first.
    pub fn idle_device_claim(&self) -> Option<&'a Claim> {
        match &self.states.device {
            Preparation::Check(state) => state.idle_claim(self.context),
            Preparation::Skip | Preparation::Refuse(_) => None,
        }
    }

    /// Updates the states after `victim` was removed from `node`, which no longer has it.
    fn remove(&mut self, node: &NodeFacts, victim: &PodFacts) {
        self.states.remove(self.context, node, victim);
    }
}

/// Returns the index of the victim after whose eviction the pod fits on the node.
///
/// Victims are UIDs, evicted in their order. The pod is checked after the victim at `start`, and after every later one.
/// Unknown victims and victims on other nodes are skipped, but counted. The result is `None` if the pod never fits.
/// At least one victim is tried, so a pod that fits already has an index only if there is a victim.
pub fn fits_after_evictions(
    prepared: &Prepared<'_>,
    node: &NodeFacts,
    victims: &[Text],
    start: usize,
) -> Option<usize> {
    if prepared.refusal().is_some() {
        return None;
    }
    let (mut prepared, mut node) = (Cow::Borrowed(prepared), Cow::Borrowed(node));
    for (index, uid) in victims.iter().enumerate() {
        // Looks first, because an eviction copies the facts of the node.
        if node.pod(uid).is_some()
            && let Some(victim) = node.to_mut().evict(uid)
        {
            prepared.to_mut().remove(&node, &victim);
        }
        if index >= start && prepared.check(&node).is_ok() {
            return Some(index);
        }
    }
    None
}
