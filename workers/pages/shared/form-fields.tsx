// Form fields and buttons.
import type { Child, FC, JSX } from "hono/jsx";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { appMessages } from "../i18n/app.ts";
import { FieldError, usePageContext } from "./components.tsx";
import { listCountryNames } from "./country-names.ts";

type InputProps = JSX.IntrinsicElements["input"];

interface FieldProps {
  readonly id: string;
  readonly label: Child;
  readonly hint?: Child;
  readonly error?: string | undefined;
}

export const OptionalLabel: FC<{ text: string }> = ({ text }) => (
  <>
    {text} <span>{appMessages[usePageContext().language].optional}</span>
  </>
);

interface TextFieldProps extends FieldProps, Omit<InputProps, "id" | "label"> {
  readonly hintId?: string;
  readonly errorId?: string;
  /** The number of lines. If set, the field is a text area. */
  readonly rows?: number | undefined;
  /** The values to choose from, with their labels. If set, the field is a select. */
  readonly options?: Readonly<Record<string, string>> | undefined;
}

/**
 * An input with its label, hint and error. Screen readers read the hint and the error as the input's description. An input with an error
 * takes the focus, so that the browser scrolls to it. If several inputs have errors, set `autofocus` for the first one only.
 */
export const TextField: FC<TextFieldProps> = ({
  id,
  label,
  hint,
  error,
  hintId = `${id}-hint`,
  errorId = "fault",
  class: classes,
  name = id,
  type = "text",
  rows,
  options,
  value,
  ...more
}) => {
  const described = [hint !== undefined && hintId, error !== undefined && errorId].filter((part) => part !== false).join(" ");
  const common = {
    id,
    class: classes,
    name,
    autofocus: error !== undefined,
    ...more,
    "aria-describedby": described || undefined,
    "aria-invalid": error === undefined ? undefined : ("true" as const),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
      {error !== undefined && <FieldError text={error} id={errorId} />}
      {options !== undefined ? (
        <select {...common}>
          {Object.entries(options).map(([option, text]) => (
            <option value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      ) : rows === undefined ? (
        <input {...common} type={type} value={value} />
      ) : (
        <textarea {...common} rows={rows}>
          {value ?? ""}
        </textarea>
      )}
    </div>
  );
};

/** More than the 254 characters that an email address may have, so that a longer address causes an error instead of being cut off. */
export const maxTypedEmailLength = 320;

export const EmailField: FC<FieldProps & { readonly typed?: string | undefined; readonly errorId?: string }> = ({ typed, ...field }) => (
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

export const CodeField: FC<FieldProps & { readonly class?: string; readonly typed?: string | undefined }> = ({ typed, ...field }) => (
  <TextField
    class="code-input"
    {...field}
    name="code"
    inputmode="numeric"
    autocomplete="one-time-code"
    maxlength={60}
    required
    value={typed}
    dir="ltr"
    spellcheck={false}
  />
);

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

interface ContactFieldProps extends FieldProps {
  readonly contactKey: ContactKey;
  readonly name?: string;
  readonly value: string;
  readonly hintId?: string;
  readonly errorId: string;
}

/** An input for a contact detail. The country is chosen from a list, which also contains the current value if that is not a country. */
export const ContactField: FC<ContactFieldProps> = ({ contactKey, value, ...field }) => {
  const { language } = usePageContext();
  const shared = { ...field, value, autocomplete: contactAutocomplete[contactKey] };
  if (contactKey !== "country")
    return (
      <TextField
        type={contactKey === "email" ? "email" : contactKey === "phone" ? "tel" : "text"}
        maxlength={contactKey === "email" ? 254 : 200}
        {...shared}
      />
    );
  const names = { "": "", ...listCountryNames(language) };
  return <TextField {...shared} options={Object.hasOwn(names, value) ? names : { ...names, [value]: value }} />;
};

export const ChoiceField: FC<InputProps & { readonly id: string; readonly children?: Child }> = ({ children, ...input }) => (
  <div class="tick">
    <input {...input} />
    <label for={input.id}>{children}</label>
  </div>
);

export const NextPathField: FC<{ next: string }> = ({ next }) => <input type="hidden" name="next" value={next} />;

export const SubmitButton: FC<{ class?: string; formaction?: string; children?: Child }> = ({
  class: classes = "btn primary",
  formaction,
  children,
}) => (
  <button type="submit" class={classes} formaction={formaction}>
    {children}
  </button>
);

export const ButtonLink: FC<{ href: string; children?: Child }> = ({ href, children }) => (
  <a class="btn" href={href}>
    {children}
  </a>
);

export interface ConfirmActionsProps {
  readonly back: string;
  readonly keep: string;
  readonly go: string;
  /** True if the action deletes something that belongs to the person. The button is then red. */
  readonly isDangerous?: boolean;
}

/** Two buttons of the same size: a link back, and the submit button. */
export const ConfirmActions: FC<ConfirmActionsProps> = ({ back, keep, go, isDangerous = false }) => (
  <div class="choice">
    <ButtonLink href={back}>{keep}</ButtonLink>
    <SubmitButton class={isDangerous ? "btn danger primary" : "btn primary"}>{go}</SubmitButton>
  </div>
);
