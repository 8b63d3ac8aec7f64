//! A thread pool for futures with long computations.
//!
//! There is one thread per core, started on demand. If tasks wait because all threads compute, threads are added, so that
//! the system shares the cores between long and short computations; added threads end when they are idle. A pending
//! future occupies no thread.

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

use crate::throttle::LogThrottle;

/// How long tasks wait while all threads compute, before a thread is added.
const ADD_THREAD_AFTER: Duration = Duration::from_millis(5);
/// How long an added thread stays idle before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of threads per core for heavy tasks: more would delay the threads that serve connections.
const HEAVY_PER_CORE: usize = 4;
/// The stack size, for the maximum nesting depth.
const STACK: usize = 16 << 20;

pub(crate) type PoolComputation = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A pool, whose threads end when it is dropped.
#[derive(Debug)]
pub(crate) struct TaskPool(Arc<SharedPool>);

#[derive(Debug)]
struct SharedPool {
    state: Mutex<PoolState>,
    ready: Condvar,
    cores: usize,
    most: usize,
    kind: TaskKind,
    /// The runtime for I/O and timers of tasks.
    io: Handle,
}

/// The kind of tasks of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskKind {
    /// Short tasks.
    Quick,
    /// Tasks that may take long and use much memory. Each thread ends after its task, so that the allocator returns its
    /// memory. The threads do not have a lower priority, as they share locks with the threads that serve connections.
    Heavy,
}

#[derive(Debug, Default)]
struct PoolState {
    queue: VecDeque<Arc<PoolTask>>,
    threads: usize,
    idle: usize,
    /// The number of tasks that were taken from the queue so far.
    taken: u64,
    /// Limits log lines about threads that cannot be started.
    log: LogThrottle,
    /// Whether [`add_threads`] runs.
    adding: bool,
    ended: bool,
}

/// A future and its state.
pub(crate) struct PoolTask {
    pool: Weak<SharedPool>,
    stage: Mutex<TaskStage>,
    cancelled: AtomicBool,
    /// Locked only by the thread that polls it.
    future: Mutex<Option<PoolComputation>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskStage {
    Waiting,
    Queued,
    Running,
    /// Running, and woken meanwhile.
    Woken,
    Done,
}

impl TaskPool {
    /// A pool with at most `most` threads. `io` is the runtime for I/O and timers of tasks.
    pub(crate) fn new(most: usize, kind: TaskKind, io: Handle) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        TaskPool(Arc::new(SharedPool {
            state: Mutex::default(),
            ready: Condvar::new(),
            cores,
            most: match kind {
                TaskKind::Quick => most.max(cores),
                TaskKind::Heavy => (HEAVY_PER_CORE * cores).min(most).max(cores),
            },
            kind,
            io,
        }))
    }

    /// Runs a future. A panic ends only its task.
    pub(crate) fn spawn(&self, future: PoolComputation) -> Arc<PoolTask> {
        let task = Arc::new(PoolTask {
            pool: Arc::downgrade(&self.0),
            stage: Mutex::new(TaskStage::Queued),
            cancelled: AtomicBool::new(false),
            future: Mutex::new(Some(future)),
        });
        self.0.push(task.clone());
        task
    }
}

impl Drop for TaskPool {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.0.ready.notify_all();
        drop(queue);
    }
}

impl SharedPool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(self: &Arc<Self>, task: Arc<PoolTask>) {
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
        let is_first = !state.adding && state.queue.len() > state.idle;
        state.adding |= is_first;
        drop(state);
        if is_added {
            self.start_thread();
        }
        if is_first {
            self.io.spawn(add_threads(self.clone()));
        }
    }

    /// Starts a thread, which is already counted. No lock is held, as this may take long. If the system refuses, existing
    /// threads do the work, and starting is retried later.
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

    /// Runs tasks on a thread of the pool.
    fn run(self: &Arc<Self>) {
        while let Some(task) = self.next() {
            let is_done = task.poll(&self.io);
            if is_done && self.kind == TaskKind::Heavy {
                let mut state = self.lock();
                let has_next = !state.queue.is_empty();
                state.threads -= usize::from(!has_next);
                drop(state);
                // A new thread replaces this one.
                if has_next {
                    self.start_thread();
                }
                return;
            }
        }
    }

    /// Waits for the next task; `None` if the thread has to end.
    fn next(&self) -> Option<Arc<PoolTask>> {
        let mut state = self.lock();
        let idle_since = Instant::now();
        loop {
            if let Some(task) = state.queue.pop_front() {
                state.taken += 1;
                return Some(task);
            }
            let is_surplus = state.threads > self.cores || self.kind == TaskKind::Heavy;
            if state.ended || (is_surplus && idle_since.elapsed() >= IDLE_TIMEOUT) {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            let waited = self.ready.wait_timeout(state, IDLE_TIMEOUT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
        }
    }
}

/// Adds threads while tasks wait and no thread takes one, until the queue is empty.
async fn add_threads(shared: Arc<SharedPool>) {
    let mut last_taken = None;
    loop {
        tokio::time::sleep(ADD_THREAD_AFTER).await;
        let mut state = shared.lock();
        if state.queue.is_empty() || state.ended {
            state.adding = false;
            return;
        }
        let is_added = last_taken == Some(state.taken) && state.threads < shared.most;
        state.threads += usize::from(is_added);
        last_taken = Some(state.taken);
        drop(state);
        if is_added {
            shared.start_thread();
        }
    }
}

impl PoolTask {
    /// Drops the future on a thread of the pool once it is not being polled, as dropping may take long.
    pub(crate) fn cancel(self: &Arc<Self>) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake_by_ref();
    }

    fn stage(&self) -> MutexGuard<'_, TaskStage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the future. Returns whether the task is done.
    fn poll(self: Arc<Self>, io: &Handle) -> bool {
        *self.stage() = TaskStage::Running;
        let mut future = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = self.is_cancelled()
            || future
                .as_mut()
                .is_none_or(|future| self.is_ended_by_polling(future, io));
        let mut stage = self.stage();
        if ended || self.is_cancelled() {
            *stage = TaskStage::Done;
            drop(stage);
            // A panic while dropping is caught as well.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future.take())));
            return true;
        }
        if *stage == TaskStage::Woken {
            *stage = TaskStage::Queued;
            drop((stage, future));
            self.push();
        } else {
            *stage = TaskStage::Waiting;
        }
        false
    }

    fn is_ended_by_polling(self: &Arc<Self>, future: &mut PoolComputation, io: &Handle) -> bool {
        // I/O, timers and spawned tasks of the future belong to the runtime.
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

impl Wake for PoolTask {
    fn wake(self: Arc<Self>) {
        let mut stage = self.stage();
        match *stage {
            TaskStage::Waiting => {
                *stage = TaskStage::Queued;
                drop(stage);
                self.push();
            }
            TaskStage::Running => *stage = TaskStage::Woken,
            TaskStage::Queued | TaskStage::Woken | TaskStage::Done => {}
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.clone().wake();
    }
}

impl fmt::Debug for PoolTask {
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

    const SOON: Duration = Duration::from_secs(60);

    /// A pool whose threads are all busy until the sender is dropped.
    fn busy_pool() -> (TaskPool, std::sync::mpsc::Sender<()>) {
        let pool = TaskPool::new(64, TaskKind::Quick, Handle::current());
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

    fn notified(pool: &TaskPool) -> Receiver<()> {
        let (sender, receiver) = channel();
        pool.spawn(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            sender.send(()).unwrap();
        }));
        receiver
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn threads_are_added_while_all_compute() {
        let (pool, busy) = busy_pool();
        let all: Vec<_> = (0..20).map(|_| notified(&pool)).collect();
        all.iter().for_each(|one| one.recv_timeout(SOON).unwrap());
        let threads = pool.0.lock().threads;
        assert!(threads > pool.0.cores && threads < pool.0.cores + 20, "{threads}");
        drop(busy);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_ends_with_its_future() {
        let pool = TaskPool::new(1, TaskKind::Quick, Handle::current());
        for _ in 0..2 * pool.0.cores {
            pool.spawn(Box::pin(async { panic!("notified to") }));
        }
        notified(&pool).recv_timeout(SOON).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn cancelled_futures_are_dropped() {
        let pool = TaskPool::new(1, TaskKind::Quick, Handle::current());
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
    async fn heavy_threads_end_with_their_task() {
        let pool = TaskPool::new(1, TaskKind::Heavy, Handle::current());
        for _ in 0..3 * pool.0.cores {
            let (sender, receiver) = channel();
            pool.spawn(Box::pin(async move { sender.send(()).unwrap() }));
            receiver.recv_timeout(SOON).unwrap();
        }
        wait_for_the_end_of(&pool.0).await;
    }

    async fn wait_for_the_end_of(shared: &SharedPool) {
        let start = Instant::now();
        while shared.lock().threads > 0 {
            assert!(start.elapsed() < SOON);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn threads_end_with_the_pool() {
        let pool = TaskPool::new(1, TaskKind::Quick, Handle::current());
        notified(&pool).recv_timeout(SOON).unwrap();
        let shared = pool.0.clone();
        drop(pool);
        wait_for_the_end_of(&shared).await;
    }
}
