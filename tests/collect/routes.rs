//! Routing tables, and crawls that follow their next hops.

use toposcope::collect::crawl::{Crawl, CrawlOptions};
use toposcope::collect::snmp::{SnmpValue, TableEnd, TruncationReason, WalkLimits};
use toposcope::collect::tables;
use toposcope::discovery::report::MAX_ROUTES;

use crate::crawl::{addresses, agent, finished};
use crate::farm::{Agent, Farm, Variables};
use crate::support::{COMMUNITY, community, farm_of, find, gate, ip, variables};

/// `ipRouteTable`, `ipCidrRouteTable` and `inetCidrRouteTable`.
const ROUTES: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 21, 1];
const CIDR_ROUTES: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 24, 4, 1];
const INET_ROUTES: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 24, 7, 1];

/// The type of a route by way of another router.
const REMOTE: SnmpValue = SnmpValue::Integer(4);

/// Returns the number of devices of a crawl from a router with these variables.
async fn followed(routes: Variables, is_followed: bool) -> usize {
    let mut router = agent("router", &["192.0.2.1"], &[]);
    router.variables.extend(routes);
    let (other, other_v6) = (agent("other", &["192.0.2.2"], &[]), agent("other by IPv6", &[], &[]));
    let farm =
        Farm::with([(ip("192.0.2.1"), router), (ip("192.0.2.2"), other), (ip("2001:db8::2"), other_v6)]);
    let mut options = CrawlOptions::default();
    options.follows_next_hops = is_followed;
    let gate = gate(&farm, "192.0.2.0/24,2001:db8::/64");
    let crawl = Crawl::begin(&gate, [ip("192.0.2.1")], |_| community(), options).unwrap();
    let (devices, failed, _) = finished(crawl).await;
    assert_eq!(failed, addresses(&[]));
    devices.len()
}

#[tokio::test(start_paused = true)]
async fn next_hops_of_each_routing_table_are_asked() {
    let start = [10, 0, 0, 0];
    let row = |column: u32| [ROUTES, &[column], &start].concat();
    let old = Variables::from([
        (row(7), SnmpValue::IpAddress([192, 0, 2, 2])),
        (row(8), REMOTE),
        (row(11), SnmpValue::IpAddress([255, 0, 0, 0])),
    ]);
    let hop = [0, 192, 0, 2, 2];
    let cidr = Variables::from([([CIDR_ROUTES, &[6], &start, &[255, 0, 0, 0], &hop].concat(), REMOTE)]);
    let inet = Variables::from([(
        [INET_ROUTES, &[8, 1, 4], &start, &[8, 2, 0, 0, 1, 4, 192, 0, 2, 2]].concat(),
        REMOTE,
    )]);
    let (prefix, hop) = ([0x20, 1, 0xd, 0xb8, 0, 1], [0x20, 1, 0xd, 0xb8]);
    let index = [&[8, 2, 16], &prefix[..], &[0; 10], &[48, 2, 0, 0, 2, 16], &hop, &[0; 11], &[2]].concat();
    let inet_v6 = Variables::from([([INET_ROUTES, &index].concat(), REMOTE)]);
    for routes in [old, cidr, inet, inet_v6] {
        assert_eq!(followed(routes.clone(), true).await, 2, "{routes:?}");
        assert_eq!(followed(routes, false).await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn columns_of_routes_are_read_up_to_the_limit_of_a_report() {
    let mut device = variables(1);
    for number in 0..=MAX_ROUTES as u32 {
        let start = [10, number >> 16, number >> 8 & 0xFF, number & 0xFF];
        // The column of masks, and one that no report has.
        for (column, value) in [(11, SnmpValue::IpAddress([255; 4])), (12, SnmpValue::Integer(0))] {
            device.insert([ROUTES, &[column], &start].concat(), value);
        }
    }
    let farm = farm_of(Agent::new(COMMUNITY, device));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    let truncated: Vec<_> = read.iter().filter(|table| matches!(table.end, TableEnd::Truncated(_))).collect();
    let [masks] = truncated.as_slice() else { panic!("{truncated:?}") };
    assert_eq!((masks.rows.len(), masks.end), (MAX_ROUTES, TableEnd::Truncated(TruncationReason::RowLimit)));
    assert!(farm.sent().len() < MAX_ROUTES / 30 + 50, "{}", farm.sent().len());
}
