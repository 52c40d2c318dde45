//! JSON documents by their members, without reading the values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
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
        serde_json::from_str(text)
    }

    /// Returns the members that are not null. Null members count as missing: a document may leave them out.
    pub(in crate::inventory::history) fn present(&self) -> impl Iterator<Item = (&str, &'d RawValue)> {
        let members = self.0.iter().map(|(name, value)| (&**name, *value));
        members.filter(|(_, value)| value.get() != "null")
    }

    /// Returns the text of a member that is present.
    pub(in crate::inventory::history) fn get(&self, name: &str) -> Option<&'d RawValue> {
        self.get_next(name, &mut 0)
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

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(32);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(ObjectMembers(members))
            }
        }

        deserializer.deserialize_map(Reader)
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
