//! Positions of nodes and routes of edges.
