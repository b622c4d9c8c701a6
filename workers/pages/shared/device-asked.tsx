// The part of a page that asks the reader's device for a passkey: the page holds what the device is asked, a script hands that over and
// sends the answer back in the form around it.
import type { Child, FC } from "hono/jsx";
import { appWords } from "./i18n/app.ts";
import { Shape, type Setting } from "./parts.tsx";

export const DeviceAsked: FC<{ how: "get" | "create"; options: object; label: string; setting: Setting; children?: Child }> = (asking) => {
  const words = appWords[asking.setting.language];
  return (
    <div data-passkey={asking.how} data-options={JSON.stringify(asking.options)}>
      <p class="field-error" data-failed="" role="alert" hidden>
        <Shape name="warning" />
        <span>{words.passkeyFailed}</span>
      </p>
      {asking.children}
      <input type="hidden" name="credential" value="" />
      <button type="button" class="primary">
        {asking.label}
      </button>
    </div>
  );
};
