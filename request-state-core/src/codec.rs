//! The trait that every backend implements, and its errors.

use std::error::Error;
use std::sync::Arc;

/// An error of the codec itself, such as a key service that does not answer or a random source that fails.
///
/// The server's code can read it through [`Error::source`]. This library never shows it to a client and never
/// logs it.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A codec that turns a payload into a token and back. It does cryptography, and nothing else.
///
/// A codec never sees an expiry, a principal or a request. [`Sealer`](crate::Sealer) puts those into the
/// payload and the context. So a codec that authenticates both cannot forget one of them.
///
/// # Contract
///
/// Every implementation must follow these rules. [`Sealer`](crate::Sealer) relies on them.
///
/// - `decode` returns the payload that was passed to `encode`, byte for byte, for any payload and any context.
///   Both may be empty.
/// - `decode` rejects everything else: a string that `encode` did not return, a token under another context,
///   and a token of a key that is not in the [`Keyring`](crate::Keyring). It accepts the tokens of every key in
///   the keyring.
/// - No other string decodes to the same payload.
/// - Two encodings of the same payload differ. A nonce does not repeat under its key, on any thread, in any
///   process, after a restart or on another replica.
/// - A token consists of the characters `A-Z a-z 0-9 - _ .`. It is at most twice as long as its payload, plus
///   4,096 characters.
/// - The token contains neither the context nor anything that confirms a guess at it. The same is true of key
///   material.
/// - The text before the first dot may be logged as the key ID (`kid`), so it contains nothing of the payload.
/// - If [`encrypts`](Self::encrypts) returns `true`, the token reveals nothing of the payload but its length,
///   and has room for a nonce of 12 bytes and a tag of 16 bytes. The error does not depend on the content
///   either: the tag is checked first.
/// - Rejecting a token takes time in proportion to its length and never panics. It never returns
///   [`DecodeError::Unavailable`], which means that nothing is known about the token.
/// - No call changes the result of another call, and any number of threads may call at the same time.
///
/// The crate `request-state-conformance` tests all of this on any codec. It also reports as *suspicious* what
/// most codecs do only by mistake, such as a bit that flips with every encoding. The page [A codec of your
/// own](https://docs.rs/request-state/latest/request_state/manual/custom_codec/) explains both.
///
/// This trait is not the struct of the same name in rmcp's feature `request-state`, and their tokens are not
/// interchangeable: see [how it
/// differs](https://docs.rs/request-state/latest/request_state/manual/differences/).
///
/// The trait is dyn-compatible, and references, `Box` and `Arc` of a codec are codecs. So
/// `Sealer<Arc<dyn RequestStateCodec>>` is a type like any other.
///
/// # Example
///
/// Choosing a codec at run time:
///
/// ```
/// use std::sync::Arc;
/// use request_state_core::{ConfigError, RequestStateCodec, Sealer};
///
/// fn protect(
///     codec: Arc<dyn RequestStateCodec>,
/// ) -> Result<Sealer<Arc<dyn RequestStateCodec>>, ConfigError> {
///     Sealer::new("billing", codec)
/// }
/// ```
pub trait RequestStateCodec: Send + Sync {
    /// Encodes `payload` as a token that protects it and binds it to `context`.
    ///
    /// `payload` and `context` may be any bytes of any length. The token is URL-safe ASCII.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::KeyExhausted`] if the sealing key has reached its safe limit of seal operations,
    /// and [`EncodeError::Unavailable`] if a dependency of the codec fails.
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError>;

    /// Decodes a token, and returns the payload that [`encode`](Self::encode) protected under the same context.
    ///
    /// `token` may be any string of any length: a client sent it.
    ///
    /// # Errors
    ///
    /// Returns a [`DecodeError`] for every other token. The form is checked first, then the kid, then the
    /// authenticity, and then the context if the codec can tell contexts apart. For its own token under another
    /// context, a codec with [opaque](Disclosure::Opaque) disclosure returns [`DecodeError::Unauthentic`], and
    /// a codec with [typed](Disclosure::Typed) disclosure returns [`DecodeError::OtherContext`].
    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError>;

    /// Returns `true` if the holder of a token is unable to read its payload.
    ///
    /// The result decides where [`Sealer`](crate::Sealer) keeps the digests of the principal and the request.
    /// Inside an encrypted payload, they give the operator an exact reason. In the context, nobody can test a
    /// guess against them. The result must not change during a codec's life. The default, `false`, is safe for
    /// every codec.
    fn encrypts(&self) -> bool {
        false
    }

    /// Returns how much the caller of [`Sealer::open`](crate::Sealer::open) learns about a rejection, unless
    /// the sealer's builder sets it. The default is [`Disclosure::Opaque`].
    ///
    /// A codec that returns [`Disclosure::Typed`] returns [`DecodeError::OtherContext`] for its own
    /// token under another context, and for nothing else.
    fn disclosure(&self) -> Disclosure {
        Disclosure::Opaque
    }
}

// These implementations forward every method: an omitted method would fall back to the trait's default.

impl<C: RequestStateCodec + ?Sized> RequestStateCodec for &C {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        (**self).encode(payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        (**self).decode(token, context)
    }

    fn encrypts(&self) -> bool {
        (**self).encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        (**self).disclosure()
    }
}

impl<C: RequestStateCodec + ?Sized> RequestStateCodec for Box<C> {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        (**self).encode(payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        (**self).decode(token, context)
    }

    fn encrypts(&self) -> bool {
        (**self).encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        (**self).disclosure()
    }
}

impl<C: RequestStateCodec + ?Sized> RequestStateCodec for Arc<C> {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        (**self).encode(payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        (**self).decode(token, context)
    }

    fn encrypts(&self) -> bool {
        (**self).encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        (**self).disclosure()
    }
}

/// The amount of detail about a rejection for the caller of [`Sealer::open`](crate::Sealer::open).
///
/// The operator gets the exact reason in either case, from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disclosure {
    /// Every rejection is [`OpenError::Invalid`](crate::OpenError::Invalid).
    Opaque,
    /// A rejection is `Invalid`, `Mismatch` or `Expired`.
    Typed,
}

/// An error that can be returned when encoding a payload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The sealing key has reached its safe limit of seal operations. See
    /// [`Keyring::count_seals`](crate::Keyring::count_seals).
    #[error("the sealing key has reached its safe limit of seal operations: rotate to a new key")]
    KeyExhausted,
    /// A dependency of the codec failed, such as the random source or a key service.
    #[error("the codec could not encode")]
    Unavailable(#[source] BoxError),
}

/// An error that can be returned when decoding a token.
///
/// It is for the operator's log. A [`Sealer`](crate::Sealer) never returns it to its caller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The token does not have the format of this codec.
    #[error("the token is malformed")]
    Malformed,
    /// The format is right, but the kid is not in the keyring.
    #[error("the token's kid is not in the keyring")]
    UnknownKey,
    /// The token was not made by this codec under the key that it names. An opaque codec also returns this
    /// for a token made under another context.
    #[error("the token is not authentic")]
    Unauthentic,
    /// The token is unmodified and made by this codec, but under another context.
    #[error("the token belongs to another context")]
    OtherContext,
    /// A dependency of the codec failed, so nothing is known about the token. Do not return this for a
    /// rejection: if a key service answers "not mine", return `Unauthentic`. At a
    /// [`Boundary`](crate::Boundary) the client gets an internal error and may retry. If the error or one of
    /// its sources is an I/O error, the log has its kind.
    #[error("the codec could not decode")]
    Unavailable(#[source] BoxError),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A codec that differs from the trait's defaults, so that the test notices a method that is not forwarded.
    struct Loud;

    impl RequestStateCodec for Loud {
        fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
            Ok("loud".into())
        }

        fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
            Err(DecodeError::OtherContext)
        }

        fn encrypts(&self) -> bool {
            true
        }

        fn disclosure(&self) -> Disclosure {
            Disclosure::Typed
        }
    }

    fn is_forwarded(codec: impl RequestStateCodec) {
        assert_eq!(codec.encode(b"", b"").unwrap(), "loud");
        assert!(matches!(
            codec.decode("", b""),
            Err(DecodeError::OtherContext)
        ));
        assert!(codec.encrypts());
        assert_eq!(codec.disclosure(), Disclosure::Typed);
    }

    #[test]
    fn pointers_forward_every_method() {
        is_forwarded(&Loud);
        is_forwarded(Box::new(Loud));
        is_forwarded(Arc::new(Loud));
        is_forwarded(&Loud as &dyn RequestStateCodec);
        is_forwarded(Box::new(Loud) as Box<dyn RequestStateCodec>);
        is_forwarded(Arc::new(Loud) as Arc<dyn RequestStateCodec>);
        is_forwarded(Box::new(Arc::new(&Loud)));
    }
}
