//! Tailback: congestion.
