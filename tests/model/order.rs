//! Order of the parts of a host, and names of the orders of hosts.

use toposcope::model::{
    Binding, Host, HostOrderField, IfEntry, Interface, OrderDirection, Port, Protocol, Service,
};
use uuid::Uuid;

use crate::support::{
    binding_json, host_json, if_entry_json, interface_json, port, round_trip, service_json, time,
};

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn embedded_records_are_sorted_by_place_and_then_by_id() {
    let mut host: Host = serde_json::from_value(host_json()).unwrap();
    let interface: Interface = serde_json::from_value(interface_json()).unwrap();
    for (position, number) in [(2, 1), (1, 3), (1, 2), (-1, 4)] {
        host.interfaces.push(Interface { id: uuid(number), position, ..interface.clone() });
    }
    for (number, protocol, key) in [
        (443, Protocol::Tcp, 1),
        (53, Protocol::Udp, 2),
        (53, Protocol::Tcp, 4),
        (53, Protocol::Tcp, 3),
        (1_000, Protocol::Tcp, 5),
    ] {
        host.ports.push(Port { id: uuid(key), ..port(number, protocol) });
    }
    let service: Service = serde_json::from_value(service_json()).unwrap();
    for (position, number) in [(5, 1), (0, 3), (0, 2)] {
        host.services.push(Service { id: uuid(number), position, ..service.clone() });
    }
    let binding: Binding = serde_json::from_value(binding_json()).unwrap();
    for (micros, number) in [(1, 3), (1, 2), (0, 4)] {
        let created_at = time().plus_micros(micros);
        host.services[0].bindings.push(Binding { id: uuid(number), created_at, ..binding.clone() });
    }
    let entry: IfEntry = serde_json::from_value(if_entry_json()).unwrap();
    for (if_index, number) in [(1_001_000_003_000, 1), (2, 3), (2, 2), (10, 4)] {
        host.if_entries.push(IfEntry { id: uuid(number), if_index, ..entry.clone() });
    }

    host.sort_embedded();

    let numbers = |ids: Vec<Uuid>| ids.into_iter().map(|id| id.as_u128()).collect::<Vec<_>>();
    assert_eq!(numbers(host.interfaces.iter().map(|interface| interface.id).collect()), [4, 2, 3, 1]);
    assert_eq!(numbers(host.ports.iter().map(|port| port.id).collect()), [3, 4, 2, 1, 5]);
    assert_eq!(numbers(host.services.iter().map(|service| service.id).collect()), [2, 3, 1]);
    assert_eq!(numbers(host.services[2].bindings.iter().map(|binding| binding.id).collect()), [4, 2, 3]);
    assert_eq!(numbers(host.if_entries.iter().map(|entry| entry.id).collect()), [2, 3, 4, 1]);
}

#[test]
fn order_fields_and_directions_have_one_name_everywhere() {
    let names =
        ["created_at", "updated_at", "name", "hostname", "network_id", "virtualized_by", "interface_ip"];
    assert_eq!(HostOrderField::ALL.iter().map(ToString::to_string).collect::<Vec<_>>(), names);
    for field in HostOrderField::ALL {
        assert_eq!(field.as_str().parse(), Ok(*field));
        assert_eq!(round_trip::<HostOrderField>(&format!("\"{field}\"")), *field);
    }
    for text in ["", "Name", "NAME", "id", "name "] {
        assert!(text.parse::<HostOrderField>().is_err(), "{text}");
        assert!(text.parse::<OrderDirection>().is_err(), "{text}");
    }
    assert_eq!(HostOrderField::default(), HostOrderField::CreatedAt);
    assert_eq!(OrderDirection::default(), OrderDirection::Ascending);
    for (text, direction) in [("asc", OrderDirection::Ascending), ("desc", OrderDirection::Descending)] {
        assert_eq!(text.parse(), Ok(direction));
        assert_eq!(round_trip::<OrderDirection>(&format!("\"{text}\"")), direction);
        assert_eq!(direction.to_string(), text);
    }
}
