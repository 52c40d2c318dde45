//! Pictures and files of a graph.
