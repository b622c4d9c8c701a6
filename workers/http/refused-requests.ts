// Keeps what was refused for the business it concerns, after the answer: codes, hosts and ids, so that a developer who is told a request
// id can see why. Nothing that was sent is kept but the hosts of two addresses.
import type { Context } from "hono";
import { clientIdOf, type BusinessId, type ClientId } from "../../core/ids.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import { noteRefused } from "../operations/portal/refused-requests.ts";
import { kindOfError } from "../log.ts";
import type { Api } from "./context.ts";

/** A flood is refused for being one: what it says is known, and keeping it would be work for each of its requests. */
const unkept: ReadonlySet<RefusalCode> = new Set(["rate_limited"]);

const hostOf = (address: unknown): string | null => {
  if (typeof address !== "string" || !URL.canParse(address)) return null;
  return new URL(address).host || null;
};

interface Named {
  readonly client_id?: unknown;
  readonly page_url?: unknown;
  readonly origin?: unknown;
}

/** What the request says of itself. A body that nobody has read yet stays unread: it may be longer than any that is taken. */
const namedBy = (c: Context<Api>): Named => {
  if (c.req.method !== "POST") return c.req.query();
  const { sent } = c.var;
  return typeof sent === "object" && sent !== null ? sent : {};
};

const clientOf = ({ client_id: id }: Named): ClientId | null => (typeof id === "string" ? clientIdOf(id) : null);

/** `route` is the template. Asks for the work; nothing of it comes before the answer, and none of it can fail the request. */
export const noteRefusal = (c: Context<Api>, route: string): void => {
  const { refused: code, caller, services, requestId } = c.var;
  const { status } = c.res;
  if (code === undefined || status >= 500 || unkept.has(code) || !route.startsWith("/v1/")) return;
  const known = (caller?.businessId ?? null) as BusinessId | null;
  const at = services.clock();
  const origin = c.req.header("origin");
  const { method } = c.req;
  const named = namedBy(c);
  services.afterAnswer(async () => {
    try {
      const clientId = clientOf(named);
      if (known === null && clientId === null) return;
      await noteRefused(services, requestId, known, {
        at,
        method,
        route,
        status,
        code,
        originHost: hostOf(origin) ?? hostOf(named.origin),
        pageHost: hostOf(named.page_url),
        clientId,
        keyId: caller?.kind === "api_key" ? caller.id : null,
      });
    } catch (error) {
      services.log.fault({ request_id: requestId, at: "refused request", error: kindOfError(error) });
    }
  });
};
