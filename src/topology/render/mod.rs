//! Pictures and files of a graph.

pub mod page;
