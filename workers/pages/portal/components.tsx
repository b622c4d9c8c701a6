// Components for the portal pages: forms and their fields, links, lists and tables. They read the member from `usePortalRequest` and the
// values and error of the posted form from `FormContext`.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { toHex } from "../../../core/bytes.ts";
import { authorizeWrite, type BusinessStatus } from "../../../core/access/entitlement.ts";
import type { MemberSession, Role } from "../../../core/access/session.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import { messages } from "../i18n/en/portal.ts";
import { SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { FormFields } from "../shared/form-handlers.ts";
import type { IconName } from "../shared/icon-names.ts";
import { once } from "../../../core/once.ts";
import { toIso, type Instant } from "../../../core/time.ts";
import {
  CopyButton,
  FieldError,
  FormattedMessage,
  formatDay,
  formatMessage,
  formatNumber,
  createPageContext,
  EmailLink,
  EmptyState,
  Icon,
  StatusBadge,
  VerbatimText,
} from "../shared/components.tsx";
import { createRequiredContext, TokenForm, type PostFormProps } from "../shared/signed-in-components.tsx";
import type { FormError, PortalRequest } from "./portal-request.ts";

export const language = "en"; // the portal exists in English only
export { messages };
const { copy } = createPageContext(language).messages;

export const formatCount = (value: number): string => formatNumber(value, language);

/** Formats the prefix and the last characters of a key. The rest is not stored. */
export const formatKeyEnding = ({ environment, last4 }: ApiKey): string => `${environment === "live" ? "sk_live_" : "sk_test_"}…${last4}`;

export const formatCopyLabel = (label: string): string => `${copy}: ${label}`;

export const LabeledCopyButton: FC<{ elementId: string; label: string }> = ({ elementId, label }) => (
  <CopyButton elementId={elementId} label={formatCopyLabel(label)} />
);

// `PortalRequestProvider` and `FormContext` must surround the whole page. Hono restores the previous value only after the async components
// inside a provider have finished, so a provider around a single form would also affect the components after that form.
const { Provider: PortalRequestProvider, use: usePortalRequest } = createRequiredContext<PortalRequest>("portal");
export { PortalRequestProvider, usePortalRequest };

/** The form that was submitted, if any: its values, and why it was refused. */
export const FormContext = createContext<{ readonly form?: FormFields | undefined; readonly error?: FormError | undefined }>({});

/** Returns why the member may not use a form for `requiredRole`, or null if they may. */
export const getFormRestriction = ({ business, role }: MemberSession, requiredRole: Role): string | null => {
  if (!authorizeWrite(business.status).ok) return messages.pastDue;
  return requiredRole === "owner" && role !== "owner" ? messages.ownersOnly : null;
};

/**
 * Shows its children, or the reason why the member may not use them. `isSilent` leaves out the reason, for table rows on a page that
 * already gives it.
 */
export const RoleGate: FC<{ requiredRole: Role | undefined; isSilent?: boolean; children?: Child }> = ({
  requiredRole,
  isSilent = false,
  children,
}) => {
  const { member } = usePortalRequest();
  const restriction = requiredRole === undefined ? null : getFormRestriction(member, requiredRole);
  if (restriction === null) return <>{children}</>;
  return isSilent ? null : <p class="small quiet">{restriction}</p>;
};

type PortalFormProps = PostFormProps & { readonly requiredRole?: Role | undefined };

/** A form that posts to an `authenticatedAction` in the page's environment. Members who cannot submit it see the reason instead. */
export const PostForm: FC<PortalFormProps> = ({ action, requiredRole, ...form }) => {
  const { pathInMode, formToken } = usePortalRequest();
  return (
    <RoleGate requiredRole={requiredRole}>
      <TokenForm {...form} action={pathInMode(action)} formToken={formToken} />
    </RoleGate>
  );
};

/** A hidden field that makes a form idempotent. Submitting the form twice creates only one record. */
export const IdempotencyField: FC = () => <input type="hidden" name="once" value={toHex(usePortalRequest().services.random(16))} />;

interface ActionButtonProps extends Pick<PortalFormProps, "action" | "hiddenValues" | "requiredRole"> {
  readonly label: string;
  /** The name of the item that the button acts on, for screen readers. */
  readonly target?: string;
  readonly icon?: IconName;
  readonly look?: keyof typeof buttonClasses;
}

const buttonClasses = {
  primary: "btn primary",
  secondary: "btn",
  small: "btn sm",
  danger: "btn sm danger",
  bare: "btn bare sm",
  link: "link",
  /** For a button in a `dropdown`. The dropdown's own styles apply to it. */
  menu: undefined,
} as const;

export const ActionButton: FC<ActionButtonProps> = ({ label, target, icon, look = "small", ...form }) => (
  <PostForm {...form} class="one-button">
    <button type="submit" class={buttonClasses[look]} aria-label={target === undefined ? undefined : `${label}: ${target}`}>
      {icon !== undefined && <Icon name={icon} />}
      {label}
    </button>
  </PostForm>
);

/** Shows the error of the form. Shows nothing if the error is about one of `fields`, because that field shows it. */
export const FormErrorMessage: FC<{ fields?: readonly string[] }> = ({ fields = [] }) => {
  const { error } = useContext(FormContext);
  return error === undefined || (error.field !== null && fields.includes(error.field)) ? null : (
    <FieldError id="form-error" text={error.text} />
  );
};

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: Child;
  readonly type?: "text" | "email" | "url" | "date" | "datetime-local" | "number";
  /** The initial value. After a validation error, the field shows the submitted value instead. */
  readonly value?: string | null | undefined;
  readonly required?: boolean;
  readonly isOptional?: boolean;
  readonly autocomplete?: string;
  readonly rows?: number;
  readonly maxlength?: number;
  /** The values to choose from, with their labels. If set, the field is a select. */
  readonly options?: Readonly<Record<string, string>>;
}

export const Field: FC<FieldProps> = ({ name, label, value, isOptional = false, autocomplete = "off", ...input }) => {
  const { form, error } = useContext(FormContext);
  return (
    <TextField
      {...input}
      id={name}
      label={isOptional ? [label, <span> {messages.optional}</span>] : label}
      error={error?.field === name ? error.text : error?.others?.[name]}
      autofocus={error?.field === name}
      errorId={`${name}-error`}
      value={form?.get(name) ?? value ?? undefined}
      autocomplete={input.rows === undefined && input.options === undefined ? autocomplete : undefined}
    />
  );
};

/** A checkbox. `checked` is its initial state. If the form was refused, the submitted state applies instead. */
export const CheckboxField: FC<{ name: string; label: Child; hint?: Child; checked?: boolean }> = ({ name, label, hint, checked }) => {
  const { form } = useContext(FormContext);
  const id = name.replace(".", "-");
  return (
    <div class="tick">
      <input type="checkbox" id={id} name={name} value="1" checked={form === undefined ? checked : form.has(name)} />
      <label for={id}>{label}</label>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </div>
  );
};

interface RadioFieldsProps {
  readonly name: string;
  /**
   * The name of the group. Without `hasVisibleLegend`, only screen readers get it, because the card's heading already shows the same text.
   */
  readonly legend: string;
  readonly value: string;
  readonly options: Readonly<Record<string, { readonly label: string; readonly hint?: string }>>;
  readonly isSideBySide?: boolean;
  readonly hasVisibleLegend?: boolean;
}

export const RadioFields: FC<RadioFieldsProps> = ({ name, legend, value, options, isSideBySide = false, hasVisibleLegend = false }) => {
  const chosen = useContext(FormContext).form?.get(name) ?? value;
  return (
    <fieldset class={isSideBySide ? "option side-by-side" : "option"}>
      <legend class={hasVisibleLegend ? undefined : "visually-hidden"}>{legend}</legend>
      {Object.entries(options).map(([option, { label, hint }]) => (
        <div class="tick">
          <input type="radio" name={name} id={`${name}-${option}`} value={option} checked={option === chosen} />
          <label for={`${name}-${option}`}>
            <b>{label}</b>
          </label>
          {hint !== undefined && <span class="hint">{hint}</span>}
        </div>
      ))}
    </fieldset>
  );
};

/** Tabs that show one of the panels `p1`, `p2` and so on. They are radio buttons, so they work without scripts. */
export const PanelTabs: FC<{ name: string; legend: string; labels: readonly string[] }> = ({ name, legend, labels }) => (
  <fieldset class="tabs">
    <legend class="visually-hidden">{legend}</legend>
    {labels.map((label, at) => (
      <label>
        <input type="radio" name={name} value={String(at + 1)} checked={at === 0} />
        {label}
      </label>
    ))}
  </fieldset>
);

interface LinkProps {
  /** The path of a portal page. The link keeps the environment. */
  readonly to: string;
  readonly text: Child;
  readonly class?: "btn" | "btn danger" | "btn sm" | "btn sm danger" | "btn primary" | "link" | "danger";
  /** The text for screen readers, if it differs from `text`. */
  readonly label?: string;
  readonly rel?: "prev" | "next";
  readonly icon?: IconName;
}

export const checkoutPath = "/portal/billing/checkout";

/** A link to a portal page. While a payment is past due, only the link to the payment is styled as the primary button. */
export const Link: FC<LinkProps> = ({ to, text, class: classes, label, rel, icon }) => {
  const { member, pathInMode } = usePortalRequest();
  const isDemoted = classes === "btn primary" && member.business.status === "past_due" && to !== checkoutPath;
  return (
    <a class={isDemoted ? "btn" : classes} href={pathInMode(to)} aria-label={label} rel={rel}>
      {icon !== undefined && <Icon name={icon} />}
      {text}
    </a>
  );
};

/** A sentence with this deployment's support address, to be placed after another sentence. Renders nothing if there is no such address. */
export const SupportSentence: FC<{ text: string }> = ({ text }) => {
  const { supportEmail } = usePortalRequest().services.config;
  return supportEmail === null ? null : (
    <>
      {" "}
      <FormattedMessage text={text} parts={{ support: <EmailLink address={supportEmail} /> }} />
    </>
  );
};

interface CardProps {
  readonly id: string;
  readonly title: string;
  readonly note?: Child;
  readonly end?: Child;
  readonly footer?: Child;
  /** True if the content, such as a table or a list, fills the card from edge to edge. */
  readonly isFlush?: boolean;
  readonly isDangerous?: boolean;
  readonly children?: Child;
}

const CardHeader: FC<Pick<CardProps, "id" | "title" | "note" | "end">> = ({ id, title, note, end }) => (
  <header>
    <h2 id={id}>{title}</h2>
    {end}
    {note !== undefined && <p>{note}</p>}
  </header>
);

export const Card: FC<CardProps> = ({ id, title, note, end, footer, isFlush = false, isDangerous = false, children }) => (
  <section class={isDangerous ? "card danger" : "card"} aria-labelledby={id}>
    <CardHeader id={id} title={title} note={note} end={end} />
    {isFlush ? children : <div class="body stack">{children}</div>}
    {footer !== undefined && <footer>{footer}</footer>}
  </section>
);

interface FormCardProps extends Pick<CardProps, "id" | "title" | "note" | "children"> {
  readonly action: string;
  readonly requiredRole?: Role;
  readonly submitLabel: string;
  readonly submitIcon?: IconName;
  /** Text beside the button that says what the form does or who can submit it. */
  readonly footnote?: Child;
  /** The page that the "Cancel" link leads to. If missing, there is no such link. */
  readonly cancelPath?: string;
  readonly isPrimary?: boolean;
}

/** A card with one form and one button. Members who may not submit the form see its fields and the reason. */
export const FormCard: FC<FormCardProps> = ({
  id,
  title,
  note,
  action,
  requiredRole,
  submitLabel,
  submitIcon,
  footnote,
  cancelPath,
  isPrimary = false,
  children,
}) => {
  const { pathInMode, formToken, member } = usePortalRequest();
  const restriction = requiredRole === undefined ? null : getFormRestriction(member, requiredRole);
  if (restriction !== null)
    return (
      <Card id={id} title={title} note={note} footer={restriction} isFlush>
        <fieldset class="body" disabled>
          {children}
        </fieldset>
      </Card>
    );
  return (
    <TokenForm action={pathInMode(action)} formToken={formToken} class="card" labelledBy={id}>
      <CardHeader id={id} title={title} note={note} />
      <div class="body">{children}</div>
      <footer>
        <span>{footnote}</span>
        <span class="row">
          {cancelPath !== undefined && <Link class="btn" to={cancelPath} text={messages.cancel} />}
          <SubmitButton class={isPrimary ? "btn primary" : "btn"}>
            {submitIcon !== undefined && <Icon name={submitIcon} />}
            {submitLabel}
          </SubmitButton>
        </span>
      </footer>
    </TokenForm>
  );
};

export const PlainList: FC<{ items: readonly Child[] }> = ({ items }) => (
  <ul class="plain">
    {items.map((item) => (
      <li>{item}</li>
    ))}
  </ul>
);

/** Links to the first and the next page of a list. `false` hides a link. */
export const Pagination: FC<{ first: string | false; next: string | false; note?: Child }> = ({ first, next, note }) =>
  first === false && next === false ? null : (
    <nav class="pager" aria-label={messages.pages.label}>
      <span>{note}</span>
      <span class="row">
        {first !== false && <Link class="btn sm" to={first} text={messages.pages.first} />}
        {next !== false && <Link class="btn sm" to={next} rel="next" text={messages.pages.next} />}
      </span>
    </nav>
  );

/** Says that no row matches the filter. `path` is the path of the unfiltered list. */
export const NoMatches: FC<{ path: string }> = ({ path }) => (
  <EmptyState icon="search" title={messages.noMatch} action={<Link class="btn" to={path} text={messages.clear} />} />
);

const toneIcons = { good: "circle-check", caution: "clock", bad: "circle-x", info: "info", plain: "circle-minus" } as const;
export type Tone = keyof typeof toneIcons;

/** Shows a status. The tone determines the icon, unless an icon is given. */
export const StatusLabel: FC<{ tone: Tone; text: string; icon?: IconName }> = ({ tone, text, icon = toneIcons[tone] }) => (
  <StatusBadge tone={tone} icon={icon} text={text} />
);

const businessStatusTones: Readonly<Record<BusinessStatus, Tone>> = {
  active: "good",
  past_due: "caution",
  suspended: "bad",
  pending: "plain",
  closed: "plain",
};

export const BusinessStatusLabel: FC<{ status: BusinessStatus }> = ({ status }) => (
  <StatusLabel tone={businessStatusTones[status]} text={messages.billing.states[status]} />
);

const getDayFormat = once(() => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }));
const getTimeFormat = once(() => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" }));

/** Formats a date, for example "4 Mar 2026". */
export const formatShortDay = (at: Instant): string => getDayFormat().format(at);

/** Formats a time, for example "4 Mar 2026, 05:06", for columns whose heading shows the time zone. */
export const ShortTime: FC<{ at: Instant }> = ({ at }) => (
  <time datetime={toIso(at)}>{`${formatShortDay(at)}, ${getTimeFormat().format(at)}`}</time>
);

/** Formats a date (UTC) that has no time of day, for example "4 Mar 2026". */
export const ShortDay: FC<{ at: Instant }> = ({ at }) => <time datetime={toIso(at).slice(0, 10)}>{formatShortDay(at)}</time>;

/** Returns the start and the end of an ID, which is enough to tell rows apart. The whole ID is on the record's page. */
export const formatShortId = (id: string): string => `${id.slice(0, 9)}…${id.slice(-5)}`;

export const ShortId: FC<{ id: string }> = ({ id }) => (
  <span class="mono" translate="no">
    {formatShortId(id)}
  </span>
);

export type AuditEventType = keyof typeof messages.audit.types;
export const isAuditEventType = (text: string): text is AuditEventType => Object.hasOwn(messages.audit.types, text);

/** Formats the type of an audit entry, for example "Certificate issued". */
export const describeAuditEvent = (type: string): string => (isAuditEventType(type) ? messages.audit.types[type] : type);

/** Formats a deadline, for example "By the end of 4 December 2026 (UTC)". */
export const formatDeadline = (at: Instant): string => formatMessage(messages.byTheEndOf, { date: formatDay(language, at) });

/** Formats a deadline for a table, for example "By the end of 4 Dec 2026 (UTC)". */
export const formatShortDeadline = (at: Instant): string => formatMessage(messages.byTheEndOf, { date: formatShortDay(at) });

/**
 * Returns a masked value that helps recognize the person: the email address, the phone number, or the first other value. Skips empty
 * values, because a form can have optional fields. Every certificate has at least one value that is not empty, so the result is empty only
 * after an erasure.
 */
export const formatMaskedPerson = (masked: Readonly<Record<string, string>>): string =>
  [masked.email, masked.phone, ...Object.values(masked)].find((value) => value !== undefined && value !== "") ?? "";

/** Names the person of a certificate by a masked value, or says that the person's details were erased. */
export const MaskedPersonName: FC<{ masked: Readonly<Record<string, string>> }> = ({ masked }) => {
  const name = formatMaskedPerson(masked);
  return name === "" ? <span>{messages.certificates.erasedShort}</span> : <VerbatimText text={name} />;
};
