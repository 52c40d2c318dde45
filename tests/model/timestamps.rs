//! Timestamps: the accepted forms and the canonical one.

use serde_json::{Value, json};
use toposcope::model::Timestamp;

use crate::support::{refusal, round_trip};

#[test]
fn a_timestamp_is_read_with_any_offset_and_written_in_utc_to_the_microsecond() {
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
fn a_timestamp_outside_the_years_0_to_9999_or_without_a_zone_is_refused() {
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
