// GET /docs: quickstart, guides and API overview. GET /docs/{name}: one guide. GET /docs/api/{group}: the reference of one group of
// operations, rendered from the OpenAPI document; all groups on one page would be a megabyte.
// Existing OpenAPI viewers are not used: they load files from other origins and do not work without scripts.
import type { Context, Hono } from "hono";
import { raw } from "hono/html";
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { limitPublicReads } from "../../http/guards/rate-limits.ts";
import { productName } from "../shared/brand.ts";
import {
  ApiDocumentProvider,
  EventTypes,
  InlineMarkdown,
  OperationSection,
  MarkdownParagraphs,
  useApiDocument,
} from "./operation-section.tsx";
import { listOperations, type ApiDocument } from "./openapi-document.ts";
import { guides } from "../guides.gen.ts";
import { renderPage } from "../shared/layout.tsx";

/** The table of contents: next to the text, or collapsed above it on narrow screens. */
const ContentsNavigation: FC<{ children?: Child }> = ({ children }) => (
  // focusable, so that it can be scrolled with the keyboard
  <nav class="contents" aria-label="Contents" tabindex={0}>
    <details>
      <summary>Contents</summary>
      <ul>{children}</ul>
    </details>
  </nav>
);

const quickstart = "first-hour";
const otherGuides = Object.entries(guides).filter(([name]) => name !== quickstart);

const GuideLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>Guides</p>
    <ul>
      {otherGuides.map(([name, { title }]) => (
        <li>
          <a href={`/docs/${name}`} aria-current={name === current ? "page" : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </li>
);

const SectionLinks: FC<{ name: string }> = ({ name }) => (
  <li>
    <p>{guides[name]?.title}</p>
    <ul>
      {guides[name]?.sections.map(({ id, title }) => (
        <li>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
    </ul>
  </li>
);

const toTitle = (tag: string): string => tag.charAt(0).toUpperCase() + tag.slice(1);
const toGroupPath = (tag: string): string => `/docs/api/${tag}`;

/** Groups of the API; the current one also lists its operations. */
const GroupLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>API</p>
    <ul>
      {useApiDocument().tags.map(({ name }) => (
        <li>
          <a href={toGroupPath(name)} aria-current={name === current ? "page" : undefined}>
            {toTitle(name)}
          </a>
          {name === current && (
            <ul>
              {listOperations(useApiDocument(), name).map(({ operationId, summary, method }) => (
                <li>
                  <a href={`#${operationId}`}>
                    {summary} <span class="contents-method">{method}</span>
                  </a>
                </li>
              ))}
              {name === "events" && (
                <li>
                  <a href="#event-types">What is posted to your endpoints</a>
                </li>
              )}
            </ul>
          )}
        </li>
      ))}
    </ul>
  </li>
);

const DocsLink: FC = () => (
  <li>
    <a href="/docs">Documentation</a>
  </li>
);

/** The guide's HTML, with the URLs of this deployment. */
const renderGuideContent = (name: string, { baseUrl, verifyUrl, cdnUrl }: Config): Child =>
  raw(
    (guides[name]?.html ?? "")
      .replaceAll("{cdn_url}", cdnUrl)
      .replaceAll("{verify_url}", verifyUrl)
      .replaceAll("https://api.example.com", new URL(baseUrl).origin),
  );

const DocsOverview: FC<{ document: ApiDocument; config: Config }> = ({ document, config }) => (
  <div class="reference">
    <ContentsNavigation>
      <SectionLinks name={quickstart} />
      <GuideLinks />
      <GroupLinks />
    </ContentsNavigation>
    <article class="reference-text">
      <h1>Documentation</h1>
      <section class="guide" aria-labelledby="first-hour">
        <h2 id="first-hour">{guides[quickstart]?.title}</h2>
        {renderGuideContent(quickstart, config)}
      </section>
      <section aria-labelledby="guides">
        <h2 id="guides">Guides</h2>
        <ul class="plain">
          {otherGuides.map(([name, { title }]) => (
            <li>
              <a href={`/docs/${name}`}>{title}</a>
            </li>
          ))}
        </ul>
      </section>
      <h2 class="part">{document.info.title}</h2>
      <p class="quiet">
        Version {document.info.version}, at <code translate="no">{document.servers[0]?.url}</code>. For tools:{" "}
        <a href="/v1/openapi.json">the OpenAPI 3.1 description</a>, from which the reference is set.
      </p>
      <section aria-labelledby="introduction">
        <h2 id="introduction" tabindex={-1}>
          Introduction
        </h2>
        <MarkdownParagraphs text={document.info.description} />
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys" tabindex={-1}>
          API keys and sessions
        </h2>
        {Object.values(document.components.securitySchemes).map(({ description = "" }) => (
          <MarkdownParagraphs text={description} />
        ))}
      </section>
      {document.tags.map(({ name, description }) => (
        <section aria-labelledby={`tag-${name}`}>
          <h2 id={`tag-${name}`}>
            <a href={toGroupPath(name)}>{toTitle(name)}</a>
          </h2>
          <p>
            <InlineMarkdown text={description} />
          </p>
          <ul class="plain">
            {listOperations(document, name).map(({ operationId, summary, method, path }) => (
              <li>
                <a href={`${toGroupPath(name)}#${operationId}`}>{summary}</a>{" "}
                <span class="call">
                  <span class="method">{method}</span> <code translate="no">{path}</code>
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  </div>
);

const OperationGroup: FC<{ document: ApiDocument; name: string; description: string }> = ({ document, name, description }) => (
  <div class="reference">
    <ContentsNavigation>
      <DocsLink />
      <GroupLinks current={name} />
      <GuideLinks />
    </ContentsNavigation>
    <article class="reference-text">
      <h1>{toTitle(name)}</h1>
      <p>
        <InlineMarkdown text={description} />
      </p>
      {listOperations(document, name).map((operation) => (
        <OperationSection operation={operation} />
      ))}
      {name === "events" && <EventTypes />}
    </article>
  </div>
);

const renderedPages = new WeakMap<ApiDocument, Map<string, string>>();

/** Renders a page once per isolate, because it is the same for everyone. */
const renderCached = (document: ApiDocument, path: string, render: () => Child): Child => {
  const pages = renderedPages.get(document) ?? new Map<string, string>();
  renderedPages.set(document, pages);
  const html = pages.get(path) ?? String(<ApiDocumentProvider value={document}>{render()}</ApiDocumentProvider>);
  pages.set(path, html);
  return raw(html);
};

const renderDocsPage = (c: Context<AppEnv>, title: string, content: () => Child): Promise<Response> =>
  renderPage(c, 200, () => ({ title: `${title} · ${productName}`, onlyLanguage: "en", isIndexable: true, content: content() }));

const renderOverview = (c: Context<AppEnv>, document: ApiDocument): Promise<Response> =>
  renderDocsPage(c, "Documentation", () =>
    renderCached(document, "/docs", () => <DocsOverview document={document} config={c.var.services.config} />),
  );

const renderGroup = (c: Context<AppEnv>, document: ApiDocument): Response | Promise<Response> => {
  const group = document.tags.find(({ name }) => name === c.req.param("group"));
  if (group === undefined) return c.notFound();
  return renderDocsPage(c, toTitle(group.name), () =>
    renderCached(document, toGroupPath(group.name), () => <OperationGroup document={document} {...group} />),
  );
};

const renderGuide = (c: Context<AppEnv>): Response | Promise<Response> => {
  const name = c.req.param("guide") ?? "";
  const guide = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (guide === undefined) return c.notFound();
  return renderDocsPage(c, guide.title, () => (
    <div class="reference">
      <ContentsNavigation>
        <DocsLink />
        <SectionLinks name={name} />
        <GuideLinks current={name} />
      </ContentsNavigation>
      <article class="reference-text guide">
        <h1>{guide.title}</h1>
        {renderGuideContent(name, c.var.services.config)}
      </article>
    </div>
  ));
};

/** `getDocument` returns the OpenAPI document of the whole app. */
export const registerDocsRoutes = (app: Hono<AppEnv>, getDocument: () => object): void => {
  app.get("/docs", limitPublicReads, (c) => renderOverview(c, getDocument() as ApiDocument));
  app.get("/docs/api/:group", limitPublicReads, (c) => renderGroup(c, getDocument() as ApiDocument));
  app.get("/docs/:guide", limitPublicReads, renderGuide);
};
