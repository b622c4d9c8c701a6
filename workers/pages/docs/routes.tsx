// The documentation pages:
// - GET /docs: lists the guides and the API's operations
// - GET /docs/{name}: a guide
// - GET /docs/api/{group}: the operations of a group
// - GET /docs/api/{group}/{operation}: the reference of an operation, rendered from the OpenAPI document
// Each operation has its own page, because one page with all operations of a group would take up to 30 kB compressed. Existing OpenAPI
// viewers are not used, because they load files from other origins and do not work without scripts.
import type { Context, Hono } from "hono";
import { raw } from "hono/html";
import type { Child, FC } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import type { Services } from "../../platform/platform.ts";
import { productName } from "../shared/brand.ts";
import { ApiDocumentProvider, EventTypes, listOperationParts, MarkdownParagraphs, OperationDescription } from "./operation-section.tsx";
import { listEventTypes, listOperations, type ApiDocument } from "./openapi-document.ts";
import { guides } from "../guides.gen.ts";
import { limitPublicPages } from "../home/routes.ts";
import { Brand, Icon, InlineMarkdown, JoinedList, ArrowLink } from "../shared/components.tsx";
import { renderPage } from "../shared/layout.tsx";

type Guide = (typeof guides)[string];

const quickstart = "first-hour";

/** The guides in the navigation, in display order. Every guide is in one group. */
const guideGroups: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ["Get started", [quickstart, "sandbox", "kit"]],
  ["Guides", ["portal", "widget", "integration-helper", "sharing", "webhooks", "withdrawal", "agents"]],
  ["Evidence", ["evidence-pack", "fingerprints", "ledger", "policies"]],
  ["Reference", ["errors", "events", "limits", "page-script"]],
];
const guideOrder = guideGroups.flatMap(([, names]) => names);

const toTitle = (tag: string): string => tag.charAt(0).toUpperCase() + tag.slice(1);
const toGroupPath = (tag: string): string => `/docs/api/${tag}`;

/** The page that describes the webhook events. It is in the `events` group. */
const eventTypesPage = { group: "events", name: "event-types", title: "Webhook events" } as const;

interface GroupPage {
  readonly path: string;
  readonly title: string;
}

/** Lists the pages of a group in display order. */
const listGroupPages = (document: ApiDocument, group: string): readonly GroupPage[] => [
  ...listOperations(document, group).map(({ operationId, summary }) => ({ path: `${toGroupPath(group)}/${operationId}`, title: summary })),
  ...(group === eventTypesPage.group ? [{ path: `${toGroupPath(group)}/${eventTypesPage.name}`, title: eventTypesPage.title }] : []),
];

interface PageSection {
  readonly id: string;
  readonly title: string;
}

const SectionLinks: FC<{ sections: readonly PageSection[] }> = ({ sections }) => (
  <ul>
    {sections.map(({ id, title }) => (
      <li>
        <a href={`#${id}`}>{title}</a>
      </li>
    ))}
  </ul>
);

interface NavigationProps {
  readonly document: ApiDocument;
  readonly current: string;
  readonly sections: readonly PageSection[];
}

interface NavigationEntryProps extends GroupPage {
  readonly current: string;
  readonly sections: readonly PageSection[];
  readonly children?: Child;
}

const NavigationEntry: FC<NavigationEntryProps> = ({ path, title, current, sections, children }) => (
  <li>
    <a href={path} aria-current={path === current ? "page" : undefined}>
      {title}
    </a>
    {path === current && sections.length > 0 && (
      <div class="narrow-only">
        <SectionLinks sections={sections} />
      </div>
    )}
    {children}
  </li>
);

/**
 * Lists the guides and the groups of operations. The current group also shows its pages. On a narrow screen, the current page also shows
 * its sections.
 */
const DocsNavigation: FC<NavigationProps> = ({ document, current, sections }) => {
  const groups = [
    ...guideGroups.map(([heading, names]) => ({
      heading,
      links: names.map((name) => [`/docs/${name}`, guides[name]?.title ?? name] as const),
    })),
    { heading: "API reference", links: document.tags.map(({ name }) => [toGroupPath(name), toTitle(name)] as const) },
  ];
  return (
    // The navigation can receive the keyboard focus, so that people can scroll it with the keyboard.
    <nav class="docs-nav" id="docs-nav" popover="auto" aria-label="Documentation" tabindex={0}>
      <ul aria-label="Start">
        <li>
          <a href="/docs" aria-current={current === "/docs" ? "page" : undefined}>
            Overview
          </a>
        </li>
      </ul>
      {groups.map(({ heading, links }, index) => (
        <>
          <p id={`nav-${index}`}>{heading}</p>
          <ul aria-labelledby={`nav-${index}`}>
            {links.map(([path, title]) => (
              <NavigationEntry path={path} title={title} current={current} sections={sections}>
                {`${current}/`.startsWith(`${path}/`) && path.startsWith(toGroupPath("")) && (
                  <ul class="within">
                    {listGroupPages(document, path.slice(toGroupPath("").length)).map((page) => (
                      <NavigationEntry {...page} current={current} sections={sections} />
                    ))}
                  </ul>
                )}
              </NavigationEntry>
            ))}
          </ul>
        </>
      ))}
    </nav>
  );
};

const OnThisPage: FC<{ sections: readonly PageSection[] }> = ({ sections }) => (
  <nav class="toc" aria-label="On this page" tabindex={0}>
    <p>On this page</p>
    <SectionLinks sections={sections} />
  </nav>
);

const TopBar: FC<{ appUrl: string }> = ({ appUrl }) => (
  <header class="topbar">
    <Brand />
    <span class="quiet small">Docs</span>
    <span class="crumbs" />
    <a class="btn sm" href={`${appUrl}/portal`}>
      Portal
    </a>
    <button type="button" class="btn sm menu" popovertarget="docs-nav">
      <Icon name="menu" />
      Contents
    </button>
  </header>
);

/** Returns the guide's HTML with the URLs of this deployment. */
const loadGuideContent = async ({ readTextAsset, config }: Services, { path }: Guide): Promise<Child> =>
  raw(
    (await readTextAsset(path))
      .replaceAll("{cdn_url}", config.cdnUrl)
      .replaceAll("{verify_url}", config.verifyUrl)
      .replaceAll("{app_url}", config.appUrl)
      .replaceAll("https://api.example.com", new URL(config.baseUrl).origin)
      .replaceAll("api.example.com", new URL(config.baseUrl).host),
  );

/** Links to the next page. Renders nothing on the last page. */
const NextPage: FC<{ page: GroupPage | undefined }> = ({ page }) =>
  page === undefined ? null : (
    <p class="next">
      <span />
      <ArrowLink href={page.path}>Next: {page.title}</ArrowLink>
    </p>
  );

const findNextGuide = (name: string): GroupPage | undefined => {
  const next = guideOrder[guideOrder.indexOf(name) + 1];
  return next === undefined ? undefined : { path: `/docs/${next}`, title: guides[next]?.title ?? next };
};

const CallLine: FC<{ method: string; path: string }> = ({ method, path }) => (
  <span class="call">
    <span class="pill info">{method}</span> <code translate="no">{path}</code>
  </span>
);

const OperationList: FC<{ document: ApiDocument; group: string }> = ({ document, group }) => (
  <ul class="operations">
    {listOperations(document, group).map(({ operationId, summary, method, path }) => (
      <li>
        <a href={`${toGroupPath(group)}/${operationId}`}>{summary}</a> <CallLine method={method} path={path} />
      </li>
    ))}
  </ul>
);

const toGroupId = (heading: string): string => heading.toLowerCase().replaceAll(" ", "-");

const DocsOverview: FC<{ document: ApiDocument }> = ({ document }) => (
  <article class="guide">
    <h1>Documentation</h1>
    <p class="lede">
      Certify consent on your forms, fill them with details that people share, and get an event when someone withdraws consent.
    </p>
    <p class="row">
      <a class="btn primary" href={`/docs/${quickstart}`}>
        Issue your first certificate
      </a>
      <a class="btn" href="#introduction">
        API reference
      </a>
    </p>
    {guideGroups.map(([heading, names]) => (
      <section aria-labelledby={toGroupId(heading)}>
        <h2 id={toGroupId(heading)} tabindex={-1}>
          {heading}
        </h2>
        <ul class="operations">
          {names.map((name) => (
            <li>
              <a href={`/docs/${name}`}>{guides[name]?.title}</a>
              <p class="quiet">
                <InlineMarkdown text={guides[name]?.summary ?? ""} />
              </p>
            </li>
          ))}
        </ul>
      </section>
    ))}
    <h2 id="introduction" tabindex={-1}>
      {document.info.title}
    </h2>
    <p class="quiet">
      Version {document.info.version}, at <code translate="no">{document.servers[0]?.url}</code>. For tools:{" "}
      <a href="/v1/openapi.json">OpenAPI 3.1 description</a>.
    </p>
    <MarkdownParagraphs text={document.info.description} />
    <h2 id="keys" tabindex={-1}>
      API keys and sessions
    </h2>
    {Object.values(document.components.securitySchemes).map(({ description = "" }) => (
      <MarkdownParagraphs text={description} />
    ))}
    {document.tags.map(({ name, description }) => (
      <section class="stack tight" aria-labelledby={`tag-${name}`}>
        <h2 id={`tag-${name}`}>
          <a href={toGroupPath(name)}>{toTitle(name)}</a>
        </h2>
        <p>
          <InlineMarkdown text={description} />
        </p>
        <OperationList document={document} group={name} />
      </section>
    ))}
  </article>
);

const OperationGroup: FC<{ document: ApiDocument; name: string; description: string }> = ({ document, name, description }) => (
  <article class="guide">
    <h1>{toTitle(name)}</h1>
    <p class="lede">
      <InlineMarkdown text={description} />
    </p>
    <OperationList document={document} group={name} />
    {name === eventTypesPage.group && (
      <>
        <h2 id={eventTypesPage.name}>
          <a href={`${toGroupPath(name)}/${eventTypesPage.name}`}>{eventTypesPage.title}</a>
        </h2>
        <p>
          <JoinedList items={listEventTypes(document).map(({ type }) => <code translate="no">{type}</code>)} separator=", " />
        </p>
      </>
    )}
  </article>
);

const renderedPages = new WeakMap<ApiDocument, Map<string, string>>();

/** Renders a page once per isolate, because the page is the same for everyone. */
const renderCached = (document: ApiDocument, path: string, render: () => Child): Child => {
  const pages = renderedPages.get(document) ?? new Map<string, string>();
  renderedPages.set(document, pages);
  const html = pages.get(path) ?? String(<ApiDocumentProvider value={document}>{render()}</ApiDocumentProvider>);
  pages.set(path, html);
  return raw(html);
};

interface DocsPage {
  readonly document: ApiDocument;
  readonly path: string;
  readonly title: string;
  readonly sections: readonly PageSection[];
  readonly content: () => Child;
}

const renderDocsPage = (c: Context<AppEnv>, { document, path, title, sections, content }: DocsPage): Promise<Response> =>
  renderPage(c, 200, () => ({
    title: `${title} · ${productName}`,
    surface: "docs",
    script: "docs.js",
    onlyLanguage: "en",
    isIndexable: true,
    header: <TopBar appUrl={c.var.services.config.appUrl} />,
    side: {
      start: <DocsNavigation document={document} current={path} sections={sections} />,
      end: sections.length > 0 && <OnThisPage sections={sections} />,
    },
    content: content(),
  }));

const renderOverview = (c: Context<AppEnv>, document: ApiDocument): Promise<Response> =>
  renderDocsPage(c, {
    document,
    path: "/docs",
    title: "Documentation",
    sections: [
      ...guideGroups.map(([heading]) => ({ id: toGroupId(heading), title: heading })),
      { id: "introduction", title: document.info.title },
      { id: "keys", title: "API keys and sessions" },
      ...document.tags.map(({ name }) => ({ id: `tag-${name}`, title: toTitle(name) })),
    ],
    content: () => renderCached(document, "/docs", () => <DocsOverview document={document} />),
  });

const renderGroup = (c: Context<AppEnv>, document: ApiDocument): Response | Promise<Response> => {
  const group = document.tags.find(({ name }) => name === c.req.param("group"));
  if (group === undefined) return c.notFound();
  const path = toGroupPath(group.name);
  return renderDocsPage(c, {
    document,
    path,
    title: toTitle(group.name),
    sections: [],
    content: () => renderCached(document, path, () => <OperationGroup document={document} {...group} />),
  });
};

const renderGroupPage = (c: Context<AppEnv>, document: ApiDocument): Response | Promise<Response> => {
  const group = c.req.param("group") ?? "";
  const name = c.req.param("operation") ?? "";
  const path = `${toGroupPath(group)}/${name}`;
  const pages = listGroupPages(document, group);
  const at = pages.findIndex((page) => page.path === path);
  if (at === -1) return c.notFound();
  const operation = listOperations(document, group).find(({ operationId }) => operationId === name);
  return renderDocsPage(c, {
    document,
    path,
    title: pages[at]?.title ?? name,
    sections:
      operation === undefined
        ? listEventTypes(document).map(({ type }) => ({ id: `event-${type}`, title: type }))
        : listOperationParts(operation),
    content: () =>
      renderCached(document, path, () => (
        <article class="guide">
          {operation === undefined ? <EventTypes /> : <OperationDescription operation={operation} />}
          <NextPage page={pages[at + 1]} />
        </article>
      )),
  });
};

const renderGuide = async (c: Context<AppEnv>, document: ApiDocument): Promise<Response> => {
  const name = c.req.param("guide") ?? "";
  const guide = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (guide === undefined) return c.notFound();
  const guideContent = await loadGuideContent(c.var.services, guide);
  return renderDocsPage(c, {
    document,
    path: `/docs/${name}`,
    title: guide.title,
    sections: guide.sections,
    content: () => (
      <article class="guide">
        <h1>{guide.title}</h1>
        {guideContent}
        <NextPage page={findNextGuide(name)} />
      </article>
    ),
  });
};

/** `getDocument` returns the OpenAPI document of the whole app. */
export const registerDocsRoutes = (app: Hono<AppEnv>, getDocument: () => object): void => {
  app.get("/docs", limitPublicPages, (c) => renderOverview(c, getDocument() as ApiDocument));
  app.get("/docs/api/:group", limitPublicPages, (c) => renderGroup(c, getDocument() as ApiDocument));
  app.get("/docs/api/:group/:operation", limitPublicPages, (c) => renderGroupPage(c, getDocument() as ApiDocument));
  app.get("/docs/:guide", limitPublicPages, (c) => renderGuide(c, getDocument() as ApiDocument));
};
