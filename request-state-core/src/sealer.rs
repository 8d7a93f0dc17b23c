//! The sealer: applies the policy and the claims around a codec that does the cryptography.

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

/// A token that expires later than now + TTL + this was issued under another clock or policy.
pub(crate) const CLOCK_SKEW_MS: u64 = 60_000;

/// The initial capacity of a payload, in bytes. Most states fit, and allocators serve this size quickly.
const ROOM: usize = 1024;

/// Seals states into tokens and opens them again.
///
/// A sealer belongs to one server, and all its requests share it: sealing and opening take `&Sealer`, from
/// any number of threads.
///
/// A token opens only if a sealer with the same server name and a key of the same keyring made it for the
/// same principal and the same request, and only before its expiry. Until then it opens as often as it is
/// presented: replay is limited in time, not prevented. A [`Boundary`](crate::Boundary) with a store
/// accepts each round once.
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

/// A function that returns the time, in the place of the system's clock.
pub(crate) type Clock = dyn Fn() -> SystemTime + Send + Sync;

impl<C: RequestStateCodec> Sealer<C> {
    /// Creates a sealer with the default policy of [`SealerBuilder`].
    ///
    /// `server` is the name of this server, the same on all its replicas, and not empty. A token of one
    /// server does not open at another, even under the same keys.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::EmptyServer`] if `server` is empty.
    pub fn new(server: impl Into<String>, codec: C) -> Result<Self, ConfigError> {
        Self::builder(server, codec).build()
    }

    /// Returns a builder for customizing TTLs, the size limit, disclosure and the clock.
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
    /// `state` is any value that serde_json can write. [`open`](Self::open) reads it into the type that its
    /// caller names. The value comes back exactly, doubles included, whichever features of serde_json are
    /// on.
    ///
    /// The limits of JSON and serde are limits of states, too:
    ///
    /// - JSON has the same text for `Some(None)` and `None`, for variants of an untagged enum that look the
    ///   same and, with `arbitrary_precision`, for the integers `-0` and `0` of a `Value`.
    /// - serde reads tagged, untagged and flattened types through a buffer. It loses maps with keys that are
    ///   not strings, integers beyond 64 bits and the last digit of an `f32`. A flattened map also gets the
    ///   members of other flattened fields.
    ///
    /// A type that serde cannot read back is sealed, and its token is rejected with the reason `state`. A
    /// test that seals and opens one value of the type shows that.
    ///
    /// # Errors
    ///
    /// Returns a [`SealError`] that says what to change. `state` is only borrowed, so nothing is lost.
    pub fn seal<T>(&self, state: &T, binding: &Binding) -> Result<String, SealError>
    where
        T: Serialize + ?Sized,
    {
        self.seal_at(state, binding, self.now())
    }

    /// Seals `state` as of `now`, as [`seal`](Self::seal) does with the current time. For tests and replays.
    ///
    /// The token expires at `floor(now) + TTL`, in milliseconds.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`seal`](Self::seal), and [`SealError::Clock`] when `now` is before 1970 or too
    /// late for an expiry.
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
    /// `token` may be any string of any length.
    ///
    /// # Errors
    ///
    /// Returns an [`OpenError`] unless this server issued the token for this request and this principal and it
    /// has not expired. The log gets the exact reason as a `tracing` event of the target `request_state`, with
    /// the fields `reason`, `server`, `version`, `method` and, if the token has one, `kid`. The page
    /// [operations](https://docs.rs/request-state/latest/request_state/manual/operations/index.html) lists the
    /// reasons.
    pub fn open<T>(&self, token: &str, binding: &Binding) -> Result<T, OpenError>
    where
        T: DeserializeOwned,
    {
        self.open_at(token, binding, self.now())
    }

    /// Opens a token as of `now`, as [`open`](Self::open) does with the current time. For tests and replays.
    ///
    /// A token opens while `floor(now)` is before its expiry, in milliseconds. If `now` is before 1970, no
    /// token opens.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
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

    /// Splits an authentic payload of the layout `layout`.
    pub(crate) fn claims<'a>(
        &self,
        payload: &'a [u8],
        layout: Layout,
    ) -> Result<Claims<'a>, Reason> {
        Claims::read(payload, layout, self.encrypts).ok_or(Reason::Malformed)
    }

    /// Checks that the token has not expired, and that its expiry is one that this server can have given.
    ///
    /// The token also ends at `end_ms`, if that is `Some`.
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

    /// Returns an event about the request of `binding`.
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

    /// Returns the longest TTL, in milliseconds.
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

/// The contents of a payload that passed every check.
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

/// Returns the whole milliseconds since 1970, or `None` before it. Beyond 64 bits, it returns the maximum.
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
    /// Prints the policy and not the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// A builder that sets the policy of a [`Sealer`].
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
    /// Sets the TTL of tokens with a principal: 1 ms to ten years (315,576,000 s), rounded down to whole
    /// milliseconds. Default: 5 minutes.
    ///
    /// A user has this long to answer one round, and a stolen token is useful for this long.
    ///
    /// The sealing server writes the expiry into the token. The opening server rejects an expiry later than
    /// its own TTL and a minute from now. So while you roll out a TTL that is longer by more than a minute,
    /// replicas with the old TTL reject some fresh tokens. A shorter TTL revokes nothing: tokens issued under
    /// the longer TTL are rejected at first, and open again once their remaining time is at most the shorter
    /// TTL and a minute. To revoke tokens, rotate the key.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets the TTL of tokens without a principal, with the same bounds. Default: 60 seconds.
    pub fn anonymous_ttl(mut self, ttl: Duration) -> Self {
        self.anonymous_ttl = ttl;
        self
    }

    /// Sets the maximum length of a token, in bytes: at least 64. Default: 65,536.
    ///
    /// Longer tokens are neither made nor decoded.
    pub fn max_token_len(mut self, bytes: usize) -> Self {
        self.max_token_len = bytes;
        self
    }

    /// Sets how much the caller of [`Sealer::open`] learns about a rejection. Default: the
    /// [`disclosure`](RequestStateCodec::disclosure) of the codec.
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = Some(disclosure);
        self
    }

    /// Sets the clock: a function that returns the time. Default: the system's clock.
    ///
    /// For tests and simulations, and for hosts that have no system clock, such as
    /// `wasm32-unknown-unknown`, where [`SystemTime::now`] panics. [`Sealer::seal_at`] and
    /// [`Sealer::open_at`] take the time as an argument and do not read the clock.
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

    /// Creates the sealer.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] that names the field.
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

/// Returns a TTL in milliseconds, if it is within bounds.
fn whole_ms(ttl: Duration) -> Option<u64> {
    const TEN_YEARS: Duration = Duration::from_secs(315_576_000);
    u64::try_from(ttl.as_millis())
        .ok()
        .filter(|ms| *ms >= 1 && ttl <= TEN_YEARS)
}

impl<C> fmt::Debug for SealerBuilder<C> {
    /// Prints the policy and not the codec.
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

/// Why a [`Sealer`] or a [`Boundary`](crate::Boundary) cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The server's name is empty.
    #[error("server is empty; give every server a name")]
    EmptyServer,
    /// The TTL is below 1 ms or above ten years.
    #[error("ttl is {ttl:?}; it must be between 1 ms and 315,576,000 s (ten years)")]
    Ttl {
        /// The value that was given.
        ttl: Duration,
    },
    /// The TTL for requests without a principal is below 1 ms or above ten years.
    #[error("anonymous_ttl is {ttl:?}; it must be between 1 ms and 315,576,000 s (ten years)")]
    AnonymousTtl {
        /// The value that was given.
        ttl: Duration,
    },
    /// The boundary is to keep answers, and the codec does not encrypt them.
    #[error(
        "answer_again: the codec does not encrypt, so the store could read the answers; allow_readable permits it"
    )]
    ReadableAnswers,
    /// The limit is too small for any token.
    #[error("max_token_len is {bytes} bytes; the minimum is 64")]
    MaxTokenLen {
        /// The value that was given.
        bytes: usize,
    },
}

/// Why a state could not be sealed.
///
/// Of the state it shows only field names, which are in the program's source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// JSON cannot carry the state, or serde_json could not read it back.
    #[error("{path}: {problem}")]
    State {
        /// The place in the state, such as `state.rates[2]`.
        path: String,
        /// The problem at that place.
        problem: Problem,
    },
    /// The token would be longer than the limit: keep less in the state, or raise
    /// [`max_token_len`](SealerBuilder::max_token_len).
    #[error("the token would be {length} bytes long; max_token_len is {limit}")]
    TooLong {
        /// The token's length, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The clock is before 1970, or too late for an expiry.
    #[error("the clock is before 1970 or out of range")]
    Clock,
    /// The codec could not encode.
    #[error(transparent)]
    Codec(EncodeError),
    /// The request of the round cannot be bound. Only a [`Boundary`](crate::Boundary) returns this
    /// variant and the variants below it.
    #[error("the request cannot be bound: {0}")]
    Binding(BindingError),
    /// The message of the round is a batch or has no id. A client can cause this, so it is logged as
    /// `binding`.
    #[error("there is no request to seal a requestState for")]
    NoRequest,
    /// The method of the round is not [covered](crate::Boundary::covers).
    #[error("results of this method have no requestState")]
    Uncovered,
    /// The handler [released the round](crate::Round::release) and then asked a question.
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
        /// The number of the question, counted from 1.
        entry: usize,
    },
    /// There are more questions than a token can hold.
    #[error("inputRequests has {count} entries; the maximum is {limit}")]
    TooManyQuestions {
        /// The number of questions.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The names of the questions are longer than a token can hold.
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
