// Keeps the Enter key from giving consent.
import type { FC } from "hono/jsx";

/**
 * Place this first in a form whose button gives consent. When a person presses Enter in a field, browsers activate the form's first submit
 * button. This button only shows the form again. It is not in the tab order and is hidden from screen readers, but it must be rendered,
 * because some browsers skip a button with `display: none`.
 */
export const EnterButton: FC<{ name?: string }> = ({ name }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: tabindex takes it out of the tab order, and a name would only confuse
  <button
    type="submit"
    class="visually-hidden"
    name={name}
    value={name === undefined ? undefined : "on"}
    tabindex={-1}
    aria-hidden="true"
  />
);
