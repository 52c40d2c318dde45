//! The figures of a gate.

use std::collections::BTreeMap;

use toposcope::collect::crawl::{Crawl, CrawlOptions};

use crate::crawl::with_neighbors;
use crate::farm::{Agent, Farm, Fault};
use crate::support::{COMMUNITY, IF_TABLE, community, gate, ip};

#[tokio::test(start_paused = true)]
async fn figures_of_a_gate_count_packets_and_results_of_its_crawls() {
    let agent = |name: &str, own: &str, neighbors: &[&str]| {
        Agent::new(COMMUNITY, with_neighbors(name, &[own], neighbors))
    };
    let neighbors = ["192.0.2.2", "192.0.2.3", "192.0.2.66"];
    let farm = Farm::with([
        (ip("192.0.2.1"), agent("core", "192.0.2.1", &neighbors)),
        (ip("192.0.2.2"), agent("wrong", "192.0.2.2", &[]).faulty([Fault::WrongIds])),
        // One variable at a time, so that no other answer has those that it fails to read.
        (
            ip("192.0.2.3"),
            agent("fails", "192.0.2.3", &[]).faulty([Fault::TooBigAbove(1), Fault::FailsBelow(IF_TABLE)]),
        ),
    ]);
    let gate = gate(&farm, "192.0.2.0/24");
    for crawls in 1..=2 {
        let mut crawl =
            Crawl::begin(&gate, [ip("192.0.2.1")], |_| community(), CrawlOptions::default()).unwrap();
        while crawl.next().await.is_some() {}
        let (figures, progress) = (gate.figures(), crawl.progress());
        assert_eq!((progress.devices, progress.failed), (3, 1), "{:?}", figures.failures);
        assert_eq!(figures.packets, farm.sent().len() as u64);
        assert_eq!(figures.packets, figures.answers + figures.unanswered);
        // The address without an agent was asked three times, and once more with answers from any address.
        assert_eq!(figures.unanswered, 4 * crawls);
        assert_eq!(figures.ignored, farm.count(ip("192.0.2.2")), "each answer follows one with another id");
        assert_eq!((figures.asked, figures.devices, figures.unchanged), (4 * crawls, 3 * crawls, 0));
        assert_eq!(figures.failures, BTreeMap::from([("silent", crawls)]));
        assert_eq!(figures.truncated.keys().collect::<Vec<_>>(), [&"status"]);
        assert_eq!(figures.waiting, 0);
        let text = figures.to_openmetrics();
        for line in [
            format!("toposcope_collect_packets_total {}", figures.packets),
            format!("toposcope_collect_answer_seconds_count {}", figures.answers),
            format!("toposcope_collect_failures_total{{reason=\"silent\"}} {crawls}"),
            "# EOF".to_owned(),
        ] {
            assert!(text.lines().any(|other| other == line), "{line} of {text}");
        }
    }
}
