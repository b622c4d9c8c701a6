// What the forms of people's pages are set from: fields with what belongs to them, boxes to tick, buttons.
import type { Child, FC, JSX } from "hono/jsx";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { FieldFault } from "./parts.tsx";

type Input = JSX.IntrinsicElements["input"];

interface Field {
  readonly id: string;
  readonly label: string;
  readonly hint?: Child;
  /** What is wrong with what was typed. */
  readonly fault?: string | undefined;
}

/** A line to type, below its label, a hint and what is wrong with it; a screen reader reads the last two with it. */
export const TextField: FC<Field & Input & { readonly hintId?: string; readonly faultId?: string }> = ({
  id,
  label,
  hint,
  fault,
  hintId = `${id}-hint`,
  faultId = "fault",
  class: classes,
  name = id,
  type = "text",
  ...more
}) => (
  <>
    <label for={id}>{label}</label>
    {hint !== undefined && (
      <p class="quiet" id={hintId}>
        {hint}
      </p>
    )}
    {fault !== undefined && <FieldFault text={fault} id={faultId} />}
    <input
      id={id}
      class={classes}
      name={name}
      type={type}
      {...more}
      aria-describedby={
        [hint !== undefined && hintId, fault !== undefined && faultId].filter((part) => part !== false).join(" ") || undefined
      }
      aria-invalid={fault === undefined ? undefined : "true"}
    />
  </>
);

/** The longest address is 254 characters; whoever types more is told so by the page, not cut short. */
export const maxMailbox = 320;

export const AddressField: FC<Field & { readonly typed?: string | undefined; readonly faultId?: string }> = ({ typed, ...field }) => (
  <TextField
    {...field}
    name="email"
    type="email"
    autocomplete="email"
    maxlength={maxMailbox}
    required
    value={typed}
    dir="ltr"
    spellcheck={false}
  />
);

/** For a code from a mail. */
export const CodeField: FC<Field & { readonly class?: string; readonly typed?: string | undefined }> = ({ typed, ...field }) => (
  <TextField
    {...field}
    name="code"
    inputmode="numeric"
    autocomplete="one-time-code"
    maxlength={20}
    required
    value={typed}
    dir="ltr"
    spellcheck={false}
  />
);

/** What a browser may fill in by itself, for each contact field. */
const contactAutocomplete: Readonly<Record<ContactKey, string>> = {
  email: "email",
  phone: "tel",
  address_line1: "address-line1",
  address_line2: "address-line2",
  city: "address-level2",
  state: "address-level1",
  zip: "postal-code",
  country: "country",
  first_name: "given-name",
  last_name: "family-name",
};

/** What a field for a contact detail is. */
export const contactInput = (key: ContactKey): Pick<Input, "name" | "type" | "autocomplete" | "maxlength"> => ({
  name: key,
  type: key === "email" ? "email" : key === "phone" ? "tel" : "text",
  autocomplete: contactAutocomplete[key],
  maxlength: key === "email" ? 254 : 200,
});

/** A box to tick, or one of several choices, with what it says beside it. */
export const Box: FC<Input & { readonly id: string; readonly children?: Child }> = ({ children, ...input }) => (
  <p>
    <input {...input} />
    <label for={input.id}>{children}</label>
  </p>
);

/** The button that does what the form is for. */
export const Submit: FC<{ children?: Child }> = ({ children }) => (
  <button type="submit" class="primary">
    {children}
  </button>
);

/** A link that looks like a button. */
export const ButtonLink: FC<{ href: string; children?: Child }> = ({ href, children }) => (
  <a class="button" href={href}>
    {children}
  </a>
);

/** The way back beside the button that does it. */
export const Choices: FC<{ back: string; keep: string; go: string }> = ({ back, keep, go }) => (
  <div class="choices">
    <ButtonLink href={back}>{keep}</ButtonLink>
    <Submit>{go}</Submit>
  </div>
);
