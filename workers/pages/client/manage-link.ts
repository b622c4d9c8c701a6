// Handles a withdrawal link (`manage_url`, or the link in the email that contains the withdrawal code). The script moves the link's token
// from the address bar into the form. The token is sent only when the person clicks the button.
import { takeLinkToken } from "./links/link-token.ts";

const form = document.querySelector<HTMLFormElement>("#withdraw-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');

if (form !== null && field !== undefined && field !== null) {
  const token = takeLinkToken("m");
  if (token !== undefined) {
    field.value = token;
    form.hidden = false;
    for (const other of document.querySelectorAll("#withdrawal form:not(#withdraw-link) .primary")) other.classList.remove("primary");
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".langs a")) link.hash = `m=${token}`;
    form.querySelector<HTMLElement>("h3")?.focus();
  }
}
