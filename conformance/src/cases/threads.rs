//! Many threads at the same time.

use std::sync::Barrier;
use std::thread;

use crate::kit::{Codec, Genuine, Kit, encode, must_open, must_refuse, must_refuse_context};
use crate::lockstep::in_lockstep;
use crate::rings::ring;
use crate::stop::{Stop, Verdict, panic_text};

const CONTEXT: &[u8] = b"context";

pub(crate) fn many_threads(kit: &Kit<'_>) -> Verdict {
    const THREADS: usize = 6;
    let keys = ring()?;
    let codecs = [kit.codec_of(&keys), kit.codec_of(&keys)];
    let [first, second] = &codecs;
    let shared = Genuine::new(first, b"shared by all", CONTEXT)?;
    let start = Barrier::new(THREADS);
    let results = thread::scope(|scope| {
        let (shared, start) = (&shared, &start);
        let run = move |number| {
            start.wait();
            one_of_many([first, second], shared, number)
        };
        let threads: Vec<_> = (0..THREADS)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        let ends = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ends.collect::<Vec<_>>()
    });
    for result in results {
        result.map_err(|panic| panic_text(&*panic))??;
    }
    Ok(())
}

fn one_of_many(codecs: [&Codec<'_>; 2], shared: &Genuine, number: usize) -> Result<(), Stop> {
    let [sealing, opening] = codecs;
    let about = "while other threads use the codec";
    let context = format!("context of thread {number}");
    for round in 0..250usize {
        let payload = format!("{number}:{round}:").repeat(1 + round % 7);
        let token = encode(sealing, payload.as_bytes(), context.as_bytes())?;
        must_open(
            sealing,
            &token,
            context.as_bytes(),
            payload.as_bytes(),
            about,
        )?;
        must_open(
            opening,
            &token,
            context.as_bytes(),
            payload.as_bytes(),
            about,
        )?;
        must_open(sealing, &shared.text, CONTEXT, &shared.payload, about)?;
        must_refuse_context(sealing, &token, CONTEXT, || {
            format!("the context of another token, {about}")
        })?;
        must_refuse(sealing, &format!("{token}A"), context.as_bytes(), || {
            format!("changed, {about}")
        })?;
    }
    Ok(())
}

pub(crate) fn two_threads_at_once(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    // Both threads encode, then both decode, each its own token.
    let sides = [
        (&b"the payload of one"[..], &b"one"[..]),
        (b"and that of the other", b"other"),
    ];
    let sealed = in_lockstep(3_000, |thread, _| {
        let (payload, context) = sides.get(thread).copied().unwrap_or_default();
        Ok((thread, encode(&codec, payload, context)?))
    })?;
    let about = "sealed while another thread sealed";
    let mut last = [None, None];
    for (thread, token) in &sealed {
        let (payload, context) = sides.get(*thread).copied().unwrap_or_default();
        must_open(&codec, token, context, payload, about)?;
        if let Some(last) = last.get_mut(*thread) {
            *last = Some(token);
        }
    }
    in_lockstep(3_000, |thread, round| {
        let (payload, context) = sides.get(thread).copied().unwrap_or_default();
        let (_, other) = sides.get(1 - thread).copied().unwrap_or_default();
        let token = last
            .get(thread)
            .copied()
            .flatten()
            .map_or("", String::as_str);
        // Rejections and successful decodings in turn, at the same time as the other thread.
        if round % 3 == thread {
            let about = || "the context of the other thread, at the same moment".into();
            must_refuse_context(&codec, token, other, about)
        } else {
            must_open(
                &codec,
                token,
                context,
                payload,
                "opened while another thread opens",
            )
        }
    })?;
    Ok(())
}
