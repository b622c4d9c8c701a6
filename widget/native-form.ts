// A form's own methods and getters, taken from the prototype.
// An input named "submit", "elements" or "matches" shadows the form's property of that name, so `form.elements`
// may be a text box; the prototype's getter always answers.

const formPrototype = HTMLFormElement.prototype;

type FormMethod = {
  [K in keyof HTMLFormElement]: HTMLFormElement[K] extends (...args: never[]) => unknown ? K : never;
}[keyof HTMLFormElement];

export function callForm<K extends FormMethod>(
  form: HTMLFormElement,
  method: K,
  ...args: Parameters<HTMLFormElement[K]>
): ReturnType<HTMLFormElement[K]> {
  return Reflect.apply(formPrototype[method], form, args);
}

/** Every listed control of the form, those tied by `form=` from elsewhere on the page included. */
export function getControls(form: HTMLFormElement): HTMLInputElement[] {
  // Selects, textareas, buttons and fieldsets are in here too; each reader asks `type` before anything else.
  const controls: Iterable<Element> = Reflect.get(formPrototype, "elements", form);
  return [...controls] as HTMLInputElement[];
}

export function queryPage<E extends Element = HTMLInputElement>(selector: string): E[] {
  return [...document.querySelectorAll<E>(selector)];
}

/** Those of the elements that belong to this form and no other. */
export function filterByForm(form: HTMLFormElement, elements: HTMLInputElement[]): HTMLInputElement[] {
  return elements.filter((element) =>
    // A <div role="checkbox"> has no form property, and that of a component may be anything: those belong to the form around them.
    typeof element.form === "object" ? element.form === form : callForm(form, "contains", element),
  );
}
