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
                empty any "The empty payload is a payload: a codec that refuses it, or forgets to authenticate it, breaks on the first handler without a state."
                every_length any "Block ciphers, encodings and buffers go wrong at some lengths only, so every length is tried."
                large any "States grow: up to 48 KiB fit the default limit, and a length kept in two bytes wraps at 65,536."
                every_byte any "Trimming and padding take away what only looks like theirs: zeros, spaces, line ends, PKCS #7."
                nothing_is_interpreted any "A payload is bytes. A codec that parses, normalises or prettifies it changes what a handler stored."
                any_context any "A context is any bytes of any length, the empty one included."
                again_and_again any "A fault in one nonce or tag of 256 refuses honest users at random, and shows only in numbers."
            }
            freshness {
                two_encodings_differ any "Equal tokens show that two states are equal, and mean that a nonce was used twice."
                over_many_thousands any "A nonce from a small space repeats after a few thousand tokens; with AES-GCM that gives away the key that authenticates."
                a_codec_made_again any "A counter that starts anew with each codec repeats every nonce after a restart."
                codecs_side_by_side any "Replicas share keys and nothing else, so their nonces must not depend on what each has done."
                no_counter any "A counter in a token is state: it starts again with the process, and counts alike on every replica."
                at_the_same_moment any "Two threads may seal at once: a nonce made of the clock, or of a counter without a lock, is then used twice."
            }
            tampering {
                every_character any "Any character of a token may be changed by whoever holds it, the last one included."
                every_bit any "A tag that is compared in part, or that covers the data in part, lets some bit pass."
                two_places any "Changes in two places can leave a weak comparison, by sum or exclusive or, none the wiser."
                weak_sums any "A checksum in the place of a MAC has blind spots that are known to everybody."
                overwritten any "A comparison that hashes to a few bits passes once in so many tries, and zeros may pass as no tag at all."
                cuts any "A tag cut short must not be compared only as far as it goes, nor be taken for absent."
                insertions any "What a lenient decoder skips is a second spelling of the same token."
                extensions any "A decoder that stops at the first good token, or strips what is around it, accepts what nobody made."
                short_texts_around any "A decoder that strips one character, or two, from either end gives each token another spelling."
                words_around any "A word that is stripped for a test, a logger or a proxy, and forgotten in the decoder, gives each token another spelling."
                moved_dots any "The parts of a token are told apart by its dots: moved, they must make no other token."
                long_tokens any "A check that covers the first bytes only shows on long tokens."
                rare_tokens any "A decoder may treat one byte value specially, which one token of 256 has in the place that matters."
                pieces_of_two any "Two genuine tokens, cut and put together, must not make a third."
            }
            structure {
                headers_say_nothing any "A length of the tag, or the name of an algorithm, is the attacker's where the token carries it: believed, it leaves less to forge or nothing."
                chunks any "A long payload may be sealed chunk by chunk: none must be left out, doubled, exchanged with another or taken from another token."
            }
            spelling {
                spare_bits any "The last character of base64 has bits that encode nothing: unchecked, a token has up to sixteen spellings, and single use can be evaded."
                padding any "Base64url has no padding here: with it, the same token has another spelling."
                other_alphabets any "`+` and `/` are base64's other alphabet: a decoder that takes both takes each token in two spellings."
                white_space any "White space is stripped by many decoders: a client that adds it must not be obliged."
                escapes any "Somebody in between may have decoded or normalised the text: the token is then another."
                other_encodings any "A decoder that also takes hexadecimal, in whatever case, gives a token more spellings."
            }
            junk {
                alone any "Anything may come in the place of a token; it is refused, and nothing panics."
                after_a_kid any "A kid that exists takes junk past the first check."
                in_a_genuine_token any "Junk in one place of a genuine token reaches the code behind all other checks."
                headless any "Names such as `none`, left in for a test or known from JWT, must open nothing."
                forged_lengths any "A length inside a token is the attacker's: believed, it panics or takes all memory."
            }
            time {
                megabytes any "A client can send megabytes, whatever the sealer's limit: a codec is called by others too."
                refusal_takes_linear_time any "Refusing must not take longer than receiving: quadratic time stops a server with one request."
            }
            context {
                alike any "Contexts that differ in case, white space, zeros, order or spelling are different contexts."
                each_of_many any "A token opens under its own context and under no other that occurs."
                every_bit any "Each bit of the context counts, the ones of the last incomplete block too."
                every_length any "Contexts of one repeated byte differ by their length only: it must be authenticated."
                long any "A context is not cut off at 255 bytes, 64 KiB or anywhere."
                thousands_at_random any "A digest of a few bits takes one context of some thousands for another."
                weak_sums any "A checksum in the place of a hash has blind spots that are known to everybody."
                not_in_the_token any "The context holds digests of the principal and the request: in the token, they would confirm a guess."
            }
            forgery {
                payload_and_context any "Joined without lengths, the end of the payload can be read as the start of the context."
                separators any "A separator between parts is no boundary when a part may contain it."
                lengths_that_wrap any "A length kept in one byte or two says the same of a part 256 or 65,536 bytes longer."
                bytes_into_the_context any "Bytes taken out of a token must not pass as a part of the context, encrypted or not."
                bytes_out_of_the_context any "Nor the other way round: a part of the context must not pass as bytes of the token."
            }
            keys {
                every_key_opens keyring "A key that no longer seals still opens, or every rotation drops the rounds that are under way."
                an_old_key_is_as_strict keyring "What is no longer used to seal is what nobody looks at: every check holds for it too."
                the_first_key_seals keyring "The first key of the ring seals: sealing with another breaks the order of a rotation."
                another_ring keyring "What another ring sealed is not ours."
                another_key_under_the_same_kid keyring "The kid names a key and is no proof of it."
                every_bit_of_a_key keyring "A key of which some bytes are ignored is a shorter key."
                keys_alike keyring "Keys with the same bytes in another order, or the same sum, are different keys."
                rotation keyring "At each step of a rotation, replicas at neighbouring steps open each other's tokens."
                the_same_ring_again keyring "A ring is its keys: not their order, not the object that holds them."
                an_exhausted_key_still_opens keyring "A key at its limit of seals must not seal, and must still open."
                no_public_digest_of_the_context keyring "A digest of the context that needs no key lets whoever holds a token test a guess at the request."
            }
            kids {
                relabelled_kids keyring "The kid is authenticated: a token must not be moved to another key's name."
                a_kid_and_its_neighbours keyring "The kid is authenticated beside other parts: its letters must not be read as theirs, nor theirs as its own."
                kids_alike keyring "Kids are compared whole and as they are: not by prefix, not by case."
                unknown_kids keyring "`UnknownKey` tells the operator of a rotation gone wrong: it must be said then, and only then."
                the_kid_of_the_sealing_key keyring "A token that names a key names the one that sealed it."
            }
            lengths {
                another_context any "A context that is forgotten where the payload just fills a block, or on another path for large ones, is forgotten for many payloads."
                first_and_last_bytes any "The ends of a token are where a check by blocks stops short, at one length of many."
                another_key keyring "Nor may a length, or a path for large payloads, have a key of its own or none."
                another_kid keyring "Nor may the kid be left out at some lengths, or on that path."
            }
            independence {
                opens_again_and_again any "A token may be presented again: single use is the server's business."
                refused_first any "A refusal must not make the genuine token fail afterwards."
                refused_thousands_of_times any "A codec that locks itself after so many failures is locked by anyone."
                changed_right_after_it_opened any "A cache keyed by a part of the token opens what was changed elsewhere."
                in_any_order any "Calls for different tokens and contexts follow each other in any order."
                thousands_outstanding any "A codec that remembers the tokens it made forgets the older ones."
                another_codec_opens any "The retry reaches another replica, or the same after a restart."
                another_codec_is_as_strict any "A codec must not be stricter about its own tokens than about those of a replica."
                codecs_share_nothing keyring "A cache or key shared by all codecs of a process opens the tokens of another ring."
                pointers_to_a_codec any "A reference, a `Box` and an `Arc` of a codec are the codec."
            }
            threads {
                many_threads any "A server opens on many threads at once."
                two_threads_at_once any "What two calls share without a lock goes wrong only when they meet: so they are made to meet."
            }
            appearance {
                url_safe any "Tokens travel in JSON, in headers, in logs: A-Z a-z 0-9 - _ . and nothing else passes everywhere."
                length any "A token that grows faster than its payload runs into the limit, and clients pay for it."
                room_for_a_nonce_and_a_tag any "A random nonce of fewer than 12 bytes repeats within the seals of a key, and a tag of fewer than 16 can be guessed: an encrypted token has room for both."
                enough_of_it_is_random any "A tag of four bytes is guessed, a nonce of four bytes repeats: what does not differ from token to token is neither."
                the_payload_is_not_logged any "What stands before the first dot is logged as the kid, so it must be nothing of the payload."
                the_key_is_not_visible keyring "What is the same in every token of a key, and not in those of another, is key material in everybody's hands, or confirms a guess at it."
            }
            confidentiality {
                claims_do_not_change any "The sealer asks once what a codec is, and decides by it where the claims are kept."
                the_payload_is_not_visible any "`encrypts()` puts the digests of the principal and the request into the payload: they must not be readable."
                every_byte_is_encrypted any "Encryption that starts late, ends early or has no nonce leaves bytes that depend on the payload alone."
                no_bit_is_visible any "One bit that depends on the payload, in the middle of random ones, still tells something of it."
                equal_blocks any "Equal blocks that encrypt alike show the structure of what is inside."
                no_keystream_twice any "One keystream for two tokens gives the difference of their payloads to anyone."
                length_tells_nothing_else any "Compression before encryption tells through the length what is inside."
            }
            errors {
                what_is_no_token_is_malformed any "Junk must be told from an attack and from a rotation gone wrong: the form is checked first."
                what_was_changed_is_not_authentic any "`Unauthentic` tells the operator of an attack; `UnknownKey` would hide it."
                another_key_is_not_authentic keyring "A token of the right form by another key is a forgery, whatever its context."
                what_is_inside_decides_nothing any "Wrong padding told from a wrong tag lets whoever asks often enough decrypt a token, byte by byte."
                another_context any "A typed codec says `OtherContext` of its own token under another context, an opaque one never."
                a_forgery_is_not_of_another_context any "`OtherContext` becomes `Mismatch`, which says that the token is genuine: never of a forgery."
            }
            binding {
                the_same_request any "The honest retry opens, round after round, however its JSON is spelled."
                another_principal any "A stolen token is of no use to another user, nor to an anonymous one."
                other_params any "A confirmation given for one amount must not open for another."
                another_method any "A token of one method means something else in another."
                another_version any "A token of one protocol version means something else in another."
                another_server any "Two servers may share keys: a token of one is nothing to the other."
                parts_that_shift any "Version, method and server are joined with their lengths, or one could lend to the next."
                another_ring keyring "The whole with another key is refused, and is no mismatch."
                every_edit_is_invalid any "Through the sealer as without it: no edit opens, and none is called a mismatch."
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
