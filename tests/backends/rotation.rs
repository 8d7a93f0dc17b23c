//! A key is replaced while two replicas serve the same users at different speeds, and no honest
//! retry is refused.

use std::time::{Duration, SystemTime};

use request_state::{Binding, Keyring, RequestStateCodec, Sealer};

use crate::fixtures::{Call, at, codecs, key};

const TTL_MS: u64 = 300_000;
const START: u64 = 1_790_000_000_000;

struct Fleet {
    which: usize,
    replicas: [Keyring; 2],
    binding: Binding,
    now: u64,
    /// Every token that has not expired, and when it does.
    in_flight: Vec<(String, u64)>,
}

impl Fleet {
    fn new(which: usize, keys: &Keyring) -> Self {
        Self {
            which,
            replicas: [keys.clone(), keys.clone()],
            binding: Call::default().binding(),
            now: START,
            in_flight: Vec::new(),
        }
    }

    fn sealer(&self, replica: usize) -> Sealer<Box<dyn RequestStateCodec>> {
        let codec = codecs(&self.replicas[replica])
            .into_iter()
            .nth(self.which)
            .unwrap()
            .1;
        Sealer::builder("billing", codec)
            .ttl(Duration::from_millis(TTL_MS))
            .build()
            .unwrap()
    }

    fn clock(&self) -> SystemTime {
        at(self.now)
    }

    /// Both replicas seal, and both open everything in flight. Returns how many were refused.
    fn serve(&mut self) -> usize {
        for replica in [0, 1] {
            let token = self
                .sealer(replica)
                .seal_at(&1, &self.binding, self.clock());
            self.in_flight.push((token.unwrap(), self.now + TTL_MS));
        }
        let now = self.now;
        self.in_flight.retain(|(_, expires)| *expires > now);
        let refused = |replica| {
            let sealer = self.sealer(replica);
            self.in_flight
                .iter()
                .filter(|(token, _)| {
                    sealer.open_at::<i32>(token, &self.binding, self.clock()) != Ok(1)
                })
                .count()
        };
        refused(0) + refused(1)
    }

    /// Serves for a while, in steps of 20 s.
    fn serve_for(&mut self, ms: u64) -> usize {
        let mut refused = 0;
        for _ in 0..ms / 20_000 {
            self.now += 20_000;
            refused += self.serve();
        }
        refused
    }

    /// Rolls `keys` out: the first replica at once, the second after `lag`.
    fn roll_out(&mut self, keys: &Keyring, lag: u64) -> usize {
        self.replicas[0] = keys.clone();
        let refused = self.serve_for(lag);
        self.replicas[1] = keys.clone();
        refused
    }
}

fn rings() -> [Keyring; 4] {
    let old_only = Keyring::new([("old", key(1))]).unwrap();
    let step_1 = Keyring::new([("old", key(1)), ("new", key(2))]).unwrap();
    let step_2 = step_1.sealing_with("new").unwrap();
    let step_3 = Keyring::new([("new", key(2))]).unwrap();
    [old_only, step_1, step_2, step_3]
}

#[test]
fn three_steps_refuse_no_honest_retry() {
    let [old_only, step_1, step_2, step_3] = rings();
    for which in 0..5 {
        for lag in [0, 60_000, 900_000] {
            let mut fleet = Fleet::new(which, &old_only);
            let mut refused = fleet.serve_for(400_000);
            refused += fleet.roll_out(&step_1, lag);
            refused += fleet.roll_out(&step_2, lag);
            // The last replica seals with the old key until here: one TTL and a minute.
            refused += fleet.serve_for(TTL_MS + 60_000);
            refused += fleet.roll_out(&step_3, lag);
            refused += fleet.serve_for(400_000);
            assert_eq!(refused, 0, "backend {which}, lag {lag} ms");
        }
    }
}

/// The test above can fail: leaving out a step, or hurrying, drops rounds.
#[test]
fn fewer_steps_refuse_some() {
    let [old_only, step_1, step_2, step_3] = rings();
    // The new key seals before the second replica has it.
    let mut fleet = Fleet::new(0, &old_only);
    assert_eq!(fleet.serve_for(400_000), 0);
    assert!(fleet.roll_out(&step_2, 60_000) > 0);
    // The old key is removed too early.
    let mut fleet = Fleet::new(0, &step_1);
    assert_eq!(fleet.serve_for(400_000), 0);
    assert_eq!(fleet.roll_out(&step_2, 60_000), 0);
    assert!(fleet.roll_out(&step_3, 60_000) > 0);
}
