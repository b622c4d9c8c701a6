// Handles an emailed link that revokes a share.
import { openLinkForm } from "./links/link-form.ts";

const form = document.querySelector<HTMLFormElement>("#stop-link");
const brokenLinkMessage = document.querySelector<HTMLElement>("#stop-broken");

if (form?.hidden && brokenLinkMessage !== null) brokenLinkMessage.hidden = openLinkForm(form, "t");
