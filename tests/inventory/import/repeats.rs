//! Hosts that exist already, occur twice, or use ids of others.

use toposcope::model::Protocol;

use crate::support::{Fixture, bare_host, documents, id, jsonl, numbered_hosts, port};

#[tokio::test]
async fn of_a_host_that_comes_twice_the_last_line_wins_and_counts_as_replacing() {
    // Next to each other, in one portion, and far apart.
    for between in [0, 10, 600] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, between + 3);
        hosts[0].name = "first".to_owned();
        for (place, name) in [(between as usize + 1, "second"), (between as usize + 2, "last")] {
            hosts[place] = bare_host(id(1), fixture.other_network);
            hosts[place].name = name.to_owned();
        }
        let report = fixture.import(jsonl(&hosts)).await;
        let lines = hosts.len() as u64;
        assert_eq!((report.imported, report.replaced, report.refused), (lines, 2, 0), "{report}");
        assert_eq!(fixture.documents().await.len() as u64, lines - 2);
        let host = fixture.host(id(1)).await;
        assert_eq!((host.name.as_str(), host.network_id), ("last", fixture.other_network));
    }
}

#[tokio::test]
async fn a_host_that_comes_in_every_line_is_the_last_one() {
    let fixture = Fixture::new().await;
    let hosts: Vec<_> = (0..500)
        .map(|number| {
            let mut host = bare_host(id(1), fixture.network);
            host.name = number.to_string();
            host
        })
        .collect();
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.replaced, report.refused), (500, 499, 0));
    assert_eq!(fixture.documents().await.len(), 1);
    assert_eq!(fixture.host(id(1)).await.name, "499");
}

#[tokio::test]
async fn a_second_line_that_is_refused_leaves_the_first() {
    let fixture = Fixture::new().await;
    let first = bare_host(id(1), fixture.network);
    let mut second = first.clone();
    second.tags = vec![id(7)];
    let report = fixture.import(jsonl(&[first.clone(), second])).await;
    assert_eq!((report.imported, report.replaced, report.refused), (1, 0, 1), "{report}");
    assert_eq!(fixture.host(id(1)).await, first);
}

#[tokio::test]
async fn hosts_that_were_there_are_replaced_and_counted() {
    let fixture = Fixture::new().await;
    let hosts = numbered_hosts(fixture.network, 700);
    assert_eq!(fixture.import(jsonl(&hosts[..350])).await.replaced, 0);
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.replaced), (700, 350));
}

#[tokio::test]
async fn one_bad_host_among_hundreds_is_the_only_one_refused() {
    for (count, bad) in [(300, 0), (300, 150), (300, 255), (300, 256), (300, 299), (600, 400)] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, count);
        hosts[bad].tags = vec![fixture.tags[0], id(7)];
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!((u128::from(report.imported), report.refused), (count - 1, 1), "{report}");
        let refusal = &report.refusals[0];
        assert_eq!((refusal.line, refusal.field.as_deref()), (bad as u64 + 1, Some("tags.1")));
        assert_eq!(fixture.documents().await.len() as u128, count - 1);
        assert!(fixture.inventory.host(fixture.organization, hosts[bad].id).await.is_err());
    }
}

#[tokio::test]
async fn of_hosts_that_claim_one_port_the_first_line_gets_it() {
    for between in [0, 300] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, between + 2);
        let last = hosts.len() - 1;
        for place in [0, last] {
            hosts[place].ports = vec![port(&hosts[place], id(0x99), 443, Protocol::Tcp)];
        }
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!((report.imported, report.refused), (last as u64, 1), "{report}");
        let refusal = &report.refusals[0];
        assert_eq!(refusal.line, last as u64 + 1);
        assert!(refusal.reason.contains("Port") && refusal.reason.contains(&id(0x99).to_string()));
        assert_eq!(fixture.host(id(1)).await.ports.len(), 1);
    }
}

#[tokio::test]
async fn two_ports_of_one_number_and_protocol_refuse_their_line_alone() {
    let fixture = Fixture::new().await;
    let mut hosts = numbered_hosts(fixture.network, 3);
    let host = &mut hosts[1];
    host.ports = vec![
        port(host, id(0x11), 53, Protocol::Tcp),
        port(host, id(0x12), 53, Protocol::Udp),
        port(host, id(0x13), 53, Protocol::Tcp),
    ];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused, report.refusals[0].line), (2, 1, 2), "{report}");
    assert!(report.refusals[0].reason.contains("53/Tcp"), "{report}");
}

#[tokio::test]
async fn hosts_and_tags_of_another_organization_refuse_their_line_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let theirs = bare_host(id(2), foreign.network);
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();
    let mut hosts = numbered_hosts(fixture.network, 4);
    hosts[3].tags = vec![foreign.tag];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (2, 2), "{report}");
    let lines: Vec<_> =
        report.refusals.iter().map(|refusal| (refusal.line, refusal.field.as_deref())).collect();
    assert_eq!(lines, [(2, None), (4, Some("tags.0"))]);
    assert_eq!(fixture.inventory.host(foreign.organization, id(2)).await.unwrap(), theirs);
    assert_eq!(documents(&fixture.inventory, foreign.organization).await.len(), 1);
}

/// A port moves to another host if an earlier line removes it from its host. Between neighbouring lines, which are
/// stored together, the order does not matter.
#[tokio::test]
async fn a_port_passes_to_another_host_behind_the_line_that_gives_it_up_or_beside_it() {
    for (is_freed_first, between, passes) in
        [(true, 0, true), (true, 300, true), (false, 0, true), (false, 300, false)]
    {
        let fixture = Fixture::new().await;
        let mut holder = bare_host(id(1), fixture.network);
        holder.ports = vec![port(&holder, id(0x99), 443, Protocol::Tcp)];
        fixture.put(&holder).await;
        let mut heir = bare_host(id(2), fixture.network);
        heir.ports = vec![port(&heir, id(0x99), 443, Protocol::Tcp)];
        let mut hosts = vec![bare_host(id(1), fixture.network)];
        hosts.extend((0..between).map(|number| bare_host(id(1000 + number), fixture.network)));
        hosts.push(heir);
        if !is_freed_first {
            hosts.reverse();
        }
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!(report.refused == 0, passes, "freed first: {is_freed_first}, {between} between: {report}");
    }
}
