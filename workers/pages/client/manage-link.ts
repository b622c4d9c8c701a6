// Withdrawal link (`manage_url`, or the link of an email with a code). Its token is in the fragment, which no server or log sees. The
// script moves it from the address bar into the form; it is sent only when the reader presses the button.
const token = /^#m=([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1];
const form = document.querySelector<HTMLFormElement>("#withdraw-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');

if (token !== undefined && form !== null && field !== undefined && field !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = token;
  form.hidden = false;
  form.querySelector<HTMLElement>("h3")?.focus();
}
