mod filters;
mod matrix;
mod order;
mod pages;

use super::Case;

pub(super) const CASES: [&[Case]; 4] = [filters::CASES, order::CASES, pages::CASES, matrix::CASES];
