// A domain as a business claims it, what it publishes to prove it, and what a check of the proof can find.
import type { VerificationMethod } from "../access/origins.ts";
import { toHex } from "../bytes.ts";
import type { RandomBytes } from "../ids.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs, hourMs, type Instant } from "../time.ts";

export const verificationMethods: readonly VerificationMethod[] = ["dns", "well_known", "meta"];

/** How long a claim waits for its proof. */
export const claimLifetimeMs = 14 * dayMs;
const domainTokenBytes = 20; // 160 bits: nobody publishes another business's by chance

export const generateDomainToken = (random: RandomBytes): string => toHex(random(domainTokenBytes));

const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const maxDomainLength = 253;
const domainRule = "domain: must be a host name such as example.com, without scheme, port or path";

export interface DomainClaimRules {
  /** The registrable domain of a host; null for addresses and public suffixes. */
  readonly getRegistrableDomain: (host: string) => string | null;
  /** Development only: hosts that may be claimed whatever they are called. */
  readonly localHosts: readonly string[];
}

/**
 * The one spelling of a domain: lower case, other scripts as punycode. An address is no domain, and a public suffix is everybody's:
 * who runs one host under `co.uk` or `github.io` does not speak for the others.
 */
export const parseClaimedDomain = (
  text: string,
  { getRegistrableDomain, localHosts }: DomainClaimRules,
): Result<string, "invalid_request"> => {
  if (localHosts.includes(text)) return ok(text);
  const written = text.trim().toLowerCase();
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(written) || written.normalize("NFKC") !== written.normalize("NFC"))
    return refuse("invalid_request", `${domainRule}.`);
  if (!URL.canParse(`https://${written}/`)) return refuse("invalid_request", `${domainRule}.`);
  const { hostname } = new URL(`https://${written}/`);
  const labels = hostname.split(".");
  const isName = labels.length >= 2 && hostname.length <= maxDomainLength && labels.every((part) => labelPattern.test(part));
  // The parser reads `2130706433` and `0x7f.1` as addresses, so what it had to change in plain letters was not a name.
  const isAsWritten = !/^[\x21-\x7e]+$/.test(written) || hostname === written;
  if (!isName || !isAsWritten || /^\d+$/.test(labels.at(-1) as string)) return refuse("invalid_request", `${domainRule}.`);
  if (getRegistrableDomain(hostname) === null)
    return refuse("invalid_request", "domain: must be a domain that somebody can register, not a public suffix.");
  return ok(hostname);
};

/** Where a proof is published. */
export interface DomainChallenges {
  readonly dns: { readonly type: "TXT"; readonly name: string; readonly value: string };
  readonly meta: { readonly tag: string; readonly url: string };
  readonly wellKnown: { readonly url: string; readonly body: string };
}

export const verificationMetaName = "svc-site-verification";
const formatVerificationText = (token: string): string => `svc-verify=${token}`;

export const buildDomainChallenges = (domain: string, token: string): DomainChallenges => ({
  dns: { type: "TXT", name: `_svc-challenge.${domain}`, value: formatVerificationText(token) },
  meta: { tag: `<meta name="${verificationMetaName}" content="${token}">`, url: `https://${domain}/` },
  wellKnown: { url: `https://${domain}/.well-known/svc-verification.txt`, body: formatVerificationText(token) },
});

/** What a check of the proof found, as words that hold nothing of a stranger's page. */
export const verificationFindings = {
  found: "it is there",
  absent: "nothing is there",
  another: "something is there, but not with this token",
  disagreement: "some resolvers see it and others do not yet",
  unanswered: "nobody answered, or not in time",
  not_public: "the host has no public address",
  elsewhere: "it redirects to another host, or too often",
  error: "the answer was an error page",
  other_type: "the answer was neither a page nor a text",
  too_large: "the answer was too large",
} as const;
export type VerificationFinding = keyof typeof verificationFindings;

const verificationMethodLabels: Readonly<Record<VerificationMethod, string>> = {
  dns: "TXT record",
  well_known: "Well-known file",
  meta: "Meta tag",
};

/** `TXT record: nothing is there. Meta tag: …` */
export const describeFindings = (
  seen: readonly { readonly method: VerificationMethod; readonly sighting: VerificationFinding }[],
): string => seen.map(({ method, sighting }) => `${verificationMethodLabels[method]}: ${verificationFindings[sighting]}.`).join(" ");

/** What the resolvers say together; null is one that did not answer. Each must see the proof. */
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
 * What stands at the name instead of the proof, so that its own people see what they published. Strangers' text: it belongs on their
 * page and nowhere else, and of it only the beginnings of a few.
 */
export const listOtherTxtValues = (answers: readonly (readonly string[] | null)[], token: string): readonly string[] =>
  [...new Set(answers.flatMap((values) => values ?? []))]
    .filter((text) => text !== formatVerificationText(token))
    .slice(0, maxShownTexts)
    .map((text) => {
      const characters = [...text];
      return characters.length > maxShownTextLength ? `${characters.slice(0, maxShownTextLength).join("")}…` : text;
    });

/** One line of the file is the proof: an agency and its customer can both have theirs there. */
export const checkVerificationFile = (body: string, token: string): VerificationFinding => {
  const lines = body.split("\n").map((line) => line.trim());
  if (lines.includes(formatVerificationText(token))) return "found";
  return lines.some((line) => line.startsWith(formatVerificationText(""))) ? "another" : "absent";
};

/** Likewise of tags. */
export const checkMetaTags = (contents: readonly string[], token: string): VerificationFinding => {
  if (contents.includes(token)) return "found";
  return contents.length > 0 ? "another" : "absent";
};

/** Proofs are checked again, so that whoever loses a domain stops speaking for it. */
export const recheckIntervalMs = 7 * dayMs;
const retryIntervalMs = 6 * hourMs;
/** Silence this long after a check was due counts as a miss. */
const silenceToleranceMs = dayMs;
const warningPeriodMs = 14 * dayMs;
const maxMissesBeforeLapse = 3;

/** What is known of a verified domain's checks. */
export interface DomainCheckState {
  readonly checkedAt: Instant;
  readonly misses: number;
  readonly lapsesAt: Instant | null;
}

export type DomainCheckOutcome =
  | { readonly kind: "kept"; readonly state: DomainCheckState; readonly nextAt: Instant }
  /** The first miss: the owners are told. */
  | { readonly kind: "warned"; readonly state: DomainCheckState & { readonly lapsesAt: Instant }; readonly nextAt: Instant }
  | { readonly kind: "lapsed"; readonly state: DomainCheckState };

/** What follows from one check of a verified domain. A resolver or host that is silent for some hours takes nothing away. */
export const applyDomainCheck = (before: DomainCheckState, sighting: VerificationFinding, now: Instant): DomainCheckOutcome => {
  const isSilent = sighting === "unanswered" || sighting === "disagreement";
  if (sighting === "found") return { kind: "kept", state: { checkedAt: now, misses: 0, lapsesAt: null }, nextAt: now + recheckIntervalMs };
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
