//! Messages of SNMPv3 with the User-based Security Model.

use std::sync::Arc;

use async_snmp::ber::Decoder;
use async_snmp::message::{
    MsgFlags, MsgGlobalData, RawMsgData, RawV3Message, ScopedPdu, SecurityLevel, V3Message,
};
use async_snmp::v3::auth::{authenticate_message, verify_message};
use async_snmp::v3::{
    DerivedKeys, MAX_ENGINE_TIME, ReportStatus, SaltCounter, UsmSecurityParams, classify_report,
    validate_engine_id,
};
use async_snmp::{DecodeConfig, DesSaltState, MAX_UDP_PAYLOAD, MessageSize, Pdu, PduType, Version};
use bytes::Bytes;
use tokio::time::Instant;

use super::super::secret::SnmpUser;
use super::error::{AskError, SnmpRefusal};
use super::message::{Question, SnmpAnswer, request};
use super::value::ObjectId;

/// The engine of an agent, with the keys that a user has there.
pub(super) struct UsmEngine {
    id: Bytes,
    keys: DerivedKeys,
    boots: u32,
    time: u32,
    synchronized: Instant,
    salts: SaltCounter,
    /// Salts of DES.
    des: DesSaltState,
}

/// The decoded answer of an engine.
pub(super) enum UsmAnswer {
    Answer(SnmpAnswer),
    /// The message was outside of the time window, and the engine states its own time.
    OtherTime {
        boots: u32,
        time: u32,
    },
    /// The engine has another id.
    OtherEngine,
    Refused(SnmpRefusal),
}

/// The identity that an engine states without authentication.
pub(super) struct StatedEngine {
    id: Bytes,
    boots: u32,
    time: u32,
}

/// Encodes a message to which each agent answers with its engine id.
pub(super) fn encode_discovery(id: i32) -> Result<Vec<u8>, AskError> {
    let message = MessageSize::new(MAX_UDP_PAYLOAD)
        .map_err(|_| AskError::NotEncoded)
        .and_then(|size| V3Message::discovery_request(id, size).map_err(|_| AskError::NotEncoded))?;
    message.encode().map(Vec::from).map_err(|_| AskError::NotEncoded)
}

/// Decodes the answer to a discovery.
pub(super) fn decode_discovery(bytes: &[u8]) -> Option<StatedEngine> {
    let message = RawV3Message::decode(Bytes::copy_from_slice(bytes), DecodeConfig::default()).ok()?.value;
    let parameters = decode_parameters(&message)?;
    let (id, boots, time) =
        (parameters.engine_id().clone(), parameters.engine_boots(), parameters.engine_time());
    Some(StatedEngine { id, boots, time })
}

impl UsmEngine {
    /// Localizes the keys of a user for an engine. It is done once for an engine.
    pub(super) fn new(engine: StatedEngine, user: &Arc<SnmpUser>) -> Result<Self, AskError> {
        let StatedEngine { id, boots, time } = engine;
        validate_engine_id(&id).map_err(|_| SnmpRefusal::UnstableEngine)?;
        let keys = match user.keys() {
            Some(keys) => {
                let keys = keys.as_ref().map_err(|refusal| *refusal)?;
                let (auth_key, priv_key) = keys.localize(&id).map_err(|_| SnmpRefusal::BadPassword)?;
                DerivedKeys { auth_key: Some(auth_key), priv_key }
            }
            None => DerivedKeys { auth_key: None, priv_key: None },
        };
        let salts = SaltCounter::new().map_err(|_| AskError::NoRandomNumbers)?;
        let des = DesSaltState::install(|_| Ok::<(), std::io::Error>(()));
        let des = des.map_err(|_| AskError::NoRandomNumbers)?;
        Ok(Self { id, keys, boots, time, synchronized: Instant::now(), salts, des })
    }

    /// Takes over the time of the engine.
    pub(super) fn synchronize(&mut self, boots: u32, time: u32) {
        (self.boots, self.time, self.synchronized) = (boots, time, Instant::now());
    }

    /// Encodes a request in a context, authenticated and encrypted as the user requires.
    pub(super) fn encode(
        &self,
        user: &SnmpUser,
        context: String,
        id: i32,
        question: Question,
        objects: &[ObjectId],
    ) -> Result<Vec<u8>, AskError> {
        let pdu = request(Version::V3, id, question, objects)?;
        let scoped = ScopedPdu::new(self.id.clone(), Bytes::from(context), pdu);
        self.encode_scoped(user, id, scoped).ok_or(AskError::NotEncoded)
    }

    fn encode_scoped(&self, user: &SnmpUser, id: i32, scoped: ScopedPdu) -> Option<Vec<u8>> {
        let elapsed = u32::try_from(self.synchronized.elapsed().as_secs()).unwrap_or(u32::MAX);
        let time = self.time.saturating_add(elapsed).min(MAX_ENGINE_TIME);
        let size = MessageSize::new(MAX_UDP_PAYLOAD).ok()?;
        let header = MsgGlobalData::new(id, size, MsgFlags::new(level(user), true)).ok()?;
        let name = Bytes::copy_from_slice(user.name());
        let mut parameters = UsmSecurityParams::new(self.id.clone(), self.boots, time, name).ok()?;
        if let Some(key) = &self.keys.auth_key {
            parameters = parameters.with_auth_placeholder(key.mac_len()).ok()?;
        }
        let message = match &self.keys.priv_key {
            Some(key) => {
                let plain = scoped.encode_to_bytes().ok()?;
                let encrypted = if key.protocol().is_des_family() {
                    key.encrypt_des_family(&plain, &self.des)
                } else {
                    key.encrypt_aes(&plain, self.boots, time, &self.salts)
                };
                let (encrypted, salt) = encrypted.ok()?;
                let parameters = parameters.with_priv_params(salt).ok()?.encode().ok()?;
                V3Message::new_with_opaque_encrypted_scoped_pdu(header, parameters, encrypted).ok()?
            }
            None => V3Message::new(header, parameters.encode().ok()?, scoped).ok()?,
        };
        let mut bytes = Vec::from(message.encode().ok()?);
        if let Some(key) = &self.keys.auth_key {
            let (offset, length) = UsmSecurityParams::find_auth_params_offset(&bytes)?;
            authenticate_message(key, &mut bytes, offset, length).ok()?;
        }
        Some(bytes)
    }

    /// Decodes an answer. Returns `None` for messages that cannot come from the engine.
    pub(super) fn decode(&self, user: &SnmpUser, bytes: &[u8]) -> Option<UsmAnswer> {
        let message =
            RawV3Message::decode(Bytes::copy_from_slice(bytes), DecodeConfig::default()).ok()?.value;
        let parameters = decode_parameters(&message)?;
        let received = message.global_data().msg_flags().security_level;
        let is_authenticated = received.requires_auth() && self.is_authentic(bytes, &parameters);
        if received.requires_auth() && !is_authenticated {
            return None;
        }
        let pdu = self.decrypt(&message, &parameters)?.pdu;
        match pdu.pdu_type() {
            PduType::Response => {
                let is_ours = received == level(user)
                    && *parameters.engine_id() == self.id
                    && parameters.username().as_ref() == user.name();
                is_ours.then(|| UsmAnswer::Answer(SnmpAnswer::from(&pdu)))
            }
            PduType::Report => Some(self.report(user, &pdu, &parameters, is_authenticated)),
            _ => None,
        }
    }

    fn is_authentic(&self, bytes: &[u8], parameters: &UsmSecurityParams) -> bool {
        let Some(key) = &self.keys.auth_key else { return false };
        let is_complete = parameters.auth_params().len() == key.mac_len();
        is_complete
            && UsmSecurityParams::find_auth_params_offset(bytes)
                .is_some_and(|(offset, length)| verify_message(key, bytes, offset, length).unwrap_or(false))
    }

    fn decrypt(&self, message: &RawV3Message, parameters: &UsmSecurityParams) -> Option<ScopedPdu> {
        let plain = match message.msg_data() {
            RawMsgData::Plaintext { data, .. } => data.clone(),
            RawMsgData::Encrypted(bytes) => {
                let key = self.keys.priv_key.as_ref()?;
                let (boots, time) = (parameters.engine_boots(), parameters.engine_time());
                key.decrypt(bytes, boots, time, parameters.priv_params()).ok()?
            }
        };
        ScopedPdu::decode(&mut Decoder::new(plain)).ok()
    }

    /// Reads a report. The time of an engine counts only if it is authenticated.
    fn report(
        &self,
        user: &SnmpUser,
        pdu: &Pdu,
        parameters: &UsmSecurityParams,
        is_authenticated: bool,
    ) -> UsmAnswer {
        let is_trusted = is_authenticated || !user.has_authentication();
        match classify_report(pdu) {
            Ok(ReportStatus::NotInTimeWindow { .. }) if is_trusted && *parameters.engine_id() == self.id => {
                UsmAnswer::OtherTime { boots: parameters.engine_boots(), time: parameters.engine_time() }
            }
            Ok(ReportStatus::NotInTimeWindow { .. }) => UsmAnswer::Refused(SnmpRefusal::UnstableClock),
            Ok(ReportStatus::UnknownEngineId { .. }) => UsmAnswer::OtherEngine,
            Ok(ReportStatus::UnknownUserName { .. }) => UsmAnswer::Refused(SnmpRefusal::UnknownUser),
            Ok(ReportStatus::WrongDigest { .. }) => UsmAnswer::Refused(SnmpRefusal::WrongDigest),
            Ok(ReportStatus::DecryptionError { .. }) => UsmAnswer::Refused(SnmpRefusal::DecryptionFailed),
            Ok(ReportStatus::UnsupportedSecurityLevel { .. }) => {
                UsmAnswer::Refused(SnmpRefusal::UnsupportedLevel)
            }
            _ => UsmAnswer::Refused(SnmpRefusal::Other),
        }
    }
}

fn decode_parameters(message: &RawV3Message) -> Option<UsmSecurityParams> {
    let decoded = UsmSecurityParams::decode(message.security_params().clone(), DecodeConfig::default());
    decoded.ok().map(|parameters| parameters.value)
}

const fn level(user: &SnmpUser) -> SecurityLevel {
    match (user.has_authentication(), user.has_privacy()) {
        (false, _) => SecurityLevel::NoAuthNoPriv,
        (true, false) => SecurityLevel::AuthNoPriv,
        (true, true) => SecurityLevel::AuthPriv,
    }
}
