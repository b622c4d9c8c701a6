// What the portal's pages are set from: sections, properties, tables that fold on a phone, forms with their token. A part finds out by itself
// who reads the page, and what was typed into the form that the page answers.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { toHex } from "../../../core/bytes.ts";
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { MemberSession, Role } from "../../../core/access/session.ts";
import { portalMessages } from "../i18n/portal.ts";
import type { FormFields } from "../shared/form-handlers.ts";
import { CopyButton, FieldError, formatNumber, createPageContext, Icon } from "../shared/components.tsx";
import type { FormError, PortalRequest } from "./portal-request.ts";

export const language = "en"; // the portal's words are in one language so far
export const messages = portalMessages[language];
const { copy } = createPageContext(language).messages;

export const formatCount = (value: number): string => formatNumber(value, language);

export const LabeledCopyButton: FC<{ of: string; label: string }> = ({ of, label }) => <CopyButton of={of} label={`${copy}: ${label}`} />;

// Both contexts are set once, around a whole page: a value is taken back only when what waits inside has ended, so that one set around a
// single form would reach what follows the form.
export const PortalRequestContext = createContext<PortalRequest | null>(null);

export const usePortalRequest = (): PortalRequest => {
  const visit = useContext(PortalRequestContext);
  if (visit === null) throw new Error("portal: what only members see stands on a page for everybody");
  return visit;
};

/** The form that a page answers: what was typed, and what it was refused for. */
export const FormContext = createContext<{ readonly form?: FormFields | undefined; readonly fault?: FormError | undefined }>({});

/** Why there is no form for this reader; null where there is one. */
export const getFormRestriction = ({ business, role }: MemberSession, by: Role): string | null => {
  if (!authorizeWrite(business.status).ok) return messages.pastDue;
  return by === "owner" && role !== "owner" ? messages.ownersOnly : null;
};

/** What stands in the place of a form or button that the reader may not use. */
export const RoleGate: FC<{ to: Role | undefined; children?: Child }> = ({ to, children }) => {
  const { member } = usePortalRequest();
  if (to === undefined) return <>{children}</>;
  const bar = getFormRestriction(member, to);
  return bar === null ? <div class="allowed">{children}</div> : <p class="quiet">{bar}</p>;
};

interface PostFormProps {
  readonly action: string;
  /** Who may send it, where not everybody may who sees it. */
  readonly requiredRole?: Role | undefined;
  /** What is sent with it unseen. */
  readonly hiddenValues?: Readonly<Record<string, string>> | undefined;
}

/** A form of somebody who is signed in: only its own page knows its token. */
export const PostForm: FC<PostFormProps & { class?: string; children?: Child }> = async ({
  action,
  requiredRole,
  hiddenValues,
  class: classes,
  children,
}) => {
  const { pathInMode, formToken } = usePortalRequest();
  const hidden = { form: await formToken(pathInMode(action)), ...hiddenValues };
  return (
    <RoleGate to={requiredRole}>
      <form method="post" action={pathInMode(action)} class={classes ?? "form"}>
        {Object.entries(hidden).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {children}
      </form>
    </RoleGate>
  );
};

/** Of a form that makes something: sent twice, it makes one. */
export const IdempotencyField: FC = () => <input type="hidden" name="once" value={toHex(usePortalRequest().services.random(16))} />;

interface ActionButtonProps extends PostFormProps {
  readonly label: string;
  /** What it is done to, for those who cannot see the row it stands in. */
  readonly of?: string;
}

/** One press. */
export const ActionButton: FC<ActionButtonProps> = ({ label, of, ...form }) => (
  <PostForm {...form} class="form press">
    <button type="submit" aria-label={of === undefined ? undefined : `${label}: ${of}`}>
      {label}
    </button>
  </PostForm>
);

/** For what cannot be undone: what happens then is said before the button can be reached. */
export const ConfirmButton: FC<ActionButtonProps & { of: string; consequence: string }> = ({ requiredRole, consequence, ...button }) => (
  <RoleGate to={requiredRole}>
    <details class="careful">
      <summary aria-label={`${button.label}: ${button.of}`}>{button.label}</summary>
      <p>{consequence}</p>
      <ActionButton {...button} />
    </details>
  </RoleGate>
);

export const SubmitButton: FC<{ label: string }> = ({ label }) => (
  <button type="submit" class="primary">
    {label}
  </button>
);

/** A fault of the form as a whole, before it; of an input it stands beside that. */
export const FormErrorMessage: FC<{ fields?: readonly string[] }> = ({ fields = [] }) => {
  const { fault } = useContext(FormContext);
  return fault === undefined || (fault.field !== null && fields.includes(fault.field)) ? null : (
    <FieldError id="form-error" text={fault.text} />
  );
};

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: "text" | "email" | "url" | "date" | "datetime-local" | "number";
  /** What stands there until something is typed. */
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
  const { form, fault } = useContext(FormContext);
  const typed = form?.get(name) ?? value;
  const isWrong = fault?.field === name;
  const described = [hint !== undefined && `${name}-hint`, isWrong && `${name}-error`].filter((id) => id !== false).join(" ");
  const common = {
    id: name,
    name,
    required,
    maxlength,
    "aria-describedby": described || undefined,
    "aria-invalid": isWrong ? ("true" as const) : undefined,
  };
  return (
    <>
      <label for={name}>{label}</label>
      {hint !== undefined && (
        <p class="quiet" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {isWrong && <FieldError id={`${name}-error`} text={fault.text} />}
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

/** A box: as it was sent, else as it is. */
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
  /** A page of the portal: the link leads to it in the same mode. */
  readonly to: string;
  readonly text: Child;
  readonly class?: "button";
  /** For those who cannot see the row it stands in. */
  readonly label?: string;
  readonly rel?: "prev" | "next";
}

export const Link: FC<LinkProps> = ({ to, text, class: classes, label, rel }) => (
  <a class={classes} href={usePortalRequest().pathInMode(to)} aria-label={label} rel={rel}>
    {text}
  </a>
);

/** On a line of its own. */
export const LinkList: FC<LinkProps> = (target) => (
  <p>
    <Link {...target} />
  </p>
);

/** A list that can be narrowed by one choice. */
export const ListFilter: FC<SelectFieldProps & { path: string; isOpen: boolean }> = ({ path, isOpen, options, ...choice }) => (
  <details class="filters" open={isOpen}>
    <summary>{messages.filter}</summary>
    <form method="get" action={usePortalRequest().pathInMode(path)} class="form">
      <SelectField {...choice} options={{ "": messages.any, ...options }} />
      <SubmitButton label={messages.show} />
    </form>
  </details>
);

export const Section: FC<{ id: string; title: string; children?: Child }> = ({ id, title, children }) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** What is known of one thing; a line without a value is left out. */
export const PropertyList: FC<{ lines: readonly (readonly [name: string, value: Child])[] }> = ({ lines }) => (
  <dl>
    {lines
      .filter(([, value]) => value !== null && value !== false)
      .map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
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
  readonly columns: readonly (readonly [head: string, cell: (row: Row) => Child])[];
  /** What is said in its place while there are no rows. */
  readonly emptyMessage?: Child;
}

/** The first cell heads its row. On a phone each row becomes a block of lines. */
export const Table = <Row,>({ label, rows, columns, emptyMessage }: TableProps<Row>) =>
  rows.length === 0 && emptyMessage !== undefined ? (
    <p>{emptyMessage}</p>
  ) : (
    <table class="listing">
      <caption class="visually-hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map(([head]) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map(([head, cell], at) => (at === 0 ? <th scope="row">{cell(row)}</th> : <td data-label={head}>{cell(row)}</td>))}
          </tr>
        ))}
      </tbody>
    </table>
  );

/** The way through a list that each page reads on from the end of the one before; false where there is nothing to go to. */
export const Pagination: FC<{ first: string | false; next: string | false }> = ({ first, next }) =>
  first === false && next === false ? null : (
    <nav class="pages" aria-label={messages.pages.label}>
      {first !== false && <Link to={first} text={messages.pages.first} />}
      {next !== false && <Link to={next} rel="next" text={messages.pages.next} />}
    </nav>
  );

/** Nothing is in a list as it is narrowed. */
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

/** The address or number of a person as it may be shown. */
export const formatMaskedPerson = (masked: Readonly<Record<string, string>>): string =>
  masked.email ?? masked.phone ?? Object.values(masked)[0] ?? "";
