//! Input and output of the state machine: notices, answers, and actions.

mod action;
mod answer;
mod notice;

pub use action::{
    Action, ApiWrite, BindRequest, BindStep, CoreMessage, DeletePurpose, SnapshotChange,
};
pub use answer::{CoreAnswer, CoreState, Termination, WaitReason};
pub use notice::{
    BindDone, BindError, ClaimName, Moment, Notice, Outcome, PodIdentity, SettingsMap,
};
