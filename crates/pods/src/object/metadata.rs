//! Metadata that all objects have.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

use super::text::{Labels, List, Text, read_map, unique};

/// Names, labels, and times of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata {
    /// Name of the object.
    #[serde(deserialize_with = "unique")]
    pub name: Text,
    /// Namespace, which is empty for an object of the cluster.
    pub namespace: Text,
    /// Unique ID, which a later object of the same name does not have.
    #[serde(deserialize_with = "unique")]
    pub uid: Text,
    /// Version of the object. A watch takes it out, because it differs after each write, whatever was written.
    #[serde(deserialize_with = "unique")]
    pub resource_version: Text,
    /// Labels.
    pub labels: Labels,
    /// Annotations that Headroom reads. Others are not stored.
    #[serde(deserialize_with = "annotations")]
    pub annotations: Labels,
    /// Owners of the object.
    pub owner_references: List<OwnerReference>,
    /// When the object was created.
    #[serde(deserialize_with = "timestamp")]
    pub creation_timestamp: Option<Timestamp>,
    /// When the deletion was requested.
    #[serde(deserialize_with = "timestamp")]
    pub deletion_timestamp: Option<Timestamp>,
}

impl Metadata {
    /// Returns whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Returns the owner that controls the object.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }
}

/// An owner of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OwnerReference {
    /// Kind of the owner, such as `DaemonSet`.
    pub kind: Text,
    /// Name of the owner.
    pub name: Text,
    /// Unique ID of the owner.
    pub uid: Text,
    /// Whether the owner controls the object.
    pub controller: bool,
    /// Group and version of the kind.
    pub api_version: Text,
    /// Whether the owner stays until this object is gone.
    pub block_owner_deletion: bool,
}

/// Domains of the annotations that Headroom reads.
const ANNOTATION_DOMAINS: [&str; 6] = [
    "yunikorn.apache.org",
    "pv.kubernetes.io",
    "volume.kubernetes.io",
    "volume.beta.kubernetes.io",
    "storage.alpha.kubernetes.io",
    "resource.kubernetes.io",
];

/// Returns whether an annotation is in one of [`ANNOTATION_DOMAINS`] or their subdomains.
fn is_read(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| {
        ANNOTATION_DOMAINS.iter().any(|read| {
            domain.strip_suffix(read).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    })
}

fn annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    read_map(deserializer, is_read)
}

/// A point in time, in seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Reads an RFC 3339 text such as `2023-11-14T22:13:20Z`. Fractions of a second are dropped.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |range: std::ops::Range<usize>| -> Option<i64> {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let is_at = |position: usize, marks: &[u8]| {
            text.as_bytes().get(position).is_some_and(|byte| marks.contains(byte))
        };
        let marks: [(usize, &[u8]); 5] =
            [(4, b"-"), (7, b"-"), (10, b"Tt"), (13, b":"), (16, b":")];
        if !marks.iter().all(|(position, mark)| is_at(*position, mark)) {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let valid = (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        let zone = text.get(19..)?;
        let zone = match zone.strip_prefix('.') {
            Some(fraction) => {
                fraction.trim_start_matches(|character: char| character.is_ascii_digit())
            }
            None => zone,
        };
        let local = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        valid.then_some(Self(local - zone_seconds(zone)?))
    }
}

/// Returns the seconds by which a zone such as `Z` or `+02:00` is ahead of UTC.
fn zone_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let number = |digits: &str| -> Option<i64> {
        (digits.len() == 2).then(|| digits.parse::<u8>().ok()).flatten().map(i64::from)
    };
    Some(sign * (number(hours)? * 3600 + number(minutes)? * 60))
}

/// Returns the days between 1970-01-01 and a day of the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // The year starts in March here, so that the leap day is its last day.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Reads a time. Null, an empty text, and a text that is no time are absent.
pub(super) fn timestamp<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    struct Reader;

    impl Visitor<'_> for Reader {
        type Value = Option<Timestamp>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a time")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Timestamp::parse(text))
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Reader)
}

/// Reads a value. Null is its default.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_with_its_zone() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2023-11-14T22:13:20Z", Some(1_700_000_000)),
            ("2023-11-14T23:13:20.123456+01:00", Some(1_700_000_000)),
            ("2000-02-29T00:00:00Z", Some(951_782_400)),
            ("0001-01-01T00:00:00Z", Some(-62_135_596_800)),
            ("2023-13-14T22:13:20Z", None),
            ("2023-11-14", None),
            ("2023-11-14T22:13:20", None),
            ("20é3-11-14T22:13:20Z", None),
            ("", None),
        ] {
            assert_eq!(Timestamp::parse(text), seconds.map(Timestamp), "{text}");
        }
    }

    #[test]
    fn annotations_that_no_rule_reads_are_not_stored() {
        let text = r#"{"annotations":{"yunikorn.apache.org/queue":"a","internal.yunikorn.apache.org/placeholder":"true",
            "kubectl.kubernetes.io/last-applied-configuration":"{}","evil-yunikorn.apache.org/queue":"b","x":"y"}}"#;
        let metadata: Metadata = serde_json::from_str(text).unwrap();
        assert_eq!(metadata.annotations.len(), 2);
        assert!(metadata.annotations.contains("yunikorn.apache.org/queue"));
    }
}
