//! Sources: the origin of a record.

use serde_json::{Value, json};
use toposcope::model::Source;

use crate::support::{refusal, round_trip};

#[test]
fn a_source_is_tagged_with_its_type() {
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
fn the_type_of_a_source_may_stand_anywhere_among_its_fields() {
    let sent =
        r#"{"details":{},"metadata":[{"big":18446744073709551615}],"more":1,"type":"DiscoveryWithMatch"}"#;
    let source: Source = serde_json::from_str(sent).unwrap();
    let Source::DiscoveryWithMatch { metadata, details } = source else { panic!("{source:?}") };
    assert_eq!(metadata[0]["big"], json!(u64::MAX));
    assert!(details.is_empty());
    assert_eq!(serde_json::from_str::<Source>(r#"{"metadata":[],"type":"Manual"}"#).unwrap(), Source::Manual);
}

#[test]
fn a_source_of_another_shape_is_refused() {
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
