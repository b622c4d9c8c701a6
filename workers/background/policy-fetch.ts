// One capture of an origin's privacy policy and terms: its front page, the page of the form, the common paths, in that order and
// only as far as needed. The page comes out of a submission that anybody can send, so what only it names is nobody else's.
import type { PageFetchResult } from "../../core/access/outbound-page.ts";
import { findPolicyCandidates, looksLikePolicy, getWellKnownPolicyUrls, type PageLink } from "../../core/policies/discovery.ts";
import { policyKinds, createPolicyText, type CapturedPolicies, type PolicyKind, type PolicyText } from "../../core/policies/snapshot.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { PolicyLocation } from "../../storage/policies.ts";
import type { Platform } from "../services.ts";

const userAgent = "Svc-Policies/1";
const allowedPorts: readonly number[] = [443]; // a verified origin has no other
const pageTimeoutMs = 10 * secondMs; // CONTRACT 8
const fetchTimeoutMs = 25 * secondMs; // two pages that hang and a rest; the platform ends work 30 s after an answer
const maxBytes = 1_024 * 1_024; // CONTRACT 8
const maxPages = 12; // two to start from, three candidates a kind, some common paths

export interface FetchedPolicies {
  readonly found: CapturedPolicies;
  /** False when a page that could have told more did not answer: worth another look. */
  readonly isComplete: boolean;
  /** Whether all of it is there and comes from the origin's own places: then it is everybody's on the origin. */
  readonly isOfOrigin: boolean;
}

type PageOutcome =
  | { readonly outcome: "read"; readonly text: PolicyText | null; readonly links: readonly PageLink[] }
  | { readonly outcome: "nothing"; readonly hostAnswered: boolean }
  | { readonly outcome: "unreached" };

const toPageOutcome = (platform: Platform, answer: PageFetchResult): PageOutcome => {
  if (answer.outcome === "unreached") return { outcome: "unreached" };
  if (answer.outcome === "nothing") {
    return { outcome: "nothing", hostAnswered: answer.reason !== "address" && answer.reason !== "not_public" };
  }
  const { text, links } = platform.parsePage(answer.page);
  return { outcome: "read", text: createPolicyText(answer.page.url, text), links };
};

/** Reads pages of one site, each address once, within the limits of a capture. */
const createSiteReader = (
  platform: Platform,
  isWithin: (hostname: string) => boolean,
  until: Instant,
): ((url: string) => Promise<PageOutcome>) => {
  const readings = new Map<string, PageOutcome>();
  return async (url) => {
    const known = readings.get(url);
    if (known !== undefined) return known;
    if (readings.size >= maxPages) return { outcome: "nothing", hostAnswered: true };
    const totalMs = Math.min(pageTimeoutMs, until - platform.clock());
    if (totalMs <= 0) return { outcome: "unreached" };
    const reading = toPageOutcome(
      platform,
      await platform.fetchPage({ url, userAgent, isAllowedHost: isWithin, ports: allowedPorts, timeoutMs: totalMs, maxBytes }),
    );
    readings.set(url, reading);
    return reading;
  };
};

/** `page` is the address of the page with the form, without query. Reads no more pages than it needs. */
export const fetchPolicies = async (platform: Platform, { origin, page }: PolicyLocation): Promise<FetchedPolicies> => {
  const site = platform.getSite(new URL(origin).hostname);
  const isWithin = (hostname: string): boolean => platform.getSite(hostname) === site;
  const readUrl = createSiteReader(platform, isWithin, platform.clock() + fetchTimeoutMs);
  const found: Record<PolicyKind, PolicyText | null> = { privacy: null, terms: null };
  const missing = (): readonly PolicyKind[] => policyKinds.filter((kind) => found[kind] === null);
  let unanswered = 0;
  const read = async (url: string): Promise<PageOutcome> => {
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

  const frontPage = `${origin}/`;
  const startTexts = new Set<string>();
  let hostAnswers = false;
  let isOfPage = false;
  let pageText: string | null = null;
  // The page may lie on another verified domain of the business; that one's policies are not this origin's.
  for (const start of new Set(isWithin(new URL(page).hostname) ? [frontPage, page] : [frontPage])) {
    const sought = missing();
    if (sought.length === 0) break;
    const reading = await read(start);
    if (reading.outcome === "read" || (reading.outcome === "nothing" && reading.hostAnswered)) hostAnswers = true;
    if (reading.outcome !== "read") continue;
    if (reading.text !== null) startTexts.add(reading.text.contentHash);
    if (start !== frontPage) pageText = reading.text?.contentHash ?? null;
    for (const kind of sought) await take(kind, findPolicyCandidates(kind, reading.links, isWithin), () => true);
    if (start !== frontPage && missing().length < sought.length) isOfPage = true;
  }
  // Sites that answer every address with the same page are common: a guess counts only if it is another page, about this.
  for (const kind of hostAnswers ? missing() : []) {
    const isRight = ({ text, contentHash }: PolicyText): boolean => {
      if (contentHash === pageText) isOfPage = true; // whoever chose the page chose that this is no guess of it
      return !startTexts.has(contentHash) && looksLikePolicy(kind, text);
    };
    await take(kind, getWellKnownPolicyUrls(kind, origin), isRight);
  }
  const isEverything = missing().length === 0;
  return { found, isComplete: isEverything || unanswered === 0, isOfOrigin: isEverything && !isOfPage };
};
