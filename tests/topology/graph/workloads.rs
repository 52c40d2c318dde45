use serde_json::json;
use toposcope::model::{HostRole, TopologyView};
use toposcope::topology::graph::NodeKind;

use super::support::{Fixture, labels, node};

#[test]
fn guests_and_containers_are_within_their_hosts() {
    let mut network = Fixture::default();
    let hypervisor = network.host("pve", "Linux", &[]);
    let guest = network.host("vm", "Linux", &[]);
    network.host("other", "Linux", &[]);
    let platform = network.service(hypervisor, "Proxmox VE");
    network.virtualize(guest, platform);
    let docker = network.service(guest, "Docker");
    let container = network.service(guest, "web");
    let service = network.hosts[1].services.iter_mut().find(|service| service.id == container).unwrap();
    let details = json!({"type": "Docker", "details": {"container_name": null, "container_id": null, "service_id": docker}});
    service.virtualization = Some(serde_json::from_value(details).unwrap());

    let graph = network.graph(TopologyView::Workloads);

    assert_eq!(labels(&graph), ["pve", "vm", "web"]);
    assert_eq!(node(&graph, "pve").role, HostRole::Hypervisor);
    assert_eq!(node(&graph, "vm").parent_id, Some(hypervisor.into()));
    assert_eq!(
        (node(&graph, "web").kind, node(&graph, "web").parent_id),
        (NodeKind::Service, Some(guest.into()))
    );
}

#[test]
fn hosts_that_run_each_other_are_all_shown() {
    let mut network = Fixture::default();
    let hosts = ["a", "b", "c"].map(|name| network.host(name, "", &[]));
    let services = hosts.map(|host| network.service(host, "Proxmox VE"));
    for index in 0..3 {
        network.virtualize(hosts[index], services[(index + 1) % 3]);
    }

    let graph = network.graph(TopologyView::Workloads);

    assert_eq!(graph.nodes.len(), 3);
    assert_eq!(graph.nodes.iter().filter(|node| node.parent_id.is_none()).count(), 1);
}
