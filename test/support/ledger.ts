// Calls the embedded ledger over HTTP. Each test can use its own ledger object with changed settings.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { encodeUtf8 } from "../../core/bytes.ts";
import { parseCheckpoint } from "../../core/ledger/checkpoint.ts";
import { parseVkey, type VerifierKey } from "../../core/ledger/note.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
import { deriveVkey } from "./note-keys.ts";

const objects = env.LEDGER_LOG;
export const settings = env;
export const origin = settings.LEDGER_ORIGIN as string;
export const base = `http://ledger/${origin.slice(origin.indexOf("/") + 1)}`;
export const writerHeaders = { authorization: `Bearer ${settings.LEDGER_WRITE_TOKEN}` };
export const auditorHeaders = { authorization: `Bearer ${settings.LEDGER_AUDITOR_TOKEN}` };
export const logVkey = await deriveVkey(settings.LEDGER_KEY as string);
export const trust = { origin, keys: [parseVkey(logVkey) as VerifierKey] };

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

export const createLedgerObject = () => objects.getByName(crypto.randomUUID());

export const createLedgerCall =
  (stub: ReturnType<typeof createLedgerObject>): LedgerCall =>
  async (path, init) =>
    toLedgerResponse((await stub.fetch(`${base}/${path}`, init as never)) as unknown as Response);

export const createLedger = (): LedgerCall => createLedgerCall(createLedgerObject());

/** Returns a ledger with changed settings. Each request creates the object again on the same storage. */
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
export const addEntries = (call: LedgerCall, entries: readonly Uint8Array[]): Promise<LedgerResponse> =>
  call("add-batch", buildPost(encodeEntryBundle(entries)));

/** Adds the entries from `from` to `end` (exclusive), one tile at a time. Returns the last response. */
export const addBatch = async (call: LedgerCall, from: number, end: number): Promise<LedgerResponse> => {
  let response: LedgerResponse | null = null;
  for (let at = from; at < end; at += 256) {
    const entries = Array.from({ length: Math.min(256, end - at) }, (_, offset) => buildEntry(at + offset));
    response = await addEntries(call, entries);
  }
  if (response === null) throw new RangeError("no entries to add");
  return response;
};

/** Polls until the newest checkpoint covers `size` entries. */
export const waitForCheckpoint = async (call: LedgerCall, size: number): Promise<string> => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { text } = await call("checkpoint");
    if ((parseCheckpoint(text)?.size ?? 0n) >= BigInt(size)) return text;
    await scheduler.wait(200);
  }
  throw new Error(`no checkpoint over ${size} entries`);
};
