//! Questions to the RM, and its answers.

use headroom_core::books::{QuestionMode, Questions};
use headroom_core::id::NodeId;
use headroom_core::{Name, Verdicts};

use super::{At as _, Decoded, Field, structure, words};
use crate::proto;

words!(QuestionMode = proto::QuestionMode { Allocate, Reserve });
structure!(Questions = proto::Questions { nodes });
structure!(Verdicts = proto::Verdicts { partition, key, question, verdicts });

impl Field<proto::NamedVerdict> for (Name, Option<Name>) {
    fn put(&self) -> proto::NamedVerdict {
        proto::NamedVerdict { node: self.0.put(), refusal: self.1.put() }
    }

    fn take(field: proto::NamedVerdict) -> Decoded<Self> {
        let proto::NamedVerdict { node, refusal } = field;
        Ok((Name::from(node), refusal.map(Name::from)))
    }
}

impl Field<proto::NodeVerdict> for (NodeId, Option<Name>) {
    fn put(&self) -> proto::NodeVerdict {
        proto::NodeVerdict { node: self.0.put(), refusal: self.1.put() }
    }

    fn take(field: proto::NodeVerdict) -> Decoded<Self> {
        let proto::NodeVerdict { node, refusal } = field;
        Ok((Field::take(node).at("node")?, refusal.map(Name::from)))
    }
}
