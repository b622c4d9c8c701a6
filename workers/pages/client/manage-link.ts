// Handles a withdrawal link (`manage_url`, or the link in the email that contains the withdrawal code).
import { openLinkForm } from "./links/link-form.ts";

const form = document.querySelector<HTMLFormElement>("#withdraw-link");

if (form !== null && openLinkForm(form, "m")) {
  for (const other of document.querySelectorAll("#withdrawal form:not(#withdraw-link) .primary")) other.classList.remove("primary");
  form.querySelector<HTMLElement>("h3")?.focus();
}
