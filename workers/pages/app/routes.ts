// A person's own pages: {app_url}/app. Each change is a plain form, answered by a redirect to a page that can be loaded again.
import { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { onPageFault, readOnlyPage } from "../shared/notices.tsx";
import { mountAccount } from "./account.tsx";
import { mountAgents } from "./agents.tsx";
import { mountCertificates } from "./certificates.tsx";
import { mountConsents } from "./consents.tsx";
import { mountDetails } from "./details.tsx";
import { mountHistory } from "./history.tsx";
import { mountOwnData, type ExportFile } from "./own-data.tsx";
import { mountProof } from "./prove.tsx";
import { mountRemovals } from "./removals.tsx";
import { mountShares } from "./share.tsx";
import { mountSignIn } from "./sign-in.tsx";
import { nothingHere, reading } from "./signed-in.ts";

export const mountApp = (app: Hono<Api>, exportFile: ExportFile): void => {
  const pages = new Hono<Api>();
  mountSignIn(pages);
  mountConsents(pages);
  mountShares(pages);
  mountCertificates(pages);
  mountDetails(pages);
  mountHistory(pages);
  mountAccount(pages);
  mountProof(pages);
  mountAgents(pages);
  mountRemovals(pages);
  mountOwnData(pages, exportFile);
  pages.get(
    "*",
    reading((visit) => nothingHere(visit, visit.view.words.noPage, visit.view.words.noPageAdvice)),
  );
  pages.all("*", readOnlyPage);
  pages.onError(onPageFault);
  app.route("/app", pages);
};
