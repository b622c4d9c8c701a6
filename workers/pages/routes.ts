// Registers the routes of all pages. In development, also registers /dev/mail, which shows captured emails.
import { Hono } from "hono";
import type { AppEnv } from "../http/context.ts";
import type { Config } from "../env.ts";
import type { ExportFormatter } from "./app/account-data.tsx";
import { registerAppRoutes } from "./app/routes.ts";
import { registerSheetRoutes } from "./authorize/routes.ts";
import { registerConnectRoutes } from "./connect/routes.tsx";
import { registerCapturedMailRoutes } from "./dev/captured-mail.tsx";
import { registerDocsRoutes } from "./docs/routes.tsx";
import { registerHomeRoutes, registerCertificateNumberRoutes } from "./home/routes.ts";
import { renderCertificateNotFound, handlePageError, renderMethodNotAllowed } from "./shared/notice-pages.tsx";
import { registerOperatorRoutes } from "./operator/routes.ts";
import { registerPortalRoutes } from "./portal/routes.ts";
import { registerSecurityTxtRoutes } from "./home/security-txt.ts";
import { registerRevokeLinkRoutes } from "./app/revoke-share.tsx";
import { registerCertificateRoutes } from "./verify/routes.tsx";
import { registerStatusRoutes } from "./status/routes.ts";
import { registerWithdrawalRoutes } from "./withdrawal/routes.tsx";

/** The parts of the API that the pages need. Pages do not import the API. */
export interface PageDependencies {
  readonly getOpenApiDocument: () => object;
  readonly exportFile: ExportFormatter;
}

export const registerPageRoutes = (app: Hono<AppEnv>, config: Config, { getOpenApiDocument, exportFile }: PageDependencies): void => {
  registerHomeRoutes(app);
  registerStatusRoutes(app);
  registerOperatorRoutes(app);
  registerDocsRoutes(app, getOpenApiDocument);
  registerSecurityTxtRoutes(app, config);
  if (config.environment === "development") registerCapturedMailRoutes(app);
  registerSheetRoutes(app);
  registerAppRoutes(app, exportFile);
  registerRevokeLinkRoutes(app);
  registerPortalRoutes(app);
  registerConnectRoutes(app);
  const pages = new Hono<AppEnv>();
  registerCertificateNumberRoutes(pages);
  registerCertificateRoutes(pages);
  registerWithdrawalRoutes(pages);
  pages.all("*", (c) => (c.req.method === "GET" || c.req.method === "HEAD" ? renderCertificateNotFound(c) : renderMethodNotAllowed(c)));
  pages.onError(handlePageError);
  app.route("/c", pages);
};
