//! Manual links, and suppressed ones.

use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::{HostId, LinkId, Network, NetworkId, Permission, TopologyLinkId};
use uuid::Uuid;

use super::{ACCESS, CORE, Campus, LINKS, edge, id_of, items, link, of_office};
use crate::backend::run_with;
use crate::common::{
    ELSEWHERE, LAB, LAB_HOST, NOBODY, OFFICE, Row, host, send_json, with, with_key, with_session,
};

async fn listed(campus: &Campus) -> Vec<TopologyLinkId> {
    let links = campus.read(&of_office(LINKS, "limit=0")).await;
    links.as_array().unwrap().iter().map(id_of).collect()
}

#[test]
fn manual_link_is_confirmed_until_it_is_deleted() {
    run_with(Campus::new, async |campus| {
        let server = campus.host("server").await;
        assert!(edge(&campus.graph("").await, campus.access, server).is_none());
        let id = campus.link(campus.access, server).await;
        let graph = campus.graph("").await;
        let added = edge(&graph, campus.access, server).expect("the manual link");
        assert_eq!(added["confidence"], "Confirmed");
        assert_eq!(added["evidence"][0]["method"], "manual");
        assert_eq!(listed(&campus).await, [id]);
        let path = format!("{LINKS}/{id}");
        assert_eq!(campus.by_member("DELETE", &path, &json!({})).await.data(), &json!({}));
        campus.by_member("DELETE", &path, &json!({})).await.refuses(404, "entity_not_found");
        assert!(edge(&campus.graph("").await, campus.access, server).is_none());
        assert_eq!(listed(&campus).await, Vec::<TopologyLinkId>::new());
    });
}

#[test]
fn suppressed_link_is_left_out() {
    run_with(Campus::new, async |campus| {
        assert!(edge(&campus.graph("").await, campus.core, campus.access).is_some());
        let body = with(&link(campus.access, campus.core), "suppressed", true);
        let id: TopologyLinkId = id_of(campus.by_member("POST", LINKS, &body).await.data());
        assert!(edge(&campus.graph("").await, campus.core, campus.access).is_none());
        campus.by_member("DELETE", &format!("{LINKS}/{id}"), &json!({})).await.data();
        assert!(edge(&campus.graph("").await, campus.core, campus.access).is_some());
    });
}

#[test]
fn link_at_ports_names_them() {
    run_with(Campus::new, async |campus| {
        let entries = format!("/api/v1/if-entries?host_id={}", campus.core);
        let entries = campus.read(&entries).await;
        let entry = entries.as_array().unwrap().iter().find(|entry| entry["if_name"] == "Gi0/2").unwrap();
        let server = campus.host("server").await;
        let mut body = link(server, campus.core);
        body["target"]["if_entry_id"] = entry["id"].clone();
        let created = campus.by_member("POST", LINKS, &body).await;
        assert_eq!(created.data()["target"], body["target"]);
        let graph = campus.graph("").await;
        let added = edge(&graph, server, campus.core).expect("the manual link");
        let port = if added["source"] == json!(campus.core) { "source_port" } else { "target_port" };
        assert_eq!(added[port], json!({"if_entry_id": entry["id"], "name": "Gi0/2"}));
    });
}

#[test]
fn manual_link_keeps_the_claims_that_it_overrides() {
    run_with(Campus::new, async |campus| {
        let entries = campus.read(&format!("/api/v1/if-entries?host_id={}", campus.core)).await;
        let entry = entries.as_array().unwrap().iter().find(|entry| entry["if_name"] == "Gi0/1").unwrap();
        let server = campus.host("server").await;
        let mut body = link(campus.core, server);
        body["source"]["if_entry_id"] = entry["id"].clone();
        campus.by_member("POST", LINKS, &body).await.data();
        let graph = campus.graph("").await;
        assert!(edge(&graph, campus.core, campus.access).is_none(), "the port has another neighbor");
        let manual = edge(&graph, campus.core, server).expect("the manual link");
        let path = format!("/api/v1/topology/edges/{}", id_of::<LinkId>(manual));
        let details = campus.read(&of_office(&path, "")).await;
        let rejected = items(&details, "rejected");
        assert_eq!(rejected.len(), 2, "{rejected:#?}");
        for claim in rejected {
            assert_eq!(
                (&claim["beaten_by"], &claim["evidence"]["method"]),
                (&json!("manual"), &json!("lldp"))
            );
            let is_own = claim["evidence"]["reporter_host_id"] == json!(campus.core);
            assert_eq!(claim["names"], if is_own { ACCESS } else { CORE });
        }
    });
}

#[test]
fn bad_links_are_refused() {
    run_with(Campus::new, async |campus| {
        campus.put([host(3, LAB)]).await;
        campus.put_abroad(host(9, ELSEWHERE)).await;
        let server = campus.host("server").await;
        let valid = link(campus.core, server);
        let post = |body: &Value| with_key(send_json("POST", LINKS, body), &campus.member);
        let to = |host: HostId| with(&valid, "target", json!({"host_id": host}));
        let reference = |entity: &str, field: &str| json!({"entity": entity, "field": field});
        let network = |id: NetworkId| with(&valid, "network_id", json!(id));
        let entry = with(&valid, "source", json!({"host_id": campus.core, "if_entry_id": NOBODY}));
        let field = |field: &str| json!({"field": field});
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        let foreign = Uuid::from_u128(9);
        let rows = [
            Row::refused_with(
                "itself",
                post(&to(campus.core)),
                "validation_invalid_format",
                field("target.host_id"),
            ),
            Row::refused_with(
                "unknown host",
                post(&to(NOBODY.into())),
                "entity_reference_invalid",
                reference("Host", "target.host_id"),
            ),
            Row::refused_with(
                "foreign host",
                post(&to(foreign.into())),
                "entity_reference_invalid",
                reference("Host", "target.host_id"),
            ),
            Row::refused_with(
                "other network",
                post(&to(LAB_HOST)),
                "entity_reference_invalid",
                reference("Host", "target.host_id"),
            ),
            Row::refused_with(
                "unknown port",
                post(&entry),
                "entity_reference_invalid",
                reference("If Entry", "source.if_entry_id"),
            ),
            Row::refused_with(
                "no source",
                post(&json!({"network_id": OFFICE})),
                "validation_required",
                field("source"),
            ),
            Row::refused_with("no network", post(&json!({})), "validation_required", field("network_id")),
            Row::refused_with(
                "unknown network",
                post(&network(NOBODY.into())),
                "entity_reference_invalid",
                reference("Network", "network_id"),
            ),
            Row::refused_with(
                "foreign network",
                post(&network(ELSEWHERE)),
                "entity_reference_invalid",
                reference("Network", "network_id"),
            ),
            Row::refused_with(
                "not granted",
                post(&network(LAB)),
                "entity_access_denied",
                json!({"entity": "Network", "id": LAB}),
            ),
            Row::refused(
                "viewer",
                with_key(send_json("POST", LINKS, &valid), &viewer),
                "auth_permission_denied",
            ),
        ];
        campus.check(rows).await;
        assert_eq!(listed(&campus).await, Vec::<TopologyLinkId>::new());
    });
}

#[test]
fn links_of_other_callers_networks_are_out_of_reach() {
    run_with(Campus::new, async |campus| {
        let id = campus.link(campus.core, campus.access).await;
        let elsewhere = campus.owner_key(&campus.abroad).await;
        let delete = || send_json("DELETE", &format!("{LINKS}/{id}"), &json!({}));
        campus.send_as(&elsewhere, delete()).await.refuses(404, "entity_not_found");
        let of_lab = campus.fixture.key(Permission::Member, &[LAB]).await;
        campus.send_as(&of_lab, delete()).await.refuses(403, "entity_access_denied");
        assert_eq!(listed(&campus).await, [id]);
    });
}

#[test]
fn deleted_hosts_take_their_links_along() {
    run_with(Campus::new, async |campus| {
        let (one, two) = (campus.host("one").await, campus.host("two").await);
        let kept = campus.link(campus.core, campus.access).await;
        campus.link(campus.core, one).await;
        campus.link(two, campus.core).await;
        campus.link(one, two).await;
        campus.by_member("DELETE", &format!("/api/v1/hosts/{one}"), &json!({})).await.data();
        assert_eq!(listed(&campus).await.len(), 2);
        campus.by_member("POST", "/api/v1/hosts/bulk-delete", &json!([two])).await.data();
        assert_eq!(listed(&campus).await, [kept]);
    });
}

#[test]
fn deleted_network_takes_layouts_and_links_along() {
    run_with(Campus::new, async |campus| {
        let owner = campus.user(&campus.home, Permission::Owner, &[]).await;
        let session = campus.sign_in(&owner).await;
        let send = async |method: &str, target: &str, body: Value| {
            campus.send(with_session(send_json(method, target, &body), &session)).await
        };
        let new = send("POST", "/api/v1/networks", json!({"name": "doomed", "tags": []})).await;
        let network: NetworkId = id_of(new.data());
        let layout = format!("/api/v1/topology/layouts/{network}/l2");
        let positions = json!({"positions": [{"id": NOBODY, "x": 1, "y": 2}]});
        send("PUT", &layout, positions).await.data();
        let mut hosts = Vec::new();
        for name in ["one", "two"] {
            let body = json!({"network_id": network, "name": name});
            hosts.push(id_of(send("POST", "/api/v1/hosts", body).await.data()));
        }
        let body = with(&link(hosts[0], hosts[1]), "network_id", json!(network));
        let id: TopologyLinkId = id_of(send("POST", LINKS, body).await.data());
        send("POST", "/api/v1/hosts/bulk-delete", json!(hosts)).await.data();
        send("DELETE", &format!("/api/v1/networks/{network}"), json!({})).await.data();
        send("GET", &layout, json!({})).await.refuses(404, "entity_not_found");
        send("DELETE", &format!("{LINKS}/{id}"), json!({})).await.refuses(404, "entity_not_found");

        // A network with the same id begins without positions.
        let home = campus.home.organization.id;
        campus
            .inventory
            .networks()
            .create_with_id(&Caller::system(home), network, Network::new("reborn"))
            .await
            .unwrap();
        assert_eq!(send("GET", &layout, json!({})).await.data()["positions"], json!([]));
    });
}

#[test]
fn links_are_listed_in_pages() {
    run_with(Campus::new, async |campus| {
        let mut ids = Vec::new();
        for number in 0..5 {
            let server = campus.host(&format!("server {number}")).await;
            campus.clock.advance(std::time::Duration::from_secs(1));
            ids.push(campus.link(campus.core, server).await);
        }
        let page = campus.read(&of_office(LINKS, "limit=2&offset=1")).await;
        assert_eq!(page.as_array().unwrap().iter().map(id_of).collect::<Vec<TopologyLinkId>>(), ids[1..3]);
        let newest = campus.read(&of_office(LINKS, "order_direction=desc&limit=1")).await;
        assert_eq!(id_of::<TopologyLinkId>(&newest[0]), ids[4]);
        assert_eq!(items(&json!({"links": newest}), "links").len(), 1);
        let one = campus.read(&of_office(LINKS, &format!("ids={}", ids[3]))).await;
        assert_eq!(id_of::<TopologyLinkId>(&one[0]), ids[3]);
    });
}

#[test]
fn equal_link_is_refused_and_names_the_first_one() {
    run_with(Campus::new, async |campus| {
        let server = campus.host("server").await;
        let entries = campus.read(&format!("/api/v1/if-entries?host_id={}", campus.core)).await;
        let at_port = json!({"host_id": campus.core, "if_entry_id": entries[0]["id"]});
        let plain = link(campus.core, server);
        let at_port = with(&plain, "source", at_port);
        let mut firsts = Vec::new();
        for body in [
            plain.clone(),
            with(&plain, "suppressed", true),
            at_port.clone(),
            with(&at_port, "suppressed", true),
        ] {
            let first = campus.by_member("POST", LINKS, &body).await.data()["id"].clone();
            let turned =
                with(&with(&body, "source", body["target"].clone()), "target", body["source"].clone());
            for again in [&body, &turned] {
                let reply = campus.by_member("POST", LINKS, again).await;
                let params = json!({"entity": "Topology Link", "name": first});
                assert_eq!(*reply.refuses(409, "entity_already_exists"), params);
            }
            firsts.push(first);
        }
        assert_eq!(listed(&campus).await.len(), 4);
        let path = format!("{LINKS}/{}", firsts[0].as_str().unwrap());
        campus.by_member("DELETE", &path, &json!({})).await.data();
        campus.by_member("POST", LINKS, &plain).await.data();
    });
}

#[test]
fn one_of_equal_links_that_are_entered_at_once_is_stored() {
    run_with(Campus::new, async |campus| {
        let server = campus.host("server").await;
        let bodies = [link(campus.core, server), link(server, campus.core)];
        let sent = bodies.iter().cycle().take(8).map(|body| campus.by_member("POST", LINKS, body));
        let replies = futures_util::future::join_all(sent).await;
        let ids = listed(&campus).await;
        assert_eq!(ids.len(), 1);
        let params = json!({"entity": "Topology Link", "name": ids[0]});
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            assert_eq!(*reply.refuses(409, "entity_already_exists"), params);
        }
    });
}
