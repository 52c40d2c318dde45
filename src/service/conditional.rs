//! Conditional reads: a list that a client has already is not sent again.

use base64ct::{Base64UrlUnpadded, Encoding};
use http::HeaderValue;
use http::header::IF_NONE_MATCH;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::access::Caller;
use crate::store::Revision;

/// How many bytes of the digest are told: as many as no two states share by chance.
const LENGTH: usize = 18;

/// A validator for one state of a list as one caller sees it: everything goes in that the response is made from.
///
/// It is weak, since an intermediary may compress a response. What it is made from cannot be read from it.
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
        // The whole organization has a digest that no scope has.
        digest.update(caller.scope().digest().unwrap_or_default());
        for text in [env!("CARGO_PKG_VERSION"), server_version, query.unwrap_or_default()] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text);
        }
        let digest = digest.finalize();
        let told = Base64UrlUnpadded::encode_string(digest.get(..LENGTH)?);
        HeaderValue::try_from(format!("W/\"{told}\"")).ok().map(Self)
    }

    /// Whether the client says that it has this state.
    pub(super) fn is_known(&self, request: &Parts) -> bool {
        let own = opaque(self.0.as_bytes());
        request.headers.get_all(IF_NONE_MATCH).iter().any(|header| {
            let known = header.as_bytes().trim_ascii();
            // No tag of ours has a comma, so it does not matter where another one is cut.
            known == b"*" || known.split(|byte| *byte == b',').any(|tag| opaque(tag.trim_ascii()) == own)
        })
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// What is compared: whether a tag is weak makes no difference here.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}
