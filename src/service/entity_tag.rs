use base64ct::{Base64UrlUnpadded, Encoding};
use http::HeaderValue;
use http::header::IF_NONE_MATCH;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::access::Caller;
use crate::store::Revision;

/// Number of bytes of the digest in a tag.
///
/// With 144 bits, tags of different states do not collide by chance.
const LENGTH: usize = 18;

/// The `ETag` of one state of a list.
///
/// It is a digest of everything that the response is made from: the revision of the records, the caller's
/// organization and scope, the query and the versions. It reveals none of these. It is weak, because an intermediary
/// may compress the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntityTag(HeaderValue);

impl EntityTag {
    pub(super) fn new(
        revision: Revision,
        caller: &Caller,
        query: Option<&str>,
        server_version: &str,
    ) -> Option<Self> {
        let mut digest = Sha256::new();
        digest.update(revision.number().to_be_bytes());
        digest.update(caller.organization_id());
        // No restricted scope has the all-zero digest, which stands for the whole organization.
        digest.update(caller.scope().digest().unwrap_or_default());
        for text in [env!("CARGO_PKG_VERSION"), server_version, query.unwrap_or_default()] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text);
        }
        let digest = digest.finalize();
        let text = Base64UrlUnpadded::encode_string(digest.get(..LENGTH)?);
        HeaderValue::try_from(format!("W/\"{text}\"")).ok().map(Self)
    }

    /// Returns whether the request's `If-None-Match` contains this tag or `*`.
    pub(super) fn matches(&self, request: &Parts) -> bool {
        let own = opaque_tag(self.0.as_bytes());
        request.headers.get_all(IF_NONE_MATCH).iter().any(|header| {
            let tags = header.as_bytes().trim_ascii();
            // A foreign tag may be split inside quotes; that is harmless, because no own tag contains a comma.
            tags == b"*" || tags.split(|byte| *byte == b',').any(|tag| opaque_tag(tag.trim_ascii()) == own)
        })
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// Strips the weakness mark, which `If-None-Match` ignores.
fn opaque_tag(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}
