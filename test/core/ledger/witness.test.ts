// Tests cosignatures: the request, the response, and the attestor with correct and faulty witnesses.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { toBase64, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import { formatCheckpoint, parseCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { isConsistent, hashLeaf, type TreeHead } from "../../../core/ledger/merkle.ts";
import { createCosignatureLine, keyKinds, parseNote, parseVkey, signNote } from "../../../core/ledger/note.ts";
import {
  formatAddCheckpointRequest,
  parseAddCheckpointRequest,
  parseWitnessedSize,
  verifyCosignatures,
} from "../../../core/ledger/witness.ts";
import { toIso } from "../../../core/time.ts";
import { noteCrypto, openNoteSigner } from "../../../storage/note-keys.ts";
import { createWitnessAttestor } from "../../../workers/adapters/attestor-witness.ts";
import { computeNaiveConsistency, computeNaiveRoot } from "../../support/naive-log.ts";
import { createSecret } from "../../support/note-keys.ts";
import ledgerVectors from "../../vectors/ledger.json" with { type: "json" };

const { log } = ledgerVectors.audit;
const vectorKey = parseVkey(log.witness_vkey);
if (vectorKey === null) throw new Error("no key");
const vectorLine = log.cosigned_checkpoint.slice(log.checkpoint.length);

const origin = "svc.test/audit/0";
const logSigner = await openNoteSigner(await createSecret(origin, 31));
const witness = await openNoteSigner(await createSecret("witness.test/w1", 32, keyKinds.witness));
const stranger = await openNoteSigner(await createSecret("witness.test/w2", 33, keyKinds.witness));
const impostor = await openNoteSigner(await createSecret("witness.test/w1", 34, keyKinds.witness));

const leaves = Array.from({ length: 30 }, (_, at) => hashLeaf(encodeUtf8(`entry ${at}`)));
const createHead = (size: number): TreeHead => ({ size: BigInt(size), root: computeNaiveRoot(leaves.slice(0, size)) });
const noteOf = (size: number): Promise<string> => signNote(formatCheckpoint({ origin, ...createHead(size) }), [logSigner]);
const createLine = async (signer: typeof witness, note: string, time: bigint): Promise<string> =>
  createCosignatureLine(parseNote(note)?.text ?? "", signer, time);

describe("a request for a cosignature", () => {
  test("consists of the old size, the proof, an empty line and the checkpoint", async () => {
    const checkpoint = await noteOf(5);
    const proof = computeNaiveConsistency(3, leaves.slice(0, 5));
    const text = formatAddCheckpointRequest({ oldSize: 3n, proof, checkpoint });
    expect(text).toBe(`old 3\n${proof.map((hash) => `${toBase64(hash)}\n`).join("")}\n${checkpoint}`);
    expect(parseAddCheckpointRequest(text)).toEqual({ oldSize: 3n, proof, checkpoint });
    expect(formatAddCheckpointRequest({ oldSize: 0n, proof: [], checkpoint })).toBe(`old 0\n\n${checkpoint}`);
  });
});

describe("a witness's own size", () => {
  test("is parsed from a size response", () => {
    expect(parseWitnessedSize("text/x.tlog.size", "20852014\n")).toBe(20_852_014n);
    expect(parseWitnessedSize("text/x.tlog.size", "0\n")).toBe(0n);
  });

  test.each([
    ["another media type", "text/plain", "5\n"],
    ["no line break", "text/x.tlog.size", "5"],
    ["a leading zero", "text/x.tlog.size", "05\n"],
    ["a word", "text/x.tlog.size", "five\n"],
    ["two lines", "text/x.tlog.size", "5\n\n"],
  ])("is not parsed from %s", (_, mediaType, body) => {
    expect(parseWitnessedSize(mediaType, body)).toBeNull();
  });
});

describe("a cosignature", () => {
  const getFault = async (note: string, response: string, keys = [witness.key]): Promise<string> => {
    const verdict = await verifyCosignatures(noteCrypto, note, response, keys);
    return verdict.ok ? "ok" : verdict.fault;
  };

  test("from the vectors verifies with its time and can be appended to the note", async () => {
    const verdict = await verifyCosignatures(noteCrypto, log.checkpoint, vectorLine, [vectorKey]);
    expect(verdict).toEqual({ ok: true, cosignatures: [{ key: vectorKey, time: 1_772_600_000n, line: vectorLine }] });
    expect(log.checkpoint + vectorLine).toBe(log.cosigned_checkpoint);
  });

  test("is found among lines by unknown keys, which are ignored", async () => {
    const note = await noteOf(5);
    const ownLine = await createLine(witness, note, 1_790_000_000n);
    const unreadable = `\u2014 witness.test/pq ${Buffer.alloc(2_432, 5).toString("base64")}\n`; // an unsupported kind of key
    const response = (await createLine(stranger, note, 1n)) + unreadable + ownLine;
    const verdict = await verifyCosignatures(noteCrypto, note, response, [witness.key]);
    expect(verdict.ok && verdict.cosignatures.map(({ line, time }) => ({ line, time }))).toEqual([{ line: ownLine, time: 1_790_000_000n }]);
  });

  test("is refused when it is malformed or invalid", async () => {
    const note = await noteOf(5);
    const ownLine = await createLine(witness, note, 1_790_000_000n);
    const otherNote = await createLine(witness, await noteOf(6), 1_790_000_000n);
    const bytes = Buffer.from(ownLine.split(" ")[2] as string, "base64");
    const changedBytes = Buffer.from(bytes);
    changedBytes[11] = (changedBytes[11] as number) ^ 1; // changes the last byte of the cosignature's time
    expect(await getFault(note, ownLine)).toBe("ok");
    expect(await getFault(note, otherNote)).toBe("bad_signature");
    expect(await getFault(note, ownLine.replace(bytes.toString("base64"), changedBytes.toString("base64")))).toBe("bad_signature");
    expect(await getFault(note, ownLine + otherNote)).toBe("bad_signature");
    expect(await getFault(note, await createLine(stranger, note, 1n))).toBe("no_known_signature");
    expect(await getFault(note, await createLine(impostor, note, 1n))).toBe("no_known_signature");
    expect(await getFault(note, ownLine, [])).toBe("no_known_signature");
  });

  test("cannot be the signature of the log", async () => {
    const note = await noteOf(5);
    expect(await getFault(note, note.slice(note.lastIndexOf("\u2014")), [logSigner.key])).toBe("no_known_signature");
  });

  test.each([
    ["nothing", () => ""],
    ["no line break", (line: string) => line.slice(0, -1)],
    ["an empty line before it", (line: string) => `\n${line}`],
    ["text before it", (line: string) => `hello\n${line}`],
    ["text and an empty line before it", (line: string) => `hello\n\n${line}`],
    ["an empty line after it", (line: string) => `${line}\n`],
    ["carriage returns", (line: string) => line.replace("\n", "\r\n")],
    ["a page", () => "<html>"],
  ])("is refused in a response with %s", async (_, buildResponse) => {
    const note = await noteOf(5);
    expect(await getFault(note, buildResponse(await createLine(witness, note, 1n)))).toBe("answer_malformed");
  });
});

/** A witness on loopback that follows the protocol unless the test says otherwise. */
class FakeWitness {
  last: TreeHead = createHead(0);
  clock: () => bigint = () => BigInt(Math.floor(Date.now() / 1_000));
  /** If set, the witness calls this function instead of following the protocol. */
  instead: ((response: ServerResponse, note: string) => unknown) | null = null;
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/prefix`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    this.requests.push(body.split("\n")[0] as string);
    const parsed = request.method === "POST" && request.url === "/prefix/add-checkpoint" ? parseAddCheckpointRequest(body) : null;
    if (parsed === null) return void response.writeHead(400).end();
    if (this.instead !== null) return void (await this.instead(response, parsed.checkpoint));
    const next = parseCheckpoint(parsed.checkpoint) as TreeHead;
    const size = { "content-type": "text/x.tlog.size" };
    if (parsed.oldSize !== this.last.size) return void response.writeHead(409, size).end(`${this.last.size}\n`);
    if (next.size === this.last.size && toBase64(next.root) !== toBase64(this.last.root)) return void response.writeHead(409).end();
    if (!isConsistent(this.last, next, parsed.proof)) return void response.writeHead(422).end();
    this.last = next;
    response.writeHead(200).end(await createLine(witness, parsed.checkpoint, this.clock()));
  }
}

const fake = new FakeWitness();
const baseUrl = await fake.start();
afterAll(() => fake.stop());

describe("a witness", () => {
  beforeEach(() => {
    fake.last = createHead(0);
    fake.clock = () => BigInt(Math.floor(Date.now() / 1_000));
    fake.instead = null;
    fake.requests.splice(0);
  });

  const attestor = createWitnessAttestor({ key: witness.key, baseUrl }, (request) => fetch(request), noteCrypto, Date.now);
  const requestCosignature = async (size: number, witnessedSize: number, signal = new AbortController().signal) =>
    attestor.attest(
      {
        note: await noteOf(size),
        size: BigInt(size),
        witnessedSize: BigInt(witnessedSize),
        getConsistencyProof: async (from) => (from === 0n ? [] : computeNaiveConsistency(Number(from), leaves.slice(0, size))),
      },
      signal,
    );

  test("returns a cosignature that verifies with the note", async () => {
    const note = await noteOf(5);
    const outcome = await requestCosignature(5, 0);
    if (!outcome.ok || outcome.attestation.kind !== "cosignature") throw new Error(JSON.stringify(outcome));
    const { line, name, time } = outcome.attestation;
    const verdict = await verifyCosignatures(noteCrypto, note, line, [witness.key]);
    expect(name).toBe("witness.test/w1");
    expect(verdict.ok && toIso(Number(verdict.cosignatures[0]?.time) * 1_000)).toBe(time);
  });

  test("receives a proof from the last checkpoint that it cosigned", async () => {
    for (const [size, witnessed] of [
      [5, 0],
      [5, 5],
      [8, 5],
      [29, 8],
    ] as const)
      expect(await requestCosignature(size, witnessed)).toMatchObject({ ok: true });
    expect(fake.requests).toEqual(["old 0", "old 5", "old 5", "old 8"]);
  });

  test.each([
    ["has cosigned less than we thought", 4, 9],
    ["has cosigned more than we thought", 9, 4],
    ["has cosigned nothing", 0, 9],
    ["has already cosigned this checkpoint", 12, 0],
  ])("that %s is retried with its own size", async (_, theirSize, ours) => {
    fake.last = createHead(theirSize);
    expect(await requestCosignature(12, ours)).toMatchObject({ ok: true });
    expect(fake.requests).toEqual([`old ${ours}`, `old ${theirSize}`]);
  });

  test("fails permanently when it has cosigned a newer checkpoint", async () => {
    fake.last = createHead(20);
    expect(await requestCosignature(12, 0)).toEqual({ ok: false, kind: "permanent", code: "superseded" });
    expect(await requestCosignature(12, 13)).toEqual({ ok: false, kind: "permanent", code: "superseded" });
    expect(fake.requests).toEqual(["old 0"]);
  });

  test("fails permanently when it has seen a different history", async () => {
    fake.last = { size: 12n, root: sha256(encodeUtf8("other")) };
    expect(await requestCosignature(12, 12)).toEqual({ ok: false, kind: "permanent", code: "conflict" });
    fake.last = { size: 10n, root: sha256(encodeUtf8("other")) };
    expect(await requestCosignature(12, 10)).toEqual({ ok: false, kind: "permanent", code: "http_422" });
  });

  const size = { "content-type": "text/x.tlog.size" };
  test.each<[string, (response: ServerResponse, note: string) => unknown, object]>([
    ["does not know the log", (response) => response.writeHead(404).end(), { kind: "permanent", code: "http_404" }],
    ["does not know its key", (response) => response.writeHead(403).end(), { kind: "permanent", code: "http_403" }],
    [
      "is busy",
      (response) => response.writeHead(429, { "retry-after": "7" }).end(),
      { kind: "retry", code: "http_429", retryAfterMs: 7_000 },
    ],
    ["is down", (response) => response.writeHead(502).end(), { kind: "retry", code: "http_502" }],
    ["hangs up", (response) => response.destroy(), { kind: "retry", code: "connection" }],
    ["returns garbage", (response) => response.writeHead(200).end("<html>"), { kind: "retry", code: "answer_malformed" }],
    [
      "sends an endless response",
      (response) => response.writeHead(200).end("x".repeat(16_385)),
      { kind: "retry", code: "answer_too_large" },
    ],
    ["repeats our own size", (response) => response.writeHead(409, size).end("0\n"), { kind: "permanent", code: "conflict" }],
    ["reports a conflict without its size", (response) => response.writeHead(409).end(), { kind: "permanent", code: "conflict" }],
    [
      "signs with another key",
      async (response, note) => response.writeHead(200).end(await createLine(stranger, note, 1n)),
      { kind: "retry", code: "no_known_signature" },
    ],
    [
      "signs another checkpoint",
      async (response) => response.writeHead(200).end(await createLine(witness, await noteOf(3), 1n)),
      { kind: "retry", code: "bad_signature" },
    ],
  ])("that %s gives the right outcome", async (_, instead, outcome) => {
    fake.instead = instead;
    expect(await requestCosignature(5, 0)).toEqual({ ok: false, ...outcome });
    expect(fake.requests).toHaveLength(1);
  });

  test("is retried later when its size changes during the request", async () => {
    let moved = 3;
    fake.instead = (response) => response.writeHead(409, size).end(`${moved++}\n`);
    expect(await requestCosignature(9, 0)).toEqual({ ok: false, kind: "retry", code: "witness_moved" });
    expect(fake.requests).toEqual(["old 0", "old 3"]);
  });

  test("is refused when its clock is more than five minutes ahead", async () => {
    fake.clock = () => BigInt(Math.floor(Date.now() / 1_000) + 240);
    expect(await requestCosignature(5, 0)).toMatchObject({ ok: true });
    fake.clock = () => BigInt(Math.floor(Date.now() / 1_000) + 360);
    expect(await requestCosignature(6, 5)).toEqual({ ok: false, kind: "retry", code: "time_in_future" });
  });

  test("is abandoned when the caller aborts", async () => {
    fake.instead = () => {};
    const over = new AbortController();
    setTimeout(() => over.abort(), 50);
    expect(await requestCosignature(5, 0, over.signal)).toEqual({ ok: false, kind: "retry", code: "timeout" });
  });
});
