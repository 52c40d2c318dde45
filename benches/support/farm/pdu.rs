//! The answers of agents.

use async_snmp::pdu::{PduBody, StandardPduType};
use async_snmp::{Oid, Pdu, Value, VarBind};
use toposcope::collect::snmp::SnmpValue;

use super::fault::UNDECODABLE;

pub(super) const TOO_BIG: i32 = 1;
pub(super) const NO_SUCH_NAME: i32 = 2;
pub(super) const GEN_ERR: i32 = 5;
const AUTHORIZATION_ERROR: i32 = 16;

/// The types of values in messages, by RFC 3416.
const IP_ADDRESS: u8 = 0x40;
const OPAQUE: u8 = 0x44;

pub(super) fn error(request: &Pdu, status: i32) -> Pdu {
    let varbinds = if status == TOO_BIG {
        Vec::new()
    } else {
        request.varbinds().iter().map(|varbind| (varbind.oid.arcs().to_vec(), Value::Null)).collect()
    };
    response(request, status, varbinds)
}

pub(super) fn response(request: &Pdu, status: i32, found: Vec<(Vec<u32>, Value)>) -> Pdu {
    let error_index = i32::from(!matches!(status, 0 | TOO_BIG | AUTHORIZATION_ERROR));
    let body = PduBody::Standard { pdu_type: StandardPduType::Response, error_status: status, error_index };
    let varbinds = found.into_iter().map(|(id, value)| VarBind::new(Oid::from_slice(&id), value)).collect();
    Pdu::from_raw_parts(request.request_id(), body, varbinds)
}

pub(super) fn wire(value: &SnmpValue) -> Value {
    match value {
        SnmpValue::Integer(number) => Value::Integer(*number),
        SnmpValue::Counter32(number) => Value::Counter32(*number),
        SnmpValue::Gauge32(number) => Value::Gauge32(*number),
        SnmpValue::TimeTicks(number) => Value::TimeTicks(*number),
        SnmpValue::Counter64(number) => Value::Counter64(*number),
        SnmpValue::Bytes(bytes) => Value::OctetString(bytes.to_vec().into()),
        SnmpValue::ObjectId(id) => Value::ObjectIdentifier(Oid::from_slice(id.arcs())),
        SnmpValue::IpAddress(octets) => Value::IpAddress(*octets),
        SnmpValue::Opaque(bytes) => Value::Opaque(bytes.to_vec().into()),
        SnmpValue::NoSuchInstance => Value::NoSuchInstance,
        _ => Value::Null,
    }
}

/// Gives values with the content [`UNDECODABLE`] the type of an address.
pub(super) fn spoil(message: &mut [u8]) {
    let value = [&[OPAQUE, UNDECODABLE.len() as u8], UNDECODABLE].concat();
    while let Some(place) = message.windows(value.len()).position(|bytes| bytes == value) {
        message[place] = IP_ADDRESS;
    }
}
