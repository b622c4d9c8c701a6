// Moves the token of an emailed link from the address bar into a form. The token is sent only when the person clicks the button. It is
// normally in the fragment, which is never sent to a server or logged. Some mail gateways encode the fragment, move it into the query,
// break the line inside the token, or leave parts of an email encoding in it.

const decodeAll = (text: string): string => {
  try {
    const decoded = decodeURIComponent(text);
    return decoded === text ? text : decodeAll(decoded);
  } catch {
    return text;
  }
};

/**
 * Returns the 43-character token in the parameter `name` of the fragment or the query. Then removes everything except the path and the
 * language from the address bar. Returns undefined if there is no token.
 */
const takeLinkToken = (name: string): string | undefined => {
  const text = decodeAll(location.search + location.hash).replace(/\s+/g, "");
  // "=3D" is how quoted-printable, the usual encoding of long lines in emails, writes an equals sign.
  const [, token] = new RegExp(`[#?&]${name}=(?:3D)?([A-Za-z0-9_-]{43})(?![A-Za-z0-9_-])`).exec(text) ?? [];
  if (token === undefined) return undefined;
  const query = new URLSearchParams(location.search);
  const language = /^[A-Za-z-]+/.exec(query.get("lang") ?? "")?.[0];
  history.replaceState(null, "", location.pathname + (language === undefined ? "" : `?lang=${language}`));
  return token;
};

/** Fills the form with the token and shows it. Also adds the token to the links to other languages. Returns false if there is no token. */
export const openLinkForm = (form: HTMLFormElement, name: string): boolean => {
  const field = form.querySelector<HTMLInputElement>('input[name="token"]');
  const token = field === null ? undefined : takeLinkToken(name);
  if (field === null || token === undefined) return false;
  field.value = token;
  form.hidden = false;
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".langs a")) link.hash = `${name}=${token}`;
  return true;
};
