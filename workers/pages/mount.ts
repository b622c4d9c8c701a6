// Pages: the first page with its doors; the reference of the API at /docs; whom to tell of a weakness; in development captured mail
// at /dev/mail; certificates under /c, with what every other path and method there answers.
import { Hono } from "hono";
import type { Api } from "../http/context.ts";
import type { Config } from "../env.ts";
import type { ExportFile } from "./app/own-data.tsx";
import { mountApp } from "./app/routes.ts";
import { mountSheet } from "./authorize/routes.ts";
import { mountConnect } from "./connect/routes.tsx";
import { mountDevMail } from "./dev/dev-mail.tsx";
import { mountDocs } from "./docs/routes.tsx";
import { mountFirstPage, mountNumberForm } from "./home/first-page.ts";
import { noSuchPage, onPageFault, readOnlyPage } from "./shared/notices.tsx";
import { mountPortal } from "./portal/routes.ts";
import { mountSecurityTxt } from "./home/security-txt.ts";
import { mountStop } from "./app/stop.tsx";
import { mountVerify } from "./verify/routes.tsx";
import { mountWithdrawalPages } from "./withdrawal/routes.tsx";

/** What the pages show of the API. */
export interface Shown {
  readonly describe: () => object;
  readonly exportFile: ExportFile;
}

export const mountPages = (app: Hono<Api>, config: Config, { describe, exportFile }: Shown): void => {
  mountFirstPage(app);
  mountDocs(app, describe);
  mountSecurityTxt(app, config);
  if (config.environment === "development") mountDevMail(app);
  mountSheet(app);
  mountApp(app, exportFile);
  mountStop(app);
  mountPortal(app);
  mountConnect(app);
  const pages = new Hono<Api>();
  mountNumberForm(pages);
  mountVerify(pages);
  mountWithdrawalPages(pages);
  pages.all("*", (c) => (c.req.method === "GET" || c.req.method === "HEAD" ? noSuchPage(c) : readOnlyPage(c)));
  pages.onError(onPageFault);
  app.route("/c", pages);
};
