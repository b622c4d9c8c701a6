// GET /operator: the state of the deployment, for the operator.
import { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { checkOperatorPassword } from "../../http/guards/operator.ts";
import { inspectService } from "../../operations/admin/measure-service.ts";
import { renderNotFound } from "../home/routes.ts";
import { messages } from "../i18n/en/operator.ts";
import { renderPage } from "../shared/layout.tsx";
import { handlePageError, noticePage, renderTooManyRequests } from "../shared/notice-pages.tsx";
import { operatorPage } from "./operator-page.tsx";

export const registerOperatorRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  pages.get("/", async (c) => {
    const check = await checkOperatorPassword(c);
    if (check.kind === "closed") return renderNotFound(c);
    if (check.kind === "accepted") {
      const { services } = c.var;
      const counted = services.countRequests === null ? ("unset" as const) : services.countRequests();
      const [inspection, requests] = await Promise.all([inspectService(services), counted]);
      return renderPage(c, 200, () => operatorPage(inspection, requests));
    }
    if (check.limited !== null) return renderTooManyRequests(c, check.limited);
    c.set("refused", "unauthorized");
    c.header("WWW-Authenticate", 'Basic realm="Operator", charset="UTF-8"');
    return renderPage(c, 401, () => ({
      ...noticePage(messages.signInTitle, messages.signInAdvice, undefined, "lock"),
      onlyLanguage: "en",
    }));
  });
  pages.onError(handlePageError);
  app.route("/operator", pages);
};
