//! Reports of scanners and devices.

use serde_json::{Value, json};

use super::Choose;
use super::author::Author;
use super::request::{ApiRequest, Body};

/// Sample body in the format of nmap, followed by samples of the other formats. `NAME` stands for a name of the
/// organization. The library's own format has no sample.
const SCAN: &str = r#"<nmaprun scanner="nmap" start="1785585600"><host><status state="up"/>
<address addr="10.0.0.9" addrtype="ipv4"/><hostnames><hostname name="NAME" type="PTR"/></hostnames>
<ports><port protocol="tcp" portid="443"><state state="open"/><service name="https"/></port></ports></host></nmaprun>"#;
const NEIGHBORS: &str = r#"{"lldp": {"interface": {"eth0": {"chassis": {"NAME": {"id": {"type": "local", "value": "NAME"}}}, "port": {}}}}}"#;
const WALK: &str = ".1.3.6.1.2.1.1.5.0 = STRING: \"NAME\"\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: \"eth0\"\n";
const RECORDING: &str = "1.3.6.1.2.1.1.5.0|4|NAME\n1.3.6.1.2.1.2.2.1.2.1|4|eth0\n";
const CACHE: &str =
    r#"[{"dst": "10.0.0.10", "dev": "eth0", "lladdr": "00:1b:21:00:00:14", "state": ["REACHABLE"]}]"#;

const ADDRESSES: &str = r#"[{"ifindex": 2, "ifname": "eth0", "flags": ["UP"], "link_type": "ether",
    "address": "00:1b:21:00:00:15", "addr_info": [{"local": "10.0.0.9", "prefixlen": 24}]}]"#;
const FORWARDING: &str = r#"[{"mac": "00:1b:21:00:00:16", "ifname": "eth0", "vlan": 10}]"#;
const ROUTES: &str =
    r#"[{"dst": "default", "gateway": "10.0.0.1", "dev": "eth0", "protocol": "static", "flags": []}]"#;
const MEMBERSHIPS: &str = r#"[{"ifname": "eth0", "vlans": [{"vlan": 10}]}]"#;

const MEDIA_TYPES: &str = "application/json|application/octet-stream|application/xml|text/plain";

/// The formats with a sample.
const FORMATS: &str = "nmap|lldpctl|snmpwalk|snmprec|arp|ip_addr|ip_route|bridge_fdb|bridge_vlan|auto";

/// The formats whose samples do not name their device.
const NAMELESS: &[&str] = &["lldpctl", "arp", "ip_addr", "ip_route", "bridge_fdb", "bridge_vlan", "auto"];

impl Author<'_> {
    /// Adds a report, and the query that describes it.
    pub(super) fn add_report(&mut self, request: &mut ApiRequest) {
        let format = match self.random.usize(..20) {
            0 => self.random.choose_part("x|"),
            1..8 => self.random.choose_part(FORMATS),
            _ => "report",
        };
        request.query.push(("format", format.to_owned()));
        // A daemon's key has a network.
        let mut keys = self.own.daemon_keys.iter().map(|key| format!("Bearer {key}"));
        let is_by_daemon = keys.any(|key| request.authorization.contains(&key));
        if self.random.once_in(10) == is_by_daemon {
            request.query.push(("network_id", self.id("networks").to_string()));
        }
        if NAMELESS.contains(&format) || self.random.once_in(8) {
            let name = self.own.text().replace(' ', "-");
            let reporter = if self.random.bool() { self.id("hosts").to_string() } else { name };
            request.query.push(("reporter", reporter));
        }
        for name in ["complete", "create_neighbors", "dry_run"] {
            if self.random.once_in(4) {
                request
                    .query
                    .push((name, self.random.choose_part("true|true|true|false|false|x").to_owned()));
            }
        }
        let sample = match format {
            "nmap" => SCAN,
            "lldpctl" => NEIGHBORS,
            "snmpwalk" => WALK,
            "snmprec" => RECORDING,
            "arp" | "auto" => CACHE,
            "ip_addr" => ADDRESSES,
            "ip_route" => ROUTES,
            "bridge_fdb" => FORWARDING,
            "bridge_vlan" => MEMBERSHIPS,
            _ => "",
        };
        let body = if sample.is_empty() { self.report().to_string() } else { sample.to_owned() };
        let name = self.own.text();
        request.body = Body::Text(body.replace("NAME", &name));
        request.content_type = Some(self.random.choose_part(MEDIA_TYPES));
    }

    fn report(&mut self) -> Value {
        let devices: Vec<Value> = (0..self.random.usize(..3)).map(|_| self.device()).collect();
        json!({"reporter": {"name": self.name()}, "observed_at": "2026-08-01T12:00:00Z", "devices": devices})
    }

    fn device(&mut self) -> Value {
        let mut device = json!({"sys_name": self.name(), "sys_descr": self.name()});
        if self.random.once_in(4) {
            device["id"] = json!(self.id("hosts"));
        }
        if self.random.bool() {
            device["serial_number"] = self.name();
        }
        if self.random.bool() {
            device["chassis_id"] = self.chassis_id();
        }
        let addresses = json!([{"ip_address": self.random.choose_part("10.0.0.9|10.0.0.10|2001:db8::1")}]);
        let neighbors = json!([{"if_index": 1, "chassis_id": self.chassis_id()}]);
        let entries = json!([{"if_index": 1, "if_name": self.random.choose_part("eth0|eth1")}]);
        let ports = json!([{"number": 443, "protocol": "Tcp", "service": "https"}]);
        let tables =
            [("addresses", addresses), ("lldp", neighbors), ("if_entries", entries), ("ports", ports)];
        device["tables"] = json!({});
        for (kind, rows) in tables {
            if self.random.bool() {
                device["tables"][kind] = json!({"rows": rows, "complete": self.random.bool()});
            }
        }
        device
    }

    /// Returns one of a few chassis ids, so that devices name each other.
    fn chassis_id(&mut self) -> Value {
        let value = format!("{}-{}", self.own.marker, self.random.u8(..4));
        json!({"subtype": "LocallyAssigned", "value": value})
    }
}
