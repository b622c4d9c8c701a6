// Serves /portal/account, where members see the devices they are signed in on and manage passkeys. Adding or removing a passkey requires a
// recent sign-in. Otherwise, someone who stole only a session could add a passkey to keep access, or remove the member's passkeys.
import type { Hono } from "hono";
import { addPasskeyProofMinutes } from "../../../core/access/passkey.ts";
import { isRecentlyVerified } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { findPendingSignIn } from "../../http/pending-sign-in.ts";
import { listPasskeys } from "../../operations/access/list-passkeys.ts";
import { listSessions } from "../../operations/access/list-sessions.ts";
import { requestPasskeyRegistration } from "../../operations/access/request-passkey-registration.ts";
import { revokeOtherSessions } from "../../operations/access/revoke-other-sessions.ts";
import { addCreatedPasskey, DeviceList, endNamedSession, PasskeyList, removeNamedPasskey } from "../shared/account-security.tsx";
import { FormattedMessage, Icon, VerbatimText } from "../shared/components.tsx";
import { ButtonLink, NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import { PasskeyPrompt, PasskeySignInForm } from "../shared/passkey-sign-in.tsx";
import { ActionButton, Card, Link, messages, PostForm, language } from "./components.tsx";
import { authenticatedAction, authenticatedPage, type PageHandler } from "./handlers.ts";
import { renderMemberPage } from "./page.tsx";
import { accountPath, passkeyPath, reauthenticatePath } from "./paths.ts";
import { redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import { CodeStep, codeSentTo } from "./sign-in.tsx";

const { account: accountMessages, signIn: signInMessages } = messages;
const parent = { path: accountPath, text: accountMessages.title };

const renderAccount = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { services, member, email } = request;
  const [sessions, passkeys] = await Promise.all([listSessions(services, member), listPasskeys(services, member)]);
  return renderMemberPage(request, {
    tab: null,
    title: accountMessages.title,
    intro: <FormattedMessage text={accountMessages.intro} parts={{ address: <VerbatimText text={email} /> }} />,
    script: "passkey.js",
    error,
    content: (
      <>
        {error !== undefined && (
          <p class="error" role="alert">
            <Icon name="circle-alert" />
            <span>{error.text}</span>
          </p>
        )}
        <Card
          id="passkeys"
          title={accountMessages.passkeys}
          note={accountMessages.passkeysNote}
          isFlush
          footer={
            <div data-offers-passkey="" hidden>
              <PostForm action={`${accountPath}/passkeys/new`} class="row apart">
                <span>{accountMessages.addPasskeyAdvice}</span>
                <SubmitButton>{accountMessages.addPasskey}</SubmitButton>
              </PostForm>
            </div>
          }
        >
          <PasskeyList passkeys={passkeys} action={`${accountPath}/passkeys/remove`} Form={PostForm} />
        </Card>
        <Card
          id="devices"
          title={accountMessages.devices}
          note={accountMessages.devicesNote}
          isFlush
          footer={
            sessions.length > 1 ? (
              <ActionButton action={`${accountPath}/sessions/end-others`} label={accountMessages.signOutOthers} />
            ) : undefined
          }
        >
          <DeviceList sessions={sessions} action={`${accountPath}/sessions/end`} Form={PostForm} />
        </Card>
      </>
    ),
  });
};

/** Redirects to the page that asks for a sign-in, unless the member signed in recently. */
const requireRecentProof =
  (act: PageHandler<PortalFormRequest>): PageHandler<PortalFormRequest> =>
  (request) =>
    isRecentlyVerified(request.member, request.now, addPasskeyProofMinutes) ? act(request) : redirectTo(request, reauthenticatePath);

/** Asks the member to sign in again with a code or a passkey, through the usual sign-in forms. */
const renderReauthenticate = async (request: PortalRequest): Promise<Response> => {
  const { c, email, member, now } = request;
  if (isRecentlyVerified(member, now, addPasskeyProofMinutes)) return redirectTo(request, accountPath);
  const pending = await findPendingSignIn(c);
  const isCodeSent = pending?.email.toLowerCase() === email.toLowerCase();
  const error: FormError | undefined =
    isCodeSent && c.req.query("outcome") === "failed" ? { code: "login_failed", field: "code", text: signInMessages.wrongCode } : undefined;
  return renderMemberPage(request, {
    tab: null,
    title: accountMessages.proveTitle,
    parent,
    script: "passkey.js",
    error,
    content: (
      <div class="card confirm">
        <div class="body stack">
          <p class="quiet">{isCodeSent ? codeSentTo(email) : accountMessages.proveWhy}</p>
          {isCodeSent ? (
            <CodeStep next={reauthenticatePath} email={email} error={error} cancelPath={accountPath} />
          ) : (
            <>
              <form method="post" action="/portal/sign-in" class="form stack">
                <NextPathField next={reauthenticatePath} />
                <input type="hidden" name="email" value={email} />
                <div class="choice">
                  <ButtonLink href={accountPath}>{messages.cancel}</ButtonLink>
                  <SubmitButton>{signInMessages.send}</SubmitButton>
                </div>
              </form>
              <PasskeySignInForm action={passkeyPath} next={reauthenticatePath} />
            </>
          )}
        </div>
      </div>
    ),
  });
};

const renderRefused = (request: PortalRequest, text: string, code: FormError["code"]): Promise<Response> =>
  renderAccount(request, { code, field: null, text });

const renderNewPasskey = async (request: PortalFormRequest): Promise<Response> => {
  const options = await requestPasskeyRegistration(request.services, request.member, getRelyingParty(request.c));
  if (!options.ok) return renderRefused(request, accountMessages.limit, options.code);
  return renderMemberPage(request, {
    tab: null,
    title: accountMessages.addPasskey,
    parent,
    intro: accountMessages.confirmOnDevice,
    script: "passkey.js",
    content: (
      <div class="card confirm">
        <div class="body stack">
          <PostForm action={`${accountPath}/passkeys`}>
            <PasskeyPrompt how="create" options={options.value} label={accountMessages.addPasskey} />
          </PostForm>
          <p>
            <Link to={accountPath} text={messages.cancel} />
          </p>
        </div>
      </div>
    ),
  });
};

const handleAddPasskey = async (request: PortalFormRequest): Promise<Response> => {
  const outcome = await addCreatedPasskey(request, request.member, language);
  if (outcome === "added") return redirectTo(request, accountPath, "passkeyAdded");
  return renderRefused(request, outcome === "passkey_limit" ? accountMessages.limit : accountMessages.notAdded, outcome);
};

const handleRemovePasskey = async (request: PortalFormRequest): Promise<Response> =>
  redirectTo(request, accountPath, (await removeNamedPasskey(request, request.member)) ? "passkeyRemoved" : undefined);

const handleEndSession = async (request: PortalFormRequest): Promise<Response> =>
  redirectTo(request, accountPath, (await endNamedSession(request, request.member)) ? "deviceEnded" : undefined);

const handleEndOtherSessions = async (request: PortalFormRequest): Promise<Response> => {
  const ended = await revokeOtherSessions(request.services, request.member);
  return redirectTo(request, accountPath, ended > 0 ? "othersEnded" : undefined);
};

/** Handles a form about the member's own account. It also works while a payment is past due. */
const ownAction = (act: PageHandler<PortalFormRequest>) => authenticatedAction({ isReadOnly: true }, act);

export const registerMemberAccountRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/account", authenticatedPage(renderAccount));
  pages.get("/account/reauthenticate", authenticatedPage(renderReauthenticate));
  pages.post("/account/passkeys/new", ownAction(requireRecentProof(renderNewPasskey)));
  pages.post("/account/passkeys", ownAction(requireRecentProof(handleAddPasskey)));
  pages.post("/account/passkeys/remove", ownAction(requireRecentProof(handleRemovePasskey)));
  pages.post("/account/sessions/end", ownAction(handleEndSession));
  pages.post("/account/sessions/end-others", ownAction(handleEndOtherSessions));
};
