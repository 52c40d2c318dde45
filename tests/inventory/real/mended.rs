//! The expected result of importing a host, computed independently on JSON values, without the types of the
//! crate.

use std::net::IpAddr;

use serde_json::{Value, json};

const TCP: &str = "21 Ftp, 22 Ssh, 23 Telnet, 53 DnsTcp, 80 Http, 88 Kerberos, 389 Ldap, 443 Https, 445 Samba, \
    515 LdpTcp, 554 Rtsp, 631 Ipp, 636 Ldaps, 1433 MsSql, 1883 Mqtt, 2049 Nfs, 2375 Docker, 2376 DockerTls, \
    3000 Http3000, 3306 MySql, 3389 Rdp, 5000 Http5000, 5060 Sip, 5061 SipTls, 5432 PostgreSQL, 5671 AMQPTls, \
    5672 AMQP, 5984 CouchDb, 6379 Redis, 6443 Kubernetes, 8080 Http8080, 8081 Http8081, 8082 Http8082, \
    8086 InfluxDb, 8443 Https8443, 8883 MqttTls, 8888 Http8888, 9000 Http9000, 9042 Cassandra, 9092 Kafka, \
    9100 JetDirect, 9200 Elasticsearch, 9443 Https9443, 10443 Https10443, 15672 RabbitMqMgmt, 27017 MongoDB";
const UDP: &str = "53 DnsUdp, 67 Dhcp, 123 Ntp, 161 Snmp, 515 LdpUdp, 1161 SnmpAlt, 1194 OpenVPN, \
    47808 BACnet, 51820 Wireguard";

/// Counts of the corrections, by kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mended {
    pub(super) odd_macs: u64,
    pub(super) empty_macs: u64,
    pub(super) dropped_ports: Vec<String>,
    pub(super) missing_descriptions: u64,
    pub(super) cut_times: u64,
}

impl Mended {
    pub(super) fn mend(&mut self, host: &mut Value) {
        self.times(host);
        for interface in list(host, "interfaces") {
            self.times(interface);
            self.mac(interface);
            let address: IpAddr = interface["ip_address"].as_str().unwrap().parse().unwrap();
            interface["ip_address"] = json!(address.to_string());
        }
        list(host, "ports").retain(|port| {
            let is_zero = port["number"] == 0;
            self.dropped_ports.extend(is_zero.then(|| port["id"].as_str().unwrap().to_owned()));
            !is_zero
        });
        for port in list(host, "ports") {
            self.times(port);
            port["type"] = json!(kind(port["number"].as_u64().unwrap(), port["protocol"] == "Tcp"));
        }
        for service in list(host, "services") {
            self.times(service);
            for binding in list(service, "bindings") {
                self.times(binding);
            }
            list(service, "bindings").sort_by_key(|binding| (moment(&binding["created_at"]), id(binding)));
        }
        for entry in list(host, "if_entries") {
            self.times(entry);
            self.mac(entry);
            if entry["if_descr"].is_null() {
                entry["if_descr"] = json!("");
                self.missing_descriptions += 1;
            }
        }
        list(host, "interfaces").sort_by_key(|interface| (interface["position"].as_i64(), id(interface)));
        list(host, "services").sort_by_key(|service| (service["position"].as_i64(), id(service)));
        list(host, "if_entries").sort_by_key(|entry| (entry["if_index"].as_i64(), id(entry)));
        list(host, "ports")
            .sort_by_key(|port| (port["number"].as_u64(), port["protocol"] == "Udp", id(port)));
    }

    fn mac(&mut self, part: &mut Value) {
        let Some(text) = part["mac_address"].as_str() else { return };
        let separator = ['-', ':'].into_iter().find(|separator| text.contains(*separator));
        let digits: String = match separator {
            Some(separator) if text.split(separator).all(|pair| pair.len() == 2) => {
                text.split(separator).collect()
            }
            Some(_) => String::new(),
            None => text.to_owned(),
        };
        part["mac_address"] = if digits.len() == 12 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            let pairs: Vec<&str> = (0..6).map(|pair| &digits[2 * pair..][..2]).collect();
            json!(pairs.join(":").to_uppercase())
        } else {
            *(if text.is_empty() { &mut self.empty_macs } else { &mut self.odd_macs }) += 1;
            Value::Null
        };
    }

    fn times(&mut self, part: &mut Value) {
        for field in ["created_at", "updated_at"] {
            let (seconds, decimals) = moment(&part[field]);
            let (kept, lost) = decimals.split_at(decimals.len().min(6));
            self.cut_times += u64::from(lost.bytes().any(|digit| digit != b'0'));
            let kept = format!("{kept:0<6}");
            part[field] = json!(match (&kept[..3], &kept[3..]) {
                ("000", "000") => format!("{seconds}Z"),
                (milliseconds, "000") => format!("{seconds}.{milliseconds}Z"),
                _ => format!("{seconds}.{kept}Z"),
            });
        }
    }
}

fn list<'v>(value: &'v mut Value, name: &str) -> &'v mut Vec<Value> {
    value[name].as_array_mut().unwrap()
}

fn id(part: &Value) -> String {
    part["id"].as_str().unwrap().to_owned()
}

/// Returns a time in a sortable form: all of them are in UTC here.
pub(super) fn moment(time: &Value) -> (String, String) {
    let time = time.as_str().and_then(|time| time.strip_suffix('Z')).expect("a time in UTC");
    let (seconds, decimals) = time.split_once('.').unwrap_or((time, ""));
    (seconds.to_owned(), decimals.to_owned())
}

fn kind(number: u64, is_tcp: bool) -> &'static str {
    let known = if is_tcp { TCP } else { UDP };
    let mut known = known.split(", ").filter_map(|pair| pair.split_once(' '));
    known.find(|(known, _)| *known == number.to_string()).map_or("Custom", |(_, kind)| kind)
}
