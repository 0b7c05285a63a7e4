//! Who may ask: browsers of this machine, or those that know the token.
//!
//! A page of a stranger must not reach the server through the browser of its user. Such a page cannot choose the headers
//! `Host` and `Origin`: a name that was made to lead here is refused by the one, a request of another page by the other.

use crate::Shared;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    token: Option<String>,
}

/// The largest request, in bytes; the same limit holds for requests that do not state their length.
const LARGEST: u64 = 2 << 20;

/// A request that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Length,
    Host,
    Origin,
    Token,
}

impl Guard {
    /// The guard of a server at an address. One that others can reach always wants a token.
    pub(crate) fn new(address: SocketAddr, wants_token: bool) -> io::Result<Guard> {
        let token = match wants_token || !address.ip().is_loopback() {
            true => Some(token()?),
            false => None,
        };
        Ok(Guard { address, token })
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub(crate) fn address(&self) -> String {
        let query = self.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default();
        format!("http://{}/{query}", self.address)
    }

    /// Whether a request may be answered, by its headers and the part of its address behind the question mark.
    fn refuses(&self, headers: &HeaderMap, query: &str) -> Option<Refused> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if length.is_some_and(|length| length > LARGEST) {
            return Some(Refused::Length);
        }
        let host = text(header::HOST).unwrap_or_default();
        // A server for others goes by names that it does not know; the token is what keeps strangers out.
        if self.token.is_none() && !self.is_called(host) {
            return Some(Refused::Host);
        }
        if text(header::ORIGIN).is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Some(Refused::Origin);
        }
        let Some(token) = &self.token else { return None };
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let given = bearer.or_else(|| query.split('&').find_map(|part| part.strip_prefix("token=")));
        (!given.is_some_and(|given| same(given, token))).then_some(Refused::Token)
    }

    /// Whether a name in `Host` is one of this machine for itself, at the port of the server.
    fn is_called(&self, host: &str) -> bool {
        let port = self.address.port().to_string();
        let name = match host.rsplit_once(':') {
            Some((name, given)) if given == port => name,
            _ if self.address.port() == 80 => host,
            _ => return false,
        };
        matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name == self.address.ip().to_string()
    }
}

/// 128 random bits of the operating system, in hexadecimal.
fn token() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not tell how much is right.
fn same(given: &str, token: &str) -> bool {
    given.len() == token.len() && given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Refuses requests of strangers, and sets the headers of every answer.
pub(crate) async fn check(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let refused = shared.guard.refuses(request.headers(), request.uri().query().unwrap_or_default());
    let mut response = match refused {
        None => next.run(request).await,
        Some(Refused::Length) => (StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 2 MB").into_response(),
        Some(Refused::Host) => {
            (StatusCode::FORBIDDEN, "this server answers only to localhost; use --listen for others").into_response()
        }
        Some(Refused::Origin) => {
            (StatusCode::FORBIDDEN, "requests of pages of other servers are refused").into_response()
        }
        Some(Refused::Token) => {
            (StatusCode::UNAUTHORIZED, "the token is missing or wrong; open the address that the server printed")
                .into_response()
        }
    };
    let headers = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(header::HeaderName, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn names_that_were_made_to_lead_here_are_refused() {
        let guard = Guard::new("127.0.0.1:8080".parse().expect("an address"), false).expect("it needs no token");
        assert_eq!(guard.address(), "http://127.0.0.1:8080/");
        for (host, refused) in [
            ("localhost:8080", None),
            ("127.0.0.1:8080", None),
            ("[::1]:8080", None),
            ("evil.example:8080", Some(Refused::Host)),
            ("localhost:9090", Some(Refused::Host)),
            ("localhost", Some(Refused::Host)),
            ("", Some(Refused::Host)),
        ] {
            assert_eq!(guard.refuses(&headers(&[(header::HOST, host)]), ""), refused, "{host}");
        }
    }

    #[test]
    fn pages_of_others_are_refused() {
        let guard = Guard::new("127.0.0.1:8080".parse().expect("an address"), false).expect("it needs no token");
        let asked = |origin| headers(&[(header::HOST, "localhost:8080"), (header::ORIGIN, origin)]);
        assert_eq!(guard.refuses(&asked("http://localhost:8080"), ""), None);
        for origin in ["https://evil.example", "http://localhost:9090", "null", "http://127.0.0.1:8080"] {
            assert_eq!(guard.refuses(&asked(origin), ""), Some(Refused::Origin), "{origin}");
        }
    }

    #[test]
    fn others_need_the_token() {
        let guard = Guard::new("0.0.0.0:8080".parse().expect("an address"), false).expect("there is randomness");
        let token = guard.token().expect("others can reach it").to_owned();
        assert_eq!(token.len(), 32);
        assert!(guard.address().ends_with(&format!("/?token={token}")));
        let host = (header::HOST, "lab.example:8080");
        let bearer = format!("Bearer {token}");
        assert_eq!(guard.refuses(&headers(std::slice::from_ref(&host)), &format!("token={token}")), None);
        assert_eq!(guard.refuses(&headers(&[host.clone(), (header::AUTHORIZATION, &bearer)]), ""), None);
        for query in ["", "token=", "token=0", &format!("token={}", token.replace(['0', '1', '2', '3'], "f"))] {
            assert_eq!(guard.refuses(&headers(std::slice::from_ref(&host)), query), Some(Refused::Token), "{query}");
        }
        let other = Guard::new("127.0.0.1:8080".parse().expect("an address"), true).expect("there is randomness");
        assert_ne!(other.token(), Some(&*token));
        let local = headers(&[(header::HOST, "localhost:8080")]);
        assert_eq!(other.refuses(&local, ""), Some(Refused::Token));
    }
}
