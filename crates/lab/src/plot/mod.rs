//! Pictures of results.
