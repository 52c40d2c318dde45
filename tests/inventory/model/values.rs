//! The values in records, and the records around the inventory.

use serde_json::{Value, json};
use toposcope::model::{
    Binding, BindingTarget, DaemonApiKey, MacAddress, Network, Organization, Permission, Port, PortNumber,
    Protocol, Referral, Session, Share, ShareMetadata, Source, Tag, Timestamp, User, UserApiKey,
    referral_source,
};

use super::{ID, PORT_TYPES, TIME, binding_json, id, port, port_json, refusal, round_trip, with, without};

#[test]
fn timestamp_is_read_with_any_offset_and_written_in_utc_to_the_microsecond() {
    for (sent, written) in [
        ("2026-08-14T12:00:14Z", "2026-08-14T12:00:14Z"),
        ("2026-08-14t12:00:14z", "2026-08-14T12:00:14Z"),
        ("2026-08-14T14:00:14+02:00", "2026-08-14T12:00:14Z"),
        ("2026-08-14T00:30:14-11:30", "2026-08-14T12:00:14Z"),
        ("2026-08-14T12:00:14.5Z", "2026-08-14T12:00:14.500Z"),
        ("2026-08-14T12:00:14.123456Z", "2026-08-14T12:00:14.123456Z"),
        ("2026-08-14T12:00:14.123456999Z", "2026-08-14T12:00:14.123456Z"),
        ("2026-08-14T12:00:14.0000009Z", "2026-08-14T12:00:14Z"),
        ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ] {
        let time: Timestamp = sent.parse().unwrap_or_else(|error| panic!("{error}: {sent}"));
        assert_eq!(time.to_string(), written, "{sent}");
        assert_eq!(written.parse(), Ok(time));
        assert_eq!(Timestamp::from_unix_micros(time.unix_micros()), Ok(time));
        round_trip::<Timestamp>(&format!("\"{written}\""));
    }
}

#[test]
fn timestamp_is_written_as_chrono_writes_it() {
    let mut random = fastrand::Rng::with_seed(1);
    for unit in [1, 1_000, 1_000_000, 86_400_000_000] {
        for _ in 0..10_000 {
            let (min, max) = (Timestamp::MIN.unix_micros(), Timestamp::MAX.unix_micros());
            let time = Timestamp::from_unix_micros(random.i64(min..=max) / unit * unit).unwrap();
            let expected = chrono::DateTime::from(time).to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
            assert_eq!(time.to_string(), expected);
        }
    }
}

#[test]
fn timestamp_outside_the_years_0_to_9999_or_without_a_zone_is_refused() {
    for text in [
        "",
        "2026-08-14",
        "2026-08-14T12:00:14",
        "2026-02-30T12:00:14Z",
        "2026-08-14T25:00:14Z",
        "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "-0001-12-31T23:59:59Z",
        "+10000-01-01T00:00:00Z",
        "1786708814",
    ] {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
    }
    refusal::<Timestamp>(&json!(1_786_708_814));
    refusal::<Timestamp>(&Value::Null);
}

#[test]
fn mac_address_is_read_in_every_usual_spelling_and_written_in_one() {
    let address = MacAddress::new([0x00, 0x1B, 0x21, 0xAF, 0x09, 0xE0]);
    for text in [
        "00:1B:21:AF:09:E0",
        "00:1b:21:af:09:e0",
        "00:1b:21:aF:09:E0",
        "00-1B-21-AF-09-E0",
        "00-1b-21-af-09-e0",
        "001B21AF09E0",
        "001b21af09e0",
        "001b.21af.09e0",
        "001B-21AF-09E0",
        "001b21-af09e0",
    ] {
        assert_eq!(text.parse(), Ok(address), "{text}");
        assert_eq!(serde_json::from_value::<MacAddress>(json!(text)).unwrap(), address);
    }
    assert_eq!(address.to_string(), "00:1B:21:AF:09:E0");
    assert_eq!(address.octets(), [0x00, 0x1B, 0x21, 0xAF, 0x09, 0xE0]);
    round_trip::<MacAddress>(r#""FF:FF:FF:FF:FF:FF""#);
    round_trip::<MacAddress>(r#""00:00:00:00:00:00""#);
}

#[test]
fn hardware_addresses_of_8_and_20_bytes_are_mac_addresses() {
    let eui_64 = "00:1B:21:FF:FE:AF:09:E0";
    let infiniband = "80:00:00:48:FE:80:00:00:00:00:00:00:00:02:C9:03:00:0F:6E:31";
    for (text, length) in [(eui_64, 8), (infiniband, 20)] {
        let address: MacAddress = text.parse().unwrap();
        assert_eq!((address.octets().len(), address.to_string().as_str()), (length, text));
        assert_eq!(MacAddress::try_from(address.octets()), Ok(address));
        assert_eq!(text.replace(':', "").to_lowercase().parse(), Ok(address));
        round_trip::<MacAddress>(&format!("\"{text}\""));
    }
    assert_eq!("001b.21ff.feaf.09e0".parse(), eui_64.parse::<MacAddress>());
    for length in [0, 5, 7, 9, 16, 19, 21] {
        assert!(MacAddress::try_from(&vec![1; length][..]).is_err(), "{length}");
    }
    let zero: MacAddress = "00:00:00:00:00:00".parse().unwrap();
    assert_ne!(zero, "00:00:00:00:00:00:00:00".parse().unwrap());
    assert!(zero.is_zero() && !zero.is_group());
    assert!("01:00:5E:00:00:FB".parse::<MacAddress>().unwrap().is_group());
}

#[test]
fn text_other_than_6_8_or_20_hexadecimal_bytes_is_no_mac_address() {
    for text in [
        "",
        "0",
        "00",
        ":",
        "00:1B:21:AF:09",
        "00:1B:21:AF:09:",
        "00:1B:21:AF:09:E",
        "00:1B:21:AF:09:E0:",
        "00:1B:21:AF:09:E0:11",
        ":00:1B:21:AF:09:E",
        "00:1B:21:AF:09-E0",
        "00-1B:21:AF:09:E0",
        "00:1B:21:AF:09:G0",
        "00:1B:21:AF:09: 0",
        "00:1B:21:AF:09:+1",
        "00.1B.21.AF.09.E0",
        "001B.21AF.09E",
        "001B.21AF-09E0",
        "001B:21AF:09E0",
        "001B21.AF09E0",
        "001B.21.AF09E0",
        "0:1B:21:AF:09:E0",
        "0:1B:21:AF:09:E00",
        "000:1B:21:AF:9:E0",
        "001B21AF09E",
        "001B21AF09E00",
        "001B21AF09EO",
        " 00:1B:21:AF:09:E0",
        "00:1B:21:AF:09:E0 ",
        "００１Ｂ",
        "éééééé",
        "00:1B:21:AF:09:é",
        "00é1B:21:AF:09:E",
        "00:1B:21:AF:09:E0:11:22:33",
    ] {
        assert!(text.parse::<MacAddress>().is_err(), "{text}");
    }
    for value in [Value::Null, json!(1), json!([0, 27, 33, 175, 9, 224])] {
        refusal::<MacAddress>(&value);
    }
}

#[test]
fn port_is_written_with_the_type_that_its_number_and_protocol_have() {
    let custom = [(1, true), (22, false), (161, true), (443, false), (65_535, true), (65_535, false)];
    for (number, is_tcp) in PORT_TYPES.keys().copied().chain(custom) {
        let protocol = if is_tcp { Protocol::Tcp } else { Protocol::Udp };
        let port = port(number, protocol);
        let kind = PORT_TYPES.get(&(number, is_tcp)).copied().unwrap_or("Custom");
        let expected = format!(
            r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","number":{number},"protocol":"{protocol}","type":"{kind}","created_at":"{TIME}","updated_at":"{TIME}"}}"#
        );
        assert_eq!(round_trip::<Port>(&expected), port);
    }
}

#[test]
fn every_port_has_the_type_of_the_table_or_is_custom() {
    assert_eq!(PORT_TYPES.len(), 55);
    for (protocol, is_tcp) in [(Protocol::Tcp, true), (Protocol::Udp, false)] {
        for number in 1..=u16::MAX {
            let expected = PORT_TYPES.get(&(number, is_tcp)).copied().unwrap_or("Custom");
            assert_eq!(port(number, protocol).kind(), expected, "{number} {protocol}");
        }
    }
}

#[test]
fn type_of_a_port_is_ignored_when_read() {
    let expected = port(80, Protocol::Tcp);
    assert_eq!(serde_json::from_value::<Port>(port_json()).unwrap(), expected);
    for sent in [json!("Ssh"), json!("nonsense"), Value::Null, json!(7), json!({"a": []}), json!([1, 2])] {
        let sent = with(port_json(), "type", sent);
        assert_eq!(serde_json::from_value::<Port>(sent).unwrap(), expected);
    }
}

#[test]
fn port_number_is_1_to_65535() {
    assert_eq!(PortNumber::try_from(1).unwrap().get(), 1);
    assert_eq!(PortNumber::try_from(65_535).unwrap().to_string(), "65535");
    assert!(PortNumber::try_from(0).is_err());
    for number in [json!(0), json!(-1), json!(65_536), json!(1.5), json!("80"), Value::Null] {
        refusal::<Port>(&with(port_json(), "number", number));
    }
}

#[test]
fn protocol_is_read_in_any_case_and_written_in_one() {
    assert!(Protocol::Tcp < Protocol::Udp);
    for (text, protocol) in [("tcp", Protocol::Tcp), ("TCP", Protocol::Tcp), ("uDP", Protocol::Udp)] {
        let port: Port = serde_json::from_value(with(port_json(), "protocol", json!(text))).unwrap();
        assert_eq!((port.protocol, text.parse()), (protocol, Ok(protocol)));
    }
    for protocol in ["Sctp", "", "tcp "] {
        refusal::<Port>(&with(port_json(), "protocol", json!(protocol)));
    }
}

fn target(text: &str) -> BindingTarget {
    round_trip::<Binding>(text).target
}

#[test]
fn binding_is_written_with_both_ids() {
    let head = format!(r#"{{"id":"{ID}","service_id":"{ID}","network_id":"{ID}""#);
    let tail = format!(r#","created_at":"{TIME}","updated_at":"{TIME}"}}"#);
    assert_eq!(
        target(&format!(r#"{head},"interface_id":null,"port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: None }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: Some(id()) }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":null,"type":"Interface"{tail}"#)),
        BindingTarget::Interface { interface_id: id() }
    );
}

#[test]
fn binding_may_omit_the_id_that_its_type_does_not_require() {
    let binding: Binding = serde_json::from_value(without(binding_json(), "interface_id")).unwrap();
    assert_eq!(binding.target, BindingTarget::Port { port_id: id(), interface_id: None });
    let binding =
        with(with(without(binding_json(), "port_id"), "interface_id", json!(ID)), "type", json!("Interface"));
    let binding: Binding = serde_json::from_value(binding).unwrap();
    assert_eq!(binding.target, BindingTarget::Interface { interface_id: id() });
}

#[test]
fn binding_with_ids_that_contradict_its_type_is_refused() {
    let on_interface = with(binding_json(), "type", json!("Interface"));
    assert!(refusal::<Binding>(&without(binding_json(), "port_id")).contains("requires a port_id"));
    assert!(refusal::<Binding>(&with(binding_json(), "port_id", Value::Null)).contains("requires a port_id"));
    assert!(refusal::<Binding>(&on_interface).contains("must not have a port_id"));
    assert!(
        refusal::<Binding>(&with(on_interface.clone(), "interface_id", json!(ID)))
            .contains("must not have a port_id")
    );
    assert!(refusal::<Binding>(&without(on_interface, "port_id")).contains("requires an interface_id"));
    refusal::<Binding>(&without(binding_json(), "type"));
    refusal::<Binding>(&with(binding_json(), "type", json!("port")));
}

#[test]
fn source_is_tagged_with_its_type() {
    assert_eq!(round_trip::<Source>(r#"{"type":"Manual"}"#), Source::Manual);
    assert_eq!(round_trip::<Source>(r#"{"type":"System"}"#), Source::System);
    assert_eq!(round_trip::<Source>(r#"{"type":"Unknown"}"#), Source::Unknown);
    round_trip::<Source>(r#"{"type":"Discovery","metadata":[]}"#);
    let source = round_trip::<Source>(
        r#"{"type":"DiscoveryWithMatch","metadata":[{"a":null,"b":[1,-2,1.5,{"type":"x"}]},{}],"details":{"type":"y"}}"#,
    );
    assert!(matches!(source, Source::DiscoveryWithMatch { metadata, .. } if metadata.len() == 2));
}

#[test]
fn type_of_a_source_may_come_at_any_place_among_its_fields() {
    let sent =
        r#"{"details":{},"metadata":[{"big":18446744073709551615}],"more":1,"type":"DiscoveryWithMatch"}"#;
    let source: Source = serde_json::from_str(sent).unwrap();
    let Source::DiscoveryWithMatch { metadata, details } = source else { panic!("{source:?}") };
    assert_eq!(metadata[0]["big"], json!(u64::MAX));
    assert!(details.is_empty());
    assert_eq!(serde_json::from_str::<Source>(r#"{"metadata":[],"type":"Manual"}"#).unwrap(), Source::Manual);
}

#[test]
fn source_of_another_shape_is_refused() {
    for value in [
        Value::Null,
        json!("Manual"),
        json!({}),
        json!({"type": "Other"}),
        json!({"type": null}),
        json!({"type": "Discovery"}),
        json!({"type": "Discovery", "metadata": null}),
        json!({"type": "Discovery", "metadata": [1]}),
        json!({"type": "DiscoveryWithMatch", "metadata": []}),
        json!({"type": "DiscoveryWithMatch", "metadata": [], "details": []}),
    ] {
        refusal::<Source>(&value);
    }
    for text in [
        r#"{"type":"Manual","type":"Manual"}"#,
        r#"{"type":"Discovery","metadata":[],"metadata":[]}"#,
        r#"{"metadata":[],"metadata":[],"type":"Discovery"}"#,
    ] {
        assert!(serde_json::from_str::<Source>(text).is_err(), "{text}");
    }
}

#[test]
fn permissions_are_ordered_and_the_upper_two_see_every_network() {
    let ascending = [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];
    assert!(ascending.is_sorted());
    assert_eq!(ascending.map(Permission::sees_every_network), [false, false, true, true]);
    for permission in ascending {
        assert_eq!(round_trip::<Permission>(&format!("\"{permission}\"")), permission);
    }
    refusal::<Permission>(&json!("owner"));
}

#[test]
fn records_around_the_inventory_are_written_in_the_order_of_the_wire() {
    let times = format!(r#""created_at":"{TIME}","updated_at":"{TIME}""#);
    round_trip::<Organization>(&format!(r#"{{"id":"{ID}","name":"a","api_access":true,{times}}}"#));
    round_trip::<Network>(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","name":"a","description":"b","tags":["{ID}"],{times}}}"#
    ));
    round_trip::<Tag>(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","name":"a","description":null,"color":null,{times}}}"#
    ));
    round_trip::<User>(&format!(
        r#"{{"id":"{ID}","email":"a@example.org","organization_id":"{ID}","permissions":"Member","network_ids":["{ID}"],"is_enabled":true,{times}}}"#
    ));
    round_trip::<Session>(&format!(
        r#"{{"id":"{ID}","user_id":"{ID}","organization_id":"{ID}","created_at":"{TIME}","expires_at":"{TIME}"}}"#
    ));
    round_trip::<Referral>(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","user_id":"{ID}","referral_source":"other","referral_source_other":null,{times}}}"#
    ));
    for (last_used, expires_at) in
        [("null", "null"), (r#""2026-01-01T00:00:00Z""#, r#""2027-01-01T00:00:00Z""#)]
    {
        round_trip::<DaemonApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","network_id":"{ID}","tags":[],"key":"topo_d_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":true}}"#
        ));
        round_trip::<UserApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","organization_id":"{ID}","user_id":"{ID}","tags":["{ID}"],"key":"topo_u_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":false,"network_ids":[],"all_networks":false,"permissions":"Viewer"}}"#
        ));
    }
}

#[test]
fn share_metadata_omits_the_organization_of_the_share() {
    let options = r#"{"show_export_button":true,"show_inspect_panel":false,"show_minimap":true,"show_zoom_controls":false}"#;
    let share: Share = round_trip(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","network_id":null,"name":"a","is_enabled":true,"expires_at":null,"requires_password":true,"options":{options},"view":"l3","redact":["macs"],"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    ));
    let metadata: ShareMetadata =
        round_trip(&format!(r#"{{"id":"{ID}","name":"a","requires_password":true,"options":{options}}}"#));
    assert_eq!(ShareMetadata::from(&share), metadata);
}

#[test]
fn there_are_thirteen_known_referral_sources() {
    assert_eq!(referral_source::ALL.len(), 13);
    assert_eq!(referral_source::ALL[9], "proxmox_community_scripts");
    assert!(referral_source::ALL.contains(&referral_source::PREFER_NOT_TO_SAY));
}
