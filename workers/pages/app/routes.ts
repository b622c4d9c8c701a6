// A person's own pages: {app_url}/app. Each change is a plain form, answered by a redirect to a page that can be loaded again.
import { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { onPageFault, readOnlyPage } from "../notices.tsx";
import { mountAccount } from "./account.ts";
import { mountDetails } from "./fields.ts";
import { appNotice } from "./parts.tsx";
import { mountShares } from "./shares.ts";
import { mountSignIn } from "./sign-in.ts";
import { reading, refused } from "./signed-in.ts";

export const mountApp = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  mountSignIn(pages);
  mountShares(pages);
  mountDetails(pages);
  mountAccount(pages);
  pages.get(
    "*",
    reading((visit) => refused(visit, "not_found", appNotice(visit.view, visit.view.words.noPage, visit.view.words.noPageAdvice))),
  );
  pages.all("*", readOnlyPage);
  pages.onError(onPageFault);
  app.route("/app", pages);
};
