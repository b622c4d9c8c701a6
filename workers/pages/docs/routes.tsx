// GET /docs: the first hour, the guides, and what there is of the API. GET /docs/{name}: one guide. GET /docs/api/{group}: the reference of
// a group of operations, set from the API's own OpenAPI description: all groups on one page would be a megabyte.
// Rendered here and not by a ready-made viewer: those load themselves from elsewhere, need a script to show anything, and break the
// rule that a page is our own files only.
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

/** Where the reader is; folded above the text where there is no room beside it. */
const ContentsNavigation: FC<{ children?: Child }> = ({ children }) => (
  // a tab stop, so that it can be scrolled by keyboard where it stands beside the text
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
const groupPath = (tag: string): string => `/docs/api/${tag}`;

/** The group that is shown has its operations below it. */
const GroupLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>API</p>
    <ul>
      {useApiDocument().tags.map(({ name }) => (
        <li>
          <a href={groupPath(name)} aria-current={name === current ? "page" : undefined}>
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

/** A guide speaks of the addresses of this deployment. */
const GuideContent = (name: string, { baseUrl, verifyUrl, cdnUrl }: Config): Child =>
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
        {GuideContent(quickstart, config)}
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
            <a href={groupPath(name)}>{toTitle(name)}</a>
          </h2>
          <p>
            <InlineMarkdown text={description} />
          </p>
          <ul class="plain">
            {listOperations(document, name).map(({ operationId, summary, method, path }) => (
              <li>
                <a href={`${groupPath(name)}#${operationId}`}>{summary}</a>{" "}
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

/** Set once an isolate: each is the same for everyone. */
const renderCached = (document: ApiDocument, path: string, set: () => Child): Child => {
  const own = renderedPages.get(document) ?? new Map<string, string>();
  renderedPages.set(document, own);
  const text = own.get(path) ?? String(<ApiDocumentProvider value={document}>{set()}</ApiDocumentProvider>);
  own.set(path, text);
  return raw(text);
};

const renderDocsPage = (c: Context<AppEnv>, title: string, content: () => Child): Promise<Response> =>
  renderPage(c, 200, () => ({ title: `${title} · ${productName}`, onlyLanguage: "en", isIndexable: true, content: content() }));

const renderOverview = (c: Context<AppEnv>, document: ApiDocument): Promise<Response> =>
  renderDocsPage(c, "Documentation", () =>
    renderCached(document, "/docs", () => <DocsOverview document={document} config={c.var.services.config} />),
  );

const renderGroup = (c: Context<AppEnv>, document: ApiDocument): Response | Promise<Response> => {
  const found = document.tags.find(({ name }) => name === c.req.param("group"));
  if (found === undefined) return c.notFound();
  return renderDocsPage(c, toTitle(found.name), () =>
    renderCached(document, groupPath(found.name), () => <OperationGroup document={document} {...found} />),
  );
};

const renderGuide = (c: Context<AppEnv>): Response | Promise<Response> => {
  const name = c.req.param("guide") ?? "";
  const found = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (found === undefined) return c.notFound();
  return renderDocsPage(c, found.title, () => (
    <div class="reference">
      <ContentsNavigation>
        <DocsLink />
        <SectionLinks name={name} />
        <GuideLinks current={name} />
      </ContentsNavigation>
      <article class="reference-text guide">
        <h1>{found.title}</h1>
        {GuideContent(name, c.var.services.config)}
      </article>
    </div>
  ));
};

/** `describe` gives the OpenAPI document of the whole app. */
export const registerDocsRoutes = (app: Hono<AppEnv>, describe: () => object): void => {
  app.get("/docs", limitPublicReads, (c) => renderOverview(c, describe() as ApiDocument));
  app.get("/docs/api/:group", limitPublicReads, (c) => renderGroup(c, describe() as ApiDocument));
  app.get("/docs/:guide", limitPublicReads, renderGuide);
};
