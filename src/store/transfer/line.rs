//! Reads and writes the lines of an export: the header, the records, and the trailer.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_path_to_error::Segment;
use uuid::Uuid;

use super::{TransferError, TransferErrorKind};
use crate::model::Timestamp;
use crate::store::{Entry, Facets, Key, Link, Name, SortKey, Term, UniqueKey};

const FORMAT: &str = "toposcope-store";
const VERSION: u64 = 1;

/// Prefix of the last line. The line of a record starts with its kind instead.
const TRAILER_PREFIX: &[u8] = b"{\"records\":";

const FIELDS: [&str; 11] = [
    "kind",
    "id",
    "organization",
    "network",
    "expires_at",
    "links",
    "terms",
    "sort_keys",
    "unique_keys",
    "body",
    "body_base64",
];

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header<'a> {
    #[serde(borrow)]
    format: Cow<'a, str>,
    version: u64,
    /// The organization whose records the export has; `None`: those of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    organization: Option<Uuid>,
    /// The form of the facets of an organization's records.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    form: Value,
}

impl Header<'_> {
    pub(super) fn new(content: Option<(Uuid, Value)>) -> Self {
        let (organization, form) = content.unzip();
        Header {
            format: Cow::Borrowed(FORMAT),
            version: VERSION,
            organization,
            form: form.unwrap_or_default(),
        }
    }

    /// Checks that a line is the header of an export in the supported version. Returns the organization of its
    /// records and their form; `None`: those of all.
    pub(super) fn check(line: &[u8]) -> Result<Option<(Uuid, Value)>, TransferError> {
        let header = serde_json::from_slice::<Header<'_>>(line).ok();
        match header.filter(|header| header.format == FORMAT) {
            None => Err(TransferError::new(TransferErrorKind::NotAnExport)),
            Some(Header { version: VERSION, organization, form, .. }) => {
                Ok(organization.map(|id| (id, form)))
            }
            Some(_) => Err(TransferError::new(TransferErrorKind::UnknownVersion)),
        }
    }
}

/// The last line of an export.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trailer {
    pub(super) records: u64,
    /// Checksum of all preceding lines, including their line feeds.
    pub(super) crc32: u32,
}

impl Trailer {
    /// Returns whether a line is the trailer, as opposed to a record.
    pub(super) fn is(line: &[u8]) -> bool {
        line.starts_with(TRAILER_PREFIX)
    }

    pub(super) fn parse(line: &[u8]) -> Result<Self, TransferError> {
        serde_json::from_slice(line).map_err(|error| {
            let kind =
                if error.is_eof() { TransferErrorKind::Truncated } else { TransferErrorKind::Malformed };
            TransferError::new(kind)
        })
    }
}

/// The line of a record.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordLine<'a> {
    kind: NameText,
    id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    organization: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<(NameText, Uuid)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    terms: Vec<(NameText, Base64Text)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sort_keys: Vec<(NameText, Base64Text)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unique_keys: Vec<(NameText, Base64Text)>,
    #[serde(borrow, default, deserialize_with = "json", skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_base64: Option<Base64Text>,
}

/// Writes the line of a record, without the line feed.
pub(super) fn write(entry: Entry, line: &mut Vec<u8>) -> serde_json::Result<()> {
    let Entry { record, facets } = entry;
    let body = embeddable(&record.body);
    let body_base64 = if body.is_some() { None } else { Some(Base64Text(record.body.to_vec())) };
    let keys = facets.sort_keys.into_iter().map(|key| (NameText(key.name), Base64Text(key.value)));
    let unique_keys = facets
        .unique_keys
        .into_iter()
        .map(|unique_key| (NameText(unique_key.name), Base64Text(unique_key.value)));
    let record = RecordLine {
        kind: NameText(record.key.kind),
        id: record.key.id,
        organization: facets.organization,
        network: facets.network,
        expires_at: facets.expires_at,
        links: facets.links.into_iter().map(|link| (NameText(link.relation), link.target)).collect(),
        terms: facets.terms.into_iter().map(|term| (NameText(term.name), Base64Text(term.value))).collect(),
        sort_keys: keys.collect(),
        unique_keys: unique_keys.collect(),
        body,
        body_base64,
    };
    serde_json::to_writer(line, &record)
}

/// Parses the line of a record: its key, facets and body.
pub(super) fn parse(line: &[u8]) -> Result<(Key, Facets, Bytes), TransferError> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let read = serde_path_to_error::deserialize(&mut reader);
    let record: RecordLine<'_> = read.map_err(|error| TransferError::malformed(field(error.path())))?;
    reader.end().map_err(|_| TransferError::malformed(None))?;
    let body = match (record.body, record.body_base64) {
        (Some(json), None) => Bytes::copy_from_slice(json.get().as_bytes()),
        (None, Some(Base64Text(bytes))) => Bytes::from(bytes),
        _ => return Err(TransferError::malformed(Some("body"))),
    };
    let keys = record.sort_keys.into_iter().map(|(name, value)| SortKey::new(name.0, value.0));
    let facets = Facets {
        organization: record.organization,
        network: record.network,
        expires_at: record.expires_at,
        links: record.links.into_iter().map(|(relation, target)| Link::new(relation.0, target)).collect(),
        terms: record.terms.into_iter().map(|(name, value)| Term::new(name.0, value.0)).collect(),
        sort_keys: keys.collect(),
        unique_keys: record
            .unique_keys
            .into_iter()
            .map(|(name, value)| UniqueKey::new(name.0, value.0))
            .collect(),
    };
    Ok((Key::new(record.kind.0, record.id), facets, body))
}

/// Returns the body as JSON if embedding it in a line preserves its bytes. It must have no surrounding space and no
/// line break.
fn embeddable(body: &[u8]) -> Option<&RawValue> {
    let json: &RawValue = serde_json::from_slice(body).ok()?;
    let is_whole = json.get().len() == body.len();
    (is_whole && memchr::memchr2(b'\n', b'\r', body).is_none()).then_some(json)
}

/// Returns the known field of a path. An unknown name is not reported, because it may be secret.
fn field(path: &serde_path_to_error::Path) -> Option<&'static str> {
    let Some(Segment::Map { key }) = path.iter().next() else { return None };
    FIELDS.into_iter().find(|field| field == key)
}

/// Deserializes raw JSON; `null` becomes `Some`, because it is a valid body.
fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

struct NameText(Name);

impl Serialize for NameText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for NameText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Name::parse(&text).map(Self).ok_or_else(|| de::Error::custom("invalid name"))
    }
}

struct Base64Text(Vec<u8>);

impl Serialize for Base64Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Base64::encode_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Base64::decode_vec(&text).map(Self).map_err(de::Error::custom)
    }
}
