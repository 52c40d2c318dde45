use toposcope::discovery::report::TableKind;
use toposcope::model::{HostId, TopologyView};
use toposcope::topology::graph::{Graph, GraphOptions, Redactor, SensitiveValues, Warning, build};
use toposcope::topology::links::LinkWarning;
use toposcope::topology::render::notes;

use super::support::{Fixture, with_devices};
use crate::links::support::{chassis, lldp, node};

fn of_code<'g>(graph: &'g Graph, code: &str) -> Vec<&'g Warning> {
    graph.warnings.iter().filter(|warning| warning.code == code).collect()
}

#[test]
fn duplicate_chassis_id_and_ambiguous_neighbor_are_warnings() {
    let twin = |number| node(number, 2).change(|host| host.chassis_id = Some(chassis(0x77)));
    let mut unnamed = lldp(1, 0x77, 1);
    unnamed.sys_name = None;
    let rows = toposcope::inventory::ClaimRows::Lldp(vec![unnamed]);
    let devices = [node(1, 2).with(rows), twin(2), twin(3)];

    let graph = with_devices(&devices, &GraphOptions::new(TopologyView::L2), build);

    let duplicates = of_code(&graph, "duplicate_chassis_id");
    assert_eq!(duplicates.len(), 1);
    assert_eq!(duplicates[0].params["chassis_id"], "00:00:5E:00:53:77");
    assert_eq!(duplicates[0].params["count"], "2");
    let ambiguous = of_code(&graph, "ambiguous_neighbor");
    assert_eq!(ambiguous.len(), 1);
    assert_eq!(ambiguous[0].params["host_id"], devices[0].host.id.to_string());
    assert_eq!(ambiguous[0].params["if_entry_id"], devices[0].port(1).to_string());
    assert_eq!(ambiguous[0].params["names"], "00:00:5E:00:53:77");
}

fn truncated(hosts: usize) -> Fixture {
    let mut network = Fixture::default();
    for index in 0..hosts {
        let host_id = network.host(&format!("sw{index}"), "switch", &[]);
        network.warnings.push(LinkWarning::TruncatedTable { host_id, kind: TableKind::Lldp });
    }
    network
}

#[test]
fn truncated_table_is_a_warning_about_a_host_that_is_shown() {
    let mut network = truncated(1);
    let host = network.hosts[0].id;
    let elsewhere = HostId::from_u128(99);
    network.warnings.push(LinkWarning::TruncatedTable { host_id: elsewhere, kind: TableKind::Fdb });

    let graph = network.graph(TopologyView::L2);

    let warnings = of_code(&graph, "truncated_table");
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        (&warnings[0].params["host_id"], &warnings[0].params["table"]),
        (&host.to_string(), &"lldp".to_owned())
    );
    assert!(of_code(&network.graph(TopologyView::L3), "truncated_table").is_empty());
}

#[test]
fn warnings_beyond_twenty_of_one_kind_are_counted() {
    let graph = truncated(23).graph(TopologyView::L2);
    assert_eq!(of_code(&graph, "truncated_table").len(), 20);
    assert_eq!(of_code(&graph, "more_warnings")[0].params["count"], "3");
}

#[test]
fn warnings_of_a_share_tell_counts_only() {
    let mut network = truncated(3);
    let host_ids = network.hosts.iter().map(|host| host.id).collect();
    network.warnings.push(LinkWarning::DuplicateChassisId { chassis_id: "4711".to_owned(), host_ids });
    let mut graph = network.graph(TopologyView::L2);

    Redactor::new(|_| [1; 32], &[], &SensitiveValues::of(&network.summaries(), &[])).redact(&mut graph);

    let truncated = of_code(&graph, "truncated_table");
    assert!(truncated.len() == 3 && truncated.iter().all(|warning| warning.params.is_empty()));
    assert_eq!(
        notes(&graph),
        [
            "3 tables that may lack rows",
            "1 chassis id that several hosts have: links to these may be missing"
        ]
    );
    let duplicate = &of_code(&graph, "duplicate_chassis_id")[0].params;
    assert_eq!(duplicate.iter().collect::<Vec<_>>(), [(&"count".to_owned(), &"3".to_owned())]);
}
