mod contents;
mod facets;
mod moment;
mod pieces;

use super::Case;

pub(super) const CASES: [&[Case]; 4] = [contents::CASES, facets::CASES, moment::CASES, pieces::CASES];
