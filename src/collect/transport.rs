use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

/// Maximum number of bytes of a datagram.
const MAX_DATAGRAM: usize = 65_535;

/// The size of the buffer of a socket for answers, in bytes: those to all devices that are read at a time fit into it.
const RECEIVE_BUFFER: usize = 4 << 20;

/// A future of a [`Transport`].
pub type TransportFuture<'f, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'f>>;

/// Sends and receives datagrams. [`UdpTransport`] is the one for networks.
///
/// A collector sends all its packets through one transport, and receives them in one task.
pub trait Transport: Send + Sync + fmt::Debug + 'static {
    /// Sends a datagram.
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()>;

    /// Receives the next datagram.
    ///
    /// A future that is dropped before it is ready loses no datagram.
    fn receive(&self) -> TransportFuture<'_, Datagram>;
}

/// A datagram that was received.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Datagram {
    /// The address that sent it.
    pub from: SocketAddr,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Shows the length of the content alone, because answers of SNMPv1 and v2c have the community.
impl fmt::Debug for Datagram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Datagram");
        shown.field("from", &self.from).field("length", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Datagram {
    /// Creates a datagram.
    #[must_use]
    pub const fn new(from: SocketAddr, bytes: Vec<u8>) -> Self {
        Self { from, bytes }
    }
}

/// UDP: one socket for all IPv4 addresses, and one for all IPv6 addresses if the system has them.
#[derive(Debug)]
pub struct UdpTransport {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
    receiving: Mutex<Receiving>,
}

#[derive(Debug)]
struct Receiving {
    buffer: Vec<u8>,
    /// Whether the socket for IPv6 comes first, so that a busy one does not hold up the other.
    begins_with_v6: bool,
}

impl UdpTransport {
    /// Opens the sockets.
    ///
    /// # Errors
    /// Returns an error if the system opens no socket for IPv4.
    pub async fn open() -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        let v6 = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok();
        for socket in std::iter::once(&v4).chain(&v6) {
            // The system may allow less. Answers without room are lost, and asked for again.
            let _ = SockRef::from(socket).set_recv_buffer_size(RECEIVE_BUFFER);
        }
        let receiving = Receiving { buffer: vec![0; MAX_DATAGRAM], begins_with_v6: false };
        Ok(Self { v4, v6, receiving: Mutex::new(receiving) })
    }

    fn poll_receive(&self, context: &mut Context<'_>) -> Poll<io::Result<Datagram>> {
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        let Receiving { buffer, begins_with_v6 } = &mut *receiving;
        let mut sockets = [Some(&self.v4), self.v6.as_ref()];
        sockets.rotate_left(usize::from(*begins_with_v6));
        for socket in sockets.into_iter().flatten() {
            let mut filled = ReadBuf::new(buffer);
            if let Poll::Ready(received) = socket.poll_recv_from(context, &mut filled) {
                *begins_with_v6 = std::ptr::eq(socket, &self.v4);
                let bytes = filled.filled().to_vec();
                return Poll::Ready(received.map(|from| Datagram { from, bytes }));
            }
        }
        Poll::Pending
    }
}

impl Transport for UdpTransport {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        Box::pin(async move {
            let socket = match to.ip() {
                IpAddr::V4(_) => Some(&self.v4),
                IpAddr::V6(_) => self.v6.as_ref(),
            };
            let socket = socket.ok_or(io::ErrorKind::AddrNotAvailable)?;
            socket.send_to(datagram, to).await.map(drop)
        })
    }

    fn receive(&self) -> TransportFuture<'_, Datagram> {
        Box::pin(poll_fn(|context| self.poll_receive(context)))
    }
}
