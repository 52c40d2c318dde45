//! Names of ports by rules of the host application, over HTTP.

use serde_json::{Value, json};
use toposcope::discovery::reconcile::PortNames;

use super::{Campus, GRAPH, of_office, switch};
use crate::backend::run_with;
use crate::common::{Server, ample, get, with_key};

/// Returns a report of a switch that sees another one, whose port it names in its own way.
fn devices() -> [Value; 2] {
    let mut first = switch(7, "first", &[("Gi0/1", 8, "second")]);
    first["tables"]["lldp"]["rows"][0]["port_id"]["value"] = json!("XGigabitEthernet1/0/2");
    let mut second = switch(8, "second", &[("10GE1/0/1", 9, "third"), ("10GE1/0/2", 7, "first")]);
    second["tables"]["lldp"]["rows"] = json!([]);
    [first, second]
}

/// Returns the name of the port of the second switch in the link between the two.
fn port(graph: &Value) -> Option<&str> {
    let id = |label: &str| {
        let mut nodes = graph["nodes"].as_array().unwrap().iter();
        &nodes.find(|node| node["label"] == label).unwrap()["id"]
    };
    let (first, second) = (id("first"), id("second"));
    graph["edges"].as_array().unwrap().iter().find_map(|edge| {
        let ends = [&edge["source"], &edge["target"]];
        let ports = [&edge["source_port"], &edge["target_port"]];
        let place = ends.iter().position(|end| *end == second)?;
        let port = ports[place];
        ends.contains(&first).then(|| port["if_entry_id"].as_str().and(port["name"].as_str()))?
    })
}

#[test]
fn rules_of_port_names_change_links_and_their_tags() {
    run_with(Campus::new, async |campus| {
        campus.import("2026-08-01T13:00:00Z", &devices()).await;
        let request = || with_key(get(&of_office(GRAPH, "")), &campus.member);
        let usual = campus.send(request()).await;
        assert_eq!(port(usual.data()), None, "{}", usual.data()["edges"]);
        let names = PortNames::new().with_kind("10GE", "xge").unwrap();
        let names = names.with_kind("XGigabitEthernet", "xge").unwrap();
        let server = Server::new(campus.inventory.clone().with_port_names(names), ample());
        let other = server.send(request()).await;
        assert_eq!(port(other.data()), Some("10GE1/0/2"), "{}", other.data()["edges"]);
        assert_ne!(other.header("etag"), usual.header("etag"), "copies of clients are not current");
    });
}
