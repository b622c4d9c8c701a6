// What resolvers say is published at a name, asked of each of them over HTTPS.
import { readTxtAnswer } from "../../core/access/dns-answer.ts";
import { secondMs } from "../../core/time.ts";
import { exchange } from "./exchange.ts";

/** One list for each resolver; null for one that did not answer. Never throws. */
export type LookUpTxt = (name: string) => Promise<readonly (readonly string[] | null)[]>;

const resolveMs = 3 * secondMs;
const maxAnswerBytes = 64 * 1_024;

const ask = async (resolver: string, name: string): Promise<readonly string[] | null> => {
  const url = new URL(resolver);
  url.searchParams.set("name", name);
  url.searchParams.set("type", "TXT");
  const limits = { withinMs: resolveMs, maxBytes: maxAnswerBytes };
  const asked = await exchange(fetch, url.href, { headers: { accept: "application/dns-json" } }, limits);
  if (!asked.ok || asked.answer.status !== 200) return null;
  try {
    return readTxtAnswer(name, JSON.parse(new TextDecoder().decode(asked.answer.body)));
  } catch {
    return null; // no JSON is no answer
  }
};

export const openTxtLookUp =
  (dohUrls: readonly string[]): LookUpTxt =>
  (name) =>
    Promise.all(dohUrls.map((resolver) => ask(resolver, name)));
