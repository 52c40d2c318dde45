//! Peak memory of the parsers with the inputs that take most for their length.
//!
//! Each input is parsed in a child process, so that memory freed by one does not hide what another takes.

use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::process::{Command, Stdio};

use toposcope::discovery::{Format, ParseOptions, parse};
use toposcope::model::Timestamp;

use crate::process::{forget_peak, memory};

/// First argument of a child process; the name of the input follows.
pub(crate) const CHILD: &str = "memory-child";

/// Length of the inputs in bytes.
const LENGTH: usize = 8_000_000;

/// An input of one format: what comes before the repeated item, the item by its number, and what comes after.
struct Worst {
    name: &'static str,
    format: Format,
    before: &'static str,
    item: fn(&mut String, u32) -> std::fmt::Result,
    after: &'static str,
}

const WORST: &[Worst] = &[
    Worst {
        name: "walk, interfaces of one column",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.3.6.1.2.1.2.2.1.3.{n} = INTEGER: 6"),
        after: "",
    },
    Worst {
        name: "walk, addresses",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.3.6.1.2.1.4.20.1.2.{} = INTEGER: 6", dotted(n)),
        after: "",
    },
    Worst {
        name: "walk, forwarding entries",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.3.6.1.2.1.17.4.3.1.2.0.1.{} = INTEGER: 6", dotted(n)),
        after: "",
    },
    Worst {
        name: "walk, neighbor cache",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| {
            let [_, _, third, fourth] = n.to_be_bytes();
            let address = dotted(n);
            writeln!(
                text,
                ".1.3.6.1.2.1.4.22.1.2.1.{address} = Hex-STRING: 00 00 5E 00 {third:02X} {fourth:02X}"
            )
        },
        after: "",
    },
    Worst {
        name: "walk, neighbors by LLDP",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| {
            let (port, chassis) = (n % 1000, n / 1000);
            writeln!(text, ".1.0.8802.1.1.2.1.4.1.1.4.{chassis}.{port}.1 = INTEGER: 7")?;
            writeln!(text, ".1.0.8802.1.1.2.1.4.1.1.5.{chassis}.{port}.1 = STRING: \"c{n}\"")
        },
        after: "",
    },
    Worst {
        name: "walk, local ports of LLDP",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.0.8802.1.1.2.1.3.7.1.3.{n} = STRING: \"p\""),
        after: "",
    },
    Worst {
        name: "walk, components",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.3.6.1.2.1.47.1.1.1.1.5.{n} = INTEGER: 3"),
        after: "",
    },
    Worst {
        name: "walk, stacked interfaces",
        format: Format::Snmpwalk,
        before: "",
        item: |text, n| writeln!(text, ".1.3.6.1.2.1.31.1.2.1.3.1.{n} = INTEGER: 1"),
        after: "",
    },
    Worst {
        name: "recording, interfaces of one column",
        format: Format::Snmprec,
        before: "",
        item: |text, n| writeln!(text, "1.3.6.1.2.1.2.2.1.3.{n}|2|6"),
        after: "",
    },
    Worst {
        name: "neighbor cache, text",
        format: Format::Arp,
        before: "",
        item: |text, n| writeln!(text, "{} dev a lladdr 0:0:0:0:0:1", dotted(n)),
        after: "",
    },
    Worst {
        name: "neighbor cache, JSON",
        format: Format::Arp,
        before: "[{\"dst\":\"192.0.2.1\",\"lladdr\":\"00:00:5e:00:53:01\"}",
        item: |text, n| write!(text, ",{{\"dst\":\"{}\",\"lladdr\":\"00:00:5e:00:53:01\"}}", dotted(n)),
        after: "]",
    },
    Worst {
        name: "scan, hosts",
        format: Format::Nmap,
        before: "<nmaprun>",
        item: |text, n| write!(text, "<host><address addr=\"{}\" addrtype=\"ipv4\"/></host>", dotted(n)),
        after: "</nmaprun>",
    },
    Worst {
        name: "scan, ports",
        format: Format::Nmap,
        before: "<nmaprun><host><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/><ports>",
        item: |text, n| {
            let port = n % 65_535 + 1;
            write!(text, "<port protocol=\"tcp\" portid=\"{port}\"><state state=\"open\"/></port>")
        },
        after: "</ports></host></nmaprun>",
    },
    Worst {
        name: "neighbors of lldpctl",
        format: Format::Lldpctl,
        before: "{\"lldp\":{\"interface\":[{\"a\":{\"chassis\":{\"id\":{\"type\":\"local\",\"value\":\"c\"}}}}",
        item: |text, n| {
            write!(text, ",{{\"p\":{{\"chassis\":{{\"id\":{{\"type\":\"local\",\"value\":\"c{n}\"}}}}}}}}")
        },
        after: "]}}",
    },
    Worst {
        name: "report, empty devices",
        format: Format::Report,
        before: "{\"reporter\":{\"name\":\"x\"},\"observed_at\":\"2026-11-01T12:00:00Z\",\"devices\":[{\"tables\":{}}",
        item: |text, _| write!(text, ",{{}}"),
        after: "]}",
    },
    Worst {
        name: "report, interfaces",
        format: Format::Report,
        before: "{\"reporter\":{\"name\":\"x\"},\"observed_at\":\"2026-11-01T12:00:00Z\",\"devices\":[{\"tables\":\
                 {\"if_entries\":{\"rows\":[{\"if_index\":1}",
        item: |text, n| write!(text, ",{{\"if_index\":{n}}}"),
        after: "]}}}]}",
    },
];

fn dotted(number: u32) -> String {
    std::net::Ipv4Addr::from(number | 0x0A00_0000).to_string()
}

impl Worst {
    fn input(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::with_capacity(LENGTH + 4_096);
        text.push_str(self.before);
        let mut number = 0;
        while text.len() < LENGTH {
            number += 1;
            (self.item)(&mut text, number)?;
        }
        text.push_str(self.after);
        Ok(text)
    }
}

/// Measures each input in a child process, and prints its peak relative to its length.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    println!("| input | MB | rows | peak, MB | × the input |");
    println!("|---|---|---|---|---|");
    for worst in WORST {
        let output = Command::new(std::env::current_exe()?)
            .args([CHILD, worst.name])
            .stderr(Stdio::inherit())
            .output()?;
        print!("{}", String::from_utf8(output.stdout)?);
        if !output.status.success() {
            return Err(format!("{}: the child failed", worst.name).into());
        }
    }
    Ok(())
}

/// Runs in a child process.
pub(crate) fn run(name: &str) -> Result<(), Box<dyn Error>> {
    let worst = WORST.iter().find(|worst| worst.name == name).ok_or("no such input")?;
    let input = worst.input()?;
    let options = ParseOptions::new(Timestamp::now()).with_reporter("bench".into()).with_complete_tables();
    forget_peak()?;
    let before = memory("VmRSS:")?;
    let report = parse(worst.format, black_box(input.as_bytes()), &options);
    let more = memory("VmHWM:")?.saturating_sub(before);
    let rows = report.as_ref().map_or_else(ToString::to_string, |report| report.read_rows.to_string());
    let times = more as f64 / input.len() as f64;
    println!("| {name} | {:.1} | {rows} | {:.1} | {times:.1} |", input.len() as f64 / 1e6, more as f64 / 1e6);
    Ok(())
}
