//! The lab over HTTP: scenarios run on the cores of this machine, beside the results of a folder.
//!
//! The page is that of `tailback lab`, but its simulator is in this server. Each tab has its own [`lab::Lab`] and advances
//! it request by request, so a tab that is closed or killed leaves nothing running. The server lists results, shows them as
//! reports and compares them with runs in the page. It writes nothing, and reads no path outside the results folder.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use tailback_serve::{Server, Settings};
//!
//! let server = Server::bind("127.0.0.1:0".parse().unwrap(), Settings::of("results")).unwrap();
//! println!("{}", server.address());
//! server.run(&AtomicBool::new(false)).unwrap();
//! ```

#![allow(clippy::disallowed_methods)] // A server has a clock; models are not here.

mod guard;
mod sessions;
mod shelf;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as Named, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use guard::Guard;
use lab::Means;
use sessions::Sessions;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the server looks whether it is to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What a server offers, and to whom.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder whose results are shown.
    pub results: PathBuf,
    /// Threads and memory of a run.
    pub means: Means,
    /// Whether every request needs a token. Addresses other than those of this machine itself always do.
    pub wants_token: bool,
}

impl Settings {
    /// The results of a folder, runs on all cores, no token.
    #[must_use]
    pub fn of(results: impl Into<PathBuf>) -> Settings {
        let means = Means { memory: scenario::Limits::default().memory, threads: study::cores() };
        Settings { results: results.into(), means, wants_token: false }
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    settings: Settings,
}

struct Shared {
    settings: Settings,
    guard: Guard,
    sessions: Sessions,
}

impl Server {
    /// Listens at an address; port 0 is any free one.
    ///
    /// # Errors
    /// Returns an error if the address is not this machine's or is taken.
    pub fn bind(address: SocketAddr, settings: Settings) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let guard = Guard::new(listener.local_addr()?, settings.wants_token)?;
        Ok(Server { listener, guard, settings })
    }

    /// The address of the page, with the token that opens it if it needs one.
    #[must_use]
    pub fn address(&self) -> String {
        self.guard.address()
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// Returns an error if the operating system has no resources for it.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let Server { listener, guard, settings } = self;
        let sessions = Sessions::new(settings.means);
        let shared = Arc::new(Shared { settings, guard, sessions });
        let routes = Router::new()
            .route("/", get(page))
            .route("/lab/{tab}", post(ask))
            .route("/results", get(list))
            .route("/results/{name}", get(report))
            .route("/runs/{name}", get(data))
            .fallback(|| async { (StatusCode::NOT_FOUND, "no such page") })
            .layer(from_fn_with_state(shared.clone(), guard::check))
            .with_state(shared);
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let served = axum::serve(listener, routes);
            tokio::select! {
                ended = served => ended,
                () = until(stop) => Ok(()),
            }
        })?;
        // A step of a run takes a second at most.
        runtime.shutdown_timeout(Duration::from_secs(5));
        Ok(())
    }
}

async fn until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(GLANCE).await;
    }
}

/// Does something that takes long, beside the thread that answers.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        let text = format!("this request failed inside the program: {error}; please report it");
        (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
    })
}

type Answered = Result<Response, Response>;
type Common = State<Arc<Shared>>;

fn html(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn page(State(shared): Common) -> Response {
    html(render::report::served_page(shared.guard.token()))
}

async fn ask(State(shared): Common, Named(tab): Named<String>, request: Bytes) -> Answered {
    let lab = shared.sessions.of(&tab).map_err(IntoResponse::into_response)?;
    let answer = beside(move || sessions::answer(&lab, &request)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], answer).into_response())
}

async fn list(State(shared): Common) -> Answered {
    let folder = shared.settings.results.clone();
    Ok(json(beside(move || shelf::list(&folder).to_string()).await?))
}

async fn report(State(shared): Common, Named(name): Named<String>) -> Answered {
    let folder = shared.settings.results.clone();
    let (text, found) = beside(move || match shelf::open(&folder, &name) {
        Ok(report) => (report.html(render::report::Front::report()), true),
        Err(reason) => (reason, false),
    })
    .await?;
    if found { Ok(html(text)) } else { Err((StatusCode::NOT_FOUND, text).into_response()) }
}

async fn data(State(shared): Common, Named(name): Named<String>) -> Answered {
    let folder = shared.settings.results.clone();
    let found = beside(move || shelf::open(&folder, &name).map(|report| report.data().to_string())).await?;
    found.map(json).map_err(|reason| (StatusCode::NOT_FOUND, reason).into_response())
}

#[cfg(test)]
mod tests;
