//! The command as it is run: files in, exit code and output out.

mod check;
mod hostile;
mod review;
mod story;
mod support;
