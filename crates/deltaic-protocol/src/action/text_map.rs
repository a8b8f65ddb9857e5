//! A small map of texts. A log has one for each of its files, most of them with one key or none: a tree would take half a kilobyte
//! for each.

use std::fmt;
use std::ops::Index;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Texts by key, in the order of the keys; `None` is JSON's null.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextMap(Vec<(String, Option<String>)>);

impl TextMap {
    /// An empty map.
    pub fn new() -> TextMap {
        TextMap::default()
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(own, _)| own.as_str().cmp(key))
    }

    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&Option<String>> {
        let at = self.place(key).ok()?;
        Some(&self.0[at].1)
    }

    /// Whether there is such a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.place(key).is_ok()
    }

    /// Gives a key a text; the one that it had.
    pub fn insert(&mut self, key: String, text: Option<String>) -> Option<Option<String>> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, text)),
            Err(at) => {
                if self.0.is_empty() {
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (key, text));
                None
            }
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<Option<String>> {
        let at = self.place(key).ok()?;
        Some(self.0.remove(at).1)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys and texts, in the order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &Option<String>)> {
        self.0.iter().map(|(key, text)| (key, text))
    }

    /// The keys, in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &String> {
        self.0.iter().map(|(key, _)| key)
    }

    /// The texts, in the order of the keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Option<String>> {
        self.0.iter().map(|(_, text)| text)
    }
}

impl fmt::Debug for TextMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The text of a key; `None` too where there is no such key.
impl Index<&str> for TextMap {
    type Output = Option<String>;

    fn index(&self, key: &str) -> &Option<String> {
        self.get(key).unwrap_or(&None)
    }
}

impl Extend<(String, Option<String>)> for TextMap {
    fn extend<I: IntoIterator<Item = (String, Option<String>)>>(&mut self, entries: I) {
        // Sorted once: a log may come with a map of very many keys.
        self.0.extend(entries);
        self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.0.dedup_by(|(key, text), (before, kept)| {
            let again = key == before;
            if again {
                std::mem::swap(text, kept);
            }
            again
        });
    }
}

impl FromIterator<(String, Option<String>)> for TextMap {
    fn from_iter<I: IntoIterator<Item = (String, Option<String>)>>(entries: I) -> TextMap {
        let mut map = TextMap::new();
        map.extend(entries);
        map
    }
}

impl<const N: usize> From<[(String, Option<String>); N]> for TextMap {
    fn from(entries: [(String, Option<String>); N]) -> TextMap {
        entries.into_iter().collect()
    }
}

impl IntoIterator for TextMap {
    type Item = (String, Option<String>);
    type IntoIter = std::vec::IntoIter<(String, Option<String>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a TextMap {
    type Item = (&'a String, &'a Option<String>);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, (String, Option<String>)>,
        fn(&'a (String, Option<String>)) -> (&'a String, &'a Option<String>),
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, text)| (key, text))
    }
}

impl Serialize for TextMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Numbers and the like, which some writers leave without quotes, are the text that stands there, as the reference reads them.
impl<'de> Deserialize<'de> for TextMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextMap, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = TextMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<TextMap, A::Error> {
                let mut entries = Vec::with_capacity(1);
                while let Some((key, value)) = access.next_entry()? {
                    let text = match value {
                        Value::Null => None,
                        Value::String(text) => Some(text),
                        other => Some(other.to_string()),
                    };
                    entries.push((key, text));
                }
                Ok(entries.into_iter().collect())
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::TextMap;

    proptest! {
        /// It is what a tree of the same entries is.
        #[test]
        fn it_behaves_as_an_ordered_map(
            entries in proptest::collection::vec(("[a-d]{0,2}", proptest::option::of("[x-z]{0,2}")), 0..12),
            gone in "[a-d]{0,2}",
        ) {
            let mut ours: TextMap = entries.iter().cloned().collect();
            let mut tree: BTreeMap<String, Option<String>> = entries.iter().cloned().collect();
            prop_assert_eq!(ours.remove(&gone), tree.remove(&gone));
            prop_assert_eq!(ours.len(), tree.len());
            prop_assert_eq!(ours.iter().collect::<Vec<_>>(), tree.iter().collect::<Vec<_>>());
            for (key, _) in &entries {
                prop_assert_eq!(ours.get(key), tree.get(key));
            }
            let text = serde_json::to_string(&ours).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&tree).unwrap());
            prop_assert_eq!(serde_json::from_str::<TextMap>(&text).unwrap(), ours);
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_counts() {
        let map: TextMap = serde_json::from_str(r#"{"b":"1","a":null,"b":"2","c":1.50}"#).unwrap();
        assert_eq!(
            format!("{map:?}"),
            r#"{"a": None, "b": Some("2"), "c": Some("1.50")}"#
        );
    }
}
