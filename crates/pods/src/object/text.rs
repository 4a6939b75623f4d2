//! Texts, lists, and maps of Kubernetes objects. Empty, null, and absent are the same.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::pool::shared;

/// A shared text. The empty text allocates nothing, and equal decoded texts share their memory.
#[derive(Clone, Default)]
pub struct Text(Option<Arc<str>>);

impl Text {
    /// Returns the text as a slice.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the text, or nothing if it is empty.
    pub fn non_empty(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self((!text.is_empty()).then(|| text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self((!text.is_empty()).then(|| text.into()))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) || one == two,
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text((!text.is_empty()).then(|| shared(text))))
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Text, E> {
                Ok(Text::default())
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// A text that no other object has, such as a UID. It is stored by itself.
#[derive(Default)]
struct Unique(Text);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<String>::deserialize(deserializer)?.unwrap_or_default().into()))
    }
}

/// Reads a text that no other object has.
pub(super) fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
    Unique::deserialize(deserializer).map(|unique| unique.0)
}

/// A list of fixed length. The empty list allocates nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct List<T>(Box<[T]>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Option::<Vec<T>>::deserialize(deserializer)?;
        Ok(Self(items.unwrap_or_default().into_boxed_slice()))
    }
}

/// A map that is sorted by key and has unique keys. The empty map allocates nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Map<V>(Box<[(Text, V)]>);

/// Labels, annotations, and node selectors.
pub type Labels = Map<Text>;

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<V> Map<V> {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        let position = self.0.binary_search_by(|(other, _)| other.as_str().cmp(key)).ok()?;
        Some(&self.0[position].1)
    }

    /// Returns whether the map has `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the keys and values, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &V)> + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn from_pairs(mut pairs: Vec<(Text, V)>) -> Self {
        // The sort is stable, and the last of equal keys counts.
        pairs.sort_by(|(one, _), (two, _)| one.cmp(two));
        pairs.reverse();
        pairs.dedup_by(|(later, _), (earlier, _)| later == earlier);
        pairs.reverse();
        Self(pairs.into_boxed_slice())
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V> FromIterator<(Text, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (Text, V)>>(pairs: I) -> Self {
        Self::from_pairs(pairs.into_iter().collect())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_map(deserializer, |_| true)
    }
}

/// Reads a map without the keys that `keeps` refuses. The values of refused keys are not stored.
pub(super) fn read_map<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    keeps: fn(&str) -> bool,
) -> Result<Map<V>, D::Error> {
    struct Reader<V>(fn(&str) -> bool, PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Reader<V> {
        type Value = Map<V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Map<V>, A::Error> {
            let mut pairs = Vec::new();
            while let Some(key) = map.next_key::<Text>()? {
                if (self.0)(&key) {
                    pairs.push((key, map.next_value()?));
                } else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            Ok(Map::from_pairs(pairs))
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Map<V>, E> {
            Ok(Map::default())
        }
    }

    deserializer.deserialize_any(Reader(keeps, PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_absent_are_empty() {
        assert_eq!(serde_json::from_str::<Text>("null").unwrap(), Text::default());
        assert!(serde_json::from_str::<List<Text>>("null").unwrap().is_empty());
        assert!(serde_json::from_str::<Labels>("null").unwrap().is_empty());
    }

    #[test]
    fn a_map_is_sorted_and_the_last_of_equal_keys_counts() {
        let map: Labels = serde_json::from_str(r#"{"b":"1","a":"2","b":"3","":null}"#).unwrap();
        let pairs: Vec<_> = map.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("", ""), ("a", "2"), ("b", "3")]);
        assert_eq!(map.get("b").map(Text::as_str), Some("3"));
        assert_eq!(map.get("c"), None);
    }

    #[test]
    fn a_wrong_shape_is_an_error() {
        assert!(serde_json::from_str::<Text>("{}").is_err());
        assert!(serde_json::from_str::<Labels>("[1]").is_err());
        assert!(serde_json::from_str::<List<Text>>("3").is_err());
    }
}
