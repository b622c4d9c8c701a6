// GET /docs: the first hour, the guides, and what there is of the API. GET /docs/{name}: one guide. GET /docs/api/{group}: the reference of
// a group of operations, set from the API's own OpenAPI description: all groups on one page would be a megabyte.
// Rendered here and not by a ready-made viewer: those load themselves from elsewhere, need a script to show anything, and break the
// rule that a page is our own files only.
import type { Context, Hono } from "hono";
import { raw } from "hono/html";
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import type { Api } from "../../http/context.ts";
import { publicRead } from "../../http/guards.ts";
import { brand } from "../shared/brand.ts";
import { DescriptionProvider, EventTypes, Inline, OperationSection, Paragraphs, useDescription } from "./docs-operations.tsx";
import { operationsOf, type ApiDocument } from "./docs-reading.ts";
import { guides } from "../guides.gen.ts";
import { pageAnswer } from "../shared/layout.tsx";

/** Where the reader is; folded above the text where there is no room beside it. */
const Contents: FC<{ children?: Child }> = ({ children }) => (
  // a tab stop, so that it can be scrolled by keyboard where it stands beside the text
  <nav class="contents" aria-label="Contents" tabindex={0}>
    <details>
      <summary>Contents</summary>
      <ul>{children}</ul>
    </details>
  </nav>
);

const firstHour = "first-hour";
const furtherGuides = Object.entries(guides).filter(([name]) => name !== firstHour);

const GuideLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>Guides</p>
    <ul>
      {furtherGuides.map(([name, { title }]) => (
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

const titleOf = (tag: string): string => tag.charAt(0).toUpperCase() + tag.slice(1);
const groupPath = (tag: string): string => `/docs/api/${tag}`;

/** The group that is shown has its operations below it. */
const GroupLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>API</p>
    <ul>
      {useDescription().tags.map(({ name }) => (
        <li>
          <a href={groupPath(name)} aria-current={name === current ? "page" : undefined}>
            {titleOf(name)}
          </a>
          {name === current && (
            <ul>
              {operationsOf(useDescription(), name).map(({ operationId, summary, method }) => (
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
const guideText = (name: string, { baseUrl, verifyUrl, cdnUrl }: Config): Child =>
  raw(
    (guides[name]?.html ?? "")
      .replaceAll("{cdn_url}", cdnUrl)
      .replaceAll("{verify_url}", verifyUrl)
      .replaceAll("https://api.example.com", new URL(baseUrl).origin),
  );

const Overview: FC<{ document: ApiDocument; config: Config }> = ({ document, config }) => (
  <div class="reference">
    <Contents>
      <SectionLinks name={firstHour} />
      <GuideLinks />
      <GroupLinks />
    </Contents>
    <article class="reference-text">
      <h1>Documentation</h1>
      <section class="guide" aria-labelledby="first-hour">
        <h2 id="first-hour">{guides[firstHour]?.title}</h2>
        {guideText(firstHour, config)}
      </section>
      <section aria-labelledby="guides">
        <h2 id="guides">Guides</h2>
        <ul class="plain">
          {furtherGuides.map(([name, { title }]) => (
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
        <Paragraphs text={document.info.description} />
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys" tabindex={-1}>
          API keys and sessions
        </h2>
        {Object.values(document.components.securitySchemes).map(({ description = "" }) => (
          <Paragraphs text={description} />
        ))}
      </section>
      {document.tags.map(({ name, description }) => (
        <section aria-labelledby={`tag-${name}`}>
          <h2 id={`tag-${name}`}>
            <a href={groupPath(name)}>{titleOf(name)}</a>
          </h2>
          <p>
            <Inline text={description} />
          </p>
          <ul class="plain">
            {operationsOf(document, name).map(({ operationId, summary, method, path }) => (
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

const Group: FC<{ document: ApiDocument; name: string; description: string }> = ({ document, name, description }) => (
  <div class="reference">
    <Contents>
      <DocsLink />
      <GroupLinks current={name} />
      <GuideLinks />
    </Contents>
    <article class="reference-text">
      <h1>{titleOf(name)}</h1>
      <p>
        <Inline text={description} />
      </p>
      {operationsOf(document, name).map((operation) => (
        <OperationSection operation={operation} />
      ))}
      {name === "events" && <EventTypes />}
    </article>
  </div>
);

const texts = new WeakMap<ApiDocument, Map<string, string>>();

/** Set once an isolate: each is the same for everyone. */
const kept = (document: ApiDocument, path: string, set: () => Child): Child => {
  const own = texts.get(document) ?? new Map<string, string>();
  texts.set(document, own);
  const text = own.get(path) ?? String(<DescriptionProvider value={document}>{set()}</DescriptionProvider>);
  own.set(path, text);
  return raw(text);
};

const shown = (c: Context<Api>, title: string, content: () => Child): Promise<Response> =>
  pageAnswer(c, 200, () => ({ title: `${title} · ${brand}`, only: "en", findable: true, content: content() }));

const overview = (c: Context<Api>, document: ApiDocument): Promise<Response> =>
  shown(c, "Documentation", () => kept(document, "/docs", () => <Overview document={document} config={c.var.services.config} />));

const group = (c: Context<Api>, document: ApiDocument): Response | Promise<Response> => {
  const found = document.tags.find(({ name }) => name === c.req.param("group"));
  if (found === undefined) return c.notFound();
  return shown(c, titleOf(found.name), () => kept(document, groupPath(found.name), () => <Group document={document} {...found} />));
};

const guide = (c: Context<Api>): Response | Promise<Response> => {
  const name = c.req.param("guide") ?? "";
  const found = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (found === undefined) return c.notFound();
  return shown(c, found.title, () => (
    <div class="reference">
      <Contents>
        <DocsLink />
        <SectionLinks name={name} />
        <GuideLinks current={name} />
      </Contents>
      <article class="reference-text guide">
        <h1>{found.title}</h1>
        {guideText(name, c.var.services.config)}
      </article>
    </div>
  ));
};

/** `describe` gives the OpenAPI document of the whole app. */
export const mountDocs = (app: Hono<Api>, describe: () => object): void => {
  app.get("/docs", publicRead, (c) => overview(c, describe() as ApiDocument));
  app.get("/docs/api/:group", publicRead, (c) => group(c, describe() as ApiDocument));
  app.get("/docs/:guide", publicRead, guide);
};
