//! The shape in which a list of hosts is sent. A list has some of the fields of hosts, in an envelope or as JSON Lines.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
#[cfg(feature = "csv")]
use http::HeaderValue;
#[cfg(feature = "csv")]
use http::header::CONTENT_DISPOSITION;
use http::request::Parts;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::body::ResponseBody;
#[cfg(feature = "csv")]
use super::csv::{self, CUSTOM, CustomColumns};
use super::entity_tag::EntityTag;
use super::{JSON, Outcome};
#[cfg(feature = "csv")]
use crate::csv::MEDIA_TYPE;
use crate::inventory::{DocumentPages, Documents, Error, Inventory, PendingDocuments};
use crate::model::OrganizationId;
use crate::service::input::Accept;

/// The media type of JSON Lines.
pub(in crate::service) const LINES: &str = "application/x-ndjson";

/// The media type of a CSV, as a response states it.
#[cfg(feature = "csv")]
const CSV: &str = "text/csv; charset=utf-8";

/// How documents are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Representation {
    /// As a list in an envelope.
    Envelope,
    /// Each on a line of its own.
    Lines,
    /// As a CSV with a header.
    #[cfg(feature = "csv")]
    Csv,
}

/// The media types of a list beside JSON.
const MEDIA_TYPES_BESIDE_JSON: &[&str] = &[
    #[cfg(feature = "csv")]
    MEDIA_TYPE,
];

/// The media types of a whole list of hosts beside JSON.
const HOST_MEDIA_TYPES_BESIDE_JSON: &[&str] = &[
    LINES,
    #[cfg(feature = "csv")]
    MEDIA_TYPE,
];

impl Representation {
    /// Returns the representation that the sender of a request for hosts prefers. Only whole lists are sent as lines.
    pub(in crate::service) fn of_hosts(request: &Parts, is_whole: bool) -> Self {
        Self::chosen(request, if is_whole { HOST_MEDIA_TYPES_BESIDE_JSON } else { MEDIA_TYPES_BESIDE_JSON })
    }

    /// Returns the representation that the sender of a request for parts prefers.
    pub(in crate::service) fn of_parts(request: &Parts) -> Self {
        Self::chosen(request, MEDIA_TYPES_BESIDE_JSON)
    }

    fn chosen(request: &Parts, others: &[&'static str]) -> Self {
        match Accept::of(request).choose(JSON, others) {
            LINES => Self::Lines,
            #[cfg(feature = "csv")]
            MEDIA_TYPE => Self::Csv,
            _ => Self::Envelope,
        }
    }

    /// Returns the tag of a list in this representation, from the tag of its envelope.
    pub(in crate::service) fn tag(self, tag: Option<EntityTag>) -> Option<EntityTag> {
        match self {
            Self::Envelope => tag,
            Self::Lines => tag?.of_part("lines"),
            #[cfg(feature = "csv")]
            Self::Csv => tag?.of_part("csv"),
        }
    }

    /// Returns whether a header links to the next page, because the body does not name it.
    pub(in crate::service) const fn has_page_link(self) -> bool {
        match self {
            Self::Envelope | Self::Lines => false,
            #[cfg(feature = "csv")]
            Self::Csv => true,
        }
    }

    /// Creates the response to a request with a body of this representation.
    #[cfg_attr(not(feature = "csv"), allow(unused_variables, reason = "only a CSV has a name"))]
    pub(in crate::service) fn outcome(self, request: &Parts, body: ResponseBody) -> Outcome {
        match self {
            Self::Envelope => Outcome::new(body),
            Self::Lines => Outcome::of_type(LINES, body),
            #[cfg(feature = "csv")]
            Self::Csv => Outcome::of_type(CSV, body).with_header(CONTENT_DISPOSITION, attachment(request)),
        }
    }
}

/// Returns the header by which browsers save a CSV. The file is named after the list.
#[cfg(feature = "csv")]
fn attachment(request: &Parts) -> HeaderValue {
    let list = request.uri.path().rsplit('/').next().unwrap_or("");
    let attachment = HeaderValue::try_from(format!("attachment; filename=\"{list}.csv\""));
    attachment.unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

/// Top-level fields of records.
pub(in crate::service) type FieldNames = Vec<String>;

/// The shape of a list.
#[derive(Clone, Debug)]
pub(in crate::service) struct ListShape {
    /// The fields to keep; `None`: all.
    fields: Option<Arc<FieldNames>>,
    representation: Representation,
    /// The custom fields with a column of their own, in a CSV.
    #[cfg(feature = "csv")]
    custom: Arc<CustomColumns>,
}

/// Pages of documents in a shape.
pub(in crate::service) struct Shaped {
    pub(in crate::service) pages: Box<dyn DocumentPages>,
    pub(in crate::service) shape: ListShape,
    pub(in crate::service) inventory: Inventory,
    pub(in crate::service) organization: OrganizationId,
    /// Whether the first documents have been read.
    pub(in crate::service) has_begun: bool,
}

impl DocumentPages for Shaped {
    fn is_finished(&self) -> bool {
        self.pages.is_finished()
    }

    fn unread(&self) -> usize {
        self.pages.unread()
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        Box::pin(async move {
            let documents = self.pages.next().await?;
            let mut documents = self.shape.apply(documents, &self.inventory, self.organization).await?;
            if !std::mem::replace(&mut self.has_begun, true) {
                documents.bodies = self.shape.with_header(documents.bodies);
            }
            Ok(documents)
        })
    }
}

impl ListShape {
    pub(in crate::service) fn new(fields: Option<FieldNames>, representation: Representation) -> Self {
        Self {
            fields: fields.map(Arc::new),
            representation,
            #[cfg(feature = "csv")]
            custom: Arc::default(),
        }
    }

    /// Sets the columns of a CSV whose fields the client has not selected.
    #[cfg(feature = "csv")]
    pub(in crate::service) fn or_columns(self, columns: impl FnOnce() -> FieldNames) -> Self {
        match self {
            Self { fields: None, representation: Representation::Csv, .. } => {
                Self::new(Some(columns()), Representation::Csv)
            }
            shape => shape,
        }
    }

    /// Returns whether the custom fields of hosts get columns of their own.
    #[cfg(feature = "csv")]
    pub(in crate::service) fn has_custom_columns(&self) -> bool {
        let has_custom = |fields: &Arc<FieldNames>| fields.iter().any(|field| field == CUSTOM);
        self.representation == Representation::Csv && self.fields.as_ref().is_some_and(has_custom)
    }

    /// Sets the custom fields that have a column of their own.
    #[cfg(feature = "csv")]
    pub(in crate::service) fn with_custom_columns(self, custom: CustomColumns) -> Self {
        Self { custom: Arc::new(custom), ..self }
    }

    pub(in crate::service) const fn representation(&self) -> Representation {
        self.representation
    }

    /// Returns the header line of a CSV, if this is one.
    fn header(&self) -> Option<Bytes> {
        #[cfg(feature = "csv")]
        if let (Representation::Csv, Some(columns)) = (self.representation, &self.fields) {
            return Some(csv::header(columns, &self.custom));
        }
        None
    }

    /// Puts the header line of a CSV in front of the documents.
    pub(in crate::service) fn with_header(&self, mut bodies: Vec<Bytes>) -> Vec<Bytes> {
        bodies.splice(..0, self.header());
        bodies
    }

    /// Brings documents of an organization into this shape, on a blocking thread if they are large.
    pub(in crate::service) async fn apply(
        &self,
        documents: Documents,
        inventory: &Inventory,
        organization: OrganizationId,
    ) -> Result<Documents, Error> {
        if self.fields.is_none() && self.representation == Representation::Envelope {
            return Ok(documents);
        }
        let (shape, bytes) = (self.clone(), documents.bodies.iter().map(Bytes::len).sum());
        let apply = move || {
            let bodies = documents.bodies.iter().map(|body| shape.document(body));
            Ok(Documents { bodies: bodies.collect::<Result<_, _>>()?, ..documents })
        };
        inventory.offload(organization, bytes, apply).await?
    }

    /// Shapes a document that is preceded by a comma.
    fn document(&self, body: &Bytes) -> Result<Bytes, Error> {
        let (fields, representation) = (self.fields.as_deref(), self.representation);
        let document = body.strip_prefix(b",").unwrap_or(body);
        #[cfg(feature = "csv")]
        if let (Representation::Csv, Some(columns)) = (representation, fields) {
            return csv::row(document, columns, &self.custom).map(Bytes::from);
        }
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
