//! Requests and answers, and messages of SNMPv1 and SNMPv2c.

use async_snmp::ber::Decoder;
use async_snmp::message::CommunityMessage;
use async_snmp::{DecodeConfig, GetBulkPdu, Oid, Pdu, PduType, RequestPdu, VarBind, Version};
use bytes::Bytes;

use super::error::AskError;
use super::value::{ObjectId, SnmpValue, Variable};

/// `version` of SNMPv3 in a message.
const VERSION_3: i32 = 3;

/// The kind of a request, which determines the variables of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The variables of the objects themselves.
    Get,
    /// The next variable behind each object.
    GetNext,
    /// The next `repetitions` variables behind each object.
    GetBulk { repetitions: u32 },
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnmpAnswer {
    /// `error-status`; 0: none.
    pub(super) status: i32,
    pub(super) variables: Vec<Variable>,
}

impl From<&Pdu> for SnmpAnswer {
    fn from(pdu: &Pdu) -> Self {
        let variable = |varbind: &VarBind| {
            Variable::new(ObjectId::of_oid(&varbind.oid), SnmpValue::of_value(&varbind.value))
        };
        Self { status: pdu.error_status(), variables: pdu.varbinds().iter().map(variable).collect() }
    }
}

/// Makes the PDU of a request.
pub(super) fn request(
    version: Version,
    id: i32,
    question: Question,
    objects: &[ObjectId],
) -> Result<Pdu, AskError> {
    let oids: Vec<Oid> = objects.iter().map(ObjectId::to_oid).collect();
    let pdu = match question {
        Question::Get => RequestPdu::get(version, id, &oids).map(Pdu::from),
        Question::GetNext => RequestPdu::get_next(version, id, &oids).map(Pdu::from),
        Question::GetBulk { repetitions } => {
            let varbinds = oids.into_iter().map(VarBind::null).collect();
            GetBulkPdu::new(version, id, 0, repetitions, varbinds).map(Pdu::from)
        }
    };
    pdu.map_err(|_| AskError::NotEncoded)
}

/// Encodes a message with a community.
pub(super) fn encode_with_community(
    version: Version,
    community: &[u8],
    id: i32,
    question: Question,
    objects: &[ObjectId],
) -> Result<Vec<u8>, AskError> {
    let pdu = request(version, id, question, objects)?;
    let message = match version {
        Version::V1 => CommunityMessage::v1(Bytes::copy_from_slice(community), pdu),
        _ => CommunityMessage::v2c(Bytes::copy_from_slice(community), pdu),
    };
    let encoded = message.and_then(|message| message.encode());
    encoded.map(Vec::from).map_err(|_| AskError::NotEncoded)
}

/// Decodes the answer to a request with a community. Some agents answer with another one, which says nothing of the answer.
pub(super) fn decode_with_community(version: Version, bytes: &[u8]) -> Option<SnmpAnswer> {
    let bytes = Bytes::copy_from_slice(bytes);
    let message = CommunityMessage::decode(bytes, DecodeConfig::default()).ok()?.value;
    if message.version() != version {
        return None;
    }
    let pdu = message.into_pdu()?;
    (pdu.pdu_type() == PduType::Response).then(|| SnmpAnswer::from(&pdu))
}

/// Returns the id by which a message belongs to a request, without decoding the rest.
pub(crate) fn message_id(bytes: &[u8]) -> Option<i32> {
    let mut message = Decoder::from_slice(bytes).read_sequence().ok()?;
    if message.read_integer().ok()? == VERSION_3 {
        return message.read_sequence().ok()?.read_integer().ok();
    }
    message.skip_tlv().ok()?;
    let kind = message.peek_tag()?;
    message.read_constructed(kind).ok()?.read_integer().ok()
}
