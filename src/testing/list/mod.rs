mod filters;
mod matrix;
mod order;

use super::Case;

pub(super) const CASES: [&[Case]; 3] = [filters::CASES, order::CASES, matrix::CASES];
