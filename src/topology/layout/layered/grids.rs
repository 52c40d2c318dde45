//! The order of the parts below nodes side by side, with the grids of leaves among them.

use super::blocks::LowerPart;

/// Maximum number of pairs of a grid and a part that are compared. With more, all grids are at the sides.
const MAX_COMPARED: usize = 1_000_000;

/// Orders parts, so that the lines to grids of leaves cross few of the others. Parts have their order already.
///
/// `tops` is the number of nodes above. The line to a grid runs aside right below its node, so that it crosses the lines of this node to
/// parts on both sides, and none of those to parts on one side.
pub(super) fn order(hanging: &mut Vec<LowerPart>, tops: usize) {
    let have_shared = hanging.iter().any(|part| part.above.len() > 1);
    let grids = hanging.iter().filter(|part| part.part.is_grid).count();
    if have_shared && grids * (hanging.len() - grids) <= MAX_COMPARED {
        return among_shared(hanging, tops);
    }
    hanging.sort_by_key(|part| {
        let side = match part.part.is_grid {
            true if is_left(part, tops) => 0,
            true => 2,
            false => 1,
        };
        (if have_shared { 0 } else { first_top(part) }, side)
    });
}

fn first_top(part: &LowerPart) -> usize {
    part.above.first().copied().unwrap_or(0)
}

/// Returns whether the first node above is one of the left half.
fn is_left(part: &LowerPart, tops: usize) -> bool {
    first_top(part) * 2 < tops
}

/// Puts each grid between those other parts where its lines cross the fewest of the others.
fn among_shared(hanging: &mut Vec<LowerPart>, tops: usize) {
    let (grids, parts): (Vec<LowerPart>, Vec<LowerPart>) =
        std::mem::take(hanging).into_iter().partition(|part| part.part.is_grid);
    let grids = grids.into_iter().map(|grid| ((2 * gap(&grid, &parts, tops), first_top(&grid)), grid));
    let mut placed: Vec<((usize, usize), LowerPart)> = grids.collect();
    placed.extend(parts.into_iter().enumerate().map(|(place, part)| ((2 * place + 1, 0), part)));
    placed.sort_by_key(|(place, _)| *place);
    hanging.extend(placed.into_iter().map(|(_, part)| part));
}

/// Returns the number of parts that should be left of a grid. Of several equally good places, the outermost on its side counts.
fn gap(grid: &LowerPart, parts: &[LowerPart], tops: usize) -> usize {
    crate::fair_threads::yield_turn();
    let is_own = |part: &LowerPart| part.above.iter().any(|top| grid.above.contains(top));
    let lines = |part: &LowerPart, is_other: fn(&usize, &usize) -> bool| -> usize {
        grid.above.iter().map(|own| part.above.iter().filter(|top| is_other(top, own)).count()).sum()
    };
    // The lines that are crossed in the leftmost place, and those of own nodes on either side.
    let mut crossed: usize = parts.iter().map(|part| lines(part, |top, own| top < own)).sum();
    let (mut own_left, mut own_right) = (0, parts.iter().filter(|part| is_own(part)).count());
    let (mut best, mut least) = (0, crossed);
    for (place, part) in parts.iter().enumerate() {
        crossed = crossed + lines(part, |top, own| top > own) - lines(part, |top, own| top < own);
        if is_own(part) {
            own_left += 1;
            own_right -= 1;
        }
        let cost = crossed + usize::min(own_left, own_right);
        if cost < least || (cost == least && !is_left(grid, tops)) {
            (best, least) = (place + 1, cost);
        }
    }
    best
}
