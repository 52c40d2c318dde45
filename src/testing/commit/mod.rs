mod guard;
mod link_guard;
mod network_guard;
mod precondition;
mod unique_key;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 6] = [
    precondition::CASES,
    write::CASES,
    unique_key::CASES,
    guard::CASES,
    link_guard::CASES,
    network_guard::CASES,
];
