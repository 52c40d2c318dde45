//! Ports: their numbers and protocols, and the types that follow from these.

use serde_json::{Value, json};
use toposcope::model::{Port, PortNumber, Protocol};

use crate::support::{ID, TIME, port, port_json, refusal, round_trip, with};

const PORT_TYPES: &[(u16, Protocol, &str)] = &[
    (21, Protocol::Tcp, "Ftp"),
    (22, Protocol::Tcp, "Ssh"),
    (23, Protocol::Tcp, "Telnet"),
    (53, Protocol::Tcp, "DnsTcp"),
    (80, Protocol::Tcp, "Http"),
    (88, Protocol::Tcp, "Kerberos"),
    (389, Protocol::Tcp, "Ldap"),
    (443, Protocol::Tcp, "Https"),
    (445, Protocol::Tcp, "Samba"),
    (515, Protocol::Tcp, "LdpTcp"),
    (554, Protocol::Tcp, "Rtsp"),
    (631, Protocol::Tcp, "Ipp"),
    (636, Protocol::Tcp, "Ldaps"),
    (1433, Protocol::Tcp, "MsSql"),
    (1883, Protocol::Tcp, "Mqtt"),
    (2049, Protocol::Tcp, "Nfs"),
    (2375, Protocol::Tcp, "Docker"),
    (2376, Protocol::Tcp, "DockerTls"),
    (3000, Protocol::Tcp, "Http3000"),
    (3306, Protocol::Tcp, "MySql"),
    (3389, Protocol::Tcp, "Rdp"),
    (5000, Protocol::Tcp, "Http5000"),
    (5060, Protocol::Tcp, "Sip"),
    (5061, Protocol::Tcp, "SipTls"),
    (5432, Protocol::Tcp, "PostgreSQL"),
    (5671, Protocol::Tcp, "AMQPTls"),
    (5672, Protocol::Tcp, "AMQP"),
    (5984, Protocol::Tcp, "CouchDb"),
    (6379, Protocol::Tcp, "Redis"),
    (6443, Protocol::Tcp, "Kubernetes"),
    (8080, Protocol::Tcp, "Http8080"),
    (8081, Protocol::Tcp, "Http8081"),
    (8082, Protocol::Tcp, "Http8082"),
    (8086, Protocol::Tcp, "InfluxDb"),
    (8443, Protocol::Tcp, "Https8443"),
    (8883, Protocol::Tcp, "MqttTls"),
    (8888, Protocol::Tcp, "Http8888"),
    (9000, Protocol::Tcp, "Http9000"),
    (9042, Protocol::Tcp, "Cassandra"),
    (9092, Protocol::Tcp, "Kafka"),
    (9100, Protocol::Tcp, "JetDirect"),
    (9200, Protocol::Tcp, "Elasticsearch"),
    (9443, Protocol::Tcp, "Https9443"),
    (10_443, Protocol::Tcp, "Https10443"),
    (15_672, Protocol::Tcp, "RabbitMqMgmt"),
    (27_017, Protocol::Tcp, "MongoDB"),
    (53, Protocol::Udp, "DnsUdp"),
    (67, Protocol::Udp, "Dhcp"),
    (123, Protocol::Udp, "Ntp"),
    (161, Protocol::Udp, "Snmp"),
    (515, Protocol::Udp, "LdpUdp"),
    (1161, Protocol::Udp, "SnmpAlt"),
    (1194, Protocol::Udp, "OpenVPN"),
    (47_808, Protocol::Udp, "BACnet"),
    (51_820, Protocol::Udp, "Wireguard"),
    (1, Protocol::Tcp, "Custom"),
    (22, Protocol::Udp, "Custom"),
    (161, Protocol::Tcp, "Custom"),
    (443, Protocol::Udp, "Custom"),
    (65_535, Protocol::Tcp, "Custom"),
    (65_535, Protocol::Udp, "Custom"),
];

#[test]
fn a_port_is_written_with_the_type_that_its_number_and_protocol_have() {
    for &(number, protocol, kind) in PORT_TYPES {
        let port = port(number, protocol);
        assert_eq!(port.kind(), kind, "{number} {protocol}");
        let expected = format!(
            r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","number":{number},"protocol":"{protocol}","type":"{kind}","created_at":"{TIME}","updated_at":"{TIME}"}}"#
        );
        assert_eq!(round_trip::<Port>(&expected), port);
    }
}

#[test]
fn no_port_has_a_type_that_is_not_in_the_table() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        for number in 1..=u16::MAX {
            let expected = PORT_TYPES.iter().find(|row| (row.0, row.1) == (number, protocol));
            let expected = expected.map_or("Custom", |row| row.2);
            assert_eq!(port(number, protocol).kind(), expected, "{number} {protocol}");
        }
    }
}

#[test]
fn the_type_of_a_port_is_ignored_when_read() {
    let expected = port(80, Protocol::Tcp);
    assert_eq!(serde_json::from_value::<Port>(port_json()).unwrap(), expected);
    for sent in [json!("Ssh"), json!("nonsense"), Value::Null, json!(7), json!({"a": []}), json!([1, 2])] {
        let sent = with(port_json(), "type", sent);
        assert_eq!(serde_json::from_value::<Port>(sent).unwrap(), expected);
    }
}

#[test]
fn a_port_number_is_1_to_65535() {
    assert_eq!(PortNumber::try_from(1).unwrap().get(), 1);
    assert_eq!(PortNumber::try_from(65_535).unwrap().to_string(), "65535");
    assert!(PortNumber::try_from(0).is_err());
    for number in [json!(0), json!(-1), json!(65_536), json!(1.5), json!("80"), Value::Null] {
        refusal::<Port>(&with(port_json(), "number", number));
    }
}

#[test]
fn a_protocol_is_spelt_as_on_the_wire() {
    assert!(Protocol::Tcp < Protocol::Udp);
    for protocol in ["tcp", "TCP", "Sctp", ""] {
        refusal::<Port>(&with(port_json(), "protocol", json!(protocol)));
    }
}
