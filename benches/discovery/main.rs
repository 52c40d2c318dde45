//! Time to parse walks and scans, and to discover devices.
//!
//! `cargo bench --bench discovery` prints medians of 15 runs of the parsers, and the time of one run of the discovery.
//! In that run, 10,000 devices take at most 60 s on 2 cores, and at most 12 times as long as 1,000.
//!
//! `cargo bench --bench discovery -- memory` prints the peak memory of the parsers with the inputs that take most of it
//! for their length. It is at most 10 times the length, apart from neighbors and scanned hosts of which little more than
//! an address is known: these take up to 17 times.
//!
//! The inputs are generated: a walk of 2 MB with interfaces, counters and a forwarding database, numeric and symbolic;
//! a recording of the same length; a scan of one host with 65,535 open ports, and the report of that scan as JSON.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::indexing_slicing, reason = "of arrays, at constants")]

mod inventory;
mod memory;
#[path = "../support/memory.rs"]
mod process;

use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use toposcope::discovery::{Format, ParseOptions, parse};
use toposcope::model::Timestamp;

const RUNS: usize = 15;
const WALK_BYTES: usize = 2_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [memory::CHILD, name] => return memory::run(name),
        ["memory", ..] => return memory::measure(),
        _ => {}
    }
    let options = ParseOptions::new(Timestamp::now()).with_reporter("bench".into());
    let scan = scan()?;
    let report = serde_json::to_string(&parse(Format::Nmap, scan.as_bytes(), &options)?)?;
    println!("| input | MB | rows | median, ms |");
    println!("|---|---|---|---|");
    for (name, format, input) in [
        ("walk, numeric", Format::Snmpwalk, walk(".1.3.6.1.2.1.2.2.1", numeric)?),
        ("walk, symbolic", Format::Snmpwalk, walk("", symbolic)?),
        ("recording", Format::Snmprec, walk("1.3.6.1.2.1.2.2.1", recorded)?),
        ("scan of 65,535 ports", Format::Nmap, scan),
        ("its report", Format::Report, report),
    ] {
        measure(name, format, &input, &options)?;
    }
    println!();
    inventory::measure()
}

fn measure(name: &str, format: Format, input: &str, options: &ParseOptions) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(RUNS);
    let mut rows = 0;
    for _ in 0..RUNS {
        let start = Instant::now();
        let report = black_box(parse(format, black_box(input.as_bytes()), options)?);
        times.push(start.elapsed());
        rows =
            report.devices.iter().flat_map(|device| device.tables.summaries()).map(|table| table.rows).sum();
    }
    times.sort_unstable();
    let median = times.get(RUNS / 2).map_or(0.0, |time: &Duration| time.as_secs_f64() * 1e3);
    println!("| {name} | {:.2} | {rows} | {median:.1} |", input.len() as f64 / 1e6);
    Ok(())
}

/// Writes lines of interfaces and forwarding entries until the walk is long enough.
fn walk(root: &str, line: fn(&mut String, &str, u32) -> std::fmt::Result) -> Result<String, std::fmt::Error> {
    let mut walk = String::with_capacity(WALK_BYTES + 4_096);
    let mut index = 0;
    while walk.len() < WALK_BYTES {
        index += 1;
        line(&mut walk, root, index)?;
    }
    Ok(walk)
}

fn numeric(walk: &mut String, root: &str, index: u32) -> std::fmt::Result {
    let [_, _, third, fourth] = index.to_be_bytes();
    writeln!(walk, "{root}.2.{index} = STRING: \"GigabitEthernet1/0/{index}\"")?;
    writeln!(walk, "{root}.3.{index} = INTEGER: 6")?;
    writeln!(walk, "{root}.5.{index} = Gauge32: 1000000000")?;
    writeln!(walk, "{root}.6.{index} = Hex-STRING: 00 00 5E 00 {third:02X} {fourth:02X} ")?;
    writeln!(walk, "{root}.8.{index} = INTEGER: 1")?;
    for counter in 10..20 {
        writeln!(walk, "{root}.{counter}.{index} = Counter32: 3405691582")?;
    }
    writeln!(walk, ".1.3.6.1.2.1.17.7.1.2.2.1.2.1.0.0.94.0.{third}.{fourth} = INTEGER: {index}")
}

fn symbolic(walk: &mut String, _: &str, index: u32) -> std::fmt::Result {
    let [_, _, third, fourth] = index.to_be_bytes();
    writeln!(walk, "IF-MIB::ifDescr.{index} = STRING: GigabitEthernet1/0/{index}")?;
    writeln!(walk, "IF-MIB::ifType.{index} = INTEGER: ethernetCsmacd(6)")?;
    writeln!(walk, "IF-MIB::ifPhysAddress.{index} = STRING: 0:0:5e:0:{third:x}:{fourth:x}")?;
    writeln!(walk, "IF-MIB::ifInOctets.{index} = Counter32: 3405691582")?;
    writeln!(
        walk,
        "IP-MIB::ipNetToMediaPhysAddress.{index}.192.0.{third}.{fourth} = STRING: 0:0:5e:0:{third:x}:{fourth:x}"
    )
}

fn recorded(walk: &mut String, root: &str, index: u32) -> std::fmt::Result {
    let [_, _, third, fourth] = index.to_be_bytes();
    writeln!(walk, "{root}.2.{index}|4|GigabitEthernet1/0/{index}")?;
    writeln!(walk, "{root}.6.{index}|4x|00005e00{third:02x}{fourth:02x}")?;
    writeln!(walk, "{root}.10.{index}|65|3405691582")
}

fn scan() -> Result<String, std::fmt::Error> {
    let mut scan = "<nmaprun scanner=\"nmap\"><scaninfo protocol=\"tcp\" services=\"1-65535\"/><host><status state=\"up\"/>\
         <address addr=\"192.0.2.1\" addrtype=\"ipv4\"/><ports>"
        .to_owned();
    for port in 1..=65_535 {
        writeln!(
            scan,
            "<port protocol=\"tcp\" portid=\"{port}\"><state state=\"open\" reason=\"syn-ack\" reason_ttl=\"64\"/>\
             <service name=\"http\" product=\"nginx\" version=\"1.24.0\" method=\"probed\" conf=\"10\"/></port>"
        )?;
    }
    scan.push_str("</ports></host></nmaprun>");
    Ok(scan)
}
