//! Reasons why an ask cannot use a node.

/// First check that a node fails for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeReason {
    /// The node has another label, or its exclusive label admits only asks that select it.
    Label,
    /// The node is on the block list of the ask.
    Blocked,
    /// The node is too small even when it is empty.
    Size,
    /// The node is drained.
    Drained,
    /// The node is reserved for other asks.
    Reserved,
    /// The node has too little free capacity now.
    Room,
    /// The RM rejects the node.
    Refused,
    /// The RM has not been asked about the node.
    Unasked,
}

impl NodeReason {
    /// All reasons in the order of the checks.
    pub const ALL: [Self; 8] = [
        Self::Label,
        Self::Blocked,
        Self::Size,
        Self::Drained,
        Self::Reserved,
        Self::Room,
        Self::Refused,
        Self::Unasked,
    ];

    /// Returns a short, stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Blocked => "blocked",
            Self::Size => "size",
            Self::Drained => "drained",
            Self::Reserved => "reserved",
            Self::Room => "room",
            Self::Refused => "refused",
            Self::Unasked => "unasked",
        }
    }

    /// Returns a phrase that follows a number of nodes.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Label => "with another label",
            Self::Blocked => "on the block list",
            Self::Size => "too small",
            Self::Drained => "drained",
            Self::Reserved => "reserved for others",
            Self::Room => "with too little free",
            Self::Refused => "rejected by predicates",
            Self::Unasked => "not yet checked against predicates",
        }
    }

    /// Returns the reason with this word. `None` if no reason has it.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}
