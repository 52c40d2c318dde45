//! The expected result of importing a host, computed independently on JSON values, without the types of the
//! crate.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::model::PORT_TYPES;

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
    /// Returns the number of corrections without which a host cannot be read.
    pub(super) fn required(&self) -> u64 {
        self.odd_macs + self.empty_macs + self.missing_descriptions + self.dropped_ports.len() as u64
    }

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
            let number = u16::try_from(port["number"].as_u64().unwrap()).unwrap();
            let known = PORT_TYPES.get(&(number, port["protocol"] == "Tcp"));
            port["type"] = json!(known.copied().unwrap_or("Custom"));
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
