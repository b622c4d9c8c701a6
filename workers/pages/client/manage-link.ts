// Handles a withdrawal link (`manage_url`, or the link in an email with a code). Its token is in the fragment, which is never sent to a
// server or logged. The script moves it from the address bar into the form; it is sent only when the reader presses the button.
const token = /^#m=([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1];
const form = document.querySelector<HTMLFormElement>("#withdraw-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');

if (token !== undefined && form !== null && field !== undefined && field !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = token;
  form.hidden = false;
  form.querySelector<HTMLElement>("h3")?.focus();
}
