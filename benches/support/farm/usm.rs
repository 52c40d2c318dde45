//! The agent's side of SNMPv3.

use std::sync::Arc;

use async_snmp::ber::Decoder;
use async_snmp::message::{MsgFlags, MsgGlobalData, RawMsgData, RawV3Message, ScopedPdu, V3Message};
use async_snmp::pdu::{PduBody, StandardPduType};
use async_snmp::v3::auth::{authenticate_message, verify_message};
use async_snmp::v3::{LocalizedKey, PrivKey, SaltCounter, UsmSecurityParams, report_oids};
use async_snmp::{
    AuthProtocol, DecodeConfig, DesSaltState, MasterKeys, MessageSize, Oid, Pdu, PrivProtocol, SecurityLevel,
    Value, VarBind,
};
use bytes::Bytes;
use tokio::time::Instant;

/// A user, whose keys are made once for all engines.
#[derive(Clone, Debug)]
pub(crate) struct FarmUser {
    name: Vec<u8>,
    level: SecurityLevel,
    keys: Option<Arc<MasterKeys>>,
}

/// An engine with one user.
#[derive(Clone, Debug)]
pub(crate) struct FarmEngine {
    pub(crate) id: Vec<u8>,
    pub(crate) boots: u32,
    /// The time of the engine at the first packet.
    pub(crate) time: u32,
    pub(crate) began: Option<Instant>,
    /// Discoveries that were answered.
    pub(crate) discoveries: usize,
    user: FarmUser,
    localized: Option<LocalizedKeys>,
    /// Whether it states an id of zeros, which is invalid.
    pub(crate) states_zeros: bool,
}

/// The keys of the user for an engine id.
#[derive(Clone, Debug)]
struct LocalizedKeys {
    id: Vec<u8>,
    authentication: LocalizedKey,
    privacy: Option<PrivKey>,
}

impl FarmUser {
    pub(crate) fn new(
        name: &str,
        authentication: Option<(AuthProtocol, &str)>,
        privacy: Option<(PrivProtocol, &str)>,
    ) -> Self {
        let keys = authentication.map(|(protocol, password)| {
            let keys = MasterKeys::new(protocol, password.as_bytes()).unwrap();
            Arc::new(match privacy {
                Some((protocol, password)) => keys.with_privacy(protocol, password.as_bytes()).unwrap(),
                None => keys,
            })
        });
        let level = match (authentication, privacy) {
            (None, _) => SecurityLevel::NoAuthNoPriv,
            (_, None) => SecurityLevel::AuthNoPriv,
            _ => SecurityLevel::AuthPriv,
        };
        Self { name: name.into(), level, keys }
    }
}

impl FarmEngine {
    /// Creates the engine of an id that begins with that of a private enterprise.
    pub(crate) fn new(id: &[u8], user: FarmUser) -> Self {
        Self {
            id: [&[0x80, 0, 0, 9, 4], id].concat(),
            boots: 7,
            time: 1_000,
            began: None,
            discoveries: 0,
            user,
            localized: None,
            states_zeros: false,
        }
    }

    /// Returns the keys of the user for the present id.
    fn keys(&mut self) -> Option<&LocalizedKeys> {
        if self.localized.as_ref().is_none_or(|keys| keys.id != self.id) {
            let (authentication, privacy) = self.user.keys.as_ref()?.localize(&self.id).unwrap();
            self.localized = Some(LocalizedKeys { id: self.id.clone(), authentication, privacy });
        }
        self.localized.as_ref()
    }

    pub(super) fn answer(
        &mut self,
        bytes: &Bytes,
        now: Instant,
        respond: impl FnOnce(&[u8], &Pdu) -> Option<Pdu>,
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
        if parameters.username().as_ref() != self.user.name {
            return self.report(id, report_oids::unknown_user_names(), plain, time);
        }
        if message.security_level() != self.user.level {
            return self.report(id, report_oids::unsupported_sec_levels(), plain, time);
        }
        let mut private = None;
        if let Some(LocalizedKeys { authentication, privacy, .. }) = self.keys().cloned() {
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
        let pdu = respond(&scoped.context_name, &scoped.pdu)?;
        let level = self.user.level;
        Some(self.encode(id, pdu, level, time))
    }

    fn report(&mut self, id: i32, reason: Oid, level: SecurityLevel, time: u32) -> Option<Vec<u8>> {
        let body = PduBody::Standard { pdu_type: StandardPduType::Report, error_status: 0, error_index: 0 };
        let pdu = Pdu::from_raw_parts(id, body, vec![VarBind::new(reason, Value::Counter32(1))]);
        Some(self.encode(id, pdu, level, time))
    }

    fn encode(&mut self, id: i32, pdu: Pdu, level: SecurityLevel, time: u32) -> Vec<u8> {
        let size = MessageSize::new(65_507).unwrap();
        let header = MsgGlobalData::new(id, size, MsgFlags::new(level, false)).unwrap();
        let engine = Bytes::from(self.id.clone());
        let mut parameters =
            UsmSecurityParams::new(engine.clone(), self.boots, time, self.user.name.clone()).unwrap();
        let boots = self.boots;
        let keys = self.keys().cloned();
        let keys = keys.as_ref();
        let authentication = keys.filter(|_| level.requires_auth()).map(|keys| &keys.authentication);
        let privacy = keys.filter(|_| level.requires_priv()).and_then(|keys| keys.privacy.as_ref());
        if let Some(authentication) = authentication {
            parameters = parameters.with_auth_placeholder(authentication.mac_len()).unwrap();
        }
        let scoped = ScopedPdu::new(engine, Bytes::new(), pdu);
        let message = match privacy {
            Some(key) => {
                let plain = scoped.encode_to_bytes().unwrap();
                let encrypted = if key.protocol().is_des_family() {
                    let salts = DesSaltState::install(|_| Ok::<(), std::io::Error>(())).unwrap();
                    key.encrypt_des_family(&plain, &salts)
                } else {
                    key.encrypt_aes(&plain, boots, time, &SaltCounter::new().unwrap())
                };
                let (encrypted, salt) = encrypted.unwrap();
                let parameters = parameters.with_priv_params(salt).unwrap().encode().unwrap();
                V3Message::new_with_opaque_encrypted_scoped_pdu(header, parameters, encrypted).unwrap()
            }
            None => V3Message::new(header, parameters.encode().unwrap(), scoped).unwrap(),
        };
        let mut bytes = Vec::from(message.encode().unwrap());
        if let Some(authentication) = authentication {
            let (offset, length) = UsmSecurityParams::find_auth_params_offset(&bytes).unwrap();
            authenticate_message(authentication, &mut bytes, offset, length).unwrap();
        }
        while self.states_zeros
            && let Some(place) = bytes.windows(self.id.len()).position(|id| id == self.id)
        {
            bytes[place..place + self.id.len()].fill(0);
        }
        bytes
    }
}
