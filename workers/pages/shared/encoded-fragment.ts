// Repairs links from emails. Some mail gateways replace `#` with `%23`, which makes the fragment part of the path. Redirects the browser to
// the original link.
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../http/context.ts";

/** Matches the encoded `#`, even if it was encoded twice. No path of this service contains an encoded `#`. */
const encodedHashPattern = /%(?:25)*23/;

export const redirectEncodedFragment = createMiddleware<AppEnv>(async (c, next) => {
  // Skip API requests, which are by far the most frequent. Links in emails lead only to pages.
  if (c.req.path.startsWith("/v1/") || !encodedHashPattern.test(c.req.url)) return next();
  const { pathname, search } = new URL(c.req.url);
  const [path = "", ...rest] = pathname.split(encodedHashPattern);
  if (rest.length === 0 || !path.startsWith("/") || path.startsWith("//") || !["GET", "HEAD"].includes(c.req.method)) return next();
  return c.redirect(`${path}${search}#${rest.join("#")}`, 302);
});
