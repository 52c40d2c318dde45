//! Transports: packets that the system does not send, and sockets that share a receiver.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};

use toposcope::collect::snmp::{AskError, SnmpAgent, TableEnd};
use toposcope::collect::{Datagram, Gate, Pace, Transport, TransportFuture, UdpTransport};

use crate::farm::{Agent, Farm};
use crate::support::{COMMUNITY, IF_TABLE, community, farm_of, ip, table, variables};

/// A transport that does not send some packets.
#[derive(Debug)]
struct Unsteady {
    farm: Farm,
    packets: AtomicU64,
    /// Packets whose number is a multiple of this one are not sent.
    fails_every: u64,
}

impl Transport for Unsteady {
    fn send<'f>(&'f self, to: SocketAddr, datagram: &'f [u8]) -> TransportFuture<'f, ()> {
        let number = self.packets.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(self.fails_every) {
            return Box::pin(std::future::ready(Err(std::io::ErrorKind::NetworkUnreachable.into())));
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
        let unsteady = Unsteady { farm: farm_of(agent), packets: AtomicU64::new(0), fails_every };
        let gate = Gate::new(unsteady, "192.0.2.0/24".parse().unwrap(), Pace::default());
        let found = SnmpAgent::find(&gate, SocketAddr::new(ip("192.0.2.1"), 161), community()).await;
        if fails_every == 1 {
            assert_eq!(found.unwrap_err(), AskError::NotSent(std::io::ErrorKind::NetworkUnreachable));
            continue;
        }
        assert_eq!(table(&mut found.unwrap(), IF_TABLE).await, (expected, TableEnd::Complete));
    }
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
