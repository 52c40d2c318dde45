//! The stored result of discovery in a form that depends neither on ids nor on times nor on the order of reports.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toposcope::model::Host;
use uuid::Uuid;

use crate::support::{Fixture, owner_of};

/// Members of records that depend on the run.
const TIMES: [&str; 3] = ["created_at", "updated_at", "position"];

/// Members of claims that depend on the order of equal reports.
const OF_CLAIMS: [&str; 4] = ["observed_at", "reporter", "parts", "host_id"];

/// Returns all hosts and their claims, as one text for each host. Ids are replaced by the names of hosts and parts.
pub(super) async fn canonical(fixture: &Fixture) -> Vec<String> {
    let caller = owner_of(fixture.organization);
    let hosts = hosts(fixture).await;
    let mut labels: BTreeMap<Uuid, String> = BTreeMap::from([(fixture.network.uuid(), "network".to_owned())]);
    hosts.iter().for_each(|host| add_labels(host, &mut labels));
    let mut texts = Vec::new();
    for host in &hosts {
        let mut record = serde_json::to_value(host).unwrap();
        normalize(&mut record, &TIMES, &labels);
        let mut claims = Vec::new();
        for claim in fixture.inventory.discovery().claims(&caller, host.id, None).await.unwrap() {
            let mut claim = serde_json::to_value(claim).unwrap();
            normalize(&mut claim, &OF_CLAIMS, &labels);
            claims.push(claim);
        }
        let both = Map::from_iter([("claims".to_owned(), Value::from(claims)), ("host".to_owned(), record)]);
        texts.push(serde_json::to_string_pretty(&both).unwrap());
    }
    texts.sort();
    texts
}

pub(super) async fn hosts(fixture: &Fixture) -> Vec<Host> {
    let documents = fixture.documents().await;
    documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect()
}

fn add_labels(host: &Host, labels: &mut BTreeMap<Uuid, String>) {
    // The host's own name may be common to several hosts, its addresses are not.
    let address = host.interfaces.iter().map(|part| part.ip_address.to_string()).min().unwrap_or_default();
    let name = format!("host {} {address}", host.name);
    for part in &host.interfaces {
        labels.insert(part.id.uuid(), format!("{name} address {}", part.ip_address));
    }
    for part in &host.ports {
        labels.insert(part.id.uuid(), format!("{name} port {}/{}", part.number, part.protocol));
    }
    for part in &host.services {
        labels.insert(part.id.uuid(), format!("{name} service {}", part.name));
        for binding in &part.bindings {
            labels.insert(binding.id.uuid(), format!("{name} binding {}", part.name));
        }
    }
    for part in &host.if_entries {
        labels.insert(part.id.uuid(), format!("{name} entry {} {:?}", part.if_index, part.if_name));
    }
    labels.insert(host.id.uuid(), name);
}

/// Removes members, replaces ids by labels, and sorts lists.
fn normalize(value: &mut Value, removed: &[&str], labels: &BTreeMap<Uuid, String>) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !removed.contains(&name.as_str()));
            members.values_mut().for_each(|member| normalize(member, removed, labels));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| normalize(item, removed, labels));
            items.sort_by_cached_key(ToString::to_string);
        }
        Value::String(text) => {
            if let Some(label) = Uuid::try_parse(text).ok().and_then(|id| labels.get(&id)) {
                text.clone_from(label);
            }
        }
        _ => {}
    }
}
