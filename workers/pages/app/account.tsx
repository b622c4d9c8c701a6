// Serves /app/account, where people see the devices they are signed in on, manage passkeys and sign out.
import type { Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { signOutBrowser } from "../../http/guards/session-cookie.ts";
import { requestPasskeyRegistration } from "../../operations/access/request-passkey-registration.ts";
import { revokeOtherSessions } from "../../operations/access/revoke-other-sessions.ts";
import { getSecurityOverview } from "../../operations/consumers/get-security-overview.ts";
import { addCreatedPasskey, DeviceList, endNamedSession, PasskeyList, removeNamedPasskey } from "../shared/account-security.tsx";
import { VerbatimText, Section, Timestamp, PropertyList } from "../shared/components.tsx";
import type { AppMessages } from "../i18n/app.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { PasskeyPrompt } from "../shared/passkey-sign-in.tsx";
import { setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { PostForm } from "./components.tsx";
import { authenticatedAction, authenticatedPage, redirectToForm } from "./handlers.ts";
import { renderAppPage } from "./page.tsx";
import { hasRecentProof } from "./reauthenticate.tsx";

const renderAccount = async (request: AppRequest): Promise<Response> => {
  const { c, services, session, messages } = request;
  const found = await getSecurityOverview(services, session);
  if (!found.ok) return c.redirect("/app", 303);
  const { profile, sessions, passkeys } = found.value;
  return renderAppPage(
    request,
    { tab: "account", section: "security", title: messages.tabs.account, script: "passkey.js" },
    <>
      <section class="card" aria-label={messages.tabs.account}>
        <div class="body">
          <PropertyList
            lines={[
              [messages.address, <VerbatimText text={profile.email} />],
              [messages.since, <Timestamp at={profile.createdAt} />],
            ]}
          />
        </div>
        <footer>
          <span>{messages.signOutAdvice}</span>
          <PostForm action="/app/sign-out">
            <SubmitButton class="btn sm">{messages.signOutHere}</SubmitButton>
          </PostForm>
        </footer>
      </section>
      <Section
        name="devices"
        heading={messages.devices}
        hint={messages.devicesNote}
        isFlush
        footer={
          sessions.length > 1 ? (
            <PostForm action="/app/account/devices/end-others">
              <SubmitButton class="btn sm">{messages.signOutOthers}</SubmitButton>
            </PostForm>
          ) : undefined
        }
      >
        <DeviceList sessions={sessions} action="/app/account/devices/end" Form={PostForm} />
      </Section>
      <Section
        name="passkeys"
        heading={messages.passkeys}
        hint={messages.passkeysNote}
        isFlush
        footer={
          <div data-offers-passkey="" hidden>
            <PostForm action="/app/account/passkeys/add" class="row apart">
              <span>{messages.addPasskeyAdvice}</span>
              <SubmitButton class="btn sm">{messages.addPasskey}</SubmitButton>
            </PostForm>
          </div>
        }
      >
        <PasskeyList passkeys={passkeys} action="/app/account/passkeys/remove" Form={PostForm} />
      </Section>
    </>,
  );
};

const redirectToAccount = async (request: AppFormRequest, key: keyof AppMessages["flash"] | null): Promise<Response> => {
  if (key !== null) await setFlash(request, { key });
  return request.c.redirect("/app/account", 303);
};

const handleEndSession = async (request: AppFormRequest): Promise<Response> =>
  redirectToAccount(request, (await endNamedSession(request, request.session)) ? "deviceEnded" : null);

const handleEndOtherSessions = async (request: AppFormRequest): Promise<Response> => {
  const ended = await revokeOtherSessions(request.services, request.session);
  return redirectToAccount(request, ended > 0 ? "othersEnded" : null);
};

const handleRemovePasskey = async (request: AppFormRequest): Promise<Response> =>
  redirectToAccount(request, (await removeNamedPasskey(request, request.session)) ? "passkeyRemoved" : null);

/**
 * Requires a recent sign-in. Otherwise, someone who stole only a session could add a passkey to keep access, or remove the person's
 * passkeys.
 */
const requireRecentProof =
  (act: (request: AppFormRequest) => Promise<Response>) =>
  async (request: AppFormRequest): Promise<Response> =>
    hasRecentProof(request, "passkey") ? act(request) : request.c.redirect("/app/reauthenticate/passkey", 303);

const renderNewPasskey = async (request: AppFormRequest): Promise<Response> => {
  const { c, services, session, messages } = request;
  const options = await requestPasskeyRegistration(services, session, getRelyingParty(c));
  if (!options.ok) return redirectToAccount(request, "passkeyLimit");
  return renderAppPage(
    request,
    {
      tab: "account",
      title: messages.addPasskey,
      heading: messages.passkeyWaiting,
      lede: messages.passkeyWaitingAdvice,
      script: "passkey.js",
    },
    <PostForm action="/app/account/passkeys" class="card">
      <div class="body stack">
        <PasskeyPrompt how="create" options={options.value} label={messages.addPasskey} />
        <p>
          <a href="/app/account">{messages.notNow}</a>
        </p>
      </div>
    </PostForm>,
  );
};

const passkeyMessages = { added: "passkeyAdded", passkey_limit: "passkeyLimit", passkey_refused: "passkeyNotAdded" } as const;

const handleAddPasskey = async (request: AppFormRequest): Promise<Response> =>
  redirectToAccount(request, passkeyMessages[await addCreatedPasskey(request, request.session, request.language)]);

const handleSignOut = async ({ c }: AppFormRequest): Promise<Response> => {
  await signOutBrowser(c);
  return c.redirect("/app", 303);
};

export const registerAccountRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/account", authenticatedPage(renderAccount));
  pages.post("/account/devices/end", authenticatedAction(handleEndSession));
  pages.post("/account/devices/end-others", authenticatedAction(handleEndOtherSessions));
  pages.post("/account/passkeys/remove", authenticatedAction(requireRecentProof(handleRemovePasskey)));
  pages.get("/account/passkeys/add", redirectToForm("/app/account"));
  pages.post("/account/passkeys/add", authenticatedAction(requireRecentProof(renderNewPasskey)));
  pages.post("/account/passkeys", authenticatedAction(requireRecentProof(handleAddPasskey)));
  pages.post("/sign-out", authenticatedAction(handleSignOut));
};
