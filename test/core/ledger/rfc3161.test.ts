// Tests that valid timestamps are accepted, that each defect is refused with the expected fault, and that openssl agrees.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fromBase64, fromHex, toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { encodeDer, parseDer, type DerValue } from "../../../core/ledger/der.ts";
import {
  encodeTimestampRequest,
  verifyTimestampToken,
  type TimestampPin,
  type TimestampVerificationInput,
} from "../../../core/ledger/rfc3161.ts";
import { hourMs, toIso, minuteMs, secondMs } from "../../../core/time.ts";
import { createTimestampAttestor } from "../../../workers/adapters/attestor-rfc3161.ts";
import { clockOffsetMs } from "../../support/flakiness.ts";
import { OpensslTsa, findOpensslVersion, type TsaKey } from "../../support/openssl-tsa.ts";
import { createCachingSubtle } from "../../support/caching-subtle.ts";
import vectors from "../../vectors/timestamps.json" with { type: "json" };

const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> => fromBase64(text) ?? new Uint8Array(0);
const hex = (text: string): Uint8Array<ArrayBuffer> => fromHex(text) ?? new Uint8Array(0);
const hashBytes = (data: Uint8Array): Uint8Array => createHash("sha256").update(data).digest();

const imprintBytes = encodeUtf8(vectors.note);
const [stamp] = vectors.stamps;
if (stamp === undefined) throw new Error("no vectors");
const createPin = (spkiSha256: string): TimestampPin => ({ name: "Test authority", spkiSha256, validFrom: "2026-01-01T00:00:00.000Z" });
const pins = [createPin(stamp.spki_sha256)];
const time = Date.parse(stamp.time);

const good: TimestampVerificationInput = {
  token: decodeBase64(stamp.token),
  imprintBytes,
  pins,
  nonce: hex(stamp.nonce),
  window: { sentAt: time, receivedAt: time + secondMs },
};

const getVerdict = async (change: Partial<TimestampVerificationInput>): Promise<string> => {
  const verdict = await verifyTimestampToken({ ...good, ...change }, crypto.subtle);
  return verdict.ok ? "ok" : verdict.fault;
};

/** Returns `root` with `bytes` in place of the value `old`, and with every enclosing length corrected. */
const replaceValue = (root: DerValue, old: DerValue, bytes: Uint8Array): Uint8Array => {
  if (root === old) return bytes;
  return root.children.length === 0 ? root.encoded : encodeDer(root.tag, ...root.children.map((child) => replaceValue(child, old, bytes)));
};

/** Follows the child indexes in `path` and returns the value found there. */
const findValue = (value: DerValue | null, ...path: readonly number[]): DerValue => {
  const found = path.reduce<DerValue | undefined>((here, at) => here?.children[at], value ?? undefined);
  if (found === undefined) throw new Error(`nothing at ${path.join(".")}`);
  return found;
};

const reply = parseDer(good.token);
const message = findValue(reply, 1, 1, 0); // parts in order: version, digests, content, certificates, signers
const signer = findValue(message, 4, 0); // parts in order: version, ID, digest, attributes, algorithm, signature

describe("a timestamp request", () => {
  test("equals the request that was sent for the vectors", () => {
    for (const { nonce, request } of vectors.stamps) {
      expect(encodeTimestampRequest(hashBytes(imprintBytes), hex(nonce))).toEqual(decodeBase64(request));
    }
  });

  test("encodes a nonce with leading zeros or a high bit as an integer", () => {
    const readNonce = (nonce: string): string =>
      toHex(findValue(parseDer(encodeTimestampRequest(hashBytes(imprintBytes), hex(nonce))), 2).content);
    expect(readNonce("0000000000000001")).toBe("01");
    expect(readNonce("ff00000000000000")).toBe("00ff00000000000000");
    expect(readNonce("0000000000000000")).toBe("00");
  });
});

describe("a timestamp", () => {
  test.each(vectors.stamps)(
    "by $key with $digest, naming its certificate by $certificate_hash, verifies with the pinned key alone",
    async (one) => {
      const verdict = await verifyTimestampToken(
        { token: decodeBase64(one.token), imprintBytes, pins: [createPin(one.spki_sha256)], nonce: hex(one.nonce) },
        crypto.subtle,
      );
      expect(verdict).toEqual({
        ok: true,
        timestamp: { time: Date.parse(one.time), serial: one.serial, spkiSha256: one.spki_sha256 },
        pin: createPin(one.spki_sha256),
      });
    },
  );

  test("verifies later without the nonce and the time window", async () => {
    const { token } = good;
    expect((await verifyTimestampToken({ token, imprintBytes, pins }, crypto.subtle)).ok).toBe(true);
    expect(await getVerdict({ token: decodeBase64(vectors.without_nonce) })).toBe("nonce_mismatch");
    expect((await verifyTimestampToken({ token: decodeBase64(vectors.without_nonce), imprintBytes, pins }, crypto.subtle)).ok).toBe(true);
  });

  test.each<[string, Partial<TimestampVerificationInput>, string]>([
    ["over other bytes", { imprintBytes: encodeUtf8(`${vectors.note}\n`) }, "imprint_mismatch"],
    ["over the same bytes with another hash", { token: decodeBase64(vectors.sha512_imprint) }, "imprint_mismatch"],
    ["with another nonce", { nonce: hex("648f8e193a06c308") }, "nonce_mismatch"],
    ["an hour ahead", { window: { sentAt: time - hourMs, receivedAt: time - hourMs } }, "time_outside_window"],
    ["an hour behind", { window: { sentAt: time + hourMs, receivedAt: time + hourMs } }, "time_outside_window"],
    ["by a key that is not pinned", { pins: [] }, "signer_not_pinned"],
    ["by the key of another authority", { pins: [createPin(vectors.stamps[1]?.spki_sha256 ?? "")] }, "signer_not_pinned"],
    ["by a key that is not in use yet", { pins: pins.map((pin) => ({ ...pin, validFrom: toIso(time + 1) })) }, "signer_not_pinned"],
    ["by a key that is no longer in use", { pins: pins.map((pin) => ({ ...pin, validTo: toIso(time) })) }, "signer_not_pinned"],
    ["that was refused", { token: decodeBase64(vectors.refused.token) }, "not_granted"],
    ["that is empty", { token: new Uint8Array(0) }, "reply_malformed"],
    ["with an extra byte", { token: new Uint8Array([...good.token, 0]) }, "reply_malformed"],
    ["that is a token without its reply", { token: findValue(reply, 1).encoded }, "reply_malformed"],
    ["larger than 32 KiB", { token: new Uint8Array(32 * 1_024 + 1).fill(0x30) }, "reply_malformed"],
  ])("%s is refused (Z1)", async (_, change, fault) => {
    expect(await getVerdict(change)).toBe(fault);
  });

  test("is refused without the signer's certificate", async () => {
    const verdict = await verifyTimestampToken({ token: decodeBase64(vectors.without_certificate), imprintBytes, pins }, crypto.subtle);
    expect(verdict).toEqual({ ok: false, fault: "certificate_missing" });
  });

  test("is refused when the imprint names a different hash algorithm", async () => {
    const content = parseDer(findValue(message, 2, 1, 0).content);
    const renamed = replaceValue(findValue(content), findValue(content, 2, 0, 0), encodeDer(0x06, hex("608648016503040208"))); // the OID of SHA3-256
    expect(await getVerdict({ token: replaceValue(findValue(reply), findValue(message, 2, 1, 0), encodeDer(0x04, renamed)) })).toBe(
      "imprint_mismatch",
    );
  });

  test("may differ from our clock by at most five minutes", async () => {
    const verifyAt = (sentAt: number, receivedAt = sentAt): Promise<string> => getVerdict({ window: { sentAt, receivedAt } });
    expect(await verifyAt(time + 5 * minuteMs)).toBe("ok");
    expect(await verifyAt(time + 5 * minuteMs + 1)).toBe("time_outside_window");
    expect(await verifyAt(time - 5 * minuteMs)).toBe("ok");
    expect(await verifyAt(time - 5 * minuteMs - 1)).toBe("time_outside_window");
  });

  test("returns the key and time when the only fault is an unpinned key", async () => {
    const unpinned = await verifyTimestampToken({ ...good, pins: [] }, crypto.subtle);
    expect(unpinned).toMatchObject({ fault: "signer_not_pinned", timestamp: { time, spkiSha256: stamp.spki_sha256 } });
    const forged = await verifyTimestampToken({ ...good, pins: [], imprintBytes: encodeUtf8("other") }, crypto.subtle);
    expect(forged).toEqual({ ok: false, fault: "imprint_mismatch" });
  });

  test("is refused with a different certificate for the same key", async () => {
    const certificate = findValue(message, 3, 0);
    const swapped = replaceValue(findValue(reply), certificate, decodeBase64(vectors.same_key_other_certificate));
    expect(await getVerdict({ token: swapped })).toBe("certificate_mismatch");
    const ownSignature = findValue(certificate, 2).content.slice();
    ownSignature[20] = (ownSignature[20] as number) ^ 1;
    const altered = replaceValue(findValue(reply), findValue(certificate, 2), encodeDer(0x03, ownSignature));
    expect(await getVerdict({ token: altered })).toBe("certificate_mismatch");
    const otherSerial = replaceValue(findValue(reply), findValue(signer, 1, 1), encodeDer(0x02, hex("05")));
    expect(await getVerdict({ token: otherSerial })).toBe("certificate_mismatch");
    const both = replaceValue(
      findValue(reply),
      findValue(message, 3),
      encodeDer(0xa0, decodeBase64(vectors.same_key_other_certificate), certificate.encoded),
    );
    expect(await getVerdict({ token: both })).toBe("ok");
  });

  test.each<[string, () => Uint8Array, string]>([
    [
      "another kind of content",
      () => replaceValue(findValue(reply), findValue(message, 2, 0), encodeDer(0x06, hex("2a864886f70d010701"))),
      "content_type",
    ],
    ["no signed attributes", () => replaceValue(findValue(reply), findValue(signer, 3), new Uint8Array(0)), "reply_malformed"],
    [
      "two signers",
      () => replaceValue(findValue(reply), findValue(message, 4), encodeDer(0x31, signer.encoded, signer.encoded)),
      "reply_malformed",
    ],
    ["no signer", () => replaceValue(findValue(reply), findValue(message, 4), encodeDer(0x31)), "reply_malformed"],
    [
      "another content",
      () => replaceValue(findValue(reply), findValue(message, 2, 1, 0), encodeDer(0x04, findValue(message, 2, 1, 0).content.slice(1))),
      "reply_malformed",
    ],
    [
      "a digest it does not name",
      () => replaceValue(findValue(reply), findValue(signer, 2), encodeDer(0x30, encodeDer(0x06, hex("2b0e03021a")))),
      "algorithm_unsupported",
    ],
    [
      "another digest",
      () => replaceValue(findValue(reply), findValue(signer, 2), encodeDer(0x30, encodeDer(0x06, hex("608648016503040202")))),
      "digest_mismatch",
    ],
    [
      "RSA for an ECDSA key",
      () => replaceValue(findValue(reply), findValue(signer, 4), encodeDer(0x30, encodeDer(0x06, hex("2a864886f70d01010b")))),
      "algorithm_unsupported",
    ],
    [
      "another hash in its signature",
      () => replaceValue(findValue(reply), findValue(signer, 4), encodeDer(0x30, encodeDer(0x06, hex("2a8648ce3d040303")))),
      "bad_signature",
    ],
    [
      "a signature of zeros",
      () => replaceValue(findValue(reply), findValue(signer, 5), encodeDer(0x04, new Uint8Array(64))),
      "bad_signature",
    ],
  ])("with %s is refused", async (_, make, fault) => {
    expect(await getVerdict({ token: make() })).toBe(fault);
  });

  test("is refused when an attribute is repeated or has two values", async () => {
    const attributes = findValue(signer, 3);
    for (const [at, attribute] of attributes.children.entries()) {
      const oid = toHex(findValue(attribute, 0).content);
      if (oid === "2a864886f70d010905") continue; // signingTime, which no check uses
      const twice = encodeDer(0xa0, ...attributes.children.map(({ encoded }) => encoded), attribute.encoded);
      const values = findValue(attribute, 1);
      const twoValues = replaceValue(
        attributes,
        findValue(attributes, at, 1),
        encodeDer(0x31, findValue(values, 0).encoded, findValue(values, 0).encoded),
      );
      for (const changed of [twice, twoValues]) {
        expect(await getVerdict({ token: replaceValue(findValue(reply), attributes, changed) })).toMatch(
          /^(?:content_type|digest_mismatch|certificate_mismatch)$/,
        );
      }
    }
  });

  test("is refused when it is truncated anywhere", async () => {
    for (let length = 0; length < good.token.length; length += 1) {
      expect(await getVerdict({ token: good.token.subarray(0, length) })).toBe("reply_malformed");
    }
  });

  test.each(vectors.stamps)(
    "by $key: a changed bit in the signed parts is refused, and no accepted change alters the time or the key",
    async (one) => {
      const token = decodeBase64(one.token);
      const question = { imprintBytes, pins: [createPin(one.spki_sha256)] };
      const root = parseDer(token);
      const parts = [
        [1, 1, 0, 2, 1, 0],
        [1, 1, 0, 4, 0, 3],
        [1, 1, 0, 4, 0, 5],
      ].map((path) => findValue(root, ...path).content);
      const isSigned = (at: number): boolean => parts.some((part) => at >= part.byteOffset && at < part.byteOffset + part.length);
      const subtle = createCachingSubtle();
      let signedBytes = 0;
      let accepted = 0;
      for (let at = 0; at < token.length; at += 1) {
        for (const mask of isSigned(at) ? [0x01, 0x10, 0x80] : [0x01]) {
          const changed = token.slice();
          changed[at] = (changed[at] as number) ^ mask;
          const verdict = await verifyTimestampToken({ ...question, token: changed }, subtle);
          if (isSigned(at)) expect(verdict.ok, `byte ${at}`).toBe(false);
          if (verdict.ok)
            expect(verdict.timestamp).toEqual({ time: Date.parse(one.time), serial: one.serial, spkiSha256: one.spki_sha256 });
          accepted += verdict.ok ? 1 : 0;
        }
        signedBytes += isSigned(at) ? 1 : 0;
      }
      expect(signedBytes).toBeGreaterThan(350); // at least 120 bytes of TSTInfo, 190 of the attributes and 70 of the signature
      expect(accepted).toBeGreaterThan(0); // some bytes of a token can change without effect, so anyone who stores a token must store its hash too
    },
  );
});

/** A timestamp authority on loopback. It responds as `respond` defines, and records the requests. */
class FakeAuthority {
  readonly requests: { readonly type: string | undefined; readonly body: Buffer }[] = [];
  // Disables the keep-alive timeout. Running openssl blocks this process, and an idle connection could otherwise time out while the next
  // request is using it.
  readonly #server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  respond: (query: Buffer, response: ServerResponse) => void = (_, response) => response.writeHead(500).end();

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/tsr`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.requests.push({ type: request.headers["content-type"], body });
    this.respond(body, response);
  }
}

const authority = new FakeAuthority();
const url = await authority.start();
afterAll(() => authority.stop());
afterEach(() => authority.requests.splice(0));

const replyType = { "content-type": "application/timestamp-reply" };
const checkpoint = { note: vectors.note, size: 3n, witnessedSize: 0n, getConsistencyProof: async () => [] };
const send = (request: Request): Promise<Response> => fetch(request);
const requestTimestamp = (trusted: readonly TimestampPin[] = pins, clock = Date.now, signal = new AbortController().signal) =>
  createTimestampAttestor({ name: "tsa.test", url, pins: trusted }, send, (count) => new Uint8Array(randomBytes(count)), clock).attest(
    checkpoint,
    signal,
  );

describe("a timestamp authority", () => {
  test.each<[string, (query: Buffer, response: ServerResponse) => void, object]>([
    [
      "is busy",
      (_, response) => response.writeHead(503, { "retry-after": "120" }).end(),
      { kind: "retry", code: "http_503", retryAfterMs: 120_000 },
    ],
    ["limits our requests", (_, response) => response.writeHead(429).end(), { kind: "retry", code: "http_429" }],
    ["refuses us access", (_, response) => response.writeHead(403).end(), { kind: "permanent", code: "http_403" }],
    [
      "redirects us",
      (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      { kind: "permanent", code: "http_302" },
    ],
    [
      "returns a page",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      { kind: "retry", code: "answer_malformed" },
    ],
    ["returns garbage", (_, response) => response.writeHead(200, replyType).end("garbage"), { kind: "retry", code: "reply_malformed" }],
    [
      "returns an old reply",
      (_, response) => response.writeHead(200, replyType).end(good.token),
      { kind: "retry", code: "nonce_mismatch" },
    ],
    [
      "refuses",
      (_, response) => response.writeHead(200, replyType).end(decodeBase64(vectors.refused.token)),
      { kind: "retry", code: "not_granted" },
    ],
    [
      "returns an endless response",
      (_, response) => response.writeHead(200, replyType).end(Buffer.alloc(32 * 1_024 + 1)),
      { kind: "retry", code: "answer_too_large" },
    ],
    ["hangs up", (_, response) => response.destroy(), { kind: "retry", code: "connection" }],
  ])("that %s gives the right outcome", async (_, respond, outcome) => {
    authority.respond = respond;
    expect(await requestTimestamp()).toEqual({ ok: false, ...outcome });
    expect(authority.requests).toHaveLength(1);
    expect(authority.requests[0]?.type).toBe("application/timestamp-query");
  });

  test("is abandoned when the caller aborts", async () => {
    authority.respond = () => {};
    const over = new AbortController();
    setTimeout(() => over.abort(), 50);
    expect(await requestTimestamp(pins, Date.now, over.signal)).toEqual({ ok: false, kind: "retry", code: "timeout" });
  });

  test("receives a new nonce with every request", async () => {
    authority.respond = (_, response) => response.writeHead(503).end();
    await requestTimestamp();
    await requestTimestamp();
    const [first, second] = authority.requests.map(({ body }) => toHex(findValue(parseDer(body), 2).content));
    expect(first).not.toBe(second);
  });
});

/** Returns the real time, which openssl uses. */
const readMachineClock = (): number => Date.now() - clockOffsetMs;

const describeOpenssl = (keys: readonly TsaKey[]): void => {
  describe.each(keys)("an openssl authority with a %s key", (key) => {
    let tsa: OpensslTsa;
    let trusted: readonly TimestampPin[];
    beforeAll(() => {
      tsa = new OpensslTsa({ key });
      trusted = [createPin(toHex(hashBytes(tsa.spki())))];
    });
    afterAll(() => tsa.remove());

    test("issues a reply that our checks and openssl accept", async () => {
      authority.respond = (query, response) =>
        response.writeHead(201, { "content-type": "application/timestamp-reply; x=y" }).end(tsa.reply(query));
      const outcome = await requestTimestamp(trusted, readMachineClock);
      expect(outcome).toMatchObject({
        ok: true,
        verified: true,
        attestation: { kind: "rfc3161", tsa: "tsa.test", spki_sha256: trusted[0]?.spkiSha256 },
      });
      if (!outcome.ok || outcome.attestation.kind !== "rfc3161") throw new Error("not stamped");
      expect(Math.abs(Date.parse(outcome.attestation.time) - readMachineClock())).toBeLessThan(minuteMs);
      const token = decodeBase64(outcome.attestation.token);
      expect(tsa.accepts(imprintBytes, token)).toBe(true);
      expect(tsa.accepts(encodeUtf8(`${vectors.note} `), token)).toBe(false);
      expect(await verifyTimestampToken({ token, imprintBytes, pins: trusted }, crypto.subtle)).toMatchObject({ ok: true });
    });

    test("has its token stored as unverified when its key is not pinned (Z1)", async () => {
      authority.respond = (query, response) => response.writeHead(200, replyType).end(tsa.reply(query));
      expect(await requestTimestamp(pins, readMachineClock)).toMatchObject({
        ok: true,
        verified: false,
        attestation: { spki_sha256: trusted[0]?.spkiSha256 },
      });
    });

    test("is refused when its time differs from ours by an hour (Z1)", async () => {
      authority.respond = (query, response) => response.writeHead(200, replyType).end(tsa.reply(query));
      expect(await requestTimestamp(trusted, () => readMachineClock() - hourMs)).toEqual({
        ok: false,
        kind: "retry",
        code: "time_outside_window",
      });
    });

    test("receives the same request that openssl creates", () => {
      const otherQuery = parseDer(tsa.query(imprintBytes, "-sha256", "-cert"));
      const ours = parseDer(encodeTimestampRequest(hashBytes(imprintBytes), findValue(otherQuery, 2).content));
      expect(ours?.encoded).toEqual(otherQuery?.encoded);
    });
  });
};

// openssl also produced the vectors above. Where the command is installed, new timestamps are tested too.
if (findOpensslVersion() !== null) describeOpenssl(["EC P-256", "RSA 2048"]);
