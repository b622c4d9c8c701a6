// Looks up TXT records through DNS-over-HTTPS resolvers.
import { parseTxtAnswer } from "../../core/access/dns-answer.ts";
import { secondMs } from "../../core/time.ts";
import { sendWithLimits } from "./exchange.ts";

/**
 * Looks up the TXT records of a name. Returns one list per resolver, or null for a resolver that did not return a valid response. Never
 * throws.
 */
export type LookupTxt = (name: string) => Promise<readonly (readonly string[] | null)[]>;

const resolverTimeoutMs = 3 * secondMs;
const maxResponseBytes = 64 * 1_024;

const queryTxtRecords = async (resolver: string, name: string): Promise<readonly string[] | null> => {
  const url = new URL(resolver);
  url.searchParams.set("name", name);
  url.searchParams.set("type", "TXT");
  const limits = { timeoutMs: resolverTimeoutMs, maxBytes: maxResponseBytes };
  const sent = await sendWithLimits(fetch, url.href, { headers: { accept: "application/dns-json" } }, limits);
  if (!sent.ok || sent.response.status !== 200) return null;
  try {
    return parseTxtAnswer(name, JSON.parse(new TextDecoder().decode(sent.response.body)));
  } catch {
    return null; // a response with invalid JSON counts as no response
  }
};

export const createTxtLookup =
  (dohUrls: readonly string[]): LookupTxt =>
  (name) =>
    Promise.all(dohUrls.map((resolver) => queryTxtRecords(resolver, name)));
