// The business portal: {app_url}/portal. Every page is a plain document and every change a form, answered by a redirect; only what may
// be shown once is answered to the form itself. Pages call operations, never the API.
import { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { handlePageError } from "../shared/notice-pages.tsx";
import { registerAuditRoutes } from "./audit.tsx";
import { registerBillingRoutes } from "./billing.tsx";
import { registerBusinessRoutes } from "./businesses.tsx";
import { registerCertificateDetailRoutes } from "./certificate-detail.tsx";
import { registerCertificateListRoutes } from "./certificate-list.tsx";
import { registerDeadlineRoutes } from "./deadlines.tsx";
import { registerDomainRoutes } from "./domains.tsx";
import { registerEventRoutes } from "./events.tsx";
import { registerHomeRoutes } from "./home.tsx";
import { registerKeyRoutes } from "./keys.tsx";
import { registerOverviewRoutes } from "./overview.tsx";
import { registerRequestLookupRoutes } from "./request-lookup.tsx";
import { registerSandboxRoutes } from "./sandbox.tsx";
import { registerSettingsRoutes } from "./settings.tsx";
import { registerShareRoutes } from "./shares.tsx";
import { registerSignInRoutes } from "./sign-in.tsx";
import { registerSnippetRoutes } from "./snippet-builder.tsx";
import { registerTeamRoutes } from "./team.tsx";
import { registerWebhookRoutes } from "./webhooks.tsx";
import { notFoundPage } from "./page.tsx";
import { authenticatedPage } from "./portal-request.ts";

const routeModules = [
  registerSignInRoutes,
  registerBusinessRoutes,
  registerHomeRoutes,
  registerOverviewRoutes,
  registerCertificateListRoutes,
  registerCertificateDetailRoutes,
  registerDeadlineRoutes,
  registerShareRoutes,
  registerDomainRoutes,
  registerSnippetRoutes,
  registerWebhookRoutes,
  registerEventRoutes,
  registerKeyRoutes,
  registerRequestLookupRoutes,
  registerTeamRoutes,
  registerAuditRoutes,
  registerBillingRoutes,
  registerSettingsRoutes,
];

export const registerPortalRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  for (const mount of routeModules) mount(pages);
  pages.onError(handlePageError);
  // The same pages twice: the address says which records they are of. What is there in one mode alone comes first.
  const testMode = new Hono<AppEnv>();
  registerSandboxRoutes(testMode);
  testMode.route("/", pages);
  testMode.onError(handlePageError);
  app.route("/portal/test", testMode);
  app.route("/portal", pages);
  app.get("/portal/*", authenticatedPage(notFoundPage));
};
