//! Records for a reader that nobody waits for.
//!
//! A thread writes them, one at a time. While the reader has not taken the last one, or had less than a second for every
//! [`PER_SECOND`] octets of it, there is no next one: a caller shows what has changed by then. So a protocol goes on whether
//! or not anybody reads, and however often its state changes, what is written is at most [`PER_SECOND`] octets a second and
//! one record more.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// Octets a second that are written over time.
pub const PER_SECOND: usize = 64 << 10;
/// The shortest time between two records.
const APART: Duration = Duration::from_millis(100);
/// How long the last records may take once all is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where records go.
pub struct Outlet {
    records: SyncSender<String>,
    written: Receiver<io::Result<()>>,
    /// One is being written.
    under_way: bool,
    /// Nobody reads any more.
    unread: bool,
    problem: Option<io::Error>,
    next: Instant,
}

impl Outlet {
    /// One that writes there.
    pub fn new(mut to: impl Write + Send + 'static) -> Outlet {
        let (records, received) = sync_channel::<String>(1);
        let (done, written) = sync_channel(1);
        std::thread::spawn(move || {
            for record in received {
                let result = to.write_all(record.as_bytes()).and_then(|()| to.flush());
                if done.send(result).is_err() {
                    break;
                }
            }
        });
        Outlet { records, written, under_way: false, unread: false, problem: None, next: Instant::now() }
    }

    /// Whether a record may be put now.
    pub fn is_ready(&mut self, now: Instant) -> bool {
        match self.written.try_recv() {
            Ok(result) => self.on_written(result),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        !self.under_way && !self.unread && self.problem.is_none() && now >= self.next
    }

    /// Takes a record; to be called when it [is ready](Outlet::is_ready).
    pub fn put(&mut self, now: Instant, record: String) {
        let takes = Duration::from_secs(1).mul_f64(record.len() as f64 / PER_SECOND as f64);
        self.next = now + takes.max(APART);
        self.under_way = self.records.try_send(record).is_ok();
    }

    /// Why nothing more can be written, a reader that went away excepted.
    pub fn problem(&mut self) -> Option<io::Error> {
        self.problem.take()
    }

    /// Writes a last record and waits for the reader, but not for ever.
    pub fn close(mut self, record: String) -> io::Result<()> {
        self.finish();
        if !self.under_way && !self.unread && self.problem.is_none() {
            self.put(Instant::now(), record);
            self.finish();
        }
        self.problem.map_or(Ok(()), Err)
    }

    fn finish(&mut self) {
        if self.under_way
            && let Ok(result) = self.written.recv_timeout(PATIENCE)
        {
            self.on_written(result);
        }
    }

    fn on_written(&mut self, result: io::Result<()>) {
        self.under_way = false;
        match result {
            Ok(()) => {}
            Err(problem) if problem.kind() == ErrorKind::BrokenPipe => self.unread = true,
            Err(problem) => {
                let text = format!("cannot write to standard output: {problem}");
                self.problem = Some(io::Error::new(problem.kind(), text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Keeps what is written, after somebody allowed it.
    struct Slow(Arc<Mutex<Vec<u8>>>, Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            let _ = self.1.recv();
            self.0.lock().expect("nobody panicked").extend(octets);
            Ok(octets.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_record_waits_for_the_last_one_and_for_its_time_and_nobody_waits_for_it() {
        let (allow, allowed) = sync_channel(9);
        let text = Arc::new(Mutex::new(Vec::new()));
        let mut outlet = Outlet::new(Slow(text.clone(), allowed));
        let start = Instant::now();
        let later = |millis| start + Duration::from_millis(millis);
        assert!(outlet.is_ready(start));
        outlet.put(start, "x".repeat(PER_SECOND));
        assert!(!outlet.is_ready(later(60_000)), "it is not written yet");
        allow.send(()).expect("it is there");
        while outlet.under_way && start.elapsed() < Duration::from_secs(20) {
            std::thread::yield_now();
            assert!(!outlet.is_ready(later(999)), "that much takes a second");
        }
        assert!(outlet.is_ready(later(1000)));
        outlet.put(later(1000), "a\n".to_owned());
        allow.send(()).expect("it is there");
        allow.send(()).expect("it is there");
        outlet.close("b\n".to_owned()).expect("all is written");
        assert!(text.lock().expect("nobody panicked").ends_with(b"xa\nb\n"));
    }

    #[test]
    fn a_reader_that_went_away_is_no_problem_and_a_full_disk_is() {
        struct Fails(ErrorKind);
        impl Write for Fails {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let ends = |kind| Outlet::new(Fails(kind)).close("a\n".to_owned()).map_err(|problem| problem.kind());
        assert_eq!(ends(ErrorKind::BrokenPipe), Ok(()));
        assert_eq!(ends(ErrorKind::StorageFull), Err(ErrorKind::StorageFull));
    }
}
