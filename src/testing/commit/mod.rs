mod check;
mod linked;
mod network;
mod precondition;
mod unique_key;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 6] =
    [precondition::CASES, write::CASES, unique_key::CASES, check::CASES, linked::CASES, network::CASES];
