//! The records of the API in their JSON form.

mod enums;
mod hosts;
mod values;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toposcope::model::{Port, PortNumber, Protocol, Timestamp};
use uuid::Uuid;

const TCP: &str = "21 Ftp, 22 Ssh, 23 Telnet, 53 DnsTcp, 80 Http, 88 Kerberos, 389 Ldap, 443 Https, 445 Samba, \
    515 LdpTcp, 554 Rtsp, 631 Ipp, 636 Ldaps, 1433 MsSql, 1883 Mqtt, 2049 Nfs, 2375 Docker, 2376 DockerTls, \
    3000 Http3000, 3306 MySql, 3389 Rdp, 5000 Http5000, 5060 Sip, 5061 SipTls, 5432 PostgreSQL, 5671 AMQPTls, \
    5672 AMQP, 5984 CouchDb, 6379 Redis, 6443 Kubernetes, 8080 Http8080, 8081 Http8081, 8082 Http8082, \
    8086 InfluxDb, 8443 Https8443, 8883 MqttTls, 8888 Http8888, 9000 Http9000, 9042 Cassandra, 9092 Kafka, \
    9100 JetDirect, 9200 Elasticsearch, 9443 Https9443, 10443 Https10443, 15672 RabbitMqMgmt, 27017 MongoDB";
const UDP: &str = "53 DnsUdp, 67 Dhcp, 123 Ntp, 161 Snmp, 515 LdpUdp, 1161 SnmpAlt, 1194 OpenVPN, \
    47808 BACnet, 51820 Wireguard";

/// The types of ports, by number and by whether the protocol is TCP. All other ports are custom.
pub(crate) static PORT_TYPES: LazyLock<BTreeMap<(u16, bool), &str>> = LazyLock::new(|| {
    let types = [(TCP, true), (UDP, false)].into_iter();
    let types = types.flat_map(|(types, is_tcp)| types.split(", ").map(move |pair| (pair, is_tcp)));
    let types = types.map(|(pair, is_tcp)| {
        let (number, name) = pair.split_once(' ').unwrap();
        ((number.parse().unwrap(), is_tcp), name)
    });
    types.collect()
});

const ID: &str = "133e671d-8ee1-51bd-903c-32657d3d8ef1";
const TIME: &str = "2026-08-14T12:00:14Z";

/// Parses a text in canonical form, and asserts that it is written identically.
fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}

fn refusal<T: DeserializeOwned>(value: &Value) -> String {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(_) => panic!("accepted: {value}"),
        Err(error) => error.to_string(),
    }
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

fn without(mut object: Value, field: &str) -> Value {
    object.as_object_mut().unwrap().remove(field).expect("the field is there to be removed");
    object
}

fn id<I: From<Uuid>>() -> I {
    ID.parse::<Uuid>().unwrap().into()
}

fn time() -> Timestamp {
    TIME.parse().unwrap()
}

fn port(number: u16, protocol: Protocol) -> Port {
    Port {
        id: id(),
        host_id: id(),
        network_id: id(),
        number: PortNumber::try_from(number).unwrap(),
        protocol,
        created_at: time(),
        updated_at: time(),
        last_seen_at: None,
        is_stale: false,
    }
}

fn port_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "number": 80, "protocol": "Tcp", "created_at": TIME,
        "updated_at": TIME,
    })
}

fn binding_json() -> Value {
    json!({
        "id": ID, "service_id": ID, "network_id": ID, "interface_id": null, "port_id": ID, "type": "Port",
        "created_at": TIME, "updated_at": TIME,
    })
}

fn interface_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "ip_address": "192.0.2.1", "position": 0, "created_at": TIME,
        "updated_at": TIME,
    })
}

fn service_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "name": "web", "position": 0, "service_definition": "Nginx",
        "created_at": TIME, "updated_at": TIME,
    })
}

fn if_entry_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "if_index": 1, "if_descr": "", "created_at": TIME,
        "updated_at": TIME,
    })
}

fn host_json() -> Value {
    json!({"id": ID, "network_id": ID, "name": "", "created_at": TIME, "updated_at": TIME})
}
