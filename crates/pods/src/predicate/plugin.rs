//! The plugins and their order.

use std::fmt;

/// What a check of a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The pod is to run now.
    Allocate,
    /// The node is to be reserved until it has space, so only what waiting cannot cure counts.
    Reserve,
}

/// Defines the plugins in the order in which they are asked.
macro_rules! plugins {
    ($($(#[$doc:meta])* $plugin:ident $reserve:literal,)*) => {
        /// A filter plugin of kube-scheduler.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Plugin {
            $($(#[$doc])* $plugin,)*
        }

        impl Plugin {
            /// All plugins in the order in which they are asked.
            pub const ALL: &[Self] = &[$(Self::$plugin,)*];

            /// Returns the name of the plugin in Kubernetes.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$plugin => stringify!($plugin),)*
                }
            }

            /// Returns whether the plugin is asked in this mode.
            pub const fn runs_in(self, mode: Mode) -> bool {
                match mode {
                    Mode::Allocate => true,
                    Mode::Reserve => match self {
                        $(Self::$plugin => $reserve,)*
                    },
                }
            }
        }
    };
}

// The order of kube-scheduler. The second column tells whether the plugin is asked for a reservation.
plugins! {
    /// Cordoned nodes refuse pods.
    NodeUnschedulable true,
    /// A pod can name its node.
    NodeName true,
    /// Taints refuse pods that do not tolerate them.
    TaintToleration true,
    /// A pod can select nodes by labels and name.
    NodeAffinity true,
    /// A port of a node has one user.
    NodePorts true,
    /// Requests must fit in addition to those of the pods on the node.
    NodeResourcesFit false,
    /// Some volumes have one user.
    VolumeRestrictions false,
    /// A node attaches a limited number of volumes.
    NodeVolumeLimits false,
    /// Volumes of the pod must be reachable from the node, or be created there.
    VolumeBinding false,
    /// Volumes have zones.
    VolumeZone false,
    /// Pods can be spread evenly.
    PodTopologySpread true,
    /// Pods can attract and avoid each other.
    InterPodAffinity true,
    /// Devices are claimed.
    DynamicResources false,
    /// The kubelet must have the features that the pod needs.
    NodeDeclaredFeatures false,
}

impl fmt::Display for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of plugins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PluginSet(u32);

impl PluginSet {
    /// No plugin.
    pub const NONE: Self = Self(0);

    /// Plugins whose verdict on a node can change although neither the node nor its pods change.
    pub const WIDE: Self = Self::BY_NODES
        .with(Self::BY_PODS)
        .with(Self::BY_NAMESPACES)
        .with(Self::BY_STORAGE)
        .with(Self::BY_DEVICES);

    /// Plugins that compare a node with other nodes.
    pub const BY_NODES: Self = Self::of(&[Plugin::PodTopologySpread]);

    /// Plugins that read the pods of other nodes.
    pub const BY_PODS: Self = Self::of(&[
        Plugin::VolumeRestrictions,
        Plugin::PodTopologySpread,
        Plugin::InterPodAffinity,
    ]);

    /// Plugins that read namespaces.
    pub const BY_NAMESPACES: Self = Self::of(&[Plugin::InterPodAffinity]);

    /// Plugins that read volumes, claims, classes, and drivers.
    pub const BY_STORAGE: Self = Self::of(&[
        Plugin::VolumeRestrictions,
        Plugin::NodeVolumeLimits,
        Plugin::VolumeBinding,
        Plugin::VolumeZone,
    ]);

    /// Plugins that read devices. A resource can be backed by devices.
    pub const BY_DEVICES: Self = Self::of(&[Plugin::NodeResourcesFit, Plugin::DynamicResources]);

    /// Returns a set of plugins.
    pub const fn of(plugins: &[Plugin]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < plugins.len() {
            bits |= 1 << plugins[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Returns the plugins of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the plugins that are in both sets.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the set has no plugin.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
