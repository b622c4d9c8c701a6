// Handles an emailed link that revokes a share. The script moves the link's token from the address bar into the form. The token is sent
// only when the person clicks the button.
import { takeLinkToken } from "./links/link-token.ts";

const form = document.querySelector<HTMLFormElement>("#stop-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');
const brokenLinkMessage = document.querySelector<HTMLElement>("#stop-broken");

if (form?.hidden && field !== undefined && field !== null && brokenLinkMessage !== null) {
  const token = takeLinkToken("t");
  if (token === undefined) brokenLinkMessage.hidden = false;
  else {
    field.value = token;
    form.hidden = false;
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".langs a")) link.hash = `t=${token}`;
  }
}
