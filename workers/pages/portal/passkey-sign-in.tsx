// Signs members in to the portal with a passkey. The script starts the browser's prompt, and a form sends the credential.
import type { Context, Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { NextPathField } from "../shared/form-fields.tsx";
import { createFormHandlerFactory, type FormRequest } from "../shared/form-handlers.ts";
import { completePasskeySignIn, PasskeyPrompt } from "../shared/passkey-sign-in.tsx";
import { parseNextPath } from "./businesses.tsx";
import { messages } from "./components.tsx";
import { renderPortalPage } from "./page.tsx";
import { passkeyPath, pathWithQuery } from "./paths.ts";
import { redirectSignedIn } from "./sign-in.tsx";

const { signIn: signInMessages, account: accountMessages } = messages;
type PasskeyFormRequest = FormRequest<{ readonly next: string }>;

const passkeyAction = createFormHandlerFactory(async (_, form) => ({ next: parseNextPath(form.get("next")) }));

const renderPrompt = async (c: Context<AppEnv>, { next }: PasskeyFormRequest): Promise<Response> => {
  const options = await requestPasskeySignIn(c.var.services, getRelyingParty(c));
  return renderPortalPage(c, {
    title: signInMessages.usePasskey,
    script: "passkey.js",
    content: (
      <div class="confirm stack">
        <div class="card">
          <div class="body stack">
            <h1>{signInMessages.usePasskey}</h1>
            <p class="quiet">{accountMessages.confirmOnDevice}</p>
            <form method="post" action={`${passkeyPath}/answer`} class="form">
              <PasskeyPrompt how="get" options={options} label={signInMessages.usePasskey}>
                <NextPathField next={next} />
              </PasskeyPrompt>
            </form>
            <p>
              <a href={pathWithQuery("/portal/sign-in", { next: next === "/portal" ? null : next })}>{signInMessages.useCode}</a>
            </p>
          </div>
        </div>
      </div>
    ),
  });
};

const handleAnswer = async (c: Context<AppEnv>, { form, next }: PasskeyFormRequest): Promise<Response> => {
  const token = await completePasskeySignIn(c, form, "business");
  return token === null
    ? c.redirect(pathWithQuery("/portal/sign-in", { next: next === "/portal" ? null : next, answer: "passkey" }), 303)
    : redirectSignedIn(c, token, next);
};

export const registerPasskeySignInRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in/passkey", (c) => c.redirect("/portal/sign-in", 303));
  pages.post("/sign-in/passkey", passkeyAction("AUTH_VERIFY_PER_IP", renderPrompt));
  pages.post("/sign-in/passkey/answer", passkeyAction("AUTH_VERIFY_PER_IP", handleAnswer));
};
