//! The catalog of all cases for stores: group, name, and the reason for the case.
//!
//! Both [`STORE_CASES`] and the tests of [`store_suite!`](crate::store_suite) are generated from
//! this one list, so neither can miss a case that the other has.

use std::pin::Pin;

use super::cases;
use super::kit::Kit;
use crate::catalogue::Case;
use crate::stop::Verdict;

/// Passes the list to the macro named first, after the other tokens that it was given.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ([$($then:tt)*] [$($given:tt)*]) => {
        $($then)*! { [$($given)*]
            claims {
                the_first_wins "The second claim of an id finds the first, on whichever replica it arrives."
                own_nonce "Clients of databases repeat commands by themselves: a claim that finds its own nonce is first."
                every_bit_of_the_nonce "A nonce that is compared in part takes somebody else's claim for its own, and the round counts twice."
                every_bit_of_the_id "Ids that are cut, trimmed or folded collide: a user is refused, or gets another's answer."
                bytes_in_another_order "A sum or a hash of few bits in the place of the id collides with its neighbors."
                the_id_alone_counts "Branches of a round have tokens of their own: whatever else differs, one id is used once."
                the_first_presentation "A repetition is told by the presentation that was first. The latest one would answer a fork with the answers of another."
                the_age "Whether a claim without an answer is still in progress is told by its age."
            }
            simultaneous {
                many_at_once "Checking and then setting is two steps: of many claims between them, each wins."
                repeated_commands "A repeated command and its rivals arrive at once: all copies of one nonce win, and no other."
                dropped_half_way "The client of a request disconnects at any await: the claim is made or not, and the store goes on."
                released_and_claimed "A release in two steps removes the claim that came in between."
                recorded_and_released "A record in two steps writes one round's answer onto the claim that came in between."
            }
            threads {
                two_at_the_same_moment "What two threads do at the same moment must be one step, without an await in between to show it."
                many "A server opens on many threads at once, and on several replicas."
            }
            keeping {
                for_the_whole_lifetime "An entry that ends early lets its round count twice."
                later_claims_change_nothing "A later claim that sets the lifetime anew lets any client shorten it."
                very_long_lifetimes "A lifetime in a type that is too small wraps around, to nothing or to the past."
                no_lifetime "A lifetime of zero is an error in some databases, and must not become one for the round next to it."
                thousands_of_entries "A store that makes room by dropping the oldest entry makes its round good again."
                a_new_connection "What is used stays used when a replica reconnects or restarts."
            }
            find {
                nothing_there "A look-up is no claim: the round that it does not find is still to be redeemed."
                what_was_claimed "An expired state starts over only where its round was not redeemed, so the look-up must find what any replica claimed."
                changes_nothing "A look-up may come at any time, and must neither use up nor renew."
            }
            record {
                byte_for_byte "An answer is sealed: one byte lost or changed, and the repetition cannot be answered."
                every_length "Columns and buffers go wrong at some lengths only, up to the limit of 64 KiB."
                of_each_id "An answer given to another round is given to another user."
                again_replaces "The answer that counts is the last one recorded, whole."
                only_the_holder "Whoever lost the claim must not decide what its winner's client gets."
                only_what_is_claimed "An answer for a claim that is gone must not make an entry of its own."
                leaves_the_claim "An answer changes neither who was first nor when."
                leaves_the_lifetime "Writing an answer resets the lifetime in some databases: the entry ends early, or never."
            }
            release {
                only_the_holder "Whoever lost the claim must not make the round good again."
                only_what_is_claimed "A claim is released once, and what was never claimed is not."
                nothing_with_an_answer "A release that is late on its way would take the answer along, and the handler would run again."
                makes_a_new_claim_possible "A handler that knows that nothing happened gives the round back: whole, and without what the first left."
                a_released_nonce_holds_nothing "The handler that released must not record into the claim of the next."
                the_next_lifetime_is_whole "A timer of the released claim must not end the next one."
            }
            history {
                claims_of_older_tokens "A store that came up empty cannot tell whether a token issued before was redeemed: to say first would redeem it again."
                look_ups_of_older_tokens "Nor can it say that there is no entry, or an expired state starts over although its round was redeemed."
                lost_is_not_claimed "After HistoryLost the claim has not been made: the caller does not release it."
                tokens_of_a_clock_ahead "Clocks of replicas differ: a token that was issued a moment from now is one like any other."
            }
            outage {
                every_call_is_an_error "A store that does not know must not say first, nor that there is nothing."
            }
        }
    };
}

pub(super) type Run = for<'k> fn(&'k Kit<'k>) -> Pin<Box<dyn Future<Output = Verdict> + 'k>>;

macro_rules! table {
    ([] $($group:ident { $($name:ident $why:literal)* })*) => {
        /// All cases of the suite for stores, in the order in which they run.
        pub const STORE_CASES: &[Case] = &[$($(Case {
            group: stringify!($group),
            name: stringify!($name),
            why: $why,
            needs_keyring: false,
        },)*)*];

        /// The functions of the cases, in the same order.
        pub(super) const RUNS: &[Run] = &[$($(|kit| Box::pin(cases::$group::$name(kit)),)*)*];
    };
}

__store_cases!([table] []);
