//! The live value: what is in use now, and the thread behind it.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use arc_swap::{ArcSwap, Guard};

use crate::background::give_way;
use crate::eyes::Eyes;
use crate::load::{Load, Loaded, Version};
use crate::observer::{Observer, Outcome};
use crate::options::Options;
use crate::signal::Signal;
use crate::versions::{EndsWith, Notices, Versions};
use crate::worker::{self, Said, Worker};

/// A directory as a live value: what it was when it last could be loaded.
///
/// Dropping it stops the thread behind it and waits for that to end.
#[derive(Debug)]
pub struct Watched<T> {
    current: Arc<ArcSwap<Version<T>>>,
    signal: Arc<Signal>,
    notices: Arc<Notices>,
    thread: Option<JoinHandle<()>>,
}

/// Why watching does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError<E> {
    /// The directory cannot be used as it is.
    #[error("{0}")]
    Load(E),
    /// The loader says that nothing changed, or that the content is unfinished, since nothing was loaded.
    #[error("nothing was loaded")]
    Nothing,
    /// The system gives no thread, or no name of the current directory.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl<T: Send + Sync + 'static> Watched<T> {
    /// Loads a directory, here and now, and then again whenever it changes, on a thread of its own.
    ///
    /// # Errors
    /// Why the directory cannot be used as it is; later, such reasons are only told to logs and the observer.
    pub fn start<L, O>(
        directory: impl AsRef<Path>,
        options: Options,
        mut loader: L,
        observer: O,
    ) -> Result<Self, StartError<L::Error>>
    where
        L: Load<T> + 'static,
        O: Observer + 'static,
    {
        let directory = std::path::absolute(directory)?;
        let signal = Arc::new(Signal::default());
        let mut eyes = Eyes::new(Arc::clone(&signal));
        let mut said = Said::default();
        worker::watch(&mut eyes, &directory, false, (&options, &observer), &mut said);
        let began = Instant::now();
        let loaded = worker::load_steadily(&mut eyes, &directory, || loader.load(&directory, None));
        let first = first(loaded.unwrap_or_else(|loaded| loaded), &observer, began)?;
        let current = Arc::new(ArcSwap::from_pointee(first));
        worker::tell(
            &observer,
            began,
            Outcome::Loaded {
                hash: &current.load().hash,
            },
        );
        let notices = Arc::new(Notices::default());
        let ends = EndsWith(Arc::clone(&notices));
        let worker = Worker {
            directory,
            options,
            loader,
            observer,
            current: Arc::clone(&current),
            signal: Arc::clone(&signal),
            notices: Arc::clone(&notices),
            eyes,
            said,
        };
        let thread = thread::Builder::new()
            .name("pratique-watch".to_owned())
            .spawn(move || {
                let _ends = ends;
                give_way();
                worker.run();
            })?;
        Ok(Watched {
            current,
            signal,
            notices,
            thread: Some(thread),
        })
    }
}

impl<T> Watched<T> {
    /// The version in use, for a short while: taking it waits for nobody and counts nothing.
    pub fn current(&self) -> Current<T> {
        Current(self.current.load())
    }

    /// The version in use, to be kept as long as one likes.
    pub fn snapshot(&self) -> Arc<Version<T>> {
        self.current.load_full()
    }

    /// The versions that come after the one in use, to be waited for.
    pub fn versions(&self) -> Versions<T> {
        Versions::new(Arc::clone(&self.current), Arc::clone(&self.notices))
    }

    /// Has the directory looked at as if it had changed. Does not wait for that.
    pub fn reload(&self) {
        self.signal.ask();
    }

    /// Whether the directory is watched: false once the thread ended, by a panic of the observer or by [`stop`].
    ///
    /// [`stop`]: Self::stop
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops watching and waits for the thread to end, which is when what it does now is done. What is in use can
    /// still be had.
    pub fn stop(&mut self) {
        self.signal.stop();
        if let Some(thread) = self.thread.take() {
            // It ends by a panic only if the observer panics, and then it has nothing more to tell.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The version that was in use when this was taken.
#[derive(Debug)]
pub struct Current<T>(Guard<Arc<Version<T>>>);

impl<T> std::ops::Deref for Current<T> {
    type Target = Version<T>;

    fn deref(&self) -> &Version<T> {
        &self.0
    }
}

fn first<T, E: Display>(
    loaded: Result<Loaded<T>, E>,
    observer: &impl Observer,
    began: Instant,
) -> Result<Version<T>, StartError<E>> {
    match loaded {
        Ok(Loaded::New { value, hash }) => Ok(Version {
            value,
            hash,
            number: 0,
        }),
        Ok(Loaded::Unchanged | Loaded::Unsettled { .. }) => Err(StartError::Nothing),
        Err(error) => {
            let reason = error.to_string();
            worker::tell(observer, began, Outcome::Failed { reason: &reason });
            Err(StartError::Load(error))
        }
    }
}
