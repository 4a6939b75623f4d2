//! Fractions of the parent queue: the guarantee of a queue, and its maximum.

use headroom_core::config::{CapacityConfig, CapacityShare, LabelCapacity};

use super::{At as _, Decoded, Field, message, structure};
use crate::proto;
use crate::proto::capacity::Share;

impl Field<proto::Capacity> for CapacityConfig {
    fn put(&self) -> proto::Capacity {
        let Self { share, maximum } = self;
        proto::Capacity { share: Some(share.put()), maximum: maximum.put() }
    }

    fn take(field: proto::Capacity) -> Decoded<Self> {
        let proto::Capacity { share, maximum } = field;
        Ok(Self {
            share: super::required(share).at("share")?,
            maximum: Field::take(maximum).at("maximum")?,
        })
    }
}

message!(CapacityConfig = proto::Capacity);
structure!(LabelCapacity = proto::LabelCapacity { label, capacity });

impl Field<Share> for CapacityShare {
    fn put(&self) -> Share {
        match self {
            Self::Percent(value) => Share::Percent(value.put()),
            Self::Weight(value) => Share::Weight(value.put()),
            Self::Absolute => Share::Absolute(proto::AbsoluteCapacity {}),
        }
    }

    fn take(field: Share) -> Decoded<Self> {
        Ok(match field {
            Share::Percent(value) => Self::Percent(Field::take(value).at("percent")?),
            Share::Weight(value) => Self::Weight(Field::take(value).at("weight")?),
            Share::Absolute(proto::AbsoluteCapacity {}) => Self::Absolute,
        })
    }
}

impl Field<Option<proto::Capacity>> for Option<CapacityConfig> {
    fn put(&self) -> Option<proto::Capacity> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::Capacity>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}
