//! `TaintToleration`: a pod must tolerate every taint of a node that refuses pods.

use crate::object::{Effect, Node, Taint, Toleration, TolerationOperator};

use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

/// State of the predicate, which is empty: tolerations are few.
#[derive(Clone, Debug)]
pub(super) struct TaintToleration;

impl<'a> Predicate<'a> for TaintToleration {
    fn prepare(_context: Context<'a>) -> Preparation<Self> {
        Preparation::check(Self)
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        match untolerated(context, node.node()) {
            None => Ok(()),
            Some(taint) => Err(Refusal::Taint(taint.clone())),
        }
    }
}

/// Returns the first taint of the node that refuses the pod.
pub(super) fn untolerated<'n>(context: Context<'_>, node: &'n Node) -> Option<&'n Taint> {
    node.spec.taints.iter().find(|taint| {
        let refuses = match taint.effect {
            Effect::NoSchedule | Effect::NoExecute => true,
            Effect::PreferNoSchedule | Effect::Unknown => false,
        };
        refuses && !tolerates(context, taint)
    })
}

/// Returns whether the pod tolerates a taint.
pub(super) fn tolerates(context: Context<'_>, taint: &Taint) -> bool {
    let tolerations = &context.pod.pod().spec.tolerations;
    tolerations.iter().any(|toleration| covers(toleration, taint, context.options.compares_taints))
}

fn covers(toleration: &Toleration, taint: &Taint, compares: bool) -> bool {
    let Toleration { key, operator, value, effect } = toleration;
    let compared = |holds: fn(i64, i64) -> bool| {
        let (Some(limit), Some(value)) = (canonical(value), canonical(&taint.value)) else {
            return false;
        };
        compares && holds(value, limit)
    };
    effect.is_none_or(|effect| effect == taint.effect)
        && (key.is_empty() || *key == taint.key)
        && match operator {
            TolerationOperator::Equal => *value == taint.value,
            TolerationOperator::Exists => true,
            TolerationOperator::Gt => compared(|value, limit| value > limit),
            TolerationOperator::Lt => compared(|value, limit| value < limit),
            TolerationOperator::Unknown => false,
        }
}

/// Reads a decimal integer that has no leading zeros and no plus sign.
fn canonical(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}
