//! The sealer: every policy and every claim, around a codec that does the cryptography.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::binding::{Binding, BindingError};
use crate::claims::{self, Claims, Layout};
use crate::codec::{DecodeError, Disclosure, EncodeError, RequestStateCodec};
use crate::error::OpenError;
use crate::log::Event;
use crate::problem::Problem;
use crate::reason::{Reason, io_kind};
use crate::value;

/// A token that outlives now + TTL by more than this was minted by another clock or policy.
pub(crate) const CLOCK_SKEW_MS: u64 = 60_000;

/// How much room a payload gets at first. Most states fit, and an allocator has so little at hand.
const ROOM: usize = 1024;

/// Turns a state into a token and back.
///
/// A sealer belongs to one server and is shared by its requests: `&Sealer` is all that sealing and
/// opening need, from any number of threads.
///
/// A token that opens was made by a sealer with the same server name and a key of the same ring,
/// for the same principal and the same request, and has not reached the expiry that its sealer gave
/// it. It may be presented again and again until then: replay is bounded, not prevented.
///
/// # Example
///
/// ```
/// # use request_state_core::*;
/// # struct Plain;
/// # impl RequestStateCodec for Plain {
/// #     fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
/// #         wire::token("k", &[payload])
/// #     }
/// #     fn decode(&self, token: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
/// #         wire::decode_base64url(wire::split_kid(token)?.1)
/// #     }
/// # }
/// # let codec = Plain;
/// # let params = serde_json::json!({"name": "transfer"});
/// let sealer = Sealer::new("billing", codec)?;
/// let binding = Binding::new(Request {
///     version: "2026-07-28",
///     method: "tools/call",
///     params: &params,
///     principal: Some("user:alice"),
/// })?;
/// let token = sealer.seal(&("step", 2), &binding)?;
/// let state: (String, u32) = sealer.open(&token, &binding)?;
/// assert_eq!(state, ("step".into(), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Sealer<C> {
    codec: C,
    encrypts: bool,
    policy: Policy,
}

#[derive(Clone)]
struct Policy {
    server: String,
    clock: Option<Arc<Clock>>,
    ttl_ms: u64,
    anonymous_ttl_ms: u64,
    max_token_len: usize,
    disclosure: Disclosure,
}

/// Returns the time. Without one, the system's clock is asked.
pub(crate) type Clock = dyn Fn() -> SystemTime + Send + Sync;

impl<C: RequestStateCodec> Sealer<C> {
    /// A sealer with the default policy; see [`SealerBuilder`].
    ///
    /// `server` names this server, and is the same on all its replicas. A token of one server does
    /// not open at another, even under the same keys. Not empty.
    ///
    /// # Errors
    ///
    /// [`ConfigError::EmptyServer`].
    pub fn new(server: impl Into<String>, codec: C) -> Result<Self, ConfigError> {
        Self::builder(server, codec).build()
    }

    /// A builder of a sealer with a policy of your own.
    ///
    /// `server` is as for [`new`](Self::new).
    pub fn builder(server: impl Into<String>, codec: C) -> SealerBuilder<C> {
        SealerBuilder {
            server: server.into(),
            ttl: Duration::from_secs(300),
            anonymous_ttl: Duration::from_secs(60),
            max_token_len: 65_536,
            disclosure: None,
            clock: None,
            codec,
        }
    }

    /// Seals `state` for the request and principal of `binding`, as of now.
    ///
    /// `state` is anything that serde_json writes, and comes back as serde_json reads it into the
    /// type that [`open`](Self::open) asks for: exactly as it went in, every double included,
    /// whatever features are switched on in serde_json.
    ///
    /// What JSON or serde itself does not carry, no state carries:
    ///
    /// - what JSON spells alike: `Some(None)` and `None`, variants of an untagged enum that look the
    ///   same, and, with `arbitrary_precision`, a `Value` that is the integer `-0` and `0`;
    /// - in tagged, untagged and flattened types, which serde reads by way of a buffer of its own:
    ///   maps with keys that are no strings, integers beyond 64 bits, the last digit of an `f32`; and a
    ///   flattened map also gets what belongs to another flattened member.
    ///
    /// A type that serde cannot read back is sealed and then refused with the reason `state`; a test
    /// that seals and opens one value of it shows that.
    ///
    /// # Errors
    ///
    /// A [`SealError`] that says what to change. Nothing is lost: `state` is only borrowed.
    pub fn seal<T>(&self, state: &T, binding: &Binding) -> Result<String, SealError>
    where
        T: Serialize + ?Sized,
    {
        self.seal_at(state, binding, self.now())
    }

    /// Seals as of `now`. For tests, and for servers with a clock of their own.
    ///
    /// The token expires at `floor(now) + TTL`, in milliseconds.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal), and [`SealError::Clock`] when `now` is before 1970 or too late for
    /// an expiry.
    pub fn seal_at<T>(
        &self,
        state: &T,
        binding: &Binding,
        now: SystemTime,
    ) -> Result<String, SealError>
    where
        T: Serialize + ?Sized,
    {
        let expires_at_ms = milliseconds(now)
            .and_then(|now_ms| now_ms.checked_add(self.ttl_ms(binding)))
            .ok_or(SealError::Clock)?;
        self.seal_body(Layout::State, expires_at_ms, binding, |payload| {
            value::write(payload, state)
                .map_err(|(path, problem)| SealError::State { path, problem })
        })
    }

    /// Seals the claims, and the body that `write` appends to them.
    pub(crate) fn seal_body(
        &self,
        layout: Layout,
        expires_at_ms: u64,
        binding: &Binding,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), SealError>,
    ) -> Result<String, SealError> {
        let limit = self.policy.max_token_len;
        let mut payload = Vec::with_capacity(ROOM);
        claims::write_header(&mut payload, layout, expires_at_ms, binding, self.encrypts);
        write(&mut payload)?;
        let token = self
            .with_context(binding, |context| self.codec.encode(&payload, context))
            .map_err(SealError::Codec)?;
        if token.len() > limit {
            let length = token.len();
            return Err(SealError::TooLong { length, limit });
        }
        Ok(token)
    }

    /// Opens a token that a client sent with the request of `binding`, as of now.
    ///
    /// `token` is any string of any length.
    ///
    /// # Errors
    ///
    /// An [`OpenError`] for everything but a token of ours, for this request and principal, in
    /// time. The exact reason goes to the log, as a `tracing` event of target `request_state`, with
    /// the fields `reason`, `server`, `version`, `method` and, where the token starts with something
    /// like one, `kid`. See `docs/operations.md`.
    pub fn open<T>(&self, token: &str, binding: &Binding) -> Result<T, OpenError>
    where
        T: DeserializeOwned,
    {
        self.open_at(token, binding, self.now())
    }

    /// Opens as of `now`. For tests, and for servers with a clock of their own.
    ///
    /// A token opens while `floor(now)` is before its expiry, in milliseconds. Before 1970, nothing
    /// opens.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_at<T>(
        &self,
        token: &str,
        binding: &Binding,
        now: SystemTime,
    ) -> Result<T, OpenError>
    where
        T: DeserializeOwned,
    {
        self.try_open(token, binding, now).map_err(|reason| {
            self.event(binding).rejected(reason, Some(token));
            reason.disclose(self.policy.disclosure)
        })
    }

    fn try_open<T>(&self, token: &str, binding: &Binding, now: SystemTime) -> Result<T, Reason>
    where
        T: DeserializeOwned,
    {
        let payload = self.decode(token, binding)?;
        Ok(self.read(&payload, binding, now)?.state)
    }

    /// Reads an authentic payload.
    pub(crate) fn read<T>(
        &self,
        payload: &[u8],
        binding: &Binding,
        now: SystemTime,
    ) -> Result<Read<T>, Reason>
    where
        T: DeserializeOwned,
    {
        let claims = self.claims(payload, Layout::State)?;
        claims.check(binding)?;
        let expires_at_ms = claims.expires_at_ms;
        let now_ms = milliseconds(now).ok_or(Reason::MintedInFuture)?;
        self.check_time(expires_at_ms, None, binding, now_ms)?;
        Ok(Read {
            state: value::read(claims.body).ok_or(Reason::State)?,
            expires_at_ms,
            now_ms,
        })
    }

    /// Returns the authentic payload of `token`.
    pub(crate) fn decode(&self, token: &str, binding: &Binding) -> Result<Vec<u8>, Undecoded> {
        if token.len() > self.policy.max_token_len {
            return Err(Undecoded::TooLong);
        }
        Ok(self.with_context(binding, |context| self.codec.decode(token, context))?)
    }

    pub(crate) fn codec(&self) -> &C {
        &self.codec
    }

    pub(crate) fn encrypts(&self) -> bool {
        self.encrypts
    }

    pub(crate) fn disclosure(&self) -> Disclosure {
        self.policy.disclosure
    }

    /// Splits an authentic payload, which must be of `layout`.
    pub(crate) fn claims<'a>(
        &self,
        payload: &'a [u8],
        layout: Layout,
    ) -> Result<Claims<'a>, Reason> {
        Claims::read(payload, layout, self.encrypts).ok_or(Reason::Malformed)
    }

    /// Checks the expiry of a token, and that this server may have given it.
    ///
    /// `end_ms`, where there is one, ends the token's life too.
    pub(crate) fn check_time(
        &self,
        expires_at_ms: u64,
        end_ms: Option<u64>,
        binding: &Binding,
        now_ms: u64,
    ) -> Result<(), Reason> {
        let end_ms = end_ms.map_or(expires_at_ms, |end_ms| end_ms.min(expires_at_ms));
        if let Some(late_ms) = now_ms.checked_sub(end_ms) {
            return Err(Reason::Expired(late_ms));
        }
        let latest_ms = now_ms
            .saturating_add(self.ttl_ms(binding))
            .saturating_add(CLOCK_SKEW_MS);
        if expires_at_ms > latest_ms {
            return Err(Reason::MintedInFuture);
        }
        Ok(())
    }

    /// An event about a request that is bound.
    pub(crate) fn event<'a>(&'a self, binding: &'a Binding) -> Event<'a> {
        Event {
            server: self.server(),
            version: Some(binding.version()),
            method: Some(binding.method()),
            id: None,
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        match &self.policy.clock {
            None => SystemTime::now(),
            Some(clock) => clock(),
        }
    }

    pub(crate) fn server(&self) -> &str {
        &self.policy.server
    }

    /// The longest TTL, in milliseconds.
    pub(crate) fn max_ttl_ms(&self) -> u64 {
        self.policy.ttl_ms.max(self.policy.anonymous_ttl_ms)
    }

    fn with_context<R>(&self, binding: &Binding, then: impl FnOnce(&[u8]) -> R) -> R {
        claims::with_context(binding, &self.policy.server, self.encrypts, then)
    }

    pub(crate) fn ttl_ms(&self, binding: &Binding) -> u64 {
        if binding.is_anonymous() {
            self.policy.anonymous_ttl_ms
        } else {
            self.policy.ttl_ms
        }
    }
}

/// What is in the payload of a token that opens.
pub(crate) struct Read<T> {
    pub(crate) state: T,
    pub(crate) expires_at_ms: u64,
    /// When it was opened.
    pub(crate) now_ms: u64,
}

/// Why a token has no payload.
pub(crate) enum Undecoded {
    TooLong,
    Codec(DecodeError),
}

impl From<DecodeError> for Undecoded {
    fn from(error: DecodeError) -> Self {
        Self::Codec(error)
    }
}

impl From<Undecoded> for Reason {
    fn from(undecoded: Undecoded) -> Self {
        match undecoded {
            Undecoded::TooLong => Self::TooLong,
            Undecoded::Codec(error) => error.into(),
        }
    }
}

/// Whole milliseconds since 1970, the most that 64 bits hold; `None` before.
pub(crate) fn milliseconds(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("server", &self.server)
            .field("ttl_ms", &self.ttl_ms)
            .field("anonymous_ttl_ms", &self.anonymous_ttl_ms)
            .field("max_token_len", &self.max_token_len)
            .field("disclosure", &self.disclosure)
            .finish_non_exhaustive()
    }
}

impl<C> fmt::Debug for Sealer<C> {
    /// Prints the policy, and nothing of the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Sets the policy of a [`Sealer`].
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use request_state_core::{Disclosure, RequestStateCodec, Sealer};
///
/// fn strict<C: RequestStateCodec>(codec: C) -> Result<Sealer<C>, request_state_core::ConfigError> {
///     Sealer::builder("billing", codec)
///         .ttl(Duration::from_secs(120))
///         .anonymous_ttl(Duration::from_secs(30))
///         .max_token_len(8 * 1024)
///         .disclosure(Disclosure::Opaque)
///         .build()
/// }
/// ```
#[must_use]
pub struct SealerBuilder<C> {
    server: String,
    ttl: Duration,
    anonymous_ttl: Duration,
    max_token_len: usize,
    disclosure: Option<Disclosure>,
    clock: Option<Arc<Clock>>,
    codec: C,
}

impl<C: RequestStateCodec> SealerBuilder<C> {
    /// How long a token with a principal opens: 1 ms to ten years (315,576,000 s), in whole
    /// milliseconds, a fraction dropped. Default: 5 minutes.
    ///
    /// It is how long a user may take to answer one round, and how long a stolen token is of use.
    ///
    /// The expiry is in the token, given by the side that seals; the side that opens refuses one
    /// further away than its own TTL and a minute. So while a fleet changes to a TTL that is longer
    /// by more than a minute, replicas that still have the shorter one refuse some fresh tokens. A
    /// shorter TTL revokes nothing: a token of the longer one is refused at first, and opens again
    /// once no more than the shorter TTL and a minute is left of it. Rotate the key to be rid of it.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long a token without a principal opens, likewise. Default: 60 seconds.
    pub fn anonymous_ttl(mut self, ttl: Duration) -> Self {
        self.anonymous_ttl = ttl;
        self
    }

    /// The longest token, in bytes, at least 64: a token of just that length passes. Default:
    /// 65,536.
    ///
    /// A longer one is neither made nor decoded.
    pub fn max_token_len(mut self, bytes: usize) -> Self {
        self.max_token_len = bytes;
        self
    }

    /// How much the caller of [`Sealer::open`] learns about a refusal. Default: what the codec
    /// says.
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = Some(disclosure);
        self
    }

    /// Sets the clock: a function that returns the time. Default: the system's clock.
    ///
    /// For tests and simulations, and for hosts that have no system clock, such as
    /// `wasm32-unknown-unknown`, where [`SystemTime::now`] panics. [`Sealer::seal_at`] and
    /// [`Sealer::open_at`] take the time as an argument and do not ask the clock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state_core::{RequestStateCodec, ConfigError, Sealer};
    /// # fn example<C: RequestStateCodec>(codec: C) -> Result<Sealer<C>, ConfigError> {
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// let noon = UNIX_EPOCH + Duration::from_secs(1_796_212_800);
    /// Sealer::builder("billing", codec).clock(move || noon).build()
    /// # }
    /// ```
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Makes the sealer.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the field.
    pub fn build(self) -> Result<Sealer<C>, ConfigError> {
        if self.server.is_empty() {
            return Err(ConfigError::EmptyServer);
        }
        if self.max_token_len < 64 {
            return Err(ConfigError::MaxTokenLen {
                bytes: self.max_token_len,
            });
        }
        Ok(Sealer {
            encrypts: self.codec.encrypts(),
            policy: Policy {
                ttl_ms: whole_ms(self.ttl).ok_or(ConfigError::Ttl { ttl: self.ttl })?,
                anonymous_ttl_ms: whole_ms(self.anonymous_ttl).ok_or(
                    ConfigError::AnonymousTtl {
                        ttl: self.anonymous_ttl,
                    },
                )?,
                max_token_len: self.max_token_len,
                disclosure: self.disclosure.unwrap_or_else(|| self.codec.disclosure()),
                server: self.server,
                clock: self.clock,
            },
            codec: self.codec,
        })
    }
}

/// A TTL in milliseconds, if it is within bounds.
fn whole_ms(ttl: Duration) -> Option<u64> {
    const TEN_YEARS: Duration = Duration::from_secs(315_576_000);
    u64::try_from(ttl.as_millis())
        .ok()
        .filter(|ms| *ms >= 1 && ttl <= TEN_YEARS)
}

impl<C> fmt::Debug for SealerBuilder<C> {
    /// Prints the policy, and nothing of the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealerBuilder")
            .field("server", &self.server)
            .field("ttl", &self.ttl)
            .field("anonymous_ttl", &self.anonymous_ttl)
            .field("max_token_len", &self.max_token_len)
            .field("disclosure", &self.disclosure)
            .finish_non_exhaustive()
    }
}

/// Which setting of a [`Sealer`] is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The server's name is empty.
    #[error("server: the name is empty")]
    EmptyServer,
    /// The TTL is below 1 ms or above ten years.
    #[error("ttl: {ttl:?} is not between 1 ms and 315,576,000 s (ten years)")]
    Ttl {
        /// What was asked for.
        ttl: Duration,
    },
    /// The TTL for requests without a principal is below 1 ms or above ten years.
    #[error("anonymous_ttl: {ttl:?} is not between 1 ms and 315,576,000 s (ten years)")]
    AnonymousTtl {
        /// What was asked for.
        ttl: Duration,
    },
    /// Answers are to be kept, and the codec does not encrypt them.
    #[error(
        "answer_again: the codec does not encrypt, so the store could read the answers; allow_readable permits it"
    )]
    ReadableAnswers,
    /// The limit is too small for any token.
    #[error("max_token_len: {bytes} bytes are too few, the least is 64")]
    MaxTokenLen {
        /// What was asked for.
        bytes: usize,
    },
}

/// Why a state could not be sealed. It shows nothing of the state but field names that stand in
/// the program's text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The state is not one that JSON carries and serde_json reads back.
    #[error("{path}: {problem}")]
    State {
        /// Where in the state, such as `state.rates[2]`.
        path: String,
        /// What is wrong there.
        problem: Problem,
    },
    /// The token would be longer than the limit: keep less in the state, or raise
    /// [`max_token_len`](SealerBuilder::max_token_len).
    #[error("the token would be {length} bytes long, and max_token_len is {limit}")]
    TooLong {
        /// The token's length, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The clock says a time before 1970, or so late that no expiry can be written.
    #[error("the clock is before 1970 or out of range")]
    Clock,
    /// The codec could not encode.
    #[error(transparent)]
    Codec(EncodeError),
    /// The request of the round cannot be bound. Only a [`Boundary`](crate::Boundary) returns this,
    /// as all that follow.
    #[error("the request cannot be bound: {0}")]
    Binding(BindingError),
    /// The round is of a batch or of a message without an id. Clients bring this about, so it is
    /// logged as `binding`.
    #[error("there is no request to seal a requestState for")]
    NoRequest,
    /// The round is of a method that is not [covered](crate::Boundary::covers).
    #[error("results of this method have no requestState")]
    Uncovered,
    /// The handler [gave the round back](crate::Round::release), and asks all the same.
    #[error("the round was released, so its request may not ask")]
    Released,
    /// The result is `input_required` with neither questions nor a state.
    #[error("the result is input_required with neither inputRequests nor requestState")]
    NothingAsked,
    /// The handler's `requestState` is neither a string nor null.
    #[error("the handler's requestState is not a string")]
    NotAString,
    /// The handler's `inputRequests` is neither an object nor null.
    #[error("the handler's inputRequests is not an object")]
    NotAnObject,
    /// A question is not an elicitation in form or URL mode, a sampling request or a roots request.
    #[error("inputRequests: entry {entry} is not an elicitation, a sampling or a roots request")]
    UnknownQuestion {
        /// Which question, counted from 1.
        entry: usize,
    },
    /// There are more questions than a token holds.
    #[error("inputRequests has {count} entries; the maximum is {limit}")]
    TooManyQuestions {
        /// How many there are.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The names of the questions are longer than a token holds.
    #[error("the names in inputRequests are {length} bytes long together; the maximum is {limit}")]
    NamesTooLong {
        /// The length of all names together, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The flow has had as many rounds as [`max_rounds`](crate::Boundary::max_rounds) allows.
    #[error("the flow has reached max_rounds, {limit}")]
    Rounds {
        /// The limit.
        limit: u16,
    },
    /// The flow is older than [`max_flow`](crate::Boundary::max_flow) allows.
    #[error("the flow is older than max_flow, {limit:?}")]
    Flow {
        /// The limit.
        limit: Duration,
    },
}

impl SealError {
    /// The name of the error in the log.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Rounds { .. } => Reason::Rounds,
            Self::Flow { .. } => Reason::Flow,
            Self::Binding(error) => error.reason(),
            Self::NoRequest => Reason::Binding,
            Self::Codec(EncodeError::Unavailable(error)) => Reason::Unavailable(io_kind(&**error)),
            _ => Reason::Seal,
        }
    }
}
