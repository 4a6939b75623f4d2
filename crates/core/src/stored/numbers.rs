//! Serialization of enums without data as numbers. The numbers stay the same when variants are renamed or reordered.
//! Never reuse a number for another meaning.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::books::tracker::TrackerKind;
use crate::books::{ApplicationState, GangStyle, QuestionMode, QueueState, StopRequest};
use crate::config::{
    ApplicationOrder, GangPlacement, LimitPrecedence, NodeOrder, PreemptionPolicy, PriorityPolicy,
    WithinQueue,
};
use crate::userlimit::{Calculator, Enforcement, Formula};

macro_rules! numbers {
    ($($name:ident { $($variant:ident = $number:literal),+ })+) => { $(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u8(match self {
                    $(Self::$variant => $number,)+
                })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                match u8::deserialize(from)? {
                    $($number => Ok(Self::$variant),)+
                    _ => Err(D::Error::custom(concat!("no known number of a ", stringify!($name)))),
                }
            }
        }
    )+ };
}

numbers! {
    ApplicationOrder { Fifo = 0, Fair = 1, FifoStrict = 2, FifoBackfill = 3, Priority = 4, Urgency = 5 }
    ApplicationState {
        New = 0,
        Accepted = 1,
        Running = 2,
        Completing = 3,
        Completed = 4,
        Resuming = 5,
        Failing = 6,
        Failed = 7
    }
    Calculator { Componentwise = 0, Dominant = 1, Memory = 2 }
    Enforcement { Progress = 0, Strict = 1, Overshoot = 2 }
    Formula { Yarn27 = 0, Yarn3 = 1, Smooth = 2 }
    GangPlacement { Members = 0, Whole = 1 }
    GangStyle { Soft = 0, Hard = 1 }
    LimitPrecedence { Both = 0, User = 1 }
    StopRequest { None = 0, Released = 1, Preempted = 2 }
    NodeOrder { Fair = 0, BinPacking = 1 }
    PreemptionPolicy { Default = 0, Fence = 1, Disabled = 2 }
    PriorityPolicy { Default = 0, Fence = 1 }
    QuestionMode { Allocate = 0, Reserve = 1 }
    QueueState { Active = 0, Draining = 1, Stopped = 2 }
    TrackerKind { User = 0, Group = 1 }
    WithinQueue { None = 0, Priority = 1 }
}
