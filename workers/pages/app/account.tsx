// Serves /app/account, where people see the devices they are signed in on, manage passkeys and sign out.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { signOutBrowser } from "../../http/guards/session-cookie.ts";
import { requestPasskeyRegistration } from "../../operations/access/request-passkey-registration.ts";
import { revokeOtherSessions } from "../../operations/access/revoke-other-sessions.ts";
import { getSecurityOverview, type SecurityOverview } from "../../operations/consumers/get-security-overview.ts";
import { addCreatedPasskey, DeviceList, endNamedSession, PasskeyList, removeNamedPasskey } from "../shared/account-security.tsx";
import type { Page } from "../shared/layout.tsx";
import { VerbatimText, Section, Timestamp, DescriptionRow } from "../shared/components.tsx";
import { PasskeyPrompt } from "../shared/passkey-sign-in.tsx";
import { PostForm, useAppView, type AppView, type FlashMessage } from "./components.tsx";
import { appPage } from "./page.tsx";
import { hasRecentProof } from "./reauthenticate.tsx";
import {
  authenticatedAction,
  renderAppPage,
  setFlash,
  redirectToForm,
  authenticatedPage,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

/** Hidden until the script finds that the browser supports passkeys. */
const AddPasskeyForm: FC = () => {
  const { messages } = useAppView();
  return (
    <div data-offers-passkey="" hidden>
      <PostForm action="/app/account/passkeys/add" class="row apart">
        <span>{messages.addPasskeyAdvice}</span>
        <button type="submit" class="btn sm">
          {messages.addPasskey}
        </button>
      </PostForm>
    </div>
  );
};

const accountPage = (view: AppView, { profile, sessions, passkeys }: SecurityOverview): Page => {
  const { messages } = view;
  return appPage(
    view,
    { tab: "account", section: "security", title: messages.tabs.account, script: "passkey.js" },
    <>
      <section class="card" aria-label={messages.tabs.account}>
        <div class="body">
          <dl class="kv">
            <DescriptionRow name={messages.address}>
              <VerbatimText text={profile.email} />
            </DescriptionRow>
            <DescriptionRow name={messages.since}>
              <Timestamp at={profile.createdAt} />
            </DescriptionRow>
          </dl>
        </div>
        <footer>
          <span>{messages.signOutAdvice}</span>
          <PostForm action="/app/sign-out">
            <button type="submit" class="btn sm">
              {messages.signOutHere}
            </button>
          </PostForm>
        </footer>
      </section>
      <Section
        name="devices"
        heading={messages.devices}
        hint={messages.devicesNote}
        content={<DeviceList sessions={sessions} action="/app/account/devices/end" Form={PostForm} />}
        {...(sessions.length > 1 && {
          footer: (
            <PostForm action="/app/account/devices/end-others">
              <button type="submit" class="btn sm">
                {messages.signOutOthers}
              </button>
            </PostForm>
          ),
        })}
      />
      <Section
        name="passkeys"
        heading={messages.passkeys}
        hint={messages.passkeysNote}
        content={<PasskeyList passkeys={passkeys} action="/app/account/passkeys/remove" Form={PostForm} />}
        footer={<AddPasskeyForm />}
      />
    </>,
  );
};

const newPasskeyPage = (view: AppView, options: object): Page => {
  const { messages } = view;
  return appPage(
    view,
    {
      tab: "account",
      title: messages.addPasskey,
      heading: messages.passkeyWaiting,
      lede: messages.passkeyWaitingAdvice,
      script: "passkey.js",
    },
    <PostForm action="/app/account/passkeys" class="card">
      <div class="body stack">
        <PasskeyPrompt how="create" options={options} label={messages.addPasskey} />
        <p>
          <a href="/app/account">{messages.notNow}</a>
        </p>
      </div>
    </PostForm>,
  );
};

const renderAccount = async (request: AppRequest): Promise<Response> => {
  const { services, session, c } = request;
  const found = await getSecurityOverview(services, session);
  return found.ok ? renderAppPage(request, accountPage(request, found.value)) : c.redirect("/app", 303);
};

const redirectToAccount = async (request: AppFormRequest, key: FlashMessage["key"] | null): Promise<Response> => {
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
    hasRecentProof(request, "passkey") ? act(request) : request.c.redirect("/app/prove/passkey", 303);

const renderNewPasskey = async (request: AppFormRequest): Promise<Response> => {
  const options = await requestPasskeyRegistration(request.services, request.session, getRelyingParty(request.c));
  return options.ok ? renderAppPage(request, newPasskeyPage(request, options.value)) : redirectToAccount(request, "passkeyLimit");
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
