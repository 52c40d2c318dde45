//! The stored form of a host: its JSON, preceded by a comma.
//!
//! A response page is the stored documents joined without separate pieces for the commas.

use bytes::{Buf, Bytes};
use serde::de::DeserializeOwned;

use crate::inventory::Error;
use crate::inventory::schema::decode_text;
use crate::model::Host;
use crate::store::Record;

const COMMA: u8 = b',';

/// Encodes a host as a comma followed by its JSON.
pub(super) fn encode(host: &Host) -> Result<Bytes, Error> {
    // Growing a document of megabytes by doubling would touch several times its memory.
    let mut body = Vec::with_capacity(likely_size(host));
    body.push(COMMA);
    serde_json::to_writer(&mut body, host).map_err(Error::internal)?;
    body.shrink_to_fit();
    Ok(body.into())
}

/// Decodes a stored host, or a part of it.
pub(super) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, record.body.strip_prefix(&[COMMA]).unwrap_or(&record.body))
}

/// Removes the leading comma, for the first document of a list.
pub(crate) fn without_comma(mut body: Bytes) -> Bytes {
    if body.first() == Some(&COMMA) {
        body.advance(1);
    }
    body
}

/// Estimates the size of a host's document in bytes, rounding up.
pub(super) fn likely_size(host: &Host) -> usize {
    let bindings: usize = host.services.iter().map(|service| service.bindings.len()).sum();
    1024 + 512 * (host.interfaces.len() + host.services.len() + bindings)
        + 320 * host.ports.len()
        + 768 * host.if_entries.len()
}
