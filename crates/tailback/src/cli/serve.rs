//! `serve`: the lab over HTTP.

use super::exit::Exit;
use super::result_arguments::Serve;
use super::{INTERRUPT, console};
use serve::{Server, Settings};
use std::io::ErrorKind;

/// `tailback serve`
pub fn serve(arguments: &Serve) -> Exit {
    let mut settings = Settings { wants_token: arguments.token, ..Settings::of(&arguments.results) };
    if let Some(threads) = arguments.threads {
        settings.means.threads = threads.clamp(1, settings.means.threads);
    }
    let server = match Server::bind(arguments.listen, settings) {
        Ok(server) => server,
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::AddrInUse => "\n  another program listens there; --listen 127.0.0.1:0 takes a free port",
                ErrorKind::AddrNotAvailable => {
                    "\n  it is not an address of this machine; 0.0.0.0 listens at all of \
                                                them"
                }
                ErrorKind::PermissionDenied => "\n  ports below 1024 take root; choose a higher one",
                _ => "",
            };
            console::error(&format!("cannot listen at {}: {error}{remedy}", arguments.listen));
            return Exit::BadInput;
        }
    };
    // The address is the data of this command: a script may wait for it.
    console::print(&format!("{}\n", server.address()));
    console::note(&format!("results of {}; press Ctrl-C to stop", arguments.results.display()));
    match server.run(&INTERRUPT) {
        Ok(()) => Exit::Success,
        Err(error) => {
            console::error(&format!("the server stopped: {error}"));
            Exit::Failure
        }
    }
}
