mod chunks;
mod contents;
mod facets;
mod isolation;

use super::Case;

pub(super) const CASES: [&[Case]; 4] = [contents::CASES, facets::CASES, isolation::CASES, chunks::CASES];
