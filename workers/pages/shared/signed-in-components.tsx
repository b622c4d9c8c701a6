// Components that the signed-in pages of the portal and the app share.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { CopyButton, Icon } from "./components.tsx";
import type { SignedInRequest } from "./signed-in-handlers.ts";

/** Creates a context that is always set for components of a realm's pages; `use` throws outside of it. */
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
  readonly children?: Child;
}

/** A POST form with the token that `createSignedInHandlers` checks. */
export const TokenForm: FC<PostFormProps & Pick<SignedInRequest, "formToken">> = async ({
  action,
  formToken,
  hiddenValues,
  class: classes = "form",
  children,
}) => {
  const hidden = { form: await formToken(action), ...hiddenValues };
  return (
    <form method="post" action={action} class={classes}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
};

export const FlashBanner: FC<{ children?: Child }> = ({ children }) => (
  <p class="flash" role="status">
    <Icon name="tick" />
    {children}
  </p>
);

interface NavigationListProps {
  readonly label: string;
  readonly class?: string;
  /** `current` is "page" for the page itself and "true" for a page within it. */
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

interface DataTableProps {
  readonly class: string;
  readonly caption?: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly Child[])[];
}

/** A table whose first cell heads its row. On a narrow screen each row becomes a block, and each other cell shows its heading. */
export const DataTable: FC<DataTableProps> = ({ class: classes, caption, headings, rows }) => (
  <table class={classes}>
    {caption !== undefined && <caption class="visually-hidden">{caption}</caption>}
    <thead>
      <tr>
        {headings.map((heading) => (
          <th scope="col">{heading}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((cells) => (
        <tr>{cells.map((cell, index) => (index === 0 ? <th scope="row">{cell}</th> : <td data-label={headings[index]}>{cell}</td>))}</tr>
      ))}
    </tbody>
  </table>
);

interface SecretSectionProps {
  readonly heading: string;
  /** Null if the secret was already shown: only the heading and the children are rendered. */
  readonly value: string | null;
  readonly label: string;
  readonly labelId?: string;
  readonly copyLabel: string;
  readonly children?: Child;
}

/** A secret that is shown only once, with a button to copy it. */
export const SecretSection: FC<SecretSectionProps> = ({ heading, value, label, labelId, copyLabel, children }) => (
  <section class="secret" aria-labelledby="secret">
    <h2 id="secret">{heading}</h2>
    {value !== null && (
      <>
        <p id={labelId}>{label}</p>
        <p>
          <code class="whole" id="secret-value" translate="no">
            {value}
          </code>{" "}
          <CopyButton of="secret-value" label={copyLabel} />
        </p>
      </>
    )}
    {children}
  </section>
);
