//! The entries of both config maps as one map.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::object::{ConfigMap, Text};

/// Entries of the config maps, by key.
pub type Entries = BTreeMap<Text, Text>;

/// Greatest size of a decompressed entry, in bytes. A config map has at most 1 MiB.
const DECOMPRESSED_MAX: u64 = 16 << 20;

const GZIP: &str = "gz";

/// A compressed entry that is unreadable. The last readable value stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptEntry {
    /// Key in the config map.
    pub key: Text,
    /// Error of the decoder.
    pub error: String,
}

/// Returns the entries of a config map, and those that are unreadable.
///
/// Binary entries are compressed. They have the suffix `.gz`, are stored without the suffix, and take precedence. A
/// binary entry with another suffix is empty. `last` has the last readable entries.
pub fn entries(map: &ConfigMap, last: &Entries) -> (Entries, Vec<CorruptEntry>) {
    let mut entries: Entries =
        map.data.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut corrupt = Vec::new();
    for (key, binary) in map.binary_data.iter() {
        let (stem, suffix) = key.rsplit_once('.').unwrap_or((key, key));
        if !suffix.eq_ignore_ascii_case(GZIP) {
            entries.insert(stem.into(), Text::default());
            continue;
        }
        match decompress(&binary.0) {
            Ok(text) => {
                entries.insert(stem.into(), text.into());
            }
            Err(error) => {
                corrupt.push(CorruptEntry { key: key.clone(), error });
                if let Some(value) = last.get(stem) {
                    entries.insert(stem.into(), value.clone());
                }
            }
        }
    }
    (entries, corrupt)
}

fn decompress(bytes: &[u8]) -> Result<String, String> {
    if bytes.is_empty() {
        return Err("the entry is empty".to_owned());
    }
    let mut text = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(DECOMPRESSED_MAX + 1);
    reader.read_to_end(&mut text).map_err(|error| error.to_string())?;
    if u64::try_from(text.len()).is_ok_and(|length| length > DECOMPRESSED_MAX) {
        return Err(format!("the entry has more than {DECOMPRESSED_MAX} bytes"));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Merges the entries of both config maps. Those of the second one win.
pub fn merge(defaults: &Entries, configs: &Entries) -> Entries {
    let mut merged = defaults.clone();
    merged.extend(configs.iter().map(|(key, value)| (key.clone(), value.clone())));
    merged
}
