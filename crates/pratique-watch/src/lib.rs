//! A directory as a live value: watched and polled, loaded aside, swapped whole.
//!
//! A program whose configuration is a directory of files wants the files' newest content, as soon as it is there and as
//! long as it is good. [`Watched`] loads the directory when it starts, which fails if the directory cannot be used, and
//! again at each change, on a thread of its own. Whoever reads gets what was loaded last, whole, without waiting for
//! anybody; what cannot be used changes nothing but a line in the log and what the [`Observer`] hears. What is loaded, and
//! how, is the business of a [`Load`].
//!
//! ```
//! use std::{fs, io, path::Path};
//!
//! use pratique_watch::{Loaded, Options, Version, Watched};
//!
//! fn read(directory: &Path, current: Option<&Version<u32>>) -> io::Result<Loaded<u32>> {
//!     let text = fs::read_to_string(directory.join("limit"))?;
//!     if current.is_some_and(|current| current.hash == text) {
//!         return Ok(Loaded::Unchanged);
//!     }
//!     let value = text.trim().parse().map_err(io::Error::other)?;
//!     Ok(Loaded::New { value, hash: text })
//! }
//!
//! let directory = tempfile::tempdir()?;
//! fs::write(directory.path().join("limit"), "100\n")?;
//! let limit = Watched::start(directory.path(), Options::default(), read, ())?;
//! assert_eq!(limit.current().value, 100);
//! let mut versions = limit.versions();
//!
//! fs::write(directory.path().join("next"), "200\n")?;
//! fs::rename(directory.path().join("next"), directory.path().join("limit"))?;
//! // A millisecond or two. In a task: `versions.next().await`.
//! while versions.wait(std::time::Duration::from_secs(10)).ok_or("not seen")?.value != 200 {}
//! assert_eq!(limit.current().value, 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What counts as a change
//!
//! Every entry that the system looks up on its way to the directory's content is watched: the directory and what is in
//! it, the directories above, and, where any of them is a symbolic link, the link and all that it leads through. So a
//! file written in place, one renamed over another, the swap of `..data` in a mounted ConfigMap, a change behind a
//! link, and a directory that is removed and made again are all seen at once. File systems that tell of nothing are
//! looked at once a minute ([`Options::poll`]), and so is everything where the system has no more watches to give.
//!
//! Changes are let come to rest before they are looked at: for a millisecond, while a file is being written for longer,
//! but never for more than [`Options::patience`]; files that are only being written, up to
//! [`Options::writing_patience`]. Many changes are one load, and take no memory. A load of the same content, by its hash,
//! is no change. A file that is rewritten in place can be read before it is whole: a [`Load`] that sees that says
//! [`Loaded::Unsettled`], and is asked again.

mod background;
mod eyes;
mod load;
mod observer;
mod options;
mod route;
mod signal;
mod versions;
mod watched;
mod worker;

pub use background::give_way;
pub use load::{Load, Loaded, Version};
pub use observer::{Attempt, Observer, Outcome};
pub use options::{Options, Wording};
pub use versions::Versions;
pub use watched::{Current, StartError, Watched};
