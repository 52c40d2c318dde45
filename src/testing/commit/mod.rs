mod alias;
mod check;
mod expect;
mod linked;
mod network;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 6] =
    [expect::CASES, write::CASES, alias::CASES, check::CASES, linked::CASES, network::CASES];
