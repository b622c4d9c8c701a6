// The integration helper: fetches a page of the business, maps its form and builds the script tag. `planIntegration` is separate, because
// the rate limit counts only requests that fetch a page.
import { isHostOnDomains } from "../../../core/access/origins.ts";
import type { FetchedPage } from "../../../core/access/outbound-page.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { FormPage } from "../../../core/forms/form-page.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ClientId } from "../../../core/ids.ts";
import { findBlockingDirectives, type BlockingDirective } from "../../../core/integration/content-security-policy.ts";
import { buildIntegration, type Integration, type IntegrationRequest } from "../../../core/integration/integration.ts";
import { mapForm, type FormMapping } from "../../../core/integration/mapping.ts";
import { buildProposalRequest, applyProposal, type Proposal } from "../../../core/integration/proposal.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { secondMs } from "../../../core/time.ts";
import { findProposal, saveProposal } from "../../../storage/form-proposals.ts";
import type { IntegrationDependencies } from "./dependencies.ts";
import { allowedPorts, type IntegrationPlan } from "./plan-integration.ts";

const userAgent = "Svc-Integration/1";

const fetchTimeoutMs = 8 * secondMs;
const maxBytes = 2 * 1_024 * 1_024;

/**
 * Returns the saved proposal for a mapping. If there is none, asks the model and saves its proposal, so that the same form always gets the
 * same result.
 */
const getProposal = async (services: IntegrationDependencies, mapping: FormMapping): Promise<Proposal | null> => {
  const request = buildProposalRequest(mapping);
  if (request === null) return null;
  const key = sha256Hex(toCanonicalJson([services.config.aiModel, request as unknown as Json]));
  const saved = await findProposal(services.kv, key);
  if (saved !== null) return saved;
  const proposal = await services.proposeMapping(request);
  if (proposal !== null) await saveProposal(services.kv, key, proposal);
  return proposal;
};

/**
 * The script tags on the page: `none`; `own` (one tag, with the same client ID as the generated tag); `other` (one tag, with a different
 * client ID); or `several`.
 */
export type ScriptTagState = "none" | "own" | "other" | "several";

export interface MappedPage extends Integration {
  readonly tagOnPage: ScriptTagState;
  /** The directives in the page's Content-Security-Policy that block the script. */
  readonly blocked: readonly BlockingDirective[];
}

const detectScriptTag = ({ scriptTags }: FormPage, scriptUrl: string, clientId: ClientId): ScriptTagState => {
  const matching = scriptTags.filter(({ src }) => src === scriptUrl);
  if (matching.length > 1) return "several";
  return matching[0] === undefined ? "none" : matching[0].clientId === clientId ? "own" : "other";
};

/**
 * Finds the directives that block the script. If the page already has our script tag with a nonce, a policy that allows this nonce does not
 * block it.
 */
const findBlockingPolicies = (
  services: IntegrationDependencies,
  { body, contentSecurityPolicy }: FetchedPage,
  { scriptTags }: FormPage,
  { mode }: IntegrationRequest,
  pageUrl: string,
) => {
  const { cdnUrl } = services.config;
  const scriptUrl = `${cdnUrl}/v1/svc.js`;
  const policies = [
    ...(contentSecurityPolicy === undefined ? [] : [contentSecurityPolicy]),
    ...services.listMetaContents(body, "content-security-policy", "http-equiv"),
  ];
  return findBlockingDirectives(policies, {
    pageUrl,
    scriptUrls: [scriptUrl, ...(mode === "share" ? [`${cdnUrl}/v1/svc-share.js`] : [])],
    apiUrls: [`${cdnUrl}/v1/${mode === "share" ? "share/redeem" : "consent"}`],
    nonce: scriptTags.find(({ src }) => src === scriptUrl)?.nonce ?? null,
  });
};

const noFormMessage = "url: the page must contain a form.";
const tooComplexMessage = "url: the page is too complex to map. Use a simpler page with the same form.";

/**
 * Fetches the plan's page and maps its form. Can return `page_unreachable`, and `invalid_request` for a page that has no form or is too
 * complex to map.
 */
export const mapPage = async (
  services: IntegrationDependencies,
  { request, pageUrl, domains, clientId, isFetchable }: IntegrationPlan,
): Promise<Result<MappedPage, "invalid_request" | "page_unreachable">> => {
  if (!isFetchable) return refuse("page_unreachable");
  const isOwnHost = (hostname: string): boolean => isHostOnDomains(hostname, domains);
  const result = await services.fetchPage({
    url: pageUrl,
    userAgent,
    isAllowedHost: isOwnHost,
    ports: allowedPorts,
    timeoutMs: fetchTimeoutMs,
    maxBytes,
  });
  if (result.outcome === "nothing" && result.reason === "type") return refuse("invalid_request", noFormMessage);
  if (result.outcome !== "page") return refuse("page_unreachable");
  const page = result.page.type === "text/html" ? services.parseFormPage(result.page.body) : null;
  if (page?.isTooComplex === true) return refuse("invalid_request", tooComplexMessage);
  const found = page === null ? null : mapForm(page, request.entities);
  if (page === null || found === null) return refuse("invalid_request", noFormMessage);
  const proposal = await getProposal(services, found);
  const mapping = proposal === null ? found : applyProposal(found, proposal);
  const scriptUrl = `${services.config.cdnUrl}/v1/svc.js`;
  const integration = buildIntegration(mapping, request, { pageUrl, scriptUrl, clientId, source: mapping === found ? "heuristic" : "ai" });
  return ok({
    ...integration,
    tagOnPage: detectScriptTag(page, scriptUrl, clientId),
    blocked: findBlockingPolicies(services, result.page, page, request, result.page.url),
  });
};
