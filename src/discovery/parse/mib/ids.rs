//! Ids of neighbors and ports whose subtype is missing or reserved.

use std::net::IpAddr;

use crate::discovery::parse::text;
use crate::model::{LldpChassisId, LldpPortId};

/// The form of the bytes of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    MacAddress,
    NetworkAddress,
    Text,
}

/// Converts a chassis id. One without a subtype, or with a reserved one, is read by its form.
pub(super) fn chassis_id(subtype: Option<i64>, bytes: &[u8]) -> Option<LldpChassisId> {
    if let Some(subtype @ 1..=7) = subtype {
        return text::chassis_id(subtype, bytes);
    }
    let subtype = match form(bytes)? {
        Form::MacAddress => 4,
        Form::NetworkAddress => 5,
        Form::Text => 7,
    };
    text::chassis_id(subtype, bytes)
}

/// Converts a port id, like [`chassis_id`].
pub(super) fn port_id(subtype: Option<i64>, bytes: &[u8]) -> Option<LldpPortId> {
    if let Some(subtype @ 1..=7) = subtype {
        return text::port_id(subtype, bytes);
    }
    let subtype = match form(bytes)? {
        Form::MacAddress => 3,
        Form::NetworkAddress => 4,
        Form::Text => 7,
    };
    text::port_id(subtype, bytes)
}

/// Returns the form of an id, or `None` if it states nothing.
fn form(bytes: &[u8]) -> Option<Form> {
    if text::is_blank(bytes) {
        return None;
    }
    // Names of six characters have only characters of host names.
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./".contains(byte);
    if bytes.len() == 6 && !bytes.iter().all(is_name) {
        return Some(Form::MacAddress);
    }
    if matches!((bytes, bytes.len()), ([1, ..], 5) | ([2, ..], 17)) {
        return Some(Form::NetworkAddress);
    }
    let Ok(text) = str::from_utf8(bytes) else { return Some(Form::Text) };
    let text = text.trim();
    if text.len() >= 11 && text::mac_text(text).is_some() {
        Some(Form::MacAddress)
    } else if text.parse::<IpAddr>().is_ok() {
        Some(Form::NetworkAddress)
    } else {
        Some(Form::Text)
    }
}
