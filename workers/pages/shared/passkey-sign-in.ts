// Signing in with what a device answered, wherever a page asked it.
import type { Context } from "hono";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import { signedIn } from "../../http/passkey-credentials.ts";
import { sessionToken, setSessionCookie } from "../../http/session-guards.ts";
import { signInWithPasskey } from "../../operations/access/passkey-sign-in.ts";
import { forgetAsked } from "./mailed-sign-in.tsx";
import type { PageForm } from "./own-form.ts";

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
