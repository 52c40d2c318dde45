//! What a view shows: nodes, edges and containers.

mod shape;

pub use self::shape::{Bounds, Edge, EdgeKind, Graph, Hidden, Node, NodeKind, Warning};
