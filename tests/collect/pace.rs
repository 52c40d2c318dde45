use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use toposcope::collect::Pace;
use toposcope::collect::snmp::{ObjectId, SnmpAgent, WalkBudget, WalkLimits};

use crate::farm::{Agent, Farm};
use crate::polite::polite_gate;
use crate::support::{COMMUNITY, community, ip, variables};

/// Returns the largest number of packets in any second.
fn most_in_a_second(times: &[Instant]) -> usize {
    let from = |time: Instant| {
        let end = time + Duration::from_secs(1);
        times.iter().filter(|other| (time..end).contains(*other)).count()
    };
    times.iter().map(|time| from(*time)).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn pace_is_kept_in_every_second() {
    // One subnet has two devices, the others many.
    let subnet = |number: u32| if number < 2 { 2 } else { 3 + number % 3 };
    let addresses: Vec<IpAddr> =
        (0..40).map(|number| ip(&format!("192.0.{}.{}", subnet(number), 1 + number))).collect();
    // Some of them do not answer, so that messages are repeated.
    let agents = addresses.iter().filter(|address| !address.to_string().ends_with('7'));
    let farm = Farm::with(agents.map(|address| (*address, Agent::new(COMMUNITY, variables(400)))));
    let gate = polite_gate(farm.clone(), "192.0.0.0/16".parse().unwrap(), Pace::new(5, 17, 60));
    let mut readers = JoinSet::new();
    for address in addresses {
        let gate = gate.clone();
        readers.spawn(async move {
            let Ok(mut agent) = SnmpAgent::find(&gate, SocketAddr::new(address, 161), community()).await
            else {
                return 0;
            };
            let root = ObjectId::new([1, 3, 6, 1]);
            agent.walk(&root, &mut WalkBudget::new(&WalkLimits::default())).await.rows.len()
        });
    }
    let read: usize = readers.join_all().await.into_iter().sum();
    assert_eq!(read, 36 * variables(400).len());

    let sent = farm.sent();
    let (mut devices, mut subnets) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for (time, address) in &sent {
        devices.entry(*address).or_default().push(*time);
        let IpAddr::V4(address) = address else { panic!("all are IPv4") };
        subnets.entry(address.octets()[2]).or_default().push(*time);
    }
    let all: Vec<Instant> = sent.iter().map(|(time, _)| *time).collect();
    assert_eq!(most_in_a_second(&all), 60);
    assert!(subnets.values().all(|times| most_in_a_second(times) <= 17));
    assert!(devices.values().all(|times| most_in_a_second(times) <= 5));
    assert!(devices.values().any(|times| most_in_a_second(times) == 5));
}
