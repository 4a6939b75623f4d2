//! The one table of the queue file's keys. Reading, unknown keys, the file in force, and the reference page come from it.
//!
//! Owns [`Block`] and [`Setting`], the rows that `raw` declares with `blocks!`, and the kinds of values. A new setting is
//! one row, and the code that uses its value.

mod block;
mod content;
mod kind;
mod page;

pub(crate) use block::{Rows, blocks};
pub use content::Content;
pub(crate) use kind::{
    Amounts, AmountsIfAny, ApplicationsByUser, Count, Decimals, Each, EachIn, EachMaybe, EachOther,
    False, In, Kind, Label, Marked, Maybe, Names, Number, Plain, Properties, Seconds, Switch,
    TextList, TextListIfAny, Title, Weights, Whole, Word,
};
pub use page::{KeyLine, keys, page};

/// The block at the top of a queue file.
pub fn file() -> &'static Block {
    <crate::raw::File as Rows>::BLOCK
}

/// The block of a partition.
pub fn partition() -> &'static Block {
    <crate::raw::Partition as Rows>::BLOCK
}

/// A mapping of the queue file.
#[derive(Debug)]
pub struct Block {
    /// What messages call it, such as `a queue`.
    pub what: &'static str,
    /// What it is for, in a sentence or two.
    pub about: &'static str,
    /// Its keys, in the order in which they are written.
    pub settings: &'static [Setting],
    /// What a null in its place means.
    pub null: Null,
}

/// What a null means where a block, or a key of it, is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// As if nothing were written.
    Nothing,
    /// The block is there, with a warning.
    BlockWithWarning,
    /// A key of the block counts as absent, with a warning.
    KeyWithWarning,
}

/// A key of a block.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// As in the file. Empty for mappings whose key the user chooses, as node labels.
    pub key: &'static str,
    /// A second spelling that is accepted.
    pub alias: Option<&'static str>,
    /// Its name in `GET /ws/v1/config`.
    pub json: &'static str,
    /// What it does, in a sentence or two.
    pub meaning: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// The words or the range that it accepts, where its kind does not say that.
    pub values: &'static str,
    /// What applies without the key.
    pub default: &'static str,
    /// Whether YuniKorn refuses a file with this key.
    pub own: bool,
    /// When the file in force shows it.
    pub shown: Shown,
}

/// When the file in force shows a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// When it is written.
    Written,
    /// In JSON always, and in YAML when it is written.
    AlwaysInJson,
    /// Always.
    Always,
}

/// What a setting holds.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// A text.
    Text,
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Whole,
    /// A whole number of seconds.
    Seconds,
    /// A decimal number, of which no digit is lost.
    Number,
    /// Texts.
    TextList,
    /// Amounts by resource type, such as `{vcore: 4, memory: 16Gi}`.
    Amounts,
    /// Texts by key.
    Properties,
    /// Decimal numbers by name.
    Numbers,
    /// Floating point numbers by name.
    Decimals,
    /// Whole numbers by name.
    Counts,
    /// A mapping with keys of its own.
    Block(fn() -> &'static Block),
    /// Mappings with keys of their own.
    List(fn() -> &'static Block),
    /// Mappings with keys of their own, by a name that users choose.
    ByName(fn() -> &'static Block),
}

impl Holds {
    /// What stands for the value in the reference.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Switch => "`true` or `false`",
            Self::Whole => "whole number",
            Self::Seconds => "seconds, a whole number",
            Self::Number => "number",
            Self::TextList => "list of texts",
            Self::Amounts => "amounts by resource type",
            Self::Properties => "texts by key",
            Self::Numbers | Self::Decimals => "numbers by name",
            Self::Counts => "whole numbers by name",
            Self::Block(_) => "block",
            Self::List(_) => "list of blocks",
            Self::ByName(_) => "block for each name",
        }
    }

    /// The block that it holds, or holds several of.
    pub fn block(self) -> Option<&'static Block> {
        match self {
            Self::Block(block) | Self::List(block) | Self::ByName(block) => Some(block()),
            Self::Text
            | Self::Switch
            | Self::Whole
            | Self::Seconds
            | Self::Number
            | Self::TextList
            | Self::Amounts
            | Self::Properties
            | Self::Numbers
            | Self::Decimals
            | Self::Counts => None,
        }
    }
}

impl Setting {
    /// What a row does not say.
    pub(crate) const PLAIN: Self = Self {
        key: "",
        alias: None,
        json: "",
        meaning: "",
        holds: Holds::Text,
        values: "",
        default: "",
        own: false,
        shown: Shown::Written,
    };

    /// Whether a key of the file is this setting.
    pub(crate) fn is_called(&self, key: &str) -> bool {
        !key.is_empty() && (self.key == key || self.alias == Some(key))
    }
}

impl Block {
    /// A block without keys.
    pub(crate) const EMPTY: Self = Self { what: "", about: "", settings: &[], null: Null::Nothing };

    /// The keys that the file can have, without those that users choose.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.settings.iter().map(|setting| setting.key).filter(|key| !key.is_empty())
    }

    /// Whether a key is a setting of this block.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| setting.is_called(key))
    }

    /// Whether other keys are welcome where they have a mapping.
    pub(crate) fn takes_other_blocks(&self) -> bool {
        self.settings.iter().any(|setting| setting.key.is_empty())
    }
}
