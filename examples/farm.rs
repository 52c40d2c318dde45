//! Serves a network of SNMP agents on loopback addresses, to test collectors with. It runs on Linux.
//!
//! ```text
//! export SNMP=public
//! cargo run --release --features collect --example farm -- --farm campus --devices 20 --community-env SNMP
//! cargo run --release --features collect --example collect -- 127.1.0.1 --within 127.1.0.0/16 --community-env SNMP
//! ```
//!
//! The agents have the port 161, so that the program requires the right to open it. When its standard input ends, it prints the
//! number of packets that it has received, the most of them in any one second, and how many were for addresses without an agent.

#[path = "support/failure.rs"]
mod failure;
#[cfg(target_os = "linux")]
#[allow(dead_code, unused_imports, reason = "tests serve farms without a socket, too")]
#[path = "../benches/support/farm/mod.rs"]
mod farm;

use std::process::ExitCode;

use failure::Failure;

const USAGE: &str = "\
Usage: cargo run --features collect --example farm -- --community-env VAR [FLAG]…

  --farm NAME          campus, fabric or ring [campus]
  --devices N          the number of devices, at most 10,000 [20]
  --community-env VAR  the environment variable with the community of SNMPv2c [required]
  --port N             the UDP port [161]
  --help               print this help
";

/// The parsed command line.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no farm"))]
struct Args {
    name: String,
    devices: usize,
    community: String,
    port: u16,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|args| args.map_or_else(help, |args| serve(&args))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "{failure}");
            failure.exit_code()
        }
    }
}

/// Parses the arguments; `None` if they ask for help.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Args>, Failure> {
    let (mut name, mut devices, mut community, mut port) = ("campus".to_owned(), 20, None, 161);
    while let Some(argument) = arguments.next() {
        if argument == "--help" {
            return Ok(None);
        }
        let value = arguments.next();
        let value = value.ok_or_else(|| Failure::usage(format_args!("{argument} requires a value")))?;
        let is_no_number = |_| Failure::usage(format_args!("{argument} requires a number"));
        match argument.as_str() {
            "--farm" => name = value,
            "--devices" => devices = value.parse().map_err(is_no_number)?,
            "--community-env" => community = std::env::var(value).ok().filter(|value| !value.is_empty()),
            "--port" => port = value.parse().map_err(is_no_number)?,
            _ => return Err(Failure::usage(format_args!("Unknown flag {argument}"))),
        }
    }
    let community =
        community.ok_or_else(|| Failure::usage("--community-env requires a variable that is set"))?;
    Ok(Some(Args { name, devices, community, port }))
}

fn help() -> Result<(), Failure> {
    print(USAGE)
}

fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::because("The result cannot be printed", &error))
}

#[cfg(target_os = "linux")]
fn serve(args: &Args) -> Result<(), Failure> {
    use farm::network::{Network, address};

    let network = Network::named(&args.name, args.devices);
    let network = network.ok_or_else(|| Failure::usage(format_args!("There is no farm {}", args.name)))?;
    let mut agents = farm::agents::Agents::default();
    network.add_to(&mut agents, args.community.as_bytes(), None);
    let served = farm::socket::SocketFarm::serve(agents, args.port);
    let served = served.map_err(|error| Failure::because("The port cannot be opened", &error))?;
    print(&format!(
        "{} devices and {} cables from {} on, port {}; the end of the standard input ends the farm\n",
        network.devices.len(),
        network.cables.len(),
        address(0),
        served.port()
    ))?;
    let ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    ended.map_err(|error| Failure::because("The standard input cannot be read", &error))?;
    let counters = served.counters();
    let peaks = counters.peaks();
    print(&format!(
        "packets: {}; most in a second: {} in all, {} to a /24, {} to a device; to other addresses: {}\n",
        counters.packets(),
        peaks.all,
        peaks.subnet,
        peaks.address,
        counters.foreign
    ))
}

#[cfg(not(target_os = "linux"))]
fn serve(_: &Args) -> Result<(), Failure> {
    Err(Failure::new("The farm requires Linux, whose loopback has all addresses of 127.0.0.0/8."))
}
