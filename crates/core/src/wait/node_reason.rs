//! Why an ask may not have a node.

/// Why an ask may not have a node, the first that is true of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeReason {
    /// It has another label, or is for asks that select its own.
    Label,
    /// It is on the block list of the ask.
    Blocked,
    /// It is too small, however empty.
    Size,
    /// It is drained.
    Drained,
    /// It is reserved for others.
    Reserved,
    /// It has too little room now.
    Room,
    /// The RM refuses it.
    Refused,
    /// The RM was not asked yet.
    Unasked,
}

impl NodeReason {
    /// All of them, in the order in which they are checked.
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

    /// Returns a short word that does not change.
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

    /// Returns what is wrong with the nodes, in words that follow their number.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Label => "with another label",
            Self::Blocked => "on the block list",
            Self::Size => "too small",
            Self::Drained => "drained",
            Self::Reserved => "reserved for others",
            Self::Room => "with too little free",
            Self::Refused => "rejected by the RM",
            Self::Unasked => "not yet checked by the RM",
        }
    }

    /// Returns the reason with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}
