// What a posted form must be before a page works on it: within its limit, whole, and from a page of ours; else the page that says why not.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { countExactly, applyRateLimit } from "../../http/guards/rate-limits.ts";
import type { LimitName } from "../../limits.ts";
import { parseFormBody } from "./form-body.ts";
import { renderAccountRateLimited, renderTooManyRequests, renderCrossSiteBlocked } from "./notice-pages.tsx";

export type FormFields = ReadonlyMap<string, string>;

/** Counts by the caller's address; the page that says to wait when there were too many. */
const checkIpLimit = async (c: Context<AppEnv>, name: LimitName, page = renderTooManyRequests): Promise<Response | null> => {
  const refused = applyRateLimit(c, name, await c.var.services.takeByAddress(name, getIpRateLimitKey(c.var.ip)));
  return refused === null ? null : page(c, refused.headers.get("retry-after") ?? "60");
};

/** Counts what one person does, or is done for one business; the page that says to wait when it was too often. */
export const checkAccountLimit = async (c: Context<AppEnv>, name: LimitName, of: string): Promise<Response | null> => {
  const refused = await countExactly(c, name, of);
  return refused === null ? null : renderAccountRateLimited(c, refused.headers.get("retry-after") ?? "60");
};

/** Before a page that anybody may open. */
export const rateLimited = (name: LimitName, page = renderTooManyRequests) =>
  createMiddleware<AppEnv>(async (c, next) => (await checkIpLimit(c, name, page)) ?? next());

/**
 * Browsers that say where a form comes from must say "here"; older ones send an Origin, which the referrer policy of our pages turns
 * into `null`. A code, a token or a session is the proof either way. `url` is where our page is served.
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
  return form === null || !isSameOriginForm(c, c.var.services.config[surface]) ? renderCrossSiteBlocked(c) : form;
};

export const parseRateLimitedForm = async (
  c: Context<AppEnv>,
  limit: LimitName,
  surface?: "appUrl" | "verifyUrl",
): Promise<FormFields | Response> => (await checkIpLimit(c, limit)) ?? parseSameOriginForm(c, surface);

/** A form, with what it is worked on with. */
export type FormRequest<Opened> = Opened & { readonly form: FormFields };

/** Handlers of the forms of one place: `open` finds what they are worked on with, or answers the page that says why they cannot be. */
export const createFormHandlerFactory =
  <Opened extends object>(open: (c: Context<AppEnv>, form: FormFields) => Promise<Opened | Response>, surface?: "appUrl" | "verifyUrl") =>
  (limit: LimitName, act: (c: Context<AppEnv>, sent: FormRequest<Opened>) => Promise<Response> | Response) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const form = await parseRateLimitedForm(c, limit, surface);
    if (form instanceof Response) return form;
    const opened = await open(c, form);
    return opened instanceof Response ? opened : act(c, { ...opened, form });
  };
