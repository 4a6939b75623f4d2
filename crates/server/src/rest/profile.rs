//! Profiles in the form of pprof, of what can be known without stopping the process: processor
//! time by thread, memory by mapping. Source of the form: google/pprof, `proto/profile.proto`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as _;

use super::debug::Thread;
use super::refusal::{Answer, Refusal};
use super::request::Asked;
use super::respond::{TEXT, blocking, body};

/// How long processor time is watched at most, in seconds.
const SECONDS_MAX: u64 = 300;

/// Where processor time goes, by thread.
pub(crate) async fn get_cpu_profile(asked: Asked) -> Answer {
    let seconds = asked.number("seconds")?.unwrap_or(30).clamp(1, SECONDS_MAX);
    let Ok(_alone) = asked.rest.profile.try_lock() else {
        return Err(Refusal::later(30, "another profile is being taken"));
    };
    let now = asked.service.clock.now();
    let before = blocking(threads).await?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let spent = blocking(move || spent(&before, &threads())).await?;
    let mut profile = Profile::new(&["samples", "count", "cpu", "nanoseconds"]);
    profile.time_nanos = crate::convert::value::nanos(now);
    profile.duration_nanos = i64::try_from(seconds * 1_000_000_000).unwrap_or(i64::MAX);
    profile.period = TICK_NANOS;
    profile.period_type = profile.sample_type.last().copied();
    for ((thread, place), millis) in spent {
        let nanos = millis.saturating_mul(1_000_000);
        profile.add(&[&place, &thread], vec![nanos / TICK_NANOS, nanos]);
    }
    Ok(attachment("profile", gzipped(&profile)?))
}

const TICK_NANOS: i64 = 10_000_000;

/// The memory in use, by mapping.
pub(crate) async fn get_heap_profile(asked: Asked) -> Answer {
    let as_text = asked.number("debug")?.unwrap_or(0) > 0;
    let now = asked.service.clock.now();
    let maps = blocking(|| fs::read_to_string("/proc/self/smaps").unwrap_or_default()).await?;
    let mappings = mappings(&maps);
    if as_text {
        let mut text = String::from("memory in use in bytes, by mapping\n");
        for (name, bytes) in &mappings {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{bytes:>14} {name}");
        }
        return Ok(body(TEXT, text));
    }
    let mut profile = Profile::new(&["inuse_objects", "count", "inuse_space", "bytes"]);
    profile.time_nanos = crate::convert::value::nanos(now);
    for (name, bytes) in mappings {
        profile.add(&[&name], vec![1, bytes]);
    }
    Ok(attachment("heap", gzipped(&profile)?))
}

fn attachment(name: &str, bytes: Vec<u8>) -> Response {
    let mut response = body(HeaderValue::from_static("application/octet-stream"), bytes);
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = response.headers_mut();
    headers.extend(disposition.ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    response
}

fn gzipped(profile: &Profile) -> Result<Vec<u8>, Refusal> {
    let failed = |error: std::io::Error| Refusal::failed(error.to_string());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&profile.encode_to_vec()).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Every thread by number.
fn threads() -> BTreeMap<u64, Thread> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return BTreeMap::new();
    };
    let thread = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((number, Thread::of(&stat)?))
    };
    entries.filter_map(|entry| thread(entry.ok()?)).collect()
}

/// Milliseconds that threads of a name spent in the program and in the system, where any. What a
/// thread spent that has ended meanwhile is not known.
fn spent(
    before: &BTreeMap<u64, Thread>,
    after: &BTreeMap<u64, Thread>,
) -> BTreeMap<(String, String), i64> {
    let mut all = BTreeMap::new();
    for (number, thread) in after {
        let earlier = before.get(number);
        let (user, system) = earlier.map_or((0, 0), |one| (one.user, one.system));
        let parts = [
            ("user", thread.user.saturating_sub(user)),
            ("system", thread.system.saturating_sub(system)),
        ];
        for (place, millis) in parts.into_iter().filter(|(_, millis)| *millis > 0) {
            let millis = i64::try_from(millis).unwrap_or(i64::MAX);
            *all.entry((thread.name.clone(), place.to_owned())).or_insert(0) += millis;
        }
    }
    all
}

/// Resident bytes of mappings, by what is mapped. Source: `proc(5)`, `smaps`.
fn mappings(maps: &str) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    let mut name = String::new();
    for line in maps.lines() {
        if let Some(kilobytes) = line.strip_prefix("Rss:") {
            let number = kilobytes.trim().trim_end_matches(" kB").parse::<i64>().unwrap_or(0);
            *all.entry(name.clone()).or_insert(0) += number.saturating_mul(1_024);
        } else if line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit)
            && line
                .split_once('-')
                .is_some_and(|(start, _)| start.bytes().all(|one| one.is_ascii_hexdigit()))
        {
            let path = line.split_ascii_whitespace().nth(5);
            path.unwrap_or("[anonymous]").clone_into(&mut name);
        }
    }
    all.retain(|_, bytes| *bytes > 0);
    all
}

/// A profile. Texts are numbers of entries in a table, the first of which is empty.
#[derive(Clone, PartialEq, prost::Message)]
struct Profile {
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
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

impl Profile {
    /// Nothing yet, with values of these kinds and units.
    fn new(kinds: &[&str; 4]) -> Self {
        let mut profile = Self { string_table: vec![String::new()], ..Self::default() };
        for pair in kinds.chunks(2) {
            let [kind, unit] = [pair[0], pair[1]].map(|text| profile.text(text));
            profile.sample_type.push(ValueType { kind, unit });
        }
        profile
    }

    fn text(&mut self, text: &str) -> i64 {
        let known = self.string_table.iter().position(|one| one == text);
        let place = known.unwrap_or_else(|| {
            self.string_table.push(text.to_owned());
            self.string_table.len() - 1
        });
        i64::try_from(place).unwrap_or(0)
    }

    /// Values of a stack of names, the innermost first.
    fn add(&mut self, stack: &[&str], value: Vec<i64>) {
        let location_id = stack.iter().map(|name| self.location(name)).collect();
        self.sample.push(Sample { location_id, value });
    }

    /// The one location of the one function of this name; their number is that of the name.
    fn location(&mut self, name: &str) -> u64 {
        let name = self.text(name);
        let id = u64::try_from(name).unwrap_or(0);
        if !self.function.iter().any(|one| one.id == id) {
            self.function.push(Function { id, name });
            self.location.push(Location { id, line: vec![Line { function_id: id }] });
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_one_name_are_added_up() {
        let maps = "\
00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/headroom
Size:                328 kB
Rss:                  64 kB
00651000-00652000 r--p 00051000 08:02 173521 /usr/bin/headroom
Rss:                   4 kB
7f00-7f01 rw-p 00000000 00:00 0
Rss:                  12 kB
7f02-7f03 rw-p 00000000 00:00 0 [heap]
Rss:                   0 kB
";
        let expected =
            [("/usr/bin/headroom".to_owned(), 69_632), ("[anonymous]".to_owned(), 12_288)];
        assert_eq!(mappings(maps), expected.into());
    }

    #[test]
    fn time_is_what_was_spent_in_between() {
        let thread = |user, system| Thread { name: "w".into(), state: 'R', user, system };
        let before = [(1, thread(100, 10)), (2, thread(50, 0)), (3, thread(9, 9))].into();
        let after = [(1, thread(150, 10)), (2, thread(80, 20)), (4, thread(10, 0))].into();
        let expected = [(("w".into(), "user".into()), 90), (("w".into(), "system".into()), 20)];
        assert_eq!(spent(&before, &after), expected.into());
    }

    #[test]
    fn names_are_written_once() {
        let mut profile = Profile::new(&["samples", "count", "cpu", "nanoseconds"]);
        profile.add(&["user", "writer"], vec![1, 10]);
        profile.add(&["system", "writer"], vec![2, 20]);
        assert_eq!(profile.string_table.len(), 8);
        assert_eq!((profile.location.len(), profile.function.len()), (3, 3));
        assert_eq!(profile.sample[0].location_id[1], profile.sample[1].location_id[1]);
        let again = Profile::decode(profile.encode_to_vec().as_slice()).unwrap();
        assert_eq!(again, profile);
    }
}
