//! The manual of `request-state`: one module for each page.
//!
//! | page | for |
//! |---|---|
//! | [`boundary`] | a server that is not built with rmcp: the boundary by hand |
//! | [`backends`] | which codec, and the other features |
//! | [`operations`] | those who run a server: the log, alerts, key rotation, how long a user may take |
//! | [`single_use`] | a round that counts once, and the same answer again |
//! | [`threat_model`] | what is defended, against whom, and what is not |
//! | [`custom_codec`] | a codec of your own, and the suite to run on it |
//! | [`custom_store`] | a store of your own, and the suite to run on it |
//! | [`token_format`] | the tokens, byte for byte |
//! | [`performance`] | what it costs |
//! | [`checks`] | mutation testing: which test fails when a check is removed |
//! | [`differences`] | what frameworks ship, and how this library differs |
//!
//! The README is on [the front page](crate).
//!
//! # In the repository only
//!
//! Some things that the pages mention are not in any published crate: `examples/postgres`, a store on Postgres and a
//! transfer that redeems in its own transaction; `mcp-conformance`, MCP's own conformance suite against sealed
//! servers; `bench`, the benchmarks; and `scripts`.

// A page begins with definitions of its links, which lead to other places in rustdoc than on disk: the first
// definition of a label counts.

pub mod boundary {
    //! A server that is not built with rmcp.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![cfg_attr(
        any(not(doctest), feature = "aes-gcm", feature = "ring"),
        doc = include_str!("../docs/boundary.md")
    )]
}

pub mod backends {
    //! Which codec, and the other features.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/backends.md")]
}

pub mod operations {
    //! The log, alerts, key rotation, and how long a user may take.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/operations.md")]
}

pub mod single_use {
    //! A round that counts once.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/single-use.md")]
}

pub mod threat_model {
    //! What is defended, against whom, and what is not.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/threat-model.md")]
}

pub mod custom_codec {
    //! A codec of your own.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![cfg_attr(any(not(doctest), feature = "aes-gcm"), doc = include_str!("../docs/custom-codec.md"))]
}

pub mod custom_store {
    //! A store of your own.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/custom-store.md")]
}

pub mod token_format {
    //! The tokens, byte for byte.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/token-format.md")]
}

pub mod performance {
    //! What it costs.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/performance.md")]
}

pub mod checks {
    //! Mutation testing: which test fails when a check is removed.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/checks.md")]
}

pub mod differences {
    //! What frameworks ship, and how this library differs.
    //!
    #![doc = include_str!("links.md")]
    //!
    #![doc = include_str!("../docs/differences.md")]
}
