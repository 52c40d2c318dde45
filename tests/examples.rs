//! The example servers before they serve: their flags, their initial data, and their output about it.

#![cfg(feature = "sled")]
#![allow(
    clippy::duplicate_mod,
    reason = "the example `topology` is a program of its own, and shares parts with the servers"
)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy.toml allows them in test functions only, and this file has helpers"
)]

#[path = "../examples/support/announce.rs"]
mod announce;
#[path = "../examples/support/args.rs"]
mod args;
#[cfg(all(feature = "postgres", unix))]
#[allow(dead_code, reason = "other tests and benchmarks use the rest")]
#[path = "support/postgres.rs"]
mod cluster;
#[path = "../examples/support/demo/mod.rs"]
mod demo;
#[allow(dead_code, reason = "only a program turns a failure into an exit code")]
#[path = "../examples/support/failure.rs"]
mod failure;
#[allow(dead_code, reason = "only a program has arguments")]
#[path = "../examples/store.rs"]
mod program;
#[cfg(feature = "discovery")]
#[path = "../examples/support/reports.rs"]
mod reports;
#[path = "../examples/support/setup.rs"]
mod setup;
#[cfg(feature = "topology")]
#[allow(dead_code, reason = "only a program has arguments")]
#[path = "../examples/topology.rs"]
mod topology;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use toposcope::access::{Credential, PasswordCost, PasswordHasher};
use toposcope::inventory::{ErrorKind, HostQuery, Inventory, NewUser, NewUserApiKey, Written};
use toposcope::model::{Host, Neighbor, Permission};
use toposcope::store::MemoryStore;
use uuid::Uuid;

use announce::{advice, variables};
use args::{Args, Command, Content, HELP, Input, Place};
use setup::{Backend, Given, Source};

/// Discards the progress that a program would print.
fn note(_: impl Display) {}

fn parse(line: &str) -> Result<Command, String> {
    let arguments = line.split_whitespace().map(Into::into);
    Command::parse(arguments).map_err(|failure| failure.to_string())
}

fn args(line: &str) -> Args {
    match parse(line) {
        Ok(Command::Serve(args)) => args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn default_flags_give_200_demo_hosts_on_port_8080_of_this_machine() {
    let expected = Args {
        listen: "127.0.0.1:8080".to_owned(),
        store: Place::Folder("toposcope-data".into()),
        content: Content::Demo(200),
        reports: Vec::new(),
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        rate_limit: true,
        secure_cookies: true,
    };
    assert_eq!(args(""), expected);
    assert_eq!(args("--memory").store, Place::Memory);
    assert_eq!(args("--data here").store, Place::Folder("here".into()));
    let url = "postgres://user@host/database?sslmode=disable";
    assert_eq!(args(&format!("--postgres {url}")).store, Place::Postgres(url.to_owned()));
    assert_eq!(args(&format!("--postgres={url}")).store, Place::Postgres(url.to_owned()));
}

#[test]
fn value_follows_its_flag_or_an_equals_sign() {
    for line in [
        "--listen [::1]:0 --demo 7 --server-version 1.2=3",
        "--demo=7 --server-version=1.2=3 --listen=[::1]:0",
    ] {
        let args = args(line);
        assert_eq!(args.listen, "[::1]:0", "{line}");
        assert_eq!(args.content, Content::Demo(7), "{line}");
        assert_eq!(args.server_version, "1.2=3", "{line}");
    }
    assert_eq!(args("--import -").content, Content::Import(Input::Stdin));
    assert_eq!(args("--import=-").content, Content::Import(Input::Stdin));
    assert_eq!(args("--import hosts.jsonl").content, Content::Import(Input::File("hosts.jsonl".into())));
    assert!(!args("--no-rate-limit").rate_limit);
    assert!(!args("--insecure-cookies").secure_cookies);
    assert_eq!(args("--demo 7 --demo 8").content, Content::Demo(8));
}

#[cfg(feature = "discovery")]
#[test]
fn reports_add_up_in_their_order() {
    let reports = args("--discover snmpwalk:a:b.walk --discover=nmap:scan.xml").reports;
    let files = reports.iter().map(|file| (file.format.as_str(), file.path.to_str().unwrap()));
    assert!(files.eq([("snmpwalk", "a:b.walk"), ("nmap", "scan.xml")]));
    for value in ["scan.xml", "nmap:", "nmap", "other:file"] {
        let reason = parse(&format!("--discover {value}")).unwrap_err();
        assert!(reason.starts_with("--discover needs a format and a file"), "{value}: {reason}");
    }
}

#[cfg(feature = "discovery")]
#[tokio::test]
async fn report_becomes_hosts_of_the_announced_network() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("core-1.walk");
    fs::write(
        &path,
        ".1.3.6.1.2.1.1.5.0 = STRING: \"core-1\"\n.1.3.6.1.2.1.2.2.1.2.7 = STRING: \"Port 7\"\n",
    )
    .unwrap();
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    let report = args::ReportFile { format: toposcope::discovery::Format::Snmpwalk, path };
    let inventory = Inventory::new(MemoryStore::new()).with_passwords(passwords);
    let given = setup::fill(&inventory, Source::Demo(0), &[report]).await.unwrap();
    let caller = inventory.authenticate_user_key(&given.key).await.unwrap();
    let page = inventory.list_hosts(&caller, &HostQuery::default()).await.unwrap();
    let host: Host = serde_json::from_slice(&page.documents[0]).unwrap();
    assert_eq!((host.name.as_str(), host.network_id, host.if_entries.len()), ("core-1", given.network, 1));
}

#[test]
fn help_flag_takes_precedence() {
    for line in ["--help", "-h", "--demo 3 --help --nonsense"] {
        assert_eq!(parse(line), Ok(Command::Help), "{line}");
    }
}

#[test]
fn every_flag_in_the_help_exists() {
    let flags: Vec<&str> =
        HELP.lines().filter_map(|line| line.trim_start().split(' ').next()?.strip_prefix("--")).collect();
    assert_eq!(flags.len(), 11);
    for flag in flags {
        let outcome = parse(&format!("--{flag}"));
        assert!(!outcome.as_ref().is_err_and(|error| error.contains("Unknown flag")), "{flag}: {outcome:?}");
    }
}

#[test]
fn invalid_arguments_are_explained_in_one_sentence() {
    for (line, reason) in [
        ("--lisen x", "Unknown flag --lisen"),
        ("-x", "Unknown flag -x"),
        ("hosts.jsonl", "Unexpected argument \"hosts.jsonl\""),
        ("--import", "--import needs a file"),
        ("--import --memory", "--import needs a file"),
        ("--data", "--data needs a folder"),
        ("--postgres", "--postgres needs the URL of a database"),
        ("--data x --memory", "--data, --memory and --postgres exclude each other"),
        ("--postgres x --memory", "--data, --memory and --postgres exclude each other"),
        ("--data x --postgres y", "--data, --memory and --postgres exclude each other"),
        ("--import=", "--import needs a file"),
        (
            "--listen 8080",
            "--listen needs an address and a port, such as 127.0.0.1:8080 or [::1]:0, not \"8080\"",
        ),
        (
            "--listen :80",
            "--listen needs an address and a port, such as 127.0.0.1:8080 or [::1]:0, not \":80\"",
        ),
        (
            "--listen a:65536",
            "--listen needs an address and a port, such as 127.0.0.1:8080 or [::1]:0, not \"a:65536\"",
        ),
        ("--demo many", "--demo needs a number of hosts, from 0 to 4294967295, not \"many\""),
        ("--demo=-1", "--demo needs a number of hosts, from 0 to 4294967295, not \"-1\""),
        ("--memory=yes", "--memory takes no value"),
        ("--insecure-cookies=no", "--insecure-cookies takes no value"),
        ("--demo 1 --import -", "--import and --demo exclude each other"),
    ] {
        assert_eq!(parse(line), Err(format!("{reason} (--help lists the flags).")), "{line}");
    }
}

fn demo_hosts(count: u32) -> Vec<Host> {
    demo::hosts(count).collect::<Result<_, _>>().unwrap()
}

#[test]
fn demo_hosts_are_deterministic() {
    let hosts = demo_hosts(200);
    assert_eq!(hosts.len(), 200);
    assert_eq!(hosts, demo_hosts(200));
    let names: HashSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names.len(), 200);
}

#[test]
fn every_demo_cable_has_two_ends() {
    for count in [1, 7, 50, 201, 1_700] {
        let hosts = demo_hosts(count);
        let entries = || hosts.iter().flat_map(|host| &host.if_entries);
        let cables: HashSet<_> = entries()
            .filter_map(|entry| match entry.neighbor? {
                Neighbor::IfEntry(other) => Some((entry.id, other)),
                Neighbor::Host(_) => None,
            })
            .collect();
        assert_eq!(cables.is_empty(), count == 1, "{count}");
        for (one, other) in &cables {
            assert!(
                cables.contains(&(*other, *one)),
                "{count}: {one} is connected to {other}, but not {other} to it"
            );
        }
    }
}

#[test]
fn addresses_of_demo_hosts_are_in_their_subnets() {
    let count = 1_700;
    let subnets: HashMap<Uuid, _> = demo::subnets(count)
        .map(|subnet| subnet.map(|subnet| (subnet.id, subnet)))
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(subnets.values().map(|subnet| subnet.cidr).collect::<HashSet<_>>().len(), subnets.len());
    let mut addresses = HashSet::new();
    let mut used = HashSet::new();
    for host in demo_hosts(count) {
        for interface in host.interfaces {
            assert!(addresses.insert(interface.ip_address), "{}: {}", host.name, interface.ip_address);
            let Some(subnet) = interface.subnet_id else { continue };
            let subnet = &subnets[&subnet];
            assert!(subnet.cidr.contains(interface.ip_address), "{}: {}", host.name, interface.ip_address);
            assert_eq!(subnet.network_id, host.network_id);
            used.insert(subnet.id);
        }
    }
    assert_eq!(used.len(), subnets.len(), "some subnets are empty");
}

#[tokio::test]
async fn inventory_accepts_every_demo_host() {
    for count in [0, 1, 50, 200] {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.create_organization("Example").await.unwrap().id;
        let mut networks = Vec::new();
        for (id, name) in demo::networks(count) {
            networks.push(inventory.create_network_with_id(organization, id, name).await.unwrap().id);
        }
        for host in demo_hosts(count) {
            assert_eq!(inventory.put_host(organization, host).await.unwrap(), Written::Created);
        }
        let owner = NewUser::new(organization, "owner@example.net", Permission::Owner);
        let owner = inventory.create_user(owner).await.unwrap();
        let mut key = NewUserApiKey::new(owner.id, "key", Permission::Viewer);
        key.network_ids = networks;
        let key = inventory.create_user_api_key(key).await.unwrap();
        let caller = inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        let listed = inventory.list_hosts(&caller, &HostQuery::default()).await.unwrap();
        assert_eq!(listed.total, u64::from(count));
    }
}

async fn filled(source: Source) -> (Inventory, Given) {
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    let store = Backend::open(&Place::Memory).await.unwrap().store();
    let inventory = Inventory::new(store).with_passwords(passwords);
    let given = setup::fill(&inventory, source, &[]).await.unwrap();
    (inventory, given)
}

fn lines(text: String) -> Source {
    Source::Import { name: "lines".to_owned(), reader: Box::new(Cursor::new(text)) }
}

#[tokio::test]
async fn reported_credentials_and_ids_are_valid_for_every_source() {
    let hosts: String =
        demo_hosts(41).iter().map(|host| serde_json::to_string(host).unwrap() + "\n").collect();
    let demo = async |count| Source::open(Content::Demo(count)).await.unwrap();
    let import = ["".to_owned(), "no host\n".to_owned(), hosts].map(lines);
    for source in [demo(0).await, demo(1).await, demo(50).await].into_iter().chain(import) {
        let (inventory, given) = filled(source).await;
        let caller = inventory.authenticate_user_key(&given.key).await.unwrap();
        assert_eq!(caller.credential(), Credential::UserApiKey { id: given.key_id });
        assert_eq!(caller.permission(), Permission::Owner);
        let session = inventory.log_in(given.email, given.password.unwrap()).await.unwrap();
        assert_eq!(session.user().id, caller.user_id());

        let organization = caller.organization_id();
        let networks = inventory.networks(organization).await.unwrap();
        assert_eq!(networks.first().map(|network| network.id), Some(given.network));
        assert!(networks.iter().all(|network| caller.scope().allows(network.id)));
        assert_eq!(inventory.tag(given.tag).await.unwrap().organization_id, organization);
        let share = inventory.share(given.share).await.unwrap();
        assert_eq!((share.organization_id, share.network_id), (organization, Some(given.network)));
        assert!(!inventory.share_metadata(given.share).await.unwrap().requires_password);
    }
}

#[tokio::test]
async fn folder_that_is_opened_again_keeps_its_records_and_replaces_its_key() {
    let folder = TempDir::new().unwrap();
    let mut earlier: Option<Given> = None;
    for count in [20, 30, 0] {
        let (backend, inventory) = open(&folder).await;
        let given = setup::fill(&inventory, Source::Demo(count), &[]).await.unwrap();
        let caller = inventory.authenticate_user_key(&given.key).await.unwrap();
        assert_eq!(inventory.list_hosts(&caller, &HostQuery::default()).await.unwrap().total, 20);
        let keys = inventory.user_api_keys(caller.user_id()).await.unwrap();
        assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [given.key_id], "exactly one key");
        if let Some(earlier) = &earlier {
            let refused = inventory.authenticate_user_key(&earlier.key).await.unwrap_err();
            assert_eq!(*refused.kind(), ErrorKind::NotAuthenticated, "the key of the start before");
            assert_eq!(
                (given.key_id, given.network, given.tag, given.share),
                (earlier.key_id, earlier.network, earlier.tag, earlier.share)
            );
            assert_eq!(given.password, None);
            assert!(
                advice("127.0.0.1:80".parse().unwrap(), &given, true)
                    .contains("was printed when the inventory was created")
            );
            let password = earlier.password.clone();
            inventory.log_in(given.email, password.unwrap()).await.unwrap();
        }
        let password = earlier.and_then(|earlier| earlier.password);
        earlier = Some(Given { password: given.password.clone().or(password), ..given });
        backend.close().await.unwrap();
    }
}

/// Returns the records of an export in an order that does not depend on the store.
///
/// A store may return records in any order, and likewise the links, terms and keys of each.
fn records(export: &str) -> Vec<Value> {
    let lines = export.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut records: Vec<Value> = lines.filter(|line: &Value| line.get("kind").is_some()).collect();
    for record in &mut records {
        for list in record.as_object_mut().unwrap().values_mut().filter_map(Value::as_array_mut) {
            list.sort_by_key(Value::to_string);
        }
    }
    records.sort_by_key(|record| record["id"].to_string() + &record["kind"].to_string());
    records
}

async fn export(place: &program::Place, file: &Path) -> Vec<Value> {
    program::export(place, Some(file)).await.unwrap();
    records(&fs::read_to_string(file).unwrap())
}

async fn assert_copied_through(between: program::Place) {
    let folder = TempDir::new().unwrap();
    let (backend, inventory) = open(&folder).await;
    setup::fill(&inventory, Source::Demo(50), &[]).await.unwrap();
    backend.close().await.unwrap();
    let path = |name| folder.path().join(name);
    let [source, target] = [path("data"), path("copy")].map(program::Place::Folder);
    program::copy(&source, &between).await.unwrap();
    program::copy(&between, &target).await.unwrap();
    let expected = export(&source, &path("source.jsonl")).await;
    assert!(expected.len() > 50, "{expected:#?}");
    assert!(export(&target, &path("target.jsonl")).await == expected);
    let refused = program::copy(&source, &between).await.unwrap_err().to_string();
    assert!(refused.contains("empty"), "{refused}");
}

#[tokio::test]
async fn copy_through_a_folder_keeps_all_records() {
    let folder = TempDir::new().unwrap();
    assert_copied_through(program::Place::Folder(folder.path().join("between"))).await;
}

#[cfg(all(feature = "postgres", unix))]
#[tokio::test]
async fn copy_through_a_database_keeps_all_records() {
    let Some(cluster) = cluster::Cluster::shared() else { return };
    assert_copied_through(program::Place::Postgres(cluster.create_database())).await;
}

#[tokio::test]
async fn store_in_memory_is_only_a_target_of_copies() {
    let refused =
        program::copy(&program::Place::Memory, &program::Place::Memory).await.unwrap_err().to_string();
    assert!(refused.contains("cannot be read from"), "{refused}");
}

#[tokio::test]
async fn later_start_keeps_other_keys_and_reaches_every_network_again() {
    let folder = TempDir::new().unwrap();
    let (backend, inventory) = open(&folder).await;
    let given = setup::fill(&inventory, Source::Demo(20), &[]).await.unwrap();
    let owner = inventory.authenticate_user_key(&given.key).await.unwrap();
    let (organization, owner) = (owner.organization_id(), owner.user_id());
    let mine = NewUserApiKey::new(owner, "my own key", Permission::Viewer);
    let mine = inventory.create_user_api_key(mine).await.unwrap();
    inventory.disable_user_api_key(given.key_id).await.unwrap();
    let network = inventory.create_network(organization, "new").await.unwrap().id;

    let again = setup::fill(&inventory, Source::Demo(0), &[]).await.unwrap();
    let caller = inventory.authenticate_user_key(&again.key).await.unwrap();
    assert!(caller.scope().allows(network));
    inventory.authenticate_user_key(mine.plaintext()).await.unwrap();
    assert_eq!(inventory.user_api_keys(owner).await.unwrap().len(), 2);
    backend.close().await.unwrap();
}

async fn open(folder: &TempDir) -> (Backend, Inventory) {
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    let backend = Backend::open(&Place::Folder(folder.path().join("data"))).await.unwrap();
    let inventory = Inventory::new(backend.store()).with_passwords(passwords);
    (backend, inventory)
}

#[tokio::test]
async fn some_demo_hosts_have_the_tag() {
    for (count, expected) in [(0, 0), (1, 1), (20, 8), (50, 21)] {
        let (inventory, given) = filled(Source::Demo(count)).await;
        let caller = inventory.authenticate_user_key(&given.key).await.unwrap();
        let mut query = HostQuery::default();
        query.tag_ids = Some(vec![given.tag]);
        assert_eq!(inventory.list_hosts(&caller, &query).await.unwrap().total, expected, "{count}");
    }
}

#[tokio::test]
async fn creation_of_demo_hosts_yields_to_other_tasks() {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.create_organization("Example").await.unwrap().id;
    let tag = inventory.create_tag(organization, demo::TAG).await.unwrap().id;
    tokio::select! {
        biased;
        _ = setup::make_up(&inventory, organization, tag, 50) => panic!("all hosts were created without a yield"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn database_that_cannot_be_opened_is_explained_without_its_password() {
    let place = Place::Postgres("postgres://user:hunter2@%2Fno%2Fsuch%2Ffolder/database".to_owned());
    let reason = Backend::open(&place).await.err().unwrap().to_string();
    let expected =
        if cfg!(feature = "postgres") { "The database cannot be opened" } else { "--features postgres" };
    assert!(reason.contains(expected) && !reason.contains("hunter2"), "{reason}");
}

fn given() -> Given {
    let id = Uuid::from_u128;
    let (email, password) = ("owner@example.net", Some("secret".to_owned()));
    Given { key: "key".to_owned(), key_id: id(1), email, password, network: id(2), tag: id(3), share: id(4) }
}

#[test]
fn variables_are_printed_in_the_documented_order() {
    let text = "\
TOPOSCOPE_URL=http://[::1]:81
TOPOSCOPE_API_KEY=key
TOPOSCOPE_KEY_ID=00000000-0000-0000-0000-000000000001
TOPOSCOPE_EMAIL=owner@example.net
TOPOSCOPE_PASSWORD=secret
TOPOSCOPE_NETWORK=00000000-0000-0000-0000-000000000002
TOPOSCOPE_TAG=00000000-0000-0000-0000-000000000003
TOPOSCOPE_SHARE=00000000-0000-0000-0000-000000000004
";
    assert_eq!(variables("[::1]:81".parse().unwrap(), &given()), text);
    let names =
        |text: &'static str| text.split([' ', ',', '=', '\n']).filter(|word| word.starts_with("TOPOSCOPE_"));
    assert!(names(HELP).eq(names(text)), "the help lists other variables");
}

#[test]
fn wildcard_address_is_announced_as_the_loopback_address() {
    for (address, url) in [
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:8080", "http://[::1]:8080"),
        ("192.0.2.1:80", "http://192.0.2.1:80"),
    ] {
        let text = variables(address.parse().unwrap(), &given());
        assert_eq!(text.lines().next(), Some(format!("TOPOSCOPE_URL={url}").as_str()));
    }
}

#[test]
fn advice_names_the_page_of_the_share() {
    let text = advice("0.0.0.0:8080".parse().unwrap(), &given(), true);
    let page = "http://127.0.0.1:8080/share/00000000-0000-0000-0000-000000000004 ";
    assert_eq!(text.contains(page), cfg!(feature = "topology"), "{text}");
}

#[test]
fn advice_warns_where_browsers_discard_the_cookie() {
    for (address, secure_cookies, expected) in [
        ("127.0.0.1:8080", true, false),
        ("[::1]:8080", true, false),
        ("127.0.0.2:8080", true, true),
        ("0.0.0.0:8080", true, true),
        ("192.0.2.1:8080", true, true),
        ("192.0.2.1:8080", false, false),
    ] {
        let text = advice(address.parse().unwrap(), &given(), secure_cookies);
        assert_eq!(text.contains("--insecure-cookies"), expected, "{address} {secure_cookies}: {text}");
    }
}

/// Runs the example `topology`, and returns its output.
#[cfg(feature = "topology")]
async fn draw(arguments: &[&str]) -> Result<String, String> {
    let mut output = Vec::new();
    let arguments = arguments.iter().map(Into::into);
    let outcome = topology::run(arguments, &mut output).await;
    outcome.map(|()| String::from_utf8(output).unwrap()).map_err(|failure| failure.to_string())
}

#[cfg(feature = "topology")]
#[tokio::test]
async fn every_view_of_demo_hosts_is_drawn_as_picture_and_page() {
    let folder = TempDir::new().unwrap();
    for (view, expected) in [("l2", "core-a-hq-01"), ("l3", "10.0.0.0/27"), ("workloads", "pve-hq-01")] {
        let output = folder.path().join(view);
        let arguments = [
            "--demo",
            "200",
            "--network",
            "head office",
            "--view",
            view,
            "--output",
            output.to_str().unwrap(),
        ];
        let printed = draw(&arguments).await.unwrap();
        assert!(printed.contains("network.svg") && printed.contains("network.html"), "{printed}");
        let [svg, html] =
            ["network.svg", "network.html"].map(|name| fs::read_to_string(output.join(name)).unwrap());
        for name in [expected, "Head office"] {
            assert!(svg.contains(name), "{view}: the picture has no {name}");
            assert!(html.contains(name), "{view}: the page has no {name}");
        }
        assert!(html.starts_with("<!DOCTYPE html>") || html.starts_with("<!doctype html>"), "{view}");
    }
}

#[cfg(feature = "topology")]
#[tokio::test]
async fn demo_network_has_certain_uncertain_and_aggregated_links() {
    let folder = TempDir::new().unwrap();
    let printed = draw(&["--demo", "200", "--output", folder.path().to_str().unwrap()]).await.unwrap();
    assert!(printed.contains(" confirmed, ") && printed.contains(" reported by one end"), "{printed}");
    assert!(printed.contains("pe-1.carrier.example: neighbors name it"), "{printed}");
    let svg = fs::read_to_string(folder.path().join("network.svg")).unwrap();
    assert!(svg.contains("Link aggregation"));
}

#[cfg(feature = "topology")]
#[tokio::test]
async fn picture_in_the_readme_is_current() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().to_str().unwrap();
    draw(&["--demo", "200", "--network", "Data centre", "--output", output]).await.unwrap();
    let [drawn, kept] = [folder.path().join("network.svg"), ".github/topology.svg".into()];
    assert!(
        fs::read(drawn).unwrap() == fs::read(kept).unwrap(),
        "Run `cargo run --example topology -- --demo 200 --network \"Data centre\"`, and move network.svg to \
         .github/topology.svg."
    );
}

#[cfg(feature = "topology")]
#[tokio::test]
async fn folder_of_scans_is_drawn_as_a_network_of_its_name() {
    let folder = TempDir::new().unwrap();
    let walks = folder.path().join("Branch");
    fs::create_dir(&walks).unwrap();
    let walk = |own: u8, port: u32, other: u8| {
        format!(
            ".1.3.6.1.2.1.1.5.0 = STRING: \"sw-{own}\"
.1.3.6.1.2.1.2.2.1.2.{port} = STRING: \"Port {port}\"
.1.3.6.1.2.1.2.2.1.3.{port} = INTEGER: 6
.1.0.8802.1.1.2.1.3.1.0 = INTEGER: 4
.1.0.8802.1.1.2.1.3.2.0 = Hex-STRING: 00 1B 21 00 00 0{own}
.1.0.8802.1.1.2.1.4.1.1.4.0.{port}.1 = INTEGER: 4
.1.0.8802.1.1.2.1.4.1.1.5.0.{port}.1 = Hex-STRING: 00 1B 21 00 00 0{other}
.1.0.8802.1.1.2.1.4.1.1.6.0.{port}.1 = INTEGER: 5
.1.0.8802.1.1.2.1.4.1.1.7.0.{port}.1 = STRING: \"Port\"
.1.0.8802.1.1.2.1.4.1.1.9.0.{port}.1 = STRING: \"sw-{other}\"
"
        )
    };
    fs::write(walks.join("sw-1.walk"), walk(1, 3, 2)).unwrap();
    fs::write(walks.join("sw-2.walk"), walk(2, 5, 1)).unwrap();
    fs::write(walks.join("broken.xml"), "<nmaprun").unwrap();
    let output = folder.path().join("output");
    let printed = draw(&[walks.to_str().unwrap(), "--output", output.to_str().unwrap()]).await.unwrap();
    assert!(printed.contains("2 of 3 files read") && printed.contains("broken.xml"), "{printed}");
    assert!(printed.contains("nodes: 2, edges: 1"), "{printed}");
    let svg = fs::read_to_string(output.join("network.svg")).unwrap();
    assert!(["Branch", "sw-1", "sw-2"].iter().all(|name| svg.contains(name)), "{svg}");
}

#[cfg(feature = "topology")]
#[tokio::test]
async fn arguments_that_give_no_picture_are_explained() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let host = serde_json::to_string(&demo_hosts(1)[0]).unwrap();
    for (arguments, reason) in [
        (vec![], "--demo 200 draws generated hosts"),
        (vec!["--veiw", "l2"], "Unknown flag --veiw"),
        (vec!["--view", "l4", "x"], "--view needs l2, l3 or workloads, not \"l4\""),
        (vec!["--demo", "many"], "--demo needs a number of hosts, not \"many\""),
        (vec!["--demo", "1", "x"], "There is one SOURCE, or --demo"),
        (vec!["--demo", "0"], "there is no host"),
        (vec!["--demo", "20", "--network", "Moon"], "--network takes one of: Head office."),
        (vec![empty.to_str().unwrap()], "has no file whose name tells a known format"),
        (vec![&file("hosts.jsonl.gz", "")], "gunzip"),
        (vec![&file("hosts.txt", "no host\n")], "such as line 1"),
        (vec!["--view", "workloads", &file("one.jsonl", &host)], "has no virtual machines or containers"),
    ] {
        let refused = draw(&arguments).await.unwrap_err();
        assert!(refused.contains(reason), "{arguments:?}: {refused}");
    }
    assert!(draw(&["--help"]).await.unwrap().starts_with("Usage: "));
}
