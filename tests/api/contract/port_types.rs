//! The type of a port follows from its number and protocol alone.

use serde_json::{Value, json};

use super::row::{Row, check};
use super::scene::{HOST, PORT, Scene, port_body, with};
use crate::common::{OFFICE, SplitMix64, at};

const TCP: [(u16, &str); 46] = [
    (21, "Ftp"),
    (22, "Ssh"),
    (23, "Telnet"),
    (53, "DnsTcp"),
    (80, "Http"),
    (88, "Kerberos"),
    (389, "Ldap"),
    (443, "Https"),
    (445, "Samba"),
    (515, "LdpTcp"),
    (554, "Rtsp"),
    (631, "Ipp"),
    (636, "Ldaps"),
    (1433, "MsSql"),
    (1883, "Mqtt"),
    (2049, "Nfs"),
    (2375, "Docker"),
    (2376, "DockerTls"),
    (3000, "Http3000"),
    (3306, "MySql"),
    (3389, "Rdp"),
    (5000, "Http5000"),
    (5060, "Sip"),
    (5061, "SipTls"),
    (5432, "PostgreSQL"),
    (5671, "AMQPTls"),
    (5672, "AMQP"),
    (5984, "CouchDb"),
    (6379, "Redis"),
    (6443, "Kubernetes"),
    (8080, "Http8080"),
    (8081, "Http8081"),
    (8082, "Http8082"),
    (8086, "InfluxDb"),
    (8443, "Https8443"),
    (8883, "MqttTls"),
    (8888, "Http8888"),
    (9000, "Http9000"),
    (9042, "Cassandra"),
    (9092, "Kafka"),
    (9100, "JetDirect"),
    (9200, "Elasticsearch"),
    (9443, "Https9443"),
    (10443, "Https10443"),
    (15672, "RabbitMqMgmt"),
    (27017, "MongoDB"),
];

const UDP: [(u16, &str); 9] = [
    (53, "DnsUdp"),
    (67, "Dhcp"),
    (123, "Ntp"),
    (161, "Snmp"),
    (515, "LdpUdp"),
    (1161, "SnmpAlt"),
    (1194, "OpenVPN"),
    (47808, "BACnet"),
    (51820, "Wireguard"),
];

fn kind(number: u16, protocol: &str) -> &'static str {
    let known = if protocol == "Tcp" { &TCP[..] } else { &UDP[..] };
    known.iter().find(|(known, _)| *known == number).map_or("Custom", |(_, kind)| kind)
}

/// An update to this number and protocol, with a value in the field `type`.
fn row(scene: &Scene, number: u16, protocol: &str, sent: Option<Value>) -> Row {
    let body = with(&with(&port_body(), "number", number), "protocol", protocol);
    let body = sent.map_or(body.clone(), |sent| with(&body, "type", sent));
    let expected = json!({
        "id": PORT,
        "host_id": HOST,
        "network_id": OFFICE,
        "number": number,
        "protocol": protocol,
        "type": kind(number, protocol),
        "created_at": at(0),
        "updated_at": at(0),
    });
    Row::gives(format!("{number}/{protocol}"), scene.put_port(PORT, &body), expected)
}

/// A scene whose first host has only one port, so that every number is free.
async fn scene() -> Scene {
    let scene = Scene::new().await;
    let home = scene.world.home.organization.id;
    let mut host = scene.world.inventory.host(home, HOST).await.unwrap();
    host.services.clear();
    host.ports.retain(|port| port.id == PORT);
    scene.world.put([host]).await;
    scene
}

#[tokio::test]
async fn every_known_pair_has_its_name_and_the_other_protocol_another() {
    let scene = scene().await;
    let numbers = TCP.iter().chain(&UDP).map(|(number, _)| *number);
    let rows = numbers.flat_map(|number| ["Tcp", "Udp"].map(|protocol| row(&scene, number, protocol, None)));
    check(scene.server(), rows).await;
}

#[tokio::test]
async fn any_other_pair_is_custom() {
    let scene = scene().await;
    let known: Vec<u16> = TCP.iter().chain(&UDP).map(|(number, _)| *number).collect();
    let mut random = SplitMix64(80);
    let drawn = (0..100).map(|_| u16::try_from(random.below(65535) + 1).unwrap());
    let numbers: Vec<u16> =
        drawn.chain([1, 20, 24, 1024, 65535]).filter(|number| !known.contains(number)).collect();
    assert!(numbers.len() > 90);
    let rows = numbers.into_iter().flat_map(|number| {
        ["Tcp", "Udp"].map(|protocol| row(&scene, number, protocol, Some(json!("Https"))))
    });
    check(scene.server(), rows).await;
}

#[tokio::test]
async fn whatever_a_client_sends_as_the_type_is_ignored() {
    let scene = scene().await;
    let sent = [
        json!("Https"),
        json!("Custom"),
        json!("nonsense"),
        json!(""),
        Value::Null,
        json!(443),
        json!(true),
        json!([]),
        json!({"type": "Ssh"}),
    ];
    let rows = sent.into_iter().map(|sent| row(&scene, 22, "Tcp", Some(sent)));
    check(scene.server(), rows).await;
}
