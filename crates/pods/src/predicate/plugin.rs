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
