//! Agents by hand-made tables, over bad lines, against hostile octets and against lldpad's own frames.

mod bridges;
mod golden;
mod hostile;
mod kit;
mod line;
mod survive;
mod tables;
