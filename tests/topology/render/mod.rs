//! Files of graphs: valid for any name, and the same bytes every time.

mod check;
mod hostile;
mod labels;
mod mutations;
mod pictures;
