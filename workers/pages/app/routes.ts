// Routes of the app, a person's own pages under /app. Changes are made with plain forms. The response to a form usually redirects to a page
// that can be reloaded, but new tokens and reviews of changes are shown in the response itself.
import { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { handlePageError } from "../shared/notice-pages.tsx";
import { registerAccountRoutes } from "./account.tsx";
import { registerAgentRoutes } from "./agents.tsx";
import { registerCertificateRoutes } from "./certificates.tsx";
import { registerConsentRoutes } from "./consents.tsx";
import { registerDetailsRoutes } from "./details.tsx";
import { registerHistoryRoutes } from "./history.tsx";
import { registerAccountDataRoutes, type ExportFormatter } from "./account-data.tsx";
import { registerReauthenticationRoutes } from "./reauthenticate.tsx";
import { registerRemovalRoutes } from "./removals.tsx";
import { registerShareRoutes } from "./share.tsx";
import { registerSignInRoutes } from "./sign-in.tsx";
import { registerSignInLinkRoutes } from "./sign-in-link.tsx";
import { authenticatedPage } from "./handlers.ts";
import { notFoundPage } from "./page.tsx";

export const registerAppRoutes = (app: Hono<AppEnv>, exportFile: ExportFormatter): void => {
  const pages = new Hono<AppEnv>();
  registerSignInRoutes(pages);
  registerSignInLinkRoutes(pages);
  registerConsentRoutes(pages);
  registerShareRoutes(pages);
  registerCertificateRoutes(pages);
  registerDetailsRoutes(pages);
  registerHistoryRoutes(pages);
  registerAccountRoutes(pages);
  registerReauthenticationRoutes(pages);
  registerAgentRoutes(pages);
  registerRemovalRoutes(pages);
  registerAccountDataRoutes(pages, exportFile);
  pages.get(
    "*",
    authenticatedPage((request) => notFoundPage(request, request.messages.noPage, request.messages.noPageAdvice)),
  );
  pages.onError(handlePageError);
  app.route("/app", pages);
};
