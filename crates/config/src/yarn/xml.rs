//! Parses Hadoop files within limits: a `configuration` of `property` elements.
//!
//! Only the five entities of XML and numeric characters are known. Nothing is included or declared, so the cost of a
//! file depends only on its size.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::ConvertError;
use super::note::Kind;
use crate::spelling::{letters_apart, nearest};

/// Deepest nesting of elements.
const DEPTH_MAX: usize = 32;
/// Maximum number of properties of one file.
const PROPERTIES_MAX: usize = 200_000;
/// Maximum number of attributes that are read. A property has at most four.
const ATTRIBUTES_MAX: usize = 8;
/// Maximum number of ignored parts of one file that are reported individually.
const PASSED_OVER_MAX: usize = 200;
/// Maximum number of stored characters of an ignored part.
const PIECE: usize = 200;
/// Elements of a property.
const OF_PROPERTY: [&str; 6] = ["name", "value", "final", "description", "source", "tag"];

/// One property of a file, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether later files cannot change the property.
    pub(super) is_final: bool,
    /// Line of its start, from 1.
    pub(super) line: usize,
}

/// A part of a file that Hadoop ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassedOver {
    /// Unknown to Hadoop, or without effect.
    pub(super) kind: Kind,
    /// An element with its brackets, or the name of a property.
    pub(super) what: String,
    /// Start of its content.
    pub(super) value: String,
    /// Line of its start, from 1.
    pub(super) line: usize,
    pub(super) why: String,
    pub(super) help: String,
}

/// Content of a text.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Properties in the order of the text.
    pub(super) entries: Vec<Entry>,
    /// Ignored parts.
    pub(super) passed_over: Vec<PassedOver>,
    /// Number of ignored parts that are not listed, and the line of the first.
    pub(super) untold: Option<(usize, usize)>,
}

/// Parses a text.
///
/// # Errors
/// If the text is not XML, is not a configuration, or exceeds a limit.
pub(super) fn read(text: &str) -> Result<Content, ConvertError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    let mut state = State { lines: Lines { text, at: 0, line: 1 }, ..State::default() };
    loop {
        let event = reader.read_event();
        let line = state.lines.line_of(reader.buffer_position());
        let event = event.map_err(|error| ConvertError::Xml { line, why: error.to_string() })?;
        match event {
            Event::Start(start) => state.open(&start, line)?,
            Event::Empty(start) => {
                state.open(&start, line)?;
                state.close();
            }
            Event::End(_) => state.close(),
            Event::Text(text) => state.text(&text.xml10_content(), line)?,
            Event::CData(data) => state.text(&data.xml10_content(), line)?,
            Event::GeneralRef(reference) => state.text(&resolved(&reference, line)?, line)?,
            Event::DocType(_) => {
                let why = "the file declares a document type, which a configuration does not need. \
                           Remove the line";
                return Err(ConvertError::Xml { line, why: why.to_owned() });
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(open) = state.open.last() {
        let why = format!("the file ends inside the element `{open}`");
        return Err(ConvertError::Xml { line: state.lines.line, why });
    }
    if !state.saw_configuration {
        let why = "the file has no element `configuration`".to_owned();
        return Err(ConvertError::Xml { line: 1, why });
    }
    Ok(state.content)
}

/// Returns the character that `&name;` represents.
fn resolved(reference: &BytesRef<'_>, line: usize) -> Result<String, ConvertError> {
    let name: &str = reference;
    let wrong = |why: String| ConvertError::Xml { line, why };
    match reference.resolve_char_ref() {
        Ok(Some(character)) => return Ok(character.into()),
        Err(error) => return Err(wrong(error.to_string())),
        Ok(None) => {}
    }
    let text = match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => {
            return Err(wrong(format!(
                "the entity `&{name};` is not declared. Replace the entity with its value"
            )));
        }
    };
    Ok(text.to_owned())
}

/// Determines the line of positions, which must be ascending.
#[derive(Default)]
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn line_of(&mut self, place: u64) -> usize {
        let place = usize::try_from(place).unwrap_or(usize::MAX).min(self.text.len());
        if place > self.at {
            // A position is always between characters. Otherwise the line would be too low by at most one.
            let passed = self.text.get(self.at..place).unwrap_or_default();
            self.line += passed.matches('\n').count();
            self.at = place;
        }
        self.line
    }
}

/// State of the parser.
#[derive(Default)]
struct State<'t> {
    lines: Lines<'t>,
    /// Names of the open elements.
    open: Vec<String>,
    saw_configuration: bool,
    property: Option<Property>,
    /// The open element that Hadoop does not know.
    stranger: Option<Stranger>,
    content: Content,
}

/// The open property.
#[derive(Default)]
struct Property {
    entry: Entry,
    /// Whether the property has a value. As in Hadoop, a property without a value has no effect.
    has_value: bool,
    /// Depth of the property.
    depth: usize,
    /// Text of the open element in the property.
    token: String,
    /// First element in the property that properties do not have.
    stranger: Option<String>,
}

/// An open element that Hadoop does not know.
struct Stranger {
    name: String,
    depth: usize,
    line: usize,
    text: String,
    has_properties: bool,
}

impl State<'_> {
    fn open(&mut self, start: &BytesStart<'_>, line: usize) -> Result<(), ConvertError> {
        let wrong = |why: String| ConvertError::Xml { line, why };
        if self.open.len() == DEPTH_MAX {
            return Err(wrong(format!("elements nest deeper than {DEPTH_MAX} levels")));
        }
        let name = start.local_name().as_ref().to_owned();
        if self.open.is_empty() && (name != "configuration" || self.saw_configuration) {
            return Err(wrong(format!(
                "the element `{}` is at the top level, where exactly one `configuration` is \
                 expected",
                shown(&name)
            )));
        }
        self.saw_configuration = true;
        if name == "include" {
            let why = "the file includes another file. Pass the included file as an argument too, \
                       and remove the element";
            return Err(wrong(why.to_owned()));
        }
        let depth = self.open.len() + 1;
        if let Some(property) = &mut self.property {
            if depth == property.depth + 1 {
                property.token.clear();
                if !OF_PROPERTY.contains(&name.as_str()) {
                    property.stranger.get_or_insert_with(|| name.clone());
                    self.begin_stranger(&name, depth, line);
                }
            }
        } else if name == "property" {
            if self.content.entries.len() == PROPERTIES_MAX {
                return Err(wrong(format!(
                    "the file has more than {PROPERTIES_MAX} properties, which is the limit"
                )));
            }
            let (entry, has_value) = by_attributes(start, line)?;
            self.property = Some(Property { entry, has_value, depth, ..Property::default() });
            if let Some(stranger) = &mut self.stranger {
                stranger.has_properties = true;
            }
        } else if name != "configuration" {
            self.begin_stranger(&name, depth, line);
        }
        self.open.push(name);
        Ok(())
    }

    /// Begins an element that Hadoop does not know. An unknown element inside such an element belongs to it.
    fn begin_stranger(&mut self, name: &str, depth: usize, line: usize) {
        if self.stranger.is_none() {
            let (name, text) = (name.to_owned(), String::new());
            self.stranger = Some(Stranger { name, depth, line, text, has_properties: false });
        }
    }

    fn close(&mut self) {
        let closed = self.open.len();
        let name = self.open.pop().unwrap_or_default();
        if let Some(stranger) = self.stranger.take_if(|stranger| stranger.depth == closed) {
            self.pass_over_stranger(stranger);
        }
        let Some(property) = &mut self.property else { return };
        if closed == property.depth + 1 && !property.token.is_empty() {
            let token = std::mem::take(&mut property.token);
            match name.as_str() {
                "name" => property.entry.name = token,
                "value" => {
                    property.entry.value = token;
                    property.has_value = true;
                }
                "final" => property.entry.is_final = token.trim() == "true",
                _ => {}
            }
        }
        if let Some(property) = self.property.take_if(|property| property.depth == closed) {
            self.end_property(property);
        }
    }

    /// Ends a property. A property without a name or a value is ignored.
    fn end_property(&mut self, property: Property) {
        let Property { mut entry, has_value, stranger, .. } = property;
        entry.name = String::from(entry.name.trim());
        if has_value && !entry.name.is_empty() {
            self.content.entries.push(entry);
            return;
        }
        let (kind, missing, what) = if entry.name.is_empty() {
            (Kind::Unknown, "name", "<property>".to_owned())
        } else {
            (Kind::NoEffect, "value", entry.name)
        };
        let near = stranger.filter(|stranger| element_near(stranger, &[missing]).is_some());
        let help = match near {
            Some(stranger) => format!("write <{missing}> instead of <{}>", shown(&stranger)),
            None if missing == "value" => {
                "write a value between <value> and </value>; a single blank is a value".to_owned()
            }
            None => "add <name> with the name of a property".to_owned(),
        };
        let why = format!("the property has no {missing}, so Hadoop ignores it");
        let value = shown(entry.value.trim());
        self.pass_over(PassedOver { kind, what, value, line: entry.line, why, help });
    }

    fn pass_over_stranger(&mut self, stranger: Stranger) {
        let Stranger { name, depth, line, text, has_properties } = stranger;
        let within = depth.checked_sub(2).and_then(|above| self.open.get(above));
        let within = within.map_or("configuration", String::as_str);
        let known: &[&str] = if self.property.is_some() { &OF_PROPERTY } else { &["property"] };
        let mut why =
            format!("`{}` has no element with this name, so Hadoop ignores it", shown(within));
        if has_properties {
            why.push_str(", but not the properties inside");
        }
        let help = match element_near(&name, known) {
            Some(meant) => format!("did you mean <{meant}>?"),
            None => "remove the element".to_owned(),
        };
        let what = format!("<{}>", shown(&name));
        self.pass_over(PassedOver { kind: Kind::Unknown, what, value: text, line, why, help });
    }

    fn pass_over(&mut self, piece: PassedOver) {
        let Content { passed_over, untold, .. } = &mut self.content;
        if passed_over.len() < PASSED_OVER_MAX {
            passed_over.push(piece);
        } else {
            untold.get_or_insert((0, piece.line)).0 += 1;
        }
    }

    fn text(&mut self, text: &str, line: usize) -> Result<(), ConvertError> {
        let depth = self.open.len();
        let property_depth = self.property.as_ref().map_or(0, |property| property.depth);
        // Text in the properties of an unknown element belongs to that element.
        if let Some(stranger) = self.stranger.as_mut().filter(|one| one.depth > property_depth) {
            for word in text.split_whitespace() {
                if stranger.text.len() >= PIECE {
                    break;
                }
                let blank = if stranger.text.is_empty() { "" } else { " " };
                stranger.text.push_str(blank);
                stranger.text.extend(word.chars().take(PIECE));
            }
        }
        if let Some(property) = &mut self.property
            && depth > property.depth
        {
            if depth == property.depth + 1 {
                property.token.push_str(text);
            }
            return Ok(());
        }
        if text.trim().is_empty() || self.stranger.is_some() {
            return Ok(());
        }
        let Some(within) = self.open.last() else {
            let why = "there is text outside of the element `configuration`".to_owned();
            return Err(ConvertError::Xml { line, why });
        };
        let why = format!("Hadoop ignores text directly inside `{}`", shown(within));
        let help = "write a `property` with `name` and `value`, or change the text to a comment";
        // The line is that of the end of the text.
        let line = line.saturating_sub(text.trim_start().matches('\n').count());
        let value = shown(text.trim());
        let (what, help) = ("text".to_owned(), help.to_owned());
        self.pass_over(PassedOver { kind: Kind::Unknown, what, value, line, why, help });
        Ok(())
    }
}

/// Returns the element that was probably meant. A short name must match more closely than a long name.
fn element_near<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    nearest(name, known).filter(|meant| meant.len() > 4 || letters_apart(name, meant) <= 1)
}

/// Reads a property with attributes instead of elements. Returns whether the attributes include a value.
fn by_attributes(start: &BytesStart<'_>, line: usize) -> Result<(Entry, bool), ConvertError> {
    let mut has_value = false;
    let mut entry = Entry { line, ..Entry::default() };
    for attribute in start.attributes().with_checks(false).take(ATTRIBUTES_MAX) {
        let wrong = |why: String| ConvertError::Xml { line, why };
        let attribute = attribute.map_err(|error| wrong(error.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| wrong(error.to_string()))?;
        let name: &str = attribute.key.as_ref();
        match name {
            "name" => entry.name = value.into_owned(),
            "value" => {
                entry.value = value.into_owned();
                has_value = true;
            }
            "final" => entry.is_final = value.trim() == "true",
            _ => {}
        }
    }
    Ok((entry, has_value))
}

/// Returns a value, shortened for a message.
pub(super) fn shown(text: &str) -> String {
    shown_up_to(text, 80)
}

/// Returns at most `most` characters of a text, on one line.
pub(super) fn shown_up_to(text: &str, most: usize) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    let mut short: String = text.chars().take(most).map(plain).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
