// The integration helper: a page of the business is fetched as a stranger would, its form is mapped, and the script tag for it is
// written. In two steps, because only what fetches counts toward the limit.
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
import type { IntegrationPlan } from "./plan-integration.ts";

const userAgent = "Svc-Integration/1";

export const allowedPorts: readonly number[] = [443];

// a verified page has no other
const fetchTimeoutMs = 8 * secondMs;

const maxBytes = 2 * 1_024 * 1_024;

/** A model's proposal for the same question is asked for once, so that the same page gets the same answer. */
const getProposal = async (services: IntegrationDependencies, mapping: FormMapping): Promise<Proposal | null> => {
  const question = buildProposalRequest(mapping);
  if (question === null) return null;
  const key = sha256Hex(toCanonicalJson([services.config.aiModel, question as unknown as Json]));
  const kept = await findProposal(services.kv, key);
  if (kept !== null) return kept;
  const proposal = await services.proposeMapping(question);
  if (proposal !== null) await saveProposal(services.kv, key, proposal);
  return proposal;
};

/** Whether the page carries our script already: once with the client id that the snippet has, with another one, or more than once. */
export type ScriptTagState = "none" | "own" | "other" | "several";

export interface MappedPage extends Integration {
  readonly tagOnPage: ScriptTagState;
  /** What in the page's Content-Security-Policy keeps the script from running. */
  readonly blocked: readonly BlockingDirective[];
}

const detectScriptTag = ({ scriptTags }: FormPage, scriptUrl: string, own: ClientId): ScriptTagState => {
  const ours = scriptTags.filter(({ src }) => src === scriptUrl);
  if (ours.length > 1) return "several";
  return ours[0] === undefined ? "none" : ours[0].clientId === own ? "own" : "other";
};

/** Of the page as it is now: with the nonce of a tag that it has already. */
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

const noFormMessage = "url: the page holds no form.";

/** Refuses page_unreachable, or invalid_request for a page without a form. */
export const mapPage = async (
  services: IntegrationDependencies,
  { request, pageUrl, domains, clientId, isFetchable }: IntegrationPlan,
): Promise<Result<MappedPage, "invalid_request" | "page_unreachable">> => {
  if (!isFetchable) return refuse("page_unreachable");
  const isWithin = (hostname: string): boolean => isHostOnDomains(hostname, domains);
  const answer = await services.fetchPage({
    url: pageUrl,
    userAgent,
    isAllowedHost: isWithin,
    ports: allowedPorts,
    timeoutMs: fetchTimeoutMs,
    maxBytes,
  });
  if (answer.outcome === "nothing" && answer.reason === "type") return refuse("invalid_request", noFormMessage);
  if (answer.outcome !== "page") return refuse("page_unreachable");
  const page = answer.page.type === "text/html" ? services.parseFormPage(answer.page.body) : null;
  const found = page === null ? null : mapForm(page, request.entities);
  if (page === null || found === null) return refuse("invalid_request", noFormMessage);
  const proposal = await getProposal(services, found);
  const mapping = proposal === null ? found : applyProposal(found, proposal);
  const scriptUrl = `${services.config.cdnUrl}/v1/svc.js`;
  const integration = buildIntegration(mapping, request, { pageUrl, scriptUrl, clientId, source: mapping === found ? "heuristic" : "ai" });
  return ok({
    ...integration,
    tagOnPage: detectScriptTag(page, scriptUrl, clientId),
    blocked: findBlockingPolicies(services, answer.page, page, request, answer.page.url),
  });
};
