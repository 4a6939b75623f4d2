//! Kinds of values: how the reader parses a value, and how the active file shows it.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Span};
use crate::raw::{At, Fields, Pairs, Text};

use super::{Content, Holds, Null, Rows, Setting};

/// A kind of value.
pub(crate) trait Kind {
    /// Type of the written value.
    type Value: Clone + std::fmt::Debug + Default;

    /// Kind in the reference page.
    const HOLDS: Holds;

    /// Reads the value. Adds faults to the report of `fields`.
    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Self::Value;

    /// Returns the value for the active file. `None` if the active file does not show the value.
    fn content(value: &Self::Value) -> Option<Content>;
}

/// Declares kinds of values other than blocks.
macro_rules! kinds {
    ($( $(#[doc = $doc:literal])* $name:ident($holds:ident) -> $value:ty: $read:expr, $content:expr; )*) => { $(
        $(#[doc = $doc])*
        pub(crate) struct $name;

        impl Kind for $name {
            type Value = $value;
            const HOLDS: Holds = Holds::$holds;

            fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Self::Value {
                let read: fn(&mut Fields<'_, '_>, &'static Setting) -> Self::Value = $read;
                read(fields, setting)
            }

            fn content(value: &Self::Value) -> Option<Content> {
                let content: fn(&Self::Value) -> Option<Content> = $content;
                content(value)
            }
        }
    )* };
}

kinds! {
    /// A text that is always shown.
    Title(Text) -> Text: |fields, setting| fields.text(setting), |text| Some(Content::Text(text.value.clone()));
    /// A text. An absent text is empty, and has the place of the block.
    Plain(Text) -> Text: |fields, setting| fields.text(setting), |text| some_text(&text.value);
    /// A text, where absent and empty mean the same.
    Word(Text) -> Option<Text>: |fields, setting| fields.word(setting), |text| some_text(value_of(text.as_ref())?);
    /// A text whose empty value has its own meaning.
    Label(Text) -> Option<Text>:
        |fields, setting| fields.word(setting), |text| Some(Content::Text(value_of(text.as_ref())?.to_owned()));
    /// A boolean, where absent and `false` differ.
    Switch(Switch) -> Option<bool>: |fields, setting| fields.flag(setting), |is| is.map(Content::Switch);
    /// A boolean with its place.
    SwitchAt(Switch) -> Option<At<bool>>:
        |fields, setting| fields.flag_at(setting), |is| is.as_ref().map(|is| Content::Switch(is.value));
    /// A boolean with the default `false`.
    False(Switch) -> bool:
        |fields, setting| fields.flag(setting).unwrap_or(false), |is| is.then_some(Content::Switch(true));
    /// A whole number with the default 0.
    Count(Whole) -> At<u64>:
        |fields, setting| fields.count(setting), |count| Some(count.value).filter(|count| *count > 0).map(Content::Whole);
    /// A decimal number in its original notation.
    Number(Number) -> Option<Text>:
        |fields, setting| fields.number(setting),
        |text| value_of(text.as_ref()).filter(|text| !text.is_empty()).map(|text| Content::Number(text.to_owned()));
    /// A whole number in its original notation.
    Whole(Whole) -> Option<Text>: |fields, setting| fields.number(setting), |text| whole(value_of(text.as_ref())?);
    /// A whole number of seconds in its original notation.
    Seconds(Seconds) -> Option<Text>: |fields, setting| fields.number(setting), |text| whole(value_of(text.as_ref())?);
    /// Numbers of applications by user.
    ApplicationsByUser(Counts) -> Vec<(Text, Text)>:
        |fields, setting| fields.numbers(setting), |numbers| pairs(numbers, |text| whole(&text.value), true);
    /// Decimal numbers by user.
    Weights(Numbers) -> Vec<(Text, Text)>:
        |fields, setting| fields.numbers(setting),
        |numbers| pairs(numbers, |text| Some(Content::Number(text.value.clone())), true);
    /// Floating point numbers by resource type.
    Decimals(Decimals) -> Vec<(Text, At<f64>)>:
        |fields, setting| fields.decimals(setting),
        |numbers| pairs(numbers, |one| Some(Content::Decimal(one.value)), true);
    /// Texts, where an empty list has a meaning of its own.
    TextList(TextList) -> Option<Vec<Text>>:
        |fields, setting| fields.texts(setting), |texts| texts.as_deref().map(list);
    /// Texts, where only the checks distinguish an empty list from none.
    TextListIfAny(TextList) -> Option<Vec<Text>>:
        |fields, setting| fields.texts(setting), |texts| some(list(texts.as_deref()?));
    /// Texts, none where the key is absent.
    Names(TextList) -> Vec<Text>:
        |fields, setting| fields.texts(setting).unwrap_or_default(), |texts| some(list(texts));
    /// Amounts by resource type, where an empty mapping has a meaning of its own.
    Amounts(Amounts) -> Option<Pairs>:
        |fields, setting| fields.pairs(setting), |amounts| pairs(&amounts.as_ref()?.value, text_in, false);
    /// Amounts by resource type.
    AmountsIfAny(Amounts) -> Option<Pairs>:
        |fields, setting| fields.pairs(setting), |amounts| pairs(&amounts.as_ref()?.value, text_in, true);
    /// Texts by key.
    Properties(Properties) -> Vec<(Text, Text)>:
        |fields, setting| fields.pairs(setting).unwrap_or_default().value, |texts| pairs(texts, text_in, true);
}

fn value_of(text: Option<&Text>) -> Option<&str> {
    text.map(|text| text.value.as_str())
}

/// Returns the content. `None` if the content is empty.
fn some(content: Content) -> Option<Content> {
    (!content.is_empty()).then_some(content)
}

fn some_text(text: &str) -> Option<Content> {
    some(Content::Text(text.to_owned()))
}

/// Returns a number that the checks have found whole. `None` otherwise.
fn whole(text: &str) -> Option<Content> {
    text.parse().ok().map(Content::Whole)
}

fn list(texts: &[Text]) -> Content {
    Content::List(texts.iter().map(|text| Content::Text(text.value.clone())).collect())
}

#[expect(clippy::unnecessary_wraps, reason = "as all that `pairs` takes")]
fn text_in(text: &Text) -> Option<Content> {
    Some(Content::Text(text.value.clone()))
}

/// Returns values by key. `None` for an empty mapping if `none_if_empty`.
fn pairs<T>(
    from: &[(Text, T)],
    content: impl Fn(&T) -> Option<Content>,
    none_if_empty: bool,
) -> Option<Content> {
    let pair = |(key, one): &(Text, T)| Some((key.value.clone(), content(one)?));
    let mut all: Vec<(String, Content)> = from.iter().filter_map(pair).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Some(Content::Pairs(all)).filter(|pairs| !(none_if_empty && pairs.is_empty()))
}

/// A block with defaults. A null value counts as absent.
pub(crate) struct In<T>(T);

impl<T: Rows + Clone + std::fmt::Debug + Default> Kind for In<T> {
    type Value = T;
    const HOLDS: Holds = Holds::Block(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> T {
        read_block(fields, setting).unwrap_or_default()
    }

    fn content(value: &T) -> Option<Content> {
        some(Content::Block(T::BLOCK, value.rows()))
    }
}

/// An optional block. A null value counts as absent.
pub(crate) struct Maybe<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for Maybe<T> {
    type Value = Option<Box<T>>;
    const HOLDS: Holds = Holds::Block(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Option<Box<T>> {
        read_block(fields, setting).map(Box::new)
    }

    fn content(value: &Option<Box<T>>) -> Option<Content> {
        some(Content::Block(T::BLOCK, value.as_deref()?.rows()))
    }
}

/// A block whose presence has an effect, even if it is empty or null.
pub(crate) struct Marked<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for Marked<T> {
    type Value = Option<Box<T>>;
    const HOLDS: Holds = Holds::Block(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Option<Box<T>> {
        let entry = fields.entry(setting)?;
        let mut span = entry.value.span;
        if fields.get(setting).is_none() {
            span = entry.key.span;
            if T::BLOCK.null == Null::BlockWithWarning {
                let key = setting.key;
                let message = format!("`{key}` has no value, and is read as `{key}: {{}}`");
                let warning = Diagnostic::warning(Code::YamlLenient, span, message);
                let help = "write `{}` after the key to use the defaults, or remove the key";
                fields.report.push(warning.help(help));
            }
        }
        let mut block = Fields::of(&entry.value, T::BLOCK, fields.report);
        block.span = span;
        Some(Box::new(T::read(block)))
    }

    fn content(value: &Option<Box<T>>) -> Option<Content> {
        Some(Content::Block(T::BLOCK, value.as_deref()?.rows()))
    }
}

/// Blocks in a list. Empty if the key is absent.
pub(crate) struct Each<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for Each<T> {
    type Value = Vec<T>;
    const HOLDS: Holds = Holds::List(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Vec<T> {
        read_list(fields, setting).map(|list| list.value).unwrap_or_default()
    }

    fn content(value: &Vec<T>) -> Option<Content> {
        some(blocks_in(value))
    }
}

/// Blocks in a list with its place. Empty if the key is absent.
pub(crate) struct EachIn<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for EachIn<T> {
    type Value = At<Vec<T>>;
    const HOLDS: Holds = Holds::List(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> At<Vec<T>> {
        read_list(fields, setting).unwrap_or(At { value: Vec::new(), span: Span::default() })
    }

    fn content(value: &At<Vec<T>>) -> Option<Content> {
        some(blocks_in(&value.value))
    }
}

/// Blocks in a list with its place. Absent and empty differ.
pub(crate) struct EachMaybe<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for EachMaybe<T> {
    type Value = Option<At<Vec<T>>>;
    const HOLDS: Holds = Holds::List(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Option<At<Vec<T>>> {
        read_list(fields, setting)
    }

    fn content(value: &Option<At<Vec<T>>>) -> Option<Content> {
        Some(blocks_in(&value.as_ref()?.value))
    }
}

/// Blocks by a free key: all mappings in the block that are not in its table.
pub(crate) struct EachOther<T>(T);

impl<T: Rows + Clone + std::fmt::Debug> Kind for EachOther<T> {
    type Value = Vec<(Text, T)>;
    const HOLDS: Holds = Holds::ByName(|| T::BLOCK);

    fn read(fields: &mut Fields<'_, '_>, _: &'static Setting) -> Vec<(Text, T)> {
        let others: Vec<_> = fields.others().collect();
        let read = |(key, node): (Text, _)| {
            let what = format!("{} `{}`", T::BLOCK.what, key.value);
            let mut block = Fields::called(node, &what, T::BLOCK, fields.report);
            block.span = key.span;
            (key, T::read(block))
        };
        others.into_iter().map(read).collect()
    }

    fn content(value: &Vec<(Text, T)>) -> Option<Content> {
        pairs(value, |one| Some(Content::Block(T::BLOCK, one.rows())), true)
    }
}

fn read_block<T: Rows>(fields: &mut Fields<'_, '_>, setting: &'static Setting) -> Option<T> {
    let node = fields.get(setting)?;
    Some(T::read(Fields::of(node, T::BLOCK, fields.report)))
}

fn read_list<T: Rows>(
    fields: &mut Fields<'_, '_>,
    setting: &'static Setting,
) -> Option<At<Vec<T>>> {
    let (nodes, span) = fields.list(setting)?;
    let read = |node| T::read(Fields::of(node, T::BLOCK, fields.report));
    Some(At { value: nodes.into_iter().map(read).collect(), span })
}

fn blocks_in<T: Rows>(from: &[T]) -> Content {
    Content::List(from.iter().map(|one| Content::Block(T::BLOCK, one.rows())).collect())
}
