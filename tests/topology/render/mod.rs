//! Files of graphs: valid for any name, and the same bytes every time.

mod arranged;
mod check;
mod drawio;
mod hostile;
mod labels;
mod mutations;
mod pictures;
mod theme;
