//! Hosts as a whole, and the values of their credentials, interfaces and services.

use serde_json::json;
use toposcope::model::{CredentialAssignment, Host, Interface, Service, ServiceDefinition};

use crate::support::{ID, TIME, id, interface_json, refusal, round_trip, service_json, with};

#[test]
fn a_credential_is_assigned_to_all_interfaces_or_to_some() {
    let all: CredentialAssignment =
        round_trip(&format!(r#"{{"credential_id":"{ID}","interface_ids":null}}"#));
    assert_eq!(all.interface_ids, None);
    let some: CredentialAssignment =
        round_trip(&format!(r#"{{"credential_id":"{ID}","interface_ids":["{ID}"]}}"#));
    assert_eq!(some.interface_ids, Some(vec![id()]));
    let missing: CredentialAssignment = serde_json::from_value(json!({"credential_id": ID})).unwrap();
    assert_eq!(missing, all);
}

#[test]
fn hosts_and_what_they_embed_are_written_whole_in_the_order_of_the_wire() {
    let interface = format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","subnet_id":null,"name":null,"ip_address":"2001:db8::1","mac_address":null,"position":-1,"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    );
    round_trip::<Interface>(&interface);
    let service = format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","name":"","position":9,"service_definition":" ","source":{{"type":"System"}},"tags":["{ID}"],"virtualization":null,"bindings":[],"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    );
    round_trip::<Service>(&service);
    round_trip::<Host>(&format!(
        r#"{{"id":"{ID}","network_id":"{ID}","name":"","hostname":null,"description":null,"hidden":true,"created_at":"{TIME}","updated_at":"{TIME}","tags":["{ID}"],"source":{{"type":"Manual"}},"virtualization":null,"credential_assignments":[{{"credential_id":"{ID}","interface_ids":null}}],"interfaces":[{interface}],"ports":[],"services":[{service}],"if_entries":[]}}"#
    ));
}

#[test]
fn a_service_definition_is_any_text_but_the_empty_one() {
    assert_eq!(ServiceDefinition::new(" ").unwrap().as_str(), " ");
    assert_eq!(ServiceDefinition::new("Home Assistant").unwrap().to_string(), "Home Assistant");
    assert!(ServiceDefinition::new("").is_err());
    let error = refusal::<Service>(&with(service_json(), "service_definition", json!("")));
    assert!(error.contains("must not be empty"), "{error}");
}

#[test]
fn an_address_is_ipv4_or_ipv6_without_a_prefix_length() {
    for (sent, written) in [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ] {
        let interface = with(interface_json(), "ip_address", json!(sent));
        let interface: Interface = serde_json::from_value(interface).unwrap();
        assert_eq!(serde_json::to_value(interface).unwrap()["ip_address"], written);
    }
    for address in ["192.0.2.1/24", "2001:db8::1/64", "192.0.2", "192.0.2.01", "fe80::1%eth0", "", "host"] {
        refusal::<Interface>(&with(interface_json(), "ip_address", json!(address)));
    }
}
