//! The packets of sweeps, and the neighbor table of this machine.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::collect::transport::TransportFuture;

/// The time in which an echo request must be answered.
const ECHO_TIMEOUT: Duration = Duration::from_secs(1);

/// The time in which a connection must be accepted or refused. Systems repeat the first packet after a second.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(900);

/// The delay after a message that could not be received.
const RECEIVE_RETRY_DELAY: Duration = Duration::from_millis(10);

/// The length of the header of an echo message.
const ECHO_HEADER: usize = 8;

/// The types of echo messages: requests and replies of ICMP and ICMPv6.
const ECHO_REQUEST_V4: u8 = 8;
const ECHO_REPLY_V4: u8 = 0;
const ECHO_REQUEST_V6: u8 = 128;
const ECHO_REPLY_V6: u8 = 129;

/// Sends the packets of sweeps. [`SystemProbes`] is the one for networks.
///
/// Each call sends one packet at most. A sweep makes it once the gate admits the packet.
pub trait Probes: Send + Sync + std::fmt::Debug + 'static {
    /// Returns the reason why no echo requests can be sent; `None`: they can.
    fn without_echo(&self) -> Option<io::ErrorKind>;

    /// Sends an echo request of ICMP, and returns whether the address answers it.
    fn echo(&self, address: IpAddr) -> TransportFuture<'_, bool>;

    /// Begins a TCP connection, and returns whether the address accepts or refuses it. No byte is sent.
    fn connect(&self, to: SocketAddr) -> TransportFuture<'_, bool>;

    /// Returns the addresses for which this machine knows a MAC address.
    fn neighbors(&self) -> Vec<IpAddr>;
}

/// The probes of the system: ICMP by sockets that require no privileges, TCP, and the neighbor table of Linux for IPv4.
///
/// Linux decides by `net.ipv4.ping_group_range` who may open sockets for ICMP. Without them, sweeps use TCP alone.
#[derive(Debug)]
pub struct SystemProbes {
    v4: io::Result<EchoSocket>,
    v6: io::Result<EchoSocket>,
}

impl SystemProbes {
    /// Opens the sockets for ICMP, if the system allows it.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    #[must_use]
    pub fn open() -> Self {
        let v4 = EchoSocket::open(Domain::IPV4, Protocol::ICMPV4, Ipv4Addr::UNSPECIFIED.into());
        let v6 = EchoSocket::open(Domain::IPV6, Protocol::ICMPV6, Ipv6Addr::UNSPECIFIED.into());
        Self { v4, v6 }
    }
}

impl Probes for SystemProbes {
    fn without_echo(&self) -> Option<io::ErrorKind> {
        self.v4.as_ref().err().map(io::Error::kind)
    }

    fn echo(&self, address: IpAddr) -> TransportFuture<'_, bool> {
        Box::pin(async move {
            let socket = if address.is_ipv4() { &self.v4 } else { &self.v6 };
            match socket {
                Ok(socket) => socket.ask(address).await,
                Err(error) => Err(error.kind().into()),
            }
        })
    }

    fn connect(&self, to: SocketAddr) -> TransportFuture<'_, bool> {
        Box::pin(async move {
            Ok(match timeout(CONNECT_TIMEOUT, TcpStream::connect(to)).await {
                Ok(Ok(_)) => true,
                Ok(Err(error)) => error.kind() == io::ErrorKind::ConnectionRefused,
                Err(_) => false,
            })
        })
    }

    fn neighbors(&self) -> Vec<IpAddr> {
        fs::read_to_string("/proc/net/arp").map(|table| neighbors_of(&table)).unwrap_or_default()
    }
}

/// Reads the neighbor table of Linux: address, type, flags and MAC address are the first columns.
fn neighbors_of(table: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        let mut columns = line.split_whitespace();
        let (address, flags, mac) = (columns.next()?, columns.nth(1)?, columns.next()?);
        // `ATF_COM`: the entry is complete.
        let flags = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
        let is_complete = flags & 2 != 0 && mac != "00:00:00:00:00:00";
        address.parse().ok().filter(|_| is_complete)
    };
    table.lines().skip(1).filter_map(address).collect()
}

/// A socket for echo messages. The system answers only to the requests that were sent by it.
#[derive(Debug)]
struct EchoSocket {
    socket: Arc<UdpSocket>,
    waiting: Arc<Waiting>,
    receiver: JoinHandle<()>,
}

/// The requests that wait for a reply, by address, each with its sequence number.
#[derive(Debug, Default)]
struct Waiting(Mutex<HashMap<IpAddr, (u16, oneshot::Sender<()>)>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, (u16, oneshot::Sender<()>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, from: IpAddr, message: &[u8]) {
        let Some(sequence) = reply_sequence(message, from.is_ipv4()) else { return };
        let mut waiting = self.lock();
        if waiting.get(&from).is_some_and(|(asked, _)| *asked == sequence)
            && let Some((_, sender)) = waiting.remove(&from)
        {
            // The request may have been given up.
            let _ = sender.send(());
        }
    }
}

impl Drop for EchoSocket {
    fn drop(&mut self) {
        self.receiver.abort();
    }
}

impl EchoSocket {
    fn open(domain: Domain, protocol: Protocol, any: IpAddr) -> io::Result<Self> {
        let socket = Socket::new(domain, Type::DGRAM, Some(protocol))?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::new(any, 0).into())?;
        let socket = Arc::new(UdpSocket::from_std(socket.into())?);
        let waiting = Arc::new(Waiting::default());
        let receiver = tokio::spawn(receive(Arc::clone(&socket), Arc::clone(&waiting)));
        Ok(Self { socket, waiting, receiver })
    }

    async fn ask(&self, address: IpAddr) -> io::Result<bool> {
        let number = getrandom::u32().map_err(|_| io::ErrorKind::Other)?;
        let sequence = u16::try_from(number & 0xFFFF).unwrap_or_default();
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().insert(address, (sequence, sender));
        let forget = Forget { waiting: &self.waiting, address };
        self.socket.send_to(&request(sequence, address.is_ipv4()), SocketAddr::new(address, 0)).await?;
        let answer = timeout(ECHO_TIMEOUT, receiver).await;
        drop(forget);
        Ok(matches!(answer, Ok(Ok(()))))
    }
}

/// Forgets a request once it is dropped.
struct Forget<'w> {
    waiting: &'w Waiting,
    address: IpAddr,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.address);
    }
}

async fn receive(socket: Arc<UdpSocket>, waiting: Arc<Waiting>) {
    let mut buffer = [0; 1_500];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, from)) => {
                waiting.deliver(from.ip(), buffer.get(..length).unwrap_or_default());
            }
            Err(_) => sleep(RECEIVE_RETRY_DELAY).await,
        }
    }
}

/// Makes an echo request without content. The system sets the identifier, and the checksum of ICMPv6.
fn request(sequence: u16, is_v4: bool) -> [u8; ECHO_HEADER] {
    let [high, low] = sequence.to_be_bytes();
    if !is_v4 {
        return [ECHO_REQUEST_V6, 0, 0, 0, 0, 0, high, low];
    }
    let sum = u32::from(u16::from_be_bytes([ECHO_REQUEST_V4, 0])) + u32::from(sequence);
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let [first, second] = (!u16::try_from(folded & 0xFFFF).unwrap_or_default()).to_be_bytes();
    [ECHO_REQUEST_V4, 0, first, second, 0, 0, high, low]
}

/// Returns the sequence number of an echo reply. Some systems put the IPv4 header before it.
fn reply_sequence(message: &[u8], is_v4: bool) -> Option<u16> {
    let first = *message.first()?;
    let has_header = is_v4 && first >> 4 == 4;
    let message = if has_header { message.get(usize::from(first & 0xF) * 4..)? } else { message };
    let expected = if is_v4 { ECHO_REPLY_V4 } else { ECHO_REPLY_V6 };
    match message {
        [kind, 0, _, _, _, _, high, low, ..] if *kind == expected => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_entries_of_the_neighbor_table_are_read() {
        let table = "IP address       HW type     Flags       HW address            Mask     Device\n\
             192.0.2.1        0x1         0x2         00:16:3e:00:00:01     *        eth0\n\
             192.0.2.2        0x1         0x0         00:00:00:00:00:00     *        eth0\n\
             192.0.2.3        0x1         0x6         00:16:3e:00:00:03     *        eth0\n\
             broken\n";
        let expected: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "192.0.2.3".parse().unwrap()];
        assert_eq!(neighbors_of(table), expected);
    }

    #[test]
    fn requests_have_a_checksum_and_replies_are_recognized() {
        for sequence in [0, 1, 0xF7FF, 0xF800, 0xFFFF] {
            let request = request(sequence, true);
            let words = request.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF, "{sequence}");
            assert_eq!(reply_sequence(&request, true), None, "a request is no reply");
            let mut reply = request;
            reply[0] = ECHO_REPLY_V4;
            assert_eq!(reply_sequence(&reply, true), Some(sequence));
            let header = [&[0x45][..], &[0; 19], &reply].concat();
            assert_eq!(reply_sequence(&header, true), Some(sequence));
        }
        assert_eq!(reply_sequence(&[129, 0, 0, 0, 0, 0, 1, 2], false), Some(0x0102));
        assert_eq!(reply_sequence(&[0x45, 0], true), None);
    }
}
