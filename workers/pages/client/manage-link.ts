// The reader came by the link from the 201: its token stands behind the `#`, where no server and no log sees it. It is taken
// out of the address bar, put into the form and sent when the reader presses the button, and never before.
const token = /^#m=([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1];
const form = document.querySelector<HTMLFormElement>("#withdraw-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');

if (token !== undefined && form !== null && field !== undefined && field !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = token;
  form.hidden = false;
  form.querySelector<HTMLElement>("h3")?.focus();
}
