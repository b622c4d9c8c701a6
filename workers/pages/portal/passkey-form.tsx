// The button that starts signing in to the portal with a passkey.
import type { FC } from "hono/jsx";
import { Icon } from "../shared/components.tsx";
import { NextPathField } from "../shared/form-fields.tsx";
import { messages } from "./components.tsx";

export const passkeyPath = "/portal/sign-in/passkey";

/** Hidden until the script finds that the browser supports passkeys. */
export const PasskeySignInForm: FC<{ next: string }> = ({ next }) => (
  <form method="post" action={passkeyPath} data-offers-passkey="" hidden>
    <NextPathField next={next} />
    <button type="submit" class="btn">
      <Icon name="key-round" />
      {messages.signIn.usePasskey}
    </button>
  </form>
);
