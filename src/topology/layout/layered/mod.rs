//! Hierarchies. The top of the network is above everything that depends on it.

mod blocks;
mod coordinates;
mod leaves;
mod levels;
mod ordering;
mod rows;

pub(super) use self::blocks::MOST_SHARING;
pub(super) use self::leaves::{MOST_IN_A_ROW, trunk_gap};

use super::geometry::Point;
use super::level::Level;

/// Places the shapes of a connected level in layers; `None` if it is not a hierarchy.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    let levels = levels::find(level)?;
    let keys = ordering::order(&level.network, &levels);
    blocks::arrange(level, &levels, &keys)
}
