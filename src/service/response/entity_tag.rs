use base64ct::{Base64UrlUnpadded, Encoding};
#[cfg(feature = "topology")]
use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::ApiError;
use crate::access::Caller;
use crate::invariant::Invariant;
use crate::inventory::Error;
#[cfg(feature = "topology")]
use crate::model::OrganizationId;
use crate::store::Revision;

/// Number of bytes of the digest in a tag.
///
/// With 144 bits, tags of different states do not collide by chance.
const LENGTH: usize = 18;

/// The `ETag` of one state of a list or of a record.
///
/// The tag of a list is a digest of everything that the response is made from: the revision of the records, the
/// caller's organization and scope, the query and the versions. It reveals none of these. It is weak, because an
/// intermediary may compress the response. The tag of a record is a digest of the record, and strong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::service) struct EntityTag(HeaderValue);

impl EntityTag {
    /// Creates the tag of a list. All callers with the same organization and scope see such a list alike.
    pub(in crate::service) fn of_list(
        revision: Revision,
        caller: &Caller,
        request: &Parts,
        server_version: &str,
    ) -> Option<Self> {
        weak(digest_of_list(revision, caller, request, server_version))
    }

    /// Creates the tag of an answer about the past. The part of the history that a caller may see depends on the level, too.
    pub(in crate::service) fn of_past(
        [changes, runs]: [Revision; 2],
        caller: &Caller,
        request: &Parts,
        server_version: &str,
    ) -> Option<Self> {
        let tag = Self::of_personal_list(changes, caller, request, server_version)?;
        tag.of_part(&runs.number().to_string())
    }

    /// Creates the tag of a list that differs between callers of the same scope.
    pub(in crate::service) fn of_personal_list(
        revision: Revision,
        caller: &Caller,
        request: &Parts,
        server_version: &str,
    ) -> Option<Self> {
        let mut digest = digest_of_list(revision, caller, request, server_version);
        digest.update([0]);
        digest.update(caller.user_id().as_bytes());
        digest.update(caller.permission().to_string());
        weak(digest)
    }

    /// Creates the tag of a topology. Pages are cached by tag, so that it depends on the path as well.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn of_topology(
        revision: &[u128],
        organization: OrganizationId,
        request: &Parts,
        server_version: &str,
    ) -> Option<Self> {
        let digest = digest_of_topology(revision, server_version).chain_update(organization.as_bytes());
        let path = request.uri.path();
        let digest = digest.chain_update((path.len() as u64).to_be_bytes()).chain_update(path);
        weak(digest.chain_update(request.uri.query().unwrap_or("")))
    }

    /// Creates the tag of a file from its content.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn of_content(content: &[u8]) -> Option<Self> {
        weak(Sha256::new().chain_update(content))
    }

    /// Returns the text of the tag, for a cache.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn into_text(self) -> Bytes {
        Bytes::copy_from_slice(self.0.as_bytes())
    }

    /// Returns the tag with a text that [`into_text`](Self::into_text) returned.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn of_text(text: &[u8]) -> Option<Self> {
        HeaderValue::from_bytes(text).ok().map(Self)
    }

    /// Creates the key under which the drawings of a share are cached, from the JSON of the share.
    ///
    /// It changes with every topology of the organization, so that it is no tag for viewers.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn of_share(
        revision: &[u128],
        share: &[u8],
        server_version: &str,
    ) -> Option<Self> {
        weak(digest_of_topology(revision, server_version).chain_update(share))
    }

    /// Returns the tag of a part of the response that has this tag. The part may also be another representation of the
    /// response.
    pub(in crate::service) fn of_part(&self, name: &str) -> Option<Self> {
        weak(Sha256::new().chain_update(name).chain_update(self.0.as_bytes()))
    }

    /// Creates the tag of a record, from its JSON in responses.
    ///
    /// The tag does not depend on when reports last showed the record or its parts. Otherwise every report would change
    /// it.
    pub(in crate::service) fn of_document(document: &[u8]) -> Result<Self, ApiError> {
        let mut digest = Sha256::new();
        without_last_seen(document, |text| digest.update(text));
        let tag = quoted("", digest);
        tag.map(Self).ok_or_else(ApiError::internal)
    }

    /// Creates the tag of a record.
    pub(in crate::service) fn of_record(record: &impl Serialize) -> Result<Self, ApiError> {
        Self::of_document(&serde_json::to_vec(record).map_err(|_| ApiError::internal())?)
    }

    /// Returns whether the request's `If-Match` and `If-None-Match` allow a change of the record.
    ///
    /// The former must name the record's tag or `*`, and the latter neither of them. A request without the headers is allowed.
    ///
    /// Weak forms match as well, against RFC 9110: proxies that compress responses weaken tags, although the tag is a digest
    /// of the record, which is the same in any encoding.
    pub(in crate::service) fn allows(request: &Parts, record: &impl Serialize) -> Result<bool, Error> {
        let has_match = request.headers.contains_key(IF_MATCH);
        if !has_match && !request.headers.contains_key(IF_NONE_MATCH) {
            return Ok(true);
        }
        let tag = Self::of_record(record).map_err(|_| Error::internal("a record has no tag"))?;
        Ok((!has_match || tag.is_listed(request, &IF_MATCH)) && !tag.matches(request))
    }

    /// Returns whether the request allows a change of a record that does not exist: it must not have an `If-Match`.
    pub(in crate::service) fn allows_missing(request: &Parts) -> bool {
        !request.headers.contains_key(IF_MATCH)
    }

    /// Returns whether the request's `If-None-Match` contains this tag or `*`.
    pub(in crate::service) fn matches(&self, request: &Parts) -> bool {
        self.is_listed(request, &IF_NONE_MATCH)
    }

    /// Returns whether a header lists this tag, as sent or as changed by a proxy, or `*`.
    ///
    /// Shells and spreadsheets lose the quotes of an `If-Match`. A tag is a digest, so that no other one is meant.
    fn is_listed(&self, request: &Parts, header: &HeaderName) -> bool {
        let own = opaque_tag(self.0.as_bytes());
        let unquoted =
            own.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\"")).filter(|_| *header == IF_MATCH);
        let is_own = |tag: &[u8]| {
            tag == own
                || Some(tag) == unquoted
                || without_coding(tag).is_some_and(|tag| own.strip_suffix(b"\"") == Some(tag))
        };
        request.headers.get_all(header).iter().any(|header| {
            let tags = header.as_bytes().trim_ascii();
            // A foreign tag may be split inside quotes; that is harmless, because no own tag contains a comma.
            tags == b"*" || tags.split(|byte| *byte == b',').any(|tag| is_own(opaque_tag(tag.trim_ascii())))
        })
    }

    pub(in crate::service) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

fn digest_of_list(revision: Revision, caller: &Caller, request: &Parts, server_version: &str) -> Sha256 {
    let mut digest = caller.scope().begin_digest();
    digest.update(revision.number().to_be_bytes());
    digest.update(caller.organization_id().as_bytes());
    // Clients compare tags of one path only. A query contains no zero, and is in one block of the hash with the rest if it is
    // short.
    for text in [env!("CARGO_PKG_VERSION"), "\0", server_version, "\0", request.uri.query().unwrap_or("")] {
        digest.update(text);
    }
    digest
}

#[cfg(feature = "topology")]
fn digest_of_topology(revision: &[u128], server_version: &str) -> Sha256 {
    let mut digest = Sha256::new();
    revision.iter().for_each(|number| digest.update(number.to_be_bytes()));
    for text in [env!("CARGO_PKG_VERSION"), server_version] {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    digest
}

fn weak(digest: Sha256) -> Option<EntityTag> {
    quoted("W/", digest).map(EntityTag)
}

/// Returns a tag with the given mark before its quotes.
fn quoted(mark: &str, digest: Sha256) -> Option<HeaderValue> {
    let digest = digest.finalize();
    let mut text = [0; LENGTH.div_ceil(3) * 4];
    let text = Base64UrlUnpadded::encode(digest.get(..LENGTH)?, &mut text).ok()?;
    HeaderValue::try_from([mark, "\"", text, "\""].concat()).ok()
}

/// The endings that proxies append to the tags of responses that they compress.
const CODINGS: [&[u8]; 3] = [b"-gzip\"", b"-br\"", b"-zstd\""];

/// Strips the ending of a compressed response with the closing quote. `None` without such an ending.
fn without_coding(tag: &[u8]) -> Option<&[u8]> {
    CODINGS.iter().find_map(|coding| tag.strip_suffix(*coding))
}

/// Strips the weakness mark, which proxies add and comparisons ignore.
fn opaque_tag(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// The beginning of the field with the time of the last report that showed a record.
///
/// Text within a string cannot contain it, because quotes are escaped there.
const LAST_SEEN: &[u8] = br#","last_seen_at":""#;

/// Passes on the text of a JSON document without its `last_seen_at` fields.
fn without_last_seen(document: &[u8], mut pass: impl FnMut(&[u8])) {
    let mut rest = document;
    while let Some(place) = memchr::memmem::find(rest, LAST_SEEN) {
        let (before, field) = rest.split_at(place);
        pass(before);
        let value = field.get(LAST_SEEN.len()..).asserted_or_default();
        let end = memchr::memchr(b'"', value).map_or(value.len(), |end| end + 1);
        rest = value.get(end..).asserted_or_default();
    }
    pass(rest);
}
