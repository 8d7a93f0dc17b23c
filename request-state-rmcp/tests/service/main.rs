//! A server of rmcp behind the wrapper: what its handlers see, and what its clients do.

mod answers;
mod any_service;
mod features;
mod forwarding;
mod http;
mod kit;
mod refusals;
mod rounds;
mod smuggling;
