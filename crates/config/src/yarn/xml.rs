//! Files of Hadoop: a `configuration` of `property` elements, taken apart within bounds.
//!
//! No entity but the five of XML and characters by number is known, and nothing is included or
//! declared, so a file means what stands in it and costs what its bytes cost.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::ConvertError;

/// How deep elements may nest.
const DEPTH_MAX: usize = 32;
/// How many properties one file may have.
const PROPERTIES_MAX: usize = 200_000;
/// How many attributes are looked at; a property has four at most.
const ATTRIBUTES_MAX: usize = 8;

/// One property of a file, as it stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) value: String,
    /// No later file may change it.
    pub(super) is_final: bool,
    /// Where it begins, from 1.
    pub(super) line: usize,
}

/// The properties of a text, in its order.
///
/// # Errors
/// When it is no XML, no configuration, or beyond the bounds.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, ConvertError> {
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
                let why = "it declares a document type, which a configuration does not need; remove the line";
                return Err(ConvertError::Xml { line, why: why.to_owned() });
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(open) = state.open.last() {
        let why = format!("the file ends within `{open}`");
        return Err(ConvertError::Xml { line: state.lines.line, why });
    }
    if !state.saw_configuration {
        let why = "it has no element `configuration`".to_owned();
        return Err(ConvertError::Xml { line: 1, why });
    }
    Ok(state.entries)
}

/// What `&name;` stands for.
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
                "the entity `&{name};` is not declared; write what it stands for"
            )));
        }
    };
    Ok(text.to_owned())
}

/// Which line a place is in, for places that only go on.
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
            // A place is between characters; were it not, the line would be one too low at most.
            let passed = self.text.get(self.at..place).unwrap_or_default();
            self.line += passed.matches('\n').count();
            self.at = place;
        }
        self.line
    }
}

/// Where the reader is.
#[derive(Default)]
struct State<'t> {
    lines: Lines<'t>,
    /// Names of the elements that are open.
    open: Vec<String>,
    saw_configuration: bool,
    /// The property that is open, and at which depth.
    property: Option<(Entry, usize)>,
    is_final: String,
    entries: Vec<Entry>,
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
                "`{}` stands where `configuration` is expected, once",
                shown(&name)
            )));
        }
        self.saw_configuration = true;
        if name == "include" {
            let why = "it includes another file; give that one as an argument, too, and remove the element";
            return Err(wrong(why.to_owned()));
        }
        if name == "property" && self.property.is_none() {
            if self.entries.len() == PROPERTIES_MAX {
                return Err(wrong(format!("there are more than {PROPERTIES_MAX} properties")));
            }
            let entry = by_attributes(start, line)?;
            self.is_final.clear();
            self.property = Some((entry, self.open.len() + 1));
        }
        self.open.push(name);
        Ok(())
    }

    fn close(&mut self) {
        let closed = self.open.len();
        self.open.pop();
        if self.property.as_ref().is_some_and(|(_, depth)| *depth == closed) {
            let (mut entry, _) = self.property.take().unwrap_or_default();
            entry.is_final |= self.is_final.trim() == "true";
            entry.name = String::from(entry.name.trim());
            if !entry.name.is_empty() {
                self.entries.push(entry);
            }
        }
    }

    fn text(&mut self, text: &str, line: usize) -> Result<(), ConvertError> {
        let within = self.open.last().map(String::as_str);
        let depth = self.open.len();
        match (&mut self.property, within) {
            (Some((entry, at)), Some(element)) if depth == *at + 1 => match element {
                "name" => entry.name.push_str(text),
                "value" => entry.value.push_str(text),
                "final" => self.is_final.push_str(text),
                _ => {}
            },
            (None, None) if !text.trim().is_empty() => {
                let why = "there is text outside of the element `configuration`".to_owned();
                return Err(ConvertError::Xml { line, why });
            }
            _ => {}
        }
        Ok(())
    }
}

/// A property may have all that it says in attributes.
fn by_attributes(start: &BytesStart<'_>, line: usize) -> Result<Entry, ConvertError> {
    let mut entry = Entry { line, ..Entry::default() };
    for attribute in start.attributes().with_checks(false).take(ATTRIBUTES_MAX) {
        let wrong = |why: String| ConvertError::Xml { line, why };
        let attribute = attribute.map_err(|error| wrong(error.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| wrong(error.to_string()))?;
        let name: &str = attribute.key.as_ref();
        match name {
            "name" => entry.name = value.into_owned(),
            "value" => entry.value = value.into_owned(),
            "final" => entry.is_final = value.trim() == "true",
            _ => {}
        }
    }
    Ok(entry)
}

/// As much of a value as a message needs.
pub(super) fn shown(text: &str) -> String {
    shown_up_to(text, 80)
}

/// So many characters of a text, in one line.
pub(super) fn shown_up_to(text: &str, most: usize) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    let mut short: String = text.chars().take(most).map(plain).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
