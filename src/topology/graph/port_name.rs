//! Names of ports as engineers write them.

/// Beginnings of port names, and what engineers write instead.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("TwentyFiveGigabitEthernet", "Twe"),
    ("TwentyFiveGigE", "Twe"),
    ("HundredGigabitEthernet", "Hu"),
    ("HundredGigE", "Hu"),
    ("FortyGigabitEthernet", "Fo"),
    ("FortyGigE", "Fo"),
    ("Ten-GigabitEthernet", "XGE"),
    ("TenGigabitEthernet", "Te"),
    ("TenGigE", "Te"),
    ("GigabitEthernet", "Gi"),
    ("GigaEthernet", "Gi"),
    ("FastEthernet", "Fa"),
    ("Ethernet", "Eth"),
    ("Port-channel", "Po"),
    ("Bridge-Aggregation", "BAGG"),
];

/// Returns the name of a port with the usual abbreviation of its kind.
pub(in crate::topology) fn port_name(name: &str) -> String {
    let name = name.trim();
    let short = ABBREVIATIONS.iter().find_map(|(long, short)| {
        let rest = name.strip_prefix(long)?.trim_start();
        rest.starts_with(|first: char| first.is_ascii_digit()).then(|| format!("{short}{rest}"))
    });
    short.unwrap_or_else(|| name.to_owned())
}
