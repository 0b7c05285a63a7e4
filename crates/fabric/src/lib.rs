//! Fabric.
pub mod graph;
