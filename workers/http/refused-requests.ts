// Keeps what was refused for the business it concerns, after the answer: codes, hosts and ids, so that a developer who is told a request
// id can see why. Nothing that was sent is kept but the hosts of two addresses.
import type { Context } from "hono";
import { parseClientId, type BusinessId, type ClientId } from "../../core/ids.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import { recordRefusedRequest } from "../operations/portal/record-refused-request.ts";
import { getErrorKind } from "../log.ts";
import type { AppEnv } from "./context.ts";

/** A flood is refused for being one: what it says is known, and keeping it would be work for each of its requests. */
const unrecordedCodes: ReadonlySet<RefusalCode> = new Set(["rate_limited"]);

const getHost = (address: unknown): string | null => {
  if (typeof address !== "string" || !URL.canParse(address)) return null;
  return new URL(address).host || null;
};

interface RefusedRequestInput {
  readonly client_id?: unknown;
  readonly page_url?: unknown;
  readonly origin?: unknown;
}

/** What the request says of itself. A body that nobody has read yet stays unread: it may be longer than any that is taken. */
const getRequestInput = (c: Context<AppEnv>): RefusedRequestInput => {
  if (c.req.method !== "POST") return c.req.query();
  const { sent } = c.var;
  return typeof sent === "object" && sent !== null ? sent : {};
};

const findRequestClientId = ({ client_id: id }: RefusedRequestInput): ClientId | null =>
  typeof id === "string" ? parseClientId(id) : null;

/** `route` is the template. Asks for the work; nothing of it comes before the answer, and none of it can fail the request. */
export const recordRefusal = (c: Context<AppEnv>, route: string): void => {
  const { refused: code, caller, services, requestId } = c.var;
  const { status } = c.res;
  if (code === undefined || status >= 500 || unrecordedCodes.has(code) || !route.startsWith("/v1/")) return;
  const known = (caller?.businessId ?? null) as BusinessId | null;
  const at = services.clock();
  const origin = c.req.header("origin");
  const { method } = c.req;
  const named = getRequestInput(c);
  services.waitUntil(async () => {
    try {
      const clientId = findRequestClientId(named);
      if (known === null && clientId === null) return;
      await recordRefusedRequest(services, requestId, known, {
        at,
        method,
        route,
        status,
        code,
        originHost: getHost(origin) ?? getHost(named.origin),
        pageHost: getHost(named.page_url),
        clientId,
        keyId: caller?.kind === "api_key" ? caller.id : null,
      });
    } catch (error) {
      services.log.error({ request_id: requestId, at: "refused request", error: getErrorKind(error) });
    }
  });
};
