//! Threads that poll futures which compute for long.
//!
//! There is a thread for each core, from when it is needed. Where nothing that is ready is begun because all of them compute,
//! more are added, so that the system shares the cores between long computations and short ones; they end when they have
//! had nothing to do for a while. A future that waits holds no thread.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::throttle::Throttle;

/// How long what is ready waits, while all threads compute, before there is another one.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long an added thread stays without anything to do.
const IDLE: Duration = Duration::from_secs(2);
/// How many threads compute what is heavy, for each core: with more, those that serve would wait for a core among them.
const HEAVY_PER_CORE: usize = 4;
/// For what nests as deeply as it may.
const STACK: usize = 16 << 20;

pub(crate) type Computation = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The threads. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    ready: Condvar,
    cores: usize,
    most: usize,
    kind: Kind,
    /// Serves what futures wait for.
    io: Handle,
}

/// What threads are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For what is soon done.
    Quick,
    /// For what may take long, and much memory. Each thread ends after what it did, so that what the allocator keeps of it
    /// is there for others. They have no lower priority: they share locks with threads that serve.
    Heavy,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    threads: usize,
    idle: usize,
    /// How many tasks were taken from the queue so far.
    taken: u64,
    /// Of threads that the system does not give.
    log: Throttle,
    /// Whether something looks after those that wait.
    relieved: bool,
    ended: bool,
}

/// A future, between its polls.
pub(crate) struct Task {
    pool: Weak<Shared>,
    stage: Mutex<Stage>,
    cancelled: AtomicBool,
    /// Locked by who polls it alone.
    future: Mutex<Option<Computation>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Queued,
    Running,
    /// It was woken while it ran.
    Woken,
    Done,
}

impl Pool {
    /// Up to so many threads. `io` serves what they wait for.
    pub(crate) fn new(most: usize, kind: Kind, io: Handle) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Pool(Arc::new(Shared {
            state: Mutex::default(),
            ready: Condvar::new(),
            cores,
            most: match kind {
                Kind::Quick => most.max(cores),
                Kind::Heavy => (HEAVY_PER_CORE * cores).min(most).max(cores),
            },
            kind,
            io,
        }))
    }

    /// Begins to poll a future. A panic ends in it.
    pub(crate) fn spawn(&self, future: Computation) -> Arc<Task> {
        let task = Arc::new(Task {
            pool: Arc::downgrade(&self.0),
            stage: Mutex::new(Stage::Queued),
            cancelled: AtomicBool::new(false),
            future: Mutex::new(Some(future)),
        });
        self.0.push(task.clone());
        task
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.0.ready.notify_all();
        drop(queue);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(self: &Arc<Self>, task: Arc<Task>) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        state.queue.push_back(task);
        if state.queue.len() <= state.idle {
            return self.ready.notify_one();
        }
        let is_added = state.threads < self.cores;
        state.threads += usize::from(is_added);
        let is_first = !state.relieved && state.queue.len() > state.idle;
        state.relieved |= is_first;
        drop(state);
        if is_added {
            self.start_thread();
        }
        if is_first {
            self.io.spawn(relieve(self.clone()));
        }
    }

    /// Starts a thread, which is counted already. The system may take its time, so that nothing is locked meanwhile. Where it
    /// gives none, those that there are do the work, and it is tried again.
    fn start_thread(self: &Arc<Self>) {
        let shared = self.clone();
        let thread = thread::Builder::new().name("evaluate".to_owned());
        let Err(error) = thread.stack_size(STACK).spawn(move || shared.run()) else {
            return;
        };
        let mut state = self.lock();
        state.threads -= 1;
        let log = state.log.permits();
        drop(state);
        if let Some(left_out) = log {
            tracing::warn!(err = %error, left_out, "Cannot start a thread");
        }
    }

    /// What a thread does.
    fn run(self: &Arc<Self>) {
        while let Some(task) = self.next() {
            let is_done = task.poll(&self.io);
            if is_done && self.kind == Kind::Heavy {
                let mut state = self.lock();
                let has_next = !state.queue.is_empty();
                state.threads -= usize::from(!has_next);
                drop(state);
                // One takes the place of the other.
                if has_next {
                    self.start_thread();
                }
                return;
            }
        }
    }

    /// Waits for the next task; `None` when the thread is to end.
    fn next(&self) -> Option<Arc<Task>> {
        let mut state = self.lock();
        let idle_since = Instant::now();
        loop {
            if let Some(task) = state.queue.pop_front() {
                state.taken += 1;
                return Some(task);
            }
            let is_surplus = state.threads > self.cores || self.kind == Kind::Heavy;
            if state.ended || (is_surplus && idle_since.elapsed() >= IDLE) {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            let waited = self.ready.wait_timeout(state, IDLE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
        }
    }
}

/// Adds a thread whenever none of those that there are takes anything for a while, until nothing waits.
async fn relieve(shared: Arc<Shared>) {
    let mut taken = None;
    loop {
        tokio::time::sleep(PATIENCE).await;
        let mut state = shared.lock();
        if state.queue.is_empty() || state.ended {
            state.relieved = false;
            return;
        }
        let is_added = taken == Some(state.taken) && state.threads < shared.most;
        state.threads += usize::from(is_added);
        taken = Some(state.taken);
        drop(state);
        if is_added {
            shared.start_thread();
        }
    }
}

impl Task {
    /// Drops the future once it is not polled, on a thread for that: what it holds may take long to drop.
    pub(crate) fn cancel(self: &Arc<Self>) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake_by_ref();
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls it. Tells whether that was its end.
    fn poll(self: Arc<Self>, io: &Handle) -> bool {
        *self.stage() = Stage::Running;
        let mut future = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = self.is_cancelled()
            || future
                .as_mut()
                .is_none_or(|own| self.is_ended_by_polling(own, io));
        let mut stage = self.stage();
        if ended || self.is_cancelled() {
            *stage = Stage::Done;
            drop(stage);
            // A panic while dropping ends there, too.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future.take())));
            return true;
        }
        if *stage == Stage::Woken {
            *stage = Stage::Queued;
            drop((stage, future));
            self.push();
        } else {
            *stage = Stage::Waiting;
        }
        false
    }

    fn is_ended_by_polling(self: &Arc<Self>, future: &mut Computation, io: &Handle) -> bool {
        // Connections, timers and tasks that it begins are those of other threads.
        let _entered = io.enter();
        let waker = Waker::from(self.clone());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            future.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        !matches!(polled, Ok(Poll::Pending))
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn push(self: Arc<Self>) {
        if let Some(pool) = self.pool.upgrade() {
            pool.push(self);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let mut stage = self.stage();
        match *stage {
            Stage::Waiting => {
                *stage = Stage::Queued;
                drop(stage);
                self.push();
            }
            Stage::Running => *stage = Stage::Woken,
            Stage::Queued | Stage::Woken | Stage::Done => {}
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.clone().wake();
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Task")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    /// A pool whose threads all compute until the sender is dropped.
    fn busy_pool() -> (Pool, std::sync::mpsc::Sender<()>) {
        let pool = Pool::new(64, Kind::Quick, Handle::current());
        let (sender, receiver) = channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..pool.0.cores {
            let receiver = receiver.clone();
            pool.spawn(Box::pin(async move {
                let _ = receiver.lock().unwrap().recv();
            }));
        }
        (pool, sender)
    }

    fn told(pool: &Pool) -> Receiver<()> {
        let (sender, receiver) = channel();
        pool.spawn(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            sender.send(()).unwrap();
        }));
        receiver
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn others_go_on_while_all_threads_compute() {
        let (pool, busy) = busy_pool();
        let all: Vec<_> = (0..20).map(|_| told(&pool)).collect();
        all.iter().for_each(|one| one.recv_timeout(SOON).unwrap());
        let threads = pool.0.lock().threads;
        assert!(threads > pool.0.cores && threads < pool.0.cores + 20, "{threads}");
        drop(busy);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_ends_with_its_future() {
        let pool = Pool::new(1, Kind::Quick, Handle::current());
        for _ in 0..2 * pool.0.cores {
            pool.spawn(Box::pin(async { panic!("told to") }));
        }
        told(&pool).recv_timeout(SOON).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_cancelled_is_dropped() {
        let pool = Pool::new(1, Kind::Quick, Handle::current());
        let (sender, receiver) = channel::<()>();
        let task = pool.spawn(Box::pin(async move {
            std::future::pending::<()>().await;
            drop(sender);
        }));
        assert!(receiver.recv_timeout(Duration::from_millis(100)).is_err());
        task.cancel();
        let ended = receiver.recv_timeout(SOON);
        assert_eq!(ended, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn threads_of_what_is_heavy_end_with_it() {
        let pool = Pool::new(1, Kind::Heavy, Handle::current());
        for _ in 0..3 * pool.0.cores {
            let (sender, receiver) = channel();
            pool.spawn(Box::pin(async move { sender.send(()).unwrap() }));
            receiver.recv_timeout(SOON).unwrap();
        }
        wait_for_the_end_of(&pool.0).await;
    }

    async fn wait_for_the_end_of(shared: &Shared) {
        let start = Instant::now();
        while shared.lock().threads > 0 {
            assert!(start.elapsed() < SOON);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn threads_end_with_the_pool() {
        let pool = Pool::new(1, Kind::Quick, Handle::current());
        told(&pool).recv_timeout(SOON).unwrap();
        let shared = pool.0.clone();
        drop(pool);
        wait_for_the_end_of(&shared).await;
    }
}
