//! Begins here.
