// What the pages behind a person's account share: the way around among them.
import type { Child, FC } from "hono/jsx";
import { accountWords, type AccountWords } from "../shared/i18n/account.ts";
import type { Page } from "../shared/layout.tsx";
import { appPage, type AppView } from "./parts.tsx";

export const accountWordsOf = ({ setting }: AppView): AccountWords => accountWords[setting.language];

export type Section = keyof AccountWords["sections"];

const sections: readonly (readonly [Section, string])[] = [
  ["security", "/app/account"],
  ["agents", "/app/agents"],
  ["removals", "/app/removals"],
  ["export", "/app/export"],
  ["delete", "/app/delete"],
];

export const Sections: FC<{ view: AppView; section: Section }> = ({ view, section }) => {
  const words = accountWordsOf(view);
  return (
    <nav class="views" aria-label={words.sectionsLabel}>
      <ul>
        {sections.map(([name, path]) => (
          <li>
            <a href={path} aria-current={name === section ? "true" : undefined}>
              {words.sections[name]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
};

/** A page of the account, with its title and the way to the others. */
export const sectionPage = (view: AppView, section: Section, title: string, content: Child): Page =>
  appPage(
    view,
    "account",
    title,
    <>
      <h1>{title}</h1>
      <Sections view={view} section={section} />
      {content}
    </>,
  );
