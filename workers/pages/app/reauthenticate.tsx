// Serves /app/reauthenticate/{purpose}, which asks a person to sign in again, with the usual sign-in forms, before an action that requires
// a recent sign-in.
import type { Hono } from "hono";
import { isRecentlyVerified } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { ButtonLink, NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import { findPendingSignInEmail } from "../shared/email-code-sign-in.tsx";
import { PasskeySignInForm } from "../shared/passkey-sign-in.tsx";
import { VerbatimText, FormattedMessage } from "../shared/components.tsx";
import { renderPageOrRefusal } from "../shared/signed-in-handlers.ts";
import type { AppRequest } from "./app-request.ts";
import { authenticatedPage } from "./handlers.ts";
import { renderAppPage } from "./page.tsx";
import { codeStepPage } from "./sign-in.tsx";

/** For each action: the page to return to, and the maximum age of the sign-in in minutes. */
const proofPurposes = { delete: { path: "/app/delete", minutes: 5 }, passkey: { path: "/app/account", minutes: 10 } } as const;
type ProofPurpose = keyof typeof proofPurposes;

export const hasRecentProof = ({ session, now }: AppRequest, purpose: ProofPurpose): boolean =>
  isRecentlyVerified(session, now, proofPurposes[purpose].minutes);

const renderReauthenticateStep = (request: AppRequest, purpose: ProofPurpose): Promise<Response> => {
  const { messages, email, language } = request;
  const { prove } = messages;
  const next = `/app/reauthenticate/${purpose}`;
  return renderAppPage(
    request,
    { tab: "account", title: prove.title, lede: prove.why, script: "passkey.js" },
    <div class="card">
      <div class="body stack">
        <form method="post" action="/app/sign-in" class="stack">
          <NextPathField next={next} />
          <input type="hidden" name="email" value={email} />
          <p>
            <FormattedMessage text={prove.mailed} parts={{ address: <VerbatimText text={email} /> }} />
          </p>
          <div class="choice">
            <ButtonLink href={proofPurposes[purpose].path}>{messages.notNow}</ButtonLink>
            <SubmitButton>{sheetMessages[language].send}</SubmitButton>
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
  if (pendingEmail?.toLowerCase() !== email.toLowerCase()) return renderReauthenticateStep(request, purpose);
  const error = c.req.query("outcome") === "failed" ? sheetMessages[language].wrongCode : undefined;
  return renderPageOrRefusal(c, codeStepPage(language, { next: `/app/reauthenticate/${purpose}`, email, error }), language);
};

export const registerReauthenticationRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/reauthenticate/:purpose", authenticatedPage(renderReauthenticate));
};
