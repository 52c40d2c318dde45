//! The program of the example, on a farm in place of a network.

use std::fs;

use toposcope::collect::SnmpSecret;

use crate::farm::{Agent, Farm};
use crate::laboratory;
use crate::program::args::Args;
use crate::program::collect;
use crate::recording::data;
use crate::support::{COMMUNITY, community, gate, ip, variables};

fn args(seed: &str, within: &str, secrets: Vec<SnmpSecret>) -> Args {
    Args { seeds: vec![ip(seed)], within: within.parse().unwrap(), secrets, follows_arp: true, depth: None }
}

#[tokio::test(start_paused = true)]
async fn map_of_the_laboratory_is_written() {
    let Some(folder) = data("live/s1/walk") else { return };
    let farm = laboratory::farm(&folder);
    let (target, mut output) = (tempfile::tempdir().unwrap(), Vec::new());
    let args = args("198.51.100.11", laboratory::SUBNETS, community());
    collect(args, &gate(&farm, laboratory::SUBNETS), target.path(), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    for name in ["acc1", "acc2", "core1", "fw1", "mon", "nas1", "rtr2", "srv1", "srv2"] {
        assert!(output.lines().any(|line| line.starts_with(&format!("{name}  "))), "{output}");
    }
    assert!(output.contains("devices: 9"), "{output}");
    let page = fs::read_to_string(target.path().join("network.html")).unwrap();
    assert!(page.contains("core1") && page.contains("<svg"));
    let secret = str::from_utf8(COMMUNITY).unwrap();
    assert!(!page.contains(secret) && !output.contains(secret));
}

#[tokio::test(start_paused = true)]
async fn network_in_which_nothing_answers_is_an_error_with_advice() {
    let farm = Farm::with([(ip("192.0.2.1"), Agent::new(b"another", variables(1)))]);
    let (target, mut output) = (tempfile::tempdir().unwrap(), Vec::new());
    let args = args("192.0.2.1", "192.0.2.0/24", community());
    let failure = collect(args, &gate(&farm, "192.0.2.0/24"), target.path(), &mut output).await.unwrap_err();
    assert!(failure.to_string().starts_with("No device answered"));
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("192.0.2.1  there was no answer; check that SNMP is switched on"), "{output}");
    assert!(!target.path().join("network.html").exists());
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    for (arguments, message) in [
        ("", "An ADDRESS is required"),
        ("192.0.2.1", "--within: an allow-list requires"),
        ("192.0.2.1 --within 192.0.2.0/24", "--community-env or --user is required"),
        (
            "192.0.2.1 --community-env TOPOSCOPE_NO_SUCH_VARIABLE",
            "The environment variable TOPOSCOPE_NO_SUCH_VARIABLE",
        ),
        ("core-1", "core-1 is not an address"),
        ("--depth x", "--depth requires a number"),
    ] {
        let failure = Args::parse(arguments.split_whitespace().map(Into::into)).err().unwrap();
        assert!(failure.to_string().starts_with(message), "{failure}");
    }
}
