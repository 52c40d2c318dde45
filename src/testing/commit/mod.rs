mod guard;
mod network_guard;
mod unique_key;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 4] = [write::CASES, unique_key::CASES, guard::CASES, network_guard::CASES];
