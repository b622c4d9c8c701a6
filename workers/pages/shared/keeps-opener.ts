// For pages that are opened in a window of another page.
import { createMiddleware } from "hono/factory";
import type { Api } from "../../http/context.ts";

/** Of every answer, a crowded one and one that is no page too: any other value cuts the window off from the page that opened it. */
export const keepsOpener = createMiddleware<Api>(async (c, next) => {
  c.header("Cross-Origin-Opener-Policy", "unsafe-none");
  await next();
});
