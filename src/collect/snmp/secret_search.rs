//! The search for a secret to which an address answers.

use std::net::SocketAddr;
use std::time::Duration;

use super::super::gate::Gate;
use super::super::secret::SnmpSecret;
use super::agent::SnmpAgent;
use super::error::{AskError, SnmpRefusal};

/// Maximum number of secrets that are tried for an address.
pub(in crate::collect) const MAX_SECRETS: usize = 4;

/// The timeouts of messages with the first user of SNMPv3, and with the first community.
const FIRST_TIMEOUTS: [Duration; 3] = seconds([1, 2, 4]);

/// The timeouts of messages with further secrets.
const FURTHER_TIMEOUTS: [Duration; 2] = seconds([1, 2]);

/// The timeout of a message whose answer may come from another address.
const ANY_SOURCE_TIMEOUTS: [Duration; 1] = seconds([2]);

const fn seconds<const N: usize>(numbers: [u64; N]) -> [Duration; N] {
    let mut durations = [Duration::ZERO; N];
    let mut place = 0;
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
    while place < N {
        durations[place] = Duration::from_secs(numbers[place]);
        place += 1;
    }
    durations
}

/// The results of the secrets that were tried.
struct SecretSearch<'s> {
    gate: &'s Gate,
    target: SocketAddr,
    secrets: &'s [SnmpSecret],
    /// The most useful error so far.
    failure: AskError,
    /// Whether the agent knows a user of SNMPv3. Such an agent is none to send a community in plain text to.
    knows_user: bool,
}

impl SnmpAgent {
    /// Finds the first of these secrets to which an address answers. Users of SNMPv3 are tried first, and at most four secrets in all.
    ///
    /// An agent that has answered to a user of SNMPv3, or has refused one that it knows, is sent no community. If the address answers to none
    /// of the secrets, each is tried once more, and an answer may come from any address of the allow-list.
    ///
    /// # Errors
    /// Returns an error if the allow-list does not have the address, if there is no secret, and if the agent answers to none
    /// of them.
    pub async fn find(gate: &Gate, target: SocketAddr, secrets: Vec<SnmpSecret>) -> Result<Self, AskError> {
        let (mut ordered, communities): (Vec<_>, Vec<_>) = secrets.into_iter().partition(SnmpSecret::is_v3);
        ordered.extend(communities);
        ordered.truncate(MAX_SECRETS);
        Self::find_in_order(gate, target, &ordered).await.map(|(agent, _)| agent)
    }

    /// Finds the first of these secrets to which an address answers, in this order. Also returns its place.
    pub(in crate::collect) async fn find_in_order(
        gate: &Gate,
        target: SocketAddr,
        secrets: &[SnmpSecret],
    ) -> Result<(Self, usize), AskError> {
        if !gate.allows(target.ip()) {
            return Err(AskError::NotAllowed);
        }
        let (failure, knows_user) = (AskError::NoSecret, false);
        let mut search = SecretSearch { gate, target, secrets, failure, knows_user };
        if let Some(found) = search.try_each(false).await {
            return Ok(found);
        }
        // An address that has answered with an error needs no answer from elsewhere.
        let found = match search.failure {
            AskError::Silent => search.try_each(true).await,
            _ => None,
        };
        found.ok_or(search.failure)
    }
}

impl SecretSearch<'_> {
    /// Tries each secret, and returns the agent that answers, with the place of its secret.
    async fn try_each(&mut self, from_any: bool) -> Option<(SnmpAgent, usize)> {
        for (place, secret) in self.secrets.iter().enumerate() {
            if self.knows_user && !secret.is_v3() {
                break;
            }
            let timeouts: &[Duration] =
                if from_any { &ANY_SOURCE_TIMEOUTS } else { self.timeouts(place, secret) };
            match SnmpAgent::open(self.gate, self.target, secret, timeouts, from_any).await {
                Ok(agent) => return Some((agent, place)),
                Err(error) => self.note(error, secret),
            }
        }
        None
    }

    /// Returns the timeouts of a secret: the first one of its kind has more time, because a device may speak one version alone.
    fn timeouts(&self, place: usize, secret: &SnmpSecret) -> &'static [Duration] {
        let first = self.secrets.iter().position(|other| other.is_v3() == secret.is_v3());
        if first == Some(place) { &FIRST_TIMEOUTS } else { &FURTHER_TIMEOUTS }
    }

    fn note(&mut self, error: AskError, secret: &SnmpSecret) {
        let is_answer =
            |error| matches!(error, AskError::Refused(_) | AskError::Denied(_) | AskError::Undecodable);
        self.knows_user |= match error {
            // Without a valid engine id, no user was sent.
            AskError::Refused(SnmpRefusal::UnknownUser | SnmpRefusal::UnstableEngine) => false,
            AskError::Refused(_) => true,
            AskError::Denied(_) => secret.is_v3(),
            _ => false,
        };
        // A refusal is a more useful error than a timeout with another secret.
        if is_answer(error) || !is_answer(self.failure) {
            self.failure = error;
        }
    }
}
