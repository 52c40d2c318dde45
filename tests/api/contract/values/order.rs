//! The lists within a host are in their order, however they were sent.

use serde_json::{Value, json};

use super::{document, id, listed};
use crate::common::{World, at};

/// Copies of the part at a place, each with these fields and this id.
fn copies(place: &str, changes: &[(Value, u128)]) -> Value {
    let part = document().pointer(place).unwrap().clone();
    let copy = |(fields, number): &(Value, u128)| {
        let mut copy = part.clone();
        for (field, value) in fields.as_object().unwrap() {
            copy[field] = value.clone();
        }
        copy["id"] = json!(id(*number));
        copy
    };
    changes.iter().map(copy).collect()
}

/// Puts copies of a part of a host into its list, and compares the order in which they are listed.
async fn is_order(list: &str, sent: &[(Value, u128)], expected: &[u128]) {
    let mut document = document();
    let copies = copies(&format!("{list}/0"), sent);
    // A binding refers to a port and to a service: only its own list keeps it.
    if list != "/services/0/bindings" {
        document["services"] = json!([]);
    }
    *document.pointer_mut(list).unwrap() = copies;
    let listed = listed(&World::new().await, &document).await;
    let ids = listed.pointer(list).unwrap().as_array().unwrap().iter().map(|part| part["id"].clone());
    let expected: Vec<Value> = expected.iter().map(|number| json!(id(*number))).collect();
    assert_eq!(ids.collect::<Vec<_>>(), expected, "{list}");
}

#[tokio::test]
async fn interfaces_and_services_are_by_position_then_id() {
    let at_position = |position: i64, id: u128| (json!({"position": position, "bindings": []}), id);
    let sent = [at_position(2, 2), at_position(-1, 3), at_position(2, 1), at_position(10, 0)];
    is_order("/interfaces", &sent, &[3, 1, 2, 0]).await;
    is_order("/services", &sent, &[3, 1, 2, 0]).await;
}

#[tokio::test]
async fn interface_entries_are_by_index_then_id() {
    let indexed = |index: i64, id: u128| (json!({"if_index": index}), id);
    is_order("/if_entries", &[indexed(10, 1), indexed(9, 3), indexed(9, 2)], &[2, 3, 1]).await;
}

#[tokio::test]
async fn ports_are_by_number_then_protocol() {
    let port = |number: u16, protocol: &str, id: u128| (json!({"number": number, "protocol": protocol}), id);
    let sent = [port(80, "Udp", 1), port(443, "Tcp", 2), port(80, "Tcp", 3), port(9, "Udp", 4)];
    is_order("/ports", &sent, &[4, 3, 1, 2]).await;
}

#[tokio::test]
async fn bindings_are_by_age_then_id() {
    let made = |second: i64, id: u128| (json!({"created_at": at(second)}), id);
    is_order("/services/0/bindings", &[made(5, 1), made(-5, 9), made(5, 0)], &[9, 0, 1]).await;
}
