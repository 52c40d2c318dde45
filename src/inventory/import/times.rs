//! Times of an imported line that are finer than a microsecond.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::report::Alterations;
use crate::inventory::hosts::or_default;
use crate::wire::Alteration;

/// Counts the times of a valid line that are finer than a microsecond.
///
/// Such times are rare, so the line is parsed again only when it contains seven decimals in a row.
pub(super) fn count_truncated_times(line: &[u8], alterations: &mut Alterations) {
    let has_decimals = |index: usize| {
        line.get(index + 1..index + 8).is_some_and(|decimals| decimals.iter().all(u8::is_ascii_digit))
    };
    if !memchr::memchr_iter(b'.', line).any(has_decimals) {
        return;
    }
    if let Ok(host) = serde_json::from_slice::<HostTimes>(line) {
        alterations.count(Alteration::TruncatedTime, host.truncated());
    }
}

/// The times of a host. Everything else is skipped, so that parsing takes little memory whatever the line contains.
#[derive(Deserialize)]
struct HostTimes {
    created_at: Option<Fineness>,
    updated_at: Option<Fineness>,
    #[serde(default, deserialize_with = "or_default")]
    interfaces: Vec<Times>,
    #[serde(default, deserialize_with = "or_default")]
    ports: Vec<Times>,
    #[serde(default, deserialize_with = "or_default")]
    services: Vec<ServiceTimes>,
    #[serde(default, deserialize_with = "or_default")]
    if_entries: Vec<Times>,
}

#[derive(Deserialize)]
struct ServiceTimes {
    created_at: Option<Fineness>,
    updated_at: Option<Fineness>,
    #[serde(default, deserialize_with = "or_default")]
    bindings: Vec<Times>,
}

#[derive(Deserialize)]
struct Times {
    created_at: Option<Fineness>,
    updated_at: Option<Fineness>,
}

/// Whether a time is finer than a microsecond.
#[derive(Clone, Copy)]
struct Fineness(bool);

impl HostTimes {
    fn truncated(&self) -> u64 {
        let own = truncated([self.created_at, self.updated_at]);
        let parts = [&self.interfaces, &self.ports, &self.if_entries].into_iter().flatten();
        own + parts.map(Times::truncated).sum::<u64>()
            + self.services.iter().map(ServiceTimes::truncated).sum::<u64>()
    }
}

impl ServiceTimes {
    fn truncated(&self) -> u64 {
        let own = truncated([self.created_at, self.updated_at]);
        own + self.bindings.iter().map(Times::truncated).sum::<u64>()
    }
}

impl Times {
    fn truncated(&self) -> u64 {
        truncated([self.created_at, self.updated_at])
    }
}

fn truncated(times: [Option<Fineness>; 2]) -> u64 {
    times.into_iter().flatten().map(|Fineness(is_truncated)| u64::from(is_truncated)).sum()
}

impl<'de> Deserialize<'de> for Fineness {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Time;

        impl Visitor<'_> for Time {
            type Value = Fineness;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a time")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fineness, E> {
                let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
                let digits = decimals.bytes().take_while(u8::is_ascii_digit);
                Ok(Fineness(digits.skip(6).any(|digit| digit != b'0')))
            }
        }

        deserializer.deserialize_str(Time)
    }
}
