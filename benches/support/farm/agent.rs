//! One agent: its variables, its credentials, and its faults.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Bound;
use std::time::Duration;

use async_snmp::message::CommunityMessage;
use async_snmp::{DecodeConfig, Pdu, PduType, Value, Version};
use bytes::Bytes;
use tokio::time::Instant;
use toposcope::collect::snmp::{ObjectId, SnmpValue};

use super::Variables;
use super::fault::Fault;
use super::pdu::{GEN_ERR, NO_SUCH_NAME, TOO_BIG, error, response, spoil, wire};
use super::usm::FarmEngine;

/// The time of a reboot.
const REBOOT: Duration = Duration::from_secs(8);

/// `sysUpTime.0`.
const UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];

/// An SNMP agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agent {
    pub(crate) variables: Variables,
    pub(crate) community: Vec<u8>,
    /// Whether it speaks nothing but SNMPv1.
    pub(crate) is_v1: bool,
    pub(crate) engine: Option<FarmEngine>,
    pub(crate) faults: Vec<Fault>,
    /// The agents that answer in the contexts of VLANs.
    pub(crate) vlans: BTreeMap<u16, Self>,
    packets: u64,
    /// The end of a reboot.
    starts: Option<Instant>,
    /// `sysUpTime` when it began to run.
    first_up_time: Option<u32>,
}

/// An answer of an agent.
pub(super) struct DelayedAnswer {
    /// The time that the agent takes for it.
    pub(super) delay: Duration,
    /// The address that it comes from, if it is not the one that was asked.
    pub(super) from: Option<IpAddr>,
    pub(super) bytes: Vec<u8>,
}

impl Agent {
    /// Creates an agent with a community.
    pub(crate) fn new(community: &[u8], variables: Variables) -> Self {
        Self { community: community.to_vec(), variables, ..Self::default() }
    }

    pub(crate) fn faulty(self, faults: impl Into<Vec<Fault>>) -> Self {
        Self { faults: faults.into(), ..self }
    }

    pub(crate) fn v1(self) -> Self {
        Self { is_v1: true, ..self }
    }

    pub(crate) fn v3(self, engine: FarmEngine) -> Self {
        Self { engine: Some(engine), community: Vec::new(), ..self }
    }

    /// Returns the variables below an object.
    pub(crate) fn below(&self, root: &[u32]) -> Vec<(ObjectId, SnmpValue)> {
        let below = self.variables.range(root.to_vec()..).take_while(|(id, _)| id.starts_with(root));
        below.map(|(id, value)| (ObjectId::new(id.clone()), value.clone())).collect()
    }

    /// Sets `sysUpTime` to that of a time after it has begun to run.
    pub(super) fn run(&mut self, time: Duration) {
        if let Some(SnmpValue::TimeTicks(ticks)) = self.variables.get_mut(&UP_TIME[..]) {
            let first = *self.first_up_time.get_or_insert(*ticks);
            *ticks = first.wrapping_add((time.as_millis() / 10) as u32);
        }
    }

    pub(super) fn answer(&mut self, datagram: &[u8], now: Instant) -> Vec<DelayedAnswer> {
        self.packets += 1;
        let is_dropped = self.faults.iter().any(|fault| match fault {
            Fault::DropsEvery(number) => self.packets.is_multiple_of(*number),
            Fault::DropsFrom(first, count) => (*first..first + count).contains(&self.packets),
            Fault::DiesAfter(number) => self.packets > *number,
            _ => false,
        });
        self.change(now);
        if is_dropped || self.starts.is_some_and(|starts| now < starts) {
            return Vec::new();
        }
        let Some(answers) = self.messages(datagram, now) else { return Vec::new() };
        let (mut delay, mut from) = (Duration::ZERO, None);
        for fault in &self.faults {
            match fault {
                Fault::Takes(time) => delay = *time,
                Fault::TakesForEvery(number, time) if self.packets.is_multiple_of(*number) => delay = *time,
                Fault::AnswersFrom(address) => from = Some(*address),
                _ => {}
            }
        }
        let copies = if self.has(|fault| matches!(fault, Fault::Duplicates)) { 2 } else { 1 };
        let answers = answers.into_iter().flat_map(|answer| vec![answer; copies]);
        answers.map(|bytes| DelayedAnswer { delay, from, bytes }).collect()
    }

    /// Changes what the faults change with the number of packets.
    fn change(&mut self, now: Instant) {
        for fault in &self.faults {
            match (fault, &mut self.engine) {
                (Fault::UpTimeJumps, _) => {
                    let ticks = (self.packets as u32).wrapping_mul(2_654_435_761);
                    self.variables.insert(UP_TIME.to_vec(), SnmpValue::TimeTicks(ticks));
                }
                (Fault::BecomesAfter(number, variables), _) if self.packets == *number => {
                    self.variables.clone_from(variables);
                }
                (Fault::RebootsAfter(number), engine) if self.packets == *number => {
                    self.starts = Some(now + REBOOT);
                    self.variables.insert(UP_TIME.to_vec(), SnmpValue::TimeTicks(0));
                    if let Some(engine) = engine {
                        (engine.boots, engine.time, engine.began) = (engine.boots + 1, 0, None);
                    }
                }
                (Fault::EngineTimeJumps(number), Some(engine)) if self.packets.is_multiple_of(*number) => {
                    engine.time += 10_000;
                }
                (Fault::EngineChangesAfter(number), Some(engine)) if self.packets == *number => {
                    engine.id.push(1);
                }
                _ => {}
            }
        }
    }

    /// Returns the agent in the context of a VLAN.
    fn in_vlan(&self, vlan: Option<u16>) -> Option<&Self> {
        match vlan {
            Some(vlan) => self.vlans.get(&vlan),
            None => Some(self),
        }
    }

    fn has(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().any(is)
    }

    fn messages(&mut self, datagram: &[u8], now: Instant) -> Option<Vec<Vec<u8>>> {
        let bytes = Bytes::copy_from_slice(datagram);
        if let Some(mut engine) = self.engine.take() {
            let answer = engine.answer(&bytes, now, |context, pdu| {
                let vlan = context.strip_prefix(b"vlan-").and_then(vlan);
                self.in_vlan(vlan)?.respond(Version::V3, pdu)
            });
            self.engine = Some(engine);
            if let Some(answer) = answer {
                return Some(vec![answer]);
            }
        }
        let message = CommunityMessage::decode(bytes, DecodeConfig::default()).ok()?.value;
        let (version, community, pdu) = message.into_parts();
        let community = community.as_bytes().to_vec();
        let context =
            community.strip_prefix(self.community.as_slice()).filter(|_| !self.community.is_empty())?;
        let vlan = context.strip_prefix(b"@").and_then(vlan);
        if vlan.is_none() && !context.is_empty() {
            return None;
        }
        if self.is_v1 && version != Version::V1 {
            return None;
        }
        let pdu = pdu.standard()?.clone();
        let answer = self.in_vlan(vlan)?.respond(version, &pdu)?;
        let mut answers = vec![answer.clone()];
        if self.has(|fault| matches!(fault, Fault::WrongIds)) {
            let (id, body, varbinds) = answer.into_raw_parts();
            answers.insert(0, Pdu::from_raw_parts(id ^ 1, body, varbinds));
        }
        let other = self.faults.iter().find_map(|fault| match fault {
            Fault::AnswersWithCommunity(other) => Some(other.to_vec()),
            _ => None,
        });
        let community = other.unwrap_or(community);
        let sends_undecodable = self.has(|fault| matches!(fault, Fault::SendsUndecodable));
        let encode = |pdu: Pdu| {
            let message = match version {
                Version::V1 => CommunityMessage::v1(community.clone(), pdu),
                _ => CommunityMessage::v2c(community.clone(), pdu),
            };
            let mut bytes = Vec::from(message.unwrap().encode().unwrap());
            if sends_undecodable {
                spoil(&mut bytes);
            }
            bytes
        };
        Some(answers.into_iter().map(encode).collect())
    }

    /// Answers a request.
    fn respond(&self, version: Version, pdu: &Pdu) -> Option<Pdu> {
        let objects: Vec<Vec<u32>> =
            pdu.varbinds().iter().map(|varbind| varbind.oid.arcs().to_vec()).collect();
        for (fault, object) in
            self.faults.iter().flat_map(|fault| objects.iter().map(move |object| (fault, object)))
        {
            let asked = match pdu.pdu_type() {
                PduType::GetRequest => Some(object.clone()),
                _ => self.next(object).map(|(id, _)| id),
            };
            let is_below = |root: &[u32]| asked.as_ref().is_some_and(|id| id.starts_with(root));
            match fault {
                Fault::SilentBelow(root) if is_below(root) => return None,
                Fault::FailsBelow(root) if is_below(root) => return Some(error(pdu, GEN_ERR)),
                _ => {}
            }
        }
        for fault in &self.faults {
            match fault {
                Fault::AnswersGetAlone if pdu.pdu_type() != PduType::GetRequest => return None,
                Fault::Denies(denied, status) if *denied == version => return Some(error(pdu, *status)),
                _ => {}
            }
        }
        let fails_at_end = self.has(|fault| matches!(fault, Fault::FailsAtEnd));
        let mut found = Vec::new();
        match pdu.pdu_type() {
            PduType::GetRequest => {
                for object in &objects {
                    match self.variables.get(object) {
                        Some(value) => found.push((object.clone(), wire(value))),
                        None if version == Version::V1 => return Some(error(pdu, NO_SUCH_NAME)),
                        None => found.push((object.clone(), self.exception(object))),
                    }
                }
            }
            PduType::GetNextRequest => {
                for object in objects {
                    match self.next(&object) {
                        Some(next) => found.push((next.0, wire(&next.1))),
                        None if fails_at_end => return Some(error(pdu, GEN_ERR)),
                        None if version == Version::V1 => return Some(error(pdu, NO_SUCH_NAME)),
                        None => found.push((object, Value::EndOfMibView)),
                    }
                }
            }
            PduType::GetBulkRequest => return self.respond_bulk(pdu, objects.first()?.clone()),
            _ => return None,
        }
        Some(response(pdu, 0, found))
    }

    fn respond_bulk(&self, pdu: &Pdu, mut object: Vec<u32>) -> Option<Pdu> {
        let (_, repetitions) = pdu.get_bulk_fields()?;
        for fault in &self.faults {
            match fault {
                Fault::IgnoresBulk => return None,
                Fault::RefusesBulk => return Some(error(pdu, GEN_ERR)),
                Fault::AnswersBulkWithNothing => return Some(response(pdu, 0, Vec::new())),
                Fault::TooBigAbove(most) if repetitions > *most => return Some(error(pdu, TOO_BIG)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        if self.faults.is_empty() {
            let behind = (Bound::Excluded(object.as_slice()), Bound::Unbounded);
            let next = self.variables.range::<[u32], _>(behind).take(repetitions as usize);
            found.extend(next.map(|(id, value)| (id.clone(), wire(value))));
            if found.len() < repetitions as usize {
                found.push((found.last().map_or(object, |(id, _)| id.clone()), Value::EndOfMibView));
            }
            return Some(response(pdu, 0, found));
        }
        for _ in 0..repetitions {
            match self.next(&object) {
                Some((next, value)) => {
                    object = next.clone();
                    found.push((next, wire(&value)));
                }
                None if self.has(|fault| matches!(fault, Fault::FailsAtEnd)) => break,
                None => {
                    found.push((object, Value::EndOfMibView));
                    break;
                }
            }
        }
        if found.is_empty() {
            return Some(error(pdu, GEN_ERR));
        }
        Some(response(pdu, 0, found))
    }

    /// Returns the variable behind an object, as the faults of the agent have it.
    fn next(&self, object: &[u32]) -> Option<(Vec<u32>, SnmpValue)> {
        let behind = |object: &[u32]| {
            let mut range = self.variables.range(object.to_vec()..).filter(|(id, _)| id.as_slice() > object);
            range.next().map(|(id, value)| (id.clone(), value.clone()))
        };
        let next = behind(object);
        for fault in &self.faults {
            let leaves = |root: &[u32]| {
                object.starts_with(root) && !next.as_ref().is_some_and(|(id, _)| id.starts_with(root))
            };
            match fault {
                Fault::RepeatsAt(at) if object == at => {
                    return Some((at.clone(), self.variables[at].clone()));
                }
                Fault::Circles(root) if leaves(root) => return behind(root),
                Fault::GoesBackBehind(root) if leaves(root) => return behind(&[]),
                Fault::EndsViewBehind(root) if leaves(root) => return None,
                Fault::Unsorted(root) => {
                    let below: Vec<_> = self.variables.range(root.to_vec()..).collect();
                    let mut below: Vec<_> =
                        below.into_iter().take_while(|(id, _)| id.starts_with(root)).collect();
                    let last = below.last()?.0.clone();
                    below.reverse();
                    let place = below.iter().position(|(id, _)| id.as_slice() == object);
                    match (place, &next) {
                        (Some(place), _) => match below.get(place + 1) {
                            Some((id, value)) => return Some(((*id).clone(), (*value).clone())),
                            None => return behind(&last),
                        },
                        (None, Some((id, _))) if id.starts_with(root) => {
                            let (id, value) = below[0];
                            return Some((id.clone(), value.clone()));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        next
    }

    /// Returns what a GET for an absent object is answered with.
    fn exception(&self, object: &[u32]) -> Value {
        let column = &object[..object.len() - 1];
        let is_known =
            self.variables.range(column.to_vec()..).next().is_some_and(|(id, _)| id.starts_with(column));
        if is_known { Value::NoSuchInstance } else { Value::NoSuchObject }
    }
}

fn vlan(digits: &[u8]) -> Option<u16> {
    str::from_utf8(digits).ok()?.parse().ok()
}
