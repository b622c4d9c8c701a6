"""Recomputes fingerprints, commitments, statements and audit hashes in another language, using only Python's standard library.

    python3 fingerprints.py vectors ledger.json     every vector
    python3 fingerprints.py pack <folder>           an evidence pack, unzipped

Prints what it recomputed. Exits with 1 at the first difference.
"""
import base64
import hashlib
import hmac
import json
import sys
from pathlib import Path

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(value):
    return '"' + "".join(ESCAPES.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def jcs(value):
    """RFC 8785, for the values that are hashed here: objects, lists and text; keys sorted by UTF-16 code units."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{text(key)}:{jcs(value[key])}" for key in keys) + "}"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    raise TypeError("not a value that is hashed here")


def sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def by_code_units(names):
    return sorted(names, key=lambda name: name.encode("utf-16-be"))


def expect(what, got, wanted):
    if got != wanted:
        print(f"FAIL {what}\n  got    {got}\n  wanted {wanted}")
        sys.exit(1)


def salt_of(root, key):
    mac = hmac.new(root, f"svc-subject-v1\n{key}".encode(), hashlib.sha256).digest()[:16]
    return base64.urlsafe_b64encode(mac).decode().rstrip("=")


def vectors(path):
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    for one in data["fingerprint"]:
        bound = dict(one["input"])
        for name in ("entities", "entities_accepted", "entities_rejected"):
            if name in bound:
                bound[name] = by_code_units(bound[name])
        expect(f"{one['name']}: disclosure", sha256(one["disclosure_text"]), bound["disclosure_hash"])
        expect(f"{one['name']}: canonical", jcs(bound), one["canonical"])
        expect(f"{one['name']}: fingerprint", sha256(jcs(bound)), one["fingerprint"])
    for one in data["share"]:
        bound = dict(one["input"], scope=by_code_units(one["input"]["scope"]))
        expect(f"{one['name']}: disclosure", sha256(one["disclosure_text"]), bound["disclosure_hash"])
        expect(f"{one['name']}: canonical", jcs(bound), one["canonical"])
        expect(f"{one['name']}: fingerprint", sha256(jcs(bound)), one["fingerprint"])
    for one in data["subject"]:
        root = bytes.fromhex(one["salt"])
        commitments = {}
        for key, value in one["fields"].items():
            expect(f"salt of {key}", salt_of(root, key), one["salts"][key])
            commitments[key] = sha256(jcs([one["salts"][key], key, value]))
        expect("commitments", commitments, one["commitments"])
        expect("subject_hash", sha256(jcs(commitments)), one["subject_hash"])
    for one in data["anchor"]:
        expect("statement", jcs(json.loads(one["statement"])), one["statement"])
        expect("entry_hash", sha256(one["statement"]), one["entry_hash"])
        leaf = hashlib.sha256(b"\0" + one["statement"].encode()).digest()
        expect("leaf hash", base64.b64encode(leaf).decode(), one["leaf_hash_b64"])
    audit = data["audit"]
    before = sha256(f"svc-audit-v1\n{audit['index']}\n{audit['chain']}")
    expect("genesis", before, audit["genesis"])
    for one in audit["entries"]:
        entry = json.loads(one["canonical"])
        expect("previous entry", entry["prev_hash"], before)
        expect("payload", sha256(jcs([one["salt"], one["payload"]])), entry["payload_hash"])
        expect("audit entry", jcs(entry), one["canonical"])
        before = sha256(one["canonical"])
        expect("audit hash", before, one["hash"])
    print(f"{len(data['fingerprint'])} fingerprints, {len(data['share'])} of shares, {len(data['subject'])} subjects, {len(data['anchor'])} statements, {len(audit['entries'])} audit entries")


def pack(folder):
    root = Path(folder)
    read = lambda name: (root / name).read_bytes()
    certificate = json.loads(read("certificate.json"))
    preimage = read("fingerprint/preimage.json")
    bound = json.loads(preimage)
    expect("preimage is canonical", jcs(bound).encode(), preimage)
    expect("fingerprint", sha256(preimage), certificate["fingerprint"])
    expect("disclosure", sha256(read("fingerprint/disclosure.txt")), bound["disclosure_hash"])
    commitments = json.loads(read("subject/commitments.json"))
    expect("subject_hash", sha256(jcs(commitments)), bound["subject_hash"])
    disclosures = json.loads(read("subject/disclosures.json"))
    for salt, key, value in disclosures:
        expect(f"commitment of {key}", sha256(jcs([salt, key, value])), commitments[key])
    statement = json.loads(read("anchors/issued/statement.json"))
    wanted = {
        "entity_id": bound["cert_id"],
        "event": "certificate.issued",
        "fingerprint": certificate["fingerprint"],
        "origin_domain": bound["origin_domain"],
        "schema": "svc-anchor-v1",
        "timestamp": bound["timestamp"],
    }
    expect("statement", statement, wanted)
    expect("entry_hash", sha256(read("anchors/issued/statement.json")), json.loads(read("anchors/issued/receipt.json"))["entry_hash"])
    payloads = json.loads(read("audit/payloads.json"))
    lines = read("audit/entries.jsonl").decode().splitlines()
    for line in lines:
        entry = json.loads(line)
        expect("audit entry is canonical", jcs(entry), line)
        if entry["seq"] in payloads:
            one = payloads[entry["seq"]]
            expect("audit payload", sha256(jcs([one["salt"], one["payload"]])), entry["payload_hash"])
    print(f"fingerprint {certificate['fingerprint']}, {len(disclosures)} fields, {len(lines)} audit entries")


if __name__ == "__main__":
    {"vectors": vectors, "pack": pack}[sys.argv[1]](sys.argv[2])
