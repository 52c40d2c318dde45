//! Enums with a text for each value: all uses of a text agree, and their errors name the texts.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toposcope::inventory::{Entity, ListOrderField};
use toposcope::model::{
    ApplicationRole, HostOrderField, HostRole, OrderDirection, Permission, SourceType, SubnetType,
    TopologyView,
};
use toposcope::wire::ErrorCode;

/// Checks that JSON, `Display` and `as_str` have the same text for each value, and no two values the same.
fn check<T>(all: &[T], as_str: fn(T) -> &'static str)
where
    T: Copy + Debug + PartialEq + Display + Serialize + DeserializeOwned,
{
    for (index, value) in all.iter().enumerate() {
        let text = as_str(*value);
        assert_eq!(value.to_string(), text);
        assert_eq!(format!("{value:<40}|"), format!("{text:<40}|"));
        assert_eq!(serde_json::to_string(value).unwrap(), format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<T>(&format!("\"{text}\"")).unwrap(), *value);
        assert_eq!(all.iter().position(|other| as_str(*other) == text), Some(index), "{text}");
    }
    assert!(!all.is_empty());
}

/// Checks in addition that the texts are parsed, and others refused with this message.
fn check_parsed<T>(all: &[T], as_str: fn(T) -> &'static str, message: &str)
where
    T: Copy + Debug + PartialEq + Display + Serialize + DeserializeOwned + FromStr<Err: Debug + Display>,
{
    check(all, as_str);
    for value in all {
        let text = as_str(*value);
        assert_eq!(text.parse::<T>().unwrap(), *value);
        for other in [format!("{text} "), format!(" {text}"), format!("{text}x"), String::new()] {
            assert_eq!(other.parse::<T>().unwrap_err().to_string(), message, "{other:?}");
        }
    }
}

#[test]
fn texts_of_records_and_errors_are_the_same_everywhere() {
    check(Permission::ALL, Permission::as_str);
    check(SubnetType::ALL, SubnetType::as_str);
    check(Entity::ALL, Entity::as_str);
    check(ErrorCode::ALL, ErrorCode::as_str);
    check_parsed(SourceType::ALL, SourceType::as_str, "not a type of source");
    check_parsed(TopologyView::ALL, TopologyView::as_str, "not a view: `l2`, `l3` or `workloads`");
    check_parsed(OrderDirection::ALL, OrderDirection::as_str, "neither asc nor desc");
    let message = "not a field that hosts can be ordered by";
    check_parsed(HostOrderField::ALL, HostOrderField::as_str, message);
    let message = "not a field that records can be ordered by";
    check_parsed(ListOrderField::ALL, ListOrderField::as_str, message);
}

#[test]
fn texts_of_roles_are_the_same_everywhere() {
    let other = ["x.a", "x.load_balancer", "x.-", "x.7_seven-7", &format!("x.{}", "z".repeat(30))]
        .map(|text| HostRole::Other(ApplicationRole::new(text)));
    let all: Vec<HostRole> = HostRole::ALL.iter().copied().chain(other).collect();
    for role in &all {
        let text = role.as_str();
        assert_eq!(format!("{role:<40}|"), format!("{text:<40}|"));
        assert_eq!(serde_json::to_string(role).unwrap(), format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<HostRole>(&format!("\"{text}\"")).unwrap(), *role);
        assert_eq!(text.parse::<HostRole>().unwrap(), *role);
        assert_eq!(all.iter().filter(|other| other.as_str() == text).count(), 1, "{text}");
    }
    assert_eq!(other.map(|role| role.as_str().len()), [3, 15, 3, 11, 32]);
    for text in ["", "x", "x.", "x.A", "x.a ", " x.a", "x.a.b", "x.\0", "y.a", "Router", "other"] {
        assert!(text.parse::<HostRole>().is_err(), "{text:?}");
        assert!(serde_json::from_value::<HostRole>(text.into()).is_err(), "{text:?}");
    }
    assert!(format!("x.{}", "z".repeat(31)).parse::<HostRole>().is_err());
    assert!(serde_json::from_str::<HostRole>("1").is_err());
}

#[cfg(feature = "discovery")]
#[test]
fn texts_of_discovery_are_the_same_everywhere() {
    use toposcope::discovery::Format;
    use toposcope::discovery::reconcile::MatchedBy;
    use toposcope::discovery::report::TableKind;
    use toposcope::model::{DaemonMode, DiscoveryPhase, DiscoveryType};

    check(DaemonMode::ALL, DaemonMode::as_str);
    check(DiscoveryPhase::ALL, DiscoveryPhase::as_str);
    check(DiscoveryType::ALL, DiscoveryType::as_str);
    check(MatchedBy::ALL, MatchedBy::as_str);
    check_parsed(TableKind::ALL, TableKind::as_str, "not a kind of table");
    let formats =
        "nmap, lldpctl, snmpwalk, snmprec, arp, ip_addr, ip_route, bridge_fdb, bridge_vlan, report and auto";
    check_parsed(Format::ALL, Format::as_str, &format!("not a format; the formats are {formats}"));
}

#[cfg(feature = "topology")]
#[test]
fn texts_of_topologies_are_the_same_everywhere() {
    use toposcope::topology::graph::{GraphChange, GroupBy};
    use toposcope::topology::links::Confidence;
    use toposcope::topology::links::LinkState;
    use toposcope::topology::render::{ColorScheme, Format, ThemeColor};

    check(Confidence::ALL, Confidence::as_str);
    check_parsed(Format::ALL, Format::as_str, "not one of svg, mermaid, dot, graphml, drawio and json");
    check_parsed(ColorScheme::ALL, ColorScheme::as_str, "not one of auto, light and dark");
    check_parsed(
        ThemeColor::ALL,
        ThemeColor::as_str,
        "not one of ground, text, muted, card, card_border, frame, frame_border, segment, accent, line, member, conflicting, dormant, \
         testing, degraded, down, disabled, added, removed and moved",
    );
    check_parsed(GraphChange::ALL, GraphChange::as_str, "not one of added, removed and moved");
    check_parsed(GroupBy::ALL, GroupBy::as_str, "not one of location, subnet and tag");
    check(LinkState::ALL, LinkState::as_str);
}
