//! The order of nodes within their layers, with few crossings.
//!
//! Sweeps down and up the layers sort each by medians and swap neighbors (E. R. Gansner, E. Koutsofios, S. C. North,
//! K.-P. Vo: A Technique for Drawing Directed Graphs, 1993). Crossings are counted with a Fenwick tree (W. Barth,
//! P. Mutzel, M. Jünger: Simple and Efficient Bilayer Cross Counting, 2004).

use super::super::network::SimpleGraph;

const MAX_SWEEPS: usize = 12;
const MAX_TRANSPOSED: usize = 400;

/// Returns the position of each node in its layer. The nodes of each row keep their order, or its reverse.
pub(super) fn order(network: &SimpleGraph, levels: &[usize], rows: &[Vec<usize>]) -> Vec<usize> {
    let mut layers = initial(network, levels);
    let mut positions = positions(network.len(), &layers);
    for row in rows {
        straighten(network, levels, row, &mut layers, &mut positions);
    }
    let mut best = positions.clone();
    let mut least = crossings(network, levels, &layers, &positions);
    for sweep in 0..MAX_SWEEPS {
        if least == 0 {
            break;
        }
        let depth = layers.len();
        for turn in 0..depth {
            crate::fair_threads::yield_turn();
            let index = if sweep.is_multiple_of(2) { turn } else { depth - 1 - turn };
            let layer = &mut layers[index];
            sort_by_median(network, levels, layer, &positions, sweep);
            if layer.len() <= MAX_TRANSPOSED {
                transpose(network, levels, layer, &positions);
            }
            for (position, node) in layer.iter().enumerate() {
                positions[*node] = position;
            }
            let is_of_layer = |row: &&Vec<usize>| row.first().is_some_and(|first| levels[*first] == index);
            for row in rows.iter().filter(is_of_layer) {
                straighten(network, levels, row, &mut layers, &mut positions);
            }
        }
        let count = crossings(network, levels, &layers, &positions);
        if count < least {
            (best, least) = (positions.clone(), count);
        }
    }
    best
}

/// Orders each layer as a depth-first search meets its nodes. This order keeps trees free of crossings.
fn initial(network: &SimpleGraph, levels: &[usize]) -> Vec<Vec<usize>> {
    let depth = levels.iter().max().map_or(0, |deepest| deepest + 1);
    let mut layers = vec![Vec::new(); depth];
    let mut seen = vec![false; network.len()];
    // From the top, then from the nodes that cannot be reached from it level by level.
    let mut starts: Vec<usize> = (0..network.len()).collect();
    starts.sort_by_key(|node| levels[*node]);
    for start in starts {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            if seen[node] {
                continue;
            }
            seen[node] = true;
            layers[levels[node]].push(node);
            // Neighbors of the same layer are pushed last and taken first, so that they are side by side.
            let level = levels[node];
            let next = |same: bool| {
                network.neighbors(node).iter().rev().copied().filter(move |neighbor| {
                    let other = levels[*neighbor];
                    if same { other == level } else { other == level + 1 }
                })
            };
            waiting.extend(next(true));
            waiting.extend(next(false));
        }
    }
    layers
}

fn positions(count: usize, layers: &[Vec<usize>]) -> Vec<usize> {
    let mut positions = vec![0; count];
    for layer in layers {
        for (position, node) in layer.iter().enumerate() {
            positions[*node] = position;
        }
    }
    positions
}

/// Sorts the nodes of a row, in the direction in which the lines from its ends up cross each other less.
fn straighten(
    network: &SimpleGraph,
    levels: &[usize],
    row: &[usize],
    layers: &mut [Vec<usize>],
    positions: &mut [usize],
) {
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return };
    let above = |node: usize| {
        let mut upper = network.neighbors(node).iter().filter(|other| levels[**other] < levels[node]);
        upper.next().map(|upper| positions[*upper])
    };
    let is_reversed = above(*first) > above(*last);
    let mut places: Vec<usize> = row.iter().map(|node| positions[*node]).collect();
    places.sort_unstable();
    if is_reversed {
        places.reverse();
    }
    for (node, place) in row.iter().zip(places) {
        layers[levels[*first]][place] = *node;
        positions[*node] = place;
    }
}

/// Sorts a layer by the medians of the positions of its nodes' neighbors. These neighbors are in the layer from which
/// the sweep comes.
fn sort_by_median(
    network: &SimpleGraph,
    levels: &[usize],
    layer: &mut [usize],
    positions: &[usize],
    sweep: usize,
) {
    let downward = sweep.is_multiple_of(2);
    let mut keyed: Vec<(f64, usize, usize)> = layer
        .iter()
        .map(|node| {
            let level = levels[*node];
            let mut places: Vec<usize> = network
                .neighbors(*node)
                .iter()
                .filter(|neighbor| {
                    let other = levels[**neighbor];
                    if downward { other < level } else { other > level }
                })
                .map(|neighbor| positions[*neighbor])
                .collect();
            places.sort_unstable();
            (median(&places), positions[*node], *node)
        })
        .collect();
    // Nodes without neighbors there keep their places; the others are sorted among themselves.
    let mut sorted: Vec<(f64, usize, usize)> = keyed.iter().copied().filter(|key| key.0 >= 0.0).collect();
    // Every other pair of sweeps reverses ties, so that the search leaves plateaus.
    let reversed = sweep % 4 >= 2;
    sorted.sort_by(|one, other| {
        let ties = if reversed { other.1.cmp(&one.1) } else { one.1.cmp(&other.1) };
        one.0.total_cmp(&other.0).then(ties)
    });
    let mut sorted = sorted.into_iter();
    for key in &mut keyed {
        if key.0 >= 0.0
            && let Some(next) = sorted.next()
        {
            *key = next;
        }
    }
    for (place, (.., node)) in layer.iter_mut().zip(keyed) {
        *place = node;
    }
}

/// Returns the median of sorted positions, or -1 without positions.
fn median(places: &[usize]) -> f64 {
    let at = |index: usize| places[index] as f64;
    match places.len() {
        0 => -1.0,
        length if length % 2 == 1 => at(length / 2),
        length => (at(length / 2 - 1) + at(length / 2)) / 2.0,
    }
}

/// Swaps neighbors in a layer where that removes crossings.
fn transpose(network: &SimpleGraph, levels: &[usize], layer: &mut [usize], positions: &[usize]) {
    let places = |node: usize, other_level: Option<usize>| -> Vec<usize> {
        let mut places: Vec<usize> = network
            .neighbors(node)
            .iter()
            .filter(|neighbor| Some(levels[**neighbor]) == other_level)
            .map(|neighbor| positions[*neighbor])
            .collect();
        places.sort_unstable();
        places
    };
    for _ in 0..3 {
        let mut swapped = false;
        for place in 1..layer.len() {
            crate::fair_threads::yield_turn();
            let (left, right) = (layer[place - 1], layer[place]);
            let level = levels[left];
            let (mut now, mut then) = (0, 0);
            for other in [level.checked_sub(1), level.checked_add(1)] {
                let (one, two) = (places(left, other), places(right, other));
                now += inversions(&one, &two);
                then += inversions(&two, &one);
            }
            if then < now {
                layer.swap(place - 1, place);
                swapped = true;
            }
        }
        if !swapped {
            return;
        }
    }
}

/// Returns the number of inversions: pairs whose left element is greater than the right one. Both lists are sorted.
fn inversions(left: &[usize], right: &[usize]) -> usize {
    left.iter().map(|place| right.partition_point(|other| other < place)).sum()
}

/// Returns the number of crossings between all neighboring layers.
fn crossings(network: &SimpleGraph, levels: &[usize], layers: &[Vec<usize>], positions: &[usize]) -> usize {
    let mut total = 0;
    for (index, layer) in layers.iter().enumerate() {
        let width = layers.get(index + 1).map_or(0, Vec::len);
        // A Fenwick tree of the lower ends that are already known.
        let mut tree = vec![0; width + 1];
        let mut known = 0;
        for node in layer {
            let lower: Vec<usize> = network
                .neighbors(*node)
                .iter()
                .filter(|neighbor| levels[**neighbor] == index + 1)
                .map(|neighbor| positions[*neighbor])
                .collect();
            for place in &lower {
                let mut at = place + 1;
                let mut before = 0;
                while at > 0 {
                    before += tree[at];
                    at &= at - 1;
                }
                total += known - before;
            }
            for place in &lower {
                let mut at = place + 1;
                while at <= width {
                    tree[at] += 1;
                    at += at & at.wrapping_neg();
                }
                known += 1;
            }
        }
    }
    total
}
