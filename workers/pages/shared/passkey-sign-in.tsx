// Passkeys, wherever a page asks for one: the part of the page that asks the reader's device, and signing in with what it answered.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { parseSignedCredential } from "../../http/passkey-credentials.ts";
import { getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import { signInWithPasskey } from "../../operations/access/sign-in-with-passkey.ts";
import { appMessages } from "../i18n/app.ts";
import { clearPendingSignInEmail } from "./email-code-sign-in.tsx";
import type { FormFields } from "./form-handlers.ts";
import { Icon, usePageContext } from "./components.tsx";

/** False where the answer opens nothing. */
export const completePasskeySignIn = async (c: Context<AppEnv>, form: FormFields): Promise<boolean> => {
  const credential = parseSignedCredential(form.get("credential") ?? "");
  const request = { party: getRelyingParty(c), replaces: getSessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = credential === null ? null : await signInWithPasskey(c.var.services, { ...request, signed: credential });
  clearPendingSignInEmail(c); // whatever was typed before, this was the other way
  if (!signed?.ok) return false;
  setSessionCookie(c, signed.value.token, "consumer");
  return true;
};

/** The page holds what the device is asked; a script hands that over and sends the answer back in the form around this. */
export const PasskeyPrompt: FC<{ how: "get" | "create"; options: object; label: string; children?: Child }> = (asking) => (
  <div data-passkey={asking.how} data-options={JSON.stringify(asking.options)}>
    <p class="field-error" data-failed="" role="alert" hidden>
      <Icon name="warning" />
      <span>{appMessages[usePageContext().language].passkeyFailed}</span>
    </p>
    {asking.children}
    <input type="hidden" name="credential" value="" />
    <button type="button" class="primary">
      {asking.label}
    </button>
  </div>
);
