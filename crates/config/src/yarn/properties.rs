//! Which value each property has in the end, and who has asked for it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::note::{Kind, Place};
use super::xml::shown;
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

/// What stands in a file and says nothing in the end.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) kind: Kind,
    pub(super) place: Place,
    /// The name of the property, or the element.
    pub(super) what: String,
    /// As much of it as a message needs.
    pub(super) value: String,
    pub(super) why: String,
    pub(super) help: String,
}

/// All properties of all files.
#[derive(Debug)]
pub(super) struct Properties {
    by_name: BTreeMap<String, Property>,
    dropped: Vec<Dropped>,
}

/// What each name is in the end, with the number of its file; and what is not.
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

    /// As in Hadoop, the last of a name counts, unless an earlier one is final.
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
    /// When a file cannot be taken apart.
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

    /// What stands in the files and says nothing in the end, in their order.
    pub(super) fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Those that were looked at and name something that is not known.
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
