// Calls form methods and getters through HTMLFormElement.prototype, because an input named "submit", "elements" or "matches" would shadow
// the form's own property.

export const formPrototype = HTMLFormElement.prototype;

type FormMethod = {
  [K in keyof HTMLFormElement]: HTMLFormElement[K] extends (...args: never[]) => unknown ? K : never;
}[keyof HTMLFormElement];

export function callForm<K extends FormMethod>(
  form: HTMLFormElement,
  method: K,
  ...args: Parameters<HTMLFormElement[K]>
): ReturnType<HTMLFormElement[K]> {
  return (formPrototype[method] as (...args: Parameters<HTMLFormElement[K]>) => ReturnType<HTMLFormElement[K]>).call(form, ...args);
}

/** Returns all listed controls of the form, including controls elsewhere on the page that refer to it with the `form` attribute. */
export function getControls(form: HTMLFormElement): HTMLInputElement[] {
  // Despite its type, the list also contains selects, textareas, buttons and fieldsets.
  const controls: Iterable<Element> = Reflect.get(formPrototype, "elements", form);
  return [...controls] as HTMLInputElement[];
}

export function queryPage<E extends Element = HTMLInputElement>(selector: string): E[] {
  return [...document.querySelectorAll<E>(selector)];
}

/** Returns the elements that belong to this form. */
export function filterByForm(form: HTMLFormElement, elements: HTMLInputElement[]): HTMLInputElement[] {
  return elements.filter((element) =>
    // A <div role="checkbox"> has no `form` property, and a custom element can set `form` to any value. Such elements belong to the form
    // that contains them.
    typeof element.form === "object" ? element.form === form : callForm(form, "contains", element),
  );
}
