//! Content of a file in its own words: values by setting, without places.

use serde::Deserializer;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde_json::Value;

use super::{Block, Holds, Setting, Shown};

/// A value in its original notation. To convert the value to a type of `GET /ws/v1/config`, deserialize it.
#[derive(Clone, Debug)]
pub enum Content {
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Whole(u64),
    /// A floating point number, which might not be finite.
    Decimal(f64),
    /// A decimal number in its original notation. In JSON, the number is a text, so that no digit is lost.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Values by a key that users choose, sorted by key.
    Pairs(Vec<(String, Self)>),
    /// The settings of a block, in the order of its table.
    Block(&'static Block, Vec<(&'static Setting, Self)>),
}

impl Content {
    /// Returns whether the content is empty.
    pub const fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Pairs(pairs) => pairs.is_empty(),
            Self::Block(_, rows) => rows.is_empty(),
            Self::Switch(_) | Self::Whole(_) | Self::Decimal(_) | Self::Number(_) => false,
        }
    }

    /// Returns a block from its JSON in `GET /ws/v1/config`. Omits values of another kind than their setting.
    pub fn from_json(block: &'static Block, json: &Value) -> Self {
        let row = |setting: &'static Setting| {
            let content = Self::of(setting, json.get(setting.json)?)?;
            let is_only_in_json = setting.shown == Shown::AlwaysInJson && content.is_empty();
            (!is_only_in_json).then_some((setting, content))
        };
        Self::Block(block, block.settings.iter().filter_map(row).collect())
    }

    fn of(setting: &Setting, json: &Value) -> Option<Self> {
        let text = |json: &Value| json.as_str().map(str::to_owned);
        let pairs = |content: &dyn Fn(&Value) -> Option<Self>| {
            let pairs = json.as_object()?.iter();
            let pair = |(key, one): (&String, &Value)| Some((key.clone(), content(one)?));
            Some(Self::Pairs(pairs.filter_map(pair).collect()))
        };
        Some(match setting.holds {
            Holds::Text => Self::Text(text(json)?),
            Holds::Switch => Self::Switch(json.as_bool()?),
            Holds::Whole | Holds::Seconds => Self::Whole(json.as_u64()?),
            Holds::Number => Self::Number(text(json)?),
            Holds::TextList => {
                Self::List(json.as_array()?.iter().filter_map(text).map(Self::Text).collect())
            }
            Holds::Amounts | Holds::Properties => pairs(&|one| text(one).map(Self::Text))?,
            Holds::Numbers => pairs(&|one| text(one).map(Self::Number))?,
            Holds::Decimals => pairs(&|one| one.as_f64().map(Self::Decimal))?,
            Holds::Counts => pairs(&|one| one.as_u64().map(Self::Whole))?,
            Holds::Block(block) => Self::from_json(block(), json),
            Holds::List(block) => {
                let items = json.as_array()?.iter();
                Self::List(items.map(|one| Self::from_json(block(), one)).collect())
            }
            Holds::ByName(block) => pairs(&|one| Some(Self::from_json(block(), one)))?,
        })
    }
}

/// Returns the values by their names in JSON, with settings that JSON always has.
fn json_of(
    block: &'static Block,
    rows: Vec<(&'static Setting, Content)>,
) -> impl Iterator<Item = (&'static str, Content)> {
    let mut rows = rows.into_iter().peekable();
    block.settings.iter().filter_map(move |setting| {
        let written = rows.next_if(|(row, _)| row.json == setting.json);
        let content = match written {
            Some((_, content)) => Some(content),
            None if setting.shown == Shown::Written => None,
            None => Some(match setting.holds {
                Holds::Block(block) => Content::Block(block(), Vec::new()),
                Holds::List(_) => Content::List(Vec::new()),
                Holds::Text
                | Holds::Switch
                | Holds::Whole
                | Holds::Seconds
                | Holds::Number
                | Holds::TextList
                | Holds::Amounts
                | Holds::Properties
                | Holds::Numbers
                | Holds::Decimals
                | Holds::Counts
                | Holds::ByName(_) => Content::Text(String::new()),
            }),
        };
        content.map(|content| (setting.json, content))
    })
}

impl<'de> Deserializer<'de> for Content {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Switch(is) => visitor.visit_bool(is),
            Self::Whole(number) => visitor.visit_u64(number),
            Self::Decimal(number) => visitor.visit_f64(number),
            Self::Number(text) | Self::Text(text) => visitor.visit_string(text),
            Self::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Self::Pairs(pairs) => visitor.visit_map(MapDeserializer::new(pairs.into_iter())),
            Self::Block(block, rows) => {
                visitor.visit_map(MapDeserializer::new(json_of(block, rows)))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_> for Content {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
