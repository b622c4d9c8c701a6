// Tests Rekor v2: the request and leaf formats, an entry of the public log, and the adapter with servers that are honest, lose responses,
// fail or send false responses.
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toBase64, fromBase64, toHex, encodeUtf8 } from "../../../core/bytes.ts";
import type { LedgerAdapter, SubmissionOutcome, VerifiedTree, LedgerSubmission } from "../../../core/ledger/adapter.ts";
import { findInclusionFault } from "../../../core/ledger/tlog-proof.ts";
import { hashLeaf } from "../../../core/ledger/merkle.ts";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { parseReceipt, formatReceipt, verifyReceipt, type Receipt, type TrustedLogKey } from "../../../core/ledger/receipt.ts";
import {
  createRekorLeafCheck,
  parseAnchorPrivateKey,
  parseRekorResponse,
  parseRekorLeaf,
  parseRekorRequest,
  formatRekorLeaf,
  formatRekorRequest,
  type RekorCrypto,
} from "../../../core/ledger/rekor.ts";
import { verifyRekorCheckpoint, verifyRekorReceipt, vkeyFromSpki } from "../../../core/ledger/rekor-receipt.ts";
import { isSignedBy } from "../../../core/ledger/spki.ts";
import { noteCrypto } from "../../../storage/note-keys.ts";
import { openAnchorKey, createRekorAdapter, createRekorCrypto, type RekorLedger } from "../../../workers/adapters/ledger-rekor2.ts";
import { FakeRekor, type FakeRekorMode } from "../../support/fake-rekor.ts";
import { generateFlippedTexts } from "../../support/flipped-texts.ts";
import { createCachingSubtle } from "../../support/caching-subtle.ts";
import ledgerVectors from "../../vectors/ledger.json" with { type: "json" };
import vectors from "../../vectors/rekor.json" with { type: "json" };

const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> => fromBase64(text) ?? new Uint8Array(0);
const hashText = (text: string): Buffer => createHash("sha256").update(text).digest();
const crypto_ = createRekorCrypto(noteCrypto);

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const secret = pair.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64");
const anchorKey = await openAnchorKey(secret);
const statement = ledgerVectors.anchor[0]?.statement ?? "";
const from = "2026-01-01T00:00:00.000Z";

describe("an anchor key", () => {
  test("gives the same key from PKCS #8 and from a JWK", async () => {
    const jwk = JSON.stringify(pair.privateKey.export({ format: "jwk" }));
    expect((await openAnchorKey(jwk)).publicKey).toBe(anchorKey.publicKey);
    expect(anchorKey.publicKey).toBe(pair.publicKey.export({ type: "spki", format: "der" }).toString("base64"));
    expect(parseAnchorPrivateKey(jwk)?.number).toEqual(parseAnchorPrivateKey(secret)?.number);
  });

  test("creates signatures that other implementations verify", async () => {
    for (let at = 0; at < 20; at += 1) {
      const message = encodeUtf8(`statement ${at}`);
      expect(verify("sha256", message, pair.publicKey, await anchorKey.sign(message))).toBe(true);
    }
  });

  test.each<[string, string]>([
    [
      "of another curve",
      generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
    ],
    ["of Ed25519", generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")],
    ["that is public", pair.publicKey.export({ type: "spki", format: "der" }).toString("base64")],
    ["whose JWK is public", JSON.stringify(pair.publicKey.export({ format: "jwk" }))],
    ["that is just 32 bytes", Buffer.alloc(32, 7).toString("base64")],
    ["that is empty", ""],
  ])("%s is refused", async (_, text) => {
    expect(parseAnchorPrivateKey(text)).toBeNull();
    await expect(openAnchorKey(text)).rejects.toThrow("anchor key");
  });
});

describe("an entry", () => {
  const entry = { digest: hashText(statement).toString("base64"), signature: "MEUC", publicKey: anchorKey.publicKey };

  test("has exactly this request and leaf", () => {
    const verifier = `{"keyDetails":"PKIX_ECDSA_P256_SHA_256","publicKey":{"rawBytes":"${entry.publicKey}"}}`;
    expect(formatRekorRequest(entry)).toBe(
      `{"hashedRekordRequestV002":{"digest":"${entry.digest}","signature":{"content":"MEUC","verifier":${verifier}}}}`,
    );
    expect(formatRekorLeaf(entry)).toBe(
      `{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{"hashedRekordV002":{"data":{"algorithm":"SHA2_256","digest":"${entry.digest}"},"signature":{"content":"MEUC","verifier":${verifier}}}}}`,
    );
  });

  test("has exactly one encoding", () => {
    expect(parseRekorRequest(formatRekorRequest(entry))).toEqual(entry);
    expect(parseRekorLeaf(encodeUtf8(formatRekorLeaf(entry)))).toEqual(entry);
    expect(parseRekorRequest(` ${formatRekorRequest(entry)}`)).toBeNull();
    expect(parseRekorLeaf(encodeUtf8(formatRekorLeaf(entry).replace('"kind"', '"extra":1,"kind"')))).toBeNull();
    expect(parseRekorLeaf(encodeUtf8(formatRekorLeaf(entry).replace("hashedRekordV002", "hashedRekordV0_0_2")))).toBeNull();
  });

  test("is ours only with a signature of the statement by one of our keys", async () => {
    const signed = { ...entry, signature: toBase64(await anchorKey.sign(encodeUtf8(statement))) };
    const binds = createRekorLeafCheck(crypto_, [anchorKey.publicKey]);
    const buildLeaf = (change: object): Uint8Array => encodeUtf8(formatRekorLeaf({ ...signed, ...change }));
    expect(await binds(buildLeaf({}), encodeUtf8(statement))).toBe(true);
    expect(await binds(buildLeaf({}), encodeUtf8(`${statement} `))).toBe(false);
    expect(await binds(buildLeaf({ digest: hashText("other").toString("base64") }), encodeUtf8(statement))).toBe(false);
    expect(await binds(buildLeaf({ signature: toBase64(await anchorKey.sign(encodeUtf8("other"))) }), encodeUtf8(statement))).toBe(false);
    expect(await createRekorLeafCheck(crypto_, [])(buildLeaf({}), encodeUtf8(statement))).toBe(false);
  });
});

describe("the public log", () => {
  const response = parseRekorResponse(encodeUtf8(JSON.stringify(vectors.answer)));
  if (response === null) throw new Error("not read");
  const vkey = vkeyFromSpki(vectors.origin, decodeBase64(vectors.spki)) ?? "";
  const trust = [{ origin: vectors.origin, vkey, validFrom: vectors.valid_from }];

  test("has the key ID that its trust root publishes", () => {
    expect(vkey.split("+")[1]).toBe(toHex(decodeBase64(vectors.answer.logId.keyId).subarray(0, 4)));
  });

  test("proves a real entry with its real key, and its leaf has our format", async () => {
    const verdict = await verifyRekorCheckpoint(crypto_, response.note, trust);
    if (!verdict.ok) throw new Error(verdict.fault);
    expect(verdict.checkpoint.size).toBe(412_115n);
    const leaf = hashLeaf(response.leaf);
    expect(findInclusionFault({ leaf, index: response.index, hashes: response.hashes }, verdict.checkpoint)).toBeNull();
    expect(parseRekorLeaf(response.leaf)).not.toBeNull();
    expect(findInclusionFault({ leaf, index: response.index - 1n, hashes: response.hashes }, verdict.checkpoint)).not.toBeNull();
  });

  test("has a different key name for a different key", async () => {
    const stranger = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" });
    const strangersKey = vkeyFromSpki(vectors.origin, stranger) ?? "";
    const verdict = await verifyRekorCheckpoint(crypto_, response.note, [{ ...trust[0]!, vkey: strangersKey }]);
    expect(verdict).toEqual({ ok: false, fault: "no_known_signature" });
  });

  test.each<[string, object]>([
    ["an index that is a number", { logIndex: 412_114 }],
    ["an index with a sign", { logIndex: "+1" }],
    ["another kind", { kindVersion: { kind: "dsse", version: "0.0.2" } }],
    ["another version", { kindVersion: { kind: "hashedrekord", version: "0.0.1" } }],
    ["no proof", { inclusionProof: null }],
    ["a short hash in its proof", { inclusionProof: { ...vectors.answer.inclusionProof, hashes: ["AAAA"] } }],
    ["a body that is not base64", { canonicalizedBody: "a=b" }],
  ])("gives a response that is refused with %s", (_, change) => {
    expect(parseRekorResponse(encodeUtf8(JSON.stringify({ ...vectors.answer, ...change })))).toBeNull();
  });
});

describe.each(["Ed25519", "ECDSA"] as const)("a log that signs with %s", (kind) => {
  let rekor: FakeRekor;
  let trust: TrustedLogKey[];
  let adapter: LedgerAdapter;

  const send = (request: Request): Promise<Response> => fetch(request);
  const createAdapter = (change: Partial<RekorLedger> = {}): LedgerAdapter =>
    createRekorAdapter(
      { origin: rekor.origin, role: "primary", baseUrl: rekor.url, trust, retiredAnchorKeys: [], ...change },
      anchorKey,
      send,
      noteCrypto,
      Date.now,
    );

  beforeAll(async () => {
    rekor = await FakeRekor.start(kind);
    trust = [{ origin: rekor.origin, vkey: vkeyFromSpki(rekor.origin, rekor.spki) ?? "", validFrom: from }];
    adapter = createAdapter();
  });
  afterAll(() => rekor.stop());
  beforeEach(() => rekor.reset(7));

  let count = 0;
  const createSubmission = async (ledgerAdapter = adapter): Promise<LedgerSubmission> => {
    count += 1;
    const text = `${statement.slice(0, -1)},"zz":"${count}"}`;
    const fresh: LedgerSubmission = { statement: text, entryHash: hashText(text).toString("hex"), prepared: null };
    return { ...fresh, prepared: await ledgerAdapter.prepare(fresh) };
  };
  const submit = async (
    one: LedgerSubmission,
    lastSeen: VerifiedTree | null = null,
    ledgerAdapter = adapter,
    signal = new AbortController().signal,
  ): Promise<SubmissionOutcome> => (await ledgerAdapter.submit([one], lastSeen, signal))[0] as SubmissionOutcome;
  const getReceipt = (outcome: SubmissionOutcome): Receipt => {
    if (!outcome.ok) throw new Error(JSON.stringify(outcome));
    return outcome.receipt;
  };
  const check = async (receipt: Receipt, text: string, crypto = crypto_): Promise<string> => {
    const verdict = await verifyRekorReceipt(crypto, receipt, encodeUtf8(text), { logs: trust, anchorKeys: [anchorKey.publicKey] });
    return verdict.ok ? "ok" : verdict.fault;
  };

  test("accepts a statement and returns a receipt that verifies offline", async () => {
    const one = await createSubmission();
    const outcome = await submit(one);
    const receipt = getReceipt(outcome);
    expect(rekor.posted).toEqual([one.prepared]);
    expect(receipt).toMatchObject({
      ledger: "rekor2:rekor.test",
      kind: "rekor2",
      tx_ref: `rekor.test#${receipt.leaf_index}`,
      entry_hash: one.entryHash,
    });
    expect(outcome).toMatchObject({ verifiedTree: { size: receipt.tree_size, root: receipt.root_hash, note: receipt.signed_root } });
    expect(await check(parseReceipt(formatReceipt(receipt)) as Receipt, one.statement)).toBe("ok");
  });

  test("gives receipts that are refused when any byte changes, except in our two clock times", async () => {
    const one = await createSubmission();
    const receipt = getReceipt(await submit(one));
    const ownTimes = { submitted_at: receipt.submitted_at, verified_at: receipt.verified_at };
    const subtle = createCachingSubtle();
    const once: RekorCrypto = {
      ...memoizeNoteCrypto(noteCrypto),
      verifyEcdsa: (spki, data, signature) => isSignedBy(subtle, spki, { hash: "SHA-256", signature, data }),
    };
    let accepted = 0;
    for (const changed of generateFlippedTexts(formatReceipt(receipt))) {
      const parsed = changed === null ? null : parseReceipt(changed);
      if (parsed === null || (await check(parsed, one.statement, once)) !== "ok") continue;
      accepted += 1;
      expect({ ...parsed, ...ownTimes }).toEqual(receipt);
      expect(parsed).not.toEqual(receipt);
    }
    expect(accepted).toBeGreaterThan(0);
  });

  test("gives receipts that fail with the same faults as all other receipts", async () => {
    const one = await createSubmission();
    const receipt = getReceipt(await submit(one));
    const signedAgain = parseRekorRequest(await adapter.prepare({ ...one, prepared: null }));
    if (signedAgain === null) throw new Error("not prepared");
    const changes: Partial<Receipt>[] = [
      { leaf_body: toBase64(encodeUtf8(formatRekorLeaf(signedAgain))) },
      {},
      { leaf_index: "01" },
      { leaf_hash: "AAAA" },
      { submitted_at: "2099-01-01T00:00:00.000Z" },
      { signed_root: receipt.signed_root.slice(1) },
      { signed_root: receipt.signed_root.replaceAll("\n", "\r\n") },
      { verified_at: "2025-12-31T23:59:59.999Z", submitted_at: "2025-12-31T23:59:59.999Z" },
      { ledger: "rekor2:other.test" },
      { kind: "tlog" },
      { tree_size: "1" },
      { root_hash: receipt.leaf_hash },
      { leaf_index: receipt.tree_size, tx_ref: `rekor.test#${receipt.tree_size}` },
      { inclusion_proof: receipt.inclusion_proof.slice(1) },
      { inclusion_proof: [...receipt.inclusion_proof.slice(1), receipt.leaf_hash] },
      { entry_hash: hashText("other").toString("hex") },
      { leaf_body: toBase64(encodeUtf8("{}")) },
    ];
    const faults = new Set<string>();
    for (const change of changes) {
      const changed = { ...receipt, ...change };
      const fault = await check(changed, one.statement);
      faults.add(fault);
      if (kind !== "Ed25519") continue; // receipt.ts supports no other kind of key
      const bindsLeaf = createRekorLeafCheck(crypto_, [anchorKey.publicKey]);
      const verdict = await verifyReceipt(noteCrypto, changed, encodeUtf8(one.statement), {
        trustedKeys: trust,
        isLeafBoundToStatement: bindsLeaf,
      });
      expect(fault).toBe(verdict.ok ? "ok" : verdict.fault);
    }
    expect([...faults].sort()).toEqual([
      "bad_signature",
      "index_outside_tree",
      "leaf_mismatch",
      "no_known_signature",
      "note_malformed",
      "ok",
      "proof_length",
      "receipt_malformed",
      "reference_mismatch",
      "root_mismatch",
    ]);
  });

  test("receives the prepared request unchanged, signed once", async () => {
    const one = await createSubmission();
    const fresh = { ...one, prepared: null };
    expect(await adapter.prepare(fresh)).not.toBe(one.prepared);
    expect(await adapter.prepare(one)).toBe(one.prepared);
    await expect(submit(fresh)).rejects.toThrow("not prepared");
    expect(rekor.posted).toEqual([]);
  });

  test("returns an entry that it already has, with a proof built from its tiles (O5)", async () => {
    const one = await createSubmission();
    const first = getReceipt(await submit(one));
    rekor.fill(300); // a full tile, a partial tile and a level above them
    const repeated = getReceipt(await submit(one));
    expect(repeated.tx_ref).toBe(first.tx_ref);
    expect(Number(repeated.tree_size)).toBe(rekor.size);
    expect(await check(repeated, one.statement)).toBe("ok");
  });

  test("may serve the full tile instead of a dropped partial tile", async () => {
    const one = await createSubmission();
    const index = Number(getReceipt(await submit(one)).leaf_index);
    rekor.fill(300);
    rekor.publishedSize = index + 2; // the published tree still ends in a partial tile, which the log has filled since then
    rekor.keepsPartialTiles = false;
    const receipt = getReceipt(await submit(one));
    expect(receipt.tree_size).toBe(String(index + 2));
    expect(rekor.missedRequests.some((path) => path.includes(".p/"))).toBe(true);
  });

  test("is retried when it has not published the entry yet", async () => {
    const one = await createSubmission();
    const { leaf_index } = getReceipt(await submit(one));
    rekor.publishedSize = Number(leaf_index);
    expect(await submit(one)).toEqual({ ok: false, kind: "retry", code: "not_in_checkpoint" });
  });

  test("is refused when it returns a different entry of ours for the same statement", async () => {
    rekor.reset(0);
    const one = await createSubmission();
    await submit(one);
    rekor.mode = "answers with another entry";
    const signedAgain = { ...one, prepared: await adapter.prepare({ ...one, prepared: null }) };
    expect(await submit(signedAgain)).toEqual({ ok: false, kind: "retry", code: "receipt_leaf_mismatch" });
  });

  test("contains a statement only once after a lost response", async () => {
    const one = await createSubmission();
    rekor.mode = "loses the answer";
    const before = rekor.size;
    expect(await submit(one)).toEqual({ ok: false, kind: "retry", code: "connection" });
    rekor.mode = "honest";
    const receipt = getReceipt(await submit(one));
    expect(rekor.size).toBe(before + 1);
    expect(rekor.posted).toEqual([one.prepared, one.prepared]);
    expect(receipt.leaf_index).toBe(String(before));
  });

  test.each<[FakeRekorMode, string]>([
    ["answers garbage", "answer_malformed"],
    ["answers with another entry", "receipt_leaf_mismatch"],
    ["signs another root", "receipt_root_mismatch"],
    ["signs with another key", "no_known_signature"],
    ["signs badly", "bad_signature"],
    ["answers too much", "answer_too_large"],
  ])("that %s is refused and retried", async (mode, code) => {
    const one = await createSubmission();
    rekor.mode = mode;
    expect(await submit(one)).toEqual({ ok: false, kind: "retry", code });
    rekor.mode = "honest";
    expect(await check(getReceipt(await submit(one)), one.statement)).toBe("ok");
  });

  test.each<[FakeRekorMode, object]>([
    [{ status: 503 }, { kind: "retry", code: "http_503" }],
    [{ status: 500 }, { kind: "retry", code: "http_500" }],
    [{ status: 499 }, { kind: "retry", code: "http_499" }],
    [
      { status: 429, headers: { "retry-after": "120" } },
      { kind: "retry", code: "http_429", retryAfterMs: 120_000 },
    ],
    [{ status: 409 }, { kind: "retry", code: "answer_malformed" }],
    [{ status: 400 }, { kind: "permanent", code: "http_400" }],
    [{ status: 401 }, { kind: "permanent", code: "http_401" }],
    [{ status: 405 }, { kind: "permanent", code: "frozen" }],
    [
      { status: 307, headers: { location: "http://127.0.0.1:1/" } },
      { kind: "permanent", code: "http_307" },
    ],
  ])("that responds with %o gives the right outcome", async (mode, outcome) => {
    rekor.mode = mode;
    expect(await submit(await createSubmission())).toEqual({ ok: false, ...outcome });
  });

  test("is abandoned at the deadline when it hangs", async () => {
    rekor.mode = "hangs";
    const over = new AbortController();
    setTimeout(() => over.abort(), 50);
    expect(await submit(await createSubmission(), null, adapter, over.signal)).toEqual({ ok: false, kind: "retry", code: "timeout" });
  });

  test("is accepted only with its pinned key, while valid, and with its own name", async () => {
    const submitAndJudge = async (pinned: readonly TrustedLogKey[]): Promise<string> => {
      const outcome = await submit(await createSubmission(), null, createAdapter({ trust: pinned }));
      return outcome.ok ? "ok" : outcome.kind === "fork" ? "fork" : outcome.code;
    };
    const [pinned] = trust as [TrustedLogKey];
    expect(await submitAndJudge(trust)).toBe("ok");
    expect(await submitAndJudge([])).toBe("no_known_signature");
    expect(await submitAndJudge([{ ...pinned, validTo: "2026-02-01T00:00:00.000Z" }])).toBe("no_known_signature");
    expect(await submitAndJudge([{ ...pinned, validFrom: "2099-01-01T00:00:00.000Z" }])).toBe("no_known_signature");
    expect(await submitAndJudge([{ ...pinned, origin: "other.test" }])).toBe("origin_mismatch");
  });

  test("may have signatures by others, which are ignored", async () => {
    rekor.extraLines = `\u2014 witness.test ${Buffer.alloc(76, 9).toString("base64")}\n`;
    const one = await createSubmission();
    expect(await check(getReceipt(await submit(one)), one.statement)).toBe("ok");
  });

  test("accepts a request prepared with an earlier anchor key, and none by an unknown key", async () => {
    const oldPair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const oldKey = await openAnchorKey(oldPair.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"));
    const settings = { origin: rekor.origin, role: "primary", baseUrl: rekor.url, trust, retiredAnchorKeys: [] } as const;
    const old = createRekorAdapter(settings, oldKey, send, noteCrypto, Date.now);
    const one = await createSubmission(old);
    expect(await submit(one)).toEqual({ ok: false, kind: "retry", code: "receipt_leaf_mismatch" });
    expect((await submit(one, null, createAdapter({ retiredAnchorKeys: [oldKey.publicKey] }))).ok).toBe(true);
  });

  test("receives at most five concurrent requests and returns outcomes in the order of the statements", async () => {
    rekor.expectedConcurrent = 5;
    const batch = await Promise.all(Array.from({ length: 12 }, () => createSubmission()));
    const outcomes = await adapter.submit(batch, null, new AbortController().signal);
    expect(rekor.maxConcurrent).toBe(5);
    expect(outcomes.map((outcome) => getReceipt(outcome).entry_hash)).toEqual(batch.map(({ entryHash }) => entryHash));
  });

  describe("with a last verified tree", () => {
    const readVerifiedTree = async (): Promise<VerifiedTree> => {
      const outcome = await submit(await createSubmission());
      if (!outcome.ok) throw new Error("not taken");
      return outcome.verifiedTree;
    };

    test("may extend the last tree", async () => {
      const seen = await readVerifiedTree();
      rekor.fill(20);
      expect((await submit(await createSubmission(), seen)).ok).toBe(true);
    });

    test("may respond with a smaller tree of the same history", async () => {
      const one = await createSubmission();
      await submit(one);
      const smaller = rekor.size;
      rekor.fill(20);
      const seen = await readVerifiedTree();
      rekor.publishedSize = smaller;
      expect((await submit(one, seen)).ok).toBe(true);
    });

    test("is a fork with a different history, and both notes are evidence", async () => {
      const seen = await readVerifiedTree();
      rekor.rewrite();
      const outcome = await submit(await createSubmission(), seen);
      expect(outcome).toMatchObject({ ok: false, kind: "fork", evidence: { old: seen.note } });
      if (outcome.ok || outcome.kind !== "fork") throw new Error("not a fork");
      expect((await verifyRekorCheckpoint(crypto_, outcome.evidence.new, trust)).ok).toBe(true);
    });

    test("is a fork with a different tree of the same size", async () => {
      const one = await createSubmission();
      const outcome = await submit(one);
      if (!outcome.ok) throw new Error("not taken");
      const other = { ...outcome.verifiedTree, root: toBase64(hashText("other")) };
      expect(await submit(one, other)).toMatchObject({ kind: "fork" });
    });

    test("is not reported as a fork because of garbage tiles", async () => {
      const seen = await readVerifiedTree();
      rekor.tilesAreGarbage = true;
      expect(await submit(await createSubmission(), seen)).toEqual({ ok: false, kind: "retry", code: "tiles_mismatch" });
    });

    test("is a fork when its history changes within one batch", async () => {
      let rewritten: Promise<unknown> | null = null;
      const sendOneByOne = (request: Request): Promise<Response> => {
        if (rewritten !== null) return rewritten.then(() => fetch(request));
        const answered = fetch(request);
        rewritten = answered.then(() => rekor.rewrite());
        return answered;
      };
      const settings = { origin: rekor.origin, role: "primary", baseUrl: rekor.url, trust, retiredAnchorKeys: [] } as const;
      const twoFaced = createRekorAdapter(settings, anchorKey, sendOneByOne, noteCrypto, Date.now);
      const [first, second] = await twoFaced.submit(
        [await createSubmission(), await createSubmission()],
        null,
        new AbortController().signal,
      );
      expect(first?.ok).toBe(true);
      expect(second).toMatchObject({ kind: "fork", evidence: { old: first?.ok ? first.verifiedTree.note : "" } });
    });
  });
});
