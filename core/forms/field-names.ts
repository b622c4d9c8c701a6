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

const phonePattern = /phone|\b(?:tel|cell)\b|telefon|\bmo[bv]il|contact num/;

// The order matters: "email address" is not a street address, "company name" is not a person's name, "address city" is a city. The same
// table is used for autocomplete tokens (address-level2 is a city, address-level1 is a state).
const fieldKeyPatterns: [key: string, pattern: RegExp][] = [
  ["email", /email|\be mail|courriel|correo|\bmail$/],
  ["phone", phonePattern],
  ["full_name", /first\b.*\blast|full ?name|nom et/],
  ["first_name", /\b(first|given|fore|f|vor) ?name|^first$|prenom/],
  ["last_name", /\b(last|family|sur|l|nach) ?name|^last$|apellido|famille/],
  ["zip", /\b(zip|post ?code|postal|plz)/],
  ["city", /\b(city|town|ville|ciudad|stadt|ort|level2)\b/],
  ["country", /\b(country|pays|pais)\b|^land$/],
  ["state", /\b(state|province|region|bundesland|provincia|level1)\b/],
  ["address_line2", /\b(add?r|street)\D*2\b|\b(apt|suite)\b|apartment/],
  ["address_line1", /\b(add?r|street|stra(ss| e)|direccion)(?!.*[3-9]$)/],
  ["company", /\b(company|organi[sz]ation|business|firma|empresa|entreprise)( name)?$/],
  ["full_name", /(^|\b(your|contact|customer|txt|field) ?)name( \d+| required)?$|^nom(bre)?\b/],
];

// Matches hints for a part of a phone number, such as a country code or an extension, and for an amount or a date. Does not match "Phone
// (with area code)", because that field contains the whole number.
const notPhonePattern = /^(?!.*\b(with|incl)).*\b(ext|country|area|local|code|prefix|type|fax|time|amount|birth|dob)/;

const guessableTypePattern = /^(text|email|tel|number|select one)?$/;

const secretHintPattern =
  /\b(pass(w|code|phrase)|pwd|(pin|otp|carte)\b|cv[vc]|cc( |num|name|exp)|ssn)|one ?time|security code|(credit|debit) ?card|card ?(num|no\b|holder)|kartennum|tarjeta|social ?sec/;

/**
 * Returns true for controls that are never read, even if mapped: hidden, file and disabled controls, and controls that may contain a
 * secret. With `isFullNumber`, a hidden input is allowed. Use it for an input that the page maps and into which a country picker writes the
 * full phone number.
 */
export function isOffLimits(control: NamedControl, hints: string[], isFullNumber?: boolean): boolean {
  // The label of a control named "mobile" may say "we text you a one-time code", which would make the control look like a secret. If the
  // control's own attributes suggest a field, the label is therefore ignored.
  const ownHints = hints.slice(0, 5);
  const relevant = ownHints.some((hint) => guessKeyFromHint(hint)) ? ownHints : hints;
  return (
    (/hidden|file|password/.test(control.type) && !isFullNumber) ||
    control.matches(":disabled") ||
    relevant.some((hint) => secretHintPattern.test(hint))
  );
}

/**
 * Returns the guessed key and its rank; a smaller rank is a stronger hint. Free text, checkboxes and dates are recognized only by
 * `autocomplete`.
 */
export function guessFieldKey(hints: string[]): [key: string, rank: number] {
  const rank = hints.findIndex((hint) => guessKeyFromHint(hint));
  return [rank === 0 || guessableTypePattern.test(hints[1] as string) ? guessKeyFromHint(hints[rank]) : "", 2 + rank];
}

/** The rank of a control of type `tel` if no other hint suggests a field. */
export const weakestRank = 10;

/**
 * Returns the hints, most reliable first: autocomplete, type, last part of the name (`user[address][city]`), name, ID, label, placeholder,
 * aria-label. Some forms use the type `tel` only to show a number pad, for example for an amount or a card number. It is therefore the
 * weakest hint, unless another hint names a phone.
 */
export function collectHints(control: NamedControl, labelText: string | null | undefined): string[] {
  const attribute = (name: string) => control.getAttribute(name) || "";
  const name = attribute("name");
  const lastPart = name.replace(/[[\].$:]+$/, "").replace(/.*[[\].$:]/, "");
  // In "section-x shipping tel webauthn", the field is the last token other than webauthn.
  const token = attribute("autocomplete")
    .replace(/webauthn/i, "")
    .trim()
    .replace(/.*\s/, "");
  const isTel = control.type === "tel";
  const hints = [
    token,
    isTel ? "" : control.type,
    lastPart,
    name,
    control.id,
    // The text of a label includes the text of a control inside it, such as the options of a select. That part is removed.
    (labelText || "").replace(control.textContent || "", ""),
    attribute("placeholder"),
    attribute("aria-label"),
  ].map(normalizeHint);
  if (isTel && !notPhonePattern.test(hints.slice(0, 5).join())) hints[hints.some(namesPhone) ? 1 : 8] = "tel";
  return hints;
}

/**
 * Returns whether the hint names a phone before anything else. "Phone (never your SSN)" does. "Mobile OTP", whose secret follows the phone
 * directly, and "One-time code sent to your phone" don't.
 */
function namesPhone(hint: string): boolean {
  const [beforeSecret] = hint.split(secretHintPattern) as [string];
  const text = beforeSecret.replace(/\S+ $/, "");
  const [before] = text.split(phonePattern) as [string];
  return before !== text && !notPhonePattern.test(before);
}

function guessKeyFromHint(text = ""): string {
  // Text longer than 60 characters is a sentence ("By giving your phone number you agree..."), not a label. Some patterns would also need
  // quadratic time for it.
  const guess = text.length <= 60 && fieldKeyPatterns.find(([, pattern]) => pattern.test(text));
  return !guess || (guess[0] === "phone" && notPhonePattern.test(text)) ? "" : guess[0];
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
