//! A farm in memory, as a transport in virtual time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use toposcope::collect::{Datagram, Transport, TransportFuture};

use super::agent::Agent;
use super::agents::Agents;
use super::counters::Counters;
use super::faulty::FaultyNetwork;
use super::line::Line;
use super::network::Network;
use super::usm::FarmUser;

/// The shortest time of an answer.
const RESPONSE_TIME: Duration = Duration::from_millis(5);

/// The collector, whose address no test looks at.
const COLLECTOR: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// A farm of agents in memory. Clones are the same farm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Farm {
    state: Arc<Mutex<FarmState>>,
    arrived: Arc<Notify>,
}

#[derive(Debug, Default)]
struct FarmState {
    agents: Agents,
    sent: Vec<(Instant, IpAddr)>,
    /// All that was sent.
    captured: Vec<u8>,
    port: u16,
}

impl Farm {
    pub(crate) fn with(agents: impl IntoIterator<Item = (IpAddr, Agent)>) -> Self {
        let farm = Self::default();
        let mut state = farm.lock();
        state.agents.line = Line::new(0.0, 0.0, RESPONSE_TIME, Duration::ZERO);
        for (address, agent) in agents {
            state.agents.add([address], agent);
        }
        drop(state);
        farm
    }

    /// Serves a network.
    pub(crate) fn of(network: &Network, community: &[u8], user: Option<&FarmUser>) -> Self {
        let farm = Self::with([]);
        network.add_to(&mut farm.lock().agents, community, user);
        farm
    }

    /// Serves a network of devices with faults.
    pub(crate) fn of_faulty(faulty: &FaultyNetwork) -> Self {
        let farm = Self::with([]);
        faulty.add_to(&mut farm.lock().agents);
        farm
    }

    /// Replaces the line.
    pub(crate) fn on(self, line: Line) -> Self {
        self.lock().agents.line = line;
        self
    }

    fn lock(&self) -> MutexGuard<'_, FarmState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns time and address of each packet that was sent.
    pub(crate) fn sent(&self) -> Vec<(Instant, IpAddr)> {
        self.lock().sent.clone()
    }

    /// Returns the counts of the packets.
    pub(crate) fn counters(&self) -> Counters {
        self.lock().agents.counters.clone()
    }

    /// Returns the number of packets that were sent to an address.
    pub(crate) fn count(&self, address: IpAddr) -> u64 {
        self.lock().agents.counters.packets_to(address)
    }

    /// Returns whether any packet has these bytes.
    pub(crate) fn has_seen(&self, bytes: &[u8]) -> bool {
        self.lock().captured.windows(bytes.len()).any(|window| window == bytes)
    }

    /// Returns the number of times that the packets have these bytes.
    pub(crate) fn times_seen(&self, bytes: &[u8]) -> usize {
        self.lock().captured.windows(bytes.len()).filter(|window| *window == bytes).count()
    }

    /// Changes the agent of an address, which must have one.
    pub(crate) fn change(&self, address: IpAddr, change: impl FnOnce(&mut Agent)) {
        change(self.lock().agents.agent(address).expect("the address has an agent"));
    }

    fn take(&self, to: SocketAddr, datagram: &[u8]) {
        let mut state = self.lock();
        let now = Instant::now();
        state.port = to.port();
        state.sent.push((now, to.ip()));
        state.captured.extend_from_slice(datagram);
        state.agents.take(COLLECTOR, to.ip(), datagram, now);
        drop(state);
        self.arrived.notify_one();
    }

    async fn next(&self) -> Datagram {
        loop {
            let due = {
                let mut state = self.lock();
                if let Some(answer) = state.agents.due(Instant::now()) {
                    return Datagram::new(SocketAddr::new(answer.from, state.port), answer.bytes);
                }
                state.agents.next_due()
            };
            let due = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600));
            tokio::select! {
                () = sleep_until(due) => {}
                () = self.arrived.notified() => {}
            }
        }
    }
}

impl Transport for Farm {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        self.take(to, datagram);
        Box::pin(std::future::ready(Ok(())))
    }

    fn receive(&self) -> TransportFuture<'_, Datagram> {
        Box::pin(async { Ok(self.next().await) })
    }
}
