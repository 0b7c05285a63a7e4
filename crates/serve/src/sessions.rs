//! The labs of open tabs: a few, each with at most one run, dropped after 15 minutes without a request.

use axum::http::StatusCode;
use lab::{Answer, Lab, Means, Request};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tabs that are open at a time.
const MOST: usize = 32;
/// A tab that has asked nothing for so long is closed. An open one asks when its user does something.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// How long a request may advance a run.
const STEP: Duration = Duration::from_millis(200);
/// The first step of a run is this part of it, and no longer than a microsecond: a part of an hour could take minutes.
const FIRST: u64 = 10_000;
const LONGEST_FIRST: u64 = 1_000_000;

/// The lab of a tab, and how far a step of its run reaches in simulated time.
#[derive(Default)]
pub(crate) struct Tab {
    lab: Lab,
    now: u64,
    step: u64,
}

/// Open tabs by name, and when each asked last.
type Tabs = BTreeMap<String, (Instant, Arc<Mutex<Tab>>)>;

/// See the module.
pub(crate) struct Sessions {
    means: Means,
    tabs: Mutex<Tabs>,
}

impl Sessions {
    pub(crate) fn new(means: Means) -> Sessions {
        Sessions { means, tabs: Mutex::default() }
    }

    /// The lab of a tab, which gives itself a name.
    pub(crate) fn of(&self, name: &str) -> Result<Arc<Mutex<Tab>>, (StatusCode, &'static str)> {
        if !(1..=64).contains(&name.len()) || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err((StatusCode::BAD_REQUEST, "the name of a tab has 1 to 64 letters and digits"));
        }
        let now = Instant::now();
        let mut tabs = self.tabs.lock().unwrap_or_else(PoisonError::into_inner);
        tabs.retain(|_, (asked, tab)| Arc::strong_count(tab) > 1 || now.duration_since(*asked) < IDLE);
        if !tabs.contains_key(name) && tabs.len() >= MOST {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "too many tabs are open; close one and wait 15 minutes"));
        }
        let new = || Arc::new(Mutex::new(Tab { lab: Lab::new(self.means), ..Tab::default() }));
        let (asked, tab) = tabs.entry(name.to_owned()).or_insert_with(|| (now, new()));
        *asked = now;
        Ok(tab.clone())
    }
}

/// Answers a request of a tab as the module in a page does.
pub(crate) fn answer(tab: &Mutex<Tab>, request: &[u8]) -> Vec<u8> {
    // A run that panicked is gone; the tab may begin another.
    let mut tab = tab.lock().unwrap_or_else(|poisoned| {
        let mut tab = poisoned.into_inner();
        tab.lab.forget();
        tab
    });
    let answer = match serde_json::from_slice(request) {
        Ok(Request::Advance { until }) => tab.advance(until),
        Ok(request) => {
            let starts = matches!(request, Request::Start(_));
            let answer = tab.lab.ask(request);
            if let Some(duration) = answer.document["duration_ps"].as_u64().filter(|_| starts) {
                (tab.now, tab.step) = (0, (duration / FIRST).clamp(1, LONGEST_FIRST));
            }
            answer
        }
        Err(error) => json!({ "refused": error.to_string() }).into(),
    };
    let mut bytes = Vec::new();
    answer.write(&mut bytes);
    bytes
}

impl Tab {
    /// Advances the run for the time of a step, and no further than asked.
    fn advance(&mut self, until: u64) -> Answer {
        let begun = Instant::now();
        loop {
            let before = begun.elapsed();
            let next = until.min(self.now.saturating_add(self.step));
            let answer = self.lab.ask(Request::Advance { until: next });
            let took = begun.elapsed() - before;
            // As far as the same speed reaches in the rest of the step, and at most four times as far as before.
            let left = STEP.saturating_sub(begun.elapsed()).max(STEP / 8).as_secs_f64();
            let factor = (left / took.as_secs_f64().max(1e-6)).clamp(0.25, 4.0);
            self.step = ((self.step as f64 * factor) as u64).max(1);
            self.now = next;
            let ended = answer.document["ended"] != false;
            if ended || next >= until || begun.elapsed() >= STEP {
                return answer;
            }
        }
    }
}
