//! `PUT /api/v1/ports/{id}`.

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::{Host, HostId, NetworkId, Permission, PortId};

use crate::backend::run_with;
use crate::common::{
    BOUND_PORT, HOST, HOSTS, LAB, LAB_HOST, NEIGHBOUR, NOBODY, OFFICE, PORT, Populated, Row, VAULT,
    VAULT_HOST, VAULT_PORT, at, bare, port_body, put_port, with, with_session,
};

async fn update(fixture: &Populated, id: PortId, body: &Value) -> Value {
    fixture.send(fixture.put_port(id, body)).await.data().clone()
}

async fn host(fixture: &Populated, id: HostId) -> Host {
    fixture.inventory.hosts().get(&fixture.system(), id).await.unwrap()
}

/// [`PORT`] after an update at this second.
fn record(number: u16, protocol: &str, kind: &str, second: i64) -> Value {
    json!({
        "id": PORT,
        "host_id": HOST,
        "network_id": OFFICE,
        "number": number,
        "protocol": protocol,
        "type": kind,
        "created_at": at(0),
        "updated_at": at(second),
    })
}

#[test]
fn updated_port_is_returned_as_it_is_listed_afterwards() {
    run_with(Populated::new, async |fixture| {
        for (second, (number, protocol, kind)) in (1..).zip([
            // An update that changes nothing is an update.
            (443, "Tcp", "Https"),
            (22, "Tcp", "Ssh"),
            (161, "Udp", "Snmp"),
            (22, "Udp", "Custom"),
            (65535, "Tcp", "Custom"),
        ]) {
            fixture.clock.set(at(second));
            let body = with(&with(&port_body(), "number", number), "protocol", protocol);
            let expected = record(number, protocol, kind, second);
            assert_eq!(update(&fixture, PORT, &body).await, expected);
            let request = fixture.by_key(bare("GET", &format!("{HOSTS}?ids={HOST}")));
            let listed = fixture.send(request).await.data()[0].clone();
            let ports = listed["ports"].as_array().unwrap();
            assert_eq!(ports.iter().find(|port| port["id"] == json!(PORT)), Some(&expected));
            assert_eq!(ports.len(), 2);
            assert_eq!(listed["updated_at"], json!(at(second)));
            assert_eq!(listed["created_at"], json!(at(0)));
        }
    });
}

#[test]
fn port_id_of_the_path_wins_and_server_fields_are_ignored() {
    run_with(Populated::new, async |fixture| {
        fixture.clock.set(at(7));
        let mut body = with(&port_body(), "number", 22);
        for (field, value) in [
            ("id", json!(BOUND_PORT)),
            ("created_at", json!("1970-01-01T00:00:00Z")),
            ("updated_at", json!("2099-01-01T00:00:00Z")),
            ("type", json!("MongoDB")),
        ] {
            body = with(&body, field, value);
        }
        assert_eq!(update(&fixture, PORT, &body).await, record(22, "Tcp", "Ssh", 7));
        let mut ports = host(&fixture, HOST).await.ports;
        assert_eq!(ports.len(), 2);
        let bound = ports.swap_remove(ports.iter().position(|port| port.id == BOUND_PORT).unwrap());
        assert_eq!((bound.number.get(), bound.updated_at), (80, at(0)), "the port that the body names");
        for id in [json!(NOBODY), json!("no id"), json!(null), json!(5)] {
            assert_eq!(update(&fixture, PORT, &with(&body, "id", id)).await["id"], json!(PORT));
        }
    });
}

/// Listed ports are ordered by number, wherever a port was before.
#[test]
fn ports_of_a_host_stay_in_order_after_an_update() {
    run_with(Populated::new, async |fixture| {
        for (number, first) in [(79, PORT), (81, BOUND_PORT)] {
            update(&fixture, PORT, &with(&port_body(), "number", number)).await;
            assert_eq!(host(&fixture, HOST).await.ports[0].id, first, "{number}");
        }
    });
}

/// A bound port may not move to another host, but other changes are allowed.
#[test]
fn bound_port_may_change_on_its_host() {
    run_with(Populated::new, async |fixture| {
        let body = with(&with(&port_body(), "number", 8080), "protocol", "Udp");
        assert_eq!(update(&fixture, BOUND_PORT, &body).await["number"], 8080);
        let host = host(&fixture, HOST).await;
        assert_eq!(host.services[0].bindings.len(), 1);
        assert!(host.ports.iter().any(|port| port.id == BOUND_PORT && port.number.get() == 8080));
    });
}

fn to(host: HostId, network: NetworkId, number: u16) -> Value {
    let body = with(&with(&port_body(), "host_id", json!(host)), "network_id", json!(network));
    with(&body, "number", number)
}

#[test]
fn moved_port_keeps_its_id_and_creation_time() {
    run_with(Populated::new, async |fixture| {
        for (second, (target, network, number)) in
            (1..).zip([(NEIGHBOUR, OFFICE, 80), (LAB_HOST, LAB, 443), (HOST, OFFICE, 8443)])
        {
            fixture.clock.set(at(second));
            let reply = fixture.send(fixture.put_port(PORT, &to(target, network, number))).await;
            let data = reply.data();
            assert_eq!((&data["id"], &data["created_at"]), (&json!(PORT), &json!(at(0))));
            assert_eq!((&data["host_id"], &data["network_id"]), (&json!(target), &json!(network)));
            assert_eq!(data["updated_at"], json!(at(second)));
            for id in [HOST, NEIGHBOUR, LAB_HOST] {
                let ports = host(&fixture, id).await.ports;
                let here: Vec<_> = ports.iter().filter(|port| port.id == PORT).collect();
                assert_eq!(here.len(), usize::from(id == target), "it is on one host");
                assert!(here.iter().all(|port| (port.host_id, port.network_id) == (target, network)));
            }
        }
    });
}

#[test]
fn moving_a_port_updates_the_times_of_both_hosts_only() {
    run_with(Populated::new, async |fixture| {
        fixture.clock.set(at(3));
        fixture.send(fixture.put_port(PORT, &to(LAB_HOST, LAB, 443))).await.data();
        for (id, updated_at) in [(HOST, at(3)), (LAB_HOST, at(3)), (NEIGHBOUR, at(0)), (VAULT_HOST, at(0))] {
            let host = host(&fixture, id).await;
            assert_eq!((host.updated_at, host.created_at), (updated_at, at(0)), "{id}");
        }
        let stays = host(&fixture, HOST).await;
        // Only the moved port must not be bound to a service.
        assert_eq!(stays.ports.iter().map(|port| port.id).collect::<Vec<_>>(), [BOUND_PORT]);
        assert!(stays.services.iter().all(|service| service.updated_at == at(0)));
        let request =
            fixture.by_key(bare("GET", &format!("{HOSTS}?order_by=updated_at&order_direction=desc")));
        assert_eq!(fixture.send(request).await.ids(), [1, 3, 2], "and the list knows");
    });
}

#[test]
fn moving_a_port_requires_access_to_both_networks() {
    run_with(Populated::new, async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let owner = fixture.sign_in(&owner).await;
        let denied = |network: NetworkId| json!({"entity": "Network", "id": network});
        let out = || put_port(VAULT_PORT, &to(LAB_HOST, LAB, 443));
        let back = || put_port(VAULT_PORT, &to(VAULT_HOST, VAULT, 443));
        let rows = [
            Row::refused_with("out of it", fixture.by_key(out()), "entity_access_denied", denied(VAULT)),
            Row::succeeds("out of it, by an Owner", with_session(out(), &owner)),
            Row::refused_with("into it", fixture.by_key(back()), "entity_access_denied", denied(VAULT)),
            Row::refused_with(
                "into it, by session",
                fixture.by_session(back()),
                "entity_access_denied",
                denied(VAULT),
            ),
            Row::succeeds(
                "within what was granted",
                fixture.by_key(put_port(VAULT_PORT, &to(LAB_HOST, LAB, 80))),
            ),
            Row::succeeds("into it, by an Owner", with_session(back(), &owner)),
        ];
        fixture.check(rows).await;
    });
}

/// An inaccessible host is not examined: not even for conflicts or bindings.
#[test]
fn access_to_the_network_is_checked_before_the_records() {
    run_with(Populated::new, async |fixture| {
        let denied = || json!({"entity": "Network", "id": VAULT});
        let rows = [
            ("taken there", fixture.put_port(PORT, &to(VAULT_HOST, VAULT, 443))),
            ("bound here", fixture.put_port(BOUND_PORT, &to(VAULT_HOST, VAULT, 80))),
            ("on another network", fixture.put_port(PORT, &to(LAB_HOST, VAULT, 443))),
            (
                "from there to nowhere",
                fixture.put_port(VAULT_PORT, &to(HostId::nil(), NetworkId::nil(), 443)),
            ),
        ];
        let rows =
            rows.map(|(name, request)| Row::refused_with(name, request, "entity_access_denied", denied()));
        fixture.check(rows).await;
    });
}

/// Both hosts are stored as a whole, so the rest of both is unchanged.
#[test]
fn moving_a_port_changes_nothing_else_of_the_hosts() {
    run_with(Populated::new, async |fixture| {
        let (from, target) = (host(&fixture, HOST).await, host(&fixture, NEIGHBOUR).await);
        fixture.clock.set(at(1));
        fixture.send(fixture.put_port(PORT, &to(NEIGHBOUR, OFFICE, 1))).await.data();
        fixture.send(fixture.put_port(PORT, &to(HOST, OFFICE, 443))).await.data();
        let without_times = |host: Host| {
            let mut host = Host { updated_at: at(0), ..host };
            host.ports.iter_mut().for_each(|port| port.updated_at = at(0));
            host
        };
        assert_eq!(without_times(host(&fixture, HOST).await), from);
        assert_eq!(without_times(host(&fixture, NEIGHBOUR).await), target);
    });
}

/// The port types: numbers and names.
const TCP: &str = "
    21 Ftp, 22 Ssh, 23 Telnet, 53 DnsTcp, 80 Http, 88 Kerberos, 389 Ldap, 443 Https, 445 Samba,
    515 LdpTcp, 554 Rtsp, 631 Ipp, 636 Ldaps, 1433 MsSql, 1883 Mqtt, 2049 Nfs, 2375 Docker,
    2376 DockerTls, 3000 Http3000, 3306 MySql, 3389 Rdp, 5000 Http5000, 5060 Sip, 5061 SipTls,
    5432 PostgreSQL, 5671 AMQPTls, 5672 AMQP, 5984 CouchDb, 6379 Redis, 6443 Kubernetes, 8080 Http8080,
    8081 Http8081, 8082 Http8082, 8086 InfluxDb, 8443 Https8443, 8883 MqttTls, 8888 Http8888,
    9000 Http9000, 9042 Cassandra, 9092 Kafka, 9100 JetDirect, 9200 Elasticsearch, 9443 Https9443,
    10443 Https10443, 15672 RabbitMqMgmt, 27017 MongoDB
";

const UDP: &str = "
    53 DnsUdp, 67 Dhcp, 123 Ntp, 161 Snmp, 515 LdpUdp, 1161 SnmpAlt, 1194 OpenVPN, 47808 BACnet,
    51820 Wireguard
";

/// Reads a table of port types.
fn pairs(table: &'static str) -> impl Iterator<Item = (u16, &'static str)> {
    let pairs = table.split(',').map(|pair| pair.trim().split_once(' ').unwrap());
    pairs.map(|(number, kind)| (number.parse().unwrap(), kind))
}

fn kind(number: u16, protocol: &str) -> &'static str {
    let table = if protocol == "Tcp" { TCP } else { UDP };
    pairs(table).find(|(known, _)| *known == number).map_or("Custom", |(_, kind)| kind)
}

/// An update to this number and protocol, with a value in the field `type`.
fn row(fixture: &Populated, number: u16, protocol: &str, sent: Option<Value>) -> Row {
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
    Row::gives(format!("{number}/{protocol}"), fixture.put_port(PORT, &body), expected)
}

/// A fixture whose first host has only one port, so that every number is free.
async fn fixture() -> Populated {
    let fixture = Populated::new().await;
    let home = fixture.home.organization.id;
    let mut host = fixture.inventory.hosts().get(&Caller::system(home), HOST).await.unwrap();
    host.services.clear();
    host.ports.retain(|port| port.id == PORT);
    fixture.put([host]).await;
    fixture
}

#[test]
fn port_type_is_named_by_number_and_protocol() {
    run_with(fixture, async |fixture| {
        let numbers = pairs(TCP).chain(pairs(UDP)).map(|(number, _)| number);
        let rows =
            numbers.flat_map(|number| ["Tcp", "Udp"].map(|protocol| row(&fixture, number, protocol, None)));
        fixture.check(rows).await;
    });
}

#[test]
fn unknown_port_type_is_custom() {
    run_with(fixture, async |fixture| {
        let known: Vec<u16> = pairs(TCP).chain(pairs(UDP)).map(|(number, _)| number).collect();
        let mut random = Rng::with_seed(80);
        let drawn = (0..100).map(|_| random.u16(1..));
        let numbers: Vec<u16> =
            drawn.chain([1, 20, 24, 1024, 65535]).filter(|number| !known.contains(number)).collect();
        assert!(numbers.len() > 90);
        let rows = numbers.into_iter().flat_map(|number| {
            ["Tcp", "Udp"].map(|protocol| row(&fixture, number, protocol, Some(json!("Https"))))
        });
        fixture.check(rows).await;
    });
}

#[test]
fn port_type_in_a_request_is_ignored() {
    run_with(fixture, async |fixture| {
        let sent = json!(["Https", "Custom", "nonsense", "", null, 443, true, [], {"type": "Ssh"}]);
        let rows =
            sent.as_array().unwrap().clone().into_iter().map(|sent| row(&fixture, 22, "Tcp", Some(sent)));
        fixture.check(rows).await;
    });
}
