//! The rules by which names of ports are matched.

use toposcope::discovery::reconcile::{PortNames, PortNamesError};

#[track_caller]
fn check(names: &PortNames, cases: &[(&str, Option<&str>)]) {
    for (name, expected) in cases {
        assert_eq!(names.abbreviated(name).as_deref(), *expected, "{name:?}");
    }
}

#[test]
fn usual_kinds_are_abbreviated() {
    let cases = [
        ("GigabitEthernet0/1", Some("gi0/1")),
        ("GIG 0/1", Some("gi0/1")),
        (" Gi0/1\0", Some("gi0/1")),
        ("Ethernet", Some("et")),
        ("port-channel 7", Some("po7")),
        ("ge-0/0/1", Some("ge-0/0/1")),
        ("uplink  3", Some("uplink3")),
        ("10GE1/0/1", Some("10ge1/0/1")),
        ("GE1/0/1", Some("gi1/0/1")),
        ("XGE1/0/49", Some("te1/0/49")),
        ("Ten-GigabitEthernet1/0/49", Some("te1/0/49")),
        ("XGigabitEthernet0/0/1", Some("te0/0/1")),
        ("Bridge-Aggregation1", Some("bagg1")),
        ("BAGG1", Some("bagg1")),
        ("Eth-Trunk1", Some("eth-trunk1")),
        ("Vlan-interface10", Some("vl10")),
        ("Vlanif10", Some("vl10")),
        ("1/1/1", Some("1/1/1")),
        ("  ", None),
        ("", None),
    ];
    check(&PortNames::new(), &cases);
    assert_eq!(PortNames::new(), PortNames::default());
}

#[test]
fn kinds_are_added_replaced_and_left_out() {
    let names = PortNames::new().with_kind(" Tengige ", "XE").unwrap().with_kind("gig", "gig").unwrap();
    check(&names, &[("TenGigE0/1", Some("xe0/1")), ("gig1", Some("gig1")), ("gige1", Some("gi1"))]);
    check(&PortNames::without_kinds(), &[("TenGigE 0/1", Some("tengige0/1")), ("Vlan7", Some("vlan7"))]);
    assert_eq!(PortNames::without_kinds().kinds().count(), 0);
    let mut kinds: Vec<_> = names.kinds().collect();
    assert!(kinds.contains(&("tengige", "xe")));
    kinds.sort_unstable();
    assert!(names.kinds().eq(kinds));
}

#[test]
fn longest_of_several_kinds_counts() {
    let names = ["10GE", "x", "x10ge", "port 1 of unit", "stack1/port"]
        .into_iter()
        .zip(["a", "b", "c", "d", "e"])
        .try_fold(PortNames::new(), |names, (kind, short)| names.with_kind(kind, short))
        .unwrap();
    let cases = [
        ("10GE1/0/1", Some("a1/0/1")),
        ("10GE 1/0/1", Some("a1/0/1")),
        ("100GE1/0/1", Some("100ge1/0/1")),
        ("x7", Some("b7")),
        ("x10ge7", Some("c7")),
        ("Port 1 of unit 12", Some("d12")),
        ("stack1/port4", Some("e4")),
        ("Ethernet1/1", Some("et1/1")),
        ("x", Some("b")),
        ("é1", Some("é1")),
    ];
    check(&names, &cases);
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let long = "a".repeat(65);
    for text in ["", " ", "a1", "a\u{1}b", &long] {
        assert_eq!(PortNames::new().with_kind(text, "a"), Err(PortNamesError::Text), "{text:?}");
        assert_eq!(PortNames::new().with_kind("a", text), Err(PortNamesError::Text), "{text:?}");
    }
    assert!(PortNames::new().with_kind(&long[..64], &long[..64]).is_ok());
    let add = |names: PortNames, number: usize| names.with_kind(&format!("kind{number}x"), "k");
    let full = (0..1_000).try_fold(PortNames::without_kinds(), add).unwrap();
    assert_eq!(add(full.clone(), 1_000), Err(PortNamesError::TooMany));
    assert!(add(full, 0).is_ok());
}

/// Each name is read once, regardless of its
/// characters.
#[test]
fn long_names_take_no_long_time() {
    let names = PortNames::new().with_kind("a1b", "c").unwrap();
    let long = "1a".repeat(1 << 20);
    for _ in 0..8 {
        assert_eq!(names.abbreviated(&long).as_deref(), Some(&*long));
    }
}
