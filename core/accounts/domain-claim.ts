// Domain verification: parsing a claimed domain, the proofs that a business publishes, and the results of checking them.
import { cutText } from "../cut-text.ts";
import type { VerificationMethod } from "../access/origins.ts";
import { toHex } from "../bytes.ts";
import type { RandomBytes } from "../ids.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs, hourMs, type Instant } from "../time.ts";

export const verificationMethods: readonly VerificationMethod[] = ["dns", "well_known", "meta"];

/** How long a claimed domain can stay unverified. */
export const claimLifetimeMs = 14 * dayMs;
const domainTokenBytes = 20; // 160 bits, so no page contains a token by chance

export const generateDomainToken = (random: RandomBytes): string => toHex(random(domainTokenBytes));

const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const maxDomainLength = 253;
const domainRule = "domain: must be a host name such as example.com, without scheme, port or path.";

export interface DomainClaimRules {
  /** Returns a host's registrable domain, or null for IP addresses and public suffixes. */
  readonly getRegistrableDomain: (host: string) => string | null;
  /** In development only: hosts that may be claimed regardless of their name. */
  readonly localHosts: readonly string[];
}

/**
 * Returns a domain in canonical spelling: lowercase, with non-ASCII names as punycode. Refuses malformed names and IP addresses. Also
 * refuses public suffixes, because controlling one host under `co.uk` or `github.io` does not prove control of the others.
 */
export const parseClaimedDomain = (
  text: string,
  { getRegistrableDomain, localHosts }: DomainClaimRules,
): Result<string, "invalid_request"> => {
  if (localHosts.includes(text)) return ok(text);
  const typed = text.trim().toLowerCase();
  // The length is checked first, because normalizing a long run of combining marks takes quadratic time.
  if (typed.length > maxDomainLength) return refuse("invalid_request", domainRule);
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(typed) || typed.normalize("NFKC") !== typed.normalize("NFC"))
    return refuse("invalid_request", domainRule);
  if (!URL.canParse(`https://${typed}/`)) return refuse("invalid_request", domainRule);
  const { hostname } = new URL(`https://${typed}/`);
  const labels = hostname.split(".");
  const isName = labels.length >= 2 && hostname.length <= maxDomainLength && labels.every((part) => labelPattern.test(part));
  // The URL parser turns `2130706433` and `0x7f.1` into IP addresses. If it changes ASCII text, the text was not a host name.
  const isUnchanged = !/^[\x21-\x7e]+$/.test(typed) || hostname === typed;
  if (!isName || !isUnchanged || /^\d+$/.test(labels.at(-1) as string)) return refuse("invalid_request", domainRule);
  if (getRegistrableDomain(hostname) === null)
    return refuse("invalid_request", "domain: must not be a public suffix such as co.uk. Send a domain that you control.");
  return ok(hostname);
};

/** Returns the host of a URL without `www.`. Keeps `www.` if the rest contains no dot, as in `www.de`. */
export const getHostWithoutWww = (url: string): string => new URL(url).hostname.replace(/^www\.(?=.+\.)/, "");

/** The proofs that a business can publish. Any one of them verifies the domain. */
export interface DomainChallenges {
  readonly dns: { readonly type: "TXT"; readonly name: string; readonly value: string };
  readonly meta: { readonly tag: string; readonly url: string };
  readonly wellKnown: { readonly url: string; readonly body: string };
}

export const verificationMetaName = "svc-site-verification";
const formatVerificationText = (token: string): string => `svc-verify=${token}`;

/** Returns the TXT record, tag and file that prove control of `domain` with `token`. */
export const buildDomainChallenges = (domain: string, token: string): DomainChallenges => ({
  dns: { type: "TXT", name: `_svc-challenge.${domain}`, value: formatVerificationText(token) },
  meta: { tag: `<meta name="${verificationMetaName}" content="${token}">`, url: `https://${domain}/` },
  wellKnown: { url: `https://${domain}/.well-known/svc-verification.txt`, body: formatVerificationText(token) },
});

/** The results of checking a proof, as constant text that contains nothing from the page. */
export const verificationFindings = {
  found: "found",
  absent: "not found",
  another: "found, but with a different token",
  disagreement: "not visible to every resolver yet",
  unanswered: "no answer in time",
  not_public: "host has no public IP address",
  elsewhere: "redirects to another host or redirects too often",
  error: "server returned an error page",
  other_type: "response is neither HTML nor plain text",
  too_large: "response is too large",
} as const;
export type VerificationFinding = keyof typeof verificationFindings;

const verificationMethodLabels: Readonly<Record<VerificationMethod, string>> = {
  dns: "DNS record",
  well_known: "File",
  meta: "Meta tag",
};

/** Formats the findings as text such as `DNS record: not found. Meta tag: …`. */
export const describeFindings = (
  findings: readonly { readonly method: VerificationMethod; readonly finding: VerificationFinding }[],
): string => findings.map(({ method, finding }) => `${verificationMethodLabels[method]}: ${verificationFindings[finding]}.`).join(" ");

/**
 * Checks the TXT records from each resolver. `answers` contains null for a resolver that gave no usable answer. Every resolver must see the
 * proof.
 */
export const checkTxtRecords = (answers: readonly (readonly string[] | null)[], token: string): VerificationFinding => {
  if (answers.length === 0 || answers.includes(null)) return "unanswered";
  const seen = answers.filter((values) => values?.includes(formatVerificationText(token))).length;
  if (seen === answers.length) return "found";
  if (seen > 0) return "disagreement";
  return answers.some((values) => values !== null && values.length > 0) ? "another" : "absent";
};

const maxShownTexts = 3;
const maxShownTextLength = 100;

/**
 * Returns the values that were published instead of the proof, so that the business can see its mistake. This text is untrusted: show it
 * only on the business's own pages. The list is limited to three values of 100 characters each.
 */
export const listOtherTxtValues = (answers: readonly (readonly string[] | null)[], token: string): readonly string[] =>
  [...new Set(answers.flatMap((values) => values ?? []))]
    .filter((text) => text !== formatVerificationText(token))
    .slice(0, maxShownTexts)
    .map((text) => (text.length > maxShownTextLength ? `${cutText(text, maxShownTextLength)}…` : text));

/**
 * Checks the verification file of a domain. It may contain several proofs, one per line, so that an agency and its customer can both
 * publish one.
 */
export const checkVerificationFile = (body: string, token: string): VerificationFinding => {
  const lines = body.split("\n").map((line) => line.trim());
  if (lines.includes(formatVerificationText(token))) return "found";
  return lines.some((line) => line.startsWith(formatVerificationText(""))) ? "another" : "absent";
};

/** Checks the verification meta tags of a page. A page may have several tags, one for each proof. */
export const checkMetaTags = (contents: readonly string[], token: string): VerificationFinding => {
  if (contents.includes(token)) return "found";
  return contents.length > 0 ? "another" : "absent";
};

/**
 * The time between two checks of a verified domain. A business that no longer controls a domain loses its verification after repeated
 * failed checks.
 */
export const recheckIntervalMs = 7 * dayMs;
const retryIntervalMs = 6 * hourMs;
/**
 * If a resolver or host does not respond, or the resolvers disagree, the result counts as a failed check only when the check is overdue by
 * this much.
 */
const silenceToleranceMs = dayMs;
const warningPeriodMs = 14 * dayMs;
const maxMissesBeforeLapse = 3;

export interface DomainCheckState {
  readonly checkedAt: Instant;
  readonly misses: number;
  readonly lapsesAt: Instant | null;
}

export type DomainCheckOutcome =
  | { readonly kind: "kept"; readonly state: DomainCheckState; readonly nextAt: Instant }
  /** The first failed check after a successful one. The owners are notified. */
  | { readonly kind: "warned"; readonly state: DomainCheckState & { readonly lapsesAt: Instant }; readonly nextAt: Instant }
  | { readonly kind: "lapsed"; readonly state: DomainCheckState };

/**
 * Applies the result of one check of a verified domain. If the resolvers disagree, or a resolver or host does not respond, the domain's
 * state does not change until the check is a day overdue.
 */
export const applyDomainCheck = (before: DomainCheckState, finding: VerificationFinding, now: Instant): DomainCheckOutcome => {
  const isSilent = finding === "unanswered" || finding === "disagreement";
  if (finding === "found") return { kind: "kept", state: { checkedAt: now, misses: 0, lapsesAt: null }, nextAt: now + recheckIntervalMs };
  if (isSilent && now < before.checkedAt + recheckIntervalMs + silenceToleranceMs)
    return { kind: "kept", state: before, nextAt: now + retryIntervalMs };
  const misses = before.misses + 1;
  if (before.lapsesAt === null) {
    const lapsesAt = now + warningPeriodMs;
    return { kind: "warned", state: { checkedAt: now, misses, lapsesAt }, nextAt: now + recheckIntervalMs };
  }
  const state = { checkedAt: now, misses, lapsesAt: before.lapsesAt };
  if (misses >= maxMissesBeforeLapse && now >= before.lapsesAt) return { kind: "lapsed", state };
  return { kind: "kept", state, nextAt: now + recheckIntervalMs };
};
