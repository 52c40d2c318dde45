//! What is stored of a host: its JSON, behind the comma that stands before it in a list. So the documents of a page are sent
//! as they lie in the store, and no piece between two of them costs a turn of its own.

use bytes::{Buf, Bytes};
use serde::de::DeserializeOwned;

use crate::inventory::Error;
use crate::inventory::records::decode_text;
use crate::model::Host;
use crate::store::Record;

const COMMA: u8 = b',';

/// The comma and the JSON of a host.
pub(super) fn encode(host: &Host) -> Result<Bytes, Error> {
    // Growing by doubling would touch several times the memory of one of megabytes.
    let mut body = Vec::with_capacity(likely_size(host));
    body.push(COMMA);
    serde_json::to_writer(&mut body, host).map_err(Error::internal)?;
    body.shrink_to_fit();
    Ok(body.into())
}

/// A stored host, or a part of it.
pub(super) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, record.body.strip_prefix(&[COMMA]).unwrap_or(&record.body))
}

/// A document without the comma, as the first of a list has none.
pub(crate) fn without_comma(mut body: Bytes) -> Bytes {
    if body.first() == Some(&COMMA) {
        body.advance(1);
    }
    body
}

/// About how many bytes the document of a host takes, rather too many than too few.
pub(super) fn likely_size(host: &Host) -> usize {
    let bindings: usize = host.services.iter().map(|service| service.bindings.len()).sum();
    1024 + 512 * (host.interfaces.len() + host.services.len() + bindings)
        + 320 * host.ports.len()
        + 768 * host.if_entries.len()
}
