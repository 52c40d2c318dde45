//! Faults of agents, each alone: what is read in spite of them.

use std::time::Duration;

use toposcope::collect::snmp::{TableEnd, TruncationReason};

use crate::farm::{Agent, Fault};
use crate::support::{COMMUNITY, IF_TABLE, community, farm_of, find, table, variables};

const IF_DESCR: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2, 1, 2];
const IF_X_TABLE: &[u32] = &[1, 3, 6, 1, 2, 1, 31, 1, 1];

/// A fault, the number of variables of the interface table that are read (`None`: all), the end of the table, and the end of
/// the table behind it.
pub(crate) type Case = (&'static str, Vec<Fault>, Option<usize>, TableEnd, TableEnd);

pub(crate) fn cases() -> Vec<Case> {
    use TableEnd::{Complete, Truncated};
    let repeated = [IF_TABLE, &[1, 2, 30]].concat();
    vec![
        ("none", vec![], None, Complete, Complete),
        ("ignores GETBULK", vec![Fault::IgnoresBulk], None, Complete, Complete),
        ("refuses GETBULK", vec![Fault::RefusesBulk], None, Complete, Complete),
        ("answers GETBULK with nothing", vec![Fault::AnswersBulkWithNothing], None, Complete, Complete),
        ("answers too big above 3", vec![Fault::TooBigAbove(3)], None, Complete, Complete),
        ("answers too big always", vec![Fault::TooBigAbove(0)], None, Complete, Complete),
        ("drops every tenth packet", vec![Fault::DropsEvery(10)], None, Complete, Complete),
        ("drops every second packet", vec![Fault::DropsEvery(2)], None, Complete, Complete),
        ("takes 4 seconds", vec![Fault::Takes(Duration::from_secs(4))], None, Complete, Complete),
        ("sends all twice", vec![Fault::Duplicates], None, Complete, Complete),
        (
            "answers with another community",
            vec![Fault::AnswersWithCommunity(b"another")],
            None,
            Complete,
            Complete,
        ),
        ("answers with wrong ids", vec![Fault::WrongIds], None, Complete, Complete),
        (
            "fails below a column",
            vec![Fault::FailsBelow(IF_DESCR)],
            Some(60),
            Truncated(TruncationReason::Status(5)),
            Complete,
        ),
        (
            "is silent below a column",
            vec![Fault::SilentBelow(IF_DESCR)],
            Some(60),
            Truncated(TruncationReason::Silent),
            Complete,
        ),
        (
            "repeats an object",
            vec![Fault::RepeatsAt(repeated)],
            Some(90),
            Truncated(TruncationReason::Repeats),
            Complete,
        ),
        (
            "circles in a table",
            vec![Fault::Circles(IF_TABLE)],
            None,
            Truncated(TruncationReason::Repeats),
            Complete,
        ),
        (
            "goes back behind a table",
            vec![Fault::GoesBackBehind(IF_TABLE)],
            None,
            Truncated(TruncationReason::Backwards),
            Complete,
        ),
        (
            "dies in the middle",
            vec![Fault::DiesAfter(4)],
            Some(90),
            Truncated(TruncationReason::Silent),
            Truncated(TruncationReason::Silent),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn faulty_agent_is_read_as_far_as_it_answers() {
    for (name, faults, rows, end, next_end) in cases() {
        let agent = Agent::new(COMMUNITY, variables(60)).faulty(faults);
        let mut expected = agent.below(IF_TABLE);
        expected.truncate(rows.unwrap_or(usize::MAX));
        let next = agent.below(IF_X_TABLE);
        let farm = farm_of(agent);
        let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
        let read = table(&mut agent, IF_TABLE).await;
        assert_eq!(read.1, end, "{name}");
        assert_eq!(read.0, expected, "{name}");
        let read = table(&mut agent, IF_X_TABLE).await;
        assert_eq!(read.1, next_end, "{name}");
        if next_end == TableEnd::Complete {
            assert_eq!(read.0, next, "{name}");
        }
        assert!(farm.sent().len() < 500, "{name}: {}", farm.sent().len());
    }
}

#[tokio::test(start_paused = true)]
async fn unsorted_table_is_read_once() {
    for faults in [vec![Fault::Unsorted(IF_DESCR)], vec![Fault::Unsorted(IF_DESCR), Fault::IgnoresBulk]] {
        let agent = Agent::new(COMMUNITY, variables(60)).faulty(faults);
        let expected = agent.below(IF_TABLE);
        let farm = farm_of(agent);
        let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
        let (mut rows, end) = table(&mut agent, IF_TABLE).await;
        assert_eq!(end, TableEnd::Complete);
        assert_ne!(rows, expected);
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(rows, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn agent_that_drops_packets_is_asked_no_more_than_five_times() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(60)).faulty([Fault::SilentBelow(IF_DESCR)]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let before = farm.sent().len();
    table(&mut agent, IF_DESCR).await;
    // Twice by GETBULK, which it has not answered yet, and five times by GETNEXT.
    assert_eq!(farm.sent().len() - before, 2 + 5);
}
