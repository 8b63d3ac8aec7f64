//! Reading directories and files.

pub(crate) mod boundary;
pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod path;
pub(crate) mod stamp;
