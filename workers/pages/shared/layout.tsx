// The layout of every page, and the headers sent with it.
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import type { Child, FC } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { AppEnv } from "../../http/context.ts";
import { isPlainHttp } from "../../http/guards/app-origin.ts";
import { assets } from "../assets.gen.ts";
import { publicMessages } from "../i18n/public.ts";
import { languages, type Language } from "../../../core/language.ts";
import { languageInfo, parseLanguage, selectLanguage } from "./language.ts";
import { Brand, PageContextScope, createPageContext, type PageContext } from "./components.tsx";
import { renderSprite } from "./icons.ts";

export interface Page {
  readonly title: string;
  /** True if the page shows a form error. The title then begins with "Error:". */
  readonly hasError?: boolean;
  readonly script?: keyof typeof assets;
  readonly content: Child;
  readonly navigation?: Child;
  /** Content after the language links of the masthead. */
  readonly mastheadEnd?: Child;
  readonly footer?: Child;
  /** The default, `people`, has a masthead, content and a footer. `portal` and `docs` pages provide their own header. */
  readonly surface?: "people" | "sheet" | "portal" | "docs";
  /** A CSS class that is added to `body`. Used only by pages with the `people` surface. */
  readonly variant?: "certificate" | "front";
  /** Content before `main`: the navigation and top bar of the portal or the documentation. */
  readonly header?: Child;
  /** Content beside `main` in the documentation: the navigation before it and the table of contents after it. */
  readonly side?: { readonly start: Child; readonly end?: Child };
  /** Set for a page that exists in one language only. The page then shows no language links. */
  readonly onlyLanguage?: Language;
  /** Allows search engines to index the page; all other pages forbid it. */
  readonly isIndexable?: true;
  /** Another origin that a form on the page may submit or redirect to. */
  readonly formActionOrigin?: string;
  /** Allows the page script to fetch the page again. */
  readonly canFetchItself?: true;
  /** True if the language links keep the page's other query parameters. */
  readonly preservesQuery?: true;
}

/**
 * Allows only files from this origin and images in `data:` URLs, and forbids framing. Scripts may send requests only if `canFetchItself` is
 * set. Forms may submit only to this origin and to `formActionOrigin`.
 */
const buildContentSecurityPolicy = ({ formActionOrigin, canFetchItself }: Page): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ...(canFetchItself === true ? ["connect-src 'self'"] : []),
    `form-action 'self'${formActionOrigin === undefined ? "" : ` ${formActionOrigin}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * Lets a page keep its connection to the window that opened it. Every response needs this header, including errors, because a response with
 * any other value cuts the connection for good.
 */
export const allowOpener = createMiddleware<AppEnv>(async (c, next) => {
  c.header("Cross-Origin-Opener-Policy", "unsafe-none");
  await next();
});

const buildLanguageQuery = (search: string, language: Language): string => {
  const query = new URLSearchParams(search);
  query.set("lang", language);
  return `?${query}`;
};

const LanguageLinks: FC<{ current: Language; search: string; isShort?: boolean }> = ({ current, search, isShort = false }) => (
  <nav class="langs" aria-label={publicMessages[current].language}>
    {languages.map((language) => (
      <a
        href={buildLanguageQuery(search, language)}
        lang={language}
        hreflang={language}
        aria-current={language === current ? "true" : undefined}
      >
        {isShort ? (
          <>
            {language.slice(0, 2).toUpperCase()}
            <span class="visually-hidden"> {languageInfo[language].name}</span>
          </>
        ) : (
          languageInfo[language].name
        )}
      </a>
    ))}
  </nav>
);

interface FrameProps {
  readonly page: Page;
  readonly languageLinks: Child;
  readonly main: Child;
}

const Frame: FC<FrameProps> = ({ page, languageLinks, main }) => {
  switch (page.surface) {
    case "sheet":
      return (
        <div class="sheet">
          <header>
            <Brand />
            {languageLinks}
          </header>
          {main}
        </div>
      );
    case "portal":
      return (
        <>
          {page.header}
          {main}
        </>
      );
    case "docs":
      return (
        <>
          {page.header}
          <div class="docs-grid">
            {page.side?.start}
            {main}
            {page.side?.end}
          </div>
        </>
      );
    default:
      return (
        <>
          <header class="masthead">
            <div>
              <Brand />
              {page.navigation}
              {languageLinks}
              {page.mastheadEnd}
            </div>
          </header>
          {main}
          {page.footer !== undefined && (
            <footer class="foot">
              <div>{page.footer}</div>
            </footer>
          )}
        </>
      );
  }
};

const bodyClasses = { people: "people", sheet: "sheet-page", portal: "portal", docs: "docs" } as const;

const PageLayout: FC<{ page: Page; context: PageContext; search: string }> = ({ page, context: { language, messages }, search }) => {
  const { surface = "people", variant } = page;
  const hasShortLinks = surface === "sheet" || (page.navigation !== undefined && variant !== "front");
  return (
    <html lang={language} dir={languageInfo[language].direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {/* On pages for people, phones color the address bar like the top of the page: `--paper` in tokens.css. */}
        {(surface === "people" || surface === "sheet") && (
          <>
            <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#15181d" />
            <meta name="theme-color" content="#ffffff" />
          </>
        )}
        <title>
          {page.hasError === true && `${messages.error} `}
          {page.title}
        </title>
        <link rel="icon" type="image/svg+xml" href={assets["mark.svg"]} />
        <link rel="stylesheet" href={assets["app.css"]} />
        {page.script !== undefined && <script type="module" src={assets[page.script]} />}
      </head>
      <body class={variant === undefined ? bodyClasses[surface] : `${bodyClasses[surface]} ${variant}`}>
        <a class="skip" href="#content">
          {messages.skip}
        </a>
        <Frame
          page={page}
          languageLinks={page.onlyLanguage === undefined && <LanguageLinks current={language} search={search} isShort={hasShortLinks} />}
          main={
            <main id="content" tabindex={-1}>
              {page.content}
            </main>
          }
        />
      </body>
    </html>
  );
};

/** The cookie that stores the language that was selected in the app. */
const languageCookie = "svc_lang";
const languageCookieSeconds = 365 * 86_400;

/**
 * Selects the first of these: `lang` in the query, `locale` in the query (set by a page that opens the consent sheet), the saved language,
 * and the browser's language.
 */
export const getPageLanguage = (c: Context<AppEnv>): Language =>
  selectLanguage(c.req.query("lang") ?? c.req.query("locale") ?? getCookie(c, languageCookie), c.req.header("accept-language"));

/** Saves the language in `?lang=` if it is supported. */
export const saveLanguage = (c: Context<AppEnv>): void => {
  const selected = parseLanguage(c.req.query("lang"));
  if (selected !== null)
    setCookie(c, languageCookie, selected, { path: "/", sameSite: "Lax", secure: !isPlainHttp(c), maxAge: languageCookieSeconds });
};

/** Renders a page in the reader's language or, if the page exists in only one language, in that language. */
export const renderPage = async (
  c: Context<AppEnv>,
  status: ContentfulStatusCode,
  buildPage: (context: PageContext) => Page,
  language: Language = getPageLanguage(c),
): Promise<Response> => {
  const requested = createPageContext(language, parseLanguage(c.req.query("lang")));
  const page = buildPage(requested);
  const context = page.onlyLanguage === undefined ? requested : createPageContext(page.onlyLanguage);
  c.header("Content-Security-Policy", buildContentSecurityPolicy(page));
  if (page.isIndexable !== true) c.header("X-Robots-Tag", "noindex, nofollow");
  c.header("Content-Language", context.language);
  c.header("Vary", "Accept-Language", { append: true });
  const html = await (
    <PageContextScope.Provider value={context}>
      <PageLayout page={page} context={context} search={page.preservesQuery === true ? new URL(c.req.url).search : ""} />
    </PageContextScope.Provider>
  ).toString();
  return c.html(`<!doctype html>${html.replace(/<\/body><\/html>$/, (end) => renderSprite(html) + end)}`, status);
};
