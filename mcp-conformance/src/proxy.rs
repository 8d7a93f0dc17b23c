//! A round-robin proxy: each request goes to the next server in turn.
//!
//! The proxy records which server issued each `requestState`. It can therefore determine whether a
//! state returns to another server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::Response;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::Failure;

const MAX_BODY: usize = 1 << 20;

/// A running proxy. It stops when it is dropped.
pub struct Proxy {
    /// The address of the proxy, as `http://127.0.0.1:PORT/mcp`.
    pub url: String,
    counts: Arc<Mutex<Counts>>,
    task: AbortHandle,
}

/// The counts of requests and states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of requests that each server received.
    pub requests: Vec<u64>,
    /// The number of states that returned to a server other than their issuer.
    pub crossed: u64,
    /// The number of states that returned to their issuer.
    pub stayed: u64,
    /// The server that issued each state.
    issuers: HashMap<String, usize>,
}

#[derive(Clone)]
struct Shared {
    servers: Arc<[Uri]>,
    client: Client<HttpConnector, Body>,
    counts: Arc<Mutex<Counts>>,
}

impl Proxy {
    /// Starts a proxy in front of `servers`, the addresses of their endpoints.
    pub async fn start(servers: Vec<Uri>) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let counts = Arc::new(Mutex::new(Counts {
            requests: vec![0; servers.len()],
            ..Counts::default()
        }));
        let router = Router::new().fallback(forward).with_state(Shared {
            servers: servers.into(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            counts: Arc::clone(&counts),
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();
        Ok(Self { url, counts, task })
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(State(shared): State<Shared>, request: Request) -> Response {
    shared.forward(request).await.unwrap_or_else(|error| {
        let mut response = Response::new(Body::from(error.to_string()));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}

impl Shared {
    async fn forward(&self, request: Request) -> Result<Response, Failure> {
        let (mut head, body) = request.into_parts();
        let body = to_bytes(body, MAX_BODY).await?;
        let server = self.next(&body);
        head.uri = self.servers[server].clone();
        let request = Request::from_parts(head, Body::from(body));

        let (mut head, body) = self.client.request(request).await?.into_parts();
        let body = to_bytes(Body::new(body), MAX_BODY).await?;
        // The body is complete now.
        head.headers.remove(header::TRANSFER_ENCODING);
        self.note(server, &body);
        Ok(Response::from_parts(head, Body::from(body)))
    }

    /// Counts the request and returns the server whose turn it is.
    fn next(&self, request: &Bytes) -> usize {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let total: u64 = counts.requests.iter().sum();
        let server = (total % counts.requests.len() as u64) as usize;
        counts.requests[server] += 1;
        let state = state_at(request, "/params/requestState");
        match state.and_then(|state| counts.issuers.get(&state).copied()) {
            Some(issuer) if issuer == server => counts.stayed += 1,
            Some(_) => counts.crossed += 1,
            None => {}
        }
        server
    }

    fn note(&self, server: usize, response: &Bytes) {
        if let Some(state) = state_at(response, "/result/requestState") {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.issuers.insert(state, server);
        }
    }
}

fn state_at(message: &Bytes, pointer: &str) -> Option<String> {
    let message: Value = serde_json::from_slice(message).ok()?;
    Some(message.pointer(pointer)?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a server whose state is its own name.
    async fn server(name: &'static str) -> Uri {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = format!(r#"{{"result":{{"requestState":"{name}"}}}}"#);
        let router = Router::new().fallback(async move || answer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        uri.parse().unwrap()
    }

    async fn post(proxy: &Proxy, body: &'static str) -> String {
        let client: Client<_, Body> = Client::builder(TokioExecutor::new()).build_http();
        let request = Request::post(&proxy.url).body(Body::from(body)).unwrap();
        let response = client.request(request).await.unwrap();
        let body = to_bytes(Body::new(response.into_body()), MAX_BODY).await;
        String::from_utf8(body.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn servers_take_turns_and_states_are_followed() {
        let proxy = Proxy::start(vec![server("a").await, server("b").await])
            .await
            .unwrap();
        let from_a = r#"{"params":{"requestState":"a"}}"#;
        assert!(post(&proxy, "{}").await.contains(r#""a""#));
        assert!(post(&proxy, from_a).await.contains(r#""b""#));
        assert!(post(&proxy, from_a).await.contains(r#""a""#));
        assert!(post(&proxy, "not JSON").await.contains(r#""b""#));
        assert!(post(&proxy, "{}").await.contains(r#""a""#));

        let counts = proxy.counts();
        assert_eq!(counts.requests, [3, 2]);
        assert_eq!((counts.crossed, counts.stayed), (1, 1));
    }

    #[tokio::test]
    async fn a_server_that_is_gone_is_an_error() {
        let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/mcp", gone.local_addr().unwrap());
        drop(gone);
        let proxy = Proxy::start(vec![uri.parse().unwrap()]).await.unwrap();
        assert!(post(&proxy, "{}").await.contains("client error"));
    }
}
