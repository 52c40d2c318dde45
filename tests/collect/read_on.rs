//! Tables behind others that fail, and behind an end of the view, are read.

use std::time::Duration;

use tokio::time::Instant;
use toposcope::collect::SnmpSecret;
use toposcope::collect::snmp::{SnmpAgent, SnmpValue, TableEnd, TruncationReason, WalkLimits};
use toposcope::collect::tables;
use toposcope::discovery::report::TableKind;

use crate::farm::{Agent, Fault, UNDECODABLE};
use crate::support::{COMMUNITY, community, farm_of, find};
use crate::tables::{bridge, is_complete, read};

/// `ipRouteTable`.
const ROUTES: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 21, 1];

#[tokio::test(start_paused = true)]
async fn tables_behind_a_stated_end_of_the_view_are_read() {
    const PARTS: [&[u32]; 3] =
        [&[1, 0, 8802, 1, 1, 2, 1, 4], &[1, 3, 6, 1, 2, 1, 2], &[1, 3, 6, 1, 2, 1, 17, 4]];
    let device = || Agent::new(COMMUNITY, bridge(4)).faulty(PARTS.map(Fault::EndsViewBehind));
    for (agent, secret) in
        [(device(), SnmpSecret::v2c(COMMUNITY)), (device().v1(), SnmpSecret::v1(COMMUNITY))]
    {
        let farm = farm_of(agent);
        let mut agent: SnmpAgent = find(&farm, "192.0.2.1", vec![secret]).await.unwrap();
        let read = tables::read(&mut agent, &WalkLimits::default()).await;
        for table in &read {
            let rows: Vec<_> = table.rows.iter().map(|row| (row.id.clone(), row.value.clone())).collect();
            assert_eq!(rows, device().below(table.root.arcs()), "{}", table.root);
        }
        let filled = read.iter().filter(|table| !table.rows.is_empty()).count();
        assert!(filled > 10 && !read.iter().any(|table| matches!(table.end, TableEnd::Truncated(_))));
    }
}

/// Reads a bridge with routes, one of whose tables fails, and checks that those behind it are complete.
async fn check_tables_behind_routes(fault: Fault, value: SnmpValue, reason: TruncationReason) {
    let mut variables = bridge(4);
    // Between the tables of interfaces and routes, so that the former end before.
    variables.insert(vec![1, 3, 6, 1, 2, 1, 4, 1, 0], SnmpValue::Integer(1));
    variables.insert([ROUTES, &[7, 192, 0, 2, 0]].concat(), value);
    // One variable at a time, so that no other answer has some of the routes.
    let faults = [Fault::TooBigAbove(1), fault];
    let (report, truncated) = read(Agent::new(COMMUNITY, variables).faulty(faults)).await;
    assert!(!truncated.is_empty());
    assert!(truncated.iter().all(|end| *end == TableEnd::Truncated(reason)), "{truncated:?}");
    for kind in [TableKind::Fdb, TableKind::Lldp, TableKind::IfEntries] {
        assert!(is_complete(&report, kind), "{kind:?}");
    }
    assert_eq!(report.devices[0].tables.fdb.as_ref().unwrap().rows.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn device_that_is_silent_for_one_table_is_read_on() {
    let next_hop = SnmpValue::IpAddress([192, 0, 2, 1]);
    check_tables_behind_routes(Fault::SilentBelow(ROUTES), next_hop, TruncationReason::Silent).await;
}

#[tokio::test(start_paused = true)]
async fn device_with_a_value_that_cannot_be_decoded_is_read_on() {
    let value = SnmpValue::Opaque(UNDECODABLE.into());
    check_tables_behind_routes(Fault::SendsUndecodable, value, TruncationReason::Undecodable).await;
}

#[tokio::test(start_paused = true)]
async fn device_that_answers_for_its_clock_alone_is_given_up_after_some_tables() {
    let farm = farm_of(Agent::new(COMMUNITY, bridge(4)).faulty([Fault::AnswersGetAlone]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let began = Instant::now();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert!(read.iter().all(|table| table.end == TableEnd::Truncated(TruncationReason::Silent)));
    assert!(farm.sent().len() < 50, "{}", farm.sent().len());
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
}
