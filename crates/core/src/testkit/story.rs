//! Stories: a few lines in, what happened out.
