//! Small inputs rebuilt from public reports and from a real network, in the folders `cases/discovery` and `live/cases` of
//! the test data.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs};

use toposcope::discovery::report::{AddressRow, Device, Table, TableKind, WarningCode};
use toposcope::discovery::{Format, ParseOptions, Report, parse};
use toposcope::inventory::{ClaimRows, DiscoverOptions, DiscoveryOutcome, DiscoveryReport};
use toposcope::model::Host;

use super::canonical::{canonical, hosts};
use super::support::{FIRST, FOURTH, SECOND, THIRD, discover, discover_one, outcomes, switch_seeing};
use crate::backend::run;
use crate::support::{Fixture, owner_of, time};

/// Returns the bytes of a file of the test data; `None` after a message if the folder is missing.
fn file(name: &str) -> Option<Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    if !data.join("cases").is_dir() {
        eprintln!(
            "skipped: no cases at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            data.display()
        );
        return None;
    }
    Some(fs::read(data.join(name)).unwrap())
}

/// A file of the test data, with how it is imported.
#[derive(Clone, Copy)]
struct File {
    name: &'static str,
    format: Format,
    reporter: Option<&'static str>,
    complete: bool,
    /// `None`: the time that the file states.
    at: Option<&'static str>,
}

impl File {
    const fn new(name: &'static str, format: Format, at: &'static str) -> Self {
        Self { name, format, reporter: None, complete: false, at: Some(at) }
    }

    const fn by(self, reporter: &'static str) -> Self {
        Self { reporter: Some(reporter), ..self }
    }

    const fn complete(self) -> Self {
        Self { complete: true, ..self }
    }

    const fn at_its_own_time(self) -> Self {
        Self { at: None, ..self }
    }

    fn report(self) -> Option<Report> {
        let bytes = file(self.name)?;
        let mut options = ParseOptions::new(time(self.at.unwrap_or(FIRST)));
        if let Some(reporter) = self.reporter {
            options = options.with_reporter(reporter.into());
        }
        if self.complete {
            options = options.with_complete_tables();
        }
        let mut report = parse(self.format, bytes.as_slice(), &options).unwrap();
        if let Some(at) = self.at {
            report.observed_at = time(at);
        }
        Some(report)
    }
}

async fn import(fixture: &Fixture, file: File) -> Option<DiscoveryReport> {
    let caller = owner_of(fixture.organization);
    let options = DiscoverOptions::new(fixture.network);
    Some(fixture.inventory.discovery().reconcile(&caller, &file.report()?, options).await.unwrap())
}

fn codes(answer: &DiscoveryReport) -> BTreeSet<WarningCode> {
    answer.warnings.iter().map(|warning| warning.code).collect()
}

/// Returns the name, the index and the neighbor's name of each interface entry.
fn ports(host: &Host) -> Vec<(i64, Option<&str>, Option<&str>)> {
    let entries = host.if_entries.iter();
    let mut ports: Vec<_> = entries
        .map(|entry| {
            let neighbor = entry.lldp_sys_name.as_deref().or(entry.cdp_device_id.as_deref());
            (entry.if_index, entry.if_name.as_deref(), neighbor)
        })
        .collect();
    ports.sort_unstable();
    ports
}

macro_rules! case {
    ($name:literal) => {
        concat!("cases/discovery/", $name)
    };
}

const INTERFACES: File = File::new(case!("split_1_interfaces.walk"), Format::Snmpwalk, FIRST).by("sw-a");
const NEIGHBORS: File = File::new(case!("split_1_lldp.walk"), Format::Snmpwalk, SECOND).by("sw-a");

#[test]
fn neighbors_in_another_file_renumber_no_interface() {
    run(async || {
        let mut expected: Option<Vec<String>> = None;
        for files in [[INTERFACES, NEIGHBORS], [NEIGHBORS, INTERFACES]] {
            for complete in [false, true] {
                let fixture = Fixture::new().await;
                for file in files {
                    let Some(_) = import(&fixture, File { complete, ..file }).await else { return };
                }
                let stored = hosts(&fixture).await;
                assert_eq!(stored.len(), 1);
                let found = ports(&stored[0]);
                assert_eq!(found.len(), 12, "{found:?}");
                assert!(found.contains(&(11, Some("GigabitEthernet0/0/7"), Some("sw-b"))), "{found:?}");
                let indexes: Vec<i64> = found.iter().map(|(index, ..)| *index).collect();
                assert_eq!(indexes, (1..=12).collect::<Vec<i64>>());
                if !complete {
                    let found = canonical(&fixture).await;
                    assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
                }
            }
        }
    });
}

#[test]
fn complete_cdp_file_clears_nothing_of_the_interfaces() {
    let interfaces = File::new(case!("split_2_interfaces.walk"), Format::Snmpwalk, FIRST).by("sw-a");
    let neighbors = File::new(case!("split_2_cdp.walk"), Format::Snmpwalk, SECOND).by("sw-a");
    run(async || {
        let mut expected: Option<Vec<String>> = None;
        for files in [[interfaces, neighbors], [neighbors, interfaces]] {
            let fixture = Fixture::new().await;
            for file in files {
                let Some(_) = import(&fixture, file.complete()).await else { return };
            }
            let stored = hosts(&fixture).await;
            assert_eq!(stored.len(), 1);
            let host = &stored[0];
            let cdp = Some("core.example.net");
            assert_eq!(
                ports(host),
                [(501, Some("ge-0/0/1"), None), (502, Some("ge-0/0/2"), cdp), (503, Some("ge-0/0/3"), None)]
            );
            for (entry, alias) in host.if_entries.iter().zip(["desk 1", "desk 2", "desk 3"]) {
                assert_eq!(entry.if_alias.as_deref(), Some(alias));
                assert_eq!(entry.speed_bps, Some(1_000_000_000));
                assert!(entry.oper_status.is_some());
            }
            let caller = owner_of(fixture.organization);
            let claims = fixture
                .inventory
                .discovery()
                .claims(&caller, host.id, Some(TableKind::IfEntries))
                .await
                .unwrap();
            assert_eq!(claims[0].rows.len(), 3);
            assert!(claims[0].parts.iter().all(|part| part.missed_scans == 0), "{:?}", claims[0].parts);
            let found = canonical(&fixture).await;
            assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
        }
    });
}

#[test]
fn unreadable_arp_file_empties_no_table() {
    run(async || {
        let fixture = Fixture::new().await;
        let Some(junos) = file(case!("arp_junos.arp")) else { return };
        let options = ParseOptions::new(time(FIRST)).with_reporter("edge".into()).with_complete_tables();
        let walk = ".1.3.6.1.2.1.1.1.0 = STRING: \"a router\"\n\
             .1.3.6.1.2.1.1.5.0 = STRING: \"edge\"\n\
             .1.3.6.1.2.1.4.22.1.2.1.192.0.2.5 = Hex-STRING: 00 1B 21 00 00 05\n\
             .1.3.6.1.2.1.4.22.1.2.1.192.0.2.6 = Hex-STRING: 00 1B 21 00 00 06\n";
        let report = parse(Format::Snmpwalk, walk.as_bytes(), &options).unwrap();
        let caller = owner_of(fixture.organization);
        let discovery = DiscoverOptions::new(fixture.network);
        let answer = fixture.inventory.discovery().reconcile(&caller, &report, discovery).await.unwrap();
        let options = ParseOptions::new(time(SECOND)).with_reporter("edge".into()).with_complete_tables();
        // Either the parser refuses the file, or the report has no table that could replace the stored one.
        if let Ok(report) = parse(Format::Arp, junos.as_slice(), &options) {
            fixture.inventory.discovery().reconcile(&caller, &report, discovery).await.unwrap();
        }
        let host = answer.hosts[0].id.unwrap();
        let claims = fixture.inventory.discovery().claims(&caller, host, Some(TableKind::Arp)).await.unwrap();
        assert_eq!(claims[0].rows.len(), 2);
    });
}

#[test]
fn devices_with_other_names_behind_one_mac_address_stay_apart() {
    let scan = File::new(case!("nmap_shared_mac.xml"), Format::Nmap, FIRST);
    run(async || {
        let fixture = Fixture::new().await;
        let Some(answer) = import(&fixture, scan).await else { return };
        assert_eq!(answer.hosts.len(), 8);
        assert_eq!(hosts(&fixture).await.len(), 8);
        let shared = answer.warnings.iter().find(|warning| warning.code == WarningCode::MacShared).unwrap();
        let example = shared.example.as_deref().unwrap();
        assert!(example.contains("pc0.example.net") && example.contains("00:11:22:33:44:55"), "{example}");
        let again = import(&fixture, File { at: Some(SECOND), ..scan }).await.unwrap();
        assert!(outcomes(&again).iter().all(|outcome| *outcome == DiscoveryOutcome::Unchanged));
    });
}

#[test]
fn firewalls_with_equal_internal_mac_addresses_are_two_hosts() {
    let walks = [case!("internal_mac_0.walk"), case!("internal_mac_1.walk")];
    run(async || {
        for order in [[0, 1], [1, 0]] {
            let fixture = Fixture::new().await;
            let mut warned = BTreeSet::new();
            for place in [order[0], order[1], order[0], order[1]] {
                let Some(answer) =
                    import(&fixture, File::new(walks[place], Format::Snmpwalk, FIRST).complete()).await
                else {
                    return;
                };
                warned.extend(codes(&answer));
            }
            let mut names: Vec<String> = hosts(&fixture).await.into_iter().map(|host| host.name).collect();
            names.sort();
            assert_eq!(names, ["fw-north.example.net", "fw-south.example.net"]);
            assert!(warned.contains(&WarningCode::MacShared), "{warned:?}");
        }
    });
}

#[test]
fn address_that_moved_to_another_device_finds_its_present_holder() {
    let scans = [case!("dhcp_0.xml"), case!("dhcp_1.xml"), case!("dhcp_2.xml"), case!("dhcp_3.xml")];
    run(async || {
        let fixture = Fixture::new().await;
        let mut answers = Vec::new();
        for scan in scans {
            let Some(answer) = import(&fixture, File::new(scan, Format::Nmap, FIRST).at_its_own_time()).await
            else {
                return;
            };
            answers.push(answer);
        }
        let ids: Vec<_> = answers.iter().map(|answer| answer.hosts[0].id).collect();
        assert_eq!((ids[2], ids[3]), (ids[0], ids[1]), "{:?}", answers[3].hosts);
        assert_ne!(ids[0], ids[1]);
        assert!(codes(&answers[1]).contains(&WarningCode::AddressMoved), "{:?}", answers[1].warnings);
        assert_eq!(hosts(&fixture).await.len(), 2);
    });
}

#[test]
fn elements_of_one_scan_about_one_device_miss_nothing_of_each_other() {
    let scans =
        [case!("masscan_0.xml"), case!("masscan_1.xml"), case!("masscan_2.xml"), case!("masscan_3.xml")];
    run(async || {
        let fixture = Fixture::new().await;
        for scan in scans {
            let scan = File::new(scan, Format::Nmap, FIRST).at_its_own_time().complete();
            let Some(answer) = import(&fixture, scan).await else { return };
            assert_eq!(answer.hosts.len(), 1);
        }
        let host = &hosts(&fixture).await[0];
        let caller = owner_of(fixture.organization);
        let claims =
            fixture.inventory.discovery().claims(&caller, host.id, Some(TableKind::Ports)).await.unwrap();
        let ClaimRows::Ports(rows) = &claims[0].rows else { panic!("another kind") };
        assert_eq!((host.ports.len(), rows.len()), (4, 4));
        assert!(claims[0].parts.iter().all(|part| part.missed_scans == 0), "{:?}", claims[0].parts);
    });
}

#[test]
fn report_that_knows_a_name_only_never_splits_a_device() {
    let files = [
        File::new("live/cases/split-1-lldpctl.json", Format::Lldpctl, FIRST).by("core1"),
        File::new("live/cases/split-2-nmap.xml", Format::Nmap, SECOND),
        File::new("live/cases/split-3.walk", Format::Snmpwalk, THIRD).by("core1"),
    ];
    run(async || {
        let mut expected: Option<Vec<String>> = None;
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let fixture = Fixture::new().await;
            for place in order {
                let Some(_) = import(&fixture, files[place]).await else { return };
            }
            let named = hosts(&fixture).await.iter().filter(|host| host.name == "core1").count();
            assert_eq!(named, 1, "{order:?}");
            let found = canonical(&fixture).await;
            let expected = expected.get_or_insert_with(|| found.clone());
            assert_eq!(found.len(), expected.len(), "{order:?}");
            assert_eq!(found, *expected, "{order:?}");
        }
    });
}

#[test]
fn device_with_another_network_card_stays_one_host() {
    let files = [
        File::new("live/cases/nic-1.walk", Format::Snmpwalk, FIRST),
        File::new("live/cases/nic-2.walk", Format::Snmpwalk, SECOND),
        File::new("live/cases/nic-3-nmap.xml", Format::Nmap, THIRD),
    ];
    run(async || {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let fixture = Fixture::new().await;
            let mut warned = BTreeSet::new();
            for place in order {
                let Some(answer) = import(&fixture, files[place]).await else { return };
                warned.extend(codes(&answer));
            }
            let stored = hosts(&fixture).await;
            assert_eq!(stored.len(), 1, "{order:?}");
            assert!(warned.contains(&WarningCode::MacChanged), "{order:?}: {warned:?}");
            let macs: Vec<_> = stored[0].if_entries.iter().filter_map(|entry| entry.mac_address).collect();
            assert_eq!(macs, ["00:11:32:00:00:77".parse().unwrap()], "{order:?}");
            // The same files again change nothing.
            let again = import(&fixture, File { at: Some(FOURTH), ..files[1] }).await.unwrap();
            assert_eq!(outcomes(&again), [DiscoveryOutcome::Unchanged]);
        }
    });
}

#[test]
fn edits_of_an_absorbed_host_stay() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut scanned = Device::default();
        scanned.tables.addresses = Some(Table::truncated(vec![AddressRow::new([192, 0, 2, 1].into())]));
        let (_, host) = discover_one(&fixture, scanned, FIRST).await;
        let rename = |host: &mut Host| {
            host.name = "desk 5".to_owned();
            Ok(())
        };
        fixture.inventory.hosts().update(&caller, host.id, rename).await.unwrap();
        let mut neighbors = switch_seeing(1, 2);
        (neighbors.tables.addresses, neighbors.tables.if_entries) = (None, None);
        discover_one(&fixture, neighbors, FIRST).await;
        let answer = discover(&fixture, vec![switch_seeing(1, 2)], SECOND).await;
        let stored = hosts(&fixture).await;
        assert_eq!((stored.len(), stored[0].name.as_str()), (1, "desk 5"));
        assert_eq!(stored[0].sys_name.as_deref(), Some("switch-1"));
        let reason = answer.hosts[0].reason.as_deref().unwrap();
        assert!(reason.starts_with("The host desk 5 (") && reason.contains("same device"), "{reason}");
        assert!(codes(&answer).contains(&WarningCode::HostsMerged));
    });
}

#[test]
fn ambiguous_device_is_explained_with_the_names_of_the_hosts() {
    run(async || {
        let fixture = Fixture::new().await;
        let named = |address: u8| {
            let mut device = Device::default();
            device.sys_name = Some("switch".to_owned());
            device.tables.addresses =
                Some(Table::truncated(vec![AddressRow::new([192, 0, 2, address].into())]));
            device
        };
        discover(&fixture, vec![named(1), named(2)], FIRST).await;
        let mut by_name = named(1);
        by_name.tables.addresses = None;
        let answer = discover(&fixture, vec![by_name], SECOND).await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Ambiguous]);
        let reason = answer.hosts[0].reason.as_deref().unwrap();
        assert!(reason.starts_with("switch may be any of the hosts switch ("), "{reason}");
        assert!(codes(&answer).contains(&WarningCode::DeviceAmbiguous));
    });
}
