// The business portal: {app_url}/portal. Every page is a plain document and every change a form, answered by a redirect; only what may
// be shown once is answered to the form itself. Pages call operations, never the API.
import { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { onPageFault } from "../shared/notices.tsx";
import { mountAudit } from "./audit.tsx";
import { mountBilling } from "./billing.tsx";
import { mountBusinesses } from "./businesses.tsx";
import { mountCertificate } from "./certificate.tsx";
import { mountCertificates } from "./certificates.tsx";
import { mountDeadlines } from "./deadlines.tsx";
import { mountDomains } from "./domains.tsx";
import { mountEvents } from "./events.tsx";
import { mountHome } from "./home.tsx";
import { mountKeys } from "./keys.tsx";
import { mountOverview } from "./overview.tsx";
import { mountRequests } from "./requests.tsx";
import { mountSandbox } from "./sandbox.tsx";
import { mountSettings } from "./settings.tsx";
import { mountShares } from "./shares.tsx";
import { mountSignIn } from "./sign-in.tsx";
import { mountSnippet } from "./snippet.tsx";
import { mountTeam } from "./team.tsx";
import { mountWebhooks } from "./webhooks.tsx";
import { nothing } from "./page.tsx";
import { reading } from "./visit.ts";

const parts = [
  mountSignIn,
  mountBusinesses,
  mountHome,
  mountOverview,
  mountCertificates,
  mountCertificate,
  mountDeadlines,
  mountShares,
  mountDomains,
  mountSnippet,
  mountWebhooks,
  mountEvents,
  mountKeys,
  mountRequests,
  mountTeam,
  mountAudit,
  mountBilling,
  mountSettings,
];

export const mountPortal = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  for (const mount of parts) mount(pages);
  pages.onError(onPageFault);
  // The same pages twice: the address says which records they are of. What is there in one mode alone comes first.
  const testMode = new Hono<Api>();
  mountSandbox(testMode);
  testMode.route("/", pages);
  testMode.onError(onPageFault);
  app.route("/portal/test", testMode);
  app.route("/portal", pages);
  app.get("/portal/*", reading(nothing));
};
