// Checks posted forms: rate limit, body and origin. If a check fails, the response is a page that explains the refusal.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Environment } from "../../../core/access/entitlement.ts";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import type { AnySession, Session } from "../../../core/access/session.ts";
import { readBodyUpTo, requestMediaType } from "../../http/body.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { findAnySession } from "../../http/guards/find-session.ts";
import { enforceLimit, applyRateLimit } from "../../http/guards/rate-limits.ts";
import type { LimitName } from "../../limits.ts";
import { renderAccountRateLimited, renderCrossSiteBlocked, renderFormTooLarge, renderTooManyRequests } from "./notice-pages.tsx";

export type FormFields = ReadonlyMap<string, string>;

const maxFormBytes = 24 * 1_024; // enough for an address, a code or token, and one checkbox for each of 1,000 recipients

/** Returns `malformed` if the body is not URL-encoded or repeats a field. The forms on these pages never send such a body. */
const parseFormBody = async (request: Request): Promise<FormFields | "malformed" | "too_large"> => {
  const bytes = await readBodyUpTo(request, maxFormBytes);
  if (requestMediaType(request) !== "application/x-www-form-urlencoded") return "malformed";
  if (bytes === null) return "too_large";
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name)) return "malformed";
    fields.set(name, value);
  }
  return fields;
};

const checkIpLimit = async (c: Context<AppEnv>, name: LimitName, page = renderTooManyRequests): Promise<Response | null> => {
  const refused = applyRateLimit(c, name, await c.var.services.takeApproximately(name, getIpRateLimitKey(c.var.ip)));
  return refused === null ? null : page(c, refused);
};

/** Counts the request against the limit of a person, member or business. Returns the error page if the limit is reached, otherwise null. */
export const checkAccountLimit = async (c: Context<AppEnv>, name: LimitName, id: string): Promise<Response | null> => {
  const refused = await enforceLimit(c, name, id);
  return refused === null ? null : renderAccountRateLimited(c, refused);
};

/**
 * Returns the browser's session, null if there is no valid session, or the error page after too many failed lookups. Also returns the
 * sessions of people who have been invited to a business but have not joined it. `deadlinesIn` is passed to `authenticateSession`.
 */
export const findAnyPageSession = async (c: Context<AppEnv>, deadlinesIn?: Environment): Promise<AnySession | null | Response> => {
  const session = await findAnySession(c, deadlinesIn);
  return session instanceof Response ? renderTooManyRequests(c, session) : session;
};

/** Like `findAnyPageSession`, but returns null for people who have been invited but have not joined, because they have no account yet. */
export const findPageSession = async (c: Context<AppEnv>): Promise<Session | null | Response> => {
  const session = await findAnyPageSession(c);
  return session instanceof Response || session?.realm !== "invited" ? session : null;
};

/** Middleware that limits a public page by IP address. */
export const limitPageByAddress = (name: LimitName, page = renderTooManyRequests) =>
  createMiddleware<AppEnv>(async (c, next) => (await checkIpLimit(c, name, page)) ?? next());

/**
 * Returns whether the form came from this site. If the browser sends `Sec-Fetch-Site`, it must be `same-origin`. Older browsers send only
 * `Origin`, which is `null` because of these pages' referrer policy. This check is a second line of defense: a form that changes a record
 * also needs a code, token or session. `url` is the URL at which the page is served.
 */
const isSameOriginForm = (c: RequestContext, url: string): boolean => {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  return origin === undefined || origin === "null" || origin === new URL(url).origin;
};

export const parseSameOriginForm = async (
  c: Context<AppEnv>,
  surface: "appUrl" | "verifyUrl" = "appUrl",
): Promise<FormFields | Response> => {
  const form = await parseFormBody(c.req.raw);
  if (form === "malformed" || !isSameOriginForm(c, c.var.services.config[surface])) return renderCrossSiteBlocked(c);
  return form === "too_large" ? renderFormTooLarge(c) : form;
};

export const parseRateLimitedForm = async (
  c: Context<AppEnv>,
  limit: LimitName,
  surface?: "appUrl" | "verifyUrl",
): Promise<FormFields | Response> => (await checkIpLimit(c, limit)) ?? parseSameOriginForm(c, surface);

export type FormRequest<Opened> = Opened & { readonly form: FormFields };

/** Creates form handlers that share a loader. `open` loads what the handlers need, or returns an error page. */
export const createFormHandlerFactory =
  <Opened extends object>(open: (c: Context<AppEnv>, form: FormFields) => Promise<Opened | Response>, surface?: "appUrl" | "verifyUrl") =>
  (limit: LimitName, act: (c: Context<AppEnv>, sent: FormRequest<Opened>) => Promise<Response> | Response) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const form = await parseRateLimitedForm(c, limit, surface);
    if (form instanceof Response) return form;
    const opened = await open(c, form);
    return opened instanceof Response ? opened : act(c, { ...opened, form });
  };
