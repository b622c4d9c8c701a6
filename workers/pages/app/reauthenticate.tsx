// Serves /app/prove/{purpose}, which asks a person to sign in again, with the usual sign-in forms, before an action that requires a recent
// sign-in.
import type { Hono } from "hono";
import { isRecentlyVerified } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { ButtonLink, NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Page } from "../shared/layout.tsx";
import { findPendingSignInEmail } from "../shared/email-code-sign-in.tsx";
import { PasskeySignInForm } from "../shared/passkey-sign-in.tsx";
import { VerbatimText, FormattedMessage } from "../shared/components.tsx";
import { getAccountMessages, type AppView } from "./components.tsx";
import { appPage } from "./page.tsx";
import { codeStepPage } from "./sign-in.tsx";
import { renderAppPage, authenticatedPage, type AppRequest } from "./app-request.ts";

/** For each action: the page to return to, and the maximum age of the sign-in in minutes. */
const proofPurposes = { delete: { path: "/app/delete", minutes: 5 }, passkey: { path: "/app/account", minutes: 10 } } as const;
type ProofPurpose = keyof typeof proofPurposes;

export const hasRecentProof = ({ session, now }: AppRequest, purpose: ProofPurpose): boolean =>
  isRecentlyVerified(session, now, proofPurposes[purpose].minutes);

const reauthenticatePage = (view: AppView, purpose: ProofPurpose): Page => {
  const { prove } = getAccountMessages(view);
  const next = `/app/prove/${purpose}`;
  return appPage(
    view,
    { tab: "account", title: prove.title, lede: prove.why, script: "passkey.js" },
    <div class="card">
      <div class="body stack">
        <form method="post" action="/app/sign-in" class="stack">
          <NextPathField next={next} />
          <input type="hidden" name="email" value={view.email} />
          <p>
            <FormattedMessage text={prove.mailed} parts={{ address: <VerbatimText text={view.email} /> }} />
          </p>
          <div class="choice">
            <ButtonLink href={proofPurposes[purpose].path}>{view.messages.notNow}</ButtonLink>
            <SubmitButton>{sheetMessages[view.language].send}</SubmitButton>
          </div>
        </form>
        <PasskeySignInForm action="/app/passkey" next={next} />
      </div>
    </div>,
  );
};

const isProofPurpose = (text: string | undefined): text is ProofPurpose => text !== undefined && Object.hasOwn(proofPurposes, text);

const renderReauthenticate = async (request: AppRequest): Promise<Response> => {
  const { c, email, language } = request;
  const name = c.req.param("purpose");
  const purpose = isProofPurpose(name) ? name : "passkey";
  if (hasRecentProof(request, purpose)) return c.redirect(proofPurposes[purpose].path, 303);
  const pendingEmail = await findPendingSignInEmail(c);
  if (pendingEmail?.toLowerCase() !== email.toLowerCase()) return renderAppPage(request, reauthenticatePage(request, purpose));
  const error = c.req.query("answer") === "failed" ? sheetMessages[language].wrongCode : undefined;
  return renderAppPage(request, codeStepPage(language, { next: `/app/prove/${purpose}`, email, error }));
};

export const registerReauthenticationRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/prove/:purpose", authenticatedPage(renderReauthenticate));
};
