//! Access to the properties of the whole scheduler, or of a queue.

use std::cell::RefCell;

use super::note::{Kind, Note};
use super::number::Number;
use super::properties::{Dropped, Properties, Property};
use super::xml::shown;

/// Prefix of all properties of the scheduler.
pub(super) const PREFIX: &str = "yarn.scheduler.capacity.";

/// Properties with a common prefix, and the list for notes on these properties.
#[derive(Clone, Debug)]
pub(super) struct Scope<'p> {
    pub(super) properties: &'p Properties,
    notes: &'p RefCell<Vec<Note>>,
    /// Prefix, which ends with a dot.
    prefix: String,
    /// Path of the queue in YARN.
    queue: Option<String>,
}

impl<'p> Scope<'p> {
    /// Returns the properties of the whole scheduler.
    pub(super) fn whole(properties: &'p Properties, notes: &'p RefCell<Vec<Note>>) -> Self {
        Self { properties, notes, prefix: PREFIX.to_owned(), queue: None }
    }

    /// Returns the properties of one queue.
    pub(super) fn queue(&self, path: &str) -> Self {
        Self { prefix: format!("{PREFIX}{path}."), queue: Some(path.to_owned()), ..self.clone() }
    }

    /// Returns whether these are the properties of root.
    pub(super) fn is_root(&self) -> bool {
        self.queue.as_deref() == Some("root")
    }

    /// Returns the properties with a longer prefix.
    pub(super) fn below(&self, name: &str) -> Self {
        Self { prefix: format!("{}{name}.", self.prefix), ..self.clone() }
    }

    /// Returns the property with this name in the scope.
    pub(super) fn get(&self, name: &str) -> Option<&'p Property> {
        self.properties.get(&format!("{}{name}", self.prefix))
    }

    /// Returns the property with this full name.
    pub(super) fn get_full(&self, name: &str) -> Option<&'p Property> {
        self.properties.get(name)
    }

    /// Returns all properties of the scope by name, with the rest of their names.
    pub(super) fn all(&self) -> Vec<(&'p Property, String)> {
        let found = self.properties.below(&self.prefix);
        found.map(|property| (property, property.name[self.prefix.len()..].to_owned())).collect()
    }

    /// Returns a boolean by its full name. Any other value counts as absent, as in Hadoop, and is reported.
    pub(super) fn flag(&self, name: &str, otherwise: bool) -> bool {
        let Some(property) = self.get_full(name) else { return otherwise };
        match property.value.to_ascii_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => {
                let why =
                    format!("the value is neither true nor false, and is read as {otherwise}");
                self.tell(Kind::Adjusted, property, &why, "set true or false");
                otherwise
            }
        }
    }

    /// Returns a boolean of the scope.
    pub(super) fn own_flag(&self, name: &str, otherwise: bool) -> bool {
        self.flag(&format!("{}{name}", self.prefix), otherwise)
    }

    /// Returns a number of the scope. Reports a value that is not a number.
    pub(super) fn number(&self, name: &str) -> Option<(&'p Property, Number)> {
        let property = self.get(name)?;
        let Some(number) = Number::read(&property.value) else {
            self.tell(
                Kind::NoEquivalent,
                property,
                "the value is not a number",
                "correct the value in the queue file",
            );
            return None;
        };
        if number.is_rounded {
            let why = format!("the value has more than six decimals and is written as {number}");
            self.tell(Kind::Adjusted, property, &why, "");
        }
        Some((property, number))
    }

    /// Returns a count of the scope, at least 1. Reports any other value.
    pub(super) fn count(&self, name: &str) -> Option<(&'p Property, u64)> {
        let property = self.get(name)?;
        if let Ok(count @ 1..) = property.value.parse::<u64>() {
            return Some((property, count));
        }
        let (why, help) = match property.value.parse::<i64>() {
            Ok(0) => (
                "with 0, nothing could start",
                "set `state: stopped` for the queue, or a number above 0",
            ),
            Ok(_) => {
                ("a negative number means no limit", "remove the property, or set a number above 0")
            }
            Err(_) => ("the value is not a whole number", "correct the value in the queue file"),
        };
        self.tell(Kind::NoEquivalent, property, why, help);
        None
    }

    /// Adds a note on a property.
    pub(super) fn tell(&self, kind: Kind, property: &Property, why: &str, help: &str) {
        self.notes.borrow_mut().push(Note {
            kind,
            place: Some(property.place.clone()),
            property: property.name.clone(),
            // A value can be as long as a file, and have many notes.
            value: shown(&property.value),
            why: why.to_owned(),
            help: help.to_owned(),
            queue: self.queue.clone(),
        });
    }

    /// Adds a note on a part of a file without effect.
    pub(super) fn tell_dropped(&self, dropped: &Dropped) {
        let Dropped { kind, place, what, value, why, help } = dropped;
        self.notes.borrow_mut().push(Note {
            kind: *kind,
            place: Some(place.clone()),
            property: what.clone(),
            value: value.clone(),
            why: why.clone(),
            help: help.clone(),
            queue: self.queue.clone(),
        });
    }

    /// Adds a note on a property that no file has.
    pub(super) fn tell_absent(&self, name: &str, why: &str, help: &str) {
        self.notes.borrow_mut().push(Note {
            kind: Kind::Adjusted,
            place: None,
            property: name.to_owned(),
            value: String::new(),
            why: why.to_owned(),
            help: help.to_owned(),
            queue: self.queue.clone(),
        });
    }

    /// Returns the full name of a property of the scope.
    pub(super) fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}
