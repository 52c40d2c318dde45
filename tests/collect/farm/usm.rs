//! The agent's side of SNMPv3.

use async_snmp::ber::Decoder;
use async_snmp::message::{MsgFlags, MsgGlobalData, RawMsgData, RawV3Message, ScopedPdu, V3Message};
use async_snmp::pdu::{PduBody, StandardPduType};
use async_snmp::v3::auth::{authenticate_message, verify_message};
use async_snmp::v3::{SaltCounter, UsmSecurityParams, report_oids};
use async_snmp::{
    AuthProtocol, DecodeConfig, DesSaltState, MasterKeys, MessageSize, Oid, Pdu, PrivProtocol, SecurityLevel,
    Value, VarBind,
};
use bytes::Bytes;
use tokio::time::Instant;

/// An engine with one user.
#[derive(Clone, Debug)]
pub(crate) struct FarmEngine {
    pub(crate) id: Vec<u8>,
    pub(crate) boots: u32,
    /// The time of the engine at the first packet.
    pub(crate) time: u32,
    pub(crate) user: Vec<u8>,
    pub(crate) authentication: Option<(AuthProtocol, Vec<u8>)>,
    pub(crate) privacy: Option<(PrivProtocol, Vec<u8>)>,
    pub(crate) began: Option<Instant>,
    /// Discoveries that were answered.
    pub(crate) discoveries: usize,
}

impl FarmEngine {
    pub(crate) fn new(
        user: &str,
        authentication: Option<(AuthProtocol, &str)>,
        privacy: Option<(PrivProtocol, &str)>,
    ) -> Self {
        Self {
            id: vec![0x80, 0, 0, 9, 4, b'f', b'a', b'r', b'm'],
            boots: 7,
            time: 1_000,
            user: user.into(),
            authentication: authentication.map(|(protocol, password)| (protocol, password.into())),
            privacy: privacy.map(|(protocol, password)| (protocol, password.into())),
            began: None,
            discoveries: 0,
        }
    }

    fn keys(&self) -> Option<MasterKeys> {
        let (protocol, password) = self.authentication.as_ref()?;
        let keys = MasterKeys::new(*protocol, password).unwrap();
        Some(match &self.privacy {
            Some((protocol, password)) => keys.with_privacy(*protocol, password).unwrap(),
            None => keys,
        })
    }

    fn level(&self) -> SecurityLevel {
        match (&self.authentication, &self.privacy) {
            (None, _) => SecurityLevel::NoAuthNoPriv,
            (_, None) => SecurityLevel::AuthNoPriv,
            _ => SecurityLevel::AuthPriv,
        }
    }

    pub(super) fn answer(
        &mut self,
        bytes: &Bytes,
        now: Instant,
        respond: impl FnOnce(&Pdu) -> Option<Pdu>,
    ) -> Option<Vec<u8>> {
        let message = RawV3Message::decode(bytes.clone(), DecodeConfig::default()).ok()?.value;
        let parameters =
            UsmSecurityParams::decode(message.security_params().clone(), DecodeConfig::default());
        let parameters = parameters.ok()?.value;
        let time = self.time + (now - *self.began.get_or_insert(now)).as_secs() as u32;
        let id = message.msg_id();
        let plain = SecurityLevel::NoAuthNoPriv;
        if parameters.engine_id().as_ref() != self.id {
            self.discoveries += 1;
            return self.report(id, report_oids::unknown_engine_ids(), plain, time);
        }
        if parameters.username().as_ref() != self.user {
            return self.report(id, report_oids::unknown_user_names(), plain, time);
        }
        if message.security_level() != self.level() {
            return self.report(id, report_oids::unsupported_sec_levels(), plain, time);
        }
        let mut private = None;
        if let Some(keys) = self.keys() {
            let (authentication, privacy) = keys.localize(&self.id).unwrap();
            let (offset, length) = UsmSecurityParams::find_auth_params_offset(bytes)?;
            if length != authentication.mac_len()
                || !verify_message(&authentication, bytes, offset, length).unwrap()
            {
                return self.report(id, report_oids::wrong_digests(), plain, time);
            }
            let is_timely =
                parameters.engine_boots() == self.boots && parameters.engine_time().abs_diff(time) <= 150;
            if !is_timely {
                return self.report(id, report_oids::not_in_time_windows(), SecurityLevel::AuthNoPriv, time);
            }
            private = privacy;
        }
        let scoped = match message.msg_data() {
            RawMsgData::Plaintext { data, .. } => data.clone(),
            RawMsgData::Encrypted(encrypted) => {
                let (boots, time) = (parameters.engine_boots(), parameters.engine_time());
                private?.decrypt(encrypted, boots, time, parameters.priv_params()).ok()?
            }
        };
        let Ok(scoped) = ScopedPdu::decode(&mut Decoder::new(scoped)) else {
            return self.report(id, report_oids::decryption_errors(), SecurityLevel::AuthNoPriv, time);
        };
        let pdu = respond(&scoped.pdu)?;
        Some(self.encode(id, pdu, self.level(), time))
    }

    fn report(&self, id: i32, reason: Oid, level: SecurityLevel, time: u32) -> Option<Vec<u8>> {
        let body = PduBody::Standard { pdu_type: StandardPduType::Report, error_status: 0, error_index: 0 };
        let pdu = Pdu::from_raw_parts(id, body, vec![VarBind::new(reason, Value::Counter32(1))]);
        Some(self.encode(id, pdu, level, time))
    }

    fn encode(&self, id: i32, pdu: Pdu, level: SecurityLevel, time: u32) -> Vec<u8> {
        let size = MessageSize::new(65_507).unwrap();
        let header = MsgGlobalData::new(id, size, MsgFlags::new(level, false)).unwrap();
        let engine = Bytes::from(self.id.clone());
        let mut parameters =
            UsmSecurityParams::new(engine.clone(), self.boots, time, self.user.clone()).unwrap();
        let keys = self.keys().map(|keys| keys.localize(&self.id).unwrap());
        if let (true, Some((authentication, _))) = (level.requires_auth(), &keys) {
            parameters = parameters.with_auth_placeholder(authentication.mac_len()).unwrap();
        }
        let scoped = ScopedPdu::new(engine, Bytes::new(), pdu);
        let message = match &keys {
            Some((_, Some(key))) if level.requires_priv() => {
                let plain = scoped.encode_to_bytes().unwrap();
                let encrypted = if key.protocol().is_des_family() {
                    let salts = DesSaltState::install(|_| Ok::<(), std::io::Error>(())).unwrap();
                    key.encrypt_des_family(&plain, &salts)
                } else {
                    key.encrypt_aes(&plain, self.boots, time, &SaltCounter::new().unwrap())
                };
                let (encrypted, salt) = encrypted.unwrap();
                let parameters = parameters.with_priv_params(salt).unwrap().encode().unwrap();
                V3Message::new_with_opaque_encrypted_scoped_pdu(header, parameters, encrypted).unwrap()
            }
            _ => V3Message::new(header, parameters.encode().unwrap(), scoped).unwrap(),
        };
        let mut bytes = Vec::from(message.encode().unwrap());
        if let (true, Some((authentication, _))) = (level.requires_auth(), &keys) {
            let (offset, length) = UsmSecurityParams::find_auth_params_offset(&bytes).unwrap();
            authenticate_message(authentication, &mut bytes, offset, length).unwrap();
        }
        bytes
    }
}
