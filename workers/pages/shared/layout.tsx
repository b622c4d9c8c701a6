// The frame of every page, and the headers every page is answered with.
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import type { Child, FC } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { AppEnv } from "../../http/context.ts";
import { isPlainHttp } from "../../http/guards/app-origin.ts";
import { assets } from "../assets.gen.ts";
import { productName } from "./brand.ts";
import { publicMessages } from "../i18n/public.ts";
import { languageInfo, parseLanguage, languages, selectLanguage, type Language } from "./language.ts";
import { PageContextScope, createPageContext, type PageContext } from "./components.tsx";

export interface Page {
  readonly title: string;
  /** What was typed on the page is wrong: the title says so first. */
  readonly isFaulty?: boolean;
  readonly script?: keyof typeof assets;
  readonly content: Child;
  /** Under the masthead: where somebody who is signed in can go. The page is then a little wider. */
  readonly navigation?: Child;
  readonly footer?: string;
  /** For a page that exists in one language only: no choice is offered, and the page says which language it is in. */
  readonly onlyLanguage?: Language;
  /** For a page that everybody may find; all others are only for whoever has their address. */
  readonly isIndexable?: true;
  /** An origin that a form of the page leads to, where that is not the page's own. */
  readonly formsTo?: string;
  /** Its script reads the page again. */
  readonly readsItself?: true;
  /** The rest of the address belongs to the page, in every language. */
  readonly keepsQuery?: true;
  /** For pages of people who are signed in: who they are, in the masthead, and where they can go, between it and the page. */
  readonly shell?: { readonly name: "portal"; readonly bar?: Child; readonly side?: Child };
}

/** Nothing but our own files, no request by a script, no form to anywhere else, in nobody's frame. Styles and scripts stand in files only. */
const buildContentSecurityPolicy = ({ formsTo, readsItself }: Page): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ...(readsItself === true ? ["connect-src 'self'"] : []),
    `form-action 'self'${formsTo === undefined ? "" : ` ${formsTo}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * For pages that are opened in a window of another page. Of every answer, a crowded one and one that is no page too: any other value cuts
 * the window off from the page that opened it.
 */
export const allowOpener = createMiddleware<AppEnv>(async (c, next) => {
  c.header("Cross-Origin-Opener-Policy", "unsafe-none");
  await next();
});

/** The same address in another language. */
const buildLanguageQuery = (search: string, language: Language): string => {
  const query = new URLSearchParams(search);
  query.set("lang", language);
  return `?${query}`;
};

const LanguageLinks: FC<{ current: Language; search: string }> = ({ current, search }) => (
  <nav class="languages" aria-label={publicMessages[current].language}>
    <ul>
      {languages.map((language) => (
        <li>
          <a
            href={buildLanguageQuery(search, language)}
            lang={language}
            hreflang={language}
            aria-current={language === current ? "true" : undefined}
          >
            {languageInfo[language].name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const PageLayout: FC<{ page: Page; setting: PageContext; search: string }> = ({ page, setting: { language, messages }, search }) => (
  <html lang={language} dir={languageInfo[language].direction}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>
        {page.isFaulty === true && `${messages.error} `}
        {page.title}
      </title>
      <link rel="icon" type="image/svg+xml" href={assets["mark.svg"]} />
      <link rel="stylesheet" href={assets["app.css"]} />
      {page.script !== undefined && <script type="module" src={assets[page.script]} />}
    </head>
    <body class={page.shell?.name ?? (page.navigation === undefined ? undefined : "app")}>
      <a class="skip" href="#content">
        {messages.skip}
      </a>
      <header class="masthead">
        <p class="brand">
          <a href="/">
            <img src={assets["mark.svg"]} width="20" height="20" alt="" />
            {productName}
          </a>
        </p>
        {page.onlyLanguage === undefined && <LanguageLinks current={language} search={search} />}
        {page.navigation}
        {page.shell?.bar}
      </header>
      {page.shell?.side}
      <main id="content" tabindex={-1}>
        {page.content}
      </main>
      {page.footer !== undefined && (
        <footer class="colophon">
          <p>{page.footer}</p>
        </footer>
      )}
    </body>
  </html>
);

/** Holds a language that was chosen in the app, and nothing else. */
const languageCookie = "svc_lang";
const languageCookieSeconds = 365 * 86_400;

/** The language of this address, by choice or by the page that asked for the consent sheet; else the one chosen before, else the browser's. */
export const getPageLanguage = (c: Context<AppEnv>): Language =>
  selectLanguage(c.req.query("lang") ?? c.req.query("locale") ?? getCookie(c, languageCookie), c.req.header("accept-language"));

/** Keeps a language that was chosen in the address. */
export const saveLanguage = (c: Context<AppEnv>): void => {
  const chosen = parseLanguage(c.req.query("lang"));
  if (chosen !== null)
    setCookie(c, languageCookie, chosen, { path: "/", sameSite: "Lax", secure: !isPlainHttp(c), maxAge: languageCookieSeconds });
};

/** Answers with a page in the reader's language. */
export const renderPage = async (
  c: Context<AppEnv>,
  status: ContentfulStatusCode,
  pageOf: (setting: PageContext) => Page,
  language: Language = getPageLanguage(c),
): Promise<Response> => {
  const asked = createPageContext(language, parseLanguage(c.req.query("lang")));
  const page = pageOf(asked);
  const setting = page.onlyLanguage === undefined ? asked : createPageContext(page.onlyLanguage);
  c.header("Content-Security-Policy", buildContentSecurityPolicy(page));
  if (page.isIndexable !== true) c.header("X-Robots-Tag", "noindex, nofollow");
  c.header("Content-Language", setting.language);
  c.header("Vary", "Accept-Language", { append: true });
  const html = await (
    <PageContextScope.Provider value={setting}>
      <PageLayout page={page} setting={setting} search={page.keepsQuery === true ? new URL(c.req.url).search : ""} />
    </PageContextScope.Provider>
  ).toString();
  return c.html(`<!doctype html>${html}`, status);
};
