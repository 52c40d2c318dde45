mod guard;
mod network_guard;
mod precondition;
mod unique_key;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 5] =
    [write::CASES, precondition::CASES, unique_key::CASES, guard::CASES, network_guard::CASES];
