// Handles the link in a sign-in email. Without a token, the page asks for the code.
import { openLinkForm } from "./links/link-form.ts";

const form = document.querySelector<HTMLFormElement>("#sign-in-link");
const code = document.querySelector<HTMLElement>("#sign-in-code");

if (form !== null && code !== null) code.hidden = openLinkForm(form, "s");
