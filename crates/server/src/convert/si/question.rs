//! Questions of the scheduler to the RM, and its answers as verdicts.

use headroom_api::si::headroom::callback_reply::Answer;
use headroom_api::si::headroom::callback_request::Question;
use headroom_api::si::headroom::{
    Capabilities, PredicatesBatch, PredicatesVerdicts, PreemptionPredicatesBatch,
    PreemptionPredicatesVerdicts,
};
use headroom_api::si::v1::{PreemptionPredicatesArgs, PreemptionPredicatesResponse};
use headroom_core::books::{NodeVerdict, QuestionMode};
use headroom_core::{Command, Name, Verdicts};
use headroom_engine::{About, NamedRemoval, RmQuestion};

/// Maximum length of a reason, in bytes. A longer reason is shortened.
const REASON_BYTES_MAX: usize = 1_024;

/// A question of the scheduler, and the part of its answer that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    partition: Name,
    key: Name,
    question: u64,
    verdicts: Vec<(Name, NodeVerdict)>,
}

/// The part of a question that becomes one request to the RM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Whether nodes suit the ask, now or after releases.
    Nodes(QuestionMode, Vec<Name>),
    /// Number of allocations that must be removed from nodes.
    Removals(Vec<NamedRemoval>),
}

impl Inquiry {
    /// Returns a question about this partition, and its parts for the RM. A node for which `refuse` returns a reason is
    /// rejected without a question. Parts that the RM does not support count as answered: all their nodes are suitable.
    pub fn of(
        partition: Name,
        asked: RmQuestion,
        capabilities: Capabilities,
        refuse: impl Fn(&Name) -> Option<Name>,
    ) -> (Self, Vec<Part>) {
        let RmQuestion { question, key, about } = asked;
        let mut inquiry = Self { partition, key, question, verdicts: Vec::new() };
        let mut parts = Vec::new();
        match about {
            About::Nodes(mode, nodes) => {
                let nodes = inquiry.allowed(nodes, Clone::clone, &refuse);
                inquiry.ask_about_nodes(mode, nodes, capabilities, &mut parts);
            }
            About::Removals(removals) => {
                let removals = inquiry.allowed(removals, |one| one.node.clone(), &refuse);
                // A node without necessary removals needs only the ordinary question.
                let (removals, nodes): (Vec<_>, Vec<_>) =
                    removals.into_iter().partition(|one| one.least > 0);
                let nodes = nodes.into_iter().map(|one| one.node).collect();
                inquiry.ask_about_nodes(QuestionMode::Allocate, nodes, capabilities, &mut parts);
                if !capabilities.preemption_predicates {
                    let suits = |one: NamedRemoval| (one.node, NodeVerdict::Suits);
                    inquiry.verdicts.extend(removals.into_iter().map(suits));
                } else if !removals.is_empty() {
                    parts.push(Part::Removals(removals));
                }
            }
        }
        (inquiry, parts)
    }

    fn allowed<T>(
        &mut self,
        all: Vec<T>,
        node: impl Fn(&T) -> Name,
        refuse: impl Fn(&Name) -> Option<Name>,
    ) -> Vec<T> {
        let mut allowed = Vec::with_capacity(all.len());
        for one in all {
            let name = node(&one);
            match refuse(&name) {
                Some(reason) => self.verdicts.push((name, NodeVerdict::Refused(reason))),
                None => allowed.push(one),
            }
        }
        allowed
    }

    fn ask_about_nodes(
        &mut self,
        mode: QuestionMode,
        nodes: Vec<Name>,
        capabilities: Capabilities,
        parts: &mut Vec<Part>,
    ) {
        if !capabilities.predicates {
            self.verdicts.extend(nodes.into_iter().map(|node| (node, NodeVerdict::Suits)));
        } else if !nodes.is_empty() {
            parts.push(Part::Nodes(mode, nodes));
        }
    }

    /// Returns the request for a part.
    pub fn ask(&self, part: &Part) -> Question {
        let text = ToString::to_string;
        match part {
            Part::Nodes(mode, nodes) => Question::PredicatesBatch(PredicatesBatch {
                allocation_key: self.key.to_string(),
                allocate: *mode == QuestionMode::Allocate,
                node_i_ds: nodes.iter().map(text).collect(),
            }),
            Part::Removals(removals) => {
                let candidate = |one: &NamedRemoval| PreemptionPredicatesArgs {
                    allocation_key: self.key.to_string(),
                    node_id: one.node.to_string(),
                    preempt_allocation_keys: one.victims.iter().map(text).collect(),
                    // The last allocation that is removed in the first attempt, counted from 0.
                    start_index: i32::try_from(one.least).unwrap_or(i32::MAX) - 1,
                };
                Question::PreemptionPredicatesBatch(PreemptionPredicatesBatch {
                    candidates: removals.iter().map(candidate).collect(),
                })
            }
        }
    }

    /// Stores the answer of the RM. A node that is missing in the answer does not suit, and neither does any node if
    /// the answer is of another kind.
    pub fn note(&mut self, part: &Part, answer: Option<Answer>) {
        match (part, answer) {
            (Part::Nodes(_, nodes), Some(Answer::PredicatesBatch(answer))) => {
                self.verdicts.extend(about_nodes(nodes, answer));
            }
            (Part::Removals(removals), Some(Answer::PreemptionPredicatesBatch(answer))) => {
                self.verdicts.extend(about_removals(removals, answer));
            }
            _ => self.refuse(part, "the answer belongs to another question"),
        }
    }

    /// Stores that no node of this part suits the ask, for this reason.
    pub fn refuse(&mut self, part: &Part, reason: &str) {
        let reason = Name::new(reason);
        let refused = |node: Name| (node, NodeVerdict::Refused(reason.clone()));
        self.verdicts.extend(part.nodes().into_iter().map(refused));
    }

    /// Returns the partition of the question.
    pub const fn partition(&self) -> &Name {
        &self.partition
    }

    /// Returns the allocation key of the ask.
    pub const fn key(&self) -> &Name {
        &self.key
    }

    /// Returns the answer as a command.
    pub fn verdicts(self) -> Command {
        let Self { partition, key, question, verdicts } = self;
        Command::Verdicts(Verdicts { partition, key, question, verdicts })
    }
}

impl Part {
    /// Returns the nodes of the part.
    pub fn nodes(&self) -> Vec<Name> {
        match self {
            Self::Nodes(_, nodes) => nodes.clone(),
            Self::Removals(removals) => removals.iter().map(|one| one.node.clone()).collect(),
        }
    }
}

/// Returns the verdicts of an answer. Ignores nodes that were not part of the request.
fn about_nodes(asked: &[Name], answer: PredicatesVerdicts) -> Vec<(Name, NodeVerdict)> {
    let verdict = |one: headroom_api::si::headroom::NodeVerdict| {
        let node = asked.iter().find(|node| ***node == *one.node_id)?;
        let refused = || NodeVerdict::Refused(cut(&one.reason));
        Some((node.clone(), if one.ok { NodeVerdict::Suits } else { refused() }))
    };
    answer.nodes.into_iter().filter_map(verdict).collect()
}

fn about_removals(
    asked: &[NamedRemoval],
    answer: PreemptionPredicatesVerdicts,
) -> Vec<(Name, NodeVerdict)> {
    let verdict = |(removal, response): (&NamedRemoval, PreemptionPredicatesResponse)| {
        (removal.node.clone(), about_removal(removal, response))
    };
    asked.iter().zip(answer.candidates).map(verdict).collect()
}

/// Returns the verdict of an answer. The RM sends the index of the last removal, counted from 0. The core uses the
/// number of removals.
fn about_removal(removal: &NamedRemoval, response: PreemptionPredicatesResponse) -> NodeVerdict {
    if !response.success {
        return NodeVerdict::Refused(Name::new("the ask does not fit even without all candidates"));
    }
    let count = usize::try_from(response.index.max(-1).saturating_add(1)).unwrap_or_default();
    if count > removal.victims.len() {
        return NodeVerdict::Refused(Name::new(format!(
            "the answer has the index {}, which is not below the number of victims, {}",
            response.index,
            removal.victims.len()
        )));
    }
    NodeVerdict::SuitsWithout(count)
}

/// Returns a reason, shortened to the maximum length.
fn cut(reason: &str) -> Name {
    let end = (0..=REASON_BYTES_MAX.min(reason.len()))
        .rev()
        .find(|end| reason.is_char_boundary(*end))
        .unwrap_or(0);
    Name::new(&reason[..end])
}

#[cfg(test)]
mod tests {
    use headroom_api::si::headroom;

    use super::*;

    const BOTH: Capabilities = Capabilities {
        predicates: true,
        preemption_predicates: true,
        events: false,
        container_state: false,
        state_dump: false,
        predicates_cacheable: false,
        questions_at_once: 0,
    };

    fn removal(node: &str, victims: usize, least: usize) -> NamedRemoval {
        let victims = (0..victims).map(|number| Name::new(format!("v{number}"))).collect();
        NamedRemoval { node: node.into(), victims, least }
    }

    fn asked(about: About) -> RmQuestion {
        RmQuestion { question: 7, key: "k".into(), about }
    }

    fn verdicts_of(inquiry: Inquiry) -> Vec<(String, String)> {
        let Command::Verdicts(verdicts) = inquiry.verdicts() else { panic!("no verdicts") };
        assert_eq!((&*verdicts.partition, &*verdicts.key, verdicts.question), ("p", "k", 7));
        let verdicts = verdicts.verdicts.into_iter();
        verdicts.map(|(node, one)| (node.to_string(), format!("{one:?}"))).collect()
    }

    #[test]
    fn what_the_rm_does_not_answer_suits_and_what_is_refused_is_not_asked() {
        let nodes = About::Nodes(QuestionMode::Reserve, vec!["a".into(), "b".into()]);
        let refuse = |node: &Name| (*node == "a").then(|| Name::new("blocked"));
        let none = Capabilities::default();
        let (inquiry, parts) = Inquiry::of("p".into(), asked(nodes.clone()), none, refuse);
        assert!(parts.is_empty());
        let expected = [("a", "Refused(\"blocked\")"), ("b", "Suits")];
        assert_eq!(verdicts_of(inquiry), expected.map(|(node, one)| (node.into(), one.into())));
        let (inquiry, parts) = Inquiry::of("p".into(), asked(nodes), BOTH, refuse);
        assert_eq!(parts, [Part::Nodes(QuestionMode::Reserve, vec!["b".into()])]);
        let Question::PredicatesBatch(batch) = inquiry.ask(&parts[0]) else { panic!("{parts:?}") };
        assert_eq!((batch.allocate, batch.node_i_ds), (false, vec!["b".to_owned()]));
    }

    #[test]
    fn where_nobody_needs_to_go_an_ordinary_question_is_asked() {
        let about = About::Removals(vec![removal("a", 2, 1), removal("b", 3, 0)]);
        let (inquiry, parts) = Inquiry::of("p".into(), asked(about.clone()), BOTH, |_| None);
        let Question::PredicatesBatch(batch) = inquiry.ask(&parts[0]) else { panic!("{parts:?}") };
        assert_eq!((batch.allocate, batch.node_i_ds), (true, vec!["b".to_owned()]));
        let Question::PreemptionPredicatesBatch(batch) = inquiry.ask(&parts[1]) else {
            panic!("{parts:?}")
        };
        let one = &batch.candidates[0];
        assert_eq!((&*one.node_id, one.start_index), ("a", 0));
        assert_eq!(one.preempt_allocation_keys, ["v0", "v1"]);
        // An RM without ordinary predicates.
        let only = Capabilities { predicates: false, ..BOTH };
        let (inquiry, parts) = Inquiry::of("p".into(), asked(about), only, |_| None);
        assert_eq!(parts.len(), 1);
        assert_eq!(verdicts_of(inquiry), [("b".to_owned(), "Suits".to_owned())]);
    }

    #[test]
    fn an_index_counts_from_zero_and_one_beyond_the_candidates_is_refused() {
        for (success, index, expected) in [
            (true, 0, "SuitsWithout(1)"),
            (true, 1, "SuitsWithout(2)"),
            (true, -1, "SuitsWithout(0)"),
            (true, i32::MIN, "SuitsWithout(0)"),
            (
                true,
                2,
                "Refused(\"the answer has the index 2, which is not below the number of victims, 2\")",
            ),
            (false, -1, "Refused(\"the ask does not fit even without all candidates\")"),
        ] {
            let response = PreemptionPredicatesResponse { success, index };
            let verdict = about_removal(&removal("a", 2, 1), response);
            assert_eq!(format!("{verdict:?}"), expected, "{success} {index}");
        }
        let most = PreemptionPredicatesResponse { success: true, index: i32::MAX };
        assert!(matches!(about_removal(&removal("a", 2, 1), most), NodeVerdict::Refused(_)));
    }

    #[test]
    fn nodes_that_were_not_asked_about_are_ignored_and_another_answer_refuses_all() {
        let verdict = |node: &str, ok| headroom::NodeVerdict {
            node_id: node.into(),
            ok,
            reason: "x".repeat(2_000),
        };
        let part = Part::Nodes(QuestionMode::Allocate, vec!["a".into()]);
        let about = About::Nodes(QuestionMode::Allocate, vec!["a".into()]);
        let (mut inquiry, _) = Inquiry::of("p".into(), asked(about), BOTH, |_| None);
        let mut other = inquiry.clone();
        let nodes = vec![verdict("z", true), verdict("a", false)];
        inquiry.note(&part, Some(Answer::PredicatesBatch(PredicatesVerdicts { nodes })));
        let refused = format!("Refused(\"{}\")", "x".repeat(REASON_BYTES_MAX));
        assert_eq!(verdicts_of(inquiry), [("a".to_owned(), refused)]);
        other.note(&part, None);
        let refused = "Refused(\"the answer belongs to another question\")".to_owned();
        assert_eq!(verdicts_of(other), [("a".to_owned(), refused)]);
    }
}
