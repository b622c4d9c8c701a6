// The forms of a page, read from its source. No script of the page runs and nothing it names is fetched.
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
  /** Where its text begins and ends in the text of the page. */
  readonly start: number;
  end: number;
}
interface OwnedControl {
  readonly element: Element;
  readonly form: Element | null;
}

// What a page of people never has; a page made to keep us busy is no page with a form.
const maxDepth = 1_000;
const maxElements = 50_000;
const chunkLength = 16_384; // at most some 5,000 tags until the bounds are looked at again
const maxForms = 50;
const maxControls = 200; // of a form; a page of more is an application
const maxTexts = 400; // of a form
const maxTextLength = 20_000; // as a disclosure may be long
const minTextLength = 20;
const maxHintLength = 300;
const maxPathSteps = 6;

/** Their content is no part of the page that a visitor sees, or no label of anything. */
const ignoredElements: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "option", "textarea", "button", "svg"]);
const hidingElements: ReadonlySet<string> = new Set(["template", "noscript"]);
const controlTags: ReadonlySet<string> = new Set(["input", "select", "textarea"]);
const inlineTags: ReadonlySet<string> = new Set(["span", "em", "strong", "b", "i"]);
const textTags: ReadonlySet<string> = new Set(["label", "p", "div", "small", "li", "td", "legend", ...inlineTags]);
/** Inside a table browsers add elements that are not in the source, so that a path would lead elsewhere. */
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

const counted = (counts: Map<string, number>, key: string): number => {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
};

interface FormSource {
  readonly elements: readonly Element[];
  readonly owned: readonly OwnedControl[];
  readonly labels: readonly { readonly element: Element; readonly first: Element | null }[];
  readonly text: string;
}

/** Null past the bounds. */
const parseFormSource = (html: string): FormSource | null => {
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
      const nth = counted(parent?.childCounts ?? topCounts, tag);
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
    if (open.length > maxDepth || elements.length > maxElements) return null;
  }
  parser.end();
  return { elements, owned, labels, text: pieces.join("") };
};

const normalizeText = (text: string, { start, end }: Element, max: number): string =>
  text
    .slice(start, Math.min(end, start + max * 4))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, max);

/** Whether anything around it is off. */
const isDisabled = (element: Element): boolean => {
  if (element.attributes.disabled !== undefined) return true;
  for (let at = element.parent; at !== null; at = at.parent) if (at.tag === "fieldset" && at.attributes.disabled !== undefined) return true;
  return false;
};

/** Selectors that are sure to find one element, of this very page. */
const buildSelectors = ({ elements }: FormSource) => {
  const ids = new Map<string, number>();
  const names = new Map<string, number>();
  for (const { tag, attributes } of elements) {
    if (attributes.id !== undefined) counted(ids, attributes.id);
    if (attributes.name !== undefined) counted(names, `${tag} ${attributes.name}`);
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

const parseForm = (
  source: FormSource,
  { byId, byName, byPath }: ReturnType<typeof buildSelectors>,
  form: Element,
  controls: readonly Element[],
  labelOf: (element: Element) => Element | undefined,
  isOnlyForm: boolean,
): PageForm => {
  const ownNames = new Map<string, number>();
  for (const { tag, attributes } of controls) counted(ownNames, `${tag} ${attributes.name ?? ""}`);
  // A control is looked for among those of its form, so its name needs to be single there only.
  const ownSelector = (element: Element): string | null => {
    const { tag, attributes } = element;
    const ofForm =
      ownNames.get(`${tag} ${attributes.name ?? ""}`) === 1 ? buildAttributeSelector(tag, "name", attributes.name ?? "") : null;
    return byId(element) ?? ofForm ?? byPath(element);
  };
  const controlOf = (element: Element): FormControl => {
    const { attributes } = element;
    const attribute = (name: string): string => (attributes[name] ?? "").slice(0, maxHintLength);
    const label = labelOf(element);
    const labelFor = label?.attributes.for === undefined ? null : buildAttributeSelector("label", "for", label.attributes.for);
    return {
      tag: element.tag as FormControl["tag"],
      type: getControlType(element),
      name: attribute("name"),
      id: attribute("id"),
      autocomplete: attribute("autocomplete"),
      placeholder: attribute("placeholder"),
      ariaLabel: attribute("aria-label"),
      label: label === undefined ? "" : normalizeText(source.text, label, maxTextLength),
      value: attribute("value"),
      isDisabled: isDisabled(element),
      isChecked: attributes.checked !== undefined,
      svcField: attributes["data-svc-field"] ?? null,
      entity: attributes["data-sp1-entity"] ?? null,
      selector: ownSelector(element),
      labelSelector: label === undefined ? null : (byId(label) ?? labelFor ?? byPath(label)),
    };
  };
  const isWithin = (element: Element): boolean => {
    for (let at: Element | null = element; at !== null; at = at.parent) if (at === form) return true;
    return false;
  };
  const texts: FormText[] = [];
  for (const element of source.elements) {
    if (texts.length === maxTexts) break;
    const length = element.end - element.start;
    if (!textTags.has(element.tag) || length < minTextLength || length > maxTextLength || !isWithin(element)) continue;
    const isPart = inlineTags.has(element.tag);
    texts.push({ selector: byId(element) ?? byPath(element), text: normalizeText(source.text, element, maxTextLength), isInline: isPart });
  }
  const action = form.attributes.action ?? "";
  return {
    selector: byId(form) ?? byName(form) ?? (isOnlyForm ? "form" : byPath(form)),
    isSearch: form.attributes.role === "search" || /(?:^|[/?&])search\b/i.test(action.slice(0, maxHintLength)),
    controls: controls.slice(0, maxControls).map(controlOf),
    texts,
  };
};

const parseTags = ({ elements }: FormSource): readonly ScriptTag[] =>
  elements.flatMap(({ tag, attributes: { src, nonce, "data-client-id": clientId } }) =>
    tag === "script" && src !== undefined && clientId !== undefined
      ? [{ src: src.trim(), clientId: clientId.trim(), nonce: nonce ?? null }]
      : [],
  );

/** Forms with their controls, in the order of the page, and the scripts that name a client. A page beyond all bounds has none. */
export const parseFormPage = (html: string): FormPage => {
  const source = parseFormSource(html);
  if (source === null) return { forms: [], scriptTags: [] };
  const forms = source.elements.filter(({ tag }) => tag === "form").slice(0, maxForms);
  const elementById = new Map<string, Element>();
  for (const element of source.elements) {
    const { id } = element.attributes;
    if (id !== undefined && !elementById.has(id)) elementById.set(id, element);
  }
  const ownerOf = ({ element, form }: OwnedControl): Element | null => {
    const named = element.attributes.form;
    return named === undefined ? form : (elementById.get(named) ?? null);
  };
  const controls = Map.groupBy(source.owned, ownerOf);
  const labels = new Map<Element, Element>();
  for (const { element, first } of source.labels) {
    const target = element.attributes.for === undefined ? first : (elementById.get(element.attributes.for) ?? null);
    if (target !== null && !labels.has(target)) labels.set(target, element);
  }
  const selectors = buildSelectors(source);
  return {
    scriptTags: parseTags(source),
    forms: forms.map((form) =>
      parseForm(
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
