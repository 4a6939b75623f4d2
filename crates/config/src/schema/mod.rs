//! The table of all keys of the queue file. The reader, the check for unknown keys, the output of the active file, and
//! the reference page use this table.
//!
//! Owns [`Block`] and [`Setting`], the rows that `raw` declares with `blocks!`, and the kinds of values. A new setting
//! requires one row, and the code that uses its value.

mod block;
mod content;
mod kind;
mod page;

pub(crate) use block::{Rows, blocks};
pub use content::Content;
pub(crate) use kind::{
    Amounts, AmountsIfAny, ApplicationsByUser, Count, Decimals, Each, EachIn, EachMaybe, EachOther,
    False, In, Kind, Label, Marked, Maybe, Names, Number, Plain, Properties, Seconds, Switch,
    SwitchAt, TextList, TextListIfAny, Title, Weights, Whole, Word,
};
pub use page::{KeyLine, keys, page};

/// Returns the block at the top of a queue file.
pub fn file() -> &'static Block {
    <crate::raw::File as Rows>::BLOCK
}

/// Returns the block of a partition.
pub fn partition() -> &'static Block {
    <crate::raw::Partition as Rows>::BLOCK
}

/// A mapping of the queue file.
#[derive(Debug)]
pub struct Block {
    /// Name in messages, such as `a queue`.
    pub what: &'static str,
    /// Purpose in one or two sentences.
    pub about: &'static str,
    /// Keys in the order of the reference page.
    pub settings: &'static [Setting],
    /// Meaning of a null value instead of the block.
    pub null: Null,
}

/// Meaning of a null value instead of a block, or instead of a key of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// The block counts as absent.
    Nothing,
    /// The block counts as present, with a warning.
    BlockWithWarning,
    /// A key of the block counts as absent, with a warning.
    KeyWithWarning,
}

/// A key of a block.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name in the file. Empty for mappings with keys that users choose, such as node labels.
    pub key: &'static str,
    /// Alternative spelling that is accepted.
    pub alias: Option<&'static str>,
    /// Name in `GET /ws/v1/config`.
    pub json: &'static str,
    /// Meaning in one or two sentences.
    pub meaning: &'static str,
    /// Kind of the value.
    pub holds: Holds,
    /// Valid words or range, if the kind does not define them.
    pub values: &'static str,
    /// Value that applies without the key.
    pub default: &'static str,
    /// Whether YuniKorn refuses a file with this key.
    pub own: bool,
    /// When the output of the active file shows the setting.
    pub shown: Shown,
}

/// When the output of the active file shows a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Only if the file sets the key.
    Written,
    /// Always in JSON. In YAML, only if the file sets the key.
    AlwaysInJson,
    /// Always.
    Always,
}

/// Kind of the value of a setting.
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
    /// A decimal number without loss of digits.
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
    /// A mapping with its own keys.
    Block(fn() -> &'static Block),
    /// A list of mappings with their own keys.
    List(fn() -> &'static Block),
    /// Mappings with their own keys, by a name that users choose.
    ByName(fn() -> &'static Block),
}

impl Holds {
    /// Returns the description of the kind in the reference page.
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

    /// Returns the block of the value, or of its items. `None` for other kinds.
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
    /// A setting with the values that rows can omit.
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

    /// Returns whether a key of the file is this setting.
    pub(crate) fn is_called(&self, key: &str) -> bool {
        !key.is_empty() && (self.key == key || self.alias == Some(key))
    }
}

impl Block {
    /// A block without keys.
    pub(crate) const EMPTY: Self = Self { what: "", about: "", settings: &[], null: Null::Nothing };

    /// Returns the keys of the block, without those that users choose.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.settings.iter().map(|setting| setting.key).filter(|key| !key.is_empty())
    }

    /// Returns whether a key is a setting of this block.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| setting.is_called(key))
    }

    /// Returns whether the block accepts other keys with mappings as their values.
    pub(crate) fn takes_other_blocks(&self) -> bool {
        self.settings.iter().any(|setting| setting.key.is_empty())
    }
}
