//! Odd links: a single link between two classes that are connected by several links anyway, such as a cable between access switches of
//! two buildings, each of which has links to both distribution switches of its building.
//!
//! They do not count for tiers. A few of them in a network would else make a mesh of it.

use std::collections::BTreeMap;

use crate::union_find::UnionFind;

/// One class in this many may have an odd link.
const CLASSES_PER_LINK: usize = 6;

/// Returns the pairs of classes that have an odd link, from the number of links between any two classes. The smaller number is first.
pub(super) fn between(count: usize, links: &BTreeMap<(usize, usize), usize>) -> Vec<(usize, usize)> {
    let mut redundant = UnionFind::new(count);
    for ((one, other), _) in links.iter().filter(|(_, links)| **links > 1) {
        redundant.join(*one, *other);
    }
    let single = links.iter().filter(|((one, other), links)| one != other && **links == 1);
    let odd: Vec<(usize, usize)> = single
        .map(|(classes, _)| *classes)
        .filter(|(one, other)| redundant.find(*one) == redundant.find(*other))
        .collect();
    if odd.len() * CLASSES_PER_LINK > count { Vec::new() } else { odd }
}
