//! The catalog of all cases: group, name, whether the case is about keyrings, and the reason for
//! it.
//!
//! Both [`CASES`] and the tests of [`suite!`](crate::suite) are generated from this one list, so
//! neither can miss a case that the other has.

use std::fmt;

use crate::cases;
use crate::kit::Kit;
use crate::stop::Verdict;

/// Passes the list to the macro named first, after the other tokens that it was given.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ([$($then:tt)*] [$($given:tt)*]) => {
        $($then)*! { [$($given)*]
            round_trip {
                empty any "The empty payload is a valid payload. A codec that rejects it, or does not authenticate it, fails on the first handler without a state."
                every_length any "Block ciphers, encodings and buffers fail at some lengths only, so this case tries every length."
                large any "States grow. Up to 48 KiB fit the default limit, and a length that is stored in two bytes wraps at 65,536."
                every_byte any "Trimming and unpadding also remove bytes of the payload that resemble padding: zeros, spaces, line ends, PKCS #7."
                nothing_is_interpreted any "A payload is a sequence of bytes. A codec that parses, normalizes or pretty-prints it changes the data that a handler stored."
                any_context any "A context consists of any bytes and has any length. It may be empty."
                again_and_again any "A fault in one nonce or tag of 256 rejects honest users at random. It shows only over many tokens."
            }
            freshness {
                two_encodings_differ any "Equal tokens show that two states are equal, and mean that a nonce was used twice."
                over_many_thousands any "A nonce from a small space repeats after a few thousand tokens. With AES-GCM, a repeated nonce gives away the authentication key."
                a_codec_made_again any "A counter that starts again with each codec repeats every nonce after a restart."
                codecs_side_by_side any "Replicas share only their keys, so the nonces of one replica must not depend on what another has done."
                no_counter any "A counter in a token is state. It starts again with the process, and counts the same on every replica."
                at_the_same_moment any "Two threads may seal at the same moment. A nonce from the clock, or from a counter without a lock, is then used twice."
            }
            tampering {
                every_character any "Whoever holds a token can change any of its characters, including the last one."
                every_bit any "A tag that is compared only in part, or that covers only a part of the data, lets some changed bit pass."
                two_places any "A weak comparison, by sum or exclusive or, can miss changes in two places that cancel each other out."
                weak_sums any "A checksum in place of a MAC has well-known blind spots."
                overwritten any "A comparison by a hash of a few bits passes once in so many tries, and zeros may be treated as a missing tag."
                cuts any "A decoder must not compare a truncated tag only as far as it goes, and must not treat it as absent."
                insertions any "A lenient decoder that skips some characters accepts more than one string for the same token."
                extensions any "A decoder that stops at the first valid token, or strips the text around it, accepts strings that nobody issued."
                short_texts_around any "A decoder that strips one or two characters from either end accepts other strings for each token."
                words_around any "A decoder may strip a word that was added for a test, a logger or a proxy and then forgotten. It accepts other strings for each token."
                moved_dots any "The dots of a token separate its parts. Moving them must not make another valid token."
                long_tokens any "A check that covers only the first bytes is noticeable only on long tokens."
                rare_tokens any "A decoder may treat one byte value specially. One token of 256 has that value in the place that matters."
                pieces_of_two any "Pieces of two genuine tokens, joined, must not make a third."
            }
            structure {
                headers_say_nothing any "If a token carries the length of its tag or the name of an algorithm, the attacker chooses it. A decoder that trusts it leaves less to forge, or nothing."
                chunks any "A codec may seal a long payload chunk by chunk. No chunk may be left out, doubled, exchanged with another or taken from another token."
            }
            spelling {
                spare_bits any "The last character of base64 has bits that encode nothing. Unchecked, up to sixteen strings decode as the same token, and single use can be evaded."
                padding any "Base64url has no padding here. A decoder that accepts padding accepts a second string for the same token."
                other_alphabets any "`+` and `/` belong to base64's other alphabet. A decoder that accepts both alphabets accepts two strings for each token."
                white_space any "Many decoders strip white space. A token to which a client added white space must be rejected."
                escapes any "An intermediary may decode or normalize the text. The result is a different token."
                other_encodings any "A decoder that also accepts hexadecimal, in either case, accepts more strings for each token."
            }
            junk {
                alone any "Clients can send anything in place of a token. It must be rejected without a panic."
                after_a_kid any "Junk after a kid that exists passes the first check."
                in_a_genuine_token any "Junk in one place of a genuine token reaches the code behind all other checks."
                headless any "Names such as `none`, left over from a test or known from JWT, must not open anything."
                forged_lengths any "The attacker chooses a length inside a token. A decoder that trusts it panics or allocates all memory."
            }
            time {
                megabytes any "A client can send megabytes. The sealer's limit does not protect a codec that other code calls, too."
                refusal_takes_linear_time any "Rejecting a token must not take longer than receiving it. With quadratic time, one request stops a server."
            }
            context {
                alike any "Contexts that differ in case, white space, zeros, order or notation are different contexts."
                each_of_many any "A token opens under its own context and under none of many others."
                every_bit any "Each bit of the context counts, including those of the last, incomplete block."
                every_length any "Contexts of one repeated byte differ only in their length, so the length must be authenticated."
                long any "A context must not be cut off at 255 bytes, at 64 KiB or anywhere else."
                thousands_at_random any "A digest of a few bits mistakes one context of some thousands for another."
                weak_sums any "A checksum in place of a hash has well-known blind spots."
                not_in_the_token any "The context contains digests of the principal and the request. In the token, they would confirm a guess."
            }
            forgery {
                payload_and_context any "If the two are joined without lengths, the end of the payload can be read as the start of the context."
                separators any "A separator between parts does not separate them if a part may contain it."
                lengths_that_wrap any "A length that is stored in one byte or two is the same for a part that is 256 or 65,536 bytes longer."
                bytes_into_the_context any "Bytes taken out of a token must not pass as a part of the context, encrypted or not."
                bytes_out_of_the_context any "A part of the context must not pass as bytes of the token."
            }
            keys {
                every_key_opens keyring "A key that no longer seals must still open. Otherwise every rotation drops the rounds that are under way."
                an_old_key_is_as_strict keyring "Nobody watches a key that no longer seals, so every check must hold for it, too."
                the_first_key_seals keyring "The first key of the keyring seals. Sealing with another key breaks the order of a rotation."
                another_ring keyring "A token that another keyring sealed was not issued by this server."
                another_key_under_the_same_kid keyring "The kid names a key. It does not prove that this key sealed the token."
                every_bit_of_a_key keyring "A key with bytes that are ignored is a shorter key."
                keys_alike keyring "Keys with the same bytes in another order, or with the same sum, are different keys."
                rotation keyring "At each step of a rotation, replicas at neighboring steps open each other's tokens."
                the_same_ring_again keyring "A keyring is defined by its keys, not by their order or by the object that holds them."
                an_exhausted_key_still_opens keyring "A key that has reached its limit of seals must not seal, and must still open."
                no_public_digest_of_the_context keyring "If a token contains a digest of the context that needs no key, whoever holds it can test a guess at the request."
            }
            kids {
                relabelled_kids keyring "The kid is authenticated: it must not be possible to move a token to another key's name."
                a_kid_and_its_neighbours keyring "The kid is authenticated together with other parts. Its letters must not be read as theirs, nor theirs as its own."
                kids_alike keyring "Kids are compared in full and unchanged: not by prefix, and not without regard to case."
                unknown_kids keyring "`UnknownKey` tells the operator that a rotation went wrong. A codec must return it in that case and in no other."
                the_kid_of_the_sealing_key keyring "A token that names a key must name the key that sealed it."
            }
            lengths {
                another_context any "If a codec drops the context where the payload exactly fills a block, or on another path for large payloads, it drops it for many payloads."
                first_and_last_bytes any "A check by blocks may stop short of the ends of a token, at one length of many."
                another_key keyring "A codec must not use another key, or none, at some lengths or on a path for large payloads."
                another_kid keyring "A codec must not leave out the kid at some lengths or on a path for large payloads."
            }
            independence {
                opens_again_and_again any "A client may present a token again. Single use is the responsibility of the server."
                refused_first any "Rejecting a token must not make the genuine token fail afterwards."
                refused_thousands_of_times any "If a codec locks itself after some number of failures, anyone can lock it."
                changed_right_after_it_opened any "A cache keyed by a part of the token opens a token that was changed in another part."
                in_any_order any "Calls for different tokens and contexts come in any order."
                thousands_outstanding any "A codec that remembers the tokens it made forgets the older ones."
                another_codec_opens any "The retry reaches another replica, or the same one after a restart."
                another_codec_is_as_strict any "A codec must not be stricter about its own tokens than about those of a replica."
                codecs_share_nothing keyring "A cache or key that all codecs of a process share opens the tokens of another keyring."
                pointers_to_a_codec any "A reference, a `Box` and an `Arc` of a codec must behave like the codec itself."
            }
            threads {
                many_threads any "A server opens tokens on many threads at once."
                two_threads_at_once any "State that two calls share without a lock fails only when the calls overlap, so this case makes them overlap."
            }
            appearance {
                url_safe any "Tokens travel in JSON, in headers and in logs. Only A-Z a-z 0-9 - _ . pass unchanged everywhere."
                length any "A token that grows faster than its payload runs into the limit, and clients pay for its size."
                room_for_a_nonce_and_a_tag any "A random nonce of fewer than 12 bytes repeats within the seals of a key, and a tag of fewer than 16 can be guessed. An encrypted token must have room for both."
                enough_of_it_is_random any "A tag of four bytes can be guessed, and a nonce of four bytes repeats. Bytes that do not differ from token to token are part of neither."
                the_payload_is_not_logged any "The text before the first dot is logged as the kid, so it must not contain any of the payload."
                the_key_is_not_visible keyring "Bytes that are the same in every token of a key, and not in those of another, give key material to everybody, or confirm a guess at it."
            }
            confidentiality {
                claims_do_not_change any "The sealer reads `encrypts()` and `disclosure()` once, when it is built. `encrypts()` decides where it puts the claims."
                the_payload_is_not_visible any "If `encrypts()` is true, the digests of the principal and the request are in the payload, so they must not be readable."
                every_byte_is_encrypted any "Encryption that starts late, ends early or has no nonce leaves bytes that depend on the payload alone."
                no_bit_is_visible any "One bit that depends on the payload, in the middle of random bits, still reveals something about it."
                equal_blocks any "Equal blocks that encrypt to equal blocks show the structure of the payload."
                no_keystream_twice any "If two tokens have the same keystream, anyone can compute the difference of their payloads."
                length_tells_nothing_else any "With compression before encryption, the length reveals something about the content."
            }
            errors {
                what_is_no_token_is_malformed any "Operators must be able to distinguish junk from an attack and from a rotation that went wrong, so the form is checked first."
                what_was_changed_is_not_authentic any "`Unauthentic` tells the operator about an attack. `UnknownKey` would hide it."
                another_key_is_not_authentic keyring "A token of the right form, sealed with another key, is a forgery, whatever its context."
                what_is_inside_decides_nothing any "If the error distinguishes wrong padding from a wrong tag, anyone who asks often enough can decrypt a token, byte by byte."
                another_context any "A typed codec returns `OtherContext` for its own token under another context. An opaque codec never does."
                a_forgery_is_not_of_another_context any "`OtherContext` becomes `Mismatch`, which states that the token is genuine. A codec must never return it for a forgery."
            }
            binding {
                the_same_request any "The honest retry opens, round after round, however its JSON is written."
                another_principal any "A stolen token must be useless to another user, and to an anonymous one."
                other_params any "A confirmation given for one amount must not open for another."
                another_method any "A token of one method means something else in another method."
                another_version any "A token of one protocol version means something else in another version."
                another_server any "Two servers may share keys. A token of one must not open on the other."
                parts_that_shift any "Version, method and server are joined with their lengths. Otherwise the end of one could be read as the start of the next."
                another_ring keyring "A token for the same request, sealed with another key, is rejected, and the error is not a mismatch."
                every_edit_is_invalid any "Edits give the same result through the sealer as without it: none opens, and none is reported as a mismatch."
            }
        }
    };
}

macro_rules! table {
    (any) => {
        false
    };
    (keyring) => {
        true
    };
    ([] $($group:ident { $($name:ident $needs:ident $why:literal)* })*) => {
        /// All cases of the suite, in the order in which they run.
        pub const CASES: &[Case] = &[$($(Case {
            group: stringify!($group),
            name: stringify!($name),
            why: $why,
            needs_keyring: table!($needs),
        },)*)*];

        /// The functions of the cases, in the same order.
        pub(crate) const RUNS: &[Run] = &[$($(cases::$group::$name,)*)*];
    };
}

__cases!([table] []);

pub(crate) type Run = fn(&Kit<'_>) -> Verdict;

/// One case of a suite.
pub struct Case {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
    /// Whether the case is about keyrings. Such a case does not apply to a codec without a keyring.
    pub(crate) needs_keyring: bool,
}

impl Case {
    /// Returns the group of the case, which is the first part of its name.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// Returns the name of the case within its group, which is the second part of its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a sentence that explains why the case matters.
    #[must_use]
    pub fn why(&self) -> &'static str {
        self.why
    }
}

impl fmt::Display for Case {
    /// Prints `group::name`, as in the name of the case's test.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.group, self.name)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
