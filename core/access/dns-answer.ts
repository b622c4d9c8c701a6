// What a resolver's JSON answer says about a host (DNS over HTTPS, application/dns-json). An answer is believed only as
// far as it follows from the question: aliases are followed from the host on, and an address counts only under the
// last of them. Which addresses are public is the caller's knowledge.
import { fail, type Verdict } from "../result.ts";

export type DnsType = "A" | "AAAA";

/** `unanswered`: ask again later. `refused`: the answer itself forbids the host, or is none that a resolver would give. */
export type DnsAnswer = Verdict<{ addresses: readonly string[] }, "unanswered" | "refused">;

export interface DnsAnswerRules {
  /** False for an alias that a stranger may not send us to. */
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

/** Null when any record is not of the expected shape. */
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

/** The name at the end of the aliases; null for a loop, a fork, a stray alias, or one to a name we may not be sent to. */
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

/** The addresses of `host` in one answer to a question of one type; none at all is an answer too. */
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

/** A TXT record's strings are shown in quotation marks by some resolvers and joined by others; one value is all of them together. */
const joinTxtStrings = (data: string): string => {
  const strings = data.match(/"(?:[^"\\]|\\.)*"/g);
  return strings === null || !data.startsWith('"') ? data : strings.map((quoted) => quoted.slice(1, -1)).join("");
};

/** The texts at a name, wherever its aliases lead; null when the answer cannot be relied on. None at all is an answer too. */
export const parseTxtAnswer = (name: string, body: unknown): readonly string[] | null => {
  if (!isRecord(body) || typeof body.Status !== "number") return null;
  if (body.Status === nxDomainStatus) return [];
  const records = body.Status === noErrorStatus ? parseDnsRecords(body.Answer) : null;
  const owner = records === null ? null : resolveAliases(name, records, () => true);
  if (records === null || owner === null) return null;
  return records.filter((record) => record.type === txtType && record.name === owner).map(({ data }) => joinTxtStrings(data));
};

/** `nowhere`: it has no address at all, now; so it is not public either, but nothing of ours is behind it. */
export type HostVerdict = "public" | "not_public" | "nowhere" | "unanswered";

/** One resolver's answers to both questions together: public only with an address, and with none that is not public. */
export const toHostVerdict = (answers: readonly DnsAnswer[]): HostVerdict => {
  if (answers.some((answer) => !answer.ok && answer.fault === "refused")) return "not_public";
  if (answers.some((answer) => !answer.ok)) return "unanswered";
  return answers.some((answer) => answer.ok && answer.addresses.length > 0) ? "public" : "nowhere";
};

/** All resolvers must agree; one that says no outweighs one that knows nothing or is silent. No resolver, no answer. */
export const combineHostVerdicts = (verdicts: readonly HostVerdict[]): HostVerdict => {
  if (verdicts.includes("not_public")) return "not_public";
  if (verdicts.includes("nowhere")) return "nowhere";
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === "public") ? "public" : "unanswered";
};
