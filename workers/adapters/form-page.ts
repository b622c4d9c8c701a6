// Parses the forms on a page from the HTML source, without running scripts or fetching linked resources.
import { cutText } from "../../core/cut-text.ts";
import { Parser } from "htmlparser2";
import type { FormControl, FormPage, FormText, PageForm, ScriptTag } from "../../core/forms/form-page.ts";
import { buildAttributeSelector, buildIdSelector, buildNthSelector } from "../../core/forms/selectors.ts";

type Attributes = Readonly<Record<string, string>>;

interface Element {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly parent: Element | null;
  readonly nth: number;
  readonly childCounts: Map<string, number>;
  /** The start and end of the element's text within the page text. */
  readonly start: number;
  end: number;
}
interface OwnedControl {
  readonly element: Element;
  readonly form: Element | null;
}

// These limits are far above what real pages need. They protect the parser from hostile pages.
const maxDepth = 1_000;
const maxElements = 50_000;
const chunkLength = 16_384; // a chunk has at most about 5,000 tags, and the limits are checked after each chunk
const maxForms = 50;
const maxControls = 200; // the limit for one form
const maxTexts = 400; // the limit for one form
const maxTextLength = 20_000; // a longer text is not suggested as the disclosure
const minTextLength = 20;
const maxHintLength = 300;
const maxPathSteps = 6;
/**
 * The maximum number of steps for one page. A step is an element visited, an ancestor examined, or a character of text read. Without this
 * limit, a page that reaches several of the limits above could still cause far too much work. Pages of real businesses need a tenth of
 * these steps. Three million steps take a fraction of a second.
 */
const maxSteps = 3_000_000;

class TooMuchWork extends Error {}

/** Counts steps, and throws TooMuchWork above `maxSteps`. A time limit would make the result depend on the speed of the machine. */
type CountSteps = (steps: number) => void;
const createStepCounter = (): CountSteps => {
  let left = maxSteps;
  return (steps) => {
    left -= steps;
    if (left < 0) throw new TooMuchWork();
  };
};

/** Elements whose text visitors do not see, or whose text does not label a control. */
const ignoredElements: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "option", "textarea", "button", "svg"]);
const hidingElements: ReadonlySet<string> = new Set(["template", "noscript"]);
const controlTags: ReadonlySet<string> = new Set(["input", "select", "textarea"]);
const inlineTags: ReadonlySet<string> = new Set(["span", "em", "strong", "b", "i"]);
const textTags: ReadonlySet<string> = new Set(["label", "p", "div", "small", "li", "td", "legend", ...inlineTags]);
/** Browsers add table elements that the source omits. A path through a table could therefore select the wrong element. */
const tableTags: ReadonlySet<string> = new Set(["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"]);
const inputTypes: ReadonlySet<string> = new Set([
  ...["checkbox", "color", "date", "datetime-local", "email", "file", "hidden", "month", "number", "password", "radio"],
  ...["range", "search", "tel", "text", "time", "url", "week"],
]);
const buttonTypes: ReadonlySet<string> = new Set(["submit", "button", "image", "reset"]);

const getControlType = ({ tag, attributes }: Element): string => {
  if (tag === "textarea") return "textarea";
  if (tag === "select") return attributes.multiple === undefined ? "select-one" : "select-multiple";
  const type = (attributes.type ?? "text").trim().toLowerCase();
  return inputTypes.has(type) ? type : "text";
};

const isButton = ({ tag, attributes }: Element): boolean =>
  tag === "input" && buttonTypes.has((attributes.type ?? "").trim().toLowerCase());

const increment = (counts: Map<string, number>, key: string): number => {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
};

interface FormSource {
  readonly countSteps: CountSteps;
  readonly elements: readonly Element[];
  readonly owned: readonly OwnedControl[];
  readonly labels: readonly { readonly element: Element; readonly first: Element | null }[];
  readonly text: string;
}

/** Parses the page. Throws TooMuchWork if the page exceeds the limits. */
const parseFormSource = (html: string): FormSource => {
  const countSteps = createStepCounter();
  const elements: Element[] = [];
  const owned: OwnedControl[] = [];
  const labels: { element: Element; first: Element | null }[] = [];
  const open: Element[] = [];
  const openForms: Element[] = [];
  const openLabels: { element: Element; first: Element | null }[] = [];
  const pieces: string[] = [];
  const topCounts = new Map<string, number>();
  let length = 0;
  let unread = 0;
  let hidden = 0;

  const parser = new Parser({
    onopentag: (tag, attributes) => {
      const parent = open.at(-1) ?? null;
      const nth = increment(parent?.childCounts ?? topCounts, tag);
      const element: Element = { tag, attributes, parent, nth, childCounts: new Map(), start: length, end: length };
      open.push(element);
      if (ignoredElements.has(tag)) unread += 1;
      if (hidingElements.has(tag)) hidden += 1;
      if (hidden > 0) return;
      elements.push(element);
      if (tag === "form") openForms.push(element);
      if (tag === "label") {
        const label = { element, first: null };
        openLabels.push(label);
        labels.push(label);
      }
      if (!controlTags.has(tag) || isButton(element)) return;
      owned.push({ element, form: openForms.at(-1) ?? null });
      countSteps(openLabels.length);
      for (const label of openLabels) if (label.first === null && getControlType(element) !== "hidden") label.first = element;
    },
    ontext: (text) => {
      if (unread > 0) return;
      pieces.push(text);
      length += text.length;
    },
    onclosetag: (tag) => {
      const element = open.pop();
      if (element !== undefined) element.end = length;
      if (ignoredElements.has(tag)) unread -= 1;
      if (hidingElements.has(tag)) hidden -= 1;
      if (openForms.at(-1) === element) openForms.pop();
      if (openLabels.at(-1)?.element === element) openLabels.pop();
    },
  });
  for (let at = 0; at < html.length; at += chunkLength) {
    parser.write(html.slice(at, at + chunkLength));
    if (open.length > maxDepth || elements.length > maxElements) throw new TooMuchWork();
  }
  parser.end();
  return { countSteps, elements, owned, labels, text: pieces.join("") };
};

const normalizeText = ({ countSteps, text }: FormSource, { start, end }: Element, max: number): string => {
  const last = Math.min(end, start + max * 4);
  countSteps(last - start);
  return cutText(text.slice(start, last).replace(/\s+/g, " ").trim(), max);
};

/** Returns true if the element or a surrounding fieldset is disabled. */
const isDisabled = ({ countSteps }: FormSource, element: Element): boolean => {
  if (element.attributes.disabled !== undefined) return true;
  for (let at = element.parent; at !== null; at = at.parent, countSteps(1))
    if (at.tag === "fieldset" && at.attributes.disabled !== undefined) return true;
  return false;
};

/** Returns functions that build a selector for an element. They return null if they cannot build one that matches only this element. */
const buildSelectors = ({ elements }: FormSource) => {
  const ids = new Map<string, number>();
  const names = new Map<string, number>();
  for (const { tag, attributes } of elements) {
    if (attributes.id !== undefined) increment(ids, attributes.id);
    if (attributes.name !== undefined) increment(names, `${tag} ${attributes.name}`);
  }
  const byId = ({ attributes: { id = "" } }: Element): string | null => (ids.get(id) === 1 ? buildIdSelector(id) : null);
  const byName = ({ tag, attributes: { name = "" } }: Element): string | null =>
    names.get(`${tag} ${name}`) === 1 ? buildAttributeSelector(tag, "name", name) : null;
  const byPath = (element: Element): string | null => {
    const steps: string[] = [];
    for (let at: Element | null = element; at !== null; at = at.parent) {
      const known = at === element ? null : (byId(at) ?? (at.tag === "form" ? byName(at) : null) ?? (at.tag === "body" ? "body" : null));
      if (known !== null) return [known, ...steps].join(" > ");
      if (tableTags.has(at.tag) || !/^[a-z][a-z0-9-]*$/.test(at.tag) || steps.length === maxPathSteps) return null;
      steps.unshift(buildNthSelector(at.tag, at.nth));
    }
    return null;
  };
  return { byId, byName, byPath };
};

const toPageForm = (
  source: FormSource,
  { byId, byName, byPath }: ReturnType<typeof buildSelectors>,
  form: Element,
  controls: readonly Element[],
  findLabel: (element: Element) => Element | undefined,
  isOnlyForm: boolean,
): PageForm => {
  const ownNames = new Map<string, number>();
  for (const { tag, attributes } of controls) increment(ownNames, `${tag} ${attributes.name ?? ""}`);
  // Builds a control's selector within its form. A control's name only needs to be unique within the form.
  const selectControl = (element: Element): string | null => {
    const { tag, attributes } = element;
    const byOwnName =
      ownNames.get(`${tag} ${attributes.name ?? ""}`) === 1 ? buildAttributeSelector(tag, "name", attributes.name ?? "") : null;
    return byId(element) ?? byOwnName ?? byPath(element);
  };
  const toControl = (element: Element): FormControl => {
    const { attributes } = element;
    const attribute = (name: string): string => cutText(attributes[name] ?? "", maxHintLength);
    const label = findLabel(element);
    const labelFor = label?.attributes.for === undefined ? null : buildAttributeSelector("label", "for", label.attributes.for);
    return {
      tag: element.tag as FormControl["tag"],
      type: getControlType(element),
      name: attribute("name"),
      id: attribute("id"),
      autocomplete: attribute("autocomplete"),
      placeholder: attribute("placeholder"),
      ariaLabel: attribute("aria-label"),
      label: label === undefined ? "" : normalizeText(source, label, maxTextLength),
      value: attribute("value"),
      isDisabled: isDisabled(source, element),
      isChecked: attributes.checked !== undefined,
      svcField: attributes["data-svc-field"] ?? null,
      entity: attributes["data-sp1-entity"] ?? null,
      selector: selectControl(element),
      labelSelector: label === undefined ? null : (byId(label) ?? labelFor ?? byPath(label)),
    };
  };
  const isWithin = (element: Element): boolean => {
    for (let at: Element | null = element; at !== null; at = at.parent, source.countSteps(1)) if (at === form) return true;
    return false;
  };
  const texts: FormText[] = [];
  source.countSteps(source.elements.length);
  for (const element of source.elements) {
    if (texts.length === maxTexts) break;
    const length = element.end - element.start;
    if (!textTags.has(element.tag) || length < minTextLength || length > maxTextLength || !isWithin(element)) continue;
    const isInline = inlineTags.has(element.tag);
    texts.push({ selector: byId(element) ?? byPath(element), text: normalizeText(source, element, maxTextLength), isInline });
  }
  const action = form.attributes.action ?? "";
  return {
    selector: byId(form) ?? byName(form) ?? (isOnlyForm ? "form" : byPath(form)),
    isSearch: form.attributes.role === "search" || /(?:^|[/?&])search\b/i.test(action.slice(0, maxHintLength)),
    controls: controls.slice(0, maxControls).map(toControl),
    texts,
  };
};

const parseTags = ({ elements }: FormSource): readonly ScriptTag[] =>
  elements.flatMap(({ tag, attributes: { src, nonce, "data-client-id": clientId } }) =>
    tag === "script" && src !== undefined && clientId !== undefined
      ? [{ src: src.trim(), clientId: clientId.trim(), nonce: nonce ?? null }]
      : [],
  );

const mapSource = (source: FormSource): FormPage => {
  const forms = source.elements.filter(({ tag }) => tag === "form").slice(0, maxForms);
  const elementById = new Map<string, Element>();
  for (const element of source.elements) {
    const { id } = element.attributes;
    if (id !== undefined && !elementById.has(id)) elementById.set(id, element);
  }
  const findForm = ({ element, form }: OwnedControl): Element | null => {
    const formId = element.attributes.form;
    return formId === undefined ? form : (elementById.get(formId) ?? null);
  };
  const controls = Map.groupBy(source.owned, findForm);
  const labels = new Map<Element, Element>();
  for (const { element, first } of source.labels) {
    const target = element.attributes.for === undefined ? first : (elementById.get(element.attributes.for) ?? null);
    if (target !== null && !labels.has(target)) labels.set(target, element);
  }
  const selectors = buildSelectors(source);
  return {
    isTooComplex: false,
    scriptTags: parseTags(source),
    forms: forms.map((form) =>
      toPageForm(
        source,
        selectors,
        form,
        (controls.get(form) ?? []).map(({ element }) => element),
        (element) => labels.get(element),
        forms.length === 1,
      ),
    ),
  };
};

/**
 * Returns the forms with their controls in page order, and the script tags that have a client ID. If the page exceeds the limits, returns
 * no forms and `isTooComplex: true`.
 */
export const parseFormPage = (html: string): FormPage => {
  try {
    return mapSource(parseFormSource(html));
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return { isTooComplex: true, forms: [], scriptTags: [] };
  }
};
