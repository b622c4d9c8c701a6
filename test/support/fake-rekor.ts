// A Rekor v2 server on loopback, written from Rekor's documentation without code from the adapter. It uses the naive tree in naive-log.ts
// and Node's crypto. Depending on its mode, it loses responses, sends false responses or fails.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { computeNaiveInclusion, computeNaiveLeaf, computeNaiveRoot, buildNaiveTiles } from "./naive-log.ts";

export type FakeRekorMode =
  | "honest"
  | "loses the answer"
  | "answers garbage"
  | "answers with another entry"
  | "signs another root"
  | "signs with another key"
  | "signs badly"
  | "answers too much"
  | "hangs"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

interface LogKey {
  readonly keyId: Buffer;
  readonly sign: (text: string) => Buffer;
  readonly spki: Buffer;
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

const computeSha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const createLogKey = (origin: string, kind: "Ed25519" | "ECDSA"): LogKey => {
  const pair: { publicKey: KeyObject; privateKey: KeyObject } =
    kind === "Ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = pair.publicKey.export({ type: "spki", format: "der" });
  const keyId = kind === "Ed25519" ? computeSha256(`${origin}\n`, Buffer.from([1]), spki.subarray(-32)) : computeSha256(spki);
  return {
    spki,
    keyId: keyId.subarray(0, 4),
    sign: (text) => sign(kind === "Ed25519" ? null : "sha256", Buffer.from(text), pair.privateKey),
  };
};

interface EntryRequest {
  readonly hashedRekordRequestV002?: {
    readonly digest?: string;
    readonly signature?: {
      readonly content?: string;
      readonly verifier?: { readonly publicKey?: { readonly rawBytes?: string }; readonly keyDetails?: string };
    };
  };
}

/** Returns the leaf that Rekor adds for a request, or null if the request is invalid. Does not check the signature. */
const buildLeaf = (body: string): string | null => {
  let request: EntryRequest;
  try {
    request = JSON.parse(body) as EntryRequest;
  } catch {
    return null;
  }
  const { digest = "", signature } = request.hashedRekordRequestV002 ?? {};
  const { content = "", verifier } = signature ?? {};
  const { publicKey, keyDetails } = verifier ?? {};
  const rawBytes = publicKey?.rawBytes ?? "";
  const known = JSON.stringify({
    hashedRekordRequestV002: { digest, signature: { content, verifier: { publicKey: { rawBytes }, keyDetails } } },
  });
  const hasUnknown = JSON.stringify(request).length !== known.length; // Rekor refuses unknown JSON members
  if (hasUnknown || Buffer.from(digest, "base64").length !== 32 || content === "" || rawBytes === "") return null;
  if (keyDetails !== "PKIX_ECDSA_P256_SHA_256") return null;
  // RFC 8785: members sorted by name, no whitespace.
  const verifierText = `{"keyDetails":"${keyDetails}","publicKey":{"rawBytes":"${rawBytes}"}}`;
  const record = `{"data":{"algorithm":"SHA2_256","digest":"${digest}"},"signature":{"content":"${content}","verifier":${verifierText}}}`;
  return `{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{"hashedRekordV002":${record}}}`;
};

export class FakeRekor {
  readonly origin = "rekor.test";
  mode: FakeRekorMode = "honest";
  /** The bodies of all requests to add an entry. */
  readonly posted: string[] = [];
  /** Requested paths that did not exist. */
  readonly missedRequests: string[] = [];
  /** The highest number of concurrent requests to add an entry. */
  maxConcurrent = 0;
  /** Lines that are added to each checkpoint below the log's own signature, where the cosignatures of witnesses belong. */
  extraLines = "";
  /** The tree size of the published checkpoint. If null, the checkpoint covers the whole log. */
  publishedSize: number | null = null;
  /** True if the server still serves partial tiles of earlier tree sizes. */
  keepsPartialTiles = true;
  tilesAreGarbage = false;
  /**
   * If above 0, each request to add an entry waits until this many are open at the same time, and then another 20 ms, so that excess
   * requests are noticed.
   */
  expectedConcurrent = 0;

  readonly #key: LogKey;
  readonly #foreignKey: LogKey;
  readonly #server: Server;
  #leaves: string[] = [];
  #open = 0;

  private constructor(kind: "Ed25519" | "ECDSA") {
    this.#key = createLogKey(this.origin, kind);
    this.#foreignKey = createLogKey(this.origin, kind);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(kind: "Ed25519" | "ECDSA"): Promise<FakeRekor> {
    const rekor = new FakeRekor(kind);
    await new Promise<void>((resolve) => rekor.#server.listen(0, "127.0.0.1", resolve));
    return rekor;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spki(): Uint8Array {
    return this.#key.spki;
  }

  get size(): number {
    return this.#leaves.length;
  }

  /** Resets the server to an honest log that contains this many entries from other clients. */
  reset(entries: number): void {
    this.mode = "honest";
    this.posted.splice(0);
    this.missedRequests.splice(0);
    this.maxConcurrent = 0;
    this.extraLines = "";
    this.publishedSize = null;
    this.keepsPartialTiles = true;
    this.tilesAreGarbage = false;
    this.expectedConcurrent = 0;
    this.#leaves = [];
    this.fill(entries);
  }

  /** Adds entries from other clients. */
  fill(count: number): void {
    for (let at = 0; at < count; at += 1) this.#leaves.push(`{"of":"others","random":"${randomBytes(8).toString("hex")}"}`);
  }

  /** Replaces the log's history with a different one of the same length. */
  rewrite(): void {
    const { length } = this.#leaves;
    this.#leaves = [];
    this.fill(length);
  }

  /** Returns the signed checkpoint of the current tree, or of its first `size` leaves. */
  note(size = this.#leaves.length): string {
    const root = this.mode === "signs another root" ? randomBytes(32) : computeNaiveRoot(this.#hashes().slice(0, size));
    const text = `${this.origin}\n${size}\n${toBase64(root)}\n`;
    const key = this.mode === "signs with another key" ? this.#foreignKey : this.#key;
    const signature = key.sign(this.mode === "signs badly" ? `${text} ` : text);
    return `${text}\n\u2014 ${this.origin} ${toBase64(Buffer.concat([key.keyId, signature]))}\n${this.extraLines}`;
  }

  #hashes(): Uint8Array[] {
    return this.#leaves.map((leaf) => computeNaiveLeaf(Buffer.from(leaf)));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "POST" && path === "/api/v2/log/entries") return this.#add(request, response);
    if (request.method !== "GET") return this.#refuse(response, 404);
    if (path === "/api/v2/checkpoint") {
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(this.note(this.publishedSize ?? this.size));
      return;
    }
    const tile = this.#tile(path.replace("/api/v2/", ""));
    if (tile === null) {
      this.missedRequests.push(path);
      return this.#refuse(response, 404);
    }
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(this.tilesAreGarbage ? randomBytes(tile.length) : tile);
  }

  #refuse(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(`{"code":0,"message":"refused","details":[]}`);
  }

  #tile(path: string): Uint8Array | null {
    const tiles = buildNaiveTiles(this.#hashes());
    const storedTile = tiles.get(path);
    if (storedTile !== undefined) return storedTile;
    const [full = "", width = "0"] = path.split(".p/");
    const grown = [...tiles].find(([name]) => name === full || name.startsWith(`${full}.p/`))?.[1];
    const isGone = grown === undefined || Number(width) * 32 > grown.length || (tiles.has(full) && !this.keepsPartialTiles);
    return isGone || width === "0" ? null : grown.subarray(0, Number(width) * 32);
  }

  async #add(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#open);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.expectedConcurrent > 0) {
      while (this.maxConcurrent < this.expectedConcurrent) await pause(1);
      await pause(20);
    }
    this.#open -= 1;
    const body = Buffer.concat(chunks).toString();
    this.posted.push(body);
    const { mode } = this;
    if (mode === "hangs") return;
    if (typeof mode === "object") return this.#refuse(response, mode.status, mode.headers);
    const leaf = request.headers["content-type"] === "application/json" ? buildLeaf(body) : null;
    if (leaf === null) return this.#refuse(response, 400);
    const known = this.#leaves.indexOf(leaf);
    if (known >= 0) return this.#refuse(response, 409, { "x-log-index": String(known) });
    this.#leaves.push(leaf);
    if (mode === "loses the answer") {
      response.destroy();
      return;
    }
    const headers = { "content-type": "application/json" };
    if (mode === "answers garbage") {
      response.writeHead(201, headers).end("<html>");
      return;
    }
    const index = mode === "answers with another entry" ? 0 : this.size - 1;
    const responseText = JSON.stringify(this.#entry(index));
    response.writeHead(201, headers).end(mode === "answers too much" ? `${responseText}${" ".repeat(65_536)}` : responseText);
  }

  /** Returns a TransparencyLogEntry with all members. Its numbers are strings. */
  #entry(index: number): unknown {
    const hashes = this.#hashes();
    return {
      logIndex: String(index),
      logId: { keyId: toBase64(computeSha256(this.#key.spki)) },
      kindVersion: { kind: "hashedrekord", version: "0.0.2" },
      integratedTime: "0",
      inclusionPromise: null,
      inclusionProof: {
        logIndex: String(index),
        rootHash: toBase64(computeNaiveRoot(hashes)),
        treeSize: String(hashes.length),
        hashes: computeNaiveInclusion(index, hashes).map(toBase64),
        checkpoint: { envelope: this.note() },
      },
      canonicalizedBody: Buffer.from(this.#leaves[index] as string).toString("base64"),
    };
  }
}
