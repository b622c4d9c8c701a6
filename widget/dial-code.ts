// Adds the country code to phone numbers that were typed next to a country picker. The picker shows the country code, so visitors do not
// type it. Without the code, the number would be treated as a number in the business's country, where it can belong to a different person.

/**
 * The number of ancestors of the control that are searched for a picker. A picker is usually within two levels, and form builders add one
 * or two.
 */
const maxLevels = 4;

// Matches only elements that can show the selected country, not the entries in the list of all countries.
const pickerSelector = "select,input,button,[class*=selected],[class*=selection],[class*=dial],[class*=-code],[aria-selected=true]";
/** Matches names of controls whose value is a dial code, even if it is only digits. */
const codeNamePattern = /dial|prefix|(country|calling|phone|tel).?code/i;
/**
 * Matches names of controls whose value can be a dial code or something else. In a list of countries, for example, digits can be database
 * IDs.
 */
const pickerNamePattern = /\biti|\bvti|flag|country/i;
const dialCodePattern = /(?:\+|^00) ?(\d[\d -]{0,5})/;
/**
 * Matches the dial code in an element whose name does not suggest a picker. The code must be at the end of the text, so "+1 guest" does not
 * match.
 */
const onlyDialCodePattern = /^[^+]*\+ ?(\d[\d -]{0,5})\)?$/;

/** Matches a phone number of at least five digits, in any script, that has no country code. Plus signs and zeros can also be full-width. */
const numberPattern = /^(?!\(?(\p{Sm}|[0\uff10]{2}))(\P{Nd}*\p{Nd}){5}/u;

/**
 * Returns the number with the dial code of the picker next to its control. Returns the number as typed if it already has a country code, is
 * not a phone number, or has no picker. `others` are the form's other controls for contact details. The search for a picker stops at an
 * element that contains one of them.
 */
export function addDialCode(control: HTMLInputElement, number: string, others: { control: Element }[]): string {
  if (!numberPattern.test(number)) return number;
  const hasOther = (element: Element) => others.some((other) => other.control !== control && element.contains(other.control));
  let place: Element = control;
  for (let level = 0; level < maxLevels && place.parentElement; level += 1) {
    const box: Element = place.parentElement;
    const isShared = hasOther(box);
    let code = isShared ? "" : findDialCode(box, control);
    // In a form without nested elements, the picker is an earlier sibling of the number. There may be a label between the two.
    for (let before = place.previousElementSibling; isShared && !code && before && !hasOther(before); ) {
      code = (before.matches(pickerSelector) && readDialCode(before as Part)) || findDialCode(before, control);
      before = before.previousElementSibling;
    }
    if (code) return `+${code} ${number}`;
    if (isShared) break;
    place = box;
  }
  return number;
}

type Part = HTMLInputElement & HTMLSelectElement & { parentElement: Element };

function findDialCode(box: Element, control: Element): string {
  for (const part of box.querySelectorAll<Part>(pickerSelector)) {
    const code = part !== control && readDialCode(part);
    if (code) return code;
  }
  return "";
}

function readDialCode(part: Part): string {
  const { className, id, name = "", parentElement, selectedOptions } = part;
  // An input whose name does not suggest a dial code may hold a secret, so it is not read.
  if (part.matches("input") && (!codeNamePattern.test(name + id) || /hidden|password/.test(part.type))) return "";
  if (part.closest("li:not([aria-selected=true])")) return "";
  const names = [name, id, className, parentElement.className].join();
  const hasCode = codeNamePattern.test(names);
  let value = String(part.value || "");
  if (hasCode) value = value.replace(/^[1-9]\d{0,3}$/, "+$&");
  const [option] = selectedOptions || [];
  // If there is no data-dial-code attribute, the last text is "+undefined", in which no code is found.
  const texts = option ? [value, option.text] : [value, part.title, part.getAttribute("aria-label"), `+${part.dataset.dialCode}`];
  // Text of 60 characters or more is the text of a whole list or panel.
  if (!option && (part.textContent || "").length < 60) texts.push(part.textContent);
  for (const text of texts) {
    const found = (hasCode || pickerNamePattern.test(names) ? dialCodePattern : onlyDialCodePattern).exec((text || "").trim());
    if (found) return (found[1] as string).replace(/\D/g, "");
  }
  return "";
}
