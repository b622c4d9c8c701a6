// Records refused requests for the affected business, so that a developer can look up the reason by request ID. Runs after the response.
// From the request, stores only the method, the route template, IDs, and the hosts of the origin and the page URL.
import type { Context } from "hono";
import { getIpRateLimitKey } from "../../core/access/ip-address.ts";
import { parseClientId, type BusinessId, type ClientId } from "../../core/ids.ts";

import type { Counters } from "../operations/dependencies.ts";
import { recordRefusedRequest } from "../operations/portal/record-refused-request.ts";
import { getErrorKind } from "../log.ts";
import type { AppEnv } from "./context.ts";

const maxHostLength = 300; // longer than any host that exists, with its port; the URL parser accepts hosts of any length

/** Returns the host of a URL; null if the value is not a URL, or if its host is too long to be stored. */
const getHost = (url: unknown): string | null => {
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const { host } = new URL(url);
  return host === "" || host.length > maxHostLength ? null : host;
};

interface RefusedRequestInput {
  readonly client_id?: unknown;
  readonly page_url?: unknown;
  readonly origin?: unknown;
}

/**
 * Returns the parsed body of a POST, or the query of any other request. Does not read a body that has not been read yet, because it may be
 * too large.
 */
const getRequestInput = (c: Context<AppEnv>): RefusedRequestInput => {
  if (c.req.method !== "POST") return c.req.query();
  const { requestBody } = c.var;
  return typeof requestBody === "object" && requestBody !== null ? requestBody : {};
};

const findRequestClientId = ({ client_id: id }: RefusedRequestInput): ClientId | null =>
  typeof id === "string" ? parseClientId(id) : null;

/**
 * Counts a refused request whose caller belongs to no business. Returns false if the IP address is over its limit, in which case the client
 * ID is not looked up.
 */
const hasRoomForAddress = async (services: Counters, ip: string): Promise<boolean> =>
  (await services.takeApproximately("REFUSALS_PER_IP", getIpRateLimitKey(ip))).isAllowed;

/**
 * Records the refusal after the response. Skips server errors and routes outside /v1. Also skips `rate_limited`, because recording would
 * add work during a flood of requests. Errors are logged and not thrown. `route` is the route template.
 */
export const recordRefusal = (c: Context<AppEnv>, route: string): void => {
  const { refused: code, caller, services, requestId, ip } = c.var;
  const { status } = c.res;
  if (code === undefined || status >= 500 || code === "rate_limited" || !route.startsWith("/v1/")) return;
  const businessId = (caller?.businessId ?? null) as BusinessId | null;
  const at = services.clock();
  const origin = c.req.header("origin");
  const { method } = c.req;
  const input = getRequestInput(c);
  services.waitUntil(async () => {
    try {
      const clientId = findRequestClientId(input);
      if (businessId === null && (clientId === null || !(await hasRoomForAddress(services, ip)))) return;
      await recordRefusedRequest(services, requestId, businessId, {
        at,
        method,
        route,
        status,
        code,
        originHost: getHost(origin) ?? getHost(input.origin),
        pageHost: getHost(input.page_url),
        clientId,
        keyId: caller?.kind === "api_key" ? caller.id : null,
      });
    } catch (error) {
      services.log.error({ request_id: requestId, at: "refused request", error: getErrorKind(error) });
    }
  });
};
