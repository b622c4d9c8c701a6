// Whether a form comes from a page of ours. Browsers that say where a form comes from must say "here"; older ones send an Origin, which
// the referrer policy of our pages turns into `null`. A code, a token or a session is the proof either way.
import type { RequestContext } from "../http/context.ts";

/** `url` is where our page is served. */
export const isOwnForm = (c: RequestContext, url: string): boolean => {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  return origin === undefined || origin === "null" || origin === new URL(url).origin;
};
