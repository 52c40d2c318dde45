use std::net::SocketAddr;
use std::time::Duration;

use async_snmp::Version;
use tokio::time::Instant;
use toposcope::collect::SnmpSecret;
use toposcope::collect::snmp::{
    AskError, ObjectId, SnmpAgent, TableEnd, TruncationReason, WalkBudget, WalkLimits,
};

use crate::farm::{Agent, Farm, Fault};
use crate::support::{COMMUNITY, IF_TABLE, community, farm_of, find, gate, ip, table, variables};

#[tokio::test(start_paused = true)]
async fn walk_gives_all_variables_of_an_agent() {
    let agent = Agent::new(COMMUNITY, variables(100));
    let expected = agent.below(&[1, 3, 6, 1]);
    let farm = farm_of(agent);
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    assert_eq!(table(&mut agent, &[1, 3, 6, 1]).await, (expected, TableEnd::Complete));
    assert_eq!(agent.system().name.as_deref(), Some(b"switch-1".as_slice()));
}

#[tokio::test(start_paused = true)]
async fn agent_of_version_1_is_read_by_getnext() {
    let agent = Agent::new(COMMUNITY, variables(40)).v1();
    let expected = agent.below(&[1, 3, 6, 1]);
    let farm = farm_of(agent);
    let secrets = vec![SnmpSecret::v2c(COMMUNITY), SnmpSecret::v1(COMMUNITY)];
    let mut agent = find(&farm, "192.0.2.1", secrets).await.unwrap();
    assert_eq!(table(&mut agent, &[1, 3, 6, 1]).await, (expected, TableEnd::Complete));
}

#[tokio::test(start_paused = true)]
async fn secret_without_rights_is_followed_by_the_next_one() {
    let agent = || Agent::new(COMMUNITY, variables(3)).faulty([Fault::Denies(Version::V2c, 16)]);
    let secrets = vec![SnmpSecret::v2c(COMMUNITY), SnmpSecret::v1(COMMUNITY)];
    let mut found = find(&farm_of(agent()), "192.0.2.1", secrets).await.unwrap();
    assert_eq!(table(&mut found, IF_TABLE).await.1, TableEnd::Complete);
    let error = find(&farm_of(agent()), "192.0.2.1", community()).await.unwrap_err();
    assert_eq!(error, AskError::Denied(16));
    assert!(error.to_string().contains("error 16"));
}

#[tokio::test(start_paused = true)]
async fn refused_rights_are_an_error_and_other_errors_are_none() {
    for (status, is_denied) in [(16, true), (6, true), (5, false), (13, false)] {
        let agent = Agent::new(COMMUNITY, variables(3)).faulty([Fault::Denies(Version::V2c, status)]);
        let found = find(&farm_of(agent), "192.0.2.1", community()).await;
        if is_denied {
            assert_eq!(found.unwrap_err(), AskError::Denied(status));
            continue;
        }
        // It may still have tables that it does not fail to read.
        let truncated = TableEnd::Truncated(TruncationReason::Status(status));
        assert_eq!(table(&mut found.unwrap(), IF_TABLE).await.1, truncated);
    }
}

#[tokio::test(start_paused = true)]
async fn agent_of_version_1_without_a_name_is_found() {
    let mut variables = variables(3);
    variables.remove(&vec![1, 3, 6, 1, 2, 1, 1, 5, 0]);
    let farm = farm_of(Agent::new(COMMUNITY, variables).v1());
    let mut agent = find(&farm, "192.0.2.1", vec![SnmpSecret::v1(COMMUNITY)]).await.unwrap();
    assert_eq!(table(&mut agent, IF_TABLE).await.1, TableEnd::Complete);
}

#[tokio::test(start_paused = true)]
async fn empty_tables_and_unknown_ones_and_the_end_of_the_view_are_told_apart() {
    let mut variables = variables(3);
    variables.retain(|id, _| !id.starts_with(&[1, 3, 6, 1, 2, 1, 31]) && !id.starts_with(&[1, 3, 6, 1, 6]));
    // A column with a row of another table behind it: the agent knows the column.
    let farm = farm_of(Agent::new(COMMUNITY, variables));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();

    let mut budget = WalkBudget::new(&WalkLimits::default());
    let unknown = ObjectId::new([1, 3, 6, 1, 2, 1, 1, 9]);
    let read = agent.walk_known(&unknown, &unknown.child(&[1, 2]), &mut budget).await;
    assert_eq!((read.end, read.is_end_of_view()), (TableEnd::Unsupported, false));

    let within = ObjectId::new([IF_TABLE, &[1, 2, 3]].concat());
    let read = agent.walk_known(&within, &ObjectId::new([IF_TABLE, &[1, 2]].concat()), &mut budget).await;
    assert_eq!((read.end, read.is_end_of_view()), (TableEnd::Empty, false));

    let last = ObjectId::new([1, 3, 6, 1, 2, 1, 31]);
    let read = agent.walk(&last, &mut budget).await;
    assert_eq!((read.end, read.is_end_of_view()), (TableEnd::Empty, true));
}

#[tokio::test(start_paused = true)]
async fn table_beyond_a_limit_is_truncated() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(100)));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let root = ObjectId::new(IF_TABLE);
    let limits = WalkLimits::default();
    let read = agent.walk(&root, &mut WalkBudget::new(&limits.with_rows(7))).await;
    assert_eq!((read.rows.len(), read.end), (7, TableEnd::Truncated(TruncationReason::RowLimit)));
    let read = agent.walk(&root, &mut WalkBudget::new(&limits.with_bytes(2_000))).await;
    assert_eq!(read.end, TableEnd::Truncated(TruncationReason::ByteLimit));
    assert!((5..50).contains(&read.rows.len()), "{}", read.rows.len());
    let mut budget = WalkBudget::new(&limits.with_time(Duration::from_secs(1)));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(agent.walk(&root, &mut budget).await.end, TableEnd::Truncated(TruncationReason::TimeLimit));
}

#[tokio::test(start_paused = true)]
async fn dead_address_is_asked_a_few_times() {
    let farm = Farm::default();
    let secrets = (0..9).map(|number| SnmpSecret::v2c(format!("community {number}"))).collect();
    let began = Instant::now();
    assert_eq!(find(&farm, "192.0.2.9", secrets).await.unwrap_err(), AskError::Silent);
    // Three times with the first, twice with three further ones, and once with each for an answer from elsewhere.
    assert_eq!(farm.count(ip("192.0.2.9")), 3 + 3 * 2 + 4);
    assert!(began.elapsed() < Duration::from_secs(25));
    assert!(farm.has_seen(b"community 3") && !farm.has_seen(b"community 4"));
}

#[tokio::test(start_paused = true)]
async fn address_without_secrets_gets_no_packet() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(1)));
    assert_eq!(find(&farm, "192.0.2.1", Vec::new()).await.unwrap_err(), AskError::NoSecret);
    assert!(farm.sent().is_empty());
}

#[tokio::test(start_paused = true)]
async fn answers_from_another_allowed_address_are_marked() {
    for (from, is_found) in [("192.0.2.77", true), ("198.51.100.1", false)] {
        let agent = Agent::new(COMMUNITY, variables(50)).faulty([Fault::AnswersFrom(ip(from))]);
        let expected = agent.below(IF_TABLE);
        let farm = farm_of(agent);
        let found = find(&farm, "192.0.2.1", community()).await;
        assert_eq!(found.is_ok(), is_found, "{from}");
        if let Ok(mut agent) = found {
            assert_eq!(agent.answers_from(), Some(SocketAddr::new(ip(from), 161)));
            assert_eq!(table(&mut agent, IF_TABLE).await, (expected, TableEnd::Complete));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_a_walk_is_dropped() {
    let farm =
        farm_of(Agent::new(COMMUNITY, variables(1_000)).faulty([Fault::Takes(Duration::from_millis(100))]));
    let gate = gate(&farm, "192.0.2.0/24");
    let mut agent = SnmpAgent::find(&gate, SocketAddr::new(ip("192.0.2.1"), 161), community()).await.unwrap();
    let read = tokio::time::timeout(Duration::from_secs(1), table(&mut agent, &[1, 3, 6, 1])).await;
    assert!(read.is_err());
    let sent = farm.sent().len();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(farm.sent().len(), sent);
    // The answer to the request that was given up is not taken for that of the next one.
    assert_eq!(table(&mut agent, IF_TABLE).await.1, TableEnd::Complete);
}

#[tokio::test(start_paused = true)]
async fn secrets_are_in_no_text() {
    let secret = SnmpSecret::v2c(COMMUNITY);
    let farm = farm_of(Agent::new(COMMUNITY, variables(1)));
    let agent = find(&farm, "192.0.2.1", vec![secret.clone()]).await.unwrap();
    let text = format!("{secret:?} {agent:?} {:?}", gate(&farm, "192.0.2.0/24"));
    assert!(!text.contains("ourselves"), "{text}");
}
