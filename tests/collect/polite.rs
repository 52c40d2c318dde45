//! Limits that are checked with every packet of every test.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use toposcope::collect::{AllowList, Datagram, Gate, Pace, Transport, TransportFuture};

use crate::farm::counters::{Counters, Peaks};

/// The limits of a gate, with the packets of its transport and of all probes so far. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Politeness {
    allowed: AllowList,
    pace: Pace,
    counters: Arc<Mutex<Counters>>,
}

impl Politeness {
    pub(crate) fn new(allowed: AllowList, pace: Pace) -> Self {
        Self { allowed, pace, counters: Arc::default() }
    }

    /// Returns the limits of an allow-list and the usual pace.
    pub(crate) fn of(allowed: &str) -> Self {
        Self::new(allowed.parse().unwrap(), Pace::default())
    }

    /// Returns the limits of another allow-list, with the same packets.
    pub(crate) fn within(&self, allowed: AllowList) -> Self {
        Self { allowed, ..self.clone() }
    }

    /// Returns a gate with these limits.
    pub(crate) fn gate(&self, transport: impl Transport) -> Gate {
        let (allowed, politeness) = (self.allowed.clone(), self.clone());
        Gate::new(Polite { transport, politeness }, allowed, self.pace)
    }

    /// Fails the test if a packet to this address is beyond the allow-list or the pace.
    pub(crate) fn check(&self, to: IpAddr) {
        assert!(self.allowed.contains(to), "a packet to {to}, which is not allowed");
        let mut counters = self.counters.lock().unwrap();
        counters.count(to, true, Instant::now());
        let Peaks { all, subnet, address } = counters.peaks_at(to);
        let peaks = [all, subnet, address];
        let limits = [self.pace.all, self.pace.subnet, self.pace.device].map(|limit| limit as usize);
        assert!(
            peaks.iter().zip(limits).all(|(peak, limit)| *peak <= limit),
            "{peaks:?} packets in a second, of {limits:?}: to all, to the subnet of {to}, and to it"
        );
    }
}

/// A transport that checks each packet.
#[derive(Debug)]
struct Polite<T> {
    transport: T,
    politeness: Politeness,
}

impl<T: Transport> Transport for Polite<T> {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        self.politeness.check(to.ip());
        self.transport.send(to, datagram)
    }

    fn receive(&self) -> TransportFuture<'_, Datagram> {
        self.transport.receive()
    }
}

/// Returns a gate with an allow-list and a pace that are checked with every packet.
pub(crate) fn polite_gate(transport: impl Transport, allowed: AllowList, pace: Pace) -> Gate {
    Politeness::new(allowed, pace).gate(transport)
}

#[tokio::test]
#[should_panic(expected = "a packet to 198.51.100.1, which is not allowed")]
async fn packet_to_another_address_fails_the_test() {
    Politeness::of("192.0.2.0/24").check("198.51.100.1".parse().unwrap());
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "[21, 21, 21] packets in a second")]
async fn packet_beyond_the_pace_fails_the_test() {
    let politeness = Politeness::of("192.0.2.0/24");
    (0..21).for_each(|_| politeness.check("192.0.2.1".parse().unwrap()));
}
