// GET /status: a public page that shows whether the service is up.
import type { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { getServiceStatus } from "../../operations/service/get-service-status.ts";
import { limitPublicPages } from "../home/routes.ts";
import { renderPage } from "../shared/layout.tsx";
import { statusPage } from "./status-page.tsx";

export const registerStatusRoutes = (app: Hono<AppEnv>): void => {
  app.get("/status", limitPublicPages, async (c) => {
    const status = await getServiceStatus(c.var.services);
    return renderPage(c, 200, (context) => statusPage(context, status));
  });
};
