// What the portal's pages are set from: the way around, what was just done, forms with their token, tables that fold on a phone.
import type { Child, FC } from "hono/jsx";
import { mayWrite, type Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { PortalWords } from "../shared/i18n/portal.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Shape, type Setting } from "../shared/parts.tsx";
import { FieldError } from "../withdrawal/withdrawal-parts.tsx";
import type { Seat } from "../../operations/access/seats.ts";
import { brand } from "../shared/brand.ts";
import { liveRoot, tabs, testRoot } from "./paths.ts";
import type { Fault } from "./visit.ts";

/** What the pages know of whoever reads them. */
export interface PortalView {
  readonly setting: Setting;
  readonly words: PortalWords;
  readonly member: MemberSession;
  /** The proven address. */
  readonly email: string;
  /** What that address acts for and is invited to, the business of these pages among it; not asked for where there is no more. */
  readonly seats: readonly Seat[];
  readonly path: string;
  /** Which records the pages are of; the address says it. */
  readonly environment: Environment;
  /** The address of a page of the portal in the same mode. */
  readonly at: (path: string) => string;
  /** The word in the address for what was just done. */
  readonly done: string | null;
  readonly now: number;
  readonly formToken: (path: string) => Promise<string>;
}

type Tab = keyof PortalWords["tabs"];

/** A form of somebody who is signed in: only its own page knows its token. */
export const PostForm: FC<{ view: PortalView; action: string; class?: string; children?: Child }> = async ({
  view,
  action,
  class: classes = "form",
  children,
}) => (
  <form method="post" action={view.at(action)} class={classes}>
    <input type="hidden" name="form" value={await view.formToken(view.at(action))} />
    {children}
  </form>
);

/** One press. `of` names what it is done to, for those who cannot see the row it stands in. */
export const Press: FC<{ view: PortalView; action: string; label: string; of?: string; values?: Readonly<Record<string, string>> }> = ({
  view,
  action,
  label,
  of,
  values = {},
}) => (
  <PostForm view={view} action={action} class="form press">
    {Object.entries(values).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" aria-label={of === undefined ? undefined : `${label}: ${of}`}>
      {label}
    </button>
  </PostForm>
);

interface Input {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: "text" | "email" | "url" | "date" | "datetime-local" | "number";
  readonly value?: string | null | undefined;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly fault?: Fault | null | undefined;
  readonly setting: Setting;
  readonly rows?: number;
  readonly maxlength?: number;
}

export const Field: FC<Input> = ({
  name,
  label,
  hint,
  type = "text",
  value,
  required = false,
  autocomplete = "off",
  fault,
  setting,
  rows,
  maxlength,
}) => {
  const isWrong = fault?.field === name;
  const described = [...(hint === undefined ? [] : [`${name}-hint`]), ...(isWrong ? [`${name}-error`] : [])].join(" ");
  const common = {
    id: name,
    name,
    required,
    maxlength,
    "aria-describedby": described === "" ? undefined : described,
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
      {isWrong && <FieldError id={`${name}-error`} text={fault.text} setting={setting} />}
      {rows === undefined ? (
        <input {...common} type={type} value={value ?? undefined} autocomplete={autocomplete} />
      ) : (
        <textarea {...common} rows={rows}>
          {value ?? ""}
        </textarea>
      )}
    </>
  );
};

export const Choice: FC<{
  name: string;
  label: string;
  options: readonly (readonly [value: string, label: string])[];
  value?: string | null | undefined;
}> = ({ name, label, options, value }) => (
  <>
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      {options.map(([option, text]) => (
        <option value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  </>
);

/** A fault of the form as a whole, before it; of an input it stands beside that. */
export const Wrong: FC<{ fault: Fault | null | undefined; fields: readonly string[]; setting: Setting }> = ({ fault, fields, setting }) =>
  fault === null || fault === undefined || (fault.field !== null && fields.includes(fault.field)) ? null : (
    <FieldError id="form-error" text={fault.text} setting={setting} />
  );

interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Child;
}

/** The first cell heads its row. On a phone each row becomes a block of lines. */
export const Table = <Row,>({ label, columns, rows }: { label: string; columns: readonly Column<Row>[]; rows: readonly Row[] }) => (
  <table class="listing">
    <caption class="visually-hidden">{label}</caption>
    <thead>
      <tr>
        {columns.map(({ head }) => (
          <th scope="col">{head}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr>
          {columns.map(({ head, cell }, at) => (at === 0 ? <th scope="row">{cell(row)}</th> : <td data-label={head}>{cell(row)}</td>))}
        </tr>
      ))}
    </tbody>
  </table>
);

const tones = { good: "tick", caution: "clock", bad: "cross", plain: "dot" } as const;
export type Tone = keyof typeof tones;

export const Status: FC<{ tone: Tone; text: string }> = ({ tone, text }) => (
  <span class={tone === "plain" ? "status" : `status ${tone}`}>
    <Shape name={tones[tone]} />
    {text}
  </span>
);

export const Pages: FC<{ words: PortalWords; page: number; pages: number; at: (page: number) => string }> = ({
  words,
  page,
  pages,
  at,
}) => (
  <nav class="pages" aria-label={words.pages.label}>
    <p>{filled(words.pages.at, { page: String(page), pages: String(pages) })}</p>
    {page > 1 && <a href={at(1)}>{words.pages.first}</a>}
    {page > 1 && (
      <a href={at(page - 1)} rel="prev">
        {words.pages.previous}
      </a>
    )}
    {page < pages && (
      <a href={at(page + 1)} rel="next">
        {words.pages.next}
      </a>
    )}
  </nav>
);

/** Why there is no form for this reader; nothing where there is one. */
const readerBar = ({ words, member }: PortalView, ownerOnly = true): string | null => {
  if (!mayWrite(member.business.status).ok) return words.pastDue;
  return ownerOnly && member.role !== "owner" ? words.ownersOnly : null;
};

/** What stands in the place of a form or button that the reader may not use. */
export const Allowed: FC<{ view: PortalView; ownerOnly?: boolean; children?: Child }> = ({ view, ownerOnly = true, children }) => {
  const bar = readerBar(view, ownerOnly);
  return bar === null ? <div class="allowed">{children}</div> : <p class="quiet">{bar}</p>;
};

const Links: FC<{ view: PortalView; tab: Tab | null; label: string; class: string }> = ({ view, tab, label, class: classes }) => (
  <nav class={classes} aria-label={label}>
    <ul>
      {tabs
        .filter(([name]) => view.environment === "sandbox" || name !== "sandbox")
        .map(([name, path]) => (
          <li>
            <a href={view.at(path)} aria-current={name === tab ? (view.at(path) === view.path ? "page" : "true") : undefined}>
              {view.words.tabs[name]}
            </a>
          </li>
        ))}
    </ul>
  </nav>
);

/** To another business of the same address; nothing for whoever has one and is invited to none. */
const Switch: FC<{ view: PortalView }> = ({ view }) => {
  const { businesses: said } = view.words;
  const others = view.seats.filter(({ id, invitedUntil }) => invitedUntil === null && id !== view.member.userId);
  const invitations = view.seats.filter(({ invitedUntil }) => invitedUntil !== null).length;
  return (
    <>
      {others.length > 0 && (
        <PostForm view={view} action="/portal/businesses" class="form press switch">
          <label for="switch" class="visually-hidden">
            {said.other}
          </label>
          <select id="switch" name="seat">
            {others.map(({ id, business }) => (
              <option value={id}>{business.name}</option>
            ))}
          </select>
          <button type="submit">{said.switch}</button>
        </PostForm>
      )}
      {(others.length > 0 || invitations > 0) && (
        <a href={view.at("/portal/businesses")}>{invitations === 0 ? said.all : filled(said.waiting, { count: String(invitations) })}</a>
      )}
    </>
  );
};

const Bar: FC<{ view: PortalView }> = ({ view }) => (
  <div class="portal-bar">
    <span>
      <strong>
        <Exact text={view.member.business.name} />
      </strong>
    </span>
    <Switch view={view} />
    <span>
      {view.words.environments[view.environment]} ·{" "}
      <a href={view.environment === "live" ? testRoot : liveRoot}>{view.words.modes[view.environment]}</a>
    </span>
    <span>
      <Exact text={view.email} /> ({view.words.roles[view.member.role]})
    </span>
    <Press view={view} action="/portal/sign-out" label={view.words.signOut} />
  </div>
);

interface Sheet {
  readonly tab: Tab | null;
  readonly title: string;
  readonly content: Child;
  readonly fault?: Fault | null | undefined;
  /** In place of the script that copies. */
  readonly script?: "follow.js";
}

export const portalPage = (view: PortalView, { tab, title, content, fault, script }: Sheet): Page => {
  const { words, done, member } = view;
  const said = done !== null && Object.hasOwn(words.done, done) ? words.done[done as keyof PortalWords["done"]] : null;
  return {
    title: `${fault === null || fault === undefined ? "" : `${words.error} `}${title} · ${brand}`,
    only: "en",
    script: script ?? "copy.js",
    ...(script === "follow.js" && { readsItself: true as const }),
    frame: {
      name: "portal",
      bar: (
        <>
          {view.environment === "sandbox" && (
            <p class="band mode">
              <Shape name="warning" /> <span>{words.testBand}</span> <a href={liveRoot}>{words.modes.sandbox}</a>
            </p>
          )}
          <Bar view={view} />
        </>
      ),
      side: (
        <>
          <details class="menu">
            <summary>{filled(words.menu, { page: tab === null ? title : words.tabs[tab] })}</summary>
            <Links view={view} tab={tab} label={words.menuLabel} class="folded" />
          </details>
          <Links view={view} tab={tab} label={words.sideLabel} class="side" />
        </>
      ),
    },
    content: (
      <article class="portal-page">
        {said !== null && (
          <p class="flash" role="status">
            <Shape name="tick" /> {said}
          </p>
        )}
        {member.business.status === "past_due" && (
          <p class="band">
            <Shape name="warning" /> <span>{words.pastDueBand}</span> <a href={view.at("/portal/billing")}>{words.tabs.billing}</a>
          </p>
        )}
        <h1>{title}</h1>
        {content}
      </article>
    ),
  };
};

/** The address or number of a person as it may be shown. */
export const personText = (masked: Readonly<Record<string, string>>): string =>
  masked.email ?? masked.phone ?? Object.values(masked)[0] ?? "";
