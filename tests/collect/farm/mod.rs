//! A farm of agents in memory, as a transport in virtual time.
//!
//! It counts what is sent to each address, and answers as the faults of each agent say.

pub(crate) mod agent;
pub(crate) mod recording;
mod usm;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use toposcope::collect::{Datagram, Transport, TransportFuture};

pub(crate) use agent::{Agent, Fault};

/// A farm of agents. Clones are the same farm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Farm {
    state: Arc<Mutex<FarmState>>,
    arrived: Arc<Notify>,
}

#[derive(Debug, Default)]
struct FarmState {
    agents: BTreeMap<IpAddr, Agent>,
    sent: Vec<(Instant, IpAddr)>,
    /// All that was sent and answered.
    captured: Vec<u8>,
    answers: BinaryHeap<Reverse<Answer>>,
    number: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    due: Instant,
    number: u64,
    from: SocketAddr,
    bytes: Vec<u8>,
}

impl Farm {
    pub(crate) fn with(agents: impl IntoIterator<Item = (IpAddr, Agent)>) -> Self {
        let farm = Self::default();
        farm.lock().agents.extend(agents);
        farm
    }

    fn lock(&self) -> MutexGuard<'_, FarmState> {
        self.state.lock().unwrap()
    }

    /// Returns time and address of each packet that was sent.
    pub(crate) fn sent(&self) -> Vec<(Instant, IpAddr)> {
        self.lock().sent.clone()
    }

    /// Returns the number of packets that were sent to an address.
    pub(crate) fn count(&self, address: IpAddr) -> usize {
        self.lock().sent.iter().filter(|(_, to)| *to == address).count()
    }

    /// Returns whether any packet has these bytes.
    pub(crate) fn has_seen(&self, bytes: &[u8]) -> bool {
        self.lock().captured.windows(bytes.len()).any(|window| window == bytes)
    }

    /// Returns the number of times that the packets have these bytes.
    pub(crate) fn times_seen(&self, bytes: &[u8]) -> usize {
        self.lock().captured.windows(bytes.len()).filter(|window| *window == bytes).count()
    }

    /// Changes an agent.
    pub(crate) fn change(&self, address: IpAddr, change: impl FnOnce(&mut Agent)) {
        change(self.lock().agents.get_mut(&address).unwrap());
    }

    fn take(&self, to: SocketAddr, datagram: &[u8]) {
        let mut state = self.lock();
        let now = Instant::now();
        state.sent.push((now, to.ip()));
        state.captured.extend_from_slice(datagram);
        let Some(agent) = state.agents.get_mut(&to.ip()) else { return };
        for (delay, from, bytes) in agent.answer(datagram, now) {
            let from = SocketAddr::new(from.unwrap_or(to.ip()), to.port());
            let number = state.number;
            state.number += 1;
            state.answers.push(Reverse(Answer { due: now + delay, number, from, bytes }));
        }
        drop(state);
        self.arrived.notify_one();
    }

    async fn next(&self) -> Datagram {
        loop {
            let due = {
                let mut state = self.lock();
                let due = state.answers.peek().map(|Reverse(answer)| answer.due);
                if due.is_some_and(|due| due <= Instant::now()) {
                    let Reverse(answer) = state.answers.pop().unwrap();
                    return Datagram::new(answer.from, answer.bytes);
                }
                due
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
