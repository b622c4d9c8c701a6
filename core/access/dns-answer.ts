// Parses DNS-over-HTTPS responses (application/dns-json). Follows aliases from the queried host, and refuses a response that contains an IP
// address of any other host. The caller decides which IP addresses are public.
import { fail, type Verdict } from "../result.ts";

export type DnsType = "A" | "AAAA";

/**
 * The IP addresses in a response. `unanswered`: the resolver gave no usable answer, so try the query again later. `refused`: the response
 * is malformed, or it contains an alias or an address that is not allowed.
 */
export type DnsAnswer = Verdict<{ addresses: readonly string[] }, "unanswered" | "refused">;

export interface DnsAnswerRules {
  /** Returns whether an alias may be followed. Without this check, a third party could use an alias to reach an internal host. */
  readonly isAllowedName: (name: string) => boolean;
  readonly isPublicAddress: (address: string) => boolean;
}

const typeNumbers = { A: 1, AAAA: 28 } as const;
const cnameType = 5;
const addressTypeNumbers: ReadonlySet<unknown> = new Set(Object.values(typeNumbers));
const maxRecords = 64;
const noErrorStatus = 0;
const nxDomainStatus = 3;

interface DnsRecord {
  readonly name: string;
  readonly type: number;
  readonly data: string;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

const normalizeDnsName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Parses the records. Returns null if they are malformed or there are too many. */
const parseDnsRecords = (answer: unknown): readonly DnsRecord[] | null => {
  if (answer === undefined) return [];
  if (!Array.isArray(answer) || answer.length > maxRecords) return null;
  const records: DnsRecord[] = [];
  for (const record of answer as readonly unknown[]) {
    if (!isRecord(record) || typeof record.name !== "string" || typeof record.type !== "number" || typeof record.data !== "string")
      return null;
    records.push({ name: normalizeDnsName(record.name), type: record.type, data: record.data });
  }
  return records;
};

/**
 * Follows the aliases from `host` and returns the last name. Returns null if a name has two aliases, if the aliases form a loop, if an
 * alias is not part of the chain, or if an alias leads to a name that is not allowed.
 */
const resolveAliases = (host: string, records: readonly DnsRecord[], isAllowedName: DnsAnswerRules["isAllowedName"]): string | null => {
  const aliases = new Map<string, string>();
  for (const { name, type, data } of records) {
    if (type !== cnameType) continue;
    const target = normalizeDnsName(data);
    if (aliases.has(name) || !isAllowedName(target)) return null;
    aliases.set(name, target);
  }
  const passed = new Set<string>();
  let name = host;
  for (let target = aliases.get(name); target !== undefined && !passed.has(name); target = aliases.get(name)) {
    passed.add(name);
    name = target;
  }
  return passed.size === aliases.size && !passed.has(name) ? name : null;
};

/** Returns the IP addresses of `host` in one response to a query for one record type. The list can be empty. */
export const parseDnsAnswer = (host: string, body: unknown, rules: DnsAnswerRules): DnsAnswer => {
  if (!isRecord(body) || typeof body.Status !== "number") return fail("unanswered");
  if (body.Status === nxDomainStatus) return { ok: true, addresses: [] };
  if (body.Status !== noErrorStatus) return fail("unanswered");
  const records = parseDnsRecords(body.Answer);
  const owner = records === null ? null : resolveAliases(host, records, rules.isAllowedName);
  if (records === null || owner === null) return fail("refused");
  const addresses = records.filter(({ type }) => addressTypeNumbers.has(type));
  if (addresses.some(({ name, data }) => name !== owner || !rules.isPublicAddress(data))) return fail("refused");
  return { ok: true, addresses: addresses.map(({ data }) => data) };
};

const txtType = 16;

/** Joins the strings of a TXT record. Some resolvers quote each string; others return the strings already joined. */
const joinTxtStrings = (data: string): string => {
  const strings = data.match(/"(?:[^"\\]|\\.)*"/g);
  return strings === null || !data.startsWith('"') ? data : strings.map((quoted) => quoted.slice(1, -1)).join("");
};

/**
 * Returns the TXT values at a name, after following its aliases. Returns an empty list if there are none or the name does not exist, and
 * null if the response is malformed or reports another error.
 */
export const parseTxtAnswer = (name: string, body: unknown): readonly string[] | null => {
  if (!isRecord(body) || typeof body.Status !== "number") return null;
  if (body.Status === nxDomainStatus) return [];
  const records = body.Status === noErrorStatus ? parseDnsRecords(body.Answer) : null;
  const owner = records === null ? null : resolveAliases(name, records, () => true);
  if (records === null || owner === null) return null;
  return records.filter((record) => record.type === txtType && record.name === owner).map(({ data }) => joinTxtStrings(data));
};

/** The result of checking a host. `nowhere`: the host has no IP address. `unanswered`: the check must be repeated later. */
export type HostVerdict = "public" | "not_public" | "nowhere" | "unanswered";

/**
 * Combines one resolver's responses to the A and AAAA queries. A host is public only if it has an IP address and all its addresses are
 * public.
 */
export const toHostVerdict = (answers: readonly DnsAnswer[]): HostVerdict => {
  if (answers.some((answer) => !answer.ok && answer.fault === "refused")) return "not_public";
  if (answers.some((answer) => !answer.ok)) return "unanswered";
  return answers.some((answer) => answer.ok && answer.addresses.length > 0) ? "public" : "nowhere";
};

/**
 * Combines the resolvers' verdicts. A host is public only if all resolvers agree. `not_public` outweighs all other verdicts. Without
 * resolvers, the result is `unanswered`.
 */
export const combineHostVerdicts = (verdicts: readonly HostVerdict[]): HostVerdict => {
  if (verdicts.includes("not_public")) return "not_public";
  if (verdicts.includes("nowhere")) return "nowhere";
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === "public") ? "public" : "unanswered";
};
