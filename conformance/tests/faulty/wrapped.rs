//! A codec around another, with a method of its own.

use request_state_core::{DecodeError, Disclosure, EncodeError, RequestStateCodec};

use super::fault::Codec;

type Encode = dyn Fn(&Codec, &[u8], &[u8]) -> Result<String, EncodeError> + Send + Sync;
type Decode = dyn Fn(&Codec, &str, &[u8]) -> Result<Vec<u8>, DecodeError> + Send + Sync;

pub struct Wrapped {
    codec: Codec,
    encode: Box<Encode>,
    decode: Box<Decode>,
}

impl Wrapped {
    pub fn both(
        codec: Codec,
        encode: impl Fn(&Codec, &[u8], &[u8]) -> Result<String, EncodeError> + Send + Sync + 'static,
        decode: impl Fn(&Codec, &str, &[u8]) -> Result<Vec<u8>, DecodeError> + Send + Sync + 'static,
    ) -> Codec {
        Box::new(Self {
            codec,
            encode: Box::new(encode),
            decode: Box::new(decode),
        })
    }

    pub fn encode(
        codec: Codec,
        encode: impl Fn(&Codec, &[u8], &[u8]) -> Result<String, EncodeError> + Send + Sync + 'static,
    ) -> Codec {
        Self::both(codec, encode, |codec, token, context| {
            codec.decode(token, context)
        })
    }

    pub fn decode(
        codec: Codec,
        decode: impl Fn(&Codec, &str, &[u8]) -> Result<Vec<u8>, DecodeError> + Send + Sync + 'static,
    ) -> Codec {
        Self::both(
            codec,
            |codec, payload, context| codec.encode(payload, context),
            decode,
        )
    }
}

impl RequestStateCodec for Wrapped {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        (self.encode)(&self.codec, payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        (self.decode)(&self.codec, token, context)
    }

    fn encrypts(&self) -> bool {
        self.codec.encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        self.codec.disclosure()
    }
}
