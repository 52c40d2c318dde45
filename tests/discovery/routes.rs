//! Routing tables of walks.

use toposcope::discovery::report::{AddressFamily, RouteRow, Table, WarningCode};
use toposcope::discovery::{Format, ParseOptions, parse};
use toposcope::model::Timestamp;

use crate::support::{count, options, rows};

/// Parses a walk of a device with these further lines.
fn routes(lines: &str) -> Option<Table<RouteRow>> {
    let walk = format!(".1.3.6.1.2.1.1.5.0 = STRING: \"router\"\n{lines}");
    let options = ParseOptions::new(Timestamp::UNIX_EPOCH).with_complete_tables();
    let report = parse(Format::Snmpwalk, walk.as_bytes(), &options).unwrap();
    report.devices[0].tables.routes.as_deref().cloned()
}

#[test]
fn mask_with_its_bytes_in_reverse_order_is_none() {
    let route = |to: &str, mask: &str| {
        format!(
            ".1.3.6.1.2.1.4.21.1.7.{to} = IpAddress: 192.0.2.77\n.1.3.6.1.2.1.4.21.1.8.{to} = INTEGER: 4\n\
             .1.3.6.1.2.1.4.21.1.11.{to} = IpAddress: {mask}\n"
        )
    };
    for (to, mask, expected) in [
        ("198.51.100.0", "255.255.255.0", Some("198.51.100.0/24")),
        ("198.51.100.0", "0.255.255.255", None),
        ("198.51.100.0", "128.255.255.255", None),
        ("0.0.0.0", "0.0.0.0", Some("0.0.0.0/0")),
        ("0.0.0.0", "0.0.0.255", None),
    ] {
        let text = format!(
            ".1.3.6.1.2.1.1.5.0 = STRING: \"r1\"\n.1.3.6.1.2.1.4.20.1.2.192.0.2.1 = INTEGER: 1\n\
             .1.3.6.1.2.1.4.20.1.3.192.0.2.1 = IpAddress: {mask}\n{}",
            route(to, mask)
        );
        let report = parse(Format::Snmpwalk, text.as_bytes(), &options().with_complete_tables()).unwrap();
        let tables = &report.devices[0].tables;
        let routes = tables.routes.as_deref().map(|routes| routes.rows.as_slice()).unwrap_or_default();
        let destinations: Vec<_> = routes.iter().map(|route| route.destination.to_string()).collect();
        assert_eq!(destinations, expected.into_iter().collect::<Vec<_>>(), "{to} {mask}");
        let prefix = rows(tables.addresses.as_deref())[0].prefix_length;
        assert_eq!(prefix, expected.filter(|_| mask != "0.0.0.0").map(|_| 24), "{to} {mask}");
        let invalid = if expected.is_none() { 2 } else { 0 };
        assert_eq!(count(&report, WarningCode::ValueInvalid), invalid, "{to} {mask}");
    }
}

/// Writes routes as `destination next hop interface metric`, or `discarded` in place of the next hop.
fn described(table: &Table<RouteRow>) -> Vec<String> {
    let line = |row: &RouteRow| {
        let next = row.next_hop.map_or_else(|| "-".to_owned(), |address| address.to_string());
        let next = if row.discards { "discarded".to_owned() } else { next };
        let [index, metric] = [row.if_index, row.metric].map(|number| number.unwrap_or_default());
        format!("{} {next} {index} {metric}", row.destination)
    };
    table.rows.iter().map(line).collect()
}

#[test]
fn routes_of_the_oldest_table_have_the_length_of_their_mask() {
    let table = routes(
        ".1.3.6.1.2.1.4.21.1.2.0.0.0.0 = INTEGER: 2
.1.3.6.1.2.1.4.21.1.2.192.0.2.0 = INTEGER: 2
.1.3.6.1.2.1.4.21.1.2.198.51.100.0 = INTEGER: 3
.1.3.6.1.2.1.4.21.1.3.0.0.0.0 = INTEGER: 1
.1.3.6.1.2.1.4.21.1.7.0.0.0.0 = IpAddress: 192.0.2.1
.1.3.6.1.2.1.4.21.1.7.192.0.2.0 = IpAddress: 0.0.0.0
.1.3.6.1.2.1.4.21.1.8.0.0.0.0 = INTEGER: 4
.1.3.6.1.2.1.4.21.1.8.192.0.2.0 = INTEGER: 3
.1.3.6.1.2.1.4.21.1.8.198.51.100.0 = INTEGER: 2
.1.3.6.1.2.1.4.21.1.11.0.0.0.0 = IpAddress: 0.0.0.0
.1.3.6.1.2.1.4.21.1.11.192.0.2.0 = IpAddress: 255.255.255.0
.1.3.6.1.2.1.4.21.1.11.198.51.100.0 = IpAddress: 255.255.255.0
",
    )
    .unwrap();
    assert_eq!(described(&table), ["0.0.0.0/0 192.0.2.1 2 1", "192.0.2.0/24 - 2 0"]);
    assert_eq!((table.complete, table.family), (true, Some(AddressFamily::Ipv4)));
}

#[test]
fn default_route_of_the_oldest_table_may_have_the_mask_of_a_host() {
    for (next, mask, expected) in [
        ("192.0.2.1", "255.255.255.255", "0.0.0.0/0 192.0.2.1 2 0"),
        // NX-OS discards packets to the address of zeros, and has the default route in another table.
        ("0.0.0.0", "255.255.255.255", "0.0.0.0/32 - 2 0"),
        // OpenVPN routes both halves of all addresses.
        ("192.0.2.1", "128.0.0.0", "0.0.0.0/1 192.0.2.1 2 0"),
        ("0.0.0.0", "0.0.0.0", "0.0.0.0/0 - 2 0"),
    ] {
        let lines = format!(
            ".1.3.6.1.2.1.4.21.1.2.0.0.0.0 = INTEGER: 2
.1.3.6.1.2.1.4.21.1.7.0.0.0.0 = IpAddress: {next}
.1.3.6.1.2.1.4.21.1.8.0.0.0.0 = INTEGER: 4
.1.3.6.1.2.1.4.21.1.11.0.0.0.0 = IpAddress: {mask}
"
        );
        assert_eq!(described(&routes(&lines).unwrap()), [expected], "{next} {mask}");
    }
}

#[test]
fn same_route_in_several_tables_is_one_row() {
    let table = routes(
        ".1.3.6.1.2.1.4.21.1.2.10.0.0.0 = INTEGER: 2
.1.3.6.1.2.1.4.21.1.7.10.0.0.0 = IpAddress: 192.0.2.1
.1.3.6.1.2.1.4.21.1.8.10.0.0.0 = INTEGER: 4
.1.3.6.1.2.1.4.21.1.11.10.0.0.0 = IpAddress: 255.0.0.0
.1.3.6.1.2.1.4.24.4.1.5.10.0.0.0.255.0.0.0.0.192.0.2.1 = INTEGER: 2
.1.3.6.1.2.1.4.24.4.1.6.10.0.0.0.255.0.0.0.0.192.0.2.1 = INTEGER: 4
.1.3.6.1.2.1.4.24.7.1.7.1.4.10.0.0.0.8.2.0.0.1.4.192.0.2.1 = INTEGER: 2
.1.3.6.1.2.1.4.24.7.1.8.1.4.10.0.0.0.8.2.0.0.1.4.192.0.2.1 = INTEGER: 4
",
    )
    .unwrap();
    assert_eq!(described(&table), ["10.0.0.0/8 192.0.2.1 2 0"]);
    assert_eq!(table.family, None, "`inetCidrRouteTable` has both");
}

#[test]
fn newest_table_has_ipv6_routes_and_discarded_ones() {
    let prefix = "2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.0";
    let next = "2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1";
    let lines = format!(
        ".1.3.6.1.2.1.4.24.7.1.7.{prefix}.32.2.0.0.{next} = INTEGER: 3
.1.3.6.1.2.1.4.24.7.1.8.{prefix}.32.2.0.0.{next} = INTEGER: 4
.1.3.6.1.2.1.4.24.7.1.12.{prefix}.32.2.0.0.{next} = INTEGER: -1
.1.3.6.1.2.1.4.24.7.1.8.1.4.192.0.2.0.24.2.0.1.0.0 = INTEGER: 5
.1.3.6.1.2.1.4.24.7.1.8.1.4.192.0.2 = INTEGER: 5
"
    );
    let table = routes(&lines).unwrap();
    assert_eq!(described(&table), ["192.0.2.0/24 discarded 0 0", "2001:db8::/32 2001:db8::1 3 0"]);
    assert!(!table.complete, "a row is malformed");
}

#[test]
fn table_of_more_than_20_000_routes_is_truncated() {
    let line = |number: u32| {
        let [_, a, b, c] = number.to_be_bytes();
        format!(".1.3.6.1.2.1.4.24.4.1.5.10.{a}.{b}.{c}.255.255.255.255.0.192.0.2.1 = INTEGER: 2\n")
    };
    let table = routes(&(0..20_001).map(line).collect::<String>()).unwrap();
    assert_eq!((table.rows.len(), table.complete), (20_000, false));
}
