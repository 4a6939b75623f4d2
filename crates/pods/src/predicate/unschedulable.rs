//! `NodeUnschedulable`: a cordoned node refuses pods that do not tolerate its taint.

use crate::object::{Effect, Taint, Text};

use super::taint::tolerates;
use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

const CORDONED: &str = "node.kubernetes.io/unschedulable";

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct NodeUnschedulable {
    is_tolerated: bool,
}

impl<'a> Predicate<'a> for NodeUnschedulable {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let taint =
            Taint { key: CORDONED.into(), value: Text::default(), effect: Effect::NoSchedule };
        Preparation::check(Self { is_tolerated: tolerates(context, &taint) })
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        if node.node().spec.unschedulable && !self.is_tolerated {
            return Err(Refusal::NodeUnschedulable);
        }
        Ok(())
    }
}
