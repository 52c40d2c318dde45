//! The program of the example, on a farm in place of a network.

use std::fs;
use std::path::Path;
use std::time::Duration;

use toposcope::collect::SnmpSecret;

use crate::again;
use crate::farm::{Agent, Farm};
use crate::laboratory;
use crate::program::args::Args;
use crate::program::collect;
use crate::recording::data;
use crate::support::{COMMUNITY, community, gate, ip, variables};

pub(crate) fn args(seed: &str, within: &str, secrets: Vec<SnmpSecret>) -> Args {
    Args { follows_arp: true, ..Args::new(vec![ip(seed)], within.parse().unwrap(), secrets) }
}

#[tokio::test(start_paused = true)]
async fn map_of_the_laboratory_is_written() {
    let Some(folder) = data("live/s1/walk") else { return };
    let farm = laboratory::farm(&folder);
    let (target, mut output) = (tempfile::tempdir().unwrap(), Vec::new());
    let args = args("198.51.100.11", laboratory::SUBNETS, community());
    collect(&args, &gate(&farm, laboratory::SUBNETS), target.path(), &mut output).await.unwrap();
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
    let failure = collect(&args, &gate(&farm, "192.0.2.0/24"), target.path(), &mut output).await.unwrap_err();
    assert!(failure.to_string().starts_with("No device answered"));
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("192.0.2.1  there was no answer; check that SNMP is switched on"), "{output}");
    assert!(!target.path().join("network.html").exists());
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    for (arguments, message) in [
        ("", "An ADDRESS is required, or --sweep"),
        ("192.0.2.1 --watch soon", "--watch requires a time"),
        ("192.0.2.1 --watch 0s", "--watch requires a time"),
        ("192.0.2.1 --server http://127.0.0.1", "--server requires --server-key-env"),
        ("192.0.2.1 --sweep 192.0.2.1", "--sweep requires a prefix"),
        ("192.0.2.1", "--within: an allow-list requires"),
        ("192.0.2.1 --within 192.0.2.0/24", "--community-env or --user is required"),
        (
            "192.0.2.1 --community-env TOPOSCOPE_NO_SUCH_VARIABLE",
            "The environment variable TOPOSCOPE_NO_SUCH_VARIABLE",
        ),
        ("core-1", "core-1 is not an address"),
        ("--farm campus 192.0.2.1", "--farm has addresses of its own"),
        ("--farm campus --user reader", "--farm has a community of its own"),
        ("--farm campus --v1", "--farm has a community of its own"),
        ("--farm campus --auth md5", "--farm has a community of its own"),
        ("--depth x", "--depth requires a number"),
    ] {
        let failure = Args::parse(arguments.split_whitespace().map(Into::into)).err().unwrap();
        assert!(failure.to_string().starts_with(message), "{failure}");
    }
}

/// Runs the program until a time has passed, and returns its output.
async fn output_of(args: &Args, farm: &Farm, folder: &Path, time: Duration) -> String {
    let mut output = Vec::new();
    let gate = gate(farm, "192.0.2.0/24");
    let program = collect(args, &gate, folder, &mut output);
    match tokio::time::timeout(time, program).await {
        Ok(result) => result.unwrap(),
        Err(_) => assert!(args.watch.is_some(), "it ends"),
    }
    String::from_utf8(output).unwrap()
}

#[tokio::test(start_paused = true)]
async fn program_that_watches_crawls_again_and_reads_only_what_changed() {
    let (farm, target) = (again::network(), tempfile::tempdir().unwrap());
    let args =
        Args { watch: Some(Duration::from_secs(600)), ..args("192.0.2.1", "192.0.2.0/24", community()) };
    let output = output_of(&args, &farm, target.path(), Duration::from_secs(1_900)).await;
    let counts: Vec<&str> = output.lines().filter(|line| line.starts_with("asked: ")).collect();
    assert_eq!(counts.len(), 4, "{output}");
    assert!(counts[0].contains("devices: 3,"), "{output}");
    assert!(counts[1..].iter().all(|line| line.contains("devices: 3 (3 unchanged),")), "{output}");
    // A network in which nothing answers is no reason to end.
    let dead = Farm::default();
    let output = output_of(&args, &dead, target.path(), Duration::from_secs(1_300)).await;
    assert_eq!(output.matches("No device answered").count(), 3, "{output}");
}

#[cfg(feature = "sled")]
#[tokio::test]
async fn folder_keeps_the_inventory_and_what_the_next_crawl_needs() {
    let (farm, target) = (again::network(), tempfile::tempdir().unwrap());
    let data = target.path().join("inventory");
    let args = Args { data: Some(data.clone()), ..args("192.0.2.1", "192.0.2.0/24", community()) };
    let first = output_of(&args, &farm, target.path(), Duration::from_secs(60)).await;
    assert!(first.contains("devices: 3,"), "{first}");
    let second = output_of(&args, &farm, target.path(), Duration::from_secs(60)).await;
    assert!(second.contains("devices: 3 (3 unchanged),"), "{second}");
    assert!(fs::read_to_string(target.path().join("network.html")).unwrap().contains("<svg"));
    // With another inventory, the file is of no use: the devices are read as a whole the next time.
    fs::remove_dir_all(&data).unwrap();
    output_of(&args, &farm, target.path(), Duration::from_secs(60)).await;
    let fourth = output_of(&args, &farm, target.path(), Duration::from_secs(60)).await;
    assert!(fourth.contains("devices: 3,"), "{fourth}");
    let file = target.path().join("inventory.crawl.json");
    assert!(!fs::read_to_string(&file).unwrap().contains(str::from_utf8(COMMUNITY).unwrap()));
    fs::write(&file, "{").unwrap();
    let gate = gate(&farm, "192.0.2.0/24");
    let failure = collect(&args, &gate, target.path(), &mut Vec::new()).await.unwrap_err();
    assert!(failure.to_string().contains("Delete it, and everything is read again"), "{failure}");
}
