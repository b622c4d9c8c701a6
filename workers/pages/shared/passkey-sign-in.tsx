// Passkeys, wherever a page asks for one: the part of the page that asks the reader's device, and signing in with what it answered.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import { signedIn } from "../../http/passkey-credentials.ts";
import { sessionToken, setSessionCookie } from "../../http/session-guards.ts";
import { signInWithPasskey } from "../../operations/access/passkey-sign-in.ts";
import { appWords } from "./i18n/app.ts";
import { forgetAsked } from "./mailed-sign-in.tsx";
import type { PageForm } from "./own-form.ts";
import { Shape, useSetting } from "./parts.tsx";

/** False where the answer opens nothing. */
export const takePasskey = async (c: Context<Api>, form: PageForm): Promise<boolean> => {
  const credential = signedIn(form.get("credential") ?? "");
  const request = { party: relyingParty(c), replaces: sessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = credential === null ? null : await signInWithPasskey(c.var.services, { ...request, signed: credential });
  forgetAsked(c); // whatever was typed before, this was the other way
  if (!signed?.ok) return false;
  setSessionCookie(c, signed.value.token, "consumer");
  return true;
};

/** The page holds what the device is asked; a script hands that over and sends the answer back in the form around this. */
export const DeviceAsked: FC<{ how: "get" | "create"; options: object; label: string; children?: Child }> = (asking) => (
  <div data-passkey={asking.how} data-options={JSON.stringify(asking.options)}>
    <p class="field-error" data-failed="" role="alert" hidden>
      <Shape name="warning" />
      <span>{appWords[useSetting().language].passkeyFailed}</span>
    </p>
    {asking.children}
    <input type="hidden" name="credential" value="" />
    <button type="button" class="primary">
      {asking.label}
    </button>
  </div>
);
