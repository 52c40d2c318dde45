//! The farm on one UDP socket, which receives the packets to all addresses of 127.0.0.0/8.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{in_addr, in_pktinfo};
use nix::sys::socket::sockopt::{Ipv4PacketInfo, RcvBuf, SndBuf};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, sendmsg, setsockopt,
};
use tokio::time::Instant;

use super::agents::{Agents, Answer};
use super::counters::Counters;

/// Maximum number of bytes of a request.
const MAX_REQUEST: usize = 65_535;

/// Size of the buffers of the socket, in bytes. Bursts of packets fit into them.
const BUFFER: usize = 4 << 20;

/// The longest time without a look at answers that are due, and at the end.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// A farm that answers until it is dropped.
#[derive(Debug)]
pub(crate) struct SocketFarm {
    agents: Arc<Mutex<Agents>>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
    port: u16,
}

impl SocketFarm {
    /// Begins to answer at a port, or at any free one if it is 0.
    pub(crate) fn serve(mut agents: Agents, port: u16) -> io::Result<Self> {
        agents.begin(Instant::now());
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
        setsockopt(&socket, Ipv4PacketInfo, &true)?;
        setsockopt(&socket, RcvBuf, &BUFFER)?;
        setsockopt(&socket, SndBuf, &BUFFER)?;
        let port = socket.local_addr()?.port();
        let (agents, is_stopped) = (Arc::new(Mutex::new(agents)), Arc::new(AtomicBool::new(false)));
        let (served, stop) = (Arc::clone(&agents), Arc::clone(&is_stopped));
        let thread =
            thread::Builder::new().name("farm".into()).spawn(move || answer(&socket, &served, &stop))?;
        Ok(Self { agents, is_stopped, thread: Some(thread), port })
    }

    /// Returns the port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the counts of the packets so far.
    pub(crate) fn counters(&self) -> Counters {
        lock(&self.agents).counters.clone()
    }

    /// Returns the agents, which answer nothing while they are held.
    pub(crate) fn agents(&self) -> MutexGuard<'_, Agents> {
        lock(&self.agents)
    }
}

impl Drop for SocketFarm {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(agents: &Mutex<Agents>) -> MutexGuard<'_, Agents> {
    agents.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(socket: &UdpSocket, agents: &Mutex<Agents>, is_stopped: &AtomicBool) -> io::Result<()> {
    let mut buffer = vec![0; MAX_REQUEST];
    while !is_stopped.load(Ordering::Relaxed) {
        let due = lock(agents).next_due();
        let wait = due.map_or(MAX_WAIT, |due| due.saturating_duration_since(Instant::now()).min(MAX_WAIT));
        // A timeout of zero would wait for ever.
        socket.set_read_timeout(Some(wait.max(Duration::from_micros(100))))?;
        let mut request = receive(socket, &mut buffer)?;
        while let Some((length, from, to)) = request {
            let request_bytes = buffer.get(..length).unwrap_or_default();
            lock(agents).take(from, to, request_bytes, Instant::now());
            send_due(socket, agents);
            request = receive_waiting(socket, &mut buffer)?;
        }
        send_due(socket, agents);
    }
    Ok(())
}

type Received = Option<(usize, SocketAddr, IpAddr)>;

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, MsgFlags::empty())
}

fn receive_waiting(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, MsgFlags::MSG_DONTWAIT)
}

/// Returns length, sender and destination of a packet; `None`: there is none.
fn receive_with(socket: &UdpSocket, buffer: &mut [u8], flags: MsgFlags) -> io::Result<Received> {
    let mut control = nix::cmsg_space!(in_pktinfo);
    let mut slices = [IoSliceMut::new(buffer)];
    let received = match recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut slices, Some(&mut control), flags) {
        Ok(received) => received,
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let to = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::Ipv4PacketInfo(info) => Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes())),
        _ => None,
    });
    let from = received.address.map(|address| SocketAddrV4::from(address).into());
    Ok(from.zip(to).map(|(from, to)| (received.bytes, from, IpAddr::V4(to))))
}

fn send_due(socket: &UdpSocket, agents: &Mutex<Agents>) {
    loop {
        let answer = lock(agents).due(Instant::now());
        let Some(answer) = answer else { return };
        // An answer that the system does not send is lost, as on any network.
        let _ = send(socket, &answer);
    }
}

fn send(socket: &UdpSocket, answer: &Answer) -> nix::Result<usize> {
    let (IpAddr::V4(from), SocketAddr::V4(to)) = (answer.from, answer.to) else { return Ok(0) };
    let source = in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
    let info = in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: source, ipi_addr: in_addr { s_addr: 0 } };
    let control = [ControlMessage::Ipv4PacketInfo(&info)];
    let slices = [IoSlice::new(&answer.bytes)];
    sendmsg(socket.as_raw_fd(), &slices, &control, MsgFlags::empty(), Some(&SockaddrIn::from(to)))
}
