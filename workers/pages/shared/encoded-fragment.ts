// Links whose `#` a mail gateway has rewritten to `%23`. The fragment then arrives as part of the path. The browser is sent to the link as
// it was meant. Nothing else happens until the person selects the button on the page.
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../http/context.ts";

/** The encoded `#`, also if it was encoded twice. No path of this service contains one. */
const encodedHashPattern = /%(?:25)*23/;

export const redirectEncodedFragment = createMiddleware<AppEnv>(async (c, next) => {
  // Links in emails lead to pages, and most requests are to the API.
  if (c.req.path.startsWith("/v1/") || !encodedHashPattern.test(c.req.url)) return next();
  const { pathname, search } = new URL(c.req.url);
  const [path = "", ...rest] = pathname.split(encodedHashPattern);
  if (rest.length === 0 || !path.startsWith("/") || path.startsWith("//") || !["GET", "HEAD"].includes(c.req.method)) return next();
  return c.redirect(`${path}${search}#${rest.join("#")}`, 302);
});
