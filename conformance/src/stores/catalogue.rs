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
                the_first_wins "The second claim of an id finds the first, whichever replica it reaches."
                own_nonce "Clients of databases repeat commands by themselves, so a claim that finds its own nonce is first."
                every_bit_of_the_nonce "A store that compares only a part of the nonce mistakes another claim for its own, and the round counts twice."
                every_bit_of_the_id "Ids that are cut, trimmed or case-folded collide. A user is then rejected, or gets another user's answer."
                bytes_in_another_order "A sum, or a hash of a few bits, in place of the id collides with similar ids."
                the_id_alone_counts "Branches of a round have tokens of their own. Whatever else differs, an id is used once."
                the_first_presentation "A repetition is recognized by the presentation that was first. With the latest one, a fork would get the answers of another."
                the_age "The age of a claim without an answer decides whether it still counts as in progress."
            }
            simultaneous {
                many_at_once "Checking and then setting takes two steps. Of many claims, each that runs between the two steps wins."
                repeated_commands "A repeated command and its rivals arrive at once. All copies of one nonce win, and no other claim does."
                dropped_half_way "The client of a request may disconnect at any await. The claim is then made or not, and the store keeps working."
                released_and_claimed "A release in two steps removes a claim that was made in between."
                recorded_and_released "A record in two steps writes the answer of one round onto a claim that was made in between."
            }
            threads {
                two_at_the_same_moment "Calls of two threads at the same moment must be one step each, even where no await reveals the gap."
                many "A server opens tokens on many threads at once, and on several replicas."
            }
            keeping {
                for_the_whole_lifetime "If an entry ends early, its round counts twice."
                later_claims_change_nothing "If a later claim resets the lifetime, any client can shorten it."
                very_long_lifetimes "A lifetime in a type that is too small wraps around, to nothing or to the past."
                no_lifetime "A lifetime of zero is an error in some databases. It must not become an error for the round next to it."
                thousands_of_entries "A store that makes room by dropping the oldest entry makes that entry's round valid again."
                a_new_connection "A used round stays used when a replica reconnects or restarts."
            }
            find {
                nothing_there "A look-up is not a claim: a round that it does not find can still be redeemed."
                what_was_claimed "A flow whose state has expired starts over only if its round was not redeemed, so the look-up must find the claims of every replica."
                changes_nothing "A look-up may come at any time. It must neither use up a round nor renew an entry."
            }
            record {
                byte_for_byte "An answer is sealed. If one byte is lost or changed, the repetition cannot be answered."
                every_length "Columns and buffers fail at some lengths only, up to the limit of 64 KiB."
                of_each_id "An answer that belongs to another round belongs to another user."
                again_replaces "The last answer that was recorded counts, in full."
                only_the_holder "A request that lost the claim must not decide what the winner's client gets."
                only_what_is_claimed "An answer for a claim that is gone must not create an entry of its own."
                leaves_the_claim "An answer changes neither which claim was first nor when it was made."
                leaves_the_lifetime "Writing an answer resets the lifetime in some databases. The entry then ends early, or never."
            }
            release {
                only_the_holder "A request that lost the claim must not make the round valid again."
                only_what_is_claimed "A claim is released once. An id that was never claimed cannot be released."
                nothing_with_an_answer "A release that arrives late would delete the answer, and the handler would run again."
                makes_a_new_claim_possible "A handler that knows that nothing happened releases the round. The next claim gets it whole, without anything of the first claim."
                a_released_nonce_holds_nothing "The handler that released a round must not record into the next claim."
                the_next_lifetime_is_whole "A timer of the released claim must not end the next claim."
            }
            history {
                claims_of_older_tokens "A store that came up empty cannot know whether a token issued before was redeemed. Calling its claim first would redeem the token again."
                look_ups_of_older_tokens "Such a store must not report that there is no entry, either. Otherwise a flow with an expired state starts over although its round was redeemed."
                lost_is_not_claimed "After HistoryLost, the claim has not been made: the caller does not release it."
                tokens_of_a_clock_ahead "Clocks of replicas differ. A token that was issued a moment in the future is treated like any other."
            }
            outage {
                every_call_is_an_error "A store that does not know must report neither that a claim is first nor that there is no entry."
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
