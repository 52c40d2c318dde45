//! Sweeps: prefixes become the addresses that are in use.

mod probes;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use ipnet::IpNet;
use tokio::task::JoinSet;

pub use probes::{Probes, SystemProbes};

use super::gate::Gate;
use super::panics::resume;

/// Maximum number of addresses of a sweep.
pub(super) const MAX_ADDRESSES: usize = 65_536;

/// Maximum number of addresses that are probed at the same time.
const MAX_PROBED: usize = 256;

/// The TCP ports that are connected to: SSH, HTTP and HTTPS.
const PORTS: [u16; 3] = [22, 80, 443];

/// An address that is in use, with the sign of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveAddress {
    /// The address.
    pub address: IpAddr,
    /// The first sign that it is in use.
    pub sign: LiveSign,
}

/// The sign that an address is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LiveSign {
    /// It answered an echo request of ICMP.
    Echo,
    /// It accepted or refused a TCP connection to this port.
    Tcp(u16),
    /// The neighbor table of this machine has a MAC address for it.
    NeighborTable,
}

/// The reason why a sweep does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The prefixes have too many addresses.
    #[error("a sweep has at most 65536 addresses; divide the prefixes")]
    TooLarge,
    /// No address of a prefix may be sent packets.
    #[error("the allow-list does not have any address of {0}")]
    NotAllowed(IpNet),
}

/// A sweep, as a stream of the addresses that are in use.
///
/// An address gets at most one echo request of ICMP and one TCP connection to each of the ports 22, 80 and 443, of which none
/// is sent a byte, in this order and until it shows that it is in use. At most 256 addresses are probed at the same time. At
/// the end, the addresses follow for which the neighbor table of this machine has a MAC address.
///
/// Every packet passes the [`Gate`]: other addresses than those of its allow-list are left out, and so are the first and the last
/// address of each IPv4 prefix. Dropping the sweep stops it.
///
/// ```no_run
/// use toposcope::collect::sweep::{Sweep, SystemProbes};
/// use toposcope::collect::{Gate, Pace, UdpTransport};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::new(UdpTransport::open().await?, "192.0.2.0/24".parse()?, Pace::default());
/// let mut sweep = Sweep::begin(&gate, ["192.0.2.0/25".parse()?], SystemProbes::open())?;
/// if let Some(reason) = sweep.without_echo() {
///     println!("without ICMP: {reason}");
/// }
/// while let Some(live) = sweep.next().await {
///     println!("{} is in use", live.address);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Sweep {
    gate: Gate,
    probes: Arc<dyn Probes>,
    /// The addresses that are still to be probed.
    addresses: VecDeque<IpAddr>,
    /// The addresses that are being probed, and those that have shown nothing.
    silent: HashSet<IpAddr>,
    /// The addresses that only the neighbor table has; `None` until all were probed.
    cached: Option<VecDeque<IpAddr>>,
    work: JoinSet<(IpAddr, Option<LiveSign>)>,
}

impl fmt::Debug for Sweep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, probed) = (self.addresses.len(), self.work.len());
        formatter.debug_struct("Sweep").field("left", &left).field("probed", &probed).finish_non_exhaustive()
    }
}

impl Sweep {
    /// Begins with the addresses of some prefixes. The sweep must be polled within a tokio runtime.
    ///
    /// # Errors
    /// Returns an error if the prefixes have more than 65,536 addresses, or if the allow-list of the gate has no address of
    /// one of them.
    pub fn begin(
        gate: &Gate,
        prefixes: impl IntoIterator<Item = IpNet>,
        probes: impl Probes,
    ) -> Result<Self, SweepError> {
        Self::begin_with(gate, prefixes, Arc::new(probes))
    }

    pub(super) fn begin_with(
        gate: &Gate,
        prefixes: impl IntoIterator<Item = IpNet>,
        probes: Arc<dyn Probes>,
    ) -> Result<Self, SweepError> {
        let (mut known, mut addresses, mut room) = (HashSet::new(), VecDeque::new(), MAX_ADDRESSES as u128);
        for prefix in prefixes {
            room = room.checked_sub(size(prefix)).ok_or(SweepError::TooLarge)?;
            let mut is_allowed = false;
            for address in prefix.hosts().filter(|address| gate.allows(*address)) {
                is_allowed = true;
                if known.insert(address) {
                    addresses.push_back(address);
                }
            }
            if !is_allowed {
                return Err(SweepError::NotAllowed(prefix));
            }
        }
        let (gate, silent, work) = (gate.clone(), HashSet::new(), JoinSet::new());
        Ok(Self { gate, probes, addresses, silent, cached: None, work })
    }

    /// Returns the reason why no echo requests of ICMP are sent, such as that the system refuses a socket for them.
    #[must_use]
    pub fn without_echo(&self) -> Option<std::io::ErrorKind> {
        self.probes.without_echo()
    }

    /// Waits for the next address that is in use; `None`: all were probed.
    pub async fn next(&mut self) -> Option<LiveAddress> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    fn begin_work(&mut self) {
        while self.work.len() < MAX_PROBED
            && let Some(address) = self.addresses.pop_front()
        {
            self.silent.insert(address);
            let (gate, probes) = (self.gate.clone(), Arc::clone(&self.probes));
            self.work.spawn(async move { (address, probe(&gate, &*probes, address).await) });
        }
    }

    /// Returns the next address of the neighbor table that has shown nothing else.
    fn next_cached(&mut self) -> Option<LiveAddress> {
        let Self { cached, probes, silent, .. } = self;
        let cached = cached.get_or_insert_with(|| {
            probes.neighbors().into_iter().filter(|address| silent.remove(address)).collect()
        });
        cached.pop_front().map(|address| LiveAddress { address, sign: LiveSign::NeighborTable })
    }
}

impl Stream for Sweep {
    type Item = LiveAddress;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<LiveAddress>> {
        loop {
            self.begin_work();
            match self.work.poll_join_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(self.next_cached()),
                Poll::Ready(Some(Ok((address, Some(sign))))) => {
                    self.silent.remove(&address);
                    return Poll::Ready(Some(LiveAddress { address, sign }));
                }
                Poll::Ready(Some(Ok((_, None)))) => {}
                Poll::Ready(Some(Err(error))) => resume(error),
            }
        }
    }
}

/// Probes an address until it shows that it is in use.
async fn probe(gate: &Gate, probes: &dyn Probes, address: IpAddr) -> Option<LiveSign> {
    if probes.without_echo().is_none()
        && let Ok(true) = gate.send_by(address, || probes.echo(address)).await
    {
        return Some(LiveSign::Echo);
    }
    for port in PORTS {
        let to = SocketAddr::new(address, port);
        if let Ok(true) = gate.send_by(address, || probes.connect(to)).await {
            return Some(LiveSign::Tcp(port));
        }
    }
    None
}

/// Returns the number of addresses of a prefix.
fn size(prefix: IpNet) -> u128 {
    let bits = prefix.max_prefix_len() - prefix.prefix_len();
    1_u128.checked_shl(u32::from(bits)).unwrap_or(u128::MAX)
}
