// Routes of the business portal under /portal. Changes are made with plain forms. The response to a form usually redirects to a page that
// can be reloaded, but secrets and results that are not stored are shown in the response itself. Pages call operations, never the API.
import { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { handlePageError } from "../shared/notice-pages.tsx";
import { registerMemberAccountRoutes } from "./account.tsx";
import { registerAuditRoutes } from "./audit.tsx";
import { registerBillingRoutes } from "./billing.tsx";
import { registerBusinessRoutes } from "./businesses.tsx";
import { registerCertificateDetailRoutes } from "./certificate-detail.tsx";
import { registerCertificateListRoutes } from "./certificate-list.tsx";
import { registerDeadlineRoutes } from "./deadlines.tsx";
import { registerDomainRoutes } from "./domains.tsx";
import { registerEventRoutes } from "./events.tsx";
import { registerHomeRoutes } from "./home.tsx";
import { registerInvitationRoutes } from "./invitations.tsx";
import { registerClientRoutes } from "./client.tsx";
import { registerKeyRoutes } from "./keys.tsx";
import { registerOverviewRoutes } from "./overview.tsx";
import { registerRequestLookupRoutes } from "./request-lookup.tsx";
import { registerSandboxRoutes } from "./sandbox.tsx";
import { registerSettingsRoutes } from "./settings.tsx";
import { registerShareRoutes } from "./shares.tsx";
import { registerSignInRoutes } from "./sign-in.tsx";
import { registerSignInLinkRoutes } from "./sign-in-link.tsx";
import { registerSnippetRoutes } from "./snippet-builder.tsx";
import { registerTeamRoutes } from "./team.tsx";
import { registerWebhookRoutes } from "./webhooks.tsx";
import { notFoundPage } from "./page.tsx";
import { authenticatedPage } from "./handlers.ts";

const routeModules = [
  registerSignInRoutes,
  registerSignInLinkRoutes,
  registerMemberAccountRoutes,
  registerBusinessRoutes,
  registerInvitationRoutes,
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
  registerClientRoutes,
  registerRequestLookupRoutes,
  registerTeamRoutes,
  registerAuditRoutes,
  registerBillingRoutes,
  registerSettingsRoutes,
];

export const registerPortalRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  for (const register of routeModules) register(pages);
  pages.onError(handlePageError);
  // The same pages are mounted twice, and the path determines the environment. The sandbox page, which exists only in test mode, is
  // registered first.
  const testMode = new Hono<AppEnv>();
  registerSandboxRoutes(testMode);
  testMode.route("/", pages);
  testMode.onError(handlePageError);
  app.route("/portal/test", testMode);
  app.route("/portal", pages);
  app.get("/portal/*", authenticatedPage(notFoundPage));
};
