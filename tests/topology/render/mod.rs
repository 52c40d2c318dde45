//! Files of graphs: valid for any name, and the same bytes every time.

mod check;
mod hostile;
mod mutations;
mod pictures;
