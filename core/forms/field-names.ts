// Guesses which contact field a form control contains, and recognizes the controls that must never be read. The widget, which reads live
// pages, and the integration helper, which reads page source, share this file, so that both recognize the same fields. Comparisons ignore
// case, accents, camelCase and punctuation: "contactLastName", "last-name" and "LAST_NAME" are equal.

/** The properties of a form control that this file reads. Form controls in the DOM match this interface. */
export interface NamedControl {
  readonly type: string;
  readonly id: string;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  matches(selector: string): boolean;
}

/** The API's rule for field keys. The API refuses the whole certificate if one key is invalid or reserved. */
export const fieldKeyPattern = /^(?!(constructor|prototype)$)[a-z][a-z0-9_]{0,39}$/;

const phonePattern = /phone|\btel\b|telefo+n|\bmobil|\bcel(l|ular)\b|\bmovil|\bhandy(n|\b)|contact num/;

// The order matters. "email address" is not a street address, and "company name" is not a person's name. "address city" and "mail city" are
// cities, but "mail address" is an email address. The same table is used for autocomplete tokens (address-level2 is a city, address-level1
// is a state).
const fieldKeyPatterns: [key: string, pattern: RegExp][] = [
  ["email", /email|\be mail|courriel|correo/],
  ["phone", phonePattern],
  ["full_name", /first\b.*\blast|full ?name|nom et|vor(name)? und|nombre y/],
  ["first_name", /\b(first|given|fore|f|vor) ?name|^first$|prenom/],
  ["last_name", /\b(last|family|sur|l|nach) ?name|^last$|apellido|famille/],
  ["zip", /\b(zip|post ?code|postal|plz)/],
  ["city", /\b(city|town|ville|ciudad|stadt|ort|level2)\b/],
  ["country", /\b(country|pays|pais)\b|^land$/],
  ["state", /\b(state|province|region|bundesland|provincia|level1)\b/],
  ["email", /\bmail\b/],
  ["address_line2", /\b(add?r|street)\D*2\b|\bapt\b|apartment|\bsuite\b/],
  ["address_line1", /\b(add?r|street|stra(ss| e)|direccion)(?!.*[3-9]$)/],
  ["company", /\b(company|organi[sz]ation|business|firma|empresa|entreprise)( name)?$/],
  ["full_name", /(^|\b(your|contact|customer|txt|field) ?)name( \d+| required)?$|^nom(bre)?\b/],
];

// Matches hints for a part of a phone number, such as a country code or an extension. Does not match "Phone (with area code)", because that
// field contains the whole number.
const phonePartPattern = /^(?!.*\b(with|incl)).*\b(ext|country|area|local|code|prefix|type|fax|time|zip|plz|postal)/;

const guessableTypePattern = /^(text|email|tel|number|select-one)?$/;

const secretHintPattern =
  /\bpass(w|c|ph|e\b)|\bpwd|\bpin\b|\botp|one ?time|\bcv[vc]|security code|\bcc( |n|exp)|(credit|debit) ?card|card ?(num|no\b|holder)|\bssn|social ?sec|\b(kredit)?karte|\biban|\bcarte [bd]|de (la )?carte|tarjeta|contrasen/;

/**
 * Returns true for controls that are never read, even if the page maps them: hidden, file and disabled controls, and controls that may
 * contain a secret. `isFullNumber` allows a hidden input. Use it for an input that the page maps, and into which a country picker writes
 * the full phone number.
 */
export function isOffLimits(control: NamedControl, hints: string[], isFullNumber?: boolean): boolean {
  // The label of a control named "mobile" may say "we text you a one-time code", which would make the control look like a secret. If the
  // control's own attributes suggest a field, the label is therefore ignored.
  const ownHints = hints.slice(0, 5);
  const relevant = ownHints.some(guessKeyFromHint) ? ownHints : hints;
  return (/^(hidden|file|password)$/.test(control.type) && !isFullNumber) || control.matches(":disabled") || relevant.some(isSecret);
}

/**
 * Returns the guessed key and its rank; a smaller rank is a stronger hint. Free text, checkboxes and dates are recognized only by
 * `autocomplete`.
 */
export function guessFieldKey(control: NamedControl, hints: string[]): [key: string, rank: number] {
  const rank = hints.findIndex(guessKeyFromHint);
  return [rank === 0 || guessableTypePattern.test(control.type || "") ? guessKeyFromHint(hints[rank]) : "", 2 + rank];
}

/**
 * Returns the hints, most reliable first: autocomplete, type, last part of the name (`user[address][city]`), name, ID, label, placeholder,
 * aria-label. The type `tel` has this position only if another hint suggests a phone number. Otherwise it comes last, because some forms
 * use it only to show a number pad, for example for an amount or a card number.
 */
export function collectHints(control: NamedControl, labelText: string | null | undefined): string[] {
  const attribute = (name: string) => control.getAttribute(name) || "";
  const name = attribute("name");
  const lastPart =
    name
      .split(/[[\].$:]+/)
      .filter(Boolean)
      .pop() || "";
  // In "section-x shipping tel webauthn", the field is the last token other than webauthn.
  const token = attribute("autocomplete")
    .replace(/webauthn/i, "")
    .trim()
    .replace(/.*\s/, "");
  const isTel = control.type === "tel";
  const hints = [
    token,
    isTel ? "" : control.type || "", // a custom element may have no type
    lastPart,
    name,
    control.id,
    // The text of a label includes the text of a control inside it, such as the options of a select. That part is removed.
    (labelText || "").replace(control.textContent || "", ""),
    attribute("placeholder"),
    attribute("aria-label"),
  ];
  // Many pages set new-password on ordinary fields to prevent browsers from filling them in, so the token is ignored if another hint
  // suggests a field.
  if (/^new-p/i.test(token) && hints.some(guessKeyFromHint)) hints[0] = "";
  // An input for a ZIP code, a one-time code or part of a phone number, such as an extension, can also have the type `tel`. The type is
  // then not a hint.
  if (isTel && !phonePartPattern.test(normalizeHint([token, name, control.id].join())))
    hints[hints.some((hint) => phonePattern.test(getTitle(hint))) && !hints.some(isSecret) ? 1 : 8] = "tel";
  return hints;
}

/**
 * Returns the part of the hint before any punctuation, such as "Mobile" in "Mobile (we text you a one-time code)". Names and IDs such as
 * "phone.pin" contain no spaces and are therefore not split.
 */
function getTitle(hint: string): string {
  return normalizeHint(hint.split(/\s[-\u2013\u2014]|\(|[:;,.?]\s/)[0]);
}

/**
 * Returns true if the hint says that the control may contain a secret, such as "Mobile banking PIN". If the hint starts by naming a phone
 * or an email address, the rest of the hint is ignored.
 */
function isSecret(hint: string): boolean {
  const title = getTitle(hint);
  const isContact = /email|phone/.test(guessKeyFromHint(title));
  return secretHintPattern.test(isContact ? title : normalizeHint(hint));
}

function guessKeyFromHint(hint?: string): string {
  const text = normalizeHint(hint);
  // Text longer than 60 characters is a sentence ("By giving your phone number you agree..."), not a label. In addition, matching longer
  // text against some of the patterns would take quadratic time.
  const guess = text.length <= 60 && fieldKeyPatterns.find(([, pattern]) => pattern.test(text));
  return !guess || (guess[0] === "phone" && phonePartPattern.test(text)) ? "" : guess[0];
}

function normalizeHint(hint = ""): string {
  return hint
    .replace(/\p{M}+/gu, "") // first, because normalizing a long run of combining marks takes quadratic time
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, " ")
    .trim();
}
