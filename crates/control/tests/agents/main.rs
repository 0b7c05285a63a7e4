//! Agents by hand-made tables, over bad lines, against hostile octets and against lldpad's own frames; bridges that find each
//! other by IS-IS.

// The short name, as in the rest of the workspace.
extern crate tailback_control as control;

mod bridges;
mod cee;
mod fabric;
mod golden;
mod hostile;
mod isis;
mod kit;
mod line;
mod oracle;
mod routers;
mod survive;
mod survive_isis;
mod tables;
