//! Final values of properties, and a record of which were read.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::note::{Kind, Place};
use super::xml::shown;
use super::{ConvertError, Source, YARN_BYTES_MAX, xml};

/// Maximum number of replacements of variables within one value, as in Hadoop.
const REPLACED_MAX: usize = 20;
/// Largest size of a value after replacements, in bytes.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// One property.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// Value without surrounding white space, with variables replaced.
    pub(super) value: String,
    /// Value as written.
    pub(super) raw: String,
    pub(super) place: Place,
    /// An unknown variable in the value.
    unresolved: Option<String>,
    is_used: Cell<bool>,
}

/// A part of a file that has no effect.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) kind: Kind,
    pub(super) place: Place,
    /// Name of the property or of the element.
    pub(super) what: String,
    /// Value, shortened for a message.
    pub(super) value: String,
    pub(super) why: String,
    pub(super) help: String,
}

/// The properties of all files.
#[derive(Debug)]
pub(super) struct Properties {
    by_name: BTreeMap<String, Property>,
    dropped: Vec<Dropped>,
}

/// Last entry of each name, with the number of its file, and parts without effect.
#[derive(Default)]
struct Gathered<'f> {
    files: &'f [Source<'f>],
    last: BTreeMap<String, (xml::Entry, usize)>,
    dropped: Vec<Dropped>,
}

impl Gathered<'_> {
    fn place(&self, file: usize, line: usize) -> Place {
        Place { file: self.files[file].name.to_owned(), line }
    }

    /// Adds an entry. As in Hadoop, the last entry of a name counts, unless an earlier one is final.
    fn add(&mut self, entry: xml::Entry, file: usize) {
        let Some((earlier, of)) = self.last.get(&entry.name) else {
            self.last.insert(entry.name.clone(), (entry, file));
            return;
        };
        let (line, of, is_final) = (earlier.line, *of, earlier.is_final);
        if is_final {
            let place = self.place(of, line);
            let why = format!(
                "{}:{} sets the property as final, so that value applies",
                place.file, place.line
            );
            self.overrule(&entry, file, why);
        } else {
            let by = self.place(file, entry.line);
            let why = format!(
                "{}:{} sets the property again, and the last value applies",
                by.file, by.line
            );
            if let Some((earlier, of)) = self.last.insert(entry.name.clone(), (entry, file)) {
                self.overrule(&earlier, of, why);
            }
        }
    }

    fn overrule(&mut self, entry: &xml::Entry, file: usize, why: String) {
        self.dropped.push(Dropped {
            kind: Kind::NoEffect,
            place: self.place(file, entry.line),
            what: entry.name.clone(),
            value: shown(entry.value.trim()),
            why,
            help: "remove one of the two properties".to_owned(),
        });
    }

    fn pass_over(&mut self, content: &xml::Content, file: usize) {
        for piece in &content.passed_over {
            let xml::PassedOver { kind, what, value, line, why, help } = piece.clone();
            let place = self.place(file, line);
            self.dropped.push(Dropped { kind, place, what, value, why, help });
        }
        if let Some((count, line)) = content.untold {
            self.dropped.push(Dropped {
                kind: Kind::Unknown,
                place: self.place(file, line),
                what: "and more".to_owned(),
                value: String::new(),
                why: format!("from this line on, Hadoop ignores {count} more elements"),
                help: "correct the elements above, and convert again".to_owned(),
            });
        }
    }
}

impl Properties {
    /// # Errors
    /// If a file cannot be parsed.
    pub(super) fn read(files: &[Source<'_>]) -> Result<Self, ConvertError> {
        let mut gathered = Gathered { files, ..Gathered::default() };
        for (index, file) in files.iter().enumerate() {
            let mut content = content(file).map_err(|source| ConvertError::File {
                name: file.name.to_owned(),
                source: Box::new(source),
            })?;
            for entry in std::mem::take(&mut content.entries) {
                gathered.add(entry, index);
            }
            gathered.pass_over(&content, index);
        }
        let Gathered { last: raw, dropped, .. } = gathered;
        let replaced = |(name, (entry, file)): (&String, &(xml::Entry, usize)), named: &mut _| {
            let (value, unresolved) = replaced(&entry.value, &raw, named);
            let place = Place { file: files[*file].name.to_owned(), line: entry.line };
            let property = Property {
                name: name.clone(),
                value: value.trim().to_owned(),
                raw: value,
                place,
                unresolved,
                is_used: Cell::new(false),
            };
            (name.clone(), property)
        };
        let mut variables = BTreeSet::new();
        let all = raw.iter().map(|one| replaced(one, &mut variables)).collect();
        let read = Self { by_name: all, dropped };
        for name in &variables {
            // Its value is part of another property.
            let _ = read.get(name);
        }
        Ok(read)
    }

    /// Returns a property. Marks the property as read.
    pub(super) fn get(&self, name: &str) -> Option<&Property> {
        self.by_name.get(name).inspect(|property| property.is_used.set(true))
    }

    /// Returns the properties with this prefix, by name. Does not mark these properties as read.
    pub(super) fn below<'p, 'n>(
        &'p self,
        prefix: &'n str,
    ) -> impl Iterator<Item = &'p Property> + use<'p, 'n> {
        let range = (Bound::Included(prefix), Bound::Unbounded);
        let from = self.by_name.range::<str, _>(range).map(|(_, property)| property);
        from.take_while(move |property| property.name.starts_with(prefix))
    }

    /// Returns the properties that were not read, by name.
    pub(super) fn unused(&self) -> impl Iterator<Item = &Property> {
        self.by_name.values().filter(|property| !property.is_used.get())
    }

    /// Returns the parts without effect, in the order of the files.
    pub(super) fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Returns the properties that were read and have an unknown variable.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = (&Property, &str)> {
        let used = self.by_name.values().filter(|property| property.is_used.get());
        used.filter_map(|property| Some((property, property.unresolved.as_deref()?)))
    }
}

fn content(file: &Source<'_>) -> Result<xml::Content, ConvertError> {
    let found = file.text.len();
    if found > YARN_BYTES_MAX {
        return Err(ConvertError::TooLarge { found });
    }
    xml::read(file.text)
}

/// Returns a value with its variables replaced by other properties, and the first unknown variable. Adds the names of
/// the used properties to `named`.
fn replaced(
    written: &str,
    all: &BTreeMap<String, (xml::Entry, usize)>,
    named: &mut BTreeSet<String>,
) -> (String, Option<String>) {
    let mut value = written.to_owned();
    for _ in 0..REPLACED_MAX {
        let Some((begin, end)) = variable(&value) else { return (value, None) };
        let name = value[begin + 2..end].to_owned();
        let Some((entry, _)) = all.get(&name) else { return (value, Some(name)) };
        if value.len() + entry.value.len() > VALUE_BYTES_MAX {
            return (value, Some(name));
        }
        value.replace_range(begin..=end, &entry.value);
        named.insert(name);
    }
    let left = variable(&value).map(|(begin, end)| value[begin + 2..end].to_owned());
    (value, left)
}

/// Returns the positions of the first and last byte of the first `${name}`.
fn variable(text: &str) -> Option<(usize, usize)> {
    let begin = text.find("${")?;
    let end = begin + text[begin..].find('}')?;
    (end > begin + 2).then_some((begin, end))
}
