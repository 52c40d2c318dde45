//! The program of the example, on a farm in place of a network.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;
use toposcope::collect::SnmpSecret;
use toposcope::collect::snmp::SnmpValue;

use crate::again;
use crate::farm::{Agent, Farm, Fault};
use crate::laboratory;
use crate::program::args::Args;
use crate::program::collect;
use crate::program::stop::Stop;
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
    let (gate, stop) = (gate(&farm, laboratory::SUBNETS), Stop::default());
    collect(&args, &gate, target.path(), &stop, &mut output).await.unwrap();
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
    let (gate, stop) = (gate(&farm, "192.0.2.0/24"), Stop::default());
    let failure = collect(&args, &gate, target.path(), &stop, &mut output).await.unwrap_err();
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
    let (gate, stop) = (gate(farm, "192.0.2.0/24"), Stop::default());
    let program = collect(args, &gate, folder, &stop, &mut output);
    match tokio::time::timeout(time, program).await {
        Ok(result) => result.unwrap(),
        Err(_) => assert!(args.watch.is_some(), "it ends"),
    }
    String::from_utf8(output).unwrap()
}

/// Returns a network of a device that answers at once, and of one that takes a second for each answer.
fn network_with_a_slow_device() -> Farm {
    let slow =
        again::marked("slow", "192.0.2.2", &["192.0.2.1"]).faulty([Fault::Takes(Duration::from_secs(1))]);
    let fast = again::marked("fast", "192.0.2.1", &["192.0.2.2"]);
    Farm::with([(ip("192.0.2.1"), fast), (ip("192.0.2.2"), slow)])
}

#[tokio::test(start_paused = true)]
async fn device_is_printed_while_others_are_read() {
    let (farm, target) = (network_with_a_slow_device(), tempfile::tempdir().unwrap());
    let args =
        Args { watch: Some(Duration::from_secs(600)), ..args("192.0.2.1", "192.0.2.0/24", community()) };
    let output = output_of(&args, &farm, target.path(), Duration::from_secs(5)).await;
    assert!(output.starts_with("fast  192.0.2.1  ") && output.lines().count() == 1, "{output}");
}

#[tokio::test(start_paused = true)]
async fn program_that_is_stopped_keeps_and_draws_what_was_read() {
    for watch in [None, Some(Duration::from_secs(600))] {
        let (farm, target) = (network_with_a_slow_device(), tempfile::tempdir().unwrap());
        let args = Args { watch, ..args("192.0.2.1", "192.0.2.0/24", community()) };
        let (gate, stop, mut output) = (gate(&farm, "192.0.2.0/24"), Stop::default(), Vec::new());
        let (program, began) = (collect(&args, &gate, target.path(), &stop, &mut output), Instant::now());
        let stopping = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            stop.request();
        };
        let (result, ()) = tokio::join!(program, stopping);
        result.unwrap();
        assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains("devices: 1,") && output.contains("stored: 1"), "{output}");
        assert!(target.path().join("network.html").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn lines_of_a_device_are_few_and_short() {
    let mut device = again::marked("switch", "192.0.2.1", &["192.0.2.2", "192.0.2.9"]);
    let description = vec![1, 3, 6, 1, 2, 1, 1, 1, 0];
    device.variables.insert(description, SnmpValue::Bytes(vec![b'D'; 20_000].into()));
    let own = vec![1, 3, 6, 1, 2, 1, 4, 20, 1, 1, 192, 0, 2, 9];
    device.variables.insert(own, SnmpValue::IpAddress([192, 0, 2, 9]));
    let silent = again::marked("silent", "192.0.2.2", &[]).faulty([Fault::AnswersGetAlone]);
    let farm = Farm::with([(ip("192.0.2.1"), device), (ip("192.0.2.2"), silent)]);
    let target = tempfile::tempdir().unwrap();
    let args = args("192.0.2.1", "192.0.2.0/24", community());
    let output = output_of(&args, &farm, target.path(), Duration::from_secs(600)).await;
    assert!(output.lines().all(|line| line.chars().count() < 250), "{output}");
    let incomplete: Vec<&str> = output.lines().filter(|line| line.contains("incomplete")).collect();
    let [line] = incomplete.as_slice() else { panic!("{output}") };
    assert!(line.contains("fdb") && line.contains("lldp") && line.contains("look at its load"), "{line}");
    let other = "192.0.2.9  there was no answer; it is an address of switch, which was read at another one";
    assert!(output.lines().any(|line| line == other), "{output}");
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
    let (gate, stop) = (gate(&farm, "192.0.2.0/24"), Stop::default());
    let failure = collect(&args, &gate, target.path(), &stop, &mut Vec::new()).await.unwrap_err();
    assert!(failure.to_string().contains("Delete it, and everything is read again"), "{failure}");
}
