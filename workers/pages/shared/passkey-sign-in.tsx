// Signs in with a passkey: the components that offer it and prompt for it, and the function that checks the response.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { Realm } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearPendingSignIn } from "../../http/pending-sign-in.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { parseSignedCredential } from "../../http/passkey-credentials.ts";
import { getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import { signInWithPasskey } from "../../operations/access/sign-in-with-passkey.ts";
import { appMessages } from "../i18n/app.ts";
import type { FormFields } from "./form-handlers.ts";
import { NextPathField } from "./form-fields.tsx";
import { Icon, usePageContext } from "./components.tsx";

/** Returns the token of the new session, or null if the response is malformed or refused. */
export const completePasskeySignIn = async (c: Context<AppEnv>, form: FormFields, realm: Realm): Promise<string | null> => {
  const credential = parseSignedCredential(form.get("credential") ?? "");
  const request = { realm, party: getRelyingParty(c), replaces: getSessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = credential === null ? null : await signInWithPasskey(c.var.services, { ...request, signed: credential });
  clearPendingSignIn(c); // the person used a passkey instead of the pending email code
  if (!signed?.ok) return null;
  setSessionCookie(c, signed.value.token, realm);
  return signed.value.token;
};

/** Hidden until the script finds that the browser supports passkeys. */
export const PasskeySignInForm: FC<{ action: string; next: string }> = ({ action, next }) => (
  <form method="post" action={action} data-offers-passkey="" hidden>
    <NextPathField next={next} />
    <button type="submit" class="btn">
      <Icon name="key-round" />
      {appMessages[usePageContext().language].usePasskey}
    </button>
  </form>
);

/** The page script passes `options` to the browser's passkey prompt and puts the response into the form around this component. */
export const PasskeyPrompt: FC<{ how: "get" | "create"; options: object; label: string; children?: Child }> = (prompt) => (
  <div data-passkey={prompt.how} data-options={JSON.stringify(prompt.options)}>
    <p class="error" data-failed="" role="alert" hidden>
      <Icon name="circle-alert" />
      <span>{appMessages[usePageContext().language].passkeyFailed}</span>
    </p>
    {prompt.children}
    <input type="hidden" name="credential" value="" />
    <button type="button" class="btn primary">
      {prompt.label}
    </button>
  </div>
);
