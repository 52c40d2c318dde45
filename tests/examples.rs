//! What the example servers do before they serve: the flags, and the hosts that they make up.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy.toml allows them in tests, but does not count what the tests of this file share as such"
)]

#[path = "../examples/support/args.rs"]
mod args;
#[path = "../examples/support/demo/mod.rs"]
mod demo;
#[allow(dead_code, reason = "only a program turns a failure into an exit code")]
#[path = "../examples/support/failure.rs"]
mod failure;

use std::collections::HashSet;

use toposcope::inventory::{HostQuery, Inventory, NewUser, NewUserApiKey, Written};
use toposcope::model::{Host, Neighbor, Permission};
use toposcope::store::MemoryStore;

use args::{Args, Command, Content, HELP, Input, Place};

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
fn without_flags_there_are_200_made_up_hosts_on_port_8080_of_this_machine() {
    let expected = Args {
        listen: "127.0.0.1:8080".to_owned(),
        store: Place::Memory,
        content: Content::Demo(200),
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        rate_limit: true,
    };
    assert_eq!(args(""), expected);
    assert_eq!(args("--memory"), expected);
}

#[test]
fn a_value_follows_its_flag_or_an_equals_sign() {
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
    assert_eq!(args("--demo 7 --demo 8").content, Content::Demo(8));
}

#[test]
fn help_is_given_whatever_else_is_asked_for() {
    for line in ["--help", "-h", "--demo 3 --help --nonsense"] {
        assert_eq!(parse(line), Ok(Command::Help), "{line}");
    }
}

#[test]
fn help_lists_flags_that_there_are() {
    let flags: Vec<&str> =
        HELP.lines().filter_map(|line| line.trim_start().split(' ').next()?.strip_prefix("--")).collect();
    assert_eq!(flags.len(), 7);
    for flag in flags {
        let outcome = parse(&format!("--{flag}"));
        assert!(
            !outcome.as_ref().is_err_and(|error| error.contains("There is no flag")),
            "{flag}: {outcome:?}"
        );
    }
}

#[test]
fn what_cannot_be_understood_is_told_in_one_sentence() {
    for (line, told) in [
        ("--lisen x", "There is no flag --lisen"),
        ("-x", "There is no flag -x"),
        ("hosts.jsonl", "\"hosts.jsonl\" does not belong to a flag"),
        ("--import", "--import needs a file"),
        ("--import --memory", "--import needs a file"),
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
        ("--demo 1 --import -", "Hosts are either imported or made up: leave out --import or --demo"),
    ] {
        assert_eq!(parse(line), Err(format!("{told} (--help lists the flags).")), "{line}");
    }
}

fn made_up(count: u32) -> Vec<Host> {
    demo::hosts(count).collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_same_number_makes_up_the_same_hosts() {
    let hosts = made_up(200);
    assert_eq!(hosts.len(), 200);
    assert_eq!(hosts, made_up(200));
    let names: HashSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names.len(), 200);
}

#[test]
fn every_cable_that_is_made_up_has_two_ends() {
    for count in [1, 7, 50, 201] {
        let hosts = made_up(count);
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
                "{count}: {one} is wired to {other} and not the other way round"
            );
        }
    }
}

#[tokio::test]
async fn an_inventory_takes_every_host_that_is_made_up() {
    for count in [0, 1, 50, 200] {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.create_organization("Example", true).await.unwrap().id;
        let mut networks = Vec::new();
        for (id, name) in demo::networks(count) {
            networks.push(inventory.create_network_with_id(organization, id, name).await.unwrap().id);
        }
        for host in made_up(count) {
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
