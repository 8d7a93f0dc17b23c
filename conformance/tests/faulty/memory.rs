//! Something stays behind from one call to the next.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use request_state_core::{DecodeError, EncodeError, RequestStateCodec};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED, mac};
use super::fault::{Codec, Fault, base, whole};
use super::wrapped::Wrapped;

/// A decoder that keeps what it decoded, under a key of its choice.
fn cached<K: std::hash::Hash + Eq + Send + 'static>(
    codec: Codec,
    key: impl Fn(&str, &[u8]) -> K + Send + Sync + 'static,
) -> Codec {
    let cache = Mutex::new(HashMap::new());
    Wrapped::decode(codec, move |codec, token, context| {
        let key = key(token, context);
        let mut cache = cache.lock().unwrap();
        if let Some(payload) = cache.get(&key) {
            return Ok(Vec::clone(payload));
        }
        let payload = codec.decode(token, context)?;
        cache.insert(key, payload.clone());
        Ok(payload)
    })
}

/// A token and its context.
type Call = (String, Vec<u8>);

fn head(token: &str, length: usize) -> String {
    token.chars().take(length).collect()
}

pub fn faults() -> Vec<Fault> {
    vec![
        whole(
            "caches by the first 40 characters of the token",
            "tampering::every_bit",
            |keys| {
                cached(base(keys, SIGNED), |token, context| {
                    (head(token, 40), context.to_vec())
                })
            },
        ),
        whole(
            "caches by the last 32 characters of the token",
            "tampering::every_bit",
            |keys| {
                cached(base(keys, ENCRYPTED), |token, context| {
                    (
                        token.chars().rev().take(32).collect::<String>(),
                        context.to_vec(),
                    )
                })
            },
        ),
        whole(
            "caches by the token, whatever the context",
            "context::alike",
            |keys| cached(base(keys, ENCRYPTED), |token, _| token.to_owned()),
        ),
        whole(
            "caches by the token and the length of the context",
            "context::alike",
            |keys| {
                cached(base(keys, SIGNED), |token, context| {
                    (token.to_owned(), context.len())
                })
            },
        ),
        whole(
            "caches by the token and the first 16 bytes of the context",
            "context::every_bit",
            |keys| {
                cached(base(keys, TYPED), |token, context| {
                    (token.to_owned(), context[..context.len().min(16)].to_vec())
                })
            },
        ),
        whole(
            "caches by the token without regard to case",
            "tampering::every_character",
            |keys| {
                cached(base(keys, SIGNED), |token, context| {
                    (token.to_ascii_lowercase(), context.to_vec())
                })
            },
        ),
        whole(
            "caches by a hash of one byte",
            "tampering::every_character",
            |keys| {
                cached(base(keys, SIGNED), |token, context| {
                    mac(&[0; 32], &[token.as_bytes(), context].concat())[0]
                })
            },
        ),
        whole(
            "remembers the last token, by its head, until another is tried",
            "independence::changed_right_after_it_opened",
            |keys| {
                let last = Mutex::new(None::<(String, Vec<u8>, Vec<u8>)>);
                Wrapped::decode(base(keys, ENCRYPTED), move |codec, token, context| {
                    let mut last = last.lock().unwrap();
                    if let Some((token_head, sealed, payload)) = last.take()
                        && token_head == head(token, 60)
                        && sealed == context
                    {
                        return Ok(payload);
                    }
                    let payload = codec.decode(token, context)?;
                    *last = Some((head(token, 60), context.to_vec(), payload.clone()));
                    Ok(payload)
                })
            },
        ),
        whole(
            "remembers the last context that opened, and takes it for all",
            "context::alike",
            |keys| {
                let last = Mutex::new(Vec::new());
                Wrapped::decode(base(keys, SIGNED), move |codec, token, context| {
                    let mut last = last.lock().unwrap();
                    let payload = codec
                        .decode(token, context)
                        .or_else(|error| codec.decode(token, &last).map_err(|_| error))?;
                    *last = context.to_vec();
                    Ok(payload)
                })
            },
        ),
        whole(
            "has one cache for all codecs of the process",
            "independence::codecs_share_nothing",
            |keys| {
                static CACHE: LazyLock<Mutex<HashMap<Call, Vec<u8>>>> =
                    LazyLock::new(Mutex::default);
                Wrapped::decode(base(keys, ENCRYPTED), |codec, token, context| {
                    let key = (token.to_owned(), context.to_vec());
                    if let Some(payload) = CACHE.lock().unwrap().get(&key) {
                        return Ok(payload.clone());
                    }
                    let payload = codec.decode(token, context)?;
                    CACHE.lock().unwrap().insert(key, payload.clone());
                    Ok(payload)
                })
            },
        ),
        whole(
            "remembers what it refused, whatever the context",
            "independence::refused_first",
            |keys| {
                let refused = Mutex::new(HashSet::new());
                Wrapped::decode(base(keys, SIGNED), move |codec, token, context| {
                    if refused.lock().unwrap().contains(token) {
                        return Err(DecodeError::Unauthentic);
                    }
                    codec.decode(token, context).inspect_err(|_| {
                        refused.lock().unwrap().insert(token.to_owned());
                    })
                })
            },
        ),
        whole(
            "fails once after each refusal",
            "independence::refused_first",
            |keys| {
                let tainted = Mutex::new(false);
                Wrapped::decode(base(keys, ENCRYPTED), move |codec, token, context| {
                    if std::mem::take(&mut *tainted.lock().unwrap())
                        && codec.decode(token, context).is_ok()
                    {
                        return Err(DecodeError::Unauthentic);
                    }
                    codec
                        .decode(token, context)
                        .inspect_err(|_| *tainted.lock().unwrap() = true)
                })
            },
        ),
        whole(
            "opens a token once",
            "independence::opens_again_and_again",
            |keys| {
                let opened = Mutex::new(HashSet::new());
                Wrapped::decode(base(keys, ENCRYPTED), move |codec, token, context| {
                    let payload = codec.decode(token, context)?;
                    match opened.lock().unwrap().insert(token.to_owned()) {
                        true => Ok(payload),
                        false => Err(DecodeError::Unauthentic),
                    }
                })
            },
        ),
        whole(
            "locks itself after 2,000 refusals",
            "independence::refused_thousands_of_times",
            |keys| {
                let refusals = AtomicUsize::new(0);
                Wrapped::decode(base(keys, SIGNED), move |codec, token, context| {
                    if refusals.load(Ordering::Relaxed) >= 2_000 {
                        return Err(DecodeError::Unauthentic);
                    }
                    codec.decode(token, context).inspect_err(|_| {
                        refusals.fetch_add(1, Ordering::Relaxed);
                    })
                })
            },
        ),
        whole(
            "remembers the last 1,000 tokens that it made, and opens those",
            "independence::thousands_outstanding",
            |keys| {
                let made: &'static Mutex<VecDeque<String>> = Box::leak(Box::default());
                Wrapped::both(
                    base(keys, SIGNED),
                    |codec, payload, context| {
                        let token = codec.encode(payload, context)?;
                        let mut made = made.lock().unwrap();
                        made.push_back(token.clone());
                        if made.len() > 1_000 {
                            made.pop_front();
                        }
                        Ok(token)
                    },
                    |codec, token, context| match made
                        .lock()
                        .unwrap()
                        .iter()
                        .any(|own| own == token)
                    {
                        true => codec.decode(token, context),
                        false => Err(DecodeError::Unauthentic),
                    },
                )
            },
        ),
        whole(
            "opens on the thread that sealed",
            "independence::another_codec_opens",
            |keys| {
                let bound = |context: &[u8]| {
                    [context, format!("{:?}", thread::current().id()).as_bytes()].concat()
                };
                Wrapped::both(
                    base(keys, SIGNED),
                    move |codec, payload, context| codec.encode(payload, &bound(context)),
                    move |codec, token, context| codec.decode(token, &bound(context)),
                )
            },
        ),
        whole(
            "puts the payload into a buffer that all threads share",
            "threads::two_threads_at_once",
            |keys| {
                let buffer: &'static Mutex<Vec<u8>> = Box::leak(Box::default());
                Wrapped::encode(base(keys, ENCRYPTED), |codec, payload, context| {
                    *buffer.lock().unwrap() = payload.to_vec();
                    thread::yield_now(); // so that it shows on a busy machine too
                    let payload = buffer.lock().unwrap().clone();
                    codec.encode(&payload, context)
                })
            },
        ),
        whole(
            "is busy for all threads but one",
            "threads::two_threads_at_once",
            |keys| {
                let working = Mutex::new(());
                Wrapped::encode(base(keys, SIGNED), move |codec, payload, context| {
                    let _guard = working
                        .try_lock()
                        .map_err(|_| EncodeError::Unavailable("busy".into()))?;
                    thread::yield_now();
                    codec.encode(payload, context)
                })
            },
        ),
        whole(
            "seals the payload of the call before",
            "round_trip::every_length",
            |keys| {
                let last = Mutex::new(None);
                Wrapped::encode(base(keys, SIGNED), move |codec, payload, context| {
                    let before = last.lock().unwrap().replace(payload.to_vec());
                    codec.encode(&before.unwrap_or_else(|| payload.to_vec()), context)
                })
            },
        ),
        whole(
            "compares the tag in part until it has sealed something itself",
            "independence::another_codec_is_as_strict",
            |keys| {
                let lax = base(keys, LAX);
                let sealed: &'static AtomicUsize = Box::leak(Box::default());
                Wrapped::both(
                    base(keys, SIGNED),
                    |codec, payload, context| {
                        sealed.fetch_add(1, Ordering::Relaxed);
                        codec.encode(payload, context)
                    },
                    move |codec, token, context| match sealed.load(Ordering::Relaxed) {
                        0 => lax.decode(token, context),
                        _ => codec.decode(token, context),
                    },
                )
            },
        ),
    ]
}

/// Compares the tag in part.
pub const LAX: Steps = Steps {
    same: |expected, received| expected.get(..8) == received.get(..8),
    ..SIGNED
};
