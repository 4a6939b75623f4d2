//! Serves people and programs over REST and gRPC, and serves the UI.
//!
//! ```text
//! listen ── TLS, limits ──▶ auth ── identity, rights  ──▶ rest   ── convert ──▶ engine
//!                                                     └─▶ grpc   ── convert ──┘
//! ```
//!
//! This crate converts requests to commands of the core. It converts views of the books and notices of the engine to
//! responses. It makes no scheduling decisions.

mod about;
mod assembly;
pub mod audit;
pub mod auth;
mod caller;
mod cluster;
mod conditions;
pub mod convert;
mod family;
pub mod grpc;
pub mod listen;
mod live;
mod log_levels;
pub mod metrics;
pub mod mount;
pub mod native;
pub mod page;
mod paths;
mod planning;
mod pods;
mod queue_file;
pub mod rest;
mod secret;
mod service;
#[cfg(feature = "testkit")]
pub mod testkit;
mod watch_file;
mod watch_queues;

pub use about::About;
pub use assembly::{Assembly, Settings};
pub use caller::{Caller, Proof};
pub use cluster::{ClusterCounters, ClusterRequest, EventOutcome};
pub use family::{Family, REQUEST_ID, Refusal, rpc_code};
pub use live::{Live, Managers, OpenStream, RequestKind, Requests, StreamKind, Traces};
pub use log_levels::{LogLevelError, LogLevels, TARGET_BYTES_MAX, TARGETS_MAX, targets};
pub use planning::{node_totals, plan_of};
pub use pods::{POD_NAME, POD_NAMESPACE, PodAnswer, PodQuestion, PodQuestions, pod_name};
pub use queue_file::{Applied, Condition, InForce, QueueFile, QueueFileError};
pub use secret::NoRandomNumbers;
pub use service::{Parts, Service};
pub use watch_file::{LOOK_EVERY, WatchedFiles};
pub use watch_queues::{TakeError, begin_with_queue_file, take_queue_file, watch_queue_file};

pub(crate) use headroom_engine::chain;
