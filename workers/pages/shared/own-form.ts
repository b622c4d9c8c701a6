// What a posted form must be before a page works on it: within its limit, whole, and from a page of ours; else the page that says why not.
import type { Context } from "hono";
import { addressKey } from "../../../core/access/address.ts";
import type { Api, RequestContext } from "../../http/context.ts";
import { limited } from "../../http/guards.ts";
import type { LimitName } from "../../limits.ts";
import { readForm } from "./form-body.ts";
import { crowdedFormPage, foreignFormPage } from "./notices.tsx";

export type PageForm = ReadonlyMap<string, string>;

/** Counts by the caller's address; the page that says to wait when there were too many. */
export const crowded = async (c: Context<Api>, name: LimitName): Promise<Response | null> => {
  const refused = limited(c, name, await c.var.services.takeByAddress(name, addressKey(c.var.ip)));
  return refused === null ? null : crowdedFormPage(c, refused.headers.get("retry-after") ?? "60");
};

/**
 * Browsers that say where a form comes from must say "here"; older ones send an Origin, which the referrer policy of our pages turns
 * into `null`. A code, a token or a session is the proof either way. `url` is where our page is served.
 */
const isOwnForm = (c: RequestContext, url: string): boolean => {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  return origin === undefined || origin === "null" || origin === new URL(url).origin;
};

export const ownForm = async (c: Context<Api>, url = c.var.services.config.appUrl): Promise<PageForm | Response> => {
  const form = await readForm(c.req.raw);
  return form === null || !isOwnForm(c, url) ? foreignFormPage(c) : form;
};

export const postedForm = async (c: Context<Api>, limit: LimitName, url?: string): Promise<PageForm | Response> =>
  (await crowded(c, limit)) ?? ownForm(c, url);
