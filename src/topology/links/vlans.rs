//! VLANs as ranges: a trunk often carries all of them.

use serde::{Deserialize, Serialize};

use crate::model::Vlans;

/// Consecutive VLANs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct VlanRange {
    /// The first VLAN.
    pub first: u16,
    /// The last VLAN.
    pub last: u16,
}

impl VlanRange {
    /// Returns whether the range contains a VLAN.
    ///
    /// ```
    /// use toposcope::topology::links::VlanRange;
    ///
    /// assert!(VlanRange { first: 10, last: 20 }.contains(20));
    /// ```
    #[must_use]
    pub const fn contains(self, vlan: u16) -> bool {
        self.first <= vlan && vlan <= self.last
    }
}

/// As engineers write it, such as `7` and `10-20`.
impl std::fmt::Display for VlanRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(formatter, "{}", self.first)
        } else {
            write!(formatter, "{}-{}", self.first, self.last)
        }
    }
}

/// Returns the VLANs of a port, in ascending order.
pub(super) fn ranges(vlans: &Vlans) -> Vec<VlanRange> {
    let all = vlans.untagged.iter().chain(&vlans.tagged).chain(&vlans.other_untagged);
    let mut numbers: Vec<u16> = all.copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<VlanRange> = Vec::new();
    for number in numbers {
        match ranges.last_mut().filter(|range| range.last.checked_add(1) == Some(number)) {
            Some(range) => range.last = number,
            None => ranges.push(VlanRange { first: number, last: number }),
        }
    }
    ranges
}

/// Returns the VLANs that both have, in ascending order.
pub(super) fn common(one: &[VlanRange], other: &[VlanRange]) -> Vec<VlanRange> {
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    let mut common = Vec::new();
    while let (Some(one), Some(other)) = (ones.peek(), others.peek()) {
        let (first, last) = (one.first.max(other.first), one.last.min(other.last));
        if first <= last {
            common.push(VlanRange { first, last });
        }
        if one.last < other.last {
            ones.next();
        } else {
            others.next();
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u16]) -> Vec<VlanRange> {
        ranges(&Vlans { tagged: numbers.to_vec(), ..Vlans::default() })
    }

    fn text(ranges: &[VlanRange]) -> String {
        ranges.iter().map(VlanRange::to_string).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn vlans_of_a_port_are_joined_to_ranges() {
        let vlans =
            Vlans { untagged: Some(3), tagged: vec![1, 2, 7, 9, 10], other_untagged: vec![2, 65_535] };
        assert_eq!(text(&ranges(&vlans)), "1-3,7,9-10,65535");
        assert_eq!(text(&of(&[])), "");
    }

    #[test]
    fn link_carries_what_both_ends_carry() {
        let all: Vec<u16> = (1..=4_094).collect();
        let odd: Vec<u16> = all.iter().copied().filter(|number| number % 2 == 1).collect();
        assert_eq!(common(&of(&all), &of(&odd)), of(&odd));
        assert_eq!(text(&common(&of(&[1, 2, 3, 10]), &of(&[2, 3, 4, 10, 11]))), "2-3,10");
        assert_eq!(common(&of(&odd), &of(&[2])), []);
    }
}
