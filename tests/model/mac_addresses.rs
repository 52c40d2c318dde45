//! MAC addresses: the accepted spellings and the canonical one.

use serde_json::{Value, json};
use toposcope::model::MacAddress;

use crate::support::{refusal, round_trip};

#[test]
fn a_mac_address_is_read_in_every_usual_spelling_and_written_in_one() {
    let address = MacAddress::new([0x00, 0x1B, 0x21, 0xAF, 0x09, 0xE0]);
    for text in [
        "00:1B:21:AF:09:E0",
        "00:1b:21:af:09:e0",
        "00:1b:21:aF:09:E0",
        "00-1B-21-AF-09-E0",
        "00-1b-21-af-09-e0",
        "001B21AF09E0",
        "001b21af09e0",
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
fn what_is_not_6_bytes_in_hexadecimal_is_no_mac_address() {
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
        "001B.21AF.09E0",
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
        "00:1B:21:AF:09:E0:11:22",
    ] {
        assert!(text.parse::<MacAddress>().is_err(), "{text}");
    }
    for value in [Value::Null, json!(1), json!([0, 27, 33, 175, 9, 224])] {
        refusal::<MacAddress>(&value);
    }
}
