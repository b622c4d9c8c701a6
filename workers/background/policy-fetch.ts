// Fetches an origin's privacy policy and terms. Tries links on the front page, then links on the page with the form, then well-known paths.
// Stops once it has found both. Anyone can send a submission for any page, so policies found only through the page with the form are not
// used for other pages of the origin.
import type { PageFetchResult } from "../../core/access/outbound-page.ts";
import { findPolicyCandidates, looksLikePolicy, getWellKnownPolicyUrls, type PageLink } from "../../core/policies/discovery.ts";
import { policyKinds, createPolicyText, type CapturedPolicies, type PolicyKind, type PolicyText } from "../../core/policies/snapshot.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { PolicyLocation } from "../../storage/policies.ts";
import type { Platform } from "../platform/platform.ts";

const userAgent = "Svc-Policies/1";
const allowedPorts: readonly number[] = [443]; // a verified origin never uses another port
const pageTimeoutMs = 10 * secondMs; // set by SPEC Policy snapshot
const fetchTimeoutMs = 25 * secondMs; // enough for two unresponsive pages and a few more; the platform stops work 30 s after the response
const maxBytes = 1_024 * 1_024; // set by SPEC Policy snapshot
const maxPages = 12; // enough for two start pages, three candidates for each policy and some well-known paths

export interface FetchedPolicies {
  readonly found: CapturedPolicies;
  /** False if a policy is missing and a page that might link to it or contain it did not respond. A retry may find more. */
  readonly isComplete: boolean;
  /** True if both policies were found without the page with the form. They then apply to every page of the origin. */
  readonly isOfOrigin: boolean;
}

type PageOutcome =
  | { readonly outcome: "read"; readonly text: PolicyText | null; readonly links: readonly PageLink[] }
  | { readonly outcome: "nothing"; readonly hostAnswered: boolean }
  | { readonly outcome: "unreached" };

const toPageOutcome = (platform: Platform, result: PageFetchResult): PageOutcome => {
  if (result.outcome === "unreached") return { outcome: "unreached" };
  if (result.outcome === "nothing") {
    return { outcome: "nothing", hostAnswered: result.reason !== "address" && result.reason !== "not_public" };
  }
  const { text, links } = platform.parsePage(result.page);
  return { outcome: "read", text: createPolicyText(result.page.url, text), links };
};

/** Reads pages from one site within a capture's page and time limits. Reads each URL only once. */
const createSiteReader = (
  platform: Platform,
  isSameSite: (hostname: string) => boolean,
  until: Instant,
): ((url: string) => Promise<PageOutcome>) => {
  const outcomes = new Map<string, PageOutcome>();
  return async (url) => {
    const known = outcomes.get(url);
    if (known !== undefined) return known;
    if (outcomes.size >= maxPages) return { outcome: "nothing", hostAnswered: true };
    const timeoutMs = Math.min(pageTimeoutMs, until - platform.clock());
    if (timeoutMs <= 0) return { outcome: "unreached" };
    const outcome = toPageOutcome(
      platform,
      await platform.fetchPage({ url, userAgent, isAllowedHost: isSameSite, ports: allowedPorts, timeoutMs, maxBytes }),
    );
    outcomes.set(url, outcome);
    return outcome;
  };
};

/** Fetches the policies, reading as few pages as possible. `page` is the URL of the page with the form, without its query. */
export const fetchPolicies = async (platform: Platform, { origin, page }: PolicyLocation): Promise<FetchedPolicies> => {
  const site = platform.getSite(new URL(origin).hostname);
  const isSameSite = (hostname: string): boolean => platform.getSite(hostname) === site;
  const readUrl = createSiteReader(platform, isSameSite, platform.clock() + fetchTimeoutMs);
  const found: Record<PolicyKind, PolicyText | null> = { privacy: null, terms: null };
  const missing = (): readonly PolicyKind[] => policyKinds.filter((kind) => found[kind] === null);
  let unanswered = 0;
  const read = async (url: string): Promise<PageOutcome> => {
    const outcome = await readUrl(url);
    if (outcome.outcome === "unreached") unanswered += 1;
    return outcome;
  };
  const findPolicy = async (kind: PolicyKind, urls: readonly string[], isAcceptable: (text: PolicyText) => boolean): Promise<void> => {
    for (const url of urls) {
      if (found[kind] !== null) return;
      const page = await read(url);
      if (page.outcome === "read" && page.text !== null && isAcceptable(page.text)) found[kind] = page.text;
    }
  };

  const frontPage = `${origin}/`;
  const startTexts = new Set<string>();
  let hostAnswers = false;
  let isOfPage = false;
  let pageHash: string | null = null;
  // Skip the page with the form if it is on another of the business's verified domains, because the policies there do not apply to this
  // origin.
  for (const start of new Set(isSameSite(new URL(page).hostname) ? [frontPage, page] : [frontPage])) {
    const missingKinds = missing();
    if (missingKinds.length === 0) break;
    const startPage = await read(start);
    if (startPage.outcome === "read" || (startPage.outcome === "nothing" && startPage.hostAnswered)) hostAnswers = true;
    if (startPage.outcome !== "read") continue;
    if (startPage.text !== null) startTexts.add(startPage.text.contentHash);
    if (start !== frontPage) pageHash = startPage.text?.contentHash ?? null;
    for (const kind of missingKinds) await findPolicy(kind, findPolicyCandidates(kind, startPage.links, isSameSite), () => true);
    if (start !== frontPage && missing().length < missingKinds.length) isOfPage = true;
  }
  // Many sites return the same page for every path. Therefore, a page at a well-known path counts only if it differs from the other pages
  // and looks like the policy.
  for (const kind of hostAnswers ? missing() : []) {
    const isAcceptable = ({ text, contentHash }: PolicyText): boolean => {
      // A text that equals the page with the form is rejected below, so the result depends on that page.
      if (contentHash === pageHash) isOfPage = true;
      return !startTexts.has(contentHash) && looksLikePolicy(kind, text);
    };
    await findPolicy(kind, getWellKnownPolicyUrls(kind, origin), isAcceptable);
  }
  const isAllFound = missing().length === 0;
  return { found, isComplete: isAllFound || unanswered === 0, isOfOrigin: isAllFound && !isOfPage };
};
