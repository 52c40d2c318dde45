//! A TCP proxy in front of a server, whose network fails in several ways.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// Name of the socket of a server in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The message of a server that a login is complete: its type, its length, and that there is no transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

/// Time that a slow network takes for a byte.
const BYTE_TIME: Duration = Duration::from_secs(1);

/// Time that a far server's network takes for bytes that were sent at once, in one direction. A connection takes four of
/// them.
const DISTANCE: Duration = Duration::from_millis(100);

/// The behavior of a network for the connections to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Works,
    /// Works, and takes [`DISTANCE`] for each piece of a message.
    Far,
    /// New connections are never accepted, and bytes are dropped: a machine without power.
    Dark,
    /// Connections are accepted, and nothing is ever answered: a frozen machine.
    Silent,
    /// As [`Silent`](Self::Silent), but new connections get as far as the login.
    SilentAfterLogin,
    /// One byte a second.
    Slow,
    /// New connections are refused, and the others are silent: a machine that has started again.
    HalfOpen,
    /// Connections are reset.
    Reset,
    /// Connections are closed.
    Closes,
    /// New connections are refused, and the others are closed.
    Refuses,
    /// New connections are accepted and wait, and the others work: a pooler whose connections are all in use.
    Queues,
}

impl Network {
    /// All faults.
    pub(super) const FAULTS: [Self; 8] = [
        Self::Dark,
        Self::Silent,
        Self::SilentAfterLogin,
        Self::Slow,
        Self::HalfOpen,
        Self::Reset,
        Self::Closes,
        Self::Refuses,
    ];

    const fn ends_connections(self) -> bool {
        matches!(self, Self::Reset | Self::Closes | Self::Refuses)
    }

    const fn listens(self) -> bool {
        !matches!(self, Self::HalfOpen | Self::Refuses)
    }
}

/// How connections end.
#[derive(Clone, Copy, Debug)]
enum End {
    Closed,
    Silent,
}

/// An address whose connections lead to a server. Dropping it closes them.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    network: watch::Sender<Network>,
    /// The socket of the server that new connections lead to.
    server: watch::Sender<PathBuf>,
    /// Connections that were made before the last change end, or are silent.
    ended: watch::Sender<End>,
    listening: AbortHandle,
}

impl Proxy {
    pub(crate) async fn start(server: &Path, network: Network) -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), 0, server, network).await
    }

    /// Listens at an address. The port 0 is any free one.
    pub(crate) async fn start_at(ip: IpAddr, port: u16, server: &Path, network: Network) -> Self {
        let reserved = bind(SocketAddr::from((ip, port)));
        let address = reserved.local_addr().unwrap();
        let network = watch::Sender::new(network);
        let server = watch::Sender::new(server.join(SOCKET));
        let ended = watch::Sender::new(End::Closed);
        let serving = serve(reserved, server.subscribe(), network.subscribe(), ended.subscribe());
        let listening = tokio::spawn(serving).abort_handle();
        let proxy = Self { address, network, server, ended, listening };
        proxy.settle().await;
        proxy
    }

    /// Has new connections lead to another server. The others stay.
    pub(crate) fn lead_to(&self, server: &Path) {
        self.server.send_replace(server.join(SOCKET));
    }

    /// Makes the present connections silent, as a router does that has lost its state. New ones work.
    pub(super) fn forget_connections(&self) {
        self.ended.send_replace(End::Silent);
    }

    /// Closes the present connections, a little later. New ones work.
    pub(super) fn close_connections(&self) {
        self.ended.send_replace(End::Closed);
    }

    pub(crate) async fn set(&self, network: Network) {
        self.network.send_replace(network);
        self.settle().await;
    }

    pub(crate) const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Waits until new connections meet the present network.
    async fn settle(&self) {
        let network = *self.network.borrow();
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < Duration::from_secs(60), "connections do not meet the network");
            // Twice as long as a connection to the same machine takes on a busy one.
            let connected = timeout(Duration::from_millis(100), TcpStream::connect(self.address)).await;
            let is_so = match network {
                Network::Dark => connected.is_err(),
                _ if network.listens() => matches!(connected, Ok(Ok(_))),
                _ => matches!(connected, Ok(Err(_))),
            };
            if is_so {
                return;
            }
            sleep(Duration::from_millis(2)).await;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Takes an address, which others that are made here can share.
fn bind(address: SocketAddr) -> TcpSocket {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

/// Listens with the shortest queue, so that it can be filled: the system then drops further connections.
fn listen(address: SocketAddr) -> TcpListener {
    bind(address).listen(1).unwrap()
}

/// Holds the address by a socket that does not listen, so that no other connection begins at its port while connections are
/// refused.
async fn serve(
    reserved: TcpSocket,
    server: watch::Receiver<PathBuf>,
    mut network: watch::Receiver<Network>,
    ended: watch::Receiver<End>,
) {
    let address = reserved.local_addr().unwrap();
    let mut listener = None;
    let mut connections = JoinSet::new();
    loop {
        let now = *network.borrow_and_update();
        if !now.listens() {
            drop(listener.take());
            network.changed().await.unwrap();
            continue;
        }
        let listening = listener.get_or_insert_with(|| listen(address));
        if now == Network::Dark {
            // The queue is full once the system lets a connection wait.
            let mut queue = Vec::new();
            while let Ok(connected) = timeout(Duration::from_millis(50), TcpStream::connect(address)).await {
                queue.extend(connected);
            }
            network.changed().await.unwrap();
            continue;
        }
        tokio::select! {
            accepted = listening.accept() => {
                let (client, _) = accepted.unwrap();
                let server = server.borrow().clone();
                let (mut ended, mut turn) = (ended.clone(), network.clone());
                ended.mark_unchanged();
                let forwarding = forward(client, server, network.clone(), ended);
                connections.spawn(async move {
                    let _ = turn.wait_for(|network| *network != Network::Queues).await;
                    forwarding.await;
                });
            }
            _ = network.changed() => {}
        }
    }
}

/// Forwards both directions of a connection until it or the network ends it.
async fn forward(
    mut client: TcpStream,
    server: PathBuf,
    network: watch::Receiver<Network>,
    mut ended: watch::Receiver<End>,
) {
    let mut ends = network.clone();
    let Ok(mut server) = UnixStream::connect(server).await else { return };
    let is_logged_in = Arc::new(AtomicBool::new(false));
    {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::select! {
            () = copy(from_client, to_server, network.clone(), Arc::clone(&is_logged_in), false) => {}
            () = copy(from_server, to_client, network, is_logged_in, true) => {}
            () = async { drop(ends.wait_for(|network| network.ends_connections()).await) } => {}
            Ok(()) = ended.changed() => {
                if matches!(*ended.borrow(), End::Silent) {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
    if *ends.borrow() == Network::Reset {
        let _ = client.set_zero_linger();
    }
}

async fn copy(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut network: watch::Receiver<Network>,
    is_logged_in: Arc<AtomicBool>,
    answers: bool,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let mut left = &buffer[..length];
        while !left.is_empty() {
            let now = *network.borrow_and_update();
            let count = match now {
                Network::Works | Network::Far | Network::Queues => left.len(),
                Network::Slow => 1,
                Network::SilentAfterLogin if !is_logged_in.load(Ordering::Relaxed) => left.len(),
                _ => 0,
            };
            if count == 0 {
                if network.changed().await.is_err() {
                    return;
                }
                continue;
            }
            if now == Network::Far {
                sleep(DISTANCE).await;
            }
            let (chunk, rest) = left.split_at(count);
            if answers && chunk.windows(READY.len()).any(|window| window == READY) {
                is_logged_in.store(true, Ordering::Relaxed);
            }
            if to.write_all(chunk).await.is_err() {
                return;
            }
            left = rest;
            if now == Network::Slow {
                sleep(BYTE_TIME).await;
            }
        }
    }
}
