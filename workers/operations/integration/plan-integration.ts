// Validates a request to the integration helper without fetching anything.
import type { Environment } from "../../../core/access/entitlement.ts";
import { validatePageUrl, verifyPageUrl, type VerifiedDomain } from "../../../core/access/origins.ts";
import { checkOutboundUrl, type OutboundUrlFault, listOwnHosts } from "../../../core/access/outbound-url.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { normalizeRecipientName } from "../../../core/certificates/recipients.ts";
import { parseRecipients } from "../../../core/certificates/submission.ts";
import type { ClientId } from "../../../core/ids.ts";
import type { IntegrationRequest } from "../../../core/integration/integration.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { trimWhiteSpace, validateLine } from "../../../core/text.ts";
import { findIntegrationBusiness } from "../../../storage/accounts.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Pages of a verified domain are fetched only on this port. */
export const allowedPorts: readonly number[] = [443];

const maxPurposeLength = 500;

const maxEntities = 1_000;

export interface IntegrationInput extends IntegrationRequest {
  readonly url: string;
}

export interface IntegrationPlan {
  readonly request: IntegrationRequest;
  readonly pageUrl: string;
  readonly domains: readonly VerifiedDomain[];
  readonly clientId: ClientId;
  /** False if the service must not fetch from this host. The page is then reported as unreachable. */
  readonly isFetchable: boolean;
}

const parseIntegrationRequest = ({
  mode,
  purpose: purposeText,
  entities,
}: IntegrationInput): Result<IntegrationRequest, "invalid_request"> => {
  const purpose = trimWhiteSpace(purposeText);
  if (purpose === "" || purpose.length > maxPurposeLength) return refuse("invalid_request", "purpose: must be 1 to 500 characters.");
  const fault = validateLine(purpose);
  if (fault !== null) return refuse("invalid_request", `purpose: ${fault}.`);
  if (entities.length === 0 && mode === "share") return ok({ mode, purpose, entities });
  if (entities.some((name) => name.includes("|"))) return refuse("invalid_request", "entities: names must not contain a vertical bar (|).");
  if (entities.length > maxEntities) return refuse("invalid_request", "entities: must list 1 to 1,000 recipients.");
  const recipients = parseRecipients({ entities, accepted: undefined, rejected: undefined });
  if (!recipients.ok) return recipients;
  // If a name appears in several spellings, keep the first one.
  const names = new Map([...entities].reverse().map((name) => [normalizeRecipientName(name), trimWhiteSpace(name)]));
  return ok({ mode, purpose, entities: [...new Set(entities.map((name) => names.get(normalizeRecipientName(name)) as string))] });
};

/** The faults that are refused with `invalid_request`. All other faults mean that the service must not fetch from the host. */
const urlFormatFaults: ReadonlySet<OutboundUrlFault> = new Set(["spelling", "not_https", "credentials", "fragment", "port"]);

const stripFragment = (url: string): string => url.split("#", 1)[0] as string;

/** Removes the port, because the host is verified before the port is checked. */
const stripPort = (url: string): string => url.replace(/^(https?:\/\/[^/?#:]+):\d+/i, "$1");

/**
 * Validates the request. Errors are checked in this order: `invalid_request`, `page_url_not_verified`, then `invalid_request` for a URL
 * that is not https on port 443.
 */
export const planIntegration = async (
  services: ReadDependencies,
  { business }: MemberSession,
  input: IntegrationInput,
  environment: Environment = "live",
): Promise<Result<IntegrationPlan, "invalid_request" | "page_url_not_verified">> => {
  const { config } = services;
  const urlFault = validatePageUrl(input.url);
  if (urlFault !== null) return refuse("invalid_request", `url: ${urlFault}.`);
  const request = parseIntegrationRequest(input);
  if (!request.ok) return request;
  const account = await findIntegrationBusiness(services.shards.forId(business.id), business.id, environment);
  // Every business has a client in each environment from sign-up on.
  if (account === null) throw new Error("integration: the business has no client");
  const rules = { allowsLocalHttp: config.environment === "development", allowsSandboxLocalhost: false };
  const pageUrl = stripFragment(input.url);
  const verified = verifyPageUrl(stripPort(pageUrl), account.domains, rules);
  if (!verified.ok) return verified;
  const outbound = { ports: allowedPorts, ownHosts: listOwnHosts(config), developmentHosts: config.devFetchAllow };
  const checked = checkOutboundUrl(pageUrl, outbound);
  if (!checked.ok && urlFormatFaults.has(checked.fault)) return refuse("invalid_request", "url: must be an https URL on port 443.");
  return ok({ request: request.value, pageUrl, ...account, isFetchable: checked.ok });
};
