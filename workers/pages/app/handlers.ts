// Handlers for the pages and forms of people who are signed in to the app.
import type { Context } from "hono";
import { personFromSession } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { appMessages } from "../i18n/app.ts";
import { saveLanguage, getPageLanguage } from "../shared/layout.tsx";
import { createSignedInHandlers } from "../shared/signed-in-handlers.ts";
import { takeFlash, type AppRequest } from "./app-request.ts";
import { renderSignIn } from "./sign-in.tsx";

const signedIn = createSignedInHandlers({
  realm: "consumer",
  formTokenPrefix: "form",
  load: async (c, session, method) => {
    const language = getPageLanguage(c);
    return {
      session,
      person: personFromSession(session),
      language,
      messages: appMessages[language],
      flash: method === "page" ? await takeFlash(c, session.userId) : null,
    };
  },
  renderSignedOut: (c) => renderSignIn(c, c.req.path),
  signedOutPath: "/app",
  homePath: "/app",
});

/** Handles a page of the app. Without a session, shows the sign-in form, which leads back to the page. */
export const authenticatedPage = (show: (request: AppRequest) => Promise<Response> | Response) => {
  const handlePage = signedIn.page(show);
  return (c: Context<AppEnv>): Promise<Response> => {
    saveLanguage(c);
    return handlePage(c);
  };
};

/** Handles a form of the app. Without a session, redirects to the app, which shows the sign-in form. */
export const authenticatedAction = signedIn.action;

/**
 * Redirects a GET request for a form's action URL to the page with the form. Such requests occur if a POST returned a page, because the
 * language links on that page lead to the action URL.
 */
export const redirectToForm =
  (path: string) =>
  (c: Context<AppEnv>): Response => {
    saveLanguage(c);
    return c.redirect(path, 303);
  };
