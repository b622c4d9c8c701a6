// Looks for a domain's verification token in DNS or on its website. The domain name is already validated, and the page fetcher checks each
// URL and each redirect again.
import {
  buildDomainChallenges,
  checkVerificationFile,
  verificationMetaName,
  listOtherTxtValues,
  checkMetaTags,
  checkTxtRecords,
  type VerificationFinding,
} from "../../../core/accounts/domain-claim.ts";
import type { PageFetchResult } from "../../../core/access/outbound-page.ts";
import type { VerificationMethod } from "../../../core/access/origins.ts";
import { secondMs } from "../../../core/time.ts";
import type { Runtime } from "../dependencies.ts";
import type { PortalDependencies } from "./dependencies.ts";

const fetchTimeoutMs = 8 * secondMs;
const maxPageBytes = 1_048_576;
const maxFileBytes = 16_384;

/** Returns the hosts that can be claimed in development even though they have no registrable domain. */
export const getLocalHosts = ({ config }: Runtime): readonly string[] => config.devFetchAllow.map((entry) => entry.replace(/:\d+$/, ""));

/** Returns the URL where the domain must serve its token. In development, a local domain uses plain HTTP on its configured port. */
const resolveProofUrl = ({ config }: Runtime, domain: string, url: string): string => {
  const local = config.devFetchAllow.find((entry) => entry.replace(/:\d+$/, "") === domain);
  return local === undefined ? url : `http://${local}${new URL(url).pathname}`;
};

/**
 * Maps reasons for fetch failures to findings. A reason that is not listed means that the service must not fetch from the URL, and becomes
 * `not_public`.
 */
const findingByReason: Partial<Record<string, VerificationFinding>> = {
  left_site: "elsewhere",
  redirects: "elsewhere",
  status: "error",
  type: "other_type",
  too_large: "too_large",
};

const toFinding = (failure: Exclude<PageFetchResult, { outcome: "page" }>): VerificationFinding =>
  failure.outcome === "unreached" ? "unanswered" : (findingByReason[failure.reason] ?? "not_public");

const fetchProofPage = (services: PortalDependencies, domain: string, url: string, maxBytes: number): Promise<PageFetchResult> =>
  services.fetchPage({
    url: resolveProofUrl(services, domain, url),
    userAgent: `svc-domain-check/1.0 (+${services.config.verifyUrl})`,
    isAllowedHost: (host) => host === domain || host === `www.${domain}`,
    ports: [443],
    timeoutMs: fetchTimeoutMs,
    maxBytes,
  });

/**
 * Checks one verification method. For DNS, `otherTexts` contains the other TXT values at the name. Returns network failures as findings
 * instead of throwing.
 */
export const findDomainProof = async (
  services: PortalDependencies,
  { domain, token }: { readonly domain: string; readonly token: string },
  method: VerificationMethod,
): Promise<{ readonly finding: VerificationFinding; readonly otherTexts: readonly string[] }> => {
  const { dns, meta, wellKnown } = buildDomainChallenges(domain, token);
  if (method === "dns") {
    const answers = await services.lookupTxt(dns.name);
    return { finding: checkTxtRecords(answers, token), otherTexts: listOtherTxtValues(answers, token) };
  }
  const isMeta = method === "meta";
  const result = await fetchProofPage(services, domain, isMeta ? meta.url : wellKnown.url, isMeta ? maxPageBytes : maxFileBytes);
  if (result.outcome !== "page") return { finding: toFinding(result), otherTexts: [] };
  const { body } = result.page;
  const finding = isMeta ? checkMetaTags(services.listMetaContents(body, verificationMetaName), token) : checkVerificationFile(body, token);
  return { finding, otherTexts: [] };
};
