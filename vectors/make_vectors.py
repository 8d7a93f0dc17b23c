"""Writes vectors.json, the test vectors of docs/token-format.md, which says how to run it.

`--check` writes nothing, and fails when the file is not what would be written.
"""

import base64
import json
import pathlib
import sys

from token_format import (
    LABELS,
    Refused,
    Unparsable,
    base64url,
    canonical,
    context_of,
    derive,
    digest_of,
    encrypts,
    form,
    header_of,
    open_round,
    open_state,
    open_token,
    parse,
    payload_of,
    principal_digest,
    round_body,
    round_expiry,
    round_payload,
    seal,
    sha256,
    ttl_of,
    u16,
    u64,
)

FILE = pathlib.Path(__file__).with_name("vectors.json")

# The keyring: the first seals. Public, so worth nothing.
KEYS = {"2026-10": bytes(range(32)), "2026-07_old": sha256(b"an older key")}
STRANGERS_KEY = sha256(b"a key that is not in the ring")

# -------------------------------------------------------------------------------- digest vectors

# Texts of one group have one digest, in every build; texts of two groups have two.
GROUPS = [
    ("no params and empty params", ["null", "{}", " { } "]),
    (
        "what changes between rounds is left out, and so are top-level nulls",
        [
            '{"name":"t"}',
            '{"name":"t","_meta":{"progressToken":7},"inputResponses":{},"requestState":"x.y"}',
            '{"name":"t","_meta":null,"cursor":null,"arguments":null}',
            '{"name":"t","_\\u006deta":1}',
            '{"name":"t","arguments":{}}',
            '{"\\u0061rguments": { },"name":"t"}',
        ],
    ),
    ("only the exact names are left out", ['{"name":"t","_Meta":1}']),
    ("a nested _meta counts", ['{"name":"t","arguments":{"_meta":{}}}']),
    ("a nested requestState counts", ['{"name":"t","arguments":{"requestState":"x.y"}}']),
    ("arguments alone may be empty", ['{"name":"t","cursor":{}}']),
    ("to the letter", ['{"name":"t","Arguments":{}}']),
    ("nested, they count", ['{"name":"t","arguments":{"arguments":{}}}']),
    ("with a nested null they are not empty", ['{"name":"t","arguments":{"":null}}']),
    ("an empty array is not absent", ['{"name":"t","arguments":[]}']),
    ("nor an empty string", ['{"name":"t","arguments":""}']),
    ("nor false", ['{"name":"t","arguments":false}']),
    ("nested, an empty object", ['{"name":"t","arguments":{"a":{}}}']),
    ("is not an empty array", ['{"name":"t","arguments":{"a":[]}}']),
    ("nor are they alike under another name", ['{"name":"t","cursor":[]}']),
    ("where an empty string counts too", ['{"name":"t","cursor":""}']),
    ("a default filled in counts", ['{"name":"t","arguments":{"verbose":false}}']),
    ("a nested null counts", ['{"name":"t","arguments":{"a":null}}']),
    ("and is not the text null", ['{"name":"t","arguments":{"a":"null"}}']),
    ("a null in an array counts", ['{"name":"t","arguments":[null]}']),
    (
        "the worked example of token-format.md",
        [
            '{"name": "transfer", "cursor": null, "_meta": {"progressToken": 7},\n'
            ' "arguments": {"to": "Zo\\u00eb", "amount": 10.50, "notes": [true, null, ""]}}',
            '{"arguments":{"notes":[true,null,""],"amount":10.5,"to":"Zoë"},"name":"transfer"}',
            '{"arguments":{"amount":105e-1,"to":"\\u005ao\\u00EB","notes":[true,null,""]}'
            ',"\\u006eame":"transfer"}',
        ],
    ),
    (
        "decomposed: another string",
        ['{"arguments":{"to":"Zoe\\u0308"}}', '{"arguments":{"to":"Zoe\u0308"}}'],
    ),
    ("composed", ['{"arguments":{"to":"Zo\\u00eb"}}', '{"arguments":{"to":"Zoë"}}']),
    (
        "key order, at any depth",
        [
            '{"a":1,"b":{"c":[{"x":1,"y":2}],"d":3}}',
            '{"b":{"d":3,"c":[{"y":2,"x":1}]},"a":1}',
        ],
    ),
    ("array order counts", ['{"a":[1,2]}']),
    ("array order counts, the other", ['{"a":[2,1]}']),
    ("nesting counts", ['{"a":[[1],2]}']),
    ("nesting counts, the other", ['{"a":[[1,2]]}']),
    (
        "keys are sorted by their UTF-8 bytes, not by UTF-16 units: U+FF5E before U+1F600",
        ['{"\\ud83d\\ude00":1,"\\uff5e":2,"z":3,"zz":4,"":5}', '{"zz":4,"z":3,"":5,"～":2,"😀":1}'],
    ),
    ("a key that holds what the form is made of is a key", ['{"a":{"\\u0001bN1,}":1}}']),
    ("the same bytes outside the key", ['{"a":{"\\u0001":{"bN1,":1}}}']),
    (
        "a key of 125 bytes: its length, as a byte, is that which ends an object",
        ['{"x":[{"' + "n" * 123 + 'S\\u0002":null}]}'],
    ),
    (
        "what the same bytes would say if a key did not start with `S`",
        ['{"x":[{}' + ",null" * 123 + ',"n}"]}'],
    ),
    ("127 bytes, the longest with a length of one byte", [json.dumps({"a": "x" * 127})]),
    ("128 bytes", [json.dumps({"a": "x" * 128})]),
    ("a key of 16,384 bytes, the shortest with a length of three bytes", [json.dumps({"k" * 16384: 1})]),
    ("64 letters of two bytes each", [json.dumps({"a": "é" * 64})]),
    (
        "escapes are resolved",
        [
            '{"a":"\\u0000\\"\\\\\\/\\b\\f\\n\\r\\t"}',
            '{"a":"\\u0000\\u0022\\u005c/\\u0008\\u000c\\u000A\\u000d\\u0009"}',
        ],
    ),
    (
        "of equal keys, parsers keep the last",
        ['{"a":2}', '{"a":1,"a":2}', '{"a":{"b":1},"\\u0061":2}'],
    ),
    (
        "integers: clients reformat them",
        [
            '{"n":1}',
            '{"n":1.0}',
            '{"n":1e0}',
            '{"n":10e-1}',
            '{"n":0.1E+1}',
            '{"n":1.000000000000000000000}',
        ],
    ),
    ("a number is no text", ['{"n":"1"}']),
    ("and no boolean", ['{"n":true}']),
    ("a negative number", ['{"n":-1}', '{"n":-1.0}', '{"n":-10E-1}']),
    (
        "zero has no sign and no exponent",
        ['{"n":0}', '{"n":-0}', '{"n":0.0}', '{"n":-0.0}', '{"n":0e5}', '{"n":-0E-999}'],
    ),
    ("trailing zeros go to the exponent", ['{"n":1200}', '{"n":1200.0}', '{"n":1.2e3}', '{"n":0.12e4}']),
    ("a fraction", ['{"n":10.5}', '{"n":10.50}', '{"n":105e-1}', '{"n":1.05E1}']),
    ("a tenth", ['{"n":0.1}', '{"n":1e-1}', '{"n":0.10}']),
    ("three tenths", ['{"n":0.3}']),
    ("not quite three tenths", ['{"n":0.30000000000000004}']),
    ("2^53 − 1", ['{"n":9007199254740991}', '{"n":9007199254740991.0}', '{"n":9.007199254740991e15}']),
    ("2^53", ['{"n":9007199254740992}', '{"n":9007199254740992.0}', '{"n":9.007199254740992e15}']),
    ("2^53 + 1: no double holds it", ['{"n":9007199254740993}']),
    ("−2^53 − 1", ['{"n":-9007199254740993}']),
    ("2^63 − 1", ['{"n":9223372036854775807}']),
    ("2^63", ['{"n":9223372036854775808}', '{"n":9223372036854775808.0}']),
    ("the shortest decimal of the double 2^63, as an integer", ['{"n":9223372036854776000}']),
    ("−2^63", ['{"n":-9223372036854775808}', '{"n":-9223372036854775808.0}']),
    ("10^19, above 2^63", ['{"n":10000000000000000000}', '{"n":1e19}', '{"n":1.0E+19}']),
    ("the last double below 2^64", ['{"n":18446744073709549568}', '{"n":18446744073709549568.0}']),
    ("2^64 − 1", ['{"n":18446744073709551615}']),
    ("beyond 2^64", ['{"n":1e22}', '{"n":10000000000000000000000}', '{"n":10.0e21}']),
    ("a double of 17 digits", ['{"n":1.7976931348623157e308}', '{"n":17976931348623157e292}']),
    ("the least positive double", ['{"n":5e-324}', '{"n":0.5e-323}']),
    ("a large exponent is not expanded", ['{"n":1e300}', '{"n":0.001e303}']),
    ("a small one neither", ['{"n":-1.5e-300}', '{"n":-15E-301}']),
    ("as shortest decimals, ties go to the even digit: 2^50 + 0.25", ['{"n":1125899906842624.2}']),
    ("2^50 + 0.75", ['{"n":1125899906842624.8}']),
    (
        "a name of the parser's own is a key like any other where it is not the first",
        ['{"a":{"b":1,"$serde_json::private::Number":"5"}}'],
    ),
]

# Where a feature of serde_json that any crate can switch on changes what the parser makes of a text.
BY_FEATURE = [
    ("arbitrary_precision", '{"n":9007199254740993.0}', "2^53 as a double, 2^53 + 1 as written"),
    ("arbitrary_precision", '{"n":9.223372036854776e18}', "2^63 as a double, and no integer of its own"),
    ("arbitrary_precision", '{"n":1234567890123450000.0}', "a whole double, and not this one"),
    ("arbitrary_precision", '{"n":18446744073709551616}', "2^64 is no 64-bit integer"),
    ("arbitrary_precision", '{"n":18446744073709551617}', "nor is this, and it is the same double"),
    ("arbitrary_precision", '{"n":18446744073709552000}', "the shortest decimal of that double"),
    ("arbitrary_precision", '{"n":-9223372036854775809}', "−2^63 − 1 is none either"),
    ("arbitrary_precision", '{"n":123456789012345678901234567890}', "thirty digits"),
    ("arbitrary_precision", '{"n":0.10000000000000000555}', "a tenth as a double"),
    ("arbitrary_precision", '{"n":1125899906842624.25}', "a tie between ….2 and ….3"),
    ("arbitrary_precision", '{"n":1125899906842624.75}', "a tie between ….7 and ….8"),
    ("arbitrary_precision", '{"n":1e-400}', "zero as a double"),
    ("arbitrary_precision", '{"n":1e400}', "too large for a double: the parser refuses it"),
    ("arbitrary_precision", '{"n":1e9223372036854775807}', "the largest exponent"),
    ("arbitrary_precision", '{"n":1e9223372036854775808}', "one more is an error"),
    ("arbitrary_precision", '{"n":1.0e-9223372036854775808}', "the least exponent"),
    ("arbitrary_precision", '{"n":0.1e-9223372036854775808}', "one less is an error"),
    ("arbitrary_precision", '{"n":0e9223372036854775808}', "zero has no exponent"),
    ("arbitrary_precision", '{"n":1,"_meta":{"n":1e400}}', "also where it is left out: in _meta"),
    ("arbitrary_precision", '{"n":1e400,"n":1}', "and where an equal key comes after it"),
    ("arbitrary_precision", '{"n":{"$serde_json::private::Number":"5"}}', "its own name for a number"),
    ("arbitrary_precision", '{"$serde_json::private::Number":"5"}', "which is no object then"),
    ("raw_value", '{"n":{"$serde_json::private::RawValue":"5"}}', "its own name for JSON text"),
]

# Texts that are not JSON, or not JSON that can be told from another text.
UNPARSABLE = [
    '{"a":"\\ud800"}',
    '{"a":"\\udc00\\ud800"}',
    '{"\\udfff":1}',
    '{"a":["\\ud800x"]}',
    '{"a":1,"_meta":{"b":"\\ud800"}}',
    '{"a":"\\ud800","a":1}',
    '{"a":NaN}',
    '{"a":1,}',
]

# Params that have no digest.
INVALID = ["[]", "[{}]", '"a"', "1", "1.5", "true", "false"]


def nested(levels):
    """Params of so many levels: an object, and arrays inside."""
    if levels == 1:
        return "{}"
    return '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


def level_vector(levels):
    """A parser reads 127 levels of the whole text: a message around the params is one of them, and a
    batch around the message another."""
    return {
        "levels": levels,
        "parses": levels <= 127,
        "parses_in_message": 1 + levels <= 127,
        "parses_in_batch": 2 + levels <= 127,
        "digest": digest_of(canonical(nested(levels))).hex() if levels <= 128 else None,
    }


def group_vectors():
    vectors = []
    for note, texts in GROUPS:
        forms = {
            canonical(text, features)
            for text in texts
            for features in [(), ("arbitrary_precision",), ("arbitrary_precision", "raw_value")]
        }
        assert len(forms) == 1, (note, forms)
        (one,) = forms
        vectors.append({"note": note, **described(one), "params": texts})
    assert len({v["digest"] for v in vectors}) == len(vectors)
    return vectors


def described(canonical_form):
    return {"canonical": canonical_form.hex(), "digest": digest_of(canonical_form).hex()}


def feature_vectors():
    def under(text, features):
        try:
            return described(canonical(text, features))
        except (Unparsable, OverflowError, TypeError):
            return None

    vectors = []
    for feature, text, note in BY_FEATURE:
        without, with_it = under(text, ()), under(text, (feature,))
        vector = {"feature": feature, "params": text, "note": note, "without": without, "with": with_it}
        if "serde_json" in text:
            vector["only"] = "serde_json"
        vectors.append(vector)
    return vectors


# --------------------------------------------------------------------------------- token vectors

CALL = '{"name":"transfer","arguments":{"to":"Zoë","account":9007199254740993,"amount":10.5}}'
DEFAULTS = {
    "kid": "2026-10",
    "version": "2026-07-28",
    "method": "tools/call",
    "server": "billing",
    "principal": "user:alice",
    "params": CALL,
    "state": '{"step":2}',
    "now_ms": 1_798_761_600_000,
    "ttl_ms": 300_000,
    "anonymous_ttl_ms": 60_000,
}
LARGE = {
    "answers": [f"answer {n}: grüße, 世界, 😀" for n in range(40)],
    "rates": [0.1, 1e-10, 5e-324, 1.7976931348623157e308, 123456789.125],
    "seen": list(range(0, 2000, 13)),
}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# An anonymous request may have the longer TTL.
LONG_ANONYMOUS = "anonymous, for longer than others"

# Each is sealed under each algorithm.
TOKENS = {
    "plain": {},
    "anonymous": {"principal": None},
    LONG_ANONYMOUS: {
        "principal": None,
        "ttl_ms": 1_000,
        "anonymous_ttl_ms": 600_000,
    },
    "for less long than anonymous ones": {"ttl_ms": 1_000, "anonymous_ttl_ms": 600_000},
    "null state, no params": {
        "state": "null",
        "params": "null",
        "principal": None,
        "anonymous_ttl_ms": 300_000,
    },
    "empty object": {"state": "{}", "params": "{}"},
    "one-digit state": {"state": "0"},
    "old key": {"kid": "2026-07_old", "state": '["sealed","before","the","rotation"]'},
    "unicode everywhere": {
        "server": "Rechnungen-süd",
        "principal": "https://issuer.example|Zoë 😀",
        "params": '{"name":"résumé","arguments":{"～":"\\u0000","😀":"e\\u0301"}}',
        "state": '{"naïve":"\\u0000\\"\\\\😀","é":"é"}',
    },
    "prompt": {
        "method": "prompts/get",
        "params": '{"name":"review","arguments":{"path":"src/lib.rs"},"_meta":{"a":1}}',
        "state": '[["nested",[["arrays"]]],true,false,null,-1,18446744073709551615]',
    },
    "resource, shortest ttl": {
        "method": "resources/read",
        "params": '{"uri":"file:///project/notes.md"}',
        "ttl_ms": 1,
    },
    "ten years, far future": {"now_ms": 253_402_300_799_999, "ttl_ms": 315_576_000_000},
    "large state": {"state": compact(LARGE)},
}


def nonce_of(algorithm, name):
    return sha256(name.encode())[: 12 if encrypts(algorithm) else 16]


def opens_as(open_payload, v, token, end_ms):
    """What the token opens as by the page's rules: the same from 60 s before it was sealed until just
    before `end_ms`, and at a limit of just its length."""
    v = {**v, "max_token_len": len(token)}
    times = (v["now_ms"] - 60_000, v["now_ms"], end_ms - 1)
    first, *others = [open_payload({**v, "now_ms": now}, open_token(v, KEYS, token)) for now in times]
    assert all(other == first for other in others), v["name"]
    return first


def state_form(v, payload):
    return form(open_state(v, payload), False)


def token_vector(algorithm, name, changes):
    v = {"name": f"{algorithm}: {name}", "algorithm": algorithm, **DEFAULTS, **changes}
    nonce = nonce_of(algorithm, v["name"])
    context, payload = context_of(v), payload_of(v, v["state"].encode())
    token = seal(algorithm, KEYS[v["kid"]], v["kid"], nonce, payload, context)
    expires_at_ms = v["now_ms"] + ttl_of(v)
    assert opens_as(state_form, v, token, expires_at_ms) == form(parse(v["state"], ()), False)
    return v | {
        "expires_at_ms": expires_at_ms,
        "nonce": nonce.hex(),
        "context": context.hex(),
        "payload": payload.hex(),
        "token": token,
    }


# ------------------------------------------------------------------------------- refused vectors

ANSWERS = {
    "too_long": "Invalid",
    "malformed": "Invalid",
    "unknown_key": "Invalid",
    "unauthentic": "Invalid",
    "other_context": "Mismatch",
    "principal": "Mismatch",
    "request": "Mismatch",
    "expired": "Expired",
    "minted_in_future": "Invalid",
    "state": "Invalid",
}


def decoded(part):
    return bytearray(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def flipped(part, at):
    data = decoded(part)
    data[at] ^= 1
    return base64url(data)


def stray_bits(part):
    """The same bytes, spelled with a bit set after the last one."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert len(part) % 4, "only a part that ends inside of a quantum has bits to spare"
    spelled = part[:-1] + alphabet[alphabet.index(part[-1]) | 1]
    assert spelled != part and decoded(spelled) == decoded(part)
    return spelled


def reason_of(open_payload, v, token):
    """Why the page's rules refuse the token."""
    try:
        opened = open_payload(v, open_token(v, KEYS, token))
    except Refused as refused:
        return str(refused)
    assert False, f"{v['name']} opens as {opened}"


def refused_vectors(tokens):
    vectors = []

    def refuse(v, name, reason, token=None, **changes):
        token = v["token"] if token is None else token
        found = reason_of(open_state, {**v, **changes}, token)
        assert found == reason, (v["name"], name, reason, found)
        vectors.append(
            {
                "of": v["name"],
                "name": name,
                "reason": reason,
                "answer": ANSWERS[reason],
                "changes": changes,
                "token": token,
            }
        )

    by_name = {v["name"]: v for v in tokens}
    for algorithm in LABELS:
        v = by_name[f"{algorithm}: plain"]
        refused_forms(refuse, v)
        refused_forgeries(refuse, v, by_name)
        refused_contexts(refuse, v)
        refused_times(refuse, v)
        refused_payloads(refuse, v)
        anonymous = by_name[f"{algorithm}: {LONG_ANONYMOUS}"]
        shorter = anonymous["anonymous_ttl_ms"] - 60_001
        minted = "minted under a longer anonymous TTL"
        refuse(anonymous, minted, "minted_in_future", anonymous_ttl_ms=shorter)
    return vectors


def refused_forms(refuse, v):
    kid, *parts = v["token"].split(".")
    first, rest = parts[0], "".join("." + part for part in parts[1:])
    last, before = parts[-1], v["token"][: -len(parts[-1])]
    refuse(v, "longer than the limit", "too_long", max_token_len=len(v["token"]) - 1)
    for name, token in {
        "empty": "",
        "only a kid": kid,
        "a kid and nothing": kid + ".",
        "no kid": v["token"][len(kid) :],
        "a kid of 65": "k" * 65 + v["token"][len(kid) :],
        "a kid with a space": "2026 10" + v["token"][len(kid) :],
        "a kid that is not ASCII": "2026–10" + v["token"][len(kid) :],
        "white space before": " " + v["token"],
        "a line end after": v["token"] + "\n",
        "a dot after": v["token"] + ".",
        "another part": v["token"] + ".AAAA",
        "padding": v["token"] + "=",
        "the other alphabet": f"{kid}.+/+/{first[4:]}{rest}",
        "a character of no alphabet": f"{kid}.{first[:-1]}*{rest}",
        "an impossible length": f"{kid}.{first[: len(first) // 4 * 4]}A{rest}",
        "a body too short": f"{kid}.{base64url(bytes(27 if encrypts(v['algorithm']) else 15))}{rest}",
        "form before kid": f"unknown.{first}{rest}=",
    }.items():
        refuse(v, name, "malformed", token)
    if len(last) % 4:
        refuse(v, "stray bits at the end", "malformed", before + stray_bits(last))
    if not encrypts(v["algorithm"]):
        body, proof = parts
        refuse(v, "stray bits in the body", "malformed", f"{kid}.{stray_bits(body)}.{proof}")
        refuse(v, "no proof", "malformed", f"{kid}.{body}")
        refuse(v, "an empty proof", "malformed", f"{kid}.{body}.")
        for length in (32, 47, 49):
            short = base64url((bytes(decoded(proof)) + b"\0")[:length])
            refuse(v, f"a proof of {length} bytes", "malformed", f"{kid}.{body}.{short}")


def refused_forgeries(refuse, v, by_name):
    algorithm = v["algorithm"]
    kid, *parts = v["token"].split(".")
    dotted = "." + ".".join(parts)
    refuse(v, "an unknown kid", "unknown_key", "2026-09" + dotted)
    refuse(v, "kids differ in case", "unknown_key", "2026-07_OLD" + dotted)
    refuse(v, "relabelled to another kid of the keyring", "unauthentic", "2026-07_old" + dotted)
    sealed = (bytes.fromhex(v["nonce"]), bytes.fromhex(v["payload"]), bytes.fromhex(v["context"]))
    strange = seal(algorithm, STRANGERS_KEY, kid, *sealed)
    refuse(v, "another key under this kid", "unauthentic", strange)
    if encrypts(algorithm):
        (body,) = parts
        places = {"nonce": 0, "tag": 12, "end of the tag": 27, "ciphertext": 28, "end": -1}
        for name, at in places.items():
            refuse(v, f"a bit of the {name}", "unauthentic", f"{kid}.{flipped(body, at)}")
        refuse(v, "a byte less", "unauthentic", f"{kid}.{base64url(decoded(body)[:-1])}")
        refuse(v, "a byte more", "unauthentic", f"{kid}.{base64url(decoded(body) + b'0')}")
        other = {"aes-256-gcm": "chacha20-poly1305", "chacha20-poly1305": "aes-256-gcm"}[algorithm]
        refuse(v, f"sealed with {other}", "unauthentic", by_name[f"{other}: plain"]["token"])
        moved = decoded(body)
        moved = moved[:12] + moved[28:] + moved[12:28]
        refuse(v, "the tag after the ciphertext", "unauthentic", f"{kid}.{base64url(moved)}")
        return
    body, proof = parts
    for name, at in {"nonce": 0, "layout": 16, "expiry": 24, "state": -1}.items():
        refuse(v, f"a bit of the {name}", "unauthentic", f"{kid}.{flipped(body, at)}.{proof}")
    for name, at in {"tag": 0, "end of the tag": 31, "check": 32, "end of the check": 47}.items():
        refuse(v, f"a bit of the {name}", "unauthentic", f"{kid}.{body}.{flipped(proof, at)}")
    longer = base64url(decoded(body) + b"0")
    refuse(v, "a state one byte longer", "unauthentic", f"{kid}.{longer}.{proof}")
    tag, check = bytes(decoded(proof)[:32]), bytes(decoded(proof)[32:])
    refuse(v, "the tag as its own check", "unauthentic", f"{kid}.{body}.{base64url(tag + tag[:16])}")
    _, other_body, other_proof = by_name["hmac-sha256: anonymous"]["token"].split(".")
    other_tag = bytes(decoded(other_proof)[:32])
    refuse(v, "the proof of another token", "unauthentic", f"{kid}.{body}.{other_proof}")
    refuse(v, "the body of another token", "unauthentic", f"{kid}.{other_body}.{proof}")
    refuse(v, "the tag of another token", "unauthentic", f"{kid}.{body}.{base64url(other_tag + check)}")


def refused_contexts(refuse, v):
    def cut(left, right, shift):
        """The same characters, cut at another place."""
        joined, at = v[left] + v[right], len(v[left]) + shift
        return {left: joined[:at], right: joined[at:]}

    bound_by_codec = {
        "another version": {"version": "2026-07-29"},
        "another method": {"method": "prompts/get"},
        "another server": {"server": "shipping"},
        "version and method cut elsewhere": cut("version", "method", 1),
        "method and server cut elsewhere": cut("method", "server", -1),
    }
    for name, changes in bound_by_codec.items():
        refuse(v, name, "unauthentic" if encrypts(v["algorithm"]) else "other_context", **changes)
    principals = {
        "another principal": "user:mallory",
        "no principal": None,
        "principals differ in case": "user:Alice",
        "a longer principal": "user:alice2",
    }
    for name, principal in principals.items():
        reason = "principal" if encrypts(v["algorithm"]) else "other_context"
        refuse(v, name, reason, principal=principal)
    requests = {
        "the account before": CALL.replace("993", "992"),
        "another amount": CALL.replace("10.5", "10.51"),
        "the amount as text": CALL.replace("10.5", '"10.5"'),
        "a name that looks the same": CALL.replace("ë", "e\\u0308"),
        "another tool": CALL.replace("transfer", "transfers"),
        "a nested null more": CALL.replace("10.5", '10.5,"note":null'),
        "no params": "null",
    }
    for name, params in requests.items():
        reason = "request" if encrypts(v["algorithm"]) else "other_context"
        refuse(v, name, reason, params=params)


def refused_times(refuse, v):
    expiry = v["expires_at_ms"]
    refuse(v, "at the expiry", "expired", now_ms=expiry)
    refuse(v, "long after", "expired", now_ms=expiry * 2)
    refuse(v, "minted more than 60 s ahead", "minted_in_future", now_ms=v["now_ms"] - 60_001)
    refuse(v, "minted under a longer TTL", "minted_in_future", ttl_ms=v["ttl_ms"] - 60_001)
    refuse(v, "a clock before 1970", "minted_in_future", now_ms=-1)
    # Of two faults, the check that runs first decides.
    mismatch = "principal" if encrypts(v["algorithm"]) else "other_context"
    refuse(v, "another principal, expired", mismatch, principal="user:mallory", now_ms=expiry)
    refuse(v, "another principal and request", mismatch, principal="user:mallory", params="{}")
    mismatch = "request" if encrypts(v["algorithm"]) else "other_context"
    refuse(v, "another request, expired", mismatch, params="{}", now_ms=expiry)


def refused_payloads(refuse, v):
    """Authentic tokens whose payload is of no use."""
    context = bytes.fromhex(v["context"])
    header = payload_of(v, b"")
    payloads = {
        "an empty payload": ("malformed", b""),
        "a payload of one byte": ("malformed", header[:1]),
        "a header one byte short": ("malformed", header[:-1]),
        "layout 0": ("malformed", b"\0" + header[1:] + b"{}"),
        "a round, as a boundary seals it": ("malformed", b"\2" + header[1:] + round_body(ROUND)),
        "a state under the layout of a boundary": ("malformed", b"\2" + header[1:] + b"{}"),
        "a round under the layout of a sealer": ("state", header + round_body(ROUND)),
        "layout 3": ("malformed", b"\3" + header[1:] + b"{}"),
        "expiry zero": ("expired", header[:1] + u64(0) + header[9:] + b"{}"),
        "the largest expiry": ("minted_in_future", header[:1] + u64(2**64 - 1) + header[9:] + b"{}"),
        "an empty state": ("state", header),
        "half a state": ("state", header + b'{"step":'),
        "two states": ("state", header + b"{}{}"),
        "a state that is not UTF-8": ("state", header + b'"\xff"'),
        "no JSON": ("state", header + b"NaN"),
        "no JSON, expired": ("expired", header[:1] + u64(v["now_ms"]) + header[9:] + b"NaN"),
    }

    def token(name, payload):
        nonce = nonce_of(v["algorithm"], name)
        return seal(v["algorithm"], KEYS[v["kid"]], v["kid"], nonce, payload, context)

    for name, (reason, payload) in payloads.items():
        refuse(v, name, reason, token(name, payload))
    name = "a clock before 1970, an expiry in reach"
    zero = header[:1] + u64(0) + header[9:] + b"{}"
    refuse(v, name, "minted_in_future", token(name, zero), now_ms=-1)


# --------------------------------------------------------------------------------------- states

# What opens, and as what. Null: refused, as `state`. In the double build where it says so.
STATES = [
    ("the last of equal members stays", '{"a":1,"a":2}', '{"a":2}'),
    ("white space", ' [ 1 ] ', "[1]"),
    ("127 levels", "[" * 127 + "]" * 127, "[" * 127 + "]" * 127),
    ("128 levels", "[" * 128 + "]" * 128, None),
    ("a lone surrogate", '"\\ud800"', None),
    ("a surrogate pair", '"\\ud83d\\ude00"', '"😀"'),
    ("a number that no double holds", "1e400", None),
]


def state_vectors(plain):
    vectors = []
    for note, state, opens in STATES:
        nonce = nonce_of(plain["algorithm"], note)
        payload, context = payload_of(plain, state.encode()), bytes.fromhex(plain["context"])
        token = seal(plain["algorithm"], KEYS[plain["kid"]], plain["kid"], nonce, payload, context)
        if opens is None:
            assert reason_of(open_state, plain, token) == "state"
        else:
            opened = state_form(plain, open_token(plain, KEYS, token))
            assert opened == form(parse(opens, ()), False)
        vector = {"note": note, "of": plain["name"], "token": token, "opens_as": opens}
        if "1e400" in state:
            vector["only"] = "double build"
        vectors.append(vector)
    return vectors


# --------------------------------------------------------------------------------------- rounds

ROUND = {
    **{name: value for name, value in DEFAULTS.items() if name != "state"},
    "max_flow_ms": 3_600_000,
    "flow": sha256(b"a flow")[:16].hex(),
    "round": 1,
    "started_at_ms": DEFAULTS["now_ms"],
    "questions": [["confirm", "elicitation form"]],
    "state": "asked",
}

# Each is sealed under each algorithm. What comes `after` another is sealed when that is opened.
ROUNDS = {
    "question and state": {},
    "question, no state": {"state": None},
    "question, empty state": {"state": ""},
    "state, no question": {"questions": []},
    "second round": {
        "after": "question and state",
        "round": 2,
        "now_ms": DEFAULTS["now_ms"] + 299_999,
        "questions": [["code", "elicitation URL"]],
        "state": "confirmed",
    },
    "every kind, names of every kind": {
        "questions": [
            ["", "roots"],
            ["\0", "elicitation form"],
            ['"\\n', "elicitation URL"],
            ["Zoë 😀", "sampling"],
        ],
        "state": "\0\"é😀",
        "principal": None,
    },
    LONG_ANONYMOUS: {
        "principal": None,
        "ttl_ms": 1_000,
        "anonymous_ttl_ms": 600_000,
    },
    "one name twice": {"questions": [["b", "roots"], ["a", "roots"], ["a", "sampling"]]},
    "256 questions": {"questions": [[f"question {n}", "sampling"] for n in range(256)]},
    "a name of 16 KiB": {"questions": [["n" * 16_384, "roots"]]},
    "near the end of its flow": {
        "started_at_ms": DEFAULTS["now_ms"] - 3_599_000,
        "round": 32,
    },
    "prompt": {"method": "prompts/get", "round": 65_535},
}


def round_vector(algorithm, name, changes):
    v = {"name": f"{algorithm}: {name}", "algorithm": algorithm, **ROUND, **changes}
    if "after" in v:
        v["after"] = f"{algorithm}: {v['after']}"
    nonce = nonce_of(algorithm, v["name"])
    context, payload = context_of(v), round_payload(v)
    token = seal(algorithm, KEYS[v["kid"]], v["kid"], nonce, payload, context)
    written = (v["flow"], v["round"], v["started_at_ms"], v["questions"], v["state"])
    assert opens_as(open_round, v, token, round_expiry(v)) == written
    return v | {
        "expires_at_ms": round_expiry(v),
        "nonce": nonce.hex(),
        "context": context.hex(),
        "payload": payload.hex(),
        "token": token,
    }


def refused_round_vectors(rounds):
    vectors = []
    by_name = {v["name"]: v for v in rounds}
    for algorithm in LABELS:
        names = ("question and state", "near the end of its flow", LONG_ANONYMOUS)
        refused_rounds(vectors, *(by_name[f"{algorithm}: {name}"] for name in names))
    return vectors


def refused_rounds(vectors, v, late, anonymous):
    header = header_of(v, b"\x02", v["expires_at_ms"])
    body = round_body(v)
    start, fixed = body[:26], 16 + 2 + 8

    def refuse(of, name, reason, payload=None, token=None, **changes):
        if payload is not None:
            nonce = nonce_of(of["algorithm"], name)
            context = bytes.fromhex(of["context"])
            token = seal(of["algorithm"], KEYS[of["kid"]], of["kid"], nonce, payload, context)
        token = of["token"] if token is None else token
        found = reason_of(open_round, {**of, **changes}, token)
        assert found == reason, (of["name"], name, reason, found)
        vectors.append(
            {"of": of["name"], "name": name, "reason": reason, "changes": changes, "token": token}
        )

    one = u16(1) + b"\x01" + u16(1) + b"a"
    bodies = {
        "nothing": b"",
        "the flow alone": body[:16],
        "no number of questions": start,
        "half of that number": start + b"\0",
        "a question that is missing": start + u16(1),
        "a question without a name": start + u16(1) + b"\x01\0",
        "a name that is too short": start + u16(1) + b"\x01" + u16(2) + b"a",
        "one question fewer": start + u16(2) + one[2:] + b"\x00",
        "no state and no sign of it": start + one,
        "a sign that is neither": start + one + b"\x02x",
        "something after no state": start + one + b"\x00x",
        "kind 0": start + u16(1) + b"\x00" + u16(1) + b"a\x00",
        "kind 5": start + u16(1) + b"\x05" + u16(1) + b"a\x00",
        "a name that is not UTF-8": start + u16(1) + b"\x01" + u16(1) + b"\xff\x00",
        "a state that is not UTF-8": start + one + b"\x01\xff",
        "257 questions": start + u16(257) + one[2:] * 257 + b"\x00",
    }
    assert len(start) == fixed
    for name, bad in bodies.items():
        refuse(v, name, "malformed", header + bad)
    refuse(v, "a state, as a sealer seals it", "malformed", b"\x01" + header[1:] + b'"asked"')
    refuse(v, "a round under the layout of a sealer", "malformed", b"\x01" + header[1:] + body)
    refuse(v, "a state under the layout of a boundary", "malformed", header + b'"asked"')
    refuse(v, "layout 3", "malformed", b"\x03" + header[1:] + body)
    refuse(v, "an empty payload", "malformed", b"")

    expiry = v["expires_at_ms"]
    refuse(v, "at the expiry", "expired", now_ms=expiry)
    refuse(v, "a shorter max_flow on the side that opens", "expired", max_flow_ms=0)
    refuse(late, "at the end of its flow", "expired", now_ms=late["expires_at_ms"])
    long = header_of(v, b"\x02", expiry + 60_000) + body
    refuse(v, "flow over before the expiry", "expired", long, now_ms=expiry, max_flow_ms=300_000)
    refuse(v, "minted more than 60 s ahead", "minted_in_future", now_ms=v["now_ms"] - 60_001)
    refuse(v, "minted under a longer TTL", "minted_in_future", ttl_ms=v["ttl_ms"] - 60_001)
    shorter = anonymous["anonymous_ttl_ms"] - 60_001
    minted = "minted under a longer anonymous TTL"
    refuse(anonymous, minted, "minted_in_future", anonymous_ttl_ms=shorter)
    future = header + round_body({**v, "started_at_ms": v["now_ms"] + 60_001})
    refuse(v, "a flow that begins in the future", "minted_in_future", future)
    # A sum that wrapped would say that this flow is over.
    last = header + round_body({**v, "started_at_ms": 2**64 - 1})
    refuse(v, "the latest beginning", "minted_in_future", last)
    largest = header_of(v, b"\x02", 2**64 - 1) + body
    refuse(v, "the largest expiry", "minted_in_future", largest)
    refuse(v, "a clock before 1970", "minted_in_future", now_ms=-1)
    zero = header_of(v, b"\x02", 0) + round_body({**v, "started_at_ms": 0})
    refuse(v, "a clock before 1970, an expiry in reach", "minted_in_future", zero, now_ms=-1)

    refuse(v, "longer than the limit", "too_long", max_token_len=len(v["token"]) - 1)
    kid, rest = v["token"].split(".", 1)
    refuse(v, "a kid with a space", "malformed", token=f"{kid[:4]} {kid[5:]}.{rest}")
    refuse(v, "an unknown kid", "unknown_key", token=f"2026-09.{rest}")
    refuse(v, "relabelled to another kid of the keyring", "unauthentic", token=f"2026-07_old.{rest}")
    sealed = (bytes.fromhex(v["nonce"]), bytes.fromhex(v["payload"]), bytes.fromhex(v["context"]))
    strange = seal(v["algorithm"], STRANGERS_KEY, kid, *sealed)
    refuse(v, "another key under this kid", "unauthentic", token=strange)

    aead = encrypts(v["algorithm"])
    refuse(v, "another principal", "principal" if aead else "other_context", principal="user:bob")
    refuse(v, "no principal", "principal" if aead else "other_context", principal=None)
    refuse(v, "another request", "request" if aead else "other_context", params='{"name":"t"}')
    context = "unauthentic" if aead else "other_context"
    refuse(v, "another method", context, method="resources/read")
    refuse(v, "another server", context, server="shipping")
    # Of two faults, the check that runs first decides.
    both = "principal" if aead else "other_context"
    refuse(v, "another principal, expired", both, principal="user:bob", now_ms=expiry)
    first = "malformed" if aead else "other_context"
    refuse(v, "malformed, another principal", first, header + start, principal="user:bob")


# ----------------------------------------------------------------------------------------- write


def main():
    tokens = [
        token_vector(algorithm, name, changes)
        for algorithm in LABELS
        for name, changes in TOKENS.items()
    ]
    rounds = [
        round_vector(algorithm, name, changes)
        for algorithm in LABELS
        for name, changes in ROUNDS.items()
    ]
    principals = [None, "user:alice", "user:Alice", "a", "\0", "Zoë", "Zoe\u0308", "x" * 1000]
    vectors = {
        "about": "Test vectors of token-format.md, written by make_vectors.py. The keys are public.",
        "error": {
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        },
        "outage": {"code": -32603, "message": "Internal error"},
        "keys": [{"kid": kid, "key": key.hex()} for kid, key in KEYS.items()],
        "derived": [
            {"kid": kid, "label": label.decode(), "key": derive(key, label).hex()}
            for kid, key in KEYS.items()
            for label in LABELS.values()
        ],
        "principals": [
            {"principal": name, "digest": principal_digest(name).hex()} for name in principals
        ],
        "digests": group_vectors(),
        "digests_by_feature": feature_vectors(),
        "params_without_digest": INVALID,
        "unparsable": UNPARSABLE,
        "levels": [level_vector(levels) for levels in (1, 2, 125, 126, 127, 128, 129)],
        "tokens": tokens,
        "refused": refused_vectors(tokens),
        "states": state_vectors(tokens[0]),
        "rounds": rounds,
        "rounds_refused": refused_round_vectors(rounds),
    }
    text = json.dumps(vectors, ensure_ascii=False, indent=1) + "\n"
    if sys.argv[1:] == ["--check"]:
        sys.exit(None if FILE.read_text("utf-8") == text else "vectors.json is out of date")
    FILE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
