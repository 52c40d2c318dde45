//! The addresses of the server in use that connections lead to.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use super::hosts::ServerAddress;

/// Maximum number of addresses. It bounds the number of watched servers if a name leads to many of them in turn.
const MAX_ADDRESSES: usize = 16;

/// Addresses that connections of an epoch lead to.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses(Vec<UsedAddress>);

#[derive(Clone, Copy, Debug)]
struct UsedAddress {
    address: ServerAddress,
    /// When the last connection to it was made.
    connected: Instant,
    /// When the last question that it has answered was sent.
    answered: Option<Instant>,
}

impl Addresses {
    pub(super) fn iter(&self) -> impl Iterator<Item = ServerAddress> {
        self.0.iter().map(|used| used.address)
    }

    /// Returns whether an address has answered a question that was sent at a time or later.
    pub(super) fn has_answered(&self, address: ServerAddress, since: Instant) -> bool {
        let used = self.0.iter().find(|used| used.address == address);
        used.and_then(|used| used.answered).is_some_and(|answered| answered >= since)
    }

    /// Notes that an address has answered a question that was sent at a time.
    pub(super) fn note_answer(&mut self, address: ServerAddress, asked: Instant) {
        if let Some(used) = self.0.iter_mut().find(|used| used.address == address) {
            used.answered = used.answered.max(Some(asked));
        }
    }

    /// Notes a new connection. If there are too many addresses, the one whose last connection is the oldest is forgotten.
    pub(super) fn note_connection(&mut self, address: ServerAddress) {
        let connected = Instant::now();
        if let Some(used) = self.0.iter_mut().find(|used| used.address == address) {
            used.connected = connected;
            return;
        }
        self.0.sort_by_key(|used| Reverse(used.connected));
        self.0.truncate(MAX_ADDRESSES - 1);
        self.0.push(UsedAddress { address, connected, answered: None });
    }

    /// Forgets the addresses to which no connection was made for a time, but not the current one.
    pub(super) fn forget(&mut self, current: Option<ServerAddress>, age: Duration) {
        self.0.retain(|used| Some(used.address) == current || used.connected.elapsed() <= age);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn address(number: u8) -> ServerAddress {
        ServerAddress { host: 0, ip: Some(IpAddr::from([127, 0, 0, number])) }
    }

    #[test]
    fn addresses_without_new_connections_are_forgotten() {
        let mut addresses = Addresses::default();
        (1..4).for_each(|number| addresses.note_connection(address(number)));
        addresses.forget(None, Duration::from_secs(3_600));
        assert_eq!(addresses.iter().count(), 3);
        addresses.forget(Some(address(2)), Duration::ZERO);
        assert_eq!(addresses.iter().collect::<Vec<_>>(), [address(2)]);
    }

    #[test]
    fn name_with_many_addresses_has_few_of_them_watched() {
        let mut addresses = Addresses::default();
        for number in 0..=255 {
            addresses.note_connection(address(number));
            // One of them is used all the time.
            addresses.note_connection(address(0));
        }
        let left: Vec<ServerAddress> = addresses.iter().collect();
        assert_eq!(left.len(), MAX_ADDRESSES);
        assert!(left.contains(&address(0)) && left.contains(&address(255)));
    }

    #[test]
    fn answer_counts_from_the_time_of_its_question() {
        let mut addresses = Addresses::default();
        addresses.note_connection(address(1));
        let (before, asked) = (Instant::now(), Instant::now() + Duration::from_millis(1));
        addresses.note_answer(address(1), asked);
        assert!(addresses.has_answered(address(1), before));
        assert!(!addresses.has_answered(address(1), asked + Duration::from_millis(1)));
        assert!(!addresses.has_answered(address(2), before));
    }
}
