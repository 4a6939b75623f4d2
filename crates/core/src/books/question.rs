//! Questions to the RM about nodes, and what it answered.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::time::Timestamp;

use super::Books;

/// What the RM of a partition answers; nothing unless it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Whether a node suits an ask.
    pub nodes: bool,
}

/// What the RM is asked about a node and an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionMode {
    /// Whether the ask may run there now.
    Allocate,
    /// Whether it might run there once there is room, which is not looked at.
    Reserve,
}

/// A question that the RM has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Counts questions, across partitions, from 1.
    pub number: u64,
    /// What is asked.
    pub mode: QuestionMode,
    /// Since when the answer is awaited.
    pub since: Timestamp,
    /// About which nodes, in the order in which they are wanted, each with the version that it
    /// had when the question was put.
    pub nodes: Vec<(NodeId, u64)>,
}

impl Question {
    /// About how many nodes one question is at most.
    pub const NODES_MAX: usize = 64;
}

/// What the RM said of one node. It holds as long as the node has this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    version: u64,
    /// Why the node does not suit the ask; none if it does.
    pub refusal: Option<Name>,
}

/// What was asked and answered about one ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inquiry {
    question: Option<Question>,
    /// Some may be of versions that nodes have no more: these count for nothing, and go with the
    /// next question or answer.
    verdicts: BTreeMap<(QuestionMode, NodeId), Verdict>,
}

impl Books {
    /// Whether the RM of any partition answers questions.
    #[inline]
    pub const fn has_questions(&self) -> bool {
        self.asking
    }

    /// How many questions were put so far; the last has this number.
    pub const fn questions_put(&self) -> u64 {
        self.questions
    }

    /// Whether the RM of this partition answers questions about nodes.
    #[inline]
    pub fn asks_about_nodes(&self, partition: PartitionId) -> bool {
        self.asking && self.partition(partition).questions.nodes
    }

    /// The question about an ask that is not answered yet.
    pub fn question_of(&self, ask: AllocationId) -> Option<&Question> {
        self.allocations[ask].inquiry()?.question.as_ref()
    }

    /// What the RM said of a node for an ask, as long as it holds.
    pub fn verdict_on(
        &self,
        ask: AllocationId,
        node: NodeId,
        mode: QuestionMode,
    ) -> Option<&Verdict> {
        let verdict = self.allocations[ask].inquiry()?.verdicts.get(&(mode, node))?;
        (self.nodes.get(node)?.version == verdict.version).then_some(verdict)
    }

    /// The nodes of which the RM said something for an ask that holds, with what it said.
    pub fn verdicts_of(
        &self,
        ask: AllocationId,
        mode: QuestionMode,
    ) -> impl Iterator<Item = (NodeId, &Verdict)> {
        let verdicts = self.allocations[ask].inquiry().into_iter().flat_map(|one| &one.verdicts);
        let mine = verdicts.filter(move |((of, _), _)| *of == mode);
        mine.map(|((_, node), verdict)| (*node, verdict))
            .filter(|(node, one)| self.has_version(*node, one.version))
    }

    /// How many verdicts are remembered for an ask, those included that hold no more.
    pub fn verdicts_remembered(&self, ask: AllocationId) -> usize {
        self.allocations[ask].inquiry().map_or(0, |one| one.verdicts.len())
    }

    /// Whether anything was asked about an ask.
    #[cfg(feature = "testkit")]
    pub(crate) fn inquires(&self, ask: AllocationId) -> bool {
        self.allocations[ask].inquiry().is_some()
    }

    /// Whether the RM said something of a node for an ask that may hold no more.
    #[cfg(feature = "testkit")]
    pub(crate) fn was_judged(&self, ask: AllocationId, node: NodeId, mode: QuestionMode) -> bool {
        let inquiry = self.allocations[ask].inquiry();
        inquiry.is_some_and(|one| one.verdicts.contains_key(&(mode, node)))
    }

    fn has_version(&self, node: NodeId, version: u64) -> bool {
        self.nodes.get(node).is_some_and(|node| node.version == version)
    }

    /// A question is put.
    pub(super) fn ask_rm(
        &mut self,
        now: Timestamp,
        ask: AllocationId,
        mode: QuestionMode,
        nodes: &[NodeId],
    ) {
        self.questions += 1;
        let nodes = nodes.iter().map(|id| (*id, self.nodes[*id].version)).collect();
        let question = Question { number: self.questions, mode, since: now, nodes };
        let mut inquiry = self.take_inquiry(ask).unwrap_or_default();
        self.drop_old(&mut inquiry);
        inquiry.question = Some(question);
        self.allocations[ask].special_mut().inquiry = Some(inquiry);
    }

    /// A question is answered, for each of its nodes.
    pub(super) fn answer(&mut self, ask: AllocationId, verdicts: &[(NodeId, Option<Name>)]) {
        let Some(mut inquiry) = self.take_inquiry(ask) else { return };
        if let Some(question) = inquiry.question.take() {
            // Equal reasons are one text.
            let mut reasons = BTreeSet::new();
            for (node, refusal) in verdicts {
                let Some((_, version)) = question.nodes.iter().find(|(one, _)| one == node) else {
                    continue;
                };
                let refusal = refusal.as_ref().map(|reason| {
                    reasons.insert(reason.clone());
                    reasons.get(reason).cloned().unwrap_or_default()
                });
                let verdict = Verdict { version: *version, refusal };
                inquiry.verdicts.insert((question.mode, *node), verdict);
            }
        }
        self.drop_old(&mut inquiry);
        if !inquiry.verdicts.is_empty() {
            self.allocations[ask].special_mut().inquiry = Some(inquiry);
        }
    }

    /// Forget what was asked and answered about an ask: it is another by now, or waits no more.
    pub(super) fn forget_inquiry(&mut self, ask: AllocationId) {
        self.take_inquiry(ask);
    }

    fn take_inquiry(&mut self, ask: AllocationId) -> Option<Box<Inquiry>> {
        let row = &mut self.allocations[ask];
        let inquiry = row.special.as_mut()?.inquiry.take()?;
        row.settle();
        Some(inquiry)
    }

    /// Drop what nodes make void that are gone or have changed.
    fn drop_old(&self, inquiry: &mut Inquiry) {
        inquiry.verdicts.retain(|(_, node), one| self.has_version(*node, one.version));
    }
}
