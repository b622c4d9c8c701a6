// One look at a domain's privacy policy and terms: the page of the form, the front page, the usual places, in that order
// and only as far as needed.
import type { PageAnswer } from "../../core/access/outbound-page.ts";
import { policyCandidates, readsAs, wellKnownPolicyUrls, type Link } from "../../core/policies/discovery.ts";
import { policyKinds, policyTextOf, type FoundPolicies, type PolicyKind, type PolicyText } from "../../core/policies/snapshot.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Platform } from "../services.ts";

const userAgent = "Svc-Policies/1";
const ports: readonly number[] = [443]; // a verified origin has no other
const pageMs = 10 * secondMs; // CONTRACT 8
const fetchMs = 25 * secondMs; // two pages that hang and a rest; the platform ends work 30 s after an answer
const maxBytes = 1_024 * 1_024; // CONTRACT 8
const maxPages = 12; // two to start from, three candidates a kind, some usual places

export interface FetchedPolicies {
  readonly found: FoundPolicies;
  /** False when a page that could have told more did not answer: worth another look. */
  readonly complete: boolean;
}

type Reading =
  | { readonly outcome: "read"; readonly text: PolicyText | null; readonly links: readonly Link[] }
  | { readonly outcome: "nothing"; readonly hostAnswered: boolean }
  | { readonly outcome: "unreached" };

const readingOf = (platform: Platform, answer: PageAnswer): Reading => {
  if (answer.outcome === "unreached") return { outcome: "unreached" };
  if (answer.outcome === "nothing") {
    return { outcome: "nothing", hostAnswered: answer.reason !== "address" && answer.reason !== "not_public" };
  }
  const { text, links } = platform.readPage(answer.page);
  return { outcome: "read", text: policyTextOf(answer.page.url, text), links };
};

/** Reads pages of one site, each address once, within the limits of a look. */
const siteReader = (platform: Platform, isWithin: (hostname: string) => boolean, until: Instant): ((url: string) => Promise<Reading>) => {
  const readings = new Map<string, Reading>();
  return async (url) => {
    const known = readings.get(url);
    if (known !== undefined) return known;
    if (readings.size >= maxPages) return { outcome: "nothing", hostAnswered: true };
    const totalMs = Math.min(pageMs, until - platform.clock());
    if (totalMs <= 0) return { outcome: "unreached" };
    const reading = readingOf(platform, await platform.fetchPage({ url, userAgent, isWithin, ports, totalMs, maxBytes }));
    readings.set(url, reading);
    return reading;
  };
};

/** `page` is the address of the page with the form, without query. Reads no more pages than it needs. */
export const fetchPolicies = async (platform: Platform, domain: string, page: string): Promise<FetchedPolicies> => {
  const site = platform.siteOf(domain);
  const isWithin = (hostname: string): boolean => platform.siteOf(hostname) === site;
  const readUrl = siteReader(platform, isWithin, platform.clock() + fetchMs);
  const found: Record<PolicyKind, PolicyText | null> = { privacy: null, terms: null };
  const missing = (): readonly PolicyKind[] => policyKinds.filter((kind) => found[kind] === null);
  let unanswered = 0;
  const read = async (url: string): Promise<Reading> => {
    const reading = await readUrl(url);
    if (reading.outcome === "unreached") unanswered += 1;
    return reading;
  };
  const take = async (kind: PolicyKind, urls: readonly string[], isRight: (text: PolicyText) => boolean): Promise<void> => {
    for (const url of urls) {
      if (found[kind] !== null) return;
      const reading = await read(url);
      if (reading.outcome === "read" && reading.text !== null && isRight(reading.text)) found[kind] = reading.text;
    }
  };

  const { hostname, origin: pageOrigin } = new URL(page);
  const origin = hostname === domain ? pageOrigin : `https://${domain}`;
  const startTexts = new Set<string>();
  let hostAnswers = true;
  // The page may lie on another verified domain of the business; that one's policies are not this origin's.
  for (const start of new Set(isWithin(hostname) ? [page, `${origin}/`] : [`${origin}/`])) {
    if (missing().length === 0) break;
    const reading = await read(start);
    hostAnswers = reading.outcome === "read" || (reading.outcome === "nothing" && reading.hostAnswered);
    if (reading.outcome !== "read") continue;
    if (reading.text !== null) startTexts.add(reading.text.contentHash);
    for (const kind of missing()) await take(kind, policyCandidates(kind, reading.links, isWithin), () => true);
  }
  // Sites that answer every address with the same page are common: a guess counts only if it is another page, about this.
  for (const kind of hostAnswers ? missing() : []) {
    const isRight = ({ text, contentHash }: PolicyText): boolean => !startTexts.has(contentHash) && readsAs(kind, text);
    await take(kind, wellKnownPolicyUrls(kind, origin), isRight);
  }
  return { found, complete: missing().length === 0 || unanswered === 0 };
};
