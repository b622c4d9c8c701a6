// The step at which a device is asked: the page holds what it is asked, the script hands that over and sends back what it answered.
import { appWords } from "../shared/i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { DeviceAsked } from "../shared/device-asked.tsx";
import type { Setting } from "../shared/parts.tsx";
import { appPage, PostForm, type AppView } from "./parts.tsx";

export const passkeyStep = (setting: Setting, { next, options }: { readonly next: string; readonly options: object }): Page => {
  const words = appWords[setting.language];
  return {
    title: `${words.passkeyWaiting} · svc`,
    script: "passkey.js",
    content: (
      <article class="step">
        <div>
          <h1>{words.passkeyWaiting}</h1>
          <p>{words.passkeyWaitingAdvice}</p>
        </div>
        <form method="post" action="/app/passkey/answer" class="form">
          <DeviceAsked how="get" options={options} label={words.usePasskey} setting={setting}>
            <input type="hidden" name="next" value={next} />
          </DeviceAsked>
        </form>
        <p class="leave">
          <a href={next}>{words.signIn}</a>
        </p>
      </article>
    ),
  };
};

export const newPasskeyPage = (view: AppView, options: object): Page => {
  const { words, setting } = view;
  return {
    ...appPage(
      view,
      "account",
      words.addPasskey,
      <>
        <h1>{words.passkeyWaiting}</h1>
        <p>{words.passkeyWaitingAdvice}</p>
        <PostForm view={view} action="/app/account/passkeys">
          <DeviceAsked how="create" options={options} label={words.addPasskey} setting={setting} />
        </PostForm>
        <p>
          <a href="/app/account">{words.notNow}</a>
        </p>
      </>,
    ),
    script: "passkey.js",
  };
};
