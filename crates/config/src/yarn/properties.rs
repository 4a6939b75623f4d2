//! Which value each property has in the end, and who has asked for it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::note::Place;
use super::{ConvertError, Source, YARN_BYTES_MAX, xml};

/// How often a variable is replaced within one value, as in Hadoop.
const REPLACED_MAX: usize = 20;
/// How long a value may become by that, in bytes.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// One property.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// Trimmed, with variables replaced.
    pub(super) value: String,
    /// Not trimmed.
    pub(super) raw: String,
    pub(super) place: Place,
    /// A variable in it of which nothing is known.
    unresolved: Option<String>,
    is_used: Cell<bool>,
}

/// All properties of all files.
#[derive(Debug)]
pub(super) struct Properties {
    by_name: BTreeMap<String, Property>,
}

impl Properties {
    /// # Errors
    /// When a file cannot be taken apart.
    pub(super) fn read(files: &[Source<'_>]) -> Result<Self, ConvertError> {
        let mut raw: BTreeMap<String, (xml::Entry, usize)> = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            let entries = entries(file).map_err(|source| ConvertError::File {
                name: file.name.to_owned(),
                source: Box::new(source),
            })?;
            for entry in entries {
                if raw.get(&entry.name).is_none_or(|(earlier, _)| !earlier.is_final) {
                    raw.insert(entry.name.clone(), (entry, index));
                }
            }
        }
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
        let read = Self { by_name: all };
        for name in &variables {
            // What it says is part of another property.
            let _ = read.get(name);
        }
        Ok(read)
    }

    /// A property, which is looked at by that.
    pub(super) fn get(&self, name: &str) -> Option<&Property> {
        self.by_name.get(name).inspect(|property| property.is_used.set(true))
    }

    /// Those whose names begin like this, by name; nobody has looked at them by that.
    pub(super) fn below<'p, 'n>(
        &'p self,
        prefix: &'n str,
    ) -> impl Iterator<Item = &'p Property> + use<'p, 'n> {
        let range = (Bound::Included(prefix), Bound::Unbounded);
        let from = self.by_name.range::<str, _>(range).map(|(_, property)| property);
        from.take_while(move |property| property.name.starts_with(prefix))
    }

    /// Those that nobody has looked at, by name.
    pub(super) fn unused(&self) -> impl Iterator<Item = &Property> {
        self.by_name.values().filter(|property| !property.is_used.get())
    }

    /// Those that were looked at and name something that is not known.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = (&Property, &str)> {
        let used = self.by_name.values().filter(|property| property.is_used.get());
        used.filter_map(|property| Some((property, property.unresolved.as_deref()?)))
    }
}

fn entries(file: &Source<'_>) -> Result<Vec<xml::Entry>, ConvertError> {
    let found = file.text.len();
    if found > YARN_BYTES_MAX {
        return Err(ConvertError::TooLarge { found });
    }
    xml::read(file.text)
}

/// A value with its variables replaced by what other properties say, and one that none says. Those
/// that were replaced go to `named`.
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

/// Where the first `${name}` is: its first and its last byte.
fn variable(text: &str) -> Option<(usize, usize)> {
    let begin = text.find("${")?;
    let end = begin + text[begin..].find('}')?;
    (end > begin + 2).then_some((begin, end))
}
