//! Tailback: theory.
