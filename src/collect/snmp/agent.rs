//! One agent that answers, and the requests to it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_snmp::Version;
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use super::super::Datagram;
use super::super::gate::{AnswerSource, Gate};
use super::super::secret::{SecretKind, SnmpSecret, SnmpUser};
use super::bulk::BulkReading;
use super::clock::AgentClock;
use super::error::{AskError, SnmpRefusal, is_refusal};
use super::message::{Question, SnmpAnswer, decode_with_community, encode_with_community};
use super::system::{SYSTEM, SystemIdentity, UP_TIME, value_of};
use super::usm::{UsmAnswer, UsmEngine, decode_discovery, encode_discovery};
use super::value::ObjectId;

/// The factors of the timeout for each message to an agent, in halves.
const TIMEOUT_FACTORS: [u32; 5] = [2, 3, 4, 6, 8];

/// The bounds of the first timeout of an agent that has answered.
const MIN_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_TIMEOUT: Duration = Duration::from_secs(5);

/// The time of an answer above which the agent gets as much time before the next request.
const SLOW_ANSWER: Duration = Duration::from_millis(500);

/// Number of answers to a request that cannot be decoded after which the request is not sent again.
const MAX_UNDECODABLE_ANSWERS: usize = 3;

/// Maximum number of repetitions of a request of SNMPv3 with the time or engine id that the agent states.
const MAX_CORRECTIONS: usize = 3;

/// An SNMP agent that has answered.
pub struct SnmpAgent {
    gate: Gate,
    target: SocketAddr,
    /// The address that answers, if it is another one.
    answers_from: Option<SocketAddr>,
    security: Security,
    response_time: Option<Duration>,
    system: SystemIdentity,
    clock: Option<AgentClock>,
    /// The VLAN in whose context it is asked.
    vlan: Option<u16>,
    /// How its usual context is read by GETBULK, while it is asked in another one.
    usual_bulk: BulkReading,
    pub(super) bulk: BulkReading,
    /// Whether it has answered others since its last requests for tables, to which it was silent.
    pub(super) is_selective: bool,
}

enum Security {
    Community { version: Version, community: Zeroizing<Vec<u8>> },
    User { user: Arc<SnmpUser>, engine: Option<Box<UsmEngine>> },
}

impl fmt::Debug for SnmpAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SnmpAgent").field("target", &self.target).finish_non_exhaustive()
    }
}

impl SnmpAgent {
    /// Asks an address for its system group with a secret.
    pub(super) async fn open(
        gate: &Gate,
        target: SocketAddr,
        secret: &SnmpSecret,
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<Self, AskError> {
        let security = match &secret.kind {
            SecretKind::V1(community) => {
                Security::Community { version: Version::V1, community: community.clone() }
            }
            SecretKind::V2c(community) => {
                Security::Community { version: Version::V2c, community: community.clone() }
            }
            SecretKind::User(user) => Security::User { user: Arc::clone(user), engine: None },
        };
        let is_v1 = matches!(security, Security::Community { version: Version::V1, .. });
        let mut agent = Self {
            gate: gate.clone(),
            target,
            answers_from: None,
            security,
            response_time: None,
            system: SystemIdentity::default(),
            clock: None,
            vlan: None,
            usual_bulk: BulkReading::new(is_v1),
            bulk: BulkReading::new(is_v1),
            is_selective: false,
        };
        let [object_id, name] = SYSTEM;
        let objects = [object_id, name, UP_TIME].map(ObjectId::new);
        let answer = agent.ask_within(Question::Get, &objects, timeouts, from_any).await?;
        if is_refusal(answer.status) {
            return Err(AskError::Denied(answer.status));
        }
        agent.system = SystemIdentity::read(&answer);
        agent.clock = value_of(&answer, &UP_TIME).and_then(|value| AgentClock::new(value, Instant::now()));
        Ok(agent)
    }

    /// Returns the address that is asked.
    #[must_use]
    pub const fn target(&self) -> SocketAddr {
        self.target
    }

    /// Returns the address that answers, if it is not the one that is asked.
    #[must_use]
    pub const fn answers_from(&self) -> Option<SocketAddr> {
        self.answers_from
    }

    /// Returns the identity of the device.
    #[must_use]
    pub const fn system(&self) -> &SystemIdentity {
        &self.system
    }

    /// Returns `sysUpTime` of the device at the time of its first answer.
    pub(in crate::collect) const fn clock(&self) -> Option<AgentClock> {
        self.clock
    }

    /// Returns whether the agent is asked by SNMPv3.
    #[must_use]
    pub const fn is_v3(&self) -> bool {
        matches!(self.security, Security::User { .. })
    }

    /// Returns whether the agent can state that it does not have an object.
    pub(super) const fn has_exceptions(&self) -> bool {
        !matches!(self.security, Security::Community { version: Version::V1, .. })
    }

    /// Asks the agent in the context of a VLAN from now on, or in its usual one.
    ///
    /// A context that does not answer GETBULK says nothing of the others.
    pub(in crate::collect) const fn enter_vlan(&mut self, vlan: Option<u16>) {
        if self.vlan.is_none() {
            self.usual_bulk = self.bulk;
        } else {
            self.bulk = self.usual_bulk;
        }
        self.vlan = vlan;
    }

    /// Asks the agent, at most as often as there are `tries`.
    pub(super) async fn ask(
        &mut self,
        question: Question,
        objects: &[ObjectId],
        tries: usize,
    ) -> Result<SnmpAnswer, AskError> {
        let usual = self.response_time.unwrap_or_default();
        if usual > SLOW_ANSWER {
            sleep(usual.min(MAX_TIMEOUT)).await;
        }
        let first = usual.saturating_mul(3).clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let timeouts: Vec<Duration> =
            TIMEOUT_FACTORS.iter().take(tries).map(|factor| first.saturating_mul(*factor) / 2).collect();
        self.ask_within(question, objects, &timeouts, false).await
    }

    async fn ask_within(
        &mut self,
        question: Question,
        objects: &[ObjectId],
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<SnmpAnswer, AskError> {
        let user = match &self.security {
            Security::Community { version, community } => {
                let mut community = community.clone();
                if let Some(vlan) = self.vlan {
                    community.extend_from_slice(format!("@{vlan}").as_bytes());
                }
                let version = *version;
                return self.ask_community(version, &community, question, objects, timeouts, from_any).await;
            }
            Security::User { user, .. } => Arc::clone(user),
        };
        for _ in 0..=MAX_CORRECTIONS {
            let engine = self.engine(&user, timeouts, from_any).await?;
            match self.ask_engine(&user, engine, question, objects, timeouts, from_any).await? {
                UsmAnswer::Answer(answer) => return Ok(answer),
                UsmAnswer::Refused(refusal) => return Err(refusal.into()),
                UsmAnswer::OtherTime { .. } | UsmAnswer::OtherEngine => {}
            }
        }
        let has_engine = matches!(self.security, Security::User { engine: Some(_), .. });
        Err(if has_engine { SnmpRefusal::UnstableClock } else { SnmpRefusal::UnstableEngine }.into())
    }

    async fn ask_community(
        &mut self,
        version: Version,
        community: &[u8],
        question: Question,
        objects: &[ObjectId],
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<SnmpAnswer, AskError> {
        let encode = |id| encode_with_community(version, community, id, question, objects);
        let decode = |bytes: &[u8]| decode_with_community(version, bytes);
        self.exchange(encode, decode, timeouts, from_any).await
    }

    /// Takes the engine of the agent, or asks for its id.
    async fn engine(
        &mut self,
        user: &Arc<SnmpUser>,
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<Box<UsmEngine>, AskError> {
        if let Security::User { engine, .. } = &mut self.security
            && let Some(engine) = engine.take()
        {
            return Ok(engine);
        }
        let stated = self.exchange(encode_discovery, decode_discovery, timeouts, from_any).await?;
        UsmEngine::new(stated, user).map(Box::new)
    }

    /// Sends a request to an engine, and keeps the engine unless it has another id now.
    async fn ask_engine(
        &mut self,
        user: &Arc<SnmpUser>,
        mut engine: Box<UsmEngine>,
        question: Question,
        objects: &[ObjectId],
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<UsmAnswer, AskError> {
        // The name by which Cisco's devices know the context of a VLAN.
        let context = self.vlan.map_or_else(String::new, |vlan| format!("vlan-{vlan}"));
        let encode = |id| engine.encode(user, context, id, question, objects);
        let decode = |bytes: &[u8]| engine.decode(user, bytes);
        let answer = self.exchange(encode, decode, timeouts, from_any).await;
        if let Ok(UsmAnswer::OtherTime { boots, time }) = &answer {
            engine.synchronize(*boots, *time);
        }
        let is_lost = matches!(&answer, Ok(UsmAnswer::OtherEngine));
        if let Security::User { engine: kept, .. } = &mut self.security {
            *kept = (!is_lost).then_some(engine);
        }
        answer
    }

    /// Sends a message until an answer can be decoded, or too many cannot be.
    async fn exchange<T>(
        &mut self,
        encode: impl FnOnce(i32) -> Result<Vec<u8>, AskError>,
        decode: impl Fn(&[u8]) -> Option<T>,
        timeouts: &[Duration],
        from_any: bool,
    ) -> Result<T, AskError> {
        let only = self.answers_from.unwrap_or(self.target);
        let source = if from_any { AnswerSource::AnyAllowed } else { AnswerSource::Only(only) };
        let mut exchange = self.gate.begin(self.target, source)?;
        let message = Zeroizing::new(encode(exchange.id())?);
        let mut undecodable = 0;
        let accept = |answer: &Datagram| match decode(&answer.bytes) {
            Some(decoded) => Some(Some((decoded, answer.from))),
            None => {
                undecodable += 1;
                (undecodable >= MAX_UNDECODABLE_ANSWERS).then_some(None)
            }
        };
        let asked = exchange.ask(&message, timeouts, accept).await;
        let (answer, time) = match asked {
            Err(AskError::Silent) if undecodable > 0 => return Err(AskError::Undecodable),
            asked => asked?,
        };
        let (answer, from) = answer.ok_or(AskError::Undecodable)?;
        if from_any && from != self.target {
            self.answers_from = Some(from);
        }
        self.response_time = Some(time.usual(self.response_time));
        Ok(answer)
    }
}
