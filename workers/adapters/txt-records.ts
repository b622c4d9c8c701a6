// What resolvers say is published at a name, asked of each of them over HTTPS.
import { parseTxtAnswer } from "../../core/access/dns-answer.ts";
import { secondMs } from "../../core/time.ts";
import { sendWithLimits } from "./exchange.ts";

/** One list for each resolver; null for one that did not answer. Never throws. */
export type LookupTxt = (name: string) => Promise<readonly (readonly string[] | null)[]>;

const resolverTimeoutMs = 3 * secondMs;
const maxResponseBytes = 64 * 1_024;

const queryResolver = async (resolver: string, name: string): Promise<readonly string[] | null> => {
  const url = new URL(resolver);
  url.searchParams.set("name", name);
  url.searchParams.set("type", "TXT");
  const limits = { timeoutMs: resolverTimeoutMs, maxBytes: maxResponseBytes };
  const asked = await sendWithLimits(fetch, url.href, { headers: { accept: "application/dns-json" } }, limits);
  if (!asked.ok || asked.answer.status !== 200) return null;
  try {
    return parseTxtAnswer(name, JSON.parse(new TextDecoder().decode(asked.answer.body)));
  } catch {
    return null; // no JSON is no answer
  }
};

export const createTxtLookup =
  (dohUrls: readonly string[]): LookupTxt =>
  (name) =>
    Promise.all(dohUrls.map((resolver) => queryResolver(resolver, name)));
