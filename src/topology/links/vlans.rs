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

/// Returns whether ranges are in ascending order, and as few as possible.
pub(in crate::topology) fn are_ascending(ranges: &[VlanRange]) -> bool {
    let is_apart = |pair: &[VlanRange]| match pair {
        [one, other] => one.last.checked_add(1).is_some_and(|next| next < other.first),
        _ => true,
    };
    ranges.iter().all(|range| range.first <= range.last) && ranges.windows(2).all(is_apart)
}

/// Returns the VLANs of ranges in any order, in ascending order.
pub(in crate::topology) fn joined(ranges: &[VlanRange]) -> Vec<VlanRange> {
    let mut sorted: Vec<VlanRange> =
        ranges.iter().copied().filter(|range| range.first <= range.last).collect();
    sorted.sort_unstable();
    let mut joined: Vec<VlanRange> = Vec::new();
    for range in sorted {
        match joined.last_mut().filter(|last| last.last.saturating_add(1) >= range.first) {
            Some(last) => last.last = last.last.max(range.last),
            None => joined.push(range),
        }
    }
    joined
}

/// Returns the range that contains a VLAN, of ranges in ascending order.
pub(in crate::topology) fn find(ranges: &[VlanRange], vlan: u16) -> Option<VlanRange> {
    let place = ranges.partition_point(|range| range.last < vlan);
    ranges.get(place).copied().filter(|range| range.contains(vlan))
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

/// Returns the VLANs of one that another one does not have. All ranges are in ascending order.
pub(in crate::topology) fn without(one: &[VlanRange], other: &[VlanRange]) -> Vec<VlanRange> {
    let mut rest = Vec::new();
    let mut others = other.iter().peekable();
    for range in one {
        let mut first = Some(range.first);
        while others.next_if(|other| other.last < range.first).is_some() {}
        while let (Some(start), Some(other)) =
            (first, others.peek().filter(|other| other.first <= range.last))
        {
            if start < other.first {
                rest.push(VlanRange { first: start, last: other.first.saturating_sub(1) });
            }
            first = other.last.checked_add(1).filter(|next| *next <= range.last);
            if other.last > range.last {
                break;
            }
            others.next();
        }
        rest.extend(first.map(|first| VlanRange { first, last: range.last }));
    }
    rest
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

    #[test]
    fn vlans_of_one_end_are_those_that_the_other_lacks() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            let mut some = || (1..=20).filter(|_| rng.bool()).collect::<Vec<u16>>();
            let (one, other) = (some(), some());
            let expected: Vec<u16> = one.iter().copied().filter(|vlan| !other.contains(vlan)).collect();
            let found = without(&of(&one), &of(&other));
            assert_eq!(joined(&found), of(&expected), "{one:?} without {other:?}");
            for vlan in 0..=21 {
                assert_eq!(find(&of(&one), vlan).is_some(), one.contains(&vlan));
            }
        }
        let all = [VlanRange { first: 0, last: u16::MAX }];
        assert_eq!(without(&all, &all), []);
        assert_eq!(without(&all, &[]), all);
    }

    #[test]
    fn ranges_in_any_order_are_joined() {
        let range = |first, last| VlanRange { first, last };
        let joined_ranges = joined(&[range(7, 9), range(1, 3), range(9, 5), range(4, 4), range(8, 20)]);
        assert_eq!(joined_ranges, [range(1, 4), range(7, 20)]);
        assert!(are_ascending(&joined_ranges) && !are_ascending(&[range(1, 3), range(4, 4)]));
    }
}
