//! Words, tables and progress on a terminal, or on something that is not one.

use super::exit::Exit;
use fabric::Progress;
use files::text::for_terminal;
pub use files::text::table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scenario::Errors;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use study::Summary;
pub use units::text::{rate, scaled, seconds};
use units::{Span, Time};

/// Set when nobody reads standard output any more.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Set in a process that leaves it to another to speak.
static SILENT: AtomicBool = AtomicBool::new(false);

/// This process is one of several of a run, and the first one speaks for all.
pub fn be_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Prints to standard output. A reader that went away is not an error, `head` does that: the rest is not printed, and
/// the work goes on. Anything else that keeps the data from its reader ends the program.
pub fn print(text: &str) {
    if UNREAD.load(Ordering::Relaxed) || is_silent() {
        return;
    }
    let text = safe(text, plain_output());
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(problem) if problem.kind() == ErrorKind::BrokenPipe => UNREAD.store(true, Ordering::Relaxed),
        Err(problem) => {
            error(&format!("cannot write to standard output: {problem}"));
            std::process::exit(i32::from(Exit::Failure.code()));
        }
    }
}

/// Whether standard output is without colours.
fn plain_output() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || !std::io::stdout().is_terminal()
}

/// A text in which nothing speaks to the terminal but colours, and those only if it is not plain.
fn safe(text: &str, plain: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[").filter(|_| !plain) {
        let colour = rest[at + 2..].find(|letter: char| !letter.is_ascii_digit() && letter != ';');
        let end = colour.filter(|&end| rest[at + 2 + end..].starts_with('m')).map_or(at, |end| at + 2 + end + 1);
        safe.push_str(&for_terminal(&rest[..at]));
        safe.push_str(&rest[at..end]);
        if end == at {
            safe.push_str(&for_terminal(&rest[at..=at]));
        }
        rest = &rest[end.max(at + 1)..];
    }
    safe.push_str(&for_terminal(rest));
    safe
}

/// Whether standard error may be coloured.
pub fn colored() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stderr().is_terminal()
}

/// Something doubtful on standard output, in the colour of a warning if that may be coloured.
pub fn doubtful(text: &str) -> String {
    if plain_output() { text.to_owned() } else { format!("\u{1b}[1;33m{text}\u{1b}[0m") }
}

/// Says what is wrong.
pub fn error(text: &str) {
    if is_silent() {
        return;
    }
    let mark = if colored() { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
    let _ = writeln!(std::io::stderr(), "{mark}: {}", for_terminal(text));
}

/// Says everything that is wrong with a scenario.
pub fn problems(errors: &Errors) -> Exit {
    if is_silent() {
        return Exit::BadInput;
    }
    let _ = writeln!(std::io::stderr(), "{}", safe(&errors.render(colored()), !colored()));
    Exit::BadInput
}

/// Says something on standard error.
pub fn note(text: &str) {
    if is_silent() {
        return;
    }
    let _ = writeln!(std::io::stderr(), "{}", for_terminal(text));
}

/// Says that files cannot be compared with hashes, since there are none.
pub fn unverified(what: &str) {
    note(&format!("{what}: written by an earlier version without hashes; changes to its files cannot be detected"));
}

/// A number and the confidence interval around it: its half width, or its ends where a bound of the quantity cuts it.
pub fn with_interval(value: f64, summary: &Summary, shown: impl Fn(f64) -> String) -> String {
    match summary.interval {
        None => shown(value),
        Some(interval) if interval.cut => {
            format!("{} [{}, {}]", shown(value), shown(interval.low), shown(interval.high))
        }
        Some(_) => format!("{} ± {}", shown(value), shown(summary.half_width)),
    }
}

/// What the signs of [`with_interval`] mean, as far as a table of these numbers has them: one seed has no interval.
pub fn interval_note<'a>(half: &str, of: &str, summaries: impl Iterator<Item = &'a Summary>) -> String {
    let intervals: Vec<_> = summaries.filter_map(|summary| summary.interval).collect();
    let cut = match intervals.iter().any(|interval| interval.cut) {
        true => "; [low, high] is an interval that was cut at a bound of the quantity",
        false => "",
    };
    if intervals.is_empty() { String::new() } else { format!("{half} the 95 % confidence interval {of}{cut}\n") }
}

/// The progress of one run: a bar on a terminal, a line now and then elsewhere.
pub struct RunProgress {
    bar: Option<ProgressBar>,
    until: Time,
    start: Instant,
    last: Mutex<Instant>,
    quiet: bool,
}

/// How far apart lines of progress are.
pub const LINES_APART: Duration = Duration::from_secs(5);

impl RunProgress {
    /// Of a run of that length.
    pub fn new(duration: Span, quiet: bool) -> RunProgress {
        let now = Instant::now();
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(10));
            let template = "{wide_bar} {percent}%  {msg}  {elapsed} of about {duration}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        RunProgress { bar, until: Time::ZERO + duration, start: now, last: Mutex::new(now), quiet }
    }

    /// At an inspection.
    pub fn see(&self, seen: Progress) {
        // Nothing can be said before the first event.
        if self.quiet || seen.events == 0 {
            return;
        }
        let part = seen.now.as_picos() as f64 / self.until.as_picos().max(1) as f64;
        let elapsed = self.start.elapsed().as_secs_f64();
        let speed = seen.hops as f64 / elapsed.max(1e-9) / 1e6;
        let message = format!("simulated {}, {speed:.1} M hops/s", seconds(seen.now.as_secs_f64()));
        if let Some(bar) = &self.bar {
            bar.set_message(message);
            bar.set_position((part * 1000.0) as u64);
            return;
        }
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= LINES_APART {
            *last = Instant::now();
            let left = elapsed * (1.0 - part) / part.max(1e-9);
            note(&format!("{message}, {:.0} %, about {} left", part * 100.0, seconds(left)));
        }
    }

    /// The run is over.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of many runs.
pub struct CountProgress {
    bar: Option<ProgressBar>,
    start: Instant,
    last: Mutex<Instant>,
    what: &'static str,
}

impl CountProgress {
    /// Of so many runs, called `what`.
    pub fn new(total: usize, what: &'static str) -> CountProgress {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(5));
            let template = "{wide_bar} {pos} of {len} {msg}, {elapsed} of about {duration}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what);
            bar
        });
        CountProgress { bar, start: now, last: Mutex::new(now), what }
    }

    /// So many are done.
    pub fn see(&self, done: usize, total: usize) {
        self.show(done, self.what, || {
            let left = self.start.elapsed().as_secs_f64() * (total - done) as f64 / done.max(1) as f64;
            format!("{done} of {total} {}, about {} left", self.what, seconds(left))
        });
    }

    /// So many are done by others, whose state is given in words.
    pub fn see_others(&self, done: usize, total: usize, state: &str) {
        let what = self.what;
        self.show(done, &format!("{what}, {state}"), || format!("{done} of {total} {what}; {state}"));
    }

    fn show(&self, done: usize, message: &str, line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.to_owned());
            bar.set_position(done as u64);
            return;
        }
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= LINES_APART {
            *last = Instant::now();
            note(&line());
        }
    }

    /// Says something without disturbing the bar.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(text)),
            None => note(text),
        }
    }

    /// All is over.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_all_that_speaks_to_a_terminal() {
        let text = "a\u{1b}[1;33mb\u{1b}[0m\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[";
        assert_eq!(safe(text, false), "a\u{1b}[1;33mb\u{1b}[0m\\u001b]0;title\\u0007\\u001b[2J\\u001b[");
        assert_eq!(safe("\u{1b}[1mx", true), "\\u001b[1mx");
        assert_eq!(table(&["n"], &[vec!["a\n\u{1b}b".into()]]), "n\n--------------\na\\u000a\\u001bb\n");
    }
}
