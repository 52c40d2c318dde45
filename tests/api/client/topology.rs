//! Topologies: typed requests and responses, over one server.

use serde_json::{Value, json};
use toposcope::client::{ReportOptions, RequestBody};
use toposcope::discovery;
use toposcope::inventory::{AddressQuery, AddressState, ListQuery, NewShare};
use toposcope::model::{Host, LinkEnd, NodeId, NodePosition, Redaction, Subnet, TopologyLink, TopologyView};
use toposcope::topology::graph::{BlindSpotReason, GraphOptions, NodeKind};
use toposcope::topology::links::{Confidence, Method};
use toposcope::topology::paths::{FragileQuery, ImpactQuery, LocateTarget, VlanQuery};
use toposcope::topology::render::{ColorScheme, Format};
use toposcope::wire::ErrorCode;

use super::{client_of, owner};
use crate::common::{Fixture, NOBODY, OFFICE, PASSWORD, host};

/// Puts two hosts into the office, and returns a link between them.
async fn linked(fixture: &Fixture) -> TopologyLink {
    let hosts = [host(1, OFFICE), host(2, OFFICE)];
    let [source, target] = [&hosts[0], &hosts[1]].map(|host| LinkEnd::at_host(host.id));
    fixture.put(hosts).await;
    TopologyLink::new(OFFICE, source, target)
}

#[tokio::test]
async fn manual_links_become_edges_with_details() {
    let (fixture, client) = owner().await;
    let options = GraphOptions::new(TopologyView::L2);
    let link = linked(&fixture).await;
    assert!(client.topology_graph(OFFICE, &options).await.unwrap().edges.is_empty());
    let created = client.create(&link).await.unwrap().record;
    let graph = client.topology_graph(OFFICE, &options).await.unwrap();
    let [edge] = graph.edges.as_slice() else { panic!("{graph:?}") };
    assert_eq!((edge.confidence, edge.evidence[0].method), (Confidence::Confirmed, Method::Manual));
    assert!(
        graph.nodes.iter().all(|node| node.kind == NodeKind::Host && node.entity_id == Some(node.id.uuid()))
    );
    let details = client.topology_edge(OFFICE, TopologyView::L2, edge.id).await.unwrap();
    assert_eq!((details.edge.id, details.rejected.as_slice()), (edge.id, [].as_slice()));
    let unknown = client.topology_edge(OFFICE, TopologyView::L2, NOBODY.into()).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::EntityNotFound));

    let mut query = ListQuery::default();
    query.network_id = Some(OFFICE);
    assert_eq!(client.list::<TopologyLink>(&query).await.unwrap().records, std::slice::from_ref(&created));
    client.delete::<TopologyLink>(created.id, None).await.unwrap();
    assert!(client.topology_graph(OFFICE, &options).await.unwrap().edges.is_empty());
}

#[tokio::test]
async fn options_of_a_graph_reach_the_server() {
    let (fixture, client) = owner().await;
    client.create(&linked(&fixture).await).await.unwrap();
    let mut options = GraphOptions::new(TopologyView::L2);
    (options.focus, options.depth) = (Some(NodeId::from_u128(1)), 0);
    options.expand = [NOBODY.into()].into();
    (options.collapse, options.min_confidence) = (false, Confidence::Confirmed);
    let graph = client.topology_graph(OFFICE, &options).await.unwrap();
    assert_eq!(graph.nodes.iter().map(|node| node.id).collect::<Vec<_>>(), [NodeId::from_u128(1)]);
    options.show_stale = false;
    options.tag_ids = [fixture.home.tags[0]].into();
    assert!(client.topology_graph(OFFICE, &options).await.unwrap().nodes.is_empty());
    for view in [TopologyView::L3, TopologyView::Workloads] {
        let graph = client.topology_graph(OFFICE, &GraphOptions::new(view)).await.unwrap();
        assert_eq!(graph.view, view);
    }
    let unknown = client.topology_graph(NOBODY.into(), &options).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::EntityNotFound));
}

#[tokio::test]
async fn files_come_in_an_envelope() {
    let (fixture, client) = owner().await;
    client.create(&linked(&fixture).await).await.unwrap();
    let options = GraphOptions::new(TopologyView::L2);
    for format in Format::ALL {
        let file = client.export_topology(OFFICE, &options, *format, ColorScheme::Dark).await.unwrap();
        assert_eq!(file.media_type, format.media_type());
        assert!(file.file_name.ends_with(&format!("-l2.{}", format.extension())) && !file.content.is_empty());
        assert!(!format!("{file:?}").contains(&file.content), "the content may be long");
    }
}

#[tokio::test]
async fn layouts_are_replaced_if_they_have_not_changed() {
    let (fixture, client) = owner().await;
    client.create(&linked(&fixture).await).await.unwrap();
    let empty = client.topology_layout(OFFICE, TopologyView::L2).await.unwrap();
    assert!(empty.record.positions.is_empty());
    let positions = [NodePosition { id: NodeId::from_u128(1), x: -40.0, y: 12.5 }];
    let put = async |tag| client.put_topology_layout(OFFICE, TopologyView::L2, &positions, tag).await;
    let stored = put(empty.tag.as_ref()).await.unwrap();
    assert_eq!(stored.record.positions, positions);
    assert_eq!(client.topology_layout(OFFICE, TopologyView::L2).await.unwrap(), stored);
    assert_eq!(put(empty.tag.as_ref()).await.unwrap_err().code(), Some(ErrorCode::PreconditionFailed));
    assert_eq!(put(None).await.unwrap(), stored);
    let patch = async |changes: Value, tag| {
        client.patch_topology_layout(OFFICE, TopologyView::L2, &changes, tag).await
    };
    assert_eq!(patch(json!({"positions": positions}), stored.tag.as_ref()).await.unwrap(), stored);
    let outdated = patch(json!({}), empty.tag.as_ref()).await.unwrap_err();
    assert_eq!(outdated.code(), Some(ErrorCode::PreconditionFailed));
    let graph = client.topology_graph(OFFICE, &GraphOptions::new(TopologyView::L2)).await.unwrap();
    let pinned = graph.nodes.iter().find(|node| node.pinned).unwrap();
    assert_eq!((pinned.id, pinned.x, pinned.y), (positions[0].id, -40.0, 12.5));
}

#[tokio::test]
async fn blind_spots_are_ranked() {
    let (_fixture, client) = owner().await;
    assert_eq!(client.blind_spots(OFFICE).await.unwrap(), []);
    let neighbors = json!({"complete": true, "rows": [{
        "if_index": 1, "sys_name": "unknown-switch",
        "chassis_id": {"subtype": "MacAddress", "value": "00:1B:21:00:00:02"},
    }]});
    let entries = json!({"complete": true, "rows": [{"if_index": 1, "if_name": "Gi0/1"}]});
    let device = json!({"sys_name": "core-1", "tables": {"if_entries": entries, "lldp": neighbors}});
    let report = json!({
        "reporter": {"name": "x"}, "observed_at": "2026-08-01T12:00:00Z", "devices": [device],
    });
    let mut options = ReportOptions::default();
    options.network_id = Some(OFFICE);
    let report = RequestBody::new(report.to_string());
    client.import_report(discovery::Format::Report, report, &options).await.unwrap();
    let spots = client.blind_spots(OFFICE).await.unwrap();
    assert_eq!(
        (spots[0].reason, spots[0].label.as_str()),
        (BlindSpotReason::UnknownNeighbor, "unknown-switch")
    );
    assert!(spots.is_sorted_by_key(|spot| std::cmp::Reverse(spot.weight)));
}

#[tokio::test]
async fn shares_are_opened_by_their_token() {
    let (fixture, client) = owner().await;
    client.create(&linked(&fixture).await).await.unwrap();
    let mut new = NewShare::new("a share");
    (new.network_id, new.password) = (Some(OFFICE), Some(PASSWORD.to_owned()));
    new.redact = vec![Redaction::Names];
    let share = client.create_share(&new).await.unwrap().record;

    let viewer = client_of(&fixture.server, &fixture.key);
    let refused = viewer.open_share(share.id, None).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::SharePasswordRequired));
    let issued = viewer.issue_share_token(share.id, PASSWORD).await.unwrap();
    let opened = viewer.open_share(share.id, Some(&issued.token)).await.unwrap();
    assert!(opened.share.requires_password && opened.topology.svg.contains("<svg"));
    let graph = opened.topology.graph;
    assert_eq!((graph.network_id, graph.nodes.len(), graph.edges.len()), (None, 2, 1));
    assert!(graph.nodes.iter().all(|node| node.entity_id.is_none()));
    let picture = viewer.shared_picture(share.id, Some(&issued.token)).await.unwrap();
    assert!(picture.starts_with("<svg"), "{picture}");
    let refused = viewer.shared_picture(share.id, None).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::SharePasswordRequired));
    let unknown = viewer.open_share(NOBODY.into(), None).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::EntityNotFound));
}

#[tokio::test]
async fn questions_are_answered_about_linked_hosts() {
    let (fixture, client) = owner().await;
    let hosts = ["core", "floor", "pc"].map(|name| Host::new(OFFICE, name));
    let [core, floor, pc] = [&hosts[0], &hosts[1], &hosts[2]].map(|host| host.id);
    fixture.put(hosts).await;
    for (one, other) in [(core, floor), (floor, pc)] {
        let [one, other] = [one, other].map(LinkEnd::at_host);
        client.create(&TopologyLink::new(OFFICE, one, other)).await.unwrap();
    }

    let found = client.locate(OFFICE, &LocateTarget::Name("pc".to_owned())).await.unwrap();
    assert_eq!(found.candidates[0].host_id, Some(floor));
    let found = client.paths(OFFICE, "core", &pc.to_string(), None, 16).await.unwrap();
    assert_eq!((found.paths.len(), found.paths[0].length), (1, 2));
    let mut failing = ImpactQuery::new();
    failing.nodes.insert(floor.into());
    failing.from.insert(core.into());
    assert_eq!(client.impact(OFFICE, &failing).await.unwrap().cut_off[0].host_id, Some(pc));
    assert_eq!(client.fragile(OFFICE, &FragileQuery::new()).await.unwrap().nodes[0].host_id, Some(floor));
    assert_eq!(client.vlans(OFFICE, &VlanQuery::new()).await.unwrap().vlans_total, 0);
    let absent = client.locate(OFFICE, &LocateTarget::Name("absent".to_owned())).await.unwrap_err();
    assert_eq!(absent.code(), Some(ErrorCode::EntityNotFound));
}

#[tokio::test]
async fn addresses_are_listed_reserved_and_released() {
    let (_fixture, client) = owner().await;
    let subnet = Subnet::new(OFFICE, "racks", "192.0.2.0/29".parse().unwrap());
    let subnet = client.create(&subnet).await.unwrap().record.id;
    let once = client.clone().with_idempotency_key("order 17").unwrap();
    let reserved = once.reserve_addresses(subnet, 2, "rack 7").await.unwrap();
    // A repetition with the same key reserves nothing.
    assert_eq!(once.reserve_addresses(subnet, 2, "rack 7").await.unwrap(), reserved);
    let free = client.addresses(subnet, &AddressQuery::free(1)).await.unwrap();
    assert_eq!((free.addresses[0].ip.to_string(), free.addresses_total), ("192.0.2.3".to_owned(), 4));
    let known = client.addresses(subnet, &AddressQuery::new()).await.unwrap();
    assert_eq!(known, reserved);
    let addresses: Vec<_> = reserved.addresses.iter().map(|address| address.ip).collect();
    let released = client.release_addresses(subnet, &addresses).await.unwrap();
    assert!(released.addresses.iter().all(|address| address.state == AddressState::Free));
    let exhausted = client.reserve_addresses(subnet, 7, "rack 8").await.unwrap_err();
    assert_eq!(exhausted.code(), Some(ErrorCode::AddressesExhausted));
}

#[tokio::test]
async fn repeated_reservation_has_all_of_its_addresses() {
    let (_fixture, client) = owner().await;
    let subnet = Subnet::new(OFFICE, "racks", "2001:db8::/64".parse().unwrap());
    let subnet = client.create(&subnet).await.unwrap().record.id;
    let once = client.with_idempotency_key("order 18").unwrap();
    // The answer has more than 64 KiB.
    let name = "é".repeat(100);
    let reserved = once.reserve_addresses(subnet, 256, &name).await.unwrap();
    assert_eq!(reserved.addresses.len(), 256);
    assert_eq!(once.reserve_addresses(subnet, 256, &name).await.unwrap(), reserved);
}
