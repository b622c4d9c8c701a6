// biome-ignore-all lint/a11y/noRedundantRoles: a browser drops the roles of a table that is displayed as blocks
// Components that the signed-in pages of the portal and the app share.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { CopyButton, Notice } from "./components.tsx";
import type { SignedInRequest } from "./signed-in-handlers.ts";

/** Creates a context whose `use` function throws if the context is not set. */
export const createRequiredContext = <T extends object>(name: string) => {
  const RequiredContext = createContext<T | null>(null);
  const use = (): T => {
    const value = useContext(RequiredContext);
    if (value === null) throw new Error(`${name}: a component was rendered outside of a signed-in page`);
    return value;
  };
  return { Provider: RequiredContext.Provider, use };
};

export interface PostFormProps {
  readonly action: string;
  readonly hiddenValues?: Readonly<Record<string, string>> | undefined;
  readonly class?: string | undefined;
  /** Makes the form a landmark with this name for screen readers. */
  readonly label?: string | undefined;
  /** The ID of the element that names the form, instead of `label`. */
  readonly labelledBy?: string | undefined;
  readonly role?: "search" | undefined;
  readonly children?: Child;
}

/** A POST form with the token that `createSignedInHandlers` checks. */
export const TokenForm: FC<PostFormProps & Pick<SignedInRequest, "formToken">> = async ({
  action,
  formToken,
  hiddenValues,
  class: classes = "form",
  label,
  labelledBy,
  role,
  children,
}) => {
  const hidden = { form: await formToken(action), ...hiddenValues };
  return (
    <form method="post" action={action} class={classes} role={role} aria-label={label} aria-labelledby={labelledBy}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
};

/** Shows a message about what the person just did. */
export const FlashBanner: FC<{ children?: Child }> = ({ children }) => (
  <Notice tone="good" icon="circle-check" title={children} role="status" />
);

interface NavigationListProps {
  readonly label: string;
  readonly class?: string;
  /** `current` is "page" if the link leads to the current page, and "true" if the current page is below the linked one. */
  readonly links: readonly { readonly path: string; readonly text: Child; readonly current: "page" | "true" | undefined }[];
}

export const NavigationList: FC<NavigationListProps> = ({ label, class: classes, links }) => (
  <nav class={classes} aria-label={label}>
    <ul>
      {links.map(({ path, text, current }) => (
        <li>
          <a href={path} aria-current={current}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/**
 * How a column is shown. On a narrow screen, each row becomes a block: a `corner` column moves to a corner of the block, and a `plain`
 * column has no label. `minor` columns are hidden if there is little room.
 */
type ColumnKind = "corner" | "plain" | "minor" | "number" | "minor number";

const columnClasses = { corner: "corner", plain: undefined, minor: "wide-only", number: "num", "minor number": "num wide-only" } as const;

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly (readonly [heading: string, cell: (row: Row) => Child, kind?: ColumnKind])[];
  /** A sentence to show instead of a table without rows. */
  readonly emptyMessage?: Child;
  /** An empty state to show instead of a table without rows. */
  readonly empty?: ReturnType<FC>;
}

/**
 * A table that is as wide as its card, and uses the first cell of each row as the row's header. The roles are explicit, because browsers
 * drop a table's implicit roles when it is displayed as blocks.
 */
export const Table = <Row,>({ label, rows, columns, emptyMessage, empty }: TableProps<Row>) =>
  rows.length === 0 && empty !== undefined ? (
    empty
  ) : rows.length === 0 && emptyMessage !== undefined ? (
    <p class="body quiet">{emptyMessage}</p>
  ) : (
    <table class={columns.length <= 4 ? "table few" : "table"} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(([heading, , kind]) => (
            <th role="columnheader" scope="col" class={kind && columnClasses[kind]}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row">
            {columns.map(([heading, cell, kind], index) =>
              index === 0 ? (
                <th role="rowheader" scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td
                  role="cell"
                  class={kind && columnClasses[kind]}
                  data-label={kind === "corner" || kind === "plain" ? undefined : heading}
                >
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );

interface SecretSectionProps {
  readonly heading: string;
  /** Null if the secret was already shown. The section then contains only the heading and the children. */
  readonly value: string | null;
  readonly label: string;
  readonly labelId?: string;
  readonly copyLabel: string;
  readonly children?: Child;
}

/** A value in a monospaced font with a button that copies it. */
export const CopyLine: FC<{ id: string; value: string; copyLabel: string }> = ({ id, value, copyLabel }) => (
  <div class="copyline">
    <code id={id} translate="no">
      {value}
    </code>
    <CopyButton elementId={id} label={copyLabel} />
  </div>
);

/** A secret with a button to copy it, or only a heading if the secret was already shown. */
export const SecretSection: FC<SecretSectionProps> = ({ heading, value, label, labelId, copyLabel, children }) => (
  <section class="card" aria-labelledby="secret">
    <div class="body stack">
      {value === null ? (
        <h2 id="secret">{heading}</h2>
      ) : (
        <>
          <Notice tone="caution" icon="key-round" title={<span id="secret">{heading}</span>} />
          <p id={labelId} class="small">
            <strong>{label}</strong>
          </p>
          <CopyLine id="secret-value" value={value} copyLabel={copyLabel} />
        </>
      )}
      {children}
    </div>
  </section>
);
