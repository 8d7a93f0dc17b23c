"""docs/token-format.md in Python: what make_vectors.py writes the vectors with.

An implementation of its own, written from that page and from no other code, so that the library's
tests compare two readings of one text. It needs the package `cryptography`.
"""

import base64
import hashlib
import hmac
import json
import math
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# ------------------------------------------------------------------------------------- notation


def u16(n):
    return n.to_bytes(2, "big")


def u64(n):
    return n.to_bytes(8, "big")


def lp(part):
    return u64(len(part)) + part


def block(label):
    return label.ljust(64, b"\x00")


def leb128(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def sha256(data):
    return hashlib.sha256(data).digest()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Refused(Exception):
    """A token that does not open. The argument is the reason."""


def from_base64url(text):
    if not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise Refused("malformed")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64url(data) != text:
        raise Refused("malformed")
    return data


# ------------------------------------------------------------------------------ keys and tokens

LABELS = {
    "aes-256-gcm": b"request-state v1 aes-256-gcm",
    "chacha20-poly1305": b"request-state v1 chacha20-poly1305",
    "hmac-sha256": b"request-state v1 hmac-sha256",
}
AEADS = {"aes-256-gcm": AESGCM, "chacha20-poly1305": ChaCha20Poly1305}


def derive(key, label):
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=label).derive(key)


def seal_aead(algorithm, key, kid, nonce, payload, context):
    label = LABELS[algorithm]
    aad = lp(label) + lp(kid.encode()) + lp(context)
    sealed = AEADS[algorithm](derive(key, label)).encrypt(nonce, payload, aad)
    ciphertext, tag = sealed[:-16], sealed[-16:]
    return kid + "." + base64url(nonce + tag + ciphertext)


def seal_hmac(key, kid, nonce, payload, context):
    label = LABELS["hmac-sha256"]
    k = derive(key, label)
    body = nonce + payload
    m = lp(label) + lp(kid.encode()) + lp(body)
    tag = hmac.digest(k, m + lp(context), "sha256")
    check = hmac.digest(k, m + lp(tag) + lp(b"check"), "sha256")[:16]
    return kid + "." + base64url(body) + "." + base64url(tag + check)


def encrypts(algorithm):
    return algorithm in AEADS


def seal(algorithm, key, kid, nonce, payload, context):
    if encrypts(algorithm):
        return seal_aead(algorithm, key, kid, nonce, payload, context)
    return seal_hmac(key, kid, nonce, payload, context)


def open_aead(algorithm, keys, kid, parts, context):
    if len(parts) != 1 or len(body := from_base64url(parts[0])) < 28:
        raise Refused("malformed")
    if kid not in keys:
        raise Refused("unknown_key")
    label = LABELS[algorithm]
    nonce, tag, ciphertext = body[:12], body[12:28], body[28:]
    aad = lp(label) + lp(kid.encode()) + lp(context)
    try:
        return AEADS[algorithm](derive(keys[kid], label)).decrypt(nonce, ciphertext + tag, aad)
    except InvalidTag:
        raise Refused("unauthentic") from None


def open_hmac(keys, kid, parts, context):
    if len(parts) != 2:
        raise Refused("malformed")
    body, proof = map(from_base64url, parts)
    if len(body) < 16 or len(proof) != 48:
        raise Refused("malformed")
    if kid not in keys:
        raise Refused("unknown_key")
    label = LABELS["hmac-sha256"]
    k = derive(keys[kid], label)
    tag, check = proof[:32], proof[32:]
    m = lp(label) + lp(kid.encode()) + lp(body)
    expected = hmac.digest(k, m + lp(tag) + lp(b"check"), "sha256")[:16]
    if not hmac.compare_digest(check, expected):
        raise Refused("unauthentic")
    if not hmac.compare_digest(tag, hmac.digest(k, m + lp(context), "sha256")):
        raise Refused("other_context")
    return body[16:]


def open_token(v, keys, token):
    """The authentic payload of `token`, for the request of `v`."""
    if len(token.encode()) > v.get("max_token_len", 65_536):
        raise Refused("too_long")
    kid, *parts = token.split(".")
    if not re.fullmatch("[A-Za-z0-9_-]{1,64}", kid):
        raise Refused("malformed")
    if encrypts(v["algorithm"]):
        return open_aead(v["algorithm"], keys, kid, parts, context_of(v))
    return open_hmac(keys, kid, parts, context_of(v))


# -------------------------------------------------------------------------- payload and context


def principal_digest(name):
    presence = b"\x00" if name is None else b"\x01" + name.encode()
    return sha256(block(b"request-state v1 principal") + presence)[:16]


def context_of(v):
    context = lp(v["version"].encode()) + lp(v["method"].encode()) + lp(v["server"].encode())
    if not encrypts(v["algorithm"]):
        context += principal_digest(v["principal"]) + request_digest(v["params"])
    return context


def header_of(v, layout, expires_at_ms):
    header = layout + u64(expires_at_ms)
    if encrypts(v["algorithm"]):
        header += principal_digest(v["principal"]) + request_digest(v["params"])
    return header


def ttl_of(v):
    """The TTL that the request of `v` chooses."""
    return v["anonymous_ttl_ms"] if v["principal"] is None else v["ttl_ms"]


def payload_of(v, state):
    return header_of(v, b"\x01", v["now_ms"] + ttl_of(v)) + state


def read_header(v, layout, payload):
    """The expiry, the digests if the codec encrypts, and the body."""
    length = 57 if encrypts(v["algorithm"]) else 9
    if len(payload) < length or payload[:1] != layout:
        raise Refused("malformed")
    digests = payload[9:25], payload[25:57]
    expires_at_ms = int.from_bytes(payload[1:9], "big")
    return expires_at_ms, digests if encrypts(v["algorithm"]) else None, payload[length:]


def check_digests(v, digests):
    if digests and not hmac.compare_digest(digests[0], principal_digest(v["principal"])):
        raise Refused("principal")
    if digests and not hmac.compare_digest(digests[1], request_digest(v["params"])):
        raise Refused("request")


SKEW_MS = 60_000


def check_expiry(v, expires_at_ms, end_ms):
    """`end_ms` is the expiry, or the end of the flow if that is earlier."""
    if v["now_ms"] >= end_ms:
        raise Refused("expired")
    if v["now_ms"] < 0 or expires_at_ms > v["now_ms"] + ttl_of(v) + SKEW_MS:
        raise Refused("minted_in_future")


def open_state(v, payload):
    """The state of an authentic payload, as a sealer opens it for the request of `v` at `now_ms`."""
    expires_at_ms, digests, body = read_header(v, b"\x01", payload)
    check_digests(v, digests)
    check_expiry(v, expires_at_ms, expires_at_ms)
    try:
        state = parse(body.decode(), ())
    except (ValueError, Unparsable):
        raise Refused("state") from None
    if levels(state) > 127:
        raise Refused("state")
    return state


# -------------------------------------------------------------------------------------- rounds

KINDS = {"elicitation form": 1, "elicitation URL": 2, "sampling": 3, "roots": 4}


def round_expiry(v):
    return min(v["now_ms"] + ttl_of(v), v["started_at_ms"] + v["max_flow_ms"])


def round_payload(v):
    return header_of(v, b"\x02", round_expiry(v)) + round_body(v)


def round_body(v):
    body = bytes.fromhex(v["flow"]) + u16(v["round"]) + u64(v["started_at_ms"])
    body += u16(len(v["questions"]))
    for name, kind in v["questions"]:
        body += bytes([KINDS[kind]]) + u16(len(name.encode())) + name.encode()
    if v["state"] is None:
        return body + b"\x00"
    return body + b"\x01" + v["state"].encode()


def open_round(v, payload):
    """The flow, round, beginning, questions and state of an authentic payload, as the boundary opens
    it for the request of `v` at `now_ms`."""

    expires_at_ms, digests, rest = read_header(v, b"\x02", payload)

    def take(n):
        nonlocal rest
        if len(rest) < n:
            raise Refused("malformed")
        taken, rest = rest[:n], rest[n:]
        return taken

    def text(data):
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Refused("malformed") from None

    def number(n):
        return int.from_bytes(take(n), "big")

    flow, round_, started_at_ms = take(16).hex(), number(2), number(8)
    count = number(2)
    if count > 256:
        raise Refused("malformed")
    kinds = {number: kind for kind, number in KINDS.items()}
    questions = []
    for _ in range(count):
        kind, length = number(1), number(2)
        name = text(take(length))
        if kind not in kinds:
            raise Refused("malformed")
        questions.append([name, kinds[kind]])
    presence = take(1)
    if presence == b"\x00" and not rest:
        state = None
    elif presence == b"\x01":
        state = text(rest)
    else:
        raise Refused("malformed")
    check_digests(v, digests)
    check_expiry(v, expires_at_ms, min(expires_at_ms, started_at_ms + v["max_flow_ms"]))
    if started_at_ms > v["now_ms"] + SKEW_MS:
        raise Refused("minted_in_future")
    return flow, round_, started_at_ms, questions, state


# ------------------------------------------------------------------------------- canonical form


class Number:
    """The text of a JSON number. Python never turns it into a float of its own accord."""

    def __init__(self, text):
        self.text = text


class Unparsable(Exception):
    pass


def parse(text, features):
    """What serde_json makes of `text` with these of its features. Objects are dictionaries, of which
    the last of equal keys stays."""
    exact = "arbitrary_precision" in features

    def check(value):
        """A lone surrogate is not a character: a parser that replaced it would make two strings one."""
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise Unparsable(value) from None
        elif isinstance(value, list):
            for item in value:
                check(item)

    def member_list(pairs):
        for key, value in pairs:
            check(key)
            check(value)
        first = pairs[0][0] if pairs else None
        if exact and first == "$serde_json::private::Number":
            return Number(pairs[0][1])
        if "raw_value" in features and first == "$serde_json::private::RawValue":
            return parse(pairs[0][1], features)
        return dict(pairs)

    def constant(name):
        raise Unparsable(name)

    def number(spelled):
        if not exact and math.isinf(float(spelled)):
            raise Unparsable(spelled)
        return Number(spelled)

    value = json.loads(
        text,
        object_pairs_hook=member_list,
        parse_constant=constant,
        parse_int=number,
        parse_float=number,
    )
    check(value)
    return value


def levels(value):
    """How deeply arrays and objects nest."""
    if isinstance(value, dict):
        return 1 + max(map(levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(levels, value), default=0)
    return 0


def decimal(text):
    """Sign, digits before the point, digits after it, exponent."""
    negative = text.startswith("-")
    mantissa, _, exponent = text.lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    return negative, whole, fraction, int(exponent or "0")


def number_form(negative, whole, fraction, exponent):
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return b"N0,"
    power = exponent - len(fraction)
    while digits.endswith("0"):
        digits, power = digits[:-1], power + 1
    for e in (exponent, power):
        if not -(2**63) <= e < 2**63:
            raise OverflowError(e)
    sign = "-" if negative else ""
    power = f"e{power}" if power else ""
    return f"N{sign}{digits}{power},".encode()


def double_form(value):
    if value.is_integer() and abs(value) < 2**64:
        return number_form(value < 0, str(abs(int(value))), "", 0)
    # repr() gives the shortest digits that read back, the closest of them, the even one at a tie.
    return number_form(*decimal(repr(value)))


def form(value, exact):
    if value is None:
        return b"n"
    if value is True:
        return b"t"
    if value is False:
        return b"f"
    if isinstance(value, Number):
        is_integer = not set(value.text) & set(".eE")
        if exact or (is_integer and -(2**63) <= int(value.text) < 2**64):
            return number_form(*decimal(value.text))
        return double_form(float(value.text))
    if isinstance(value, str):
        return string_form(value)
    if isinstance(value, list):
        return b"[" + b"".join(form(item, exact) for item in value) + b"]"
    members = sorted((key.encode(), key, item) for key, item in value.items())
    return b"{" + b"".join(string_form(k) + form(item, exact) for _, k, item in members) + b"}"


def string_form(text):
    return b"S" + leb128(len(text.encode())) + text.encode()


def canonical(text, features=()):
    params = parse(text, features)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise TypeError("not an object")
    volatile = ("_meta", "inputResponses", "requestState")
    salient = {k: v for k, v in params.items() if k not in volatile and v is not None}
    if salient.get("arguments") == {}:
        del salient["arguments"]
    return form(salient, "arbitrary_precision" in features)


def digest_of(canonical_form):
    return sha256(block(b"request-state v1 request") + canonical_form)


def request_digest(text):
    return digest_of(canonical(text))
