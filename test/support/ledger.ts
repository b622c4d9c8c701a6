// The embedded ledger as tests reach it: over HTTP, each test its own object, with other settings where a test wants them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { utf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { parseCheckpoint } from "../../core/ledger/checkpoint.ts";
import { parseVkey, type VerifierKey } from "../../core/ledger/note.ts";
import { entryBundle } from "../../core/ledger/tiles.ts";
import { LedgerLog, type LedgerEnv } from "../../durable-objects/ledger-log/object.ts";
import { vkeyOfSecret } from "./note-keys.ts";

const objects = env.LEDGER_LOG as DurableObjectNamespace<LedgerLog>;
export const settings = env as unknown as LedgerEnv;
export const origin = settings.LEDGER_ORIGIN as string;
export const base = `http://ledger/${origin.slice(origin.indexOf("/") + 1)}`;
export const writer = { authorization: `Bearer ${settings.LEDGER_WRITE_TOKEN}` };
export const auditor = { authorization: `Bearer ${settings.LEDGER_AUDITOR_TOKEN}` };
export const logVkey = await vkeyOfSecret(settings.LEDGER_KEY as string);
export const trust = { origin, keys: [parseVkey(sha256, logVkey) as VerifierKey] };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Uint8Array;
}
export type Ask = (path: string, init?: RequestInit) => Promise<Answer>;

export const answerOf = async (response: Response): Promise<Answer> => {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
};

/** A ledger that no other test has touched. */
export const freshObject = () => objects.getByName(crypto.randomUUID());

export const askOf =
  (stub: ReturnType<typeof freshObject>): Ask =>
  async (path, init) =>
    answerOf((await stub.fetch(`${base}/${path}`, init as never)) as unknown as Response);

export const freshLedger = (): Ask => askOf(freshObject());

/** The same code deployed with other settings. A new object for every call, on the same storage. */
export const ledgerWith = (change: LedgerEnv, stub = freshObject()): Ask => {
  return (path, init) =>
    runInDurableObject(stub, async (_, state) =>
      answerOf(await new LedgerLog(state, { ...settings, ...change }).fetch(new Request(`${base}/${path}`, init as never))),
    );
};

export const post = (body: BodyInit | null, headers: Record<string, string> = writer): RequestInit => ({ method: "POST", body, headers });
export const entry = (at: number): Uint8Array<ArrayBuffer> => utf8(`statement ${at}`);
/** Adds the entries from `from` up to `to`, a tile at a time; the last answer. */
export const addBatch = async (ask: Ask, from: number, to: number): Promise<Answer> => {
  let answer: Answer | null = null;
  for (let at = from; at < to; at += 256) {
    const entries = Array.from({ length: Math.min(256, to - at) }, (_, one) => entry(at + one));
    answer = await ask("add-batch", post(entryBundle(entries)));
  }
  if (answer === null) throw new RangeError("no entries to add");
  return answer;
};

/** The newest checkpoint once it covers `size` entries, as a client polls for it. */
export const checkpointOver = async (ask: Ask, size: number): Promise<string> => {
  for (let tries = 0; tries < 20; tries += 1) {
    const { text } = await ask("checkpoint");
    if ((parseCheckpoint(text)?.size ?? 0n) >= BigInt(size)) return text;
    await scheduler.wait(200);
  }
  throw new Error(`no checkpoint over ${size} entries`);
};
