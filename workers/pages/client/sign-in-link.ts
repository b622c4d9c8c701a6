// Handles the link in a sign-in email. The script moves the link's token from the address bar into the form. The token is sent only when
// the person clicks the button. Without a token, the page asks for the code.
import { takeLinkToken } from "./links/link-token.ts";

const form = document.querySelector<HTMLFormElement>("#sign-in-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');
const code = document.querySelector<HTMLElement>("#sign-in-code");

if (form !== null && field !== undefined && field !== null && code !== null) {
  const token = takeLinkToken("s");
  if (token !== undefined) {
    field.value = token;
    form.hidden = false;
    code.hidden = true;
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".langs a")) link.hash = `s=${token}`;
  }
}
