// The embedded ledger as tests reach it: over HTTP, each test its own object, with other settings where a test wants them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { parseCheckpoint } from "../../core/ledger/checkpoint.ts";
import { parseVkey, type VerifierKey } from "../../core/ledger/note.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
import { deriveVkey } from "./note-keys.ts";

const objects = env.LEDGER_LOG as DurableObjectNamespace<LedgerLog>;
export const settings = env as unknown as LedgerEnv;
export const origin = settings.LEDGER_ORIGIN as string;
export const base = `http://ledger/${origin.slice(origin.indexOf("/") + 1)}`;
export const writerHeaders = { authorization: `Bearer ${settings.LEDGER_WRITE_TOKEN}` };
export const auditorHeaders = { authorization: `Bearer ${settings.LEDGER_AUDITOR_TOKEN}` };
export const logVkey = await deriveVkey(settings.LEDGER_KEY as string);
export const trust = { origin, keys: [parseVkey(sha256, logVkey) as VerifierKey] };

export interface LedgerResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Uint8Array;
}
export type LedgerCall = (path: string, init?: RequestInit) => Promise<LedgerResponse>;

export const toLedgerResponse = async (response: Response): Promise<LedgerResponse> => {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
};

/** A ledger that no other test has touched. */
export const createLedgerObject = () => objects.getByName(crypto.randomUUID());

export const createLedgerCall =
  (stub: ReturnType<typeof createLedgerObject>): LedgerCall =>
  async (path, init) =>
    toLedgerResponse((await stub.fetch(`${base}/${path}`, init as never)) as unknown as Response);

export const createLedger = (): LedgerCall => createLedgerCall(createLedgerObject());

/** The same code deployed with other settings. A new object for every call, on the same storage. */
export const createLedgerWith = (change: LedgerEnv, stub = createLedgerObject()): LedgerCall => {
  return (path, init) =>
    runInDurableObject(stub, async (_, state) =>
      toLedgerResponse(await new LedgerLog(state, { ...settings, ...change }).fetch(new Request(`${base}/${path}`, init as never))),
    );
};

export const buildPost = (body: BodyInit | null, headers: Record<string, string> = writerHeaders): RequestInit => ({
  method: "POST",
  body,
  headers,
});
export const buildEntry = (at: number): Uint8Array<ArrayBuffer> => encodeUtf8(`statement ${at}`);
/** Adds the entries from `from` up to `to`, a tile at a time; the last answer. */
export const addBatch = async (ask: LedgerCall, from: number, to: number): Promise<LedgerResponse> => {
  let answer: LedgerResponse | null = null;
  for (let at = from; at < to; at += 256) {
    const entries = Array.from({ length: Math.min(256, to - at) }, (_, one) => buildEntry(at + one));
    answer = await ask("add-batch", buildPost(encodeEntryBundle(entries)));
  }
  if (answer === null) throw new RangeError("no entries to add");
  return answer;
};

/** The newest checkpoint once it covers `size` entries, as a client polls for it. */
export const waitForCheckpoint = async (ask: LedgerCall, size: number): Promise<string> => {
  for (let tries = 0; tries < 20; tries += 1) {
    const { text } = await ask("checkpoint");
    if ((parseCheckpoint(text)?.size ?? 0n) >= BigInt(size)) return text;
    await scheduler.wait(200);
  }
  throw new Error(`no checkpoint over ${size} entries`);
};
