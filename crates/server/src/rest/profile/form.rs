//! A profile in the format of pprof. Source: google/pprof, `proto/profile.proto`.

use std::collections::HashMap;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as _;

/// A profile that is being built. Each text, function, and location is written once, and referenced by number.
#[derive(Debug, Default)]
pub(super) struct Profile {
    written: Written,
    texts: HashMap<String, i64>,
    functions: HashMap<(i64, i64), u64>,
    locations: HashMap<Vec<Line>, u64>,
}

/// A function at a position in a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) function: String,
    /// Path of the source file. Empty if unknown.
    pub(super) file: String,
    /// Line in that file, from 1. 0 if unknown.
    pub(super) line: u32,
}

/// Time and duration of a profile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Start in nanoseconds since the epoch.
    pub(super) at: i64,
    /// Duration in nanoseconds.
    pub(super) during: i64,
    /// Number of nanoseconds that a sample represents, in the unit of the last kind of value. 0 without samples.
    pub(super) period: i64,
}

impl Profile {
    /// Returns an empty profile with values of these kinds and units.
    pub(super) fn new(kinds: [(&str, &str); 2], taken: Taken) -> Self {
        let mut profile = Self::default();
        // The first text is empty by definition.
        profile.text("");
        for (kind, unit) in kinds {
            let one = ValueType { kind: profile.text(kind), unit: profile.text(unit) };
            profile.written.sample_type.push(one);
        }
        let Taken { at, during, period } = taken;
        profile.written.time_nanos = at;
        profile.written.duration_nanos = during;
        profile.written.period = period;
        if period > 0 {
            profile.written.period_type = profile.written.sample_type.last().copied();
        }
        profile
    }

    /// Adds values of a stack, the innermost entry first. Each entry has the functions of one call: inlined functions
    /// first, and then the function that contains them.
    pub(super) fn add(&mut self, stack: &[Vec<Place>], values: [i64; 2], thread: Option<&str>) {
        let location_id = stack.iter().map(|places| self.location(places)).collect();
        let label = thread.map(|name| Label { key: self.text("thread"), text: self.text(name) });
        let label = label.into_iter().collect();
        self.written.sample.push(Sample { location_id, value: values.to_vec(), label });
    }

    /// Returns the compressed protobuf message.
    ///
    /// # Errors
    /// If the compression fails.
    pub(super) fn gzipped(&self) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.written.encode_to_vec())?;
        encoder.finish()
    }

    fn text(&mut self, text: &str) -> i64 {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let number = number(self.written.string_table.len());
        self.written.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), number);
        number
    }

    fn function(&mut self, place: &Place) -> u64 {
        let (name, filename) = (self.text(&place.function), self.text(&place.file));
        // Number 0 is reserved for no function.
        let next = self.written.function.len() as u64 + 1;
        let id = *self.functions.entry((name, filename)).or_insert(next);
        if id == next {
            self.written.function.push(Function { id, name, filename });
        }
        id
    }

    fn location(&mut self, places: &[Place]) -> u64 {
        let line: Vec<Line> = places
            .iter()
            .map(|place| Line { function_id: self.function(place), line: i64::from(place.line) })
            .collect();
        let next = self.written.location.len() as u64 + 1;
        let id = *self.locations.entry(line.clone()).or_insert(next);
        if id == next {
            self.written.location.push(Location { id, line });
        }
        id
    }
}

/// Returns a position in a table as a number of the format.
fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// The message. Texts are indices into `string_table`.
#[derive(Clone, PartialEq, prost::Message)]
struct Written {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(function: &str, line: u32) -> Place {
        Place { function: function.into(), file: "a.rs".into(), line }
    }

    #[test]
    fn what_is_the_same_is_written_once() {
        let kinds = [("samples", "count"), ("cpu", "nanoseconds")];
        let taken = Taken { at: 7, during: 20, period: 10 };
        let mut profile = Profile::new(kinds, taken);
        let writer = vec![place("write", 3)];
        profile.add(&[vec![place("flush", 9)], writer.clone()], [1, 10], Some("writer"));
        profile.add(&[vec![place("flush", 9)], writer.clone()], [2, 20], Some("other"));
        // Another line of the same function is another location.
        profile.add(&[vec![place("flush", 12), place("commit", 2)], writer], [1, 10], None);
        let written = &profile.written;
        assert_eq!((written.location.len(), written.function.len()), (3, 3));
        assert_eq!(written.sample[0].location_id, written.sample[1].location_id);
        assert_eq!(written.location[2].line.len(), 2);
        assert_eq!(written.string_table[0], "");
        let thread = |number: usize| {
            let label = written.sample[number].label.first()?;
            Some(written.string_table[usize::try_from(label.text).unwrap()].as_str())
        };
        assert_eq!([thread(0), thread(1), thread(2)], [Some("writer"), Some("other"), None]);
        assert_eq!(written.period_type, written.sample_type.last().copied());
        let again = Written::decode(written.encode_to_vec().as_slice()).unwrap();
        assert_eq!(again, *written);
    }

    #[test]
    fn every_number_names_something() {
        let mut profile = Profile::new([("a", "b"), ("c", "d")], Taken::default());
        for line in 0..100 {
            profile.add(&[vec![place(&format!("f{}", line % 7), line)]], [1, 1], Some("t"));
        }
        let written = &profile.written;
        let ids: Vec<u64> = written.location.iter().map(|one| one.id).collect();
        assert_eq!(ids, (1..=100).collect::<Vec<_>>());
        let known = 1..=written.function.len() as u64;
        assert_eq!(known, 1..=7);
        let lines = written.location.iter().flat_map(|one| &one.line);
        assert!(lines.into_iter().all(|line| known.contains(&line.function_id)));
    }
}
