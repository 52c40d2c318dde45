mod alias;
mod check;
mod expect;
mod linked;
mod write;

use super::Case;

pub(super) const CASES: [&[Case]; 5] =
    [expect::CASES, write::CASES, alias::CASES, check::CASES, linked::CASES];
