//! The scheduler interface: messages, clients and servers generated from `proto/`.
//!
//! [`v1`] is the published interface, unmodified. [`headroom`] is the ordered session of Headroom,
//! and the transport of callbacks. The `.proto` files describe the messages.

/// The modules nest as the packages do, since generated code refers to other packages by `super`.
mod generated {
    #![allow(
        clippy::all,
        clippy::pedantic,
        missing_docs,
        unreachable_pub,
        unused_qualifications,
        reason = "generated"
    )]

    pub mod si {
        pub mod v1 {
            tonic::include_proto!("si.v1");
        }
    }

    pub mod headroom {
        pub mod si {
            pub mod v1 {
                tonic::include_proto!("headroom.si.v1");
            }
        }
    }
}

/// `headroom.si.v1`: one ordered stream, and callbacks in batches.
pub use generated::headroom::si::v1 as headroom;
/// `si.v1`: the published interface of resource managers.
pub use generated::si::v1;

/// All `.proto` files as a serialised `FileDescriptorSet`, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Request and response metadata that names the session of an RM.
pub const SESSION_METADATA: &str = "headroom-session";
