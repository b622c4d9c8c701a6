// The integration helper: a page of the business is fetched as a stranger would, its form is mapped, and the script tag for it is
// written. In two steps, because only what fetches counts toward the limit.
import { isOnDomains, pageUrlFault, verifyPageUrl, type VerifiedDomain } from "../../../core/access/origins.ts";
import type { Page } from "../../../core/access/outbound-page.ts";
import { checkOutboundUrl, type OutboundFault } from "../../../core/access/outbound-url.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { comparableName } from "../../../core/certificates/recipients.ts";
import { recipientsOf } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { FormPage } from "../../../core/forms/page.ts";
import type { ClientId } from "../../../core/ids.ts";
import { integrationOf, type Integration, type IntegrationRequest } from "../../../core/integration/integration.ts";
import { blockedBy, type Blocking } from "../../../core/integration/page-policy.ts";
import { mapForm, type FormMapping } from "../../../core/integration/mapping.ts";
import { questionOf, withProposal, type Proposal } from "../../../core/integration/proposal.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { lineFault, trimmed } from "../../../core/text.ts";
import { secondMs } from "../../../core/time.ts";
import { integratingBusiness } from "../../../storage/accounts.ts";
import { keptProposal, keepProposal } from "../../../storage/form-proposals.ts";
import type { Forms, Runtime, Stores, Web } from "../../services.ts";

const userAgent = "Svc-Integration/1";
const ports: readonly number[] = [443]; // a verified page has no other
const fetchMs = 8 * secondMs;
const maxBytes = 2 * 1_024 * 1_024;
const maxPurposeLength = 500;
const maxEntities = 1_000;

export interface IntegrationInput extends IntegrationRequest {
  readonly url: string;
}

/** A request that may be carried out. */
export interface IntegrationPlan {
  readonly request: IntegrationRequest;
  readonly pageUrl: string;
  readonly domains: readonly VerifiedDomain[];
  readonly clientId: ClientId;
  /** False for a name that is never fetched: it is as unreachable as one that does not answer. */
  readonly isFetchable: boolean;
}

const readRequest = ({ mode, purpose: given, entities }: IntegrationInput): Result<IntegrationRequest, "invalid_request"> => {
  const purpose = trimmed(given);
  if (purpose === "" || purpose.length > maxPurposeLength) return refuse("invalid_request", "purpose: must be 1 to 500 characters.");
  const fault = lineFault(purpose);
  if (fault !== null) return refuse("invalid_request", `purpose: ${fault}.`);
  if (entities.length === 0 && mode === "share") return ok({ mode, purpose, entities });
  if (entities.some((name) => name.includes("|"))) return refuse("invalid_request", "entities: a name must not hold a vertical bar.");
  if (entities.length > maxEntities) return refuse("invalid_request", "entities: must name 1 to 1,000 recipients.");
  const recipients = recipientsOf({ entities, accepted: undefined, rejected: undefined });
  if (!recipients.ok) return recipients;
  const names = new Map([...entities].reverse().map((name) => [comparableName(name), trimmed(name)])); // of two spellings the first
  return ok({ mode, purpose, entities: [...new Set(entities.map((name) => names.get(comparableName(name)) as string))] });
};

/** The address is wrong as an address; the rest are hosts that nobody fetches. */
const spellingFaults: ReadonlySet<OutboundFault> = new Set(["spelling", "not_https", "credentials", "fragment", "port"]);

const withoutFragment = (url: string): string => url.split("#", 1)[0] as string;

/** As verified, whatever its port: that a port is not served is said only of a host that is the business's. */
const withoutPort = (url: string): string => url.replace(/^(https?:\/\/[^/?#:]+):\d+/i, "$1");

/** Refuses, in this order: invalid_request, page_url_not_verified, invalid_request for a port that is not fetched. Fetches nothing. */
export const planIntegration = async (
  services: Runtime & Stores,
  { business }: MemberSession,
  input: IntegrationInput,
  environment: Environment = "live",
): Promise<Result<IntegrationPlan, "invalid_request" | "page_url_not_verified">> => {
  const { config } = services;
  const urlFault = pageUrlFault(input.url);
  if (urlFault !== null) return refuse("invalid_request", `url: ${urlFault}.`);
  const request = readRequest(input);
  if (!request.ok) return request;
  const account = await integratingBusiness(services.homes.of(business.id), business.id, environment);
  if (account === null) throw new Error("integration: the business has no client"); // each has one from its first day
  const rules = { allowsLocalHttp: config.environment === "development", allowsSandboxLocalhost: false };
  const pageUrl = withoutFragment(input.url);
  const verified = verifyPageUrl(withoutPort(pageUrl), account.domains, rules);
  if (!verified.ok) return verified;
  const ownHosts = [config.baseUrl, config.verifyUrl, config.cdnUrl, config.mcpUrl, config.appUrl].map((url) => new URL(url).host);
  const checked = checkOutboundUrl(pageUrl, { ports, ownHosts, allowedAsWritten: config.devFetchAllow });
  if (!checked.ok && spellingFaults.has(checked.fault)) return refuse("invalid_request", "url: must be an https address on port 443.");
  return ok({ request: request.value, pageUrl, ...account, isFetchable: checked.ok });
};

/** A model's proposal for the same question is asked for once, so that the same page gets the same answer. */
const proposed = async (services: Stores & Forms & Runtime, mapping: FormMapping): Promise<Proposal | null> => {
  const question = questionOf(mapping);
  if (question === null) return null;
  const key = sha256Hex(canonicalJson([services.config.aiModel, question as unknown as Json]));
  const kept = await keptProposal(services.kv, key);
  if (kept !== null) return kept;
  const proposal = await services.proposeMapping(question);
  if (proposal !== null) await keepProposal(services.kv, key, proposal);
  return proposal;
};

/** Whether the page carries our script already: once with the client id that the snippet has, with another one, or more than once. */
export type TagOnPage = "none" | "own" | "other" | "several";

export interface MappedPage extends Integration {
  readonly tagOnPage: TagOnPage;
  /** What in the page's Content-Security-Policy keeps the script from running. */
  readonly blocked: readonly Blocking[];
}

const tagOnPage = ({ tags }: FormPage, scriptUrl: string, own: ClientId): TagOnPage => {
  const ours = tags.filter(({ src }) => src === scriptUrl);
  if (ours.length > 1) return "several";
  return ours[0] === undefined ? "none" : ours[0].clientId === own ? "own" : "other";
};

/** Of the page as it is now: with the nonce of a tag that it has already. */
const blockedOn = (services: Runtime & Web, { body, policy }: Page, { tags }: FormPage, { mode }: IntegrationRequest, pageUrl: string) => {
  const { cdnUrl } = services.config;
  const scriptUrl = `${cdnUrl}/v1/svc.js`;
  const policies = [...(policy === undefined ? [] : [policy]), ...services.metaContents(body, "content-security-policy", "http-equiv")];
  return blockedBy(policies, {
    pageUrl,
    scriptUrls: [scriptUrl, ...(mode === "share" ? [`${cdnUrl}/v1/svc-share.js`] : [])],
    calls: [`${cdnUrl}/v1/${mode === "share" ? "share/redeem" : "consent"}`],
    nonce: tags.find(({ src }) => src === scriptUrl)?.nonce ?? null,
  });
};

const noForm = "url: the page holds no form.";

/** Refuses page_unreachable, or invalid_request for a page without a form. */
export const mapPage = async (
  services: Runtime & Stores & Web & Forms,
  { request, pageUrl, domains, clientId, isFetchable }: IntegrationPlan,
): Promise<Result<MappedPage, "invalid_request" | "page_unreachable">> => {
  if (!isFetchable) return refuse("page_unreachable");
  const isWithin = (hostname: string): boolean => isOnDomains(hostname, domains);
  const answer = await services.fetchPage({ url: pageUrl, userAgent, isWithin, ports, totalMs: fetchMs, maxBytes });
  if (answer.outcome === "nothing" && answer.reason === "type") return refuse("invalid_request", noForm);
  if (answer.outcome !== "page") return refuse("page_unreachable");
  const page = answer.page.type === "text/html" ? services.readFormPage(answer.page.body) : null;
  const found = page === null ? null : mapForm(page, request.entities);
  if (page === null || found === null) return refuse("invalid_request", noForm);
  const proposal = await proposed(services, found);
  const mapping = proposal === null ? found : withProposal(found, proposal);
  const scriptUrl = `${services.config.cdnUrl}/v1/svc.js`;
  const integration = integrationOf(mapping, request, { pageUrl, scriptUrl, clientId, source: mapping === found ? "heuristic" : "ai" });
  return ok({
    ...integration,
    tagOnPage: tagOnPage(page, scriptUrl, clientId),
    blocked: blockedOn(services, answer.page, page, request, answer.page.url),
  });
};
