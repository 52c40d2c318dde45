//! JSON documents by their members, without reading the values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of a JSON object in their order, each with its text.
#[derive(Debug)]
pub(in crate::inventory::history) struct ObjectMembers<'d>(
    pub(in crate::inventory::history) Vec<(Cow<'d, str>, &'d RawValue)>,
);

impl<'d> ObjectMembers<'d> {
    /// Reads an object.
    pub(in crate::inventory::history) fn read(text: &'d str) -> Result<Self, serde_json::Error> {
        Self::read_until(text, |_, _| false)
    }

    /// Reads the members of two objects up to the last one in which they differ.
    ///
    /// Most changes are near the beginning of a long document.
    pub(in crate::inventory::history) fn read_differing(
        before: &'d str,
        after: &'d str,
    ) -> Result<(Self, Self), serde_json::Error> {
        let same = common_end(before.as_bytes(), after.as_bytes());
        // A member within the common end is followed by the same members of both, since both end there.
        let read = |text: &'d str| {
            let end = text.as_ptr().addr() + text.len() - same;
            Self::read_until(text, |_, value| value.get().as_ptr().addr() + value.get().len() >= end)
        };
        Ok((read(before)?, read(after)?))
    }

    /// Returns the text of a member that is present, without reading the members behind it.
    pub(in crate::inventory::history) fn find(
        text: &'d str,
        name: &str,
    ) -> Result<Option<&'d RawValue>, serde_json::Error> {
        let members = Self::read_until(text, |known, _| known == name)?;
        let last = members.0.last().filter(|(known, value)| known == name && value.get() != "null");
        Ok(last.map(|(_, value)| *value))
    }

    /// Reads the members up to the first one that is the last.
    fn read_until(
        text: &'d str,
        is_last: impl Fn(&str, &RawValue) -> bool,
    ) -> Result<Self, serde_json::Error> {
        let mut members = Vec::with_capacity(32);
        let mut is_done = false;
        let reader = MembersReader { members: &mut members, is_last, is_done: &mut is_done };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = reader.deserialize(&mut deserializer);
        if !is_done {
            read.and_then(|()| deserializer.end())?;
        }
        Ok(Self(members))
    }

    /// Returns the members that are not null. Null members count as missing: a document may leave them out.
    pub(in crate::inventory::history) fn present(&self) -> impl Iterator<Item = (&str, &'d RawValue)> {
        let members = self.0.iter().map(|(name, value)| (&**name, *value));
        members.filter(|(_, value)| value.get() != "null")
    }

    /// Returns the text of a member that is present. It is most often the `next` one, which is moved behind it.
    ///
    /// Two documents of the same kind have nearly the same members in the same order.
    pub(in crate::inventory::history) fn get_next(
        &self,
        name: &str,
        next: &mut usize,
    ) -> Option<&'d RawValue> {
        let is_of = |(known, _): &(Cow<'d, str>, &'d RawValue)| known == name;
        let place = Some(*next).filter(|next| self.0.get(*next).is_some_and(is_of));
        let place = place.or_else(|| self.0.iter().position(is_of))?;
        *next = place + 1;
        let (_, value) = self.0.get(place)?;
        Some(*value).filter(|value| value.get() != "null")
    }
}

/// The size of the pieces in which the ends of documents are compared, in bytes.
const COMPARED_AT_ONCE: usize = 64;

/// Returns the number of bytes at the end that two texts have in common.
fn common_end(left: &[u8], right: &[u8]) -> usize {
    let pieces = left.rchunks_exact(COMPARED_AT_ONCE).zip(right.rchunks_exact(COMPARED_AT_ONCE));
    let equal = pieces.take_while(|(left, right)| left == right).count() * COMPARED_AT_ONCE;
    let rest = |text: &'_ [u8]| text.len() - equal;
    let (left, right) = (left.iter().take(rest(left)).rev(), right.iter().take(rest(right)).rev());
    equal + left.zip(right).take_while(|(left, right)| left == right).count()
}

/// Reads the members of an object, up to the first one that is the last. It then ends with an error, which is none.
struct MembersReader<'m, 'd, L> {
    members: &'m mut Vec<(Cow<'d, str>, &'d RawValue)>,
    is_last: L,
    is_done: &'m mut bool,
}

impl<'de, L: Fn(&str, &RawValue) -> bool> DeserializeSeed<'de> for MembersReader<'_, 'de, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, L: Fn(&str, &RawValue) -> bool> Visitor<'de> for MembersReader<'_, 'de, L> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            *self.is_done = (self.is_last)(&name, value);
            self.members.push((name, value));
            if *self.is_done {
                return Err(A::Error::custom("the rest is not read"));
            }
        }
        Ok(())
    }
}

/// The name of a member, borrowed unless it has escapes.
struct Name<'d>(Cow<'d, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// A part of a document: an element of a list that has an id.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory::history) struct Part<'d> {
    pub(in crate::inventory::history) text: &'d RawValue,
    pub(in crate::inventory::history) id: &'d str,
}

impl<'d> Part<'d> {
    /// Reads an element. `None`: it is no object with an id.
    pub(in crate::inventory::history) fn read(text: &'d RawValue) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct WithId<'d> {
            id: &'d str,
        }
        let WithId { id } = serde_json::from_str(text.get()).ok()?;
        Some(Self { text, id })
    }
}

/// Returns the texts of the elements of a list. `None`: the value is no list.
pub(in crate::inventory::history) fn elements(text: &RawValue) -> Option<Vec<&RawValue>> {
    if text.get().starts_with('[') { serde_json::from_str(text.get()).ok() } else { None }
}

/// Returns whether two texts have the same value, however they are written.
pub(in crate::inventory::history) fn are_equal(left: &RawValue, right: &RawValue) -> bool {
    let value = |text: &RawValue| serde_json::from_str::<Value>(text.get()).ok();
    left.get() == right.get() || value(left) == value(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(members: &ObjectMembers<'_>) -> Vec<String> {
        members.0.iter().map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn differing_members_are_read_up_to_the_last_one() {
        let document = |name: &str, list: usize| {
            let rest = (0..20).map(|number| format!(r#"{{"id":{number},"text":"a \"quoted\" }} text"}}"#));
            let rest: Vec<String> = rest.take(list).collect();
            format!(r#"{{"id":1,"name":"{name}","list":[{}],"custom":{{"a":[1,2]}}}}"#, rest.join(","))
        };
        let (before, after) = (document("a", 20), document("bcd", 20));
        let (former, latter) = ObjectMembers::read_differing(&before, &after).unwrap();
        assert_eq!(names(&latter), ["id", "name"]);
        assert_eq!(names(&former), names(&latter));
        let (before, after) = (document("a", 20), document("a", 19));
        let (former, latter) = ObjectMembers::read_differing(&before, &after).unwrap();
        assert_eq!(names(&former).last(), names(&latter).last());
        assert!(names(&latter).contains(&"list".to_owned()));
        let (former, latter) = ObjectMembers::read_differing(&before, &before).unwrap();
        assert_eq!(names(&former), names(&latter));
    }

    #[test]
    fn members_of_damaged_documents_are_refused() {
        for text in ["", "[]", r#"{"id":1"#, r#"{"id":1,}"#] {
            assert!(ObjectMembers::read(text).is_err(), "{text}");
            assert!(ObjectMembers::find(text, "name").is_err(), "{text}");
        }
        assert_eq!(ObjectMembers::find(r#"{"name":null}"#, "name").unwrap().map(RawValue::get), None);
    }
}
