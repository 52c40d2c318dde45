use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;

use crate::invariant::Invariant;

/// A point in time in UTC, in microseconds, within the years 0 to 9999.
///
/// Its JSON form is an RFC 3339 string, written with `Z` and at most six decimals. Parsing accepts any offset and
/// truncates to microseconds.
///
/// ```
/// use toposcope::model::Timestamp;
///
/// let time: Timestamp = "2026-08-14T14:00:14.5+02:00".parse()?;
/// assert_eq!(time.to_string(), "2026-08-14T12:00:14.500Z");
/// # Ok::<(), toposcope::model::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("format" = "date-time")))]
pub struct Timestamp(DateTime<Utc>);

/// The error for text that is not an RFC 3339 date-time. The year must be between 0 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 date-time of the years 0 to 9999")]
#[non_exhaustive]
pub struct TimestampError;

impl Timestamp {
    /// The beginning of 1970.
    pub const UNIX_EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// The beginning of the year 0.
    pub const MIN: Self = match DateTime::from_timestamp_micros(Self::MIN_MICROS) {
        Some(time) => Self(time),
        None => Self::UNIX_EPOCH,
    };

    /// The end of the year 9999.
    pub const MAX: Self = match DateTime::from_timestamp_micros(Self::MAX_MICROS) {
        Some(time) => Self(time),
        None => Self::UNIX_EPOCH,
    };

    const MIN_MICROS: i64 = -62_167_219_200_000_000;
    const MAX_MICROS: i64 = 253_402_300_799_999_999;

    /// Returns the time this many microseconds after the beginning of 1970.
    ///
    /// Negative values are before 1970.
    ///
    /// # Errors
    /// Returns an error for times outside the years 0 to 9999.
    pub fn from_unix_micros(micros: i64) -> Result<Self, TimestampError> {
        if !(Self::MIN_MICROS..=Self::MAX_MICROS).contains(&micros) {
            return Err(TimestampError);
        }
        DateTime::from_timestamp_micros(micros).map(Self).ok_or(TimestampError)
    }

    /// Returns the microseconds since the beginning of 1970.
    #[must_use]
    pub const fn unix_micros(self) -> i64 {
        self.0.timestamp_micros()
    }

    /// Returns the system clock's time.
    #[must_use]
    pub fn now() -> Self {
        // A clock before 1970 reads as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        i64::try_from(since.as_micros())
            .map_or(Self::UNIX_EPOCH, |micros| Self::UNIX_EPOCH.plus_micros(micros))
    }

    /// Returns the beginning of the hour.
    #[cfg(feature = "discovery")]
    pub(crate) fn start_of_hour(self) -> Self {
        const HOUR: i64 = 3_600_000_000;
        self.plus_micros(-self.unix_micros().rem_euclid(HOUR))
    }

    /// Returns this time moved by `micros` microseconds, clamped to the years 0 to 9999.
    #[must_use]
    pub fn plus_micros(self, micros: i64) -> Self {
        let moved = self.unix_micros().saturating_add(micros).clamp(Self::MIN_MICROS, Self::MAX_MICROS);
        Self::from_unix_micros(moved).unwrap_or(self)
    }
}

/// Truncates to microseconds.
impl TryFrom<DateTime<Utc>> for Timestamp {
    type Error = TimestampError;

    fn try_from(time: DateTime<Utc>) -> Result<Self, TimestampError> {
        Self::from_unix_micros(time.timestamp_micros())
    }
}

impl From<Timestamp> for DateTime<Utc> {
    fn from(time: Timestamp) -> Self {
        time.0
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        DateTime::parse_from_rfc3339(text).map_err(|_| TimestampError)?.to_utc().try_into()
    }
}

/// The default is the beginning of 1970.
impl Default for Timestamp {
    fn default() -> Self {
        Self::UNIX_EPOCH
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(Text::of(*self).as_str())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Text::of(*self).as_str())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer, "an RFC 3339 date-time")
    }
}

/// The text of a timestamp, on the stack.
///
/// A host has dozens of timestamps; allocating and formatting each by chrono is a quarter of the work of encoding it.
struct Text {
    bytes: [u8; Self::MAX],
    length: usize,
}

impl Text {
    const MAX: usize = "9999-12-31T23:59:59.999999Z".len();

    fn of(time: Timestamp) -> Self {
        let Timestamp(time) = time;
        let mut text = Self { bytes: [0; Self::MAX], length: 0 };
        text.push_number(time.year().unsigned_abs(), 1000);
        text.push_number_after(b'-', time.month());
        text.push_number_after(b'-', time.day());
        text.push_number_after(b'T', time.hour());
        text.push_number_after(b':', time.minute());
        text.push_number_after(b':', time.second());
        match time.nanosecond() / 1000 {
            0 => {}
            micros => {
                text.push(b'.');
                if micros % 1000 == 0 {
                    text.push_number(micros / 1000, 100);
                } else {
                    text.push_number(micros, 100_000);
                }
            }
        }
        text.push(b'Z');
        text
    }

    fn as_str(&self) -> &str {
        let written = self.bytes.get(..self.length).asserted_or_default();
        str::from_utf8(written).ok().asserted_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Appends the digits of a number, beginning with the digit of this weight.
    fn push_number(&mut self, number: u32, mut weight: u32) {
        while weight > 0 {
            self.push(b'0' + (number / weight % 10) as u8);
            weight /= 10;
        }
    }

    fn push_number_after(&mut self, separator: u8, number: u32) {
        self.push(separator);
        self.push_number(number, 10);
    }
}
