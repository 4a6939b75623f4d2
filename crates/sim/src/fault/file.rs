//! Faults that a file lists individually.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use headroom_core::Name;
use serde::Deserialize;
use serde_saphyr::{Spanned, UserMessageFormatter};

use crate::workload::TIME_MS_MAX;

use super::{Fault, FaultKind, Faults, Manner};

/// Largest size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Reason why faults could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FaultsError {
    /// The seed after `random:` is not valid.
    #[error(
        "--faults random:{found} has no valid seed: the seed must be a whole number from 0 to \
         {max}, such as random:7",
        max = u64::MAX
    )]
    Seed {
        /// Text after `random:`.
        found: String,
    },
    /// The file could not be read.
    #[error(
        "cannot read the faults of --faults {}; expected a YAML file, or random:SEED",
        path.display()
    )]
    Open {
        /// Path of the file, as given.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// An entry of the file is not valid.
    #[error("{place}: {problem}")]
    Entry {
        /// Name of the file, with the line if the line is known.
        place: String,
        /// The problem, and what is expected.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    faults: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    at_ms: Spanned<u64>,
    kind: Kind,
    node: Option<String>,
    for_ms: Option<u64>,
    after_ms: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Lose,
    Drain,
    Reconnect,
    Recover,
    ReleaseUnknown,
    Late,
    Twice,
}

/// Returns the faults of a file, sorted by time. Faults at the same time are in file order.
pub(super) fn read(path: &Path) -> Result<Faults, FaultsError> {
    let open = |source| FaultsError::Open { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(open)?.len();
    if size > FILE_BYTES_MAX {
        let problem = format!("the file has {size} bytes, expected at most {FILE_BYTES_MAX}");
        return Err(FaultsError::Entry { place: path.display().to_string(), problem });
    }
    let text = std::fs::read_to_string(path).map_err(open)?;
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, file: &str) -> Result<Faults, FaultsError> {
    if text.trim().is_empty() {
        let problem = "the file is empty; expected `faults:` and a list of faults".to_owned();
        return Err(FaultsError::Entry { place: file.to_owned(), problem });
    }
    let options = serde_saphyr::options! { emit_comments: false };
    let list: List = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| fault_of(file, &error))?;
    let faults: Result<Vec<Fault>, FaultsError> = list
        .faults
        .into_iter()
        .map(|entry| {
            let place = format!("{file}:{}", entry.at_ms.referenced.line());
            checked(entry).map_err(|problem| FaultsError::Entry { place, problem })
        })
        .collect();
    let mut list = faults?;
    list.sort_by_key(|fault| fault.at_ms);
    Ok(Faults { list, manner: Manner::Reliable })
}

fn checked(entry: Entry) -> Result<Fault, String> {
    let Entry { at_ms, kind, node, for_ms, after_ms } = entry;
    let at_ms = time("at_ms", Some(at_ms.value))?;
    let (wants_node, wants_span, wants_delay) = match kind {
        Kind::Lose | Kind::Drain => (true, true, false),
        Kind::Late => (false, true, true),
        Kind::Twice => (false, true, false),
        Kind::Reconnect | Kind::Recover | Kind::ReleaseUnknown => (false, false, false),
    };
    useless("node", wants_node, node.as_ref())?;
    useless("for_ms", wants_span, for_ms.as_ref())?;
    useless("after_ms", wants_delay, after_ms.as_ref())?;
    let node = Name::from(match node {
        None if wants_node => return Err("node is missing".to_owned()),
        node => node.unwrap_or_default(),
    });
    let for_ms = if wants_span { time("for_ms", for_ms)? } else { 0 };
    let after_ms = if wants_delay { time("after_ms", after_ms)? } else { 0 };
    let kind = match kind {
        Kind::Lose => FaultKind::Lose { node, for_ms },
        Kind::Drain => FaultKind::Drain { node, for_ms },
        Kind::Reconnect => FaultKind::Reconnect,
        Kind::Recover => FaultKind::Recover,
        Kind::ReleaseUnknown => FaultKind::ReleaseUnknown,
        Kind::Late => FaultKind::Late { for_ms, after_ms },
        Kind::Twice => FaultKind::Twice { for_ms },
    };
    Ok(Fault { at_ms, kind })
}

fn time(field: &str, ms: Option<u64>) -> Result<u64, String> {
    match ms {
        None => Err(format!("{field} is missing")),
        Some(ms) if ms > TIME_MS_MAX => {
            Err(format!("{field} is {ms}, expected at most {TIME_MS_MAX} ms"))
        }
        Some(ms) => Ok(ms),
    }
}

fn useless(field: &str, wanted: bool, value: Option<&impl Display>) -> Result<(), String> {
    match value.filter(|_| !wanted) {
        None => Ok(()),
        Some(value) => Err(format!(
            "{field} is {value}, but a fault of this kind does not have {field}. Remove the field"
        )),
    }
}

/// Returns the error of the parser on one line that begins with file and line.
fn fault_of(file: &str, error: &serde_saphyr::Error) -> FaultsError {
    let error = error.without_snippet();
    let place = match error.location() {
        Some(location) => format!("{file}:{}", location.line()),
        None => file.to_owned(),
    };
    let text = error.render_with_formatter(&UserMessageFormatter);
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    FaultsError::Entry { place, problem }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::parse;

    #[test]
    fn a_fault_says_what_its_kind_needs_and_nothing_else() {
        let mut out = String::new();
        for entry in [
            "at_ms: 5, kind: lose, node: n1, for_ms: 9",
            "at_ms: 5, kind: late, for_ms: 9, after_ms: 7",
            "at_ms: 5, kind: recover",
            "at_ms: 5, kind: lose, for_ms: 9",
            "at_ms: 5, kind: drain, node: n1",
            "at_ms: 5, kind: recover, node: n1",
            "at_ms: 5, kind: twice, for_ms: 1, after_ms: 7",
            "at_ms: 5, kind: explode",
            "kind: recover",
            "at_ms: -1, kind: recover",
            "at_ms: 99999999999999999, kind: recover",
            "at_ms: 5, kind: recover, colour: red",
        ] {
            match parse(&format!("faults:\n  - {{{entry}}}\n"), "f") {
                Ok(faults) => writeln!(out, "{:?}", faults.list[0].kind).unwrap(),
                Err(error) => writeln!(out, "{error}").unwrap(),
            }
        }
        expect_test::expect![[r#"
            Lose { node: "n1", for_ms: 9 }
            Late { for_ms: 9, after_ms: 7 }
            Recover
            f:2: node is missing
            f:2: for_ms is missing
            f:2: node is n1, but a fault of this kind does not have node. Remove the field
            f:2: after_ms is 7, but a fault of this kind does not have after_ms. Remove the field
            f:2: unknown variant `explode`, expected one of lose, drain, reconnect, recover, release-unknown, late, twice
            f:2: missing field `at_ms`
            f:2: invalid u64
            f:2: at_ms is 99999999999999999, expected at most 1000000000000000 ms
            f:2: unknown field `colour`, expected one of at_ms, kind, node, for_ms, after_ms
        "#]].assert_eq(&out);
    }
}
