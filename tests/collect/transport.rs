//! Transports: packets that the system does not send, and sockets that share a receiver.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toposcope::collect::snmp::{AskError, SnmpAgent, TableEnd};
use toposcope::collect::{Datagram, Gate, Pace, Transport, TransportFuture, UdpTransport};

use crate::farm::{Agent, Farm};
use crate::support::{COMMUNITY, IF_TABLE, community, farm_of, ip, table, variables};

/// A transport that does not send some packets.
#[derive(Debug)]
struct Unsteady {
    farm: Farm,
    packets: AtomicU64,
    /// The error of the packets that it does not send.
    error: ErrorKind,
    /// Packets whose number is a multiple of this one are not sent.
    fails_every: u64,
}

impl Transport for Unsteady {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        let number = self.packets.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(self.fails_every) {
            return Box::pin(std::future::ready(Err(self.error.into())));
        }
        self.farm.send(to, datagram)
    }

    fn receive(&self) -> TransportFuture<'_, Datagram> {
        self.farm.receive()
    }
}

#[tokio::test(start_paused = true)]
async fn packet_that_is_not_sent_counts_as_lost() {
    for fails_every in [3, 2, 1] {
        let agent = Agent::new(COMMUNITY, variables(100));
        let expected = agent.below(IF_TABLE);
        let error = ErrorKind::NetworkUnreachable;
        let unsteady = Unsteady { farm: farm_of(agent), packets: AtomicU64::new(0), error, fails_every };
        let gate = Gate::new(unsteady, "192.0.2.0/24".parse().unwrap(), Pace::default());
        let found = SnmpAgent::find(&gate, SocketAddr::new(ip("192.0.2.1"), 161), community()).await;
        if fails_every == 1 {
            let figures = gate.figures();
            assert_eq!((figures.packets, figures.unanswered), (0, 0), "no packet was sent");
            assert_eq!(found.unwrap_err(), AskError::NotSent(error));
            continue;
        }
        assert_eq!(table(&mut found.unwrap(), IF_TABLE).await, (expected, TableEnd::Complete));
        let figures = gate.figures();
        assert_eq!(
            (figures.packets, figures.unanswered),
            (figures.answers, 0),
            "all that were sent are answered"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn address_to_which_the_system_sends_nothing_is_not_waited_for() {
    let error = ErrorKind::AddrNotAvailable;
    let (farm, packets) = (farm_of(Agent::new(COMMUNITY, variables(1))), AtomicU64::new(0));
    let unsteady = Unsteady { farm, packets, error, fails_every: 1 };
    let gate = Gate::new(unsteady, "192.0.2.0/24".parse().unwrap(), Pace::default());
    let began = Instant::now();
    let found = SnmpAgent::find(&gate, SocketAddr::new(ip("192.0.2.1"), 161), community()).await;
    assert_eq!((found.unwrap_err(), began.elapsed()), (AskError::NotSent(error), Duration::ZERO));
    let figures = gate.figures();
    assert_eq!((figures.packets, figures.unanswered), (0, 0));
}

#[tokio::test]
async fn packets_by_ipv4_do_not_hold_up_those_by_ipv6() {
    const PACKETS: usize = 20;
    let v4 = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let Ok(v6) = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)) else {
        println!("skipped: the system has no IPv6");
        return;
    };
    let transport = UdpTransport::open().await.unwrap();
    for socket in [&v4, &v6] {
        transport.send(socket.local_addr().unwrap(), b"a request").await.unwrap();
        let (_, from) = socket.recv_from(&mut [0; 16]).unwrap();
        for _ in 0..PACKETS {
            socket.send_to(b"an answer", from).unwrap();
        }
    }
    let mut first = Vec::new();
    for _ in 0..PACKETS / 2 {
        first.push(transport.receive().await.unwrap().from.is_ipv6());
    }
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
}

#[tokio::test]
async fn answers_to_many_devices_at_once_are_not_lost() {
    const ANSWERS: usize = 1_000;
    let allowed = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
    if allowed.trim().parse::<usize>().unwrap_or_default() < 4 << 20 {
        println!("skipped: the system allows no larger buffers of sockets");
        return;
    }
    let device = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let transport = UdpTransport::open().await.unwrap();
    transport.send(device.local_addr().unwrap(), b"a request").await.unwrap();
    let (_, from) = device.recv_from(&mut [0; 16]).unwrap();
    for _ in 0..ANSWERS {
        device.send_to(&[0; 1_400], from).unwrap();
    }
    for _ in 0..ANSWERS {
        let answer = tokio::time::timeout(Duration::from_secs(1), transport.receive()).await;
        assert_eq!(answer.unwrap().unwrap().bytes.len(), 1_400);
    }
}
