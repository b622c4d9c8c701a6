// What a posted form must be before a page works on it: within its limit, whole, and from a page of ours; else the page that says why not.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { addressKey } from "../../../core/access/address.ts";
import type { Api, RequestContext } from "../../http/context.ts";
import { countedExactly, limited } from "../../http/guards.ts";
import type { LimitName } from "../../limits.ts";
import { readForm } from "./form-body.ts";
import { busyPage, crowdedFormPage, foreignFormPage } from "./notices.tsx";

export type PageForm = ReadonlyMap<string, string>;

/** Counts by the caller's address; the page that says to wait when there were too many. */
const crowded = async (c: Context<Api>, name: LimitName, page = crowdedFormPage): Promise<Response | null> => {
  const refused = limited(c, name, await c.var.services.takeByAddress(name, addressKey(c.var.ip)));
  return refused === null ? null : page(c, refused.headers.get("retry-after") ?? "60");
};

/** Counts what one person does, or is done for one business; the page that says to wait when it was too often. */
export const tooOften = async (c: Context<Api>, name: LimitName, of: string): Promise<Response | null> => {
  const refused = await countedExactly(c, name, of);
  return refused === null ? null : busyPage(c, refused.headers.get("retry-after") ?? "60");
};

/** Before a page that anybody may open. */
export const uncrowded = (name: LimitName, page = crowdedFormPage) =>
  createMiddleware<Api>(async (c, next) => (await crowded(c, name, page)) ?? next());

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

export const ownForm = async (c: Context<Api>, surface: "appUrl" | "verifyUrl" = "appUrl"): Promise<PageForm | Response> => {
  const form = await readForm(c.req.raw);
  return form === null || !isOwnForm(c, c.var.services.config[surface]) ? foreignFormPage(c) : form;
};

export const postedForm = async (c: Context<Api>, limit: LimitName, surface?: "appUrl" | "verifyUrl"): Promise<PageForm | Response> =>
  (await crowded(c, limit)) ?? ownForm(c, surface);

/** A form, with what it is worked on with. */
export type Sent<Opened> = Opened & { readonly form: PageForm };

/** Handlers of the forms of one place: `open` finds what they are worked on with, or answers the page that says why they cannot be. */
export const posting =
  <Opened extends object>(open: (c: Context<Api>, form: PageForm) => Promise<Opened | Response>, surface?: "appUrl" | "verifyUrl") =>
  (limit: LimitName, act: (c: Context<Api>, sent: Sent<Opened>) => Promise<Response> | Response) =>
  async (c: Context<Api>): Promise<Response> => {
    const form = await postedForm(c, limit, surface);
    if (form instanceof Response) return form;
    const opened = await open(c, form);
    return opened instanceof Response ? opened : act(c, { ...opened, form });
  };
