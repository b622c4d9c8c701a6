// What the forms of people's pages are set from: fields with what belongs to them, boxes to tick, buttons.
import type { Child, FC, JSX } from "hono/jsx";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { FieldError } from "./components.tsx";

type InputProps = JSX.IntrinsicElements["input"];

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: Child;
  /** What is wrong with what was typed. */
  readonly error?: string | undefined;
}

/** A line to type, below its label, a hint and what is wrong with it; a screen reader reads the last two with it. */
export const TextField: FC<FieldProps & InputProps & { readonly hintId?: string; readonly faultId?: string }> = ({
  id,
  label,
  hint,
  error,
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
    {error !== undefined && <FieldError text={error} id={faultId} />}
    <input
      id={id}
      class={classes}
      name={name}
      type={type}
      {...more}
      aria-describedby={
        [hint !== undefined && hintId, error !== undefined && faultId].filter((part) => part !== false).join(" ") || undefined
      }
      aria-invalid={error === undefined ? undefined : "true"}
    />
  </>
);

/** The longest address is 254 characters; whoever types more is told so by the page, not cut short. */
export const maxTypedEmailLength = 320;

export const EmailField: FC<FieldProps & { readonly typed?: string | undefined; readonly faultId?: string }> = ({ typed, ...field }) => (
  <TextField
    {...field}
    name="email"
    type="email"
    autocomplete="email"
    maxlength={maxTypedEmailLength}
    required
    value={typed}
    dir="ltr"
    spellcheck={false}
  />
);

/** For a code from a mail. */
export const CodeField: FC<FieldProps & { readonly class?: string; readonly typed?: string | undefined }> = ({ typed, ...field }) => (
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
export const getContactInputProps = (key: ContactKey): Pick<InputProps, "name" | "type" | "autocomplete" | "maxlength"> => ({
  name: key,
  type: key === "email" ? "email" : key === "phone" ? "tel" : "text",
  autocomplete: contactAutocomplete[key],
  maxlength: key === "email" ? 254 : 200,
});

/** A box to tick, or one of several choices, with what it says beside it. */
export const ChoiceField: FC<InputProps & { readonly id: string; readonly children?: Child }> = ({ children, ...input }) => (
  <p>
    <input {...input} />
    <label for={input.id}>{children}</label>
  </p>
);

/** The button that does what the form is for. */
export const SubmitButton: FC<{ children?: Child }> = ({ children }) => (
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
export const ConfirmActions: FC<{ back: string; keep: string; go: string }> = ({ back, keep, go }) => (
  <div class="choices">
    <ButtonLink href={back}>{keep}</ButtonLink>
    <SubmitButton>{go}</SubmitButton>
  </div>
);
