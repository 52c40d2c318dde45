//! Reports that take the most memory or work for their length.

use super::world::{crowded_ports, report};

/// The length of the longest reports in bytes.
const LENGTH: usize = 2 * 1024 * 1024;

/// A report of a scanner or a device.
pub(super) struct Report {
    pub(super) name: &'static str,
    /// The format, and further parameters.
    pub(super) query: &'static str,
    pub(super) body: String,
    /// The number of its rows and devices.
    pub(super) items: u64,
    pub(super) is_valid: bool,
}

/// Repeats an item, by its number, until the text is long enough. Returns the number of items as well.
fn repeated(length: usize, item: impl Fn(usize) -> String) -> (String, u64) {
    let (mut text, mut number) = (String::new(), 0);
    while text.len() < length {
        text.push_str(&item(number));
        number += 1;
    }
    (text, number as u64)
}

/// Returns reports of this length with as many rows as one may have: a forwarding table, and devices.
pub(super) fn heaviest(length: usize) -> [String; 2] {
    let separator = |number: usize| if number == 0 { "" } else { "," };
    // A table has at most 500,000 rows: the rest is padding.
    let padded = |text: String| {
        let padding = " ".repeat(length.saturating_sub(text.len()));
        text + &padding
    };
    let addresses = repeated((length - 1_000).min(22_000_000), |number| {
        format!(r#"{}{{"if_index":1,"mac_address":"{}"}}"#, separator(number), mac(number))
    });
    let table =
        format!(r#"{{"sys_name":"switch","tables":{{"fdb":{{"complete":true,"rows":[{}]}}}}}}"#, addresses.0);
    let devices = repeated(200_000, |number| {
        let tables = r#"{"addresses":{"rows":[{"ip_address":"10.9.0.1"}]}}"#;
        format!(r#"{}{{"serial_number":"SN-{number}","tables":{tables}}}"#, separator(number))
    });
    [padded(report(&table)), padded(report(&devices.0))]
}

fn mac(number: usize) -> String {
    let [.., a, b, c] = number.to_be_bytes();
    format!("00:1b:{a:02x}:{b:02x}:{c:02x}:01")
}

pub(super) fn reports() -> Vec<Report> {
    let mut all = Vec::new();
    let mut add = |name, query, is_valid, (body, items)| {
        all.push(Report { name, query, body, items, is_valid });
    };
    let crowded = crowded_ports();
    let rows = crowded.matches("if_index").count() as u64;
    add("crowded ports", "report", true, (crowded, rows));
    let separator = |number: usize| if number == 0 { "" } else { "," };
    let table = |name: &str, (rows, items): (String, u64)| {
        let device =
            format!(r#"{{"sys_name":"x","tables":{{"{name}":{{"complete":true,"rows":[{rows}]}}}}}}"#);
        (report(&device), items)
    };
    let empty = repeated(400_000, |number| format!("{}{{}}", separator(number)));
    add("empty devices", "report&dry_run=true", false, (report(&empty.0), empty.1));
    let arrays = repeated(LENGTH, |number| format!("{}[]", separator(number)));
    add("arrays for devices", "report&dry_run=true", false, (report(&arrays.0), arrays.1));
    let devices = repeated(LENGTH / 64, |number| {
        let tables = r#"{"addresses":{"rows":[{"ip_address":"10.9.0.1"}]}}"#;
        format!(
            r#"{}{{"sys_name":"device-{number}","serial_number":"SN-{number}","tables":{tables}}}"#,
            separator(number)
        )
    });
    add("devices", "report&dry_run=true", true, (report(&devices.0), devices.1));
    let fdb = repeated(LENGTH, |number| {
        format!(r#"{}{{"if_index":1,"mac_address":"{}"}}"#, separator(number), mac(number))
    });
    add("forwarding table", "report&dry_run=true", true, table("fdb", fdb));
    let entries =
        repeated(LENGTH / 2, |number| format!(r#"{}{{"if_index":{}}}"#, separator(number), number + 1));
    add("interfaces", "report&dry_run=true", true, table("if_entries", entries));
    let walk = repeated(LENGTH / 2, |number| format!(".1.3.6.1.2.1.2.2.1.3.{} = INTEGER: 6\n", number + 1));
    add("walk", "snmpwalk&dry_run=true", true, walk);
    let scan = repeated(LENGTH / 32, |number| {
        let address = std::net::Ipv4Addr::from(0x0A00_0001 + u32::try_from(number).unwrap());
        format!(
            r#"<host><status state="up"/><address addr="{address}" addrtype="ipv4"/><ports><port protocol="tcp" portid="443"><state state="open"/></port></ports></host>"#
        )
    });
    add("scan", "nmap&dry_run=true", true, (format!("<nmaprun>{}</nmaprun>", scan.0), scan.1));
    let nested = "[".repeat(100_000);
    add("nesting", "report&dry_run=true", false, (report(&nested), 1));
    all
}
