//! A JSON value of bounded size.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

/// A JSON value. `null` is an empty list.
#[derive(Debug, PartialEq)]
pub(super) enum JsonNode {
    Text(String),
    Bool(bool),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl JsonNode {
    /// Returns the elements of a list, or the value itself.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Self> {
        match self {
            Self::List(list) => list.iter(),
            other => std::slice::from_ref(other).iter(),
        }
    }

    /// Returns a field of the object, or of the first object in the list.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let fields = self.elements().find_map(Self::fields)?;
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the fields of an object.
    pub(super) fn fields(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(fields) => Some(fields),
            Self::Text(_) | Self::Bool(_) | Self::List(_) => None,
        }
    }

    /// Returns the text: the value itself, or the field `value` of the object.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bool(_) => None,
            Self::List(list) => list.first().filter(|first| !matches!(first, Self::List(_)))?.text(),
            Self::Object(_) => match self.get("value")? {
                Self::Text(text) => Some(text),
                _ => None,
            },
        }
    }

    /// Returns whether this is an object, or a list of objects, with a neighbor.
    pub(super) fn is_interface(&self) -> bool {
        self.get("chassis").or_else(|| self.get("port")).is_some_and(|value| !matches!(value, Self::Text(_)))
    }
}

/// Reads a value while the budget of values lasts.
pub(super) struct NodeSeed<'b> {
    pub(super) budget: &'b Cell<u32>,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = JsonNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonNode, D::Error> {
        match self.budget.get().checked_sub(1) {
            Some(rest) => self.budget.set(rest),
            None => return Err(de::Error::custom("an interface has too many values")),
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = JsonNode;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonNode, E> {
        Ok(JsonNode::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonNode, E> {
        Ok(JsonNode::Text(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonNode, E> {
        Ok(JsonNode::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonNode, E> {
        Ok(JsonNode::Text(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonNode, E> {
        Ok(JsonNode::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<JsonNode, E> {
        Ok(JsonNode::List(Vec::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonNode, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element_seed(NodeSeed { budget: self.budget })? {
            nodes.push(node);
        }
        Ok(JsonNode::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonNode, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key()? {
            fields.push((key, map.next_value_seed(NodeSeed { budget: self.budget })?));
        }
        Ok(JsonNode::Object(fields))
    }
}
