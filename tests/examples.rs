//! The example servers at startup: their flags, their initial data, and their output.

#![cfg(feature = "sled")]
#![allow(
    clippy::duplicate_mod,
    reason = "the examples `discover` and `topology` are programs of their own, and share parts with the servers"
)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
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
#[path = "examples/demo_hosts.rs"]
mod demo_hosts;
#[cfg(feature = "discovery")]
#[allow(dead_code, reason = "only a program has arguments")]
#[path = "../examples/discover.rs"]
mod discover;
#[cfg(feature = "discovery")]
#[path = "examples/discoveries.rs"]
mod discoveries;
#[cfg(feature = "topology")]
#[path = "examples/drawings.rs"]
mod drawings;
#[allow(dead_code, reason = "only a program turns a failure into an exit code")]
#[path = "../examples/support/failure.rs"]
mod failure;
#[cfg(all(feature = "axum", feature = "discovery"))]
#[allow(dead_code, reason = "only a program has a function `main`")]
#[path = "../examples/host_app/main.rs"]
mod host_app;
#[cfg(all(feature = "axum", feature = "discovery"))]
#[path = "examples/host_application/mod.rs"]
mod host_application;
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
#[path = "../examples/topology/main.rs"]
mod topology;

use std::fmt::Display;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use toposcope::access::{Caller, Credential, PasswordCost, PasswordHasher};
use toposcope::inventory::{ErrorKind, HostQuery, Inventory, NewUserApiKey};
use toposcope::model::{Host, Network, NetworkId, Permission, ShareId, Tag, TagId, UserApiKeyId};
use toposcope::store::MemoryStore;

use announce::{advice, variables};
use args::{Args, Command, Content, HELP, Input, Place};
use demo_hosts::demo_hosts;
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
        rotate_key: false,
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        rate_limit: true,
        secure_cookies: true,
        proxies: 0,
        origins: Vec::new(),
        prefix: String::new(),
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
    assert!(args("--rotate-key").rotate_key);
    assert_eq!(args("--trust-proxy 2").proxies, 2);
    assert_eq!(
        args("--origin https://a.example --origin=http://b.example:8080/").origins,
        ["https://a.example", "http://b.example:8080/"]
    );
    assert_eq!(args("--prefix /netinv").prefix, "/netinv");
    assert_eq!(args("--prefix /net/in-v/").prefix, "/net/in-v");
    assert_eq!(args("--demo 7 --demo 8").content, Content::Demo(8));
}

#[cfg(feature = "discovery")]
#[test]
fn reports_add_up_in_their_order() {
    let reports =
        args("--discover snmpwalk:a:b.walk --discover=nmap:scan.xml --discover walks/core.walk").reports;
    let files = reports.iter().map(|file| (file.format.as_str(), file.path.to_str().unwrap()));
    assert!(files.eq([("snmpwalk", "a:b.walk"), ("nmap", "scan.xml"), ("auto", "walks/core.walk")]));
    for value in ["nmap:", "nmap", "other:file"] {
        let reason = parse(&format!("--discover {value}")).unwrap_err();
        assert!(reason.starts_with("--discover needs a file, or a format and a file"), "{value}: {reason}");
    }
    let named = args("--discover neigh.json --reporter core-1 --discover auto:addr.json").reports;
    assert!(named.iter().all(|file| file.reporter.as_deref() == Some("core-1")));
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
    let report = args::ReportFile { format: toposcope::discovery::Format::Auto, path, reporter: None };
    let inventory = Inventory::new(MemoryStore::new()).with_passwords(passwords);
    let given = setup::fill(&inventory, Source::Demo(0), &[report], false).await.unwrap();
    let caller = inventory.authenticate_user_key(given.key.as_deref().unwrap()).await.unwrap();
    let page = inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap();
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
    assert_eq!(flags.len(), 16);
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
        ("--trust-proxy 0", "--trust-proxy needs a number of proxies, from 1 to 16, not \"0\""),
        ("--trust-proxy all", "--trust-proxy needs a number of proxies, from 1 to 16, not \"all\""),
        (
            "--origin example.net",
            "--origin needs a scheme and a host, such as https://example.net, not \"example.net\"",
        ),
        (
            "--origin https://example.net/path",
            "--origin needs a scheme and a host, such as https://example.net, not \"https://example.net/path\"",
        ),
        ("--prefix netinv", "--prefix needs a path, such as /netinv, not \"netinv\""),
        ("--prefix /", "--prefix needs a path, such as /netinv, not \"/\""),
        ("--prefix /a//b", "--prefix needs a path, such as /netinv, not \"/a//b\""),
        ("--prefix /{a}", "--prefix needs a path, such as /netinv, not \"/{a}\""),
        ("--prefix /../a", "--prefix needs a path, such as /netinv, not \"/../a\""),
        ("--memory=yes", "--memory takes no value"),
        ("--insecure-cookies=no", "--insecure-cookies takes no value"),
        ("--demo 1 --import -", "--import and --demo exclude each other"),
    ] {
        assert_eq!(parse(line), Err(format!("{reason} (--help lists the flags).")), "{line}");
    }
}

async fn filled(source: Source) -> (Inventory, Given) {
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    let store = Backend::open(&Place::Memory, Duration::ZERO).await.unwrap().store();
    let inventory = Inventory::new(store).with_passwords(passwords);
    let given = setup::fill(&inventory, source, &[], false).await.unwrap();
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
        let caller = inventory.authenticate_user_key(given.key.as_deref().unwrap()).await.unwrap();
        assert_eq!(caller.credential(), Credential::UserApiKey { id: given.key_id });
        assert_eq!(caller.permission(), Permission::Owner);
        let session = inventory.log_in(given.email, given.password.unwrap()).await.unwrap();
        assert_eq!(session.user().id, caller.user_id());

        let organization = caller.organization_id();
        let networks = inventory.networks().all(&Caller::system(organization)).await.unwrap();
        let first = networks.iter().min_by(|a, b| a.name.cmp(&b.name)).unwrap();
        assert_eq!(first.id, given.network);
        assert!(networks.iter().all(|network| caller.scope().allows(network.id)));
        assert_eq!(
            inventory.tags().get(&Caller::system(organization), given.tag).await.unwrap().organization_id,
            organization
        );
        let share = inventory.shares().get(&Caller::system(organization), given.share).await.unwrap();
        assert_eq!((share.organization_id, share.network_id), (organization, Some(given.network)));
        assert!(!inventory.shares().metadata(given.share).await.unwrap().requires_password);
    }
}

#[tokio::test]
async fn folder_that_is_opened_again_keeps_its_records_and_its_key() {
    let folder = TempDir::new().unwrap();
    let (backend, inventory) = open(&folder).await;
    let first = setup::fill(&inventory, Source::Demo(20), &[], false).await.unwrap();
    backend.close().await.unwrap();
    let mut key = first.key.clone().unwrap();
    for (count, rotate_key) in [(30, false), (0, true), (0, false)] {
        let (backend, inventory) = open(&folder).await;
        let given = setup::fill(&inventory, Source::Demo(count), &[], rotate_key).await.unwrap();
        let note = advice("127.0.0.1:80".parse().unwrap(), "", &given, true);
        assert!(note.contains("was printed when the inventory was created"), "{note}");
        assert_eq!(note.contains("--rotate-key"), !rotate_key, "{note}");
        if let Some(new) = given.key {
            assert!(rotate_key, "a key that nobody asked for");
            let refused = inventory.authenticate_user_key(&key).await.unwrap_err();
            assert_eq!(*refused.kind(), ErrorKind::NotAuthenticated, "the key before the rotation");
            key = new;
        }
        let caller = inventory.authenticate_user_key(&key).await.unwrap();
        assert_eq!(inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap().total, 20);
        let keys = inventory
            .user_api_keys()
            .of_user(&Caller::system(caller.organization_id()), caller.user_id())
            .await
            .unwrap();
        assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [given.key_id], "exactly one key");
        assert_eq!(
            (given.key_id, given.network, given.tag, given.share, given.password),
            (first.key_id, first.network, first.tag, first.share, None)
        );
        inventory.log_in(given.email, first.password.clone().unwrap()).await.unwrap();
        backend.close().await.unwrap();
    }
}

#[tokio::test]
async fn password_of_a_user_is_set_in_a_closed_store() {
    let folder = TempDir::new().unwrap();
    let (backend, inventory) = open(&folder).await;
    let given = setup::fill(&inventory, Source::Demo(0), &[], false).await.unwrap();
    let session = inventory.log_in(given.email, given.password.unwrap()).await.unwrap();
    backend.close().await.unwrap();

    let place = program::Place::Folder(folder.path().join("data"));
    for (email, input) in [("nobody@example.net", "a new password\n"), (given.email, "short\n")] {
        program::set_password(&place, email, input.as_bytes()).await.unwrap_err();
    }
    program::set_password(&place, "Owner@example.net", &b"a new password\r\nmore"[..]).await.unwrap();

    let (backend, inventory) = open(&folder).await;
    inventory.authenticate_session(session.plaintext()).await.unwrap_err();
    inventory.log_in(given.email, "a new password".to_owned()).await.unwrap();
    backend.close().await.unwrap();
}

/// Returns the records of an export in a fixed order.
///
/// A store may return records in any order, and likewise the links, terms and keys of each record.
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
    setup::fill(&inventory, Source::Demo(50), &[], false).await.unwrap();
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
async fn key_reaches_later_networks_and_rotation_enables_it_again() {
    let folder = TempDir::new().unwrap();
    let (backend, inventory) = open(&folder).await;
    let given = setup::fill(&inventory, Source::Demo(20), &[], false).await.unwrap();
    let key = given.key.unwrap();
    let owner = inventory.authenticate_user_key(&key).await.unwrap();
    let (organization, owner) = (owner.organization_id(), owner.user_id());
    let mine = NewUserApiKey::new(owner, "my own key", Permission::Viewer);
    let mine = inventory.user_api_keys().create(&Caller::system(organization), mine).await.unwrap();
    let network =
        inventory.networks().create(&Caller::system(organization), Network::new("new")).await.unwrap().id;
    assert!(inventory.authenticate_user_key(&key).await.unwrap().scope().allows(network));
    inventory.user_api_keys().disable(&Caller::system(organization), given.key_id).await.unwrap();

    setup::fill(&inventory, Source::Demo(0), &[], false).await.unwrap();
    inventory.authenticate_user_key(&key).await.unwrap_err();
    let again = setup::fill(&inventory, Source::Demo(0), &[], true).await.unwrap();
    let caller = inventory.authenticate_user_key(again.key.as_deref().unwrap()).await.unwrap();
    assert!(caller.scope().allows(network));
    inventory.authenticate_user_key(mine.plaintext()).await.unwrap();
    assert_eq!(
        inventory.user_api_keys().of_user(&Caller::system(organization), owner).await.unwrap().len(),
        2
    );
    backend.close().await.unwrap();
}

async fn open(folder: &TempDir) -> (Backend, Inventory) {
    let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    let backend = Backend::open(&Place::Folder(folder.path().join("data")), Duration::ZERO).await.unwrap();
    let inventory = Inventory::new(backend.store()).with_passwords(passwords);
    (backend, inventory)
}

#[tokio::test]
async fn some_demo_hosts_have_the_tag() {
    for (count, expected) in [(0, 0), (1, 1), (20, 8), (50, 21)] {
        let (inventory, given) = filled(Source::Demo(count)).await;
        let caller = inventory.authenticate_user_key(given.key.as_deref().unwrap()).await.unwrap();
        let mut query = HostQuery::default();
        query.tag_ids = Some(vec![given.tag]);
        assert_eq!(inventory.hosts().list(&caller, &query).await.unwrap().total, expected, "{count}");
    }
}

#[tokio::test]
async fn creation_of_demo_hosts_yields_to_other_tasks() {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await.unwrap().id;
    let tag = inventory.tags().create(&Caller::system(organization), Tag::new(demo::TAG)).await.unwrap().id;
    tokio::select! {
        biased;
        _ = setup::make_up(&inventory, organization, tag, 50) => panic!("all hosts were created without a yield"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn database_that_cannot_be_opened_is_explained_without_its_password() {
    let place = Place::Postgres("postgres://user:hunter2@%2Fno%2Fsuch%2Ffolder/database".to_owned());
    let reason = Backend::open(&place, Duration::ZERO).await.err().unwrap().to_string();
    let expected =
        if cfg!(feature = "postgres") { "The database cannot be opened" } else { "--features postgres" };
    assert!(reason.contains(expected) && !reason.contains("hunter2"), "{reason}");
}

fn given() -> Given {
    let (email, password) = ("owner@example.net", Some("secret".to_owned()));
    Given {
        key: Some("key".to_owned()),
        key_id: UserApiKeyId::from_u128(1),
        email,
        password,
        network: NetworkId::from_u128(2),
        tag: TagId::from_u128(3),
        share: ShareId::from_u128(4),
    }
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
    assert_eq!(variables("[::1]:81".parse().unwrap(), "", &given()), text);
    let below = variables("[::1]:81".parse().unwrap(), "/netinv", &given());
    assert!(below.starts_with("TOPOSCOPE_URL=http://[::1]:81/netinv\n"), "{below}");
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
        let text = variables(address.parse().unwrap(), "", &given());
        assert_eq!(text.lines().next(), Some(format!("TOPOSCOPE_URL={url}").as_str()));
    }
}

#[test]
fn advice_names_the_pages_of_the_network_and_the_share() {
    let text = advice("0.0.0.0:8080".parse().unwrap(), "", &given(), true);
    for path in
        ["topology/00000000-0000-0000-0000-000000000002", "share/00000000-0000-0000-0000-000000000004"]
    {
        let page = format!("http://127.0.0.1:8080/{path} ");
        assert_eq!(text.contains(&page), cfg!(feature = "topology"), "{text}");
    }
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
        let text = advice(address.parse().unwrap(), "", &given(), secure_cookies);
        assert_eq!(text.contains("--insecure-cookies"), expected, "{address} {secure_cookies}: {text}");
    }
}
