mod conditions;
mod filters;
mod matrix;
mod order;

use super::Case;

pub(super) const CASES: [&[Case]; 4] = [filters::CASES, conditions::CASES, order::CASES, matrix::CASES];
