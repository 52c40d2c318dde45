//! The shape in which a list of hosts is sent. A list has some of the fields of hosts, in an envelope or as JSON Lines.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::JSON;
use crate::inventory::{DocumentPages, Documents, Error, Inventory};
use crate::service::input::Accept;

/// The media type of JSON Lines.
pub(in crate::service) const LINES: &str = "application/x-ndjson";

/// How documents are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Representation {
    /// As a list in an envelope.
    Envelope,
    /// Each on a line of its own.
    Lines,
}

impl Representation {
    /// Returns the representation that the sender of a request prefers. Only whole lists are sent as lines.
    pub(in crate::service) fn of(request: &Parts, is_whole: bool) -> Self {
        if is_whole && Accept::of(request).choose(JSON, &[LINES]) == LINES {
            Self::Lines
        } else {
            Self::Envelope
        }
    }
}

/// Top-level fields of hosts.
pub(in crate::service) type FieldNames = Vec<String>;

/// The shape of a list.
#[derive(Clone, Debug)]
pub(in crate::service) struct Shape {
    /// The fields to keep; `None`: all.
    fields: Option<Arc<FieldNames>>,
    representation: Representation,
}

/// Pages of documents in a shape.
pub(in crate::service) struct Shaped<P> {
    pub(in crate::service) pages: P,
    pub(in crate::service) shape: Shape,
    pub(in crate::service) inventory: Inventory,
    pub(in crate::service) organization: Uuid,
}

impl<P: DocumentPages> DocumentPages for Shaped<P> {
    fn is_finished(&self) -> bool {
        self.pages.is_finished()
    }

    async fn next(&mut self) -> Result<Documents, Error> {
        let documents = self.pages.next().await?;
        self.shape.apply(documents, &self.inventory, self.organization).await
    }
}

impl Shape {
    pub(in crate::service) fn new(fields: Option<FieldNames>, representation: Representation) -> Self {
        Self { fields: fields.map(Arc::new), representation }
    }

    /// Brings documents of an organization into this shape, on a blocking thread if they are large.
    pub(in crate::service) async fn apply(
        &self,
        documents: Documents,
        inventory: &Inventory,
        organization: Uuid,
    ) -> Result<Documents, Error> {
        if self.fields.is_none() && self.representation == Representation::Envelope {
            return Ok(documents);
        }
        let (shape, bytes) = (self.clone(), documents.bodies.iter().map(Bytes::len).sum());
        let apply = move || {
            let (fields, representation) = (shape.fields.as_deref(), shape.representation);
            let bodies = documents.bodies.iter().map(|body| shape_document(body, fields, representation));
            Ok(Documents { bodies: bodies.collect::<Result<_, _>>()?, ..documents })
        };
        inventory.offload(organization, bytes, apply).await?
    }
}

/// Shapes a document that is preceded by a comma.
fn shape_document(
    body: &Bytes,
    fields: Option<&FieldNames>,
    representation: Representation,
) -> Result<Bytes, Error> {
    let document = body.strip_prefix(b",").unwrap_or(body);
    let mut shaped = Vec::with_capacity(if fields.is_some() { 256 } else { body.len() + 1 });
    if representation == Representation::Envelope {
        shaped.push(b',');
    }
    match fields {
        Some(fields) => {
            let mut deserializer = serde_json::Deserializer::from_slice(document);
            let selection = Selection { fields, selected: &mut shaped };
            deserializer.deserialize_map(selection).map_err(Error::internal)?;
        }
        None => shaped.extend_from_slice(document),
    }
    if representation == Representation::Lines {
        shaped.push(b'\n');
    }
    Ok(shaped.into())
}

/// Copies some fields of an object, in its order.
struct Selection<'s> {
    fields: &'s FieldNames,
    selected: &'s mut Vec<u8>,
}

impl<'de> Visitor<'de> for Selection<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut separator = b'{';
        while let Some((name, value)) = map.next_entry::<&str, &RawValue>()? {
            if self.fields.iter().any(|field| field == name) {
                self.selected.push(separator);
                separator = b',';
                self.selected.extend([b"\"", name.as_bytes(), b"\":", value.get().as_bytes()].concat());
            }
        }
        if separator == b'{' {
            self.selected.push(b'{');
        }
        self.selected.push(b'}');
        Ok(())
    }
}
