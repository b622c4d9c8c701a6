// The reader came by the link of a mail: its token stands behind the `#`, where no server and no log sees it. It is taken out of the
// address bar, put into the form and sent when the reader presses the button, and never before.
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

export {}; // a file of its own, with names of its own
