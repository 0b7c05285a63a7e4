//! Tailback: engine.
