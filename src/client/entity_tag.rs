//! Entity tags, by which a change is refused if the record has changed since it was read.

use std::fmt;
use std::str::FromStr;

use http::header::{ETAG, IF_MATCH};
use http::{HeaderMap, HeaderValue};

use super::call::ClientCall;

/// The entity tag of one state of a record. Its text form includes the quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(HeaderValue);

/// The error for text that is not an entity tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an entity tag in quotes")]
#[non_exhaustive]
pub struct EntityTagError;

impl EntityTag {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(ETAG)?.to_str().ok()?.parse().ok()
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl FromStr for EntityTag {
    type Err = EntityTagError;

    fn from_str(text: &str) -> Result<Self, EntityTagError> {
        let opaque = text.strip_prefix("W/").unwrap_or(text);
        let is_quoted = opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"');
        let header = is_quoted.then(|| HeaderValue::from_str(text).ok()).flatten();
        header.map(Self).ok_or(EntityTagError)
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.to_str().unwrap_or_default())
    }
}

impl ClientCall {
    pub(super) fn if_match(self, tag: Option<&EntityTag>) -> Self {
        match tag {
            Some(tag) => self.header(IF_MATCH, tag.header()),
            None => self,
        }
    }
}
