// Components for the portal pages: forms and their fields, links, lists and tables. They read the member from `usePortalRequest` and the
// values and error of the posted form from `FormContext`.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { toHex } from "../../../core/bytes.ts";
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { MemberSession, Role } from "../../../core/access/session.ts";
import { portalMessages } from "../i18n/portal.ts";
import type { FormFields } from "../shared/form-handlers.ts";
import { CopyButton, DescriptionRow, FieldError, formatNumber, createPageContext, Icon } from "../shared/components.tsx";
import { SubmitButton } from "../shared/form-fields.tsx";
import { createRequiredContext, DataTable, TokenForm, type PostFormProps } from "../shared/signed-in-components.tsx";
import type { FormError, PortalRequest } from "./portal-request.ts";

export const language = "en"; // the portal is available in English only
export const messages = portalMessages[language];
const { copy } = createPageContext(language).messages;

export const formatCount = (value: number): string => formatNumber(value, language);

export const formatCopyLabel = (label: string): string => `${copy}: ${label}`;

export const LabeledCopyButton: FC<{ of: string; label: string }> = ({ of, label }) => (
  <CopyButton of={of} label={formatCopyLabel(label)} />
);

// Set both contexts around a whole page: hono restores a context only after the async components inside it have finished, so a provider
// around a single form would also apply to what follows the form.
const { Provider: PortalRequestProvider, use: usePortalRequest } = createRequiredContext<PortalRequest>("portal");
export { PortalRequestProvider, usePortalRequest };

/** The posted form that the page responds to: its values, and why it was refused. */
export const FormContext = createContext<{ readonly form?: FormFields | undefined; readonly error?: FormError | undefined }>({});

/** Returns why the member may not use a form for `requiredRole`, or null if they may. */
export const getFormRestriction = ({ business, role }: MemberSession, requiredRole: Role): string | null => {
  if (!authorizeWrite(business.status).ok) return messages.pastDue;
  return requiredRole === "owner" && role !== "owner" ? messages.ownersOnly : null;
};

/** Replaces its children with the reason if the member may not use them. */
export const RoleGate: FC<{ to: Role | undefined; children?: Child }> = ({ to, children }) => {
  const { member } = usePortalRequest();
  if (to === undefined) return <>{children}</>;
  const restriction = getFormRestriction(member, to);
  return restriction === null ? <div class="allowed">{children}</div> : <p class="quiet">{restriction}</p>;
};

type PortalFormProps = PostFormProps & { readonly requiredRole?: Role | undefined };

/** A form for `authenticatedAction`, in the page's environment. */
export const PostForm: FC<PortalFormProps> = ({ action, requiredRole, ...form }) => {
  const { pathInMode, formToken } = usePortalRequest();
  return (
    <RoleGate to={requiredRole}>
      <TokenForm {...form} action={pathInMode(action)} formToken={formToken} />
    </RoleGate>
  );
};

/** Makes a creation form idempotent: submitting it twice creates only one record. */
export const IdempotencyField: FC = () => <input type="hidden" name="once" value={toHex(usePortalRequest().services.random(16))} />;

interface ActionButtonProps extends Pick<PortalFormProps, "action" | "hiddenValues" | "requiredRole"> {
  readonly label: string;
  /** Names the item that the action applies to, for screen readers. */
  readonly of?: string;
}

export const ActionButton: FC<ActionButtonProps> = ({ label, of, ...form }) => (
  <PostForm {...form} class="form press">
    <button type="submit" aria-label={of === undefined ? undefined : `${label}: ${of}`}>
      {label}
    </button>
  </PostForm>
);

/** For actions that cannot be undone: the button appears only after the consequence is shown. */
export const ConfirmButton: FC<ActionButtonProps & { of: string; consequence: string }> = ({ requiredRole, consequence, ...button }) => (
  <RoleGate to={requiredRole}>
    <details class="careful">
      <summary aria-label={`${button.label}: ${button.of}`}>{button.label}</summary>
      <p>{consequence}</p>
      <ActionButton {...button} />
    </details>
  </RoleGate>
);

/** Shows the error of the form, unless it concerns one of `fields`, which show it themselves. */
export const FormErrorMessage: FC<{ fields?: readonly string[] }> = ({ fields = [] }) => {
  const { error } = useContext(FormContext);
  return error === undefined || (error.field !== null && fields.includes(error.field)) ? null : (
    <FieldError id="form-error" text={error.text} />
  );
};

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: "text" | "email" | "url" | "date" | "datetime-local" | "number";
  /** Shown unless the page responds to a form, which has its own value. */
  readonly value?: string | null | undefined;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly rows?: number;
  readonly maxlength?: number;
}

export const Field: FC<FieldProps> = ({
  name,
  label,
  hint,
  type = "text",
  value,
  required = false,
  autocomplete = "off",
  rows,
  maxlength,
}) => {
  const { form, error } = useContext(FormContext);
  const typed = form?.get(name) ?? value;
  const isInvalid = error?.field === name;
  const described = [hint !== undefined && `${name}-hint`, isInvalid && `${name}-error`].filter((id) => id !== false).join(" ");
  const common = {
    id: name,
    name,
    required,
    maxlength,
    "aria-describedby": described || undefined,
    "aria-invalid": isInvalid ? ("true" as const) : undefined,
  };
  return (
    <>
      <label for={name}>{label}</label>
      {hint !== undefined && (
        <p class="quiet" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {isInvalid && <FieldError id={`${name}-error`} text={error.text} />}
      {rows === undefined ? (
        <input {...common} type={type} value={typed ?? undefined} autocomplete={autocomplete} />
      ) : (
        <textarea {...common} rows={rows}>
          {typed ?? ""}
        </textarea>
      )}
    </>
  );
};

interface SelectFieldProps {
  readonly name: string;
  readonly label: string;
  /** The label of each value. */
  readonly options: Readonly<Record<string, string>>;
  readonly value?: string | null | undefined;
}

export const SelectField: FC<SelectFieldProps> = ({ name, label, options, value }) => {
  const chosen = useContext(FormContext).form?.get(name) ?? value;
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {Object.entries(options).map(([option, text]) => (
          <option value={option} selected={option === chosen}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
};

/** `checked` applies unless the page responds to a form. */
export const CheckboxField: FC<{ name: string; label: Child; checked?: boolean }> = ({ name, label, checked }) => {
  const { form } = useContext(FormContext);
  const id = name.replace(".", "-");
  return (
    <>
      <input type="checkbox" id={id} name={name} value="1" checked={form === undefined ? checked : form.has(name)} />{" "}
      <label for={id}>{label}</label>
    </>
  );
};

interface LinkProps {
  /** A page of the portal; the link keeps the environment. */
  readonly to: string;
  readonly text: Child;
  readonly class?: "button";
  /** Replaces the text for screen readers. */
  readonly label?: string;
  readonly rel?: "prev" | "next";
}

export const Link: FC<LinkProps> = ({ to, text, class: classes, label, rel }) => (
  <a class={classes} href={usePortalRequest().pathInMode(to)} aria-label={label} rel={rel}>
    {text}
  </a>
);

/** A link in a separate paragraph. */
export const LinkList: FC<LinkProps> = (target) => (
  <p>
    <Link {...target} />
  </p>
);

/** Filters a list by one choice. */
export const ListFilter: FC<SelectFieldProps & { path: string; isOpen: boolean }> = ({ path, isOpen, options, ...choice }) => (
  <details class="filters" open={isOpen}>
    <summary>{messages.filter}</summary>
    <form method="get" action={usePortalRequest().pathInMode(path)} class="form">
      <SelectField {...choice} options={{ "": messages.any, ...options }} />
      <SubmitButton>{messages.show}</SubmitButton>
    </form>
  </details>
);

export const Section: FC<{ id: string; title: string; children?: Child }> = ({ id, title, children }) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** Lines whose value is null or false are left out. */
export const PropertyList: FC<{ lines: readonly (readonly [name: string, value: Child])[] }> = ({ lines }) => (
  <dl>
    {lines
      .filter(([, value]) => value !== null && value !== false)
      .map(([name, value]) => (
        <DescriptionRow name={name}>{value}</DescriptionRow>
      ))}
  </dl>
);

export const PlainList: FC<{ items: readonly Child[] }> = ({ items }) => (
  <ul class="plain">
    {items.map((item) => (
      <li>{item}</li>
    ))}
  </ul>
);

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly (readonly [heading: string, cell: (row: Row) => Child])[];
  /** Shown instead of the table if there are no rows. */
  readonly emptyMessage?: Child;
}

export const Table = <Row,>({ label, rows, columns, emptyMessage }: TableProps<Row>) =>
  rows.length === 0 && emptyMessage !== undefined ? (
    <p>{emptyMessage}</p>
  ) : (
    <DataTable
      class="listing"
      caption={label}
      headings={columns.map(([heading]) => heading)}
      rows={rows.map((row) => columns.map(([, cell]) => cell(row)))}
    />
  );

/** Links of a cursor-paginated list: to its first page and to the next one; false hides a link. */
export const Pagination: FC<{ first: string | false; next: string | false }> = ({ first, next }) =>
  first === false && next === false ? null : (
    <nav class="pages" aria-label={messages.pages.label}>
      {first !== false && <Link to={first} text={messages.pages.first} />}
      {next !== false && <Link to={next} rel="next" text={messages.pages.next} />}
    </nav>
  );

/** Says that no row matches the filter; `path` is the list without it. */
export const NoMatchMessage: FC<{ path: string }> = ({ path }) => (
  <>
    {messages.noMatch} <Link to={path} text={messages.clear} />
  </>
);

const toneShapes = { good: "tick", caution: "clock", bad: "cross", plain: "dot" } as const;
export type Tone = keyof typeof toneShapes;

export const StatusLabel: FC<{ tone: Tone; text: string }> = ({ tone, text }) => (
  <span class={tone === "plain" ? "status" : `status ${tone}`}>
    <Icon name={toneShapes[tone]} />
    {text}
  </span>
);

/** The masked email address or phone number of a person. */
export const formatMaskedPerson = (masked: Readonly<Record<string, string>>): string =>
  masked.email ?? masked.phone ?? Object.values(masked)[0] ?? "";
