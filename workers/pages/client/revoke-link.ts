// Handles an emailed link that revokes a share. Its token is in the fragment, which is never sent to a server or logged. The script
// moves it from the address bar into the form; it is sent only when the reader presses the button.
const token = /^#t=([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1];
const form = document.querySelector<HTMLFormElement>("#stop-link");
const field = form?.querySelector<HTMLInputElement>('input[name="token"]');
const brokenLinkMessage = document.querySelector<HTMLElement>("#stop-broken");

if (form?.hidden && field !== undefined && field !== null && brokenLinkMessage !== null) {
  if (token === undefined) brokenLinkMessage.hidden = false;
  else {
    history.replaceState(null, "", location.pathname + location.search);
    field.value = token;
    form.hidden = false;
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".languages a")) link.hash = `t=${token}`;
  }
}

export {}; // makes this file a module, so its names do not clash with those of other scripts
