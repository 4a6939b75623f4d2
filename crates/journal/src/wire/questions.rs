//! Queries to the RM, and its answers.

use std::num::NonZeroU16;

use headroom_core::books::{Away, NodeVerdict, QuestionMode, QuestionSubject, Questions, Removal};
use headroom_core::id::NodeId;
use headroom_core::{Name, Verdicts};

use super::{At as _, Decoded, Fault, Field, message, structure, words};
use crate::proto;
use crate::record::What;

words!(QuestionMode = proto::QuestionMode { Allocate, Reserve });
structure!(Verdicts = proto::Verdicts { partition, key, question, verdicts });
structure!(Removal = proto::Removal { node, victims, least });

impl Field<Option<proto::Questions>> for Option<Questions> {
    fn put(&self) -> Option<proto::Questions> {
        let Questions { victims, at_once } = (*self)?;
        Some(proto::Questions { victims, at_once: at_once.get().into() })
    }

    fn take(field: Option<proto::Questions>) -> Decoded<Self> {
        let Some(proto::Questions { victims, at_once }) = field else { return Ok(None) };
        let count = u16::try_from(at_once).ok().and_then(NonZeroU16::new);
        let number = i32::try_from(at_once).unwrap_or(i32::MAX);
        let fault = Fault::new(What::UnknownWord { number });
        let at_once = count.ok_or(fault).at("at_once")?;
        Ok(Some(Questions { victims, at_once }))
    }
}

impl Field<Option<proto::Away>> for Option<Away> {
    fn put(&self) -> Option<proto::Away> {
        let Away { manager, since } = self.as_ref()?;
        Some(proto::Away { manager: manager.put(), since: since.put() })
    }

    fn take(field: Option<proto::Away>) -> Decoded<Self> {
        let Some(proto::Away { manager, since }) = field else { return Ok(None) };
        Ok(Some(Away { manager: Field::take(manager)?, since: Field::take(since)? }))
    }
}

impl Field<u64> for usize {
    fn put(&self) -> u64 {
        u64::try_from(*self).unwrap_or(u64::MAX)
    }

    fn take(field: u64) -> Decoded<Self> {
        Ok(Self::try_from(field).unwrap_or(Self::MAX))
    }
}

impl Field<proto::QuestionSubject> for QuestionSubject {
    fn put(&self) -> proto::QuestionSubject {
        use proto::question_subject::About;
        let about = match self {
            Self::Nodes(mode, nodes) => {
                About::Nodes(proto::Nodes { mode: mode.put(), nodes: nodes.put() })
            }
            Self::Removals(removals) => {
                About::Removals(proto::Removals { removals: removals.put() })
            }
        };
        proto::QuestionSubject { about: Some(about) }
    }

    fn take(field: proto::QuestionSubject) -> Decoded<Self> {
        use proto::question_subject::About;
        match field.about {
            Some(About::Nodes(proto::Nodes { mode, nodes })) => {
                Ok(Self::Nodes(Field::take(mode).at("mode")?, Field::take(nodes).at("nodes")?))
            }
            Some(About::Removals(proto::Removals { removals })) => {
                Ok(Self::Removals(Field::take(removals).at("removals")?))
            }
            None => Err(Fault::new(What::UnknownKind)),
        }
    }
}

message!(QuestionSubject = proto::QuestionSubject);

impl Field<proto::NodeVerdict> for NodeVerdict {
    fn put(&self) -> proto::NodeVerdict {
        use proto::node_verdict::Said;
        let verdict = match self {
            Self::Suits => Said::Suits(proto::Suits {}),
            Self::SuitsWithout(count) => Said::SuitsWithout(count.put()),
            Self::Refused(reason) => Said::Refused(reason.put()),
        };
        proto::NodeVerdict { said: Some(verdict) }
    }

    fn take(field: proto::NodeVerdict) -> Decoded<Self> {
        use proto::node_verdict::Said;
        match field.said {
            Some(Said::Suits(proto::Suits {})) => Ok(Self::Suits),
            Some(Said::SuitsWithout(count)) => Ok(Self::SuitsWithout(Field::take(count)?)),
            Some(Said::Refused(reason)) => Ok(Self::Refused(reason.into())),
            None => Err(Fault::new(What::UnknownKind)),
        }
    }
}

message!(NodeVerdict = proto::NodeVerdict);

impl Field<proto::NamedVerdict> for (Name, NodeVerdict) {
    fn put(&self) -> proto::NamedVerdict {
        proto::NamedVerdict { node: self.0.put(), verdict: self.1.put() }
    }

    fn take(field: proto::NamedVerdict) -> Decoded<Self> {
        let proto::NamedVerdict { node, verdict } = field;
        Ok((Name::from(node), Field::take(verdict).at("verdict")?))
    }
}

impl Field<proto::VerdictOn> for (NodeId, NodeVerdict) {
    fn put(&self) -> proto::VerdictOn {
        proto::VerdictOn { node: self.0.put(), verdict: self.1.put() }
    }

    fn take(field: proto::VerdictOn) -> Decoded<Self> {
        let proto::VerdictOn { node, verdict } = field;
        Ok((Field::take(node).at("node")?, Field::take(verdict).at("verdict")?))
    }
}
